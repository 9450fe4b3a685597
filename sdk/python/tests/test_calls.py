"""The rules of calls, without I/O."""

import heapq
import itertools
import json
from collections.abc import Callable
from decimal import Decimal
from inspect import signature
from pathlib import Path
from typing import Any, cast

import pytest

from debit_collection import AsyncDebitCollection, DebitCollection, Pesewas, wire
from debit_collection.calls import Operation, Outcome, Pause, Reply, Request, Settings, request_hmac
from debit_collection.errors import (
    ApiError,
    DebitCollectionError,
    DuplicateReferenceError,
    NetworkError,
    NotFoundError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    ValidationError,
    WaitTimeoutError,
)
from debit_collection.operations import Operations, comparison

from .calling import ORDER

OPENAPI = Path(__file__).parent / "../../../docs/openapi.json"
PAST = "Wed, 21 Oct 2015 07:28:00 GMT"
CHARGE = {**ORDER, "metadata": None, "timeout": None}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def reply(status: int, body: Any, **headers: str) -> Reply:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, names, (body if isinstance(body, str) else json.dumps(body)).encode())


def success(data: Any, status: int = 200, **headers: str) -> Reply:
    return reply(status, {"success": True, "data": data, "meta": {}}, **headers)


def problem(status: int, code: int, details: Any = None, **headers: str) -> Reply:
    body = {"success": False, "error": {"code": code, "message": "Refused"}, "details": details}
    return reply(status, body, **headers)


BANK = {"name": "GCB Bank PLC", "identifier": "GCB", "country_code": "GH"}
CHARGED = success(
    {
        "reference": "DCS-1",
        "status": "pending",
        "response": {"uuid": "u", "status": "pending", "timestamp": "t", "reference": "DCS-1", "bank": BANK},
    },
    202,
)
DEBIT = {
    "reference": "DCS-1",
    "status": "processing",
    "amount": "100.00",
    "currency": "GHS",
    "partner_reference": "order-1",
    "bank": BANK,
    "customer": {"name": "Ama", "phone_number": "+233241234567", "account_number": "1"},
    "narration": "Order 1",
    "metadata": {},
    "response": {"uuid": "u", "timestamp": "t"},
}


class Run:
    """Plays outcomes to an operation; the last one repeats."""

    def __init__(self, *outcomes: Outcome, clock: Clock | None = None, **options: Any) -> None:
        self.outcomes = list(outcomes)
        self.clock = clock or Clock()
        self.requests: list[Request] = []
        self.pauses: list[float] = []
        settings = {"base_url": "https://api.example", "api_key": "sk_1", "jitter": lambda: 1.0, **options}
        self.operations = Operations(Settings(clock=self.clock, **settings))

    def play(self, operation: Operation[Any]) -> Any:
        outcome: Outcome = None
        while True:
            try:
                step = operation.send(outcome)
            except StopIteration as stop:
                return stop.value
            if isinstance(step, Pause):
                self.pauses.append(step.seconds)
                self.clock.now += step.seconds
                outcome = None
            else:
                self.requests.append(step)
                outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]

    def charge(self, **changes: Any) -> Any:
        return self.play(self.operations.charge(**{**CHARGE, **changes}))


TEMPORARY: list[Callable[[], Outcome]] = [
    NetworkError,
    RequestTimeoutError,
    lambda: problem(408, 4408),
    lambda: problem(429, 1456),
    lambda: problem(500, 1500),
    lambda: problem(503, 2003),
    lambda: reply(502, "<html>Bad gateway</html>"),
]


@pytest.mark.parametrize("fault", TEMPORARY)
def test_a_temporary_failure_is_repeated_with_the_same_body(fault: Callable[[], Outcome]) -> None:
    run = Run(fault(), fault(), CHARGED)
    assert run.charge()["reference"] == "DCS-1"
    assert run.pauses == [1, 2]
    assert len({(request.url, request.body) for request in run.requests}) == 1


