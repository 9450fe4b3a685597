"""The kit for banks: the cases of both kits, and those of Python's servers."""

import asyncio
import itertools
import json
import math
import re
import sqlite3
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, nullcontext
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from reply_store import SqliteReplies
from werkzeug.serving import make_server

from debit_collection import Pesewas
from debit_collection.bank_replies import complete_reply
from debit_collection.bank_requests import Kind
from debit_collection.bank_server import BankServer, bank_server
from debit_collection.calls import request_hmac

from .conftest import NODE, ROOT, cases_in, example, named, served_asgi, served_wsgi

CASES = cases_in("bank")
ORDER = CASES["order"]
ABSENT: dict[Kind, dict[str, None]] = {
    "submission": {"account_number": None},
    "payout": {},
    "refund": {"bank_reference": None, "account_number": None},
}
SECRET = "cs_secret_of_the_bank"
ACCEPTED = {"status": "accepted", "bank_reference": "B-1"}
KINDS: dict[str, Kind] = {"submissions": "submission", "settlements": "payout", "refunds": "refund"}


class Bank:
    """Returns the results that a test sets, and keeps the requests."""

    server: BankServer

    def __init__(self) -> None:
        self.reset()

    def reset(self, payments: bool = True, **options: Any) -> None:
        self.handled: dict[str, list[Any]] = {kind: [] for kind in (*KINDS.values(), "query")}
        self.results: dict[str, Any] = {
            "submission": ACCEPTED,
            "payout": {"status": "underway"},
            "refund": {"status": "paid", "bank_reference": "P-1"},
            "query": None,
        }
        payouts = {"on_payout": self.handler("payout"), "on_refund": self.handler("refund")}
        chosen: dict[str, Any] = {
            "secret": SECRET,
            "on_submission": self.handler("submission"),
            "on_query": self.handler("query"),
            **(payouts if payments else {}),
            **options,
        }
        self.server = bank_server(**chosen)

    def handler(self, kind: str) -> Callable[[Any], Any]:
        def handle(request: Any) -> Any:
            self.handled[kind].append(request)
            result = self.results[kind]
            if result and "throws" in result:
                raise RuntimeError(result["throws"])
            return result

        return handle


# A connector URL may have each character that a path need not escape.
PATH = "/v1/debits:gh@x,y"


class Service:
    """Sends as the service does."""

    def __init__(self, url: str, bank: Bank) -> None:
        self.url, self.bank = url, bank

    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: dict[str, str | None] | None = None,
        secret: str = SECRET,
        seconds: int = 0,
        chunked: bool = False,
    ) -> httpx.Response:
        now = str(int(time.time()) + seconds)
        signature = request_hmac(secret, method, f"{PATH}{path}", now, body)
        names = {"x-timestamp": now, "x-signature": signature, **(headers or {})}
        sent = {name: text for name, text in names.items() if text is not None}
        content = iter([body[:9], body[9:]]) if chunked else body
        return httpx.request(method, f"{self.url}{PATH}{path}", content=content, headers=sent)

    def post(self, path: str, body: dict[str, Any] = ORDER, **options: Any) -> httpx.Response:
        key = {"x-idempotency-key": body["uuid"]}
        return self.send("POST", f"/{path}", json.dumps(body).encode(), key, **options)

    def query(self, path: str) -> httpx.Response:
        return self.send("GET", f"/{path}/{ORDER['uuid']}")


@pytest.fixture(scope="module", params=["wsgi", "asgi"])
def any_service(request: pytest.FixtureRequest) -> Iterator[Service]:
    bank = Bank()
    if request.param == "wsgi":
        served = served_wsgi(lambda *call: bank.server.wsgi(*call))
    else:

        async def application(scope: Any, receive: Any, send: Any) -> None:
            await bank.server.asgi(scope, receive, send)

        served = served_asgi(application)
    with served as url:
        yield Service(url, bank)


@pytest.fixture
def service(any_service: Service) -> Service:
    any_service.bank.reset()
    return any_service


