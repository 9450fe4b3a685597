"""Both clients, receivers and the examples against a sandbox."""

import asyncio
import json
import re
import socket
import sqlite3
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from debit_collection import (
    AsyncBankReports,
    AsyncDebitCollection,
    BankReports,
    DebitCollection,
    Pesewas,
    webhooks,
)
from debit_collection.calls import AttemptLog
from debit_collection.errors import ApiError, DuplicateReferenceError

from .calling import ORDER, ClientKind, both, call, expect_call
from .conftest import Operate, cases_in, eventually, example, named, served_asgi
from .faulty_server import Step, faulty_server, problem
from .test_receivers import fastapi_app
from .test_signature import SECRET


def new_order(**members: Any) -> dict[str, Any]:
    return {**ORDER, "partner_reference": str(uuid4()), **members}


@both
@pytest.mark.parametrize("scenario", cases_in("service")["scenarios"], ids=named)
def test_scenario(kind: ClientKind, scenario: dict[str, Any], sandbox: str) -> None:
    order = new_order()
    known: dict[str, Any] = {"run": {"id": order["partner_reference"], "address": sandbox}}
    for each in scenario["steps"]:
        filled = re.sub(r"\$\{(\w+)\.(\w+)\}", lambda found: known[found[1]][found[2]], json.dumps(each))
        step = json.loads(filled)
        if step["call"] == "charge":
            step["options"] = {**order, **step.get("options", {})}
        client = step.get("client", scenario.get("client", {"api_key": "sk_sandbox_other"}))
        known[step.get("as")] = expect_call(kind, sandbox, step, **client)


@both
def test_a_list_takes_times_of_any_zone(kind: ClientKind, sandbox: str) -> None:
    key = new_order()["partner_reference"]
    charged = call(kind, sandbox, lambda client: client.charge(**new_order(partner_reference=key)))
    since = datetime.now(timezone(timedelta(hours=2))) - timedelta(minutes=5)
    listed = call(kind, sandbox, lambda client: client.list(created_from=since, partner_reference=key))
    assert [debit["reference"] for debit in listed] == [charged["reference"]]


def test_many_waits_at_once_share_a_client(sandbox: str, operate: Operate) -> None:
    operate("provider", "create", "--provider", "waits", "--name", "Waits")
    token = operate("credential", "issue", "--provider", "waits")["token"]
    statuses: list[int | None] = []

    async def run() -> list[str]:
        def log(entry: AttemptLog) -> None:
            statuses.append(entry["status"])

        async with AsyncDebitCollection(base_url=sandbox, api_key=token, log=log) as client:
            charged = [await client.charge(**new_order(amount="1.00")) for _ in range(40)]
            debits = await asyncio.gather(*[client.wait_for(one["reference"]) for one in charged])
            return [debit["status"] for debit in debits]

    assert asyncio.run(run()) == ["completed"] * 40
    assert set(statuses) == {202, 200}


def test_webhooks_arrive_and_the_feed_has_the_same_events(sandbox: str, operate: Operate) -> None:
    received: list[Any] = []
    on: webhooks.Handlers = {"transaction.failed": lambda event, _: received.append(event)}
    secret = operate("webhook", "set", "--provider", "demo", "--url", "http://127.0.0.1:9/")["secret"]
    with served_asgi(fastapi_app(on, secret=secret)) as url:
        operate("webhook", "set", "--provider", "demo", "--url", f"{url}/webhooks")
        with DebitCollection(api_key="sk_sandbox_demo", base_url=sandbox) as client:
            assert client.webhook.test()["response_code"] == 204
            cursor = list(client.events.list().pages())[-1].next_cursor
            order = new_order(phone_number="+233241111111")
            reference = client.charge(**order)["reference"]
            assert client.wait_for(reference)["error_details"] is not None
            eventually(lambda: bool(received))
            fed = [event for event in client.events.list(cursor=cursor) if event["event"].endswith("failed")]
            assert fed == received
            deliveries = client.deliveries.list(reference)
            assert {delivery["event"] for delivery in deliveries} >= {"transaction.failed"}
            assert client.deliveries.redeliver(deliveries[-1]["id"])["reference"] == reference


def test_a_bank_reports_outcomes_and_lists_the_debits_of_a_number(sandbox: str) -> None:
    silent = "+233244444444"
    with (
        DebitCollection(api_key="sk_sandbox_demo", base_url=sandbox) as client,
        BankReports(api_key="bt_sandbox_gcb", base_url=sandbox) as reports,
    ):
        charged = [client.charge(**new_order(phone_number=silent)) for _ in range(3)]
        first, second, third = (debit["uuid"] for debit in charged)
        eventually(lambda: all(client.get(one["reference"])["status"] == "processing" for one in charged))
        done = reports.update(
            first, status="completed", bank_reference="B-1", approval_method="ussd", fee=Pesewas(150)
        )
        assert (done["uuid"], done["status"], done["fee"]) == (first, "completed", "1.50")
        with pytest.raises(ApiError) as refused:
            reports.update(first, status="failed", bank_reference="B-1", error_message="Declined")
        assert (refused.value.code, refused.value.attempts) == (3001, 1)
        failed = reports.callback(second, status="failed", bank_reference="B-2", error_message="Declined")
        assert failed["status"] == "failed"
        assert second in [debit["uuid"] for debit in reports.list(silent, status="failed")]

    async def approve() -> str:
        async with AsyncBankReports(api_key="bt_sandbox_gcb", base_url=sandbox) as service:
            approved = await service.callback(third, status="approved", bank_reference="B-3")
            assert third in [debit["uuid"] async for debit in service.list(silent, status="processing")]
            return approved["status"]

    assert asyncio.run(approve()) == "processing"


