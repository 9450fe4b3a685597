"""The rules of calls, without I/O."""

import heapq
import itertools
import json
import re
from decimal import Decimal
from inspect import signature
from pathlib import Path
from typing import Any, cast

import pytest

from debit_collection import Pesewas, wire
from debit_collection.calls import Operation, Outcome, Pause, Reply, Request, Settings, request_hmac
from debit_collection.charged import comparison
from debit_collection.errors import (
    DebitCollectionError,
    DuplicateReferenceError,
    NetworkError,
    NotFoundError,
    RequestTimeoutError,
    ServerError,
    WaitTimeoutError,
)
from debit_collection.methods import Synchronous
from debit_collection.operations import Banks, Debits

from .calling import CASES, ORDER
from .conftest import named
from .faulty_server import CHARGED, DEBIT, Step, problem, step_of, success

OPENAPI = Path(__file__).parent / "../../../docs/openapi.json"
BROKEN = Step(fault="close")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def outcome_of(step: Step) -> Outcome:
    if step.fault:
        return RequestTimeoutError() if step.fault == "hang" else NetworkError()
    body = step.body if isinstance(step.body, str) else json.dumps(step.body)
    return Reply(step.status, step.headers, body.encode())


class Run(Debits, Synchronous):
    """A client that plays steps to each operation; the last one repeats."""

    def __init__(self, *steps: Step, clock: Clock | None = None, **options: Any) -> None:
        self.outcomes = [outcome_of(step) for step in steps]
        self.clock = clock or Clock()
        self.requests: list[Request] = []
        self.pauses: list[float] = []
        settings = {"base_url": "https://api.example", "api_key": "sk_1", "jitter": lambda: 1.0, **options}
        super().__init__(Settings(clock=self.clock, **settings))

    def _run(self, operation: Operation[Any]) -> Any:
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

    def order(self, **changes: Any) -> Any:
        return self.charge(**{**ORDER, **changes})


@pytest.mark.parametrize("case", CASES["charges"], ids=named)
def test_charge(case: dict[str, Any]) -> None:
    options = {"max_retries": case.get("retries", 3), "deadline": case.get("deadline")}
    run = Run(*map(step_of, case["replies"]), jitter=lambda: case.get("random", 1), **options)
    if "error" in case:
        with pytest.raises(DebitCollectionError) as raised:
            run.order()
        error = dict(case["error"])
        assert type(raised.value).__name__ == error.pop("class")
        assert error.pop("message", "") in getattr(raised.value, "message", "")
        assert {name: getattr(raised.value, name) for name in error} == error
    else:
        accepted = {**CASES["charged"]["data"]["response"], "replayed": False}
        assert run.order() == case.get("result", accepted)
    assert run.pauses == case.get("pauses", [])
    assert len(run.requests) == case.get("requests", len(case["replies"]))
    assert len({(sent.url, sent.body) for sent in run.requests if sent.method == "POST"}) == 1


def test_a_retry_has_the_same_body_when_the_caller_changes_its_metadata() -> None:
    metadata = {"cart": 77}
    run = Run(BROKEN, CHARGED, log=lambda _: metadata.update(cart=78))
    run.order(metadata=metadata)
    assert [json.loads(request.body)["metadata"] for request in run.requests] == [{"cart": 77}] * 2


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        *[(Pesewas(one["pesewas"]) if "pesewas" in one else one, text) for one, text in CASES["amounts"]],
        (Decimal("100"), "100.00"),
        (Decimal("1E+2"), "100.00"),
        (Decimal("99.5"), "99.50"),
    ],
)
def test_an_amount_is_sent_as_text_with_two_decimals(amount: Any, text: str) -> None:
    run = Run(CHARGED)
    run.order(amount=amount)
    body = json.loads(run.requests[0].body)
    assert (body["amount"], body["currency"]) == (text, "GHS")


@pytest.mark.parametrize(
    "amount", [*CASES["refused_amounts"], 100.0, Decimal("1.005"), Decimal("NaN"), Decimal("Infinity")]
)
def test_an_amount_that_can_be_inexact_is_refused(amount: Any) -> None:
    with pytest.raises(ValueError if isinstance(amount, Decimal) else TypeError):
        Run(CHARGED).order(amount=amount)


@pytest.mark.parametrize("count", [1.0, True, "1"])
def test_pesewas_are_an_int(count: Any) -> None:
    with pytest.raises(TypeError):
        Pesewas(count)


def test_a_charge_takes_sends_and_compares_each_field_of_the_api() -> None:
    schemas = json.loads(OPENAPI.read_text())["components"]["schemas"]
    fields = set(schemas["ChargeFields"]["properties"])
    # The only currency is not an option.
    assert set(signature(Debits.charge).parameters) >= fields - {"currency"}
    run = Run(CHARGED)
    run.order(**{name: {} for name in fields if name not in {**ORDER, "currency": ""}})
    body = json.loads(run.requests[0].body)
    assert set(body) == fields
    assert set(comparison(cast(wire.DebitDetail, DEBIT), body)) == fields == set(CASES["other_debits"])


