"""A bank in SQLite: accepts debits, reports their completion, pays providers and refunds customers.

CONNECTOR_SECRET=cs_... BANK_TOKEN=bt_... python -m uvicorn --port 4300 --app-dir examples bank:app
"""

import os
import threading
from contextlib import suppress

from reply_store import SqliteReplies

from debit_collection import BankReports
from debit_collection.bank_requests import Payout, Query, RefundOrder, Result, Submission
from debit_collection.bank_server import bank_server
from debit_collection.errors import ApiError, DebitCollectionError

TABLES = """
CREATE TABLE IF NOT EXISTS accounts (number TEXT PRIMARY KEY, pesewas INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS debits
    (uuid TEXT PRIMARY KEY, account TEXT NOT NULL, is_reported INTEGER NOT NULL DEFAULT 0);
"""
books = SqliteReplies(os.environ.get("BOOKS", ":memory:"), TABLES)


def book(account: str | None, amount: str, sign: int) -> bool:
    """Moves money, in the transaction of the store. Returns False without the account or enough money."""
    pesewas = sign * int(amount.replace(".", ""))
    move = "UPDATE accounts SET pesewas = pesewas + ? WHERE number = ? AND pesewas + ? >= 0 RETURNING 1"
    return bool(books.rows(move, pesewas, account, pesewas))


def prompt(debit: Submission) -> str:
    """The text of an approval. The payee's name comes first: only an operator sets it."""
    return f"Pay {debit['payee']['name']} {debit['currency']} {debit['amount']}? ({debit['narration']})"


def submit(submission: Submission) -> Result:
    print(prompt(submission))
    account = submission["account_number"]
    if not books.rows("SELECT 1 FROM accounts WHERE number = ?", account):
        return {"status": "rejected", "code": "invalid_account", "message": "Unknown account"}
    if not book(account, submission["amount"], -1):
        return {"status": "rejected", "code": "insufficient_funds", "message": "Not enough money"}
    books.rows("INSERT INTO debits (uuid, account) VALUES (?, ?)", submission["uuid"], account)
    return {"status": "accepted", "bank_reference": f"XYZ-{submission['uuid']}"}


def pay(order: Payout) -> Result:
    return credit(order["account_number"], order)


def refund(order: RefundOrder) -> Result:
    """Refunds to the account of the debit: the order may lack it."""
    debits = books.rows("SELECT account FROM debits WHERE uuid = ?", order["debit_uuid"])
    return credit(debits[0][0] if debits else None, order)


def credit(account: str | None, order: Payout | RefundOrder) -> Result:
    if not book(account, order["amount"], 1):
        return {"status": "rejected", "message": "Unknown account"}
    return {"status": "paid", "bank_reference": f"XYZ-{order['uuid']}"}


def outcome(query: Query) -> Result | None:
    if query["kind"] != "submission":
        return None
    return {"status": "completed", "bank_reference": f"XYZ-{query['uuid']}"}


def report(reports: BankReports) -> None:
    """Reports each debit until the service has recorded it, or does not know it or refuses the outcome."""
    for (uuid,) in books.rows("SELECT uuid FROM debits WHERE NOT is_reported"):
        try:
            reports.callback(uuid, status="completed", bank_reference=f"XYZ-{uuid}", approval_method="ussd")
        except ApiError as error:
            if error.status not in (404, 422):
                raise
        books.rows("UPDATE debits SET is_reported = 1 WHERE uuid = ?", uuid)


def report_each_second() -> None:
    with BankReports(api_key=os.environ["BANK_TOKEN"], base_url=os.environ["SERVICE"]) as reports:
        while not stopped.wait(1):
            with suppress(DebitCollectionError):
                report(reports)


stopped = threading.Event()
if "SERVICE" in os.environ:
    threading.Thread(target=report_each_second, daemon=True).start()

app = bank_server(
    secret=os.environ["CONNECTOR_SECRET"],
    store=books,
    on_submission=submit,
    on_query=outcome,
    on_payout=pay,
    on_refund=refund,
).asgi
