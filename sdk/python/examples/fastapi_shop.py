"""A shop that collects its orders by debit.

API_KEY=sk_sandbox_demo WEBHOOK_SECRET=whsec_... uvicorn --app-dir examples fastapi_shop:app --port 8080
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from debit_collection import AsyncDebitCollection, Pesewas, webhooks
from debit_collection.errors import BankUnavailableError, ValidationError
from debit_collection.wire import TransactionCompletedEvent, TransactionFailedEvent, TransactionReversedEvent

FILE = os.environ.get("ORDERS", "orders.sqlite")
TABLES = """
CREATE TABLE IF NOT EXISTS orders (
  id TEXT PRIMARY KEY, pesewas INTEGER NOT NULL, reference TEXT, status TEXT NOT NULL DEFAULT 'open'
);
CREATE TABLE IF NOT EXISTS applied_events (subject TEXT PRIMARY KEY, sequence INTEGER NOT NULL);
"""

service = AsyncDebitCollection(
    api_key=os.environ.get("API_KEY", "sk_sandbox_demo"),
    base_url=os.environ.get("SERVICE", "http://127.0.0.1:3000"),
)


@contextmanager
def transaction() -> Iterator[sqlite3.Connection]:
    """Opens a connection for one transaction. A second one waits."""
    # An async handler would use the connection in another thread.
    db = sqlite3.connect(FILE, isolation_level=None, check_same_thread=False)
    try:
        with db:
            db.execute("BEGIN IMMEDIATE")
            yield db
    finally:
        db.close()


class SqlStore:
    """Applies an event in the transaction that records it."""

    def apply(self, key: webhooks.EventKey, work: Callable[[Any], object], /) -> webhooks.Applied:
        with transaction() as db:
            later = "SELECT 1 FROM applied_events WHERE subject = ? AND sequence >= ?"
            if db.execute(later, (key.subject, key.sequence)).fetchone():
                return "superseded"
            work(db)
            db.execute("INSERT OR REPLACE INTO applied_events VALUES (?, ?)", (key.subject, key.sequence))
            return "applied"


def settle_order(
    event: TransactionCompletedEvent | TransactionFailedEvent | TransactionReversedEvent,
    db: sqlite3.Connection,
) -> None:
    debit = event["data"]["transaction"]
    set_status(db, debit["partner_reference"], debit["status"])


def set_status(db: sqlite3.Connection, order: str, status: str) -> None:
    """Goods are sent after `completed` only; `reversed` takes them back."""
    db.execute("UPDATE orders SET status = ? WHERE id = ?", (status, order))


class Order(BaseModel):
    id: str
    pesewas: int
    phone_number: str
    bank: str


with sqlite3.connect(FILE) as created:
    created.executescript(TABLES)
created.close()

app = FastAPI()
app.post("/webhooks")(
    webhooks.fastapi(
        secrets=os.environ["WEBHOOK_SECRET"].split(),
        store=SqlStore(),
        on={
            "transaction.completed": settle_order,
            "transaction.failed": settle_order,
            "transaction.reversed": settle_order,
        },
    )
)


@app.post("/orders")
async def create_order(order: Order) -> dict[str, str]:
    """Stores the order before it charges, so that a repeat of this request charges once."""
    with transaction() as db:
        db.execute("INSERT OR IGNORE INTO orders (id, pesewas) VALUES (?, ?)", (order.id, order.pesewas))
    try:
        charged = await service.charge(
            phone_number=order.phone_number,
            bank_identifier=order.bank,
            amount=Pesewas(order.pesewas),
            narration=f"Order {order.id}",
            partner_reference=order.id,
        )
    except (ValidationError, BankUnavailableError) as error:
        # If the charge exists, its webhook decides.
        if error.may_exist:
            raise
        raise HTTPException(422, error.fields) from None
    with transaction() as db:
        db.execute("UPDATE orders SET reference = ? WHERE id = ?", (charged["reference"], order.id))
    return {"reference": charged["reference"], "status": charged["status"]}


@app.get("/orders/{id}")
async def read_order(id: str, wait: bool = False) -> dict[str, str]:
    """Shows an order, with `?wait=true` after its outcome, even if the webhook is lost."""
    with transaction() as db:
        row = db.execute("SELECT status, reference FROM orders WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise HTTPException(404)
    status, reference = row
    if wait and status == "open" and reference:
        status = (await service.wait_for(reference))["status"]
        with transaction() as db:
            db.execute("UPDATE orders SET status = ? WHERE id = ? AND status = 'open'", (status, id))
    return {"id": id, "status": status}


@app.get("/reconciliation/{batch}")
async def reconcile(batch: str) -> dict[str, list[str]]:
    """Compares the debits of a settlement batch with the orders."""
    report = await service.settlements.report(batch)
    settled = {line["partner_reference"]: line for line in report["lines"] if line["type"] == "debit"}
    with transaction() as db:
        orders = dict(db.execute("SELECT id, pesewas FROM orders WHERE status IN ('completed', 'reversed')"))
    amounts = {id: int(line["gross"].replace(".", "")) for id, line in settled.items()}
    return {
        "unknown": sorted(amounts.keys() - orders.keys()),
        "differs": sorted(id for id in amounts.keys() & orders.keys() if amounts[id] != orders[id]),
        "matched": sorted(id for id in amounts.keys() & orders.keys() if amounts[id] == orders[id]),
    }
