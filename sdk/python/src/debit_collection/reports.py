"""Defines the operations of banks, as `operations.py` those of providers."""

from copy import deepcopy
from typing import Any, Literal

from . import wire
from .amounts import Amount, amount_text
from .calls import Call, Operation
from .methods import Group, Pages, listing, method
from .operations import PER_PAGE

API = "/api/v1/banks"
ApprovalMethod = Literal["ussd", "mobile_api", "web"]


class Reports(Group):
    @method
    def update(
        self,
        uuid: str,
        *,
        status: Literal["completed", "failed"],
        bank_reference: str,
        approval_method: ApprovalMethod | None = None,
        error_message: str | None = None,
        fee: Amount | None = None,
        metadata: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Operation[wire.ReportedTransaction]:
        """Reports the outcome of a debit. `failed` needs an `error_message`."""
        body = _body(status, bank_reference, approval_method, error_message, fee, metadata)
        return self._report("update_debit_transaction", "update", uuid, body, timeout)

    @method
    def callback(
        self,
        uuid: str,
        *,
        status: Literal["approved", "completed", "failed"],
        bank_reference: str,
        approval_method: ApprovalMethod | None = None,
        error_message: str | None = None,
        fee: Amount | None = None,
        metadata: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Operation[wire.CallbackTransaction]:
        """Reports the outcome of a debit, or with `approved` that the customer has approved it."""
        body = _body(status, bank_reference, approval_method, error_message, fee, metadata)
        return self._report("debit_callback", "callback", uuid, body, timeout)

    @listing
    def list(
        self,
        phone_number: str,
        *,
        status: wire.BankStatusFilter | None = None,
        timeout: float | None = None,
    ) -> Pages[wire.BankTransaction]:
        """Lists the debits of a phone number at the bank, the newest first, by default the pending ones."""
        query = {"phone_number": phone_number, "status": status, "per_page": PER_PAGE}
        call = Call("list_debit_transactions", "GET", "/debit-transactions", query=query, api=API)
        return self._pages_of(call, timeout, member="transactions")

    def _report(
        self, operation: str, verb: str, uuid: str, body: dict[str, Any], timeout: float | None
    ) -> Operation[Any]:
        path = f"/debit-transactions/{{uuid}}/{verb}"
        return self._read(Call(operation, "POST", path, (uuid,), body=body, api=API), timeout)


def _body(
    status: str,
    bank_reference: str,
    approval_method: str | None,
    error_message: str | None,
    fee: Amount | None,
    metadata: dict[str, Any] | None,
) -> dict[str, Any]:
    members = {
        "status": status,
        "bank_reference": bank_reference,
        "approval_method": approval_method,
        "error_message": error_message,
        "fee": None if fee is None else amount_text(fee),
        # A copy: each attempt sends the same body, also if the caller changes its metadata.
        "metadata": deepcopy(metadata),
    }
    return {name: value for name, value in members.items() if value is not None}