@pytest.mark.parametrize("field", CASES["other_debits"])
def test_a_charge_is_refused_after_a_lost_reply_when_the_debit_differs(field: str) -> None:
    existing = {"reference": "DCS-1", "uuid": "u-1", "status": "processing"}
    run = Run(BROKEN, problem(409, 3003, existing), success({**DEBIT, **CASES["other_debits"][field]}))
    with pytest.raises(DuplicateReferenceError) as raised:
        run.order()
    assert (raised.value.attempts, raised.value.existing) == (2, existing)


def test_a_request_is_signed_again_over_the_path_with_its_query() -> None:
    run = Run(success([]), signing_secret="rs_1", base_url="https://api.example/prod/")
    run.find_by_partner_reference("a b/é")
    with pytest.raises(ValueError, match="empty"):
        run.find_by_partner_reference("")
    request = run.requests[0]
    path = request.url.removeprefix("https://api.example")
    assert path == "/prod/api/v1/payment-providers/debit-requests?partner_reference=a+b%2F%C3%A9&per_page=100"
    timestamp = request.headers["x-timestamp"]
    assert request.headers["x-signature"] == request_hmac("rs_1", "GET", path, timestamp, b"")


def test_the_signature_is_that_of_openssl() -> None:
    # printf '%s' 'POST/debits/submissions1795262400{}' | openssl dgst -sha256 -hmac cs_1
    expected = "8ea5500acb60fe167a5f9415e360a9ab15ff9e114d468c3e5c4dcaea838636a2"
    assert request_hmac("cs_1", "POST", "/debits/submissions", "1795262400", b"{}") == expected


@pytest.mark.parametrize("value", CASES["refused_ids"])
def test_an_id_that_names_another_resource_is_refused(value: str) -> None:
    run = Run(CHARGED)
    with pytest.raises(ValueError, match="needs an id"):
        run.get(value)


@pytest.mark.parametrize("options", [*CASES["refused_options"], {"max_retries": None}, {"timeout": None}])
def test_wrong_options_are_refused_without_their_values(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must") as raised:
        Settings(**{"base_url": "https://api.example", "api_key": "sk_1", **options})
    assert not re.search("sk_1|sk_secret", str(raised.value))


def test_a_wait_polls_at_growing_intervals_until_the_outcome() -> None:
    run = Run(*[success(DEBIT)] * 9, success({**DEBIT, "status": "failed"}))
    assert run.wait_for("DCS-1", timeout=600)["status"] == "failed"
    assert run.pauses == pytest.approx([1, 1.5, 2.25, 3.375, 5.0625, 7.59375, 10, 10, 10], abs=0.01)


def test_a_wait_ends_with_the_last_state() -> None:
    run = Run(success(DEBIT))
    with pytest.raises(WaitTimeoutError) as raised:
        run.wait_for("DCS-1", timeout=20)
    assert raised.value.may_exist
    assert raised.value.debit
    assert raised.value.debit["status"] == "processing"
    assert run.clock.now == pytest.approx(20)


def test_a_wait_survives_temporary_failures_until_its_timeout() -> None:
    down = problem(503, 1503)
    run = Run(down, down, down, success({**DEBIT, "status": "completed"}))
    assert run.wait_for("DCS-1", timeout=600)["status"] == "completed"
    run = Run(down)
    with pytest.raises(WaitTimeoutError) as raised:
        run.wait_for("DCS-1", timeout=300)
    assert raised.value.debit is None
    assert isinstance(raised.value.__cause__, ServerError)
    assert run.clock.now == pytest.approx(300)
    run = Run(problem(404, 3404))
    with pytest.raises(NotFoundError):
        run.wait_for("DCS-1", timeout=300)


def test_hundreds_of_waits_use_four_fifths_of_the_published_limit() -> None:
    clock = Clock()
    client = Debits(Settings("https://api.example", "sk_1", clock=clock))
    waits = [Debits.wait_for(client, f"DCS-{index}", timeout=3600) for index in range(300)]
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
            heapq.heappush(due, (clock.now, next(order), index, outcome_of(polled_debit)))
    assert len(polls) == 900
    assert max(sum(1 for poll in polls if start <= poll < start + 60) for start in polls) <= 801
    # 800 polls a minute.
    assert polls[-1] == pytest.approx(900 / 800 * 60, rel=0.05)


def test_an_abandoned_wait_gives_its_turn_back() -> None:
    run = Run(success({**DEBIT, "status": "completed"}))
    first = Debits.wait_for(run, "DCS-1", timeout=600)
    assert isinstance(first.send(None), Request)
    second = Debits.wait_for(run, "DCS-2", timeout=600)
    assert isinstance(second.send(None), Pause)
    second.close()
    assert run.wait_for("DCS-3", timeout=600)["status"] == "completed"


def test_a_log_entry_has_no_values_and_its_faults_do_not_matter() -> None:
    entries: list[Any] = []

    def log(entry: Any) -> None:
        entries.append(entry)
        raise RuntimeError

    run = Run(problem(429, 1454, headers={"x-request-id": "r-1"}), success({"name": "x"}), log=log)
    run._run(Banks.get(run, "GCB"))
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