def test_delays_double_up_to_a_minute_with_half_of_them_random() -> None:
    run = Run(NetworkError(), max_retries=8)
    with pytest.raises(NetworkError) as raised:
        run.charge()
    assert run.pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert raised.value.attempts == 9
    shortest = Run(NetworkError(), max_retries=2, jitter=lambda: 0.0)
    with pytest.raises(NetworkError):
        shortest.charge()
    assert shortest.pauses == [0.5, 1]


def test_a_retry_has_the_same_body_when_the_caller_changes_its_metadata() -> None:
    metadata = {"cart": 77}
    run = Run(NetworkError(), CHARGED, log=lambda _: metadata.update(cart=78))
    run.charge(metadata=metadata)
    assert [json.loads(request.body)["metadata"] for request in run.requests] == [{"cart": 77}] * 2


@pytest.mark.parametrize(
    ("seconds", "pauses"),
    [
        ("0", [0]),
        ("7", [7]),
        ("60", [60]),
        ("61", None),
        ("0.5", [0.5]),
        ("-1", [1]),
        ("soon", [1]),
        (PAST, [1]),
    ],
)
def test_retry_after_replaces_the_delay_up_to_a_minute(seconds: str, pauses: list[float] | None) -> None:
    run = Run(problem(429, 1456, retry_after=seconds), CHARGED)
    if pauses is None:
        with pytest.raises(RateLimitError) as raised:
            run.charge()
        assert raised.value.retry_after == 61
        assert run.pauses == []
    else:
        run.charge()
        assert run.pauses == pauses


@pytest.mark.parametrize(
    ("refused", "kind"),
    [
        (problem(422, 1007, {"amount": ["is required"]}), ValidationError),
        (problem(402, 1402), ApiError),
        (problem(200, 1500), ServerError),
        (reply(200, "<html>Log in</html>"), ServerError),
        (reply(404, "<html>Not found</html>"), ServerError),
        (reply(200, {"success": True}), ServerError),
        (reply(302, ""), ServerError),
    ],
)
def test_any_other_reply_is_an_error_at_once(refused: Reply, kind: type[ApiError]) -> None:
    run = Run(refused)
    with pytest.raises(kind) as raised:
        run.charge()
    assert raised.value.status == refused.status
    assert len(run.requests) == 1


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("100.00", "100.00"),
        (Pesewas(10000), "100.00"),
        (Pesewas(5), "0.05"),
        (Decimal("100"), "100.00"),
        (Decimal("1E+2"), "100.00"),
        (Decimal("99.5"), "99.50"),
    ],
)
def test_an_amount_is_sent_as_text_with_two_decimals(amount: Any, text: str) -> None:
    run = Run(CHARGED)
    run.charge(amount=amount)
    body = json.loads(run.requests[0].body)
    assert (body["amount"], body["currency"]) == (text, "GHS")


@pytest.mark.parametrize(
    "amount", [100, 100.0, True, None, Decimal("1.005"), Decimal("NaN"), Decimal("Infinity")]
)
def test_an_amount_that_can_be_inexact_is_refused(amount: Any) -> None:
    with pytest.raises(ValueError if isinstance(amount, Decimal) else TypeError):
        Run(CHARGED).charge(amount=amount)


@pytest.mark.parametrize("count", [1.0, True, "1"])
def test_pesewas_are_an_int(count: Any) -> None:
    with pytest.raises(TypeError):
        Pesewas(count)


DUPLICATE = problem(409, 3003, {"reference": "DCS-1", "uuid": "u", "status": "processing"})


def test_a_duplicate_after_an_own_retry_is_the_debit_of_the_first_attempt() -> None:
    debit = {**DEBIT, "metadata": {"rate": 0.1, "teller": "added by the bank"}}
    run = Run(NetworkError(), DUPLICATE, success(debit))
    assert run.charge(metadata={"rate": 0.1}) == {
        "reference": "DCS-1",
        "uuid": "u",
        "status": "processing",
        "timestamp": "t",
        "bank": BANK,
        "replayed": True,
    }