def test_a_provider_requests_a_reversal_and_reads_it(sandbox: str, operate: Operate) -> None:
    operate("provider", "update", "--provider", "demo", "--reversals", "request")
    with DebitCollection(api_key="sk_sandbox_demo", base_url=sandbox) as client:
        reference = client.charge(**new_order())["reference"]
        client.wait_for(reference)
        requested = client.request_reversal(reference, reason="Cancelled", kind="complaint")
        assert client.request_reversal(reference, reason="Cancelled") == requested
        request = client.get(reference)["reversal_request"]
        assert request is not None
        assert (request["kind"], request["respond_by"]) == ("complaint", requested["respond_by"])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_the_shop_sells_and_reconciles_at_the_bank_of_the_example(
    sandbox: str, operate: Operate, tmp_path: Path
) -> None:
    port, books = free_port(), str(tmp_path / "books.sqlite")
    bank = ("--bank", "XYZ", "--name", "XYZ Bank", "--connector", "http")
    url = f"http://127.0.0.1:{port}/debits"
    connector_secret = operate("bank", "create", *bank, "--connector-url", url)["connector_secret"]
    token = operate("credential", "issue", "--bank", "XYZ")["token"]
    account = ("--phone", "+233200000001", "--name", "Kofi", "--account-number", "200100")
    operate("customer", "link", *account, "--bank", "XYZ")
    webhook = ("webhook", "set", "--provider", "demo", "--url")
    operate(*webhook, "http://127.0.0.1:9/")
    secret = operate("webhook", "rotate-secret", "--provider", "demo")["secret"]
    bank_settings = {"BOOKS": books, "CONNECTOR_SECRET": connector_secret, "BANK_TOKEN": token}
    shop_settings = {"ORDERS": str(tmp_path / "orders.sqlite"), "WEBHOOK_SECRET": secret}
    with (
        example("bank", {**bank_settings, "SERVICE": sandbox}, port),
        example("fastapi_shop", {**shop_settings, "SERVICE": sandbox}) as shop,
        httpx.Client(base_url=shop, timeout=30) as customer,
    ):
        with sqlite3.connect(books) as db:
            db.execute("INSERT INTO accounts VALUES ('200100', 15000)")
        operate(*webhook, f"{shop}/webhooks")
        order = {"pesewas": 10000, "phone_number": "+233200000001", "bank": "XYZ"}
        first, second = (customer.post("/orders", json={**order, "id": f"shop-{n}"}).json() for n in (1, 2))
        assert first["status"] == "pending"
        assert (
            customer.post("/orders", json={**order, "id": "shop-1"}).json()["reference"] == first["reference"]
        )
        eventually(lambda: customer.get("/orders/shop-1").json()["status"] == "completed")
        # The second debit of 100.00 exceeds the account.
        assert customer.get("/orders/shop-2", params={"wait": True}).json()["status"] == "failed"
        assert second["reference"]
        assert customer.post("/orders", json={**order, "id": "shop-3", "pesewas": 1}).status_code == 422
        assert sqlite3.connect(books).execute("SELECT pesewas FROM accounts").fetchone() == (5000,)

        tomorrow = datetime.now(timezone.utc).date() + timedelta(days=1)
        operate("settlement", "run", "--date", str(tomorrow), "--provider", "demo")
        with DebitCollection(api_key="sk_sandbox_demo", base_url=sandbox) as client:
            batch = next(iter(client.settlements.list()))
            eventually(lambda: client.settlements.get(batch["id"])["sealed_at"] is not None)
            csv = client.settlements.report(batch["id"], format="csv")
            report = client.settlements.report(batch["id"])
        assert csv.startswith("type,reference,")
        assert first["reference"] in {line["reference"] for line in report["lines"]}
        compared = customer.get(f"/reconciliation/{batch['id']}").json()
        assert compared["matched"] == ["shop-1"]
        assert compared["differs"] == []


DOWN = problem(503, 2003, headers={"retry-after": "30"})


@pytest.mark.parametrize(("steps", "status"), [([DOWN], 422), ([Step(fault="close"), DOWN], 500)])
def test_the_shop_refuses_an_order_at_a_bank_that_is_down_unless_its_debit_may_exist(
    steps: list[Step], status: int, tmp_path: Path
) -> None:
    settings = {"ORDERS": str(tmp_path / "orders.sqlite"), "WEBHOOK_SECRET": SECRET}
    order = {"id": "shop-1", "pesewas": 10000, "phone_number": "+233241234567", "bank": "GCB"}
    with (
        faulty_server(*steps) as server,
        example("fastapi_shop", {**settings, "SERVICE": server.url}) as shop,
    ):
        assert httpx.post(f"{shop}/orders", json=order, timeout=30).status_code == status


def test_a_lost_reply_to_a_charge_of_a_rejecting_provider_is_resolved(sandbox: str, operate: Operate) -> None:
    """With `duplicates: reject` the repeat of an own attempt is a 409."""
    operate("provider", "update", "--provider", "demo", "--duplicates", "reject")

    class LossyTransport(httpx.HTTPTransport):
        lost = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            if request.method == "POST" and not self.lost:
                self.lost += 1
                response.read()
                raise httpx.ReadError("the reply is lost")
            return response

    try:
        order = new_order(metadata={"rate": 0.1, "list": [1, 2.50]})
        transport = LossyTransport()
        with DebitCollection(api_key="sk_sandbox_demo", base_url=sandbox, transport=transport) as client:
            charged = client.charge(**order)
            assert charged["replayed"] is True
            assert client.get(charged["reference"])["partner_reference"] == order["partner_reference"]
            with pytest.raises(DuplicateReferenceError):
                client.charge(**order)
        json.dumps(charged)
    finally:
        operate("provider", "update", "--provider", "demo", "--duplicates", "return")
