"""A bank with its books in one SQLite file.

CONNECTOR_SECRET=cs_... BANK_TOKEN=bt_... uvicorn --app-dir examples bank:app --port 4300
"""

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from debit_collection.bank_requests import Payout, Query, RefundOrder, Result, Submission
from debit_collection.bank_server import bank_server

SERVICE = os.environ.get("SERVICE", "http://127.0.0.1:3000")
TABLES = """
CREATE TABLE IF NOT EXISTS accounts (number TEXT PRIMARY KEY, pesewas INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS debits (uuid TEXT PRIMARY KEY, account TEXT, pesewas INTEGER, status TEXT);
CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL);
"""


class Books:
    """Stores a reply in the transaction in which a handler below decides about it."""

    def __init__(self, file: str) -> None:
        self.db = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self.db.executescript(TABLES)
        self.lock = threading.RLock()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with self.lock, self.db:
            yield self.db.execute("BEGIN IMMEDIATE").connection

    def once(self, key: str, decide: Callable[[], dict[str, Any]], /) -> dict[str, Any]:
        with self.transaction() as db:
            reply = self.read(key)
            if reply is None:
                reply = decide()
                db.execute("INSERT INTO replies VALUES (?, ?)", (key, json.dumps(reply)))
            return reply

    def read(self, key: str, /) -> dict[str, Any] | None:
        with self.lock:
            row = self.db.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None


books = Books(os.environ.get("BOOKS", ":memory:"))


def pesewas(amount: str) -> int:
    return int(amount.replace(".", ""))


def submit(submission: Submission) -> Result:
    account, amount = submission["account_number"], pesewas(submission["amount"])
    row = books.db.execute("SELECT pesewas FROM accounts WHERE number = ?", (account,)).fetchone()
    if row is None:
        return {"status": "rejected", "code": "invalid_account", "message": "Unknown account"}
    if row[0] < amount:
        return {"status": "rejected", "code": "insufficient_funds", "message": "Insufficient funds"}
    books.db.execute("UPDATE accounts SET pesewas = pesewas - ? WHERE number = ?", (amount, account))
    books.db.execute("INSERT INTO debits VALUES (?, ?, ?, 'reserved')", (submission["uuid"], account, amount))
    # The customer would approve by USSD.
    threading.Timer(1, approve, [submission["uuid"]]).start()
    return {"status": "accepted", "bank_reference": f"XYZ-{submission['uuid'][:8]}"}


def approve(uuid: str) -> None:
    """Completes a debit that the customer approved. If the report is lost, the service queries."""
    with books.transaction() as db:
        if db.execute("UPDATE debits SET status = 'completed' WHERE uuid = ?", (uuid,)).rowcount == 0:
            return
    report = {"status": "completed", "bank_reference": f"XYZ-{uuid[:8]}", "approval_method": "ussd"}
    url = f"{SERVICE}/api/v1/banks/debit-transactions/{uuid}/update"
    token = os.environ["BANK_TOKEN"]
    httpx.post(url, json=report, headers={"Authorization": f"Bearer {token}"}).raise_for_status()


def credit(order: Payout | RefundOrder) -> Result:
    change = "UPDATE accounts SET pesewas = pesewas + ? WHERE number = ?"
    if books.db.execute(change, (pesewas(order["amount"]), order["account_number"])).rowcount == 0:
        return {"status": "rejected", "message": "Unknown account"}
    return {"status": "paid", "bank_reference": f"XYZ-{order['uuid'][:8]}"}


def outcome(query: Query) -> Result | None:
    """Returns None unless the customer was debited: until then the first reply is current."""
    debited = "SELECT 1 FROM debits WHERE uuid = ? AND status = 'completed'"
    with books.lock:
        if books.db.execute(debited, (query["uuid"],)).fetchone() is None:
            return None
    return {"status": "completed", "bank_reference": f"XYZ-{query['uuid'][:8]}"}


app = bank_server(
    secret=os.environ.get("CONNECTOR_SECRET", "cs_sandbox"),
    store=books,
    on_submission=submit,
    on_query=outcome,
    on_payout=credit,
    on_refund=credit,
).asgi