@pytest.mark.parametrize(
    "change",
    [
        {"amount": "100.01"},
        {"narration": "Order 2"},
        {"metadata": {"cart": 1}},
        {"bank": {**BANK, "identifier": "ECO"}},
        {"customer": {"phone_number": "+233244444444"}},
    ],
)
def test_a_duplicate_that_is_another_debit_is_an_error(change: dict[str, Any]) -> None:
    run = Run(NetworkError(), DUPLICATE, success({**DEBIT, "metadata": {"cart": 2}, **change}))
    with pytest.raises(DuplicateReferenceError) as raised:
        run.charge(metadata={"cart": 2})
    assert raised.value.existing["reference"] == "DCS-1"


def test_a_charge_takes_sends_and_compares_each_field_of_the_api() -> None:
    schemas = json.loads(OPENAPI.read_text())["components"]["schemas"]
    fields = set(schemas["ChargeFields"]["properties"])
    for charge in (DebitCollection.charge, AsyncDebitCollection.charge, Operations.charge):
        # The only currency is not an option.
        assert set(signature(charge).parameters) >= fields - {"currency"}
    run = Run(CHARGED)
    run.charge(**{name: {} for name in fields if name not in {**ORDER, "currency": ""}})
    body = json.loads(run.requests[0].body)
    assert set(body) == fields
    assert set(comparison(cast(wire.DebitDetail, DEBIT), body)) == fields


def test_a_duplicate_at_the_first_attempt_is_an_error() -> None:
    run = Run(DUPLICATE)
    with pytest.raises(DuplicateReferenceError):
        run.charge()
    assert len(run.requests) == 1


def test_a_request_is_signed_again_over_the_path_with_its_query() -> None:
    run = Run(success([]), signing_secret="rs_1", base_url="https://api.example/prod/")
    run.play(run.operations.find_by_partner_reference("a b/é", None))
    with pytest.raises(ValueError, match="empty"):
        run.play(run.operations.find_by_partner_reference("", None))
    request = run.requests[0]
    path = request.url.removeprefix("https://api.example")
    assert path == "/prod/api/v1/payment-providers/debit-requests?partner_reference=a+b%2F%C3%A9&per_page=100"
    timestamp = request.headers["x-timestamp"]
    assert request.headers["x-signature"] == request_hmac("rs_1", "GET", path, timestamp, b"")


def test_the_signature_is_that_of_openssl() -> None:
    # printf '%s' 'POST/debits/submissions1795262400{}' | openssl dgst -sha256 -hmac cs_1
    expected = "8ea5500acb60fe167a5f9415e360a9ab15ff9e114d468c3e5c4dcaea838636a2"
    assert request_hmac("cs_1", "POST", "/debits/submissions", "1795262400", b"{}") == expected


@pytest.mark.parametrize("value", ["", ".", ".."])
def test_an_id_that_names_another_resource_is_refused(value: str) -> None:
    run = Run(CHARGED)
    with pytest.raises(ValueError, match="needs an id"):
        run.play(run.operations.get(value, None))


