"""The kit for banks: signatures, idempotency and replies."""

import asyncio
import json
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from debit_collection.bank_requests import Kind
from debit_collection.bank_server import BankServer, _reply, bank_server
from debit_collection.calls import request_hmac

from .conftest import NODE, ROOT, example, served_asgi, served_wsgi

SECRET = "cs_1"
ACCEPTED = {"status": "accepted", "bank_reference": "XYZ-1"}
PAID = {"status": "paid", "bank_reference": "XYZ-7"}


def order(**members: Any) -> dict[str, Any]:
    return {"uuid": str(uuid4()), "amount": "100.00", "currency": "GHS", **members}


class Service:
    """Sends as the service does."""

    def __init__(self, url: str, secret: str = SECRET) -> None:
        self.url, self.secret = url, secret

    def send(self, method: str, path: str, body: bytes = b"", **headers: str) -> httpx.Response:
        now = str(int(time.time()))
        signed = {
            "x-timestamp": now,
            "x-signature": request_hmac(self.secret, method, path, now, body),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        return httpx.request(method, self.url + path, content=body, headers=signed)

    def post(self, kind: str, body: dict[str, Any]) -> httpx.Response:
        content = json.dumps(body).encode()
        return self.send("POST", f"/debits/{kind}", content, x_idempotency_key=body["uuid"])

    def query(self, kind: str, uuid: str) -> httpx.Response:
        return self.send("GET", f"/debits/{kind}/{uuid}")


SERVERS: dict[str, Callable[[BankServer], AbstractContextManager[str]]] = {
    "wsgi": lambda server: served_wsgi(server.wsgi),
    "asgi": lambda server: served_asgi(server.asgi),
}


class Bank:
    def __init__(self) -> None:
        self.submissions: list[Any] = []
        self.result: Any = ACCEPTED
        self.current: dict[str, Any] = {}

    def submit(self, submission: Any) -> Any:
        self.submissions.append(submission)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def server(self, **options: Any) -> BankServer:
        chosen: dict[str, Any] = {
            "secret": SECRET,
            "on_submission": self.submit,
            "on_query": lambda query: self.current.get(query["kind"]),
            "on_payout": lambda _: {"status": "underway"},
            "on_refund": lambda _: PAID,
            **options,
        }
        return bank_server(**chosen)


@pytest.fixture(params=SERVERS)
def served_bank(request: pytest.FixtureRequest) -> Iterator[tuple[Bank, Service]]:
    bank = Bank()
    with SERVERS[request.param](bank.server()) as url:
        yield bank, Service(url)


Served = tuple[Bank, Service]


def test_a_submission_gets_its_uuid_and_amount_and_one_decision(served_bank: Served) -> None:
    bank, service = served_bank
    submission = order(phone_number="+233241234567")
    first, second = (service.post("submissions", submission) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.json() == second.json() == {**ACCEPTED, "uuid": submission["uuid"], "amount": "100.00"}
    assert bank.submissions == [{**submission, "account_number": None}]
    assert service.query("submissions", submission["uuid"]).json() == first.json()


def test_a_rejection_is_final(served_bank: Served) -> None:
    bank, service = served_bank
    bank.result = {"status": "rejected", "code": "insufficient_funds", "message": "Insufficient funds"}
    submission = order()
    reply = service.post("submissions", submission)
    bank.result = ACCEPTED
    assert reply.status_code == 200
    assert service.post("submissions", submission).json() == reply.json()


def test_a_query_shows_the_present_outcome(served_bank: Served) -> None:
    bank, service = served_bank
    submission = order()
    service.post("submissions", submission)
    completed = {"status": "completed", "bank_reference": "XYZ-1", "fee": "1.50"}
    bank.current["submission"] = completed
    assert service.query("submissions", submission["uuid"]).json() == {
        **completed,
        "uuid": submission["uuid"],
        "amount": "100.00",
    }
    assert service.post("submissions", submission).json()["status"] == "accepted"


def test_an_unknown_uuid_is_404(served_bank: Served) -> None:
    _, service = served_bank
    for kind in ("submissions", "settlements", "refunds"):
        assert service.query(kind, "u").status_code == 404


def test_a_repeated_payout_gets_the_current_reply(served_bank: Served) -> None:
    bank, service = served_bank
    payout = order()
    assert service.post("settlements", payout).json()["status"] == "underway"
    bank.current["payout"] = PAID
    again = service.post("settlements", payout)
    assert (again.status_code, again.json()["status"], again.json()["amount"]) == (200, "paid", "100.00")


def test_kinds_have_their_own_keys(served_bank: Served) -> None:
    _, service = served_bank
    both = order()
    assert service.post("submissions", both).json()["status"] == "accepted"
    assert service.post("refunds", both).json()["status"] == "paid"


@pytest.mark.parametrize(
    "result",
    [
        RuntimeError("the database is down"),
        {"status": "paid", "bank_reference": "X"},
        {"status": "accepted"},
        {"status": "accepted", "bank_reference": 42},
        {"status": "accepted", "bank_reference": " "},
        {"status": "accepted", "bank_reference": "X" * 256},
        {"status": "rejected", "message": "No such account"},
        {"status": "renamed"},
        None,
    ],
)
def test_a_failed_handler_stores_nothing(served_bank: Served, result: Any) -> None:
    bank, service = served_bank
    bank.result = result
    submission = order()
    assert service.post("submissions", submission).status_code == 500
    assert service.query("submissions", submission["uuid"]).status_code == 404
    bank.result = ACCEPTED
    assert service.post("submissions", submission).status_code == 200


def test_requests_that_break_the_protocol_are_refused(served_bank: Served) -> None:
    bank, service = served_bank
    body = json.dumps(order(uuid="u")).encode()
    path = "/debits/submissions"
    old = str(int(time.time()) - 400)
    stale = request_hmac(SECRET, "POST", path, old, body)
    key = {"x_idempotency_key": "u"}
    refused = [
        (401, Service(service.url, "cs_2").send("POST", path, body, **key)),
        (401, service.send("POST", path, body, **key, x_timestamp=old, x_signature=stale)),
        (401, service.send("POST", path, body, **key, x_timestamp="soon")),
        (401, service.send("POST", path, body, **key, x_signature="")),
        (400, service.send("POST", path, b"no", **key)),
        (400, service.send("POST", path, b"[]", **key)),
        (400, service.send("POST", path, b'{"uuid": "u", "amount": 100.00}', **key)),
        (400, service.send("POST", path, body, x_idempotency_key="other")),
        (404, service.send("POST", "/debits/others", body, **key)),
        (405, service.send("PUT", path, body, **key)),
        (405, service.send("POST", f"{path}/u", body, **key)),
        (413, service.send("POST", path, b" " * (64 * 1024 + 1), **key)),
    ]
    assert [reply.status_code for _, reply in refused] == [status for status, _ in refused]
    assert all(isinstance(reply.json()["error"], str) for _, reply in refused)
    assert bank.submissions == []


def test_two_secrets_are_valid_during_a_rotation() -> None:
    with served_wsgi(Bank().server(secret=["cs_new", "cs_old"]).wsgi) as url:
        for secret in ("cs_new", "cs_old"):
            assert Service(url, secret).post("submissions", order()).status_code == 200


@pytest.mark.parametrize("secret", ["", [], ["cs_1", ""]])
def test_an_empty_secret_is_refused(secret: Any) -> None:
    with pytest.raises(ValueError, match="secret"):
        Bank().server(secret=secret)


def test_a_bank_without_payouts_and_refunds_rejects_them() -> None:
    with served_wsgi(Bank().server(on_payout=None, on_refund=None).wsgi) as url:
        for kind, message in [("settlements", "no payouts"), ("refunds", "no refunds")]:
            reply = Service(url).post(kind, order())
            assert reply.json()["status"] == "rejected"
            assert message in reply.json()["message"]


def test_an_async_handler_runs_in_the_loop_of_the_server() -> None:
    async def submit(_: Any) -> Any:
        await asyncio.sleep(0)
        return ACCEPTED

    with served_asgi(Bank().server(on_submission=submit).asgi) as url:
        assert Service(url).post("submissions", order()).json()["status"] == "accepted"
    with served_wsgi(Bank().server(on_submission=submit).wsgi) as url:
        assert Service(url).post("submissions", order()).status_code == 500


def test_concurrent_repeats_wait_for_the_first_decision() -> None:
    began, release = threading.Event(), threading.Event()
    decisions: list[Any] = []

    def submit(submission: Any) -> Any:
        decisions.append(submission)
        began.set()
        release.wait(10)
        return {**ACCEPTED, "bank_reference": f"XYZ-{len(decisions)}"}

    submission = order()
    replies: list[Any] = []
    with served_wsgi(Bank().server(on_submission=submit).wsgi) as url:
        service = Service(url)
        repeats = [
            threading.Thread(target=lambda: replies.append(service.post("submissions", submission).json()))
            for _ in range(4)
        ]
        for repeat in repeats:
            repeat.start()
        assert began.wait(10)
        release.set()
        for repeat in repeats:
            repeat.join()
    assert [reply["bank_reference"] for reply in replies] == ["XYZ-1"] * 4


def test_a_final_reply_is_repeated_without_a_query(served_bank: Served) -> None:
    bank, service = served_bank
    bank.current["refund"] = {"status": "rejected", "message": "Too late"}
    refund = order()
    assert service.post("refunds", refund).json()["status"] == "paid"
    assert service.query("refunds", refund["uuid"]).json()["status"] == "paid"


def test_the_example_passes_the_check_of_banks(tmp_path: Path) -> None:
    books = str(tmp_path / "books.sqlite")
    with example("bank", {"BOOKS": books, "CONNECTOR_SECRET": SECRET}) as url:
        with closing(sqlite3.connect(books)) as db, db:
            db.execute("INSERT INTO accounts VALUES ('1041001001', 1000000000)")
        check = [NODE, "commands/bank-check.ts", "--url", f"{url}/debits", "--secret", SECRET]
        done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith("ok ")] == []
    assert (done.returncode, len(lines) > 40) == (0, True), done.stderr


PROTOCOL = json.loads((ROOT / "docs/bank-protocol.json").read_text())
KINDS: dict[str, Kind] = {"submissions": "submission", "settlements": "payout", "refunds": "refund"}
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
    assert _reply(kind, request, own) == example
    required = PROTOCOL["components"]["schemas"][name[0].upper() + name[1:]]["required"]
    for omitted in own.keys() - {"status"}:
        rest = {member: value for member, value in own.items() if member != omitted}
        if omitted in required:
            with pytest.raises(ValueError, match=omitted):
                _reply(kind, request, rest)
        else:
            assert omitted not in _reply(kind, request, rest)