@pytest.mark.parametrize("case", CASES["scenarios"], ids=named)
def test_scenario(service: Service, case: dict[str, Any]) -> None:
    bank = service.bank
    bank.reset(case.get("payments", True), secret=case.get("secret", SECRET))
    for step in case["steps"]:
        signed = {name: step[name] for name in ("secret", "seconds") if name in step}
        if "post" in step:
            reply = service.post(step["post"], **signed)
        elif "query" in step:
            reply = service.query(step["query"])
        else:
            bank.results.update({"query" if name == "outcome" else name: step[name] for name in step})
            continue
        assert reply.status_code == step.get("status", 200)
        if "reply" in step:
            assert reply.json() == {**step["reply"], "uuid": ORDER["uuid"], "amount": "999.90"}
        else:
            assert reply.json() == {"error": {404: "unknown uuid", 500: "the bank failed"}[step["status"]]}
    for kind, count in case.get("handled", {}).items():
        assert bank.handled[kind] == [{**ABSENT[kind], **ORDER}] * count
    asked = [{"kind": kind, "uuid": ORDER["uuid"]} for kind in case.get("asked", [])]
    assert "asked" not in case or bank.handled["query"] == asked


@pytest.mark.parametrize("case", CASES["impossible_results"])
def test_a_handler_cannot_return_a_result_that_the_service_would_reject(
    service: Service, case: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    service.bank.results["submission"] = case.get("result")
    assert service.post("submissions").status_code == 500
    assert case["error"] in caplog.text
    assert service.query("submissions").status_code == 404
    service.bank.results["submission"] = ACCEPTED
    assert service.post("submissions").status_code == 200


def test_a_reply_has_the_first_2000_characters_of_a_message(service: Service) -> None:
    message = "\n" + "😀" * 17_000
    service.bank.results["submission"] = {"status": "rejected", "code": "timeout", "message": message}
    reply = service.post("submissions")
    assert reply.json()["message"] == "😀" * 2_000
    assert len(reply.content) < 16_384


def test_a_payout_whose_reply_is_not_json_is_not_stored(service: Service) -> None:
    service.bank.results["payout"] = {"status": "underway", "at": Decimal(1)}
    assert service.post("settlements").status_code == 500
    assert service.query("settlements").status_code == 404


@pytest.mark.parametrize(
    ("fee", "sent"),
    [(Decimal("1.50"), "1.50"), (Pesewas(150), "1.50"), ("1.50", "1.50"), (1.5, 1.5)],
)
def test_a_fee_is_sent_as_text_or_as_the_number_of_the_bank(service: Service, fee: Any, sent: Any) -> None:
    service.bank.results["query"] = {"status": "completed", "bank_reference": "B-1", "fee": fee}
    assert service.post("submissions").status_code == 200
    reply = service.query("submissions")
    assert (reply.status_code, reply.json().get("fee")) == (200, sent)


@pytest.mark.parametrize("number", [Decimal(1), math.nan])
def test_an_account_that_is_not_json_is_an_error(any_service: Service, number: object) -> None:
    account = {"account_number": number, "name": "Ama Mensah", "active": True}
    any_service.bank.reset(on_account=lambda _: account)
    reply = any_service.send("GET", "/accounts/+233241234567")
    assert (reply.status_code, reply.json()) == (500, {"error": "the bank failed"})


DEEP = {"name": "a request with deep nesting is refused", "status": 400, "body": "[" * 60_000}


@pytest.mark.parametrize("case", [*CASES["refused"], DEEP], ids=named)
def test_refusal(service: Service, case: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    body = " " * case["blanks"] if "blanks" in case else case.get("body", json.dumps(ORDER))
    headers = {"x-idempotency-key": ORDER["uuid"], **case.get("headers", {})}
    options = {name: case[name] for name in ("secret", "seconds") if name in case}
    method, path = case.get("method", "POST"), case.get("path", "/submissions")
    reply = service.send(method, path, body.encode(), headers, **options)
    assert reply.status_code == case["status"]
    error = reply.json()["error"]
    assert error == case.get("error", error)
    assert caplog.messages == ([f"Refused a request: {error}"] if "error" in case else [])
    assert service.query("submissions").status_code == 404
    assert service.bank.handled["submission"] == []


def test_a_chunked_request_is_read_like_another_up_to_the_maximum() -> None:
    bank = Bank()
    with make_server("127.0.0.1", 0, bank.server.wsgi) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            service = Service(f"http://127.0.0.1:{server.port}", bank)
            assert service.post("submissions", chunked=True).json()["status"] == "accepted"
            large = {**ORDER, "narration": "x" * 70_000}
            assert service.post("submissions", large, chunked=True).status_code == 413
            assert service.query("submissions").status_code == 200
        finally:
            server.shutdown()


@pytest.mark.parametrize("secret", CASES["empty_secrets"])
def test_an_empty_secret_is_refused(secret: Any) -> None:
    with pytest.raises(ValueError, match="secret"):
        Bank().reset(secret=secret)


def test_an_async_handler_runs_in_the_loop_of_an_asgi_server_only() -> None:
    async def submit(_: Any) -> Any:
        await asyncio.sleep(0)
        return ACCEPTED

    bank = Bank()
    bank.reset(on_submission=submit)
    with served_asgi(bank.server.asgi) as url:
        assert Service(url, bank).post("submissions").json()["status"] == "accepted"
    bank.reset(on_submission=submit)
    with served_wsgi(bank.server.wsgi) as url:
        assert Service(url, bank).post("submissions").status_code == 500


@pytest.mark.parametrize("begins", [False, True], ids=["rows", "transaction"])
def test_an_async_handler_that_uses_the_books_of_the_example_is_an_error_instead_of_a_deadlock(
    begins: bool,
) -> None:
    books = SqliteReplies(":memory:", "CREATE TABLE debits (uuid TEXT)")

    async def submit(submission: Any) -> Any:
        with books.transaction() if begins else nullcontext():
            books.rows("INSERT INTO debits VALUES (?)", submission["uuid"])
        return ACCEPTED

    bank = Bank()
    bank.reset(on_submission=submit, store=books)
    with served_asgi(bank.server.asgi) as url:
        assert Service(url, bank).post("submissions").status_code == 500
    assert books.read(f"submission:{ORDER['uuid']}") is None


def test_async_handlers_of_many_submissions_may_use_the_threads_of_their_loop() -> None:
    async def submit(_: Any) -> Any:
        await asyncio.to_thread(time.sleep, 0)
        return ACCEPTED

    bank = Bank()
    bank.reset(on_submission=submit)
    with served_asgi(bank.server.asgi) as url, ThreadPoolExecutor(40) as callers:
        orders = [{**ORDER, "uuid": str(uuid.uuid4())} for _ in range(40)]
        replies = list(callers.map(lambda order: Service(url, bank).post("submissions", order), orders))
    assert [reply.json()["status"] for reply in replies] == ["accepted"] * 40


def test_concurrent_repeats_and_queries_wait_for_the_first_decision(service: Service) -> None:
    began, release = threading.Event(), threading.Event()
    numbers = itertools.count(1)

    def submit(_: Any) -> Any:
        began.set()
        release.wait(10)
        return {**ACCEPTED, "bank_reference": f"XYZ-{next(numbers)}"}

    service.bank.reset(on_submission=submit)
    with ThreadPoolExecutor(6) as callers:
        repeats = [callers.submit(service.post, "submissions") for _ in range(4)]
        assert began.wait(10)
        queries = [callers.submit(service.query, "submissions") for _ in range(2)]
        # The queries are sent before the handler returns.
        wait(queries, timeout=0.3)
        release.set()
        replies = [sent.result() for sent in (*repeats, *queries)]
    assert [reply.json().get("bank_reference") for reply in replies] == ["XYZ-1"] * 6


def test_the_example_passes_the_check_of_banks(tmp_path: Path) -> None:
    books = str(tmp_path / "books.sqlite")
    with example("bank", {"BOOKS": books, "CONNECTOR_SECRET": SECRET}) as url:
        with closing(sqlite3.connect(books)) as db, db:
            db.execute("INSERT INTO accounts VALUES ('1041001001', 1000000000)")
        check = [NODE, "commands/bank-check.ts", "--url", f"{url}/debits", "--secret", SECRET]
        done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True)
        # The uuids of a day's debits begin alike.
        own = {"account_number": "1041001001", "payee": {"name": "Demo"}, "narration": "Order 1"}
        orders = [{**ORDER, **own, "uuid": ORDER["uuid"][:-1] + end} for end in "23"]
        replies = [Service(url, Bank()).post("submissions", order).json() for order in orders]
    assert len({reply["bank_reference"] for reply in replies}) == 2
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith("ok ")] == []
    assert (done.returncode, len(lines) > 40) == (0, True), done.stderr