@pytest.mark.parametrize(
    "options",
    [
        {"api_key": ""},
        {"api_key": "sk_1\n"},
        {"base_url": "api.example"},
        {"base_url": "https://me:sk_1@api.example"},
        {"signing_secret": ""},
    ],
)
def test_wrong_options_are_refused_without_their_values(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must") as raised:
        Settings(**{"base_url": "https://api.example", "api_key": "sk_1", **options})
    assert "sk_1" not in str(raised.value)


def test_a_wait_polls_at_growing_intervals_until_the_outcome() -> None:
    run = Run(*[success(DEBIT)] * 9, success({**DEBIT, "status": "failed"}))
    assert run.play(run.operations.wait_for("DCS-1", 600))["status"] == "failed"
    assert run.pauses == pytest.approx([1, 1.5, 2.25, 3.375, 5.0625, 7.59375, 10, 10, 10], abs=0.01)


def test_a_wait_ends_with_the_last_state() -> None:
    run = Run(success(DEBIT))
    with pytest.raises(WaitTimeoutError) as raised:
        run.play(run.operations.wait_for("DCS-1", 20))
    assert raised.value.debit
    assert raised.value.debit["status"] == "processing"
    assert run.clock.now == pytest.approx(20)


def test_a_wait_survives_temporary_failures_until_its_timeout() -> None:
    down = problem(503, 1503)
    run = Run(down, down, down, success({**DEBIT, "status": "completed"}))
    assert run.play(run.operations.wait_for("DCS-1", 600))["status"] == "completed"
    run = Run(down)
    with pytest.raises(WaitTimeoutError) as raised:
        run.play(run.operations.wait_for("DCS-1", 300))
    assert raised.value.debit is None
    assert isinstance(raised.value.__cause__, ServerError)
    run = Run(problem(404, 3404))
    with pytest.raises(NotFoundError):
        run.play(run.operations.wait_for("DCS-1", 300))


def test_hundreds_of_waits_use_four_fifths_of_the_published_limit() -> None:
    clock = Clock()
    operations = Operations(Settings("https://api.example", "sk_1", clock=clock))
    waits = [operations.wait_for(f"DCS-{index}", 3600) for index in range(300)]
    due: list[tuple[float, int, int, Outcome]] = [(0.0, index, index, None) for index in range(300)]
    order = itertools.count(300)
    polls: list[float] = []
    polled: dict[int, int] = {}
    while due and clock.now < 600:
        clock.now, _, index, outcome = heapq.heappop(due)
        try:
            step = waits[index].send(outcome)
        except StopIteration:
            continue
        if isinstance(step, Pause):
            heapq.heappush(due, (clock.now + step.seconds, next(order), index, None))
        else:
            polls.append(clock.now)
            polled[index] = polled.get(index, 0) + 1
            status = "completed" if polled[index] == 3 else "processing"
            polled_debit = success({**DEBIT, "status": status})
            heapq.heappush(due, (clock.now, next(order), index, polled_debit))
    assert len(polls) == 900
    assert max(sum(1 for poll in polls if start <= poll < start + 60) for start in polls) <= 801
    # 800 polls a minute.
    assert polls[-1] == pytest.approx(900 / 800 * 60, rel=0.05)


def test_an_abandoned_wait_gives_its_turn_back() -> None:
    run = Run(success({**DEBIT, "status": "completed"}))
    first = run.operations.wait_for("DCS-1", 600)
    assert isinstance(first.send(None), Request)
    second = run.operations.wait_for("DCS-2", 600)
    assert isinstance(second.send(None), Pause)
    second.close()
    assert run.play(run.operations.wait_for("DCS-3", 600))["status"] == "completed"


def test_every_error_of_a_call_is_of_one_family() -> None:
    for fault in TEMPORARY:
        with pytest.raises(DebitCollectionError):
            Run(fault(), max_retries=0).charge()


def test_a_log_entry_has_no_values_and_its_faults_do_not_matter() -> None:
    entries: list[Any] = []

    def log(entry: Any) -> None:
        entries.append(entry)
        raise RuntimeError

    run = Run(problem(429, 1454, x_request_id="r-1"), success({"name": "x"}), log=log)
    run.play(run.operations.bank("GCB", None))
    assert entries == [
        {
            "operation": "get_bank",
            "method": "GET",
            "path": "/api/v1/payment-providers/banks/{identifier}",
            "status": status,
            "attempt": attempt,
            "duration": 0.0,
            "request_id": request_id,
            "error": error,
        }
        for status, attempt, request_id, error in [
            (429, 1, "r-1", "RateLimitError 1454"),
            (200, 2, None, None),
        ]
    ]