def test_the_example_rejects_with_the_reason_and_refunds_only_its_debits(tmp_path: Path) -> None:
    books = str(tmp_path / "books.sqlite")
    with example("bank", {"BOOKS": books, "CONNECTOR_SECRET": SECRET}) as url:
        with closing(sqlite3.connect(books)) as db, db:
            db.execute("INSERT INTO accounts VALUES ('1041001001', 100000)")

        def post(path: str, **members: Any) -> Any:
            own = {"uuid": str(uuid.uuid4()), "payee": {"name": "Demo"}, "narration": "Order 1"}
            return Service(url, Bank()).post(path, {**ORDER, **own, **members}).json()

        debit = post("submissions", account_number="1041001001")
        assert debit["status"] == "accepted"
        assert post("submissions", account_number="1041001001")["code"] == "insufficient_funds"
        assert post("submissions", account_number="9990009990")["code"] == "invalid_account"
        assert post("refunds", debit_uuid=debit["uuid"], account_number=None)["status"] == "paid"
        other = str(uuid.uuid4())
        assert post("refunds", debit_uuid=other, account_number="1041001001")["status"] == "rejected"


PROTOCOL = json.loads((ROOT / "docs/bank-protocol.json").read_text())
EXAMPLES = [
    (kind, name, example["value"])
    for path, kind in KINDS.items()
    for response in PROTOCOL["paths"][f"/{path}/{{uuid}}"]["get"]["responses"].values()
    for content in response.get("content", {}).values()
    for name, example in content["examples"].items()
]


@pytest.mark.parametrize(("kind", "name", "example"), EXAMPLES)
def test_a_reply_has_each_member_of_the_protocol_and_needs_the_required_ones(
    kind: Kind, name: str, example: dict[str, Any]
) -> None:
    request = {member: example[member] for member in ("uuid", "amount")}
    own = {member: value for member, value in example.items() if member not in request}
    assert complete_reply(kind, request, own) == example
    required = PROTOCOL["components"]["schemas"][name[0].upper() + name[1:]]["required"]
    for omitted in own.keys() - {"status"}:
        rest = {member: value for member, value in own.items() if member != omitted}
        if omitted in required:
            with pytest.raises(ValueError, match=omitted):
                complete_reply(kind, request, rest)
        else:
            assert omitted not in complete_reply(kind, request, rest)


def test_a_reference_has_exactly_the_characters_of_the_protocol() -> None:
    schema = PROTOCOL["components"]["schemas"]["Accepted"]["properties"]["bank_reference"]
    pattern = re.compile(schema["pattern"])

    def is_returned(reference: str) -> bool:
        try:
            return bool(complete_reply("submission", ORDER, {**ACCEPTED, "bank_reference": reference}))
        except ValueError:
            return False

    # The pattern has no lone surrogates.
    characters = [chr(code) for code in range(0x10000) if not 0xD800 <= code <= 0xDFFF]
    references = [text for one in [*characters, "😀"] for text in (one, f"a{one}")]
    assert [text for text in references if is_returned(text) != bool(pattern.fullmatch(text))] == []


def test_the_account_of_a_number_is_asked_with_a_signature(any_service: Service) -> None:
    account = {"account_number": "1041001001", "name": "Ama Mensah", "active": True}
    any_service.bank.reset(on_account={"+233241234567": account}.get)
    found = any_service.send("GET", "/accounts/+233241234567")
    assert (found.status_code, found.json()) == (200, account)
    assert any_service.send("GET", "/accounts/+233240000000").status_code == 404
    assert any_service.send("GET", "/accounts/+233241234567", secret="another secret").status_code == 401
