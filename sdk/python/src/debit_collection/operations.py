"""Defines each operation of the API once, as a generator (see `calls.py`), for both clients."""

import os
from copy import deepcopy
from datetime import date, datetime
from typing import Any, Literal, TypeAlias, TypedDict
from urllib.parse import urljoin

from . import wire
from .amounts import Amount, amount_text
from .calls import Call, Operation, Settings, Success, perform
from .charged import ChargeResult, is_charged
from .errors import DebitCollectionError, DuplicateReferenceError
from .methods import Group, Pages, listing, method
from .polling import Pacer, wait_until_final

PER_PAGE = "100"
WAIT_TIMEOUT = 660.0

# Some classes below have a method `list`.
DeliveryRecords: TypeAlias = list[wire.DeliveryWithAttempts]


class CustomerBanks(TypedDict):
    """The banks where a phone number has an active account, and the name of the customer."""

    customer: str
    banks: list[wire.Bank]


class Debits(Group):
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # Each process has a pacer: a fork copies turns and locks, but not the threads that have them.
        self._pacers: dict[int, Pacer] = {}

    @method
    def charge(
        self,
        *,
        phone_number: str,
        bank_identifier: str,
        amount: Amount,
        narration: str,
        partner_reference: str,
        metadata: dict[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Operation[ChargeResult]:
        """Requests a debit. A repeat with the same partner_reference and body returns the same debit.

        `amount` is text with two decimals, `Pesewas` or a `Decimal`; numbers raise TypeError.
        """
        body = {
            "phone_number": phone_number,
            "bank_identifier": bank_identifier,
            "amount": amount_text(amount),
            "currency": "GHS",
            "narration": narration,
            "partner_reference": partner_reference,
            # A copy: each attempt sends the same body, also if the caller changes its metadata.
            **({} if metadata is None else {"metadata": deepcopy(metadata)}),
        }
        call = Call("charge", "POST", "/debit-requests/charge", body=body)
        since = self._settings.clock()
        try:
            success = yield from perform(self._settings, call, timeout)
        except DuplicateReferenceError as error:
            # With `duplicates: "reject"`, an earlier attempt of this call may have created the debit.
            if error.attempts == 1:
                raise
            read = _get_call(error.existing["reference"])
            try:
                debit: wire.DebitDetail = yield from self._read(read, timeout, since)
            except DebitCollectionError as failure:
                raise error from failure
            if not is_charged(debit, body):
                raise error from None
            data, replayed = debit, True
        else:
            data = success.body["data"]
            replayed = success.headers.get("idempotent-replayed") == "true"
        return {
            "reference": data["reference"],
            "uuid": data["response"]["uuid"],
            "status": data["status"],
            "timestamp": data["response"]["timestamp"],
            "bank": data["bank"] if "bank" in data else data["response"]["bank"],
            "replayed": replayed,
        }

    @method
    def get(self, reference: str, *, timeout: float | None = None) -> Operation[wire.DebitDetail]:
        """Reads a debit."""
        return self._read(_get_call(reference), timeout)

    @method
    def find_by_partner_reference(
        self, partner_reference: str, *, timeout: float | None = None
    ) -> Operation[wire.Debit | None]:
        """Finds the debit of a reference of yours."""
        if not partner_reference:
            raise ValueError("partner_reference is empty")
        pages = Debits.list(self, partner_reference=partner_reference, timeout=timeout)
        page = yield from pages.fetch(None)
        return page.data[0] if page.data else None

    @method
    def wait_for(self, reference: str, *, timeout: float = WAIT_TIMEOUT) -> Operation[wire.DebitDetail]:
        """Polls until the debit has an outcome, or raises WaitTimeoutError."""
        pacer = self._pacers.setdefault(os.getpid(), Pacer(self._settings.clock))
        return wait_until_final(self._settings, pacer, _get_call(reference), timeout)

    @method
    def request_reversal(
        self,
        reference: str,
        *,
        reason: str,
        kind: Literal["refund", "complaint"] = "refund",
        timeout: float | None = None,
    ) -> Operation[wire.OpenReversal]:
        """Asks the operator to return the whole amount of a completed debit.

        A repeat returns the open request, whose reason stays. The decision is `reversal_request` of `get`.
        Raises ValidationError if the debit is not completed, ForbiddenError unless the operator has enabled
        requests, ConflictError if the debit is reversed or an earlier request was declined.
        """
        path = "/debit-requests/{reference}/reversal-request"
        body = {"reason": reason, "kind": kind}
        return self._read(Call("request_reversal", "POST", path, (reference,), body=body), timeout)

    @listing
    def list(
        self,
        *,
        status: wire.DebitStatus | None = None,
        created_from: str | date | None = None,
        created_to: str | date | None = None,
        partner_reference: str | None = None,
        timeout: float | None = None,
    ) -> Pages[wire.Debit]:
        """Lists debits, the newest first. `created_to` is exclusive; a datetime needs a zone."""
        query = {
            "status": status,
            "created_from": _instant(created_from),
            "created_to": _instant(created_to),
            "partner_reference": partner_reference,
            "per_page": PER_PAGE,
        }
        return self._pages("list_debit_requests", "/debit-requests", timeout, query)


class Banks(Group):
    @listing
    def list(self, *, timeout: float | None = None) -> Pages[wire.Bank]:
        """Lists the banks that customers can choose."""
        return self._pages("list_banks", "/banks", timeout, {})

    @method
    def get(self, identifier: str, *, timeout: float | None = None) -> Operation[wire.BankDetail]:
        """Reads a bank."""
        return self._read(Call("get_bank", "GET", "/banks/{identifier}", (identifier,)), timeout)

    @method
    def lookup(self, phone_number: str, *, timeout: float | None = None) -> Operation[CustomerBanks]:
        """Finds the banks where a phone number has an active account."""
        call = Call("lookup_customer_banks", "GET", "/banks/lookup/{phone_number}", (phone_number,))
        success = yield from perform(self._settings, call, timeout)
        return {"customer": success.body["customer"], "banks": success.body["data"]}


class Deliveries(Group):
    @method
    def list(self, reference: str, *, timeout: float | None = None) -> Operation[DeliveryRecords]:
        """Lists the deliveries of the events of a debit."""
        path = "/debit-requests/{reference}/deliveries"
        return self._read(Call("list_deliveries", "GET", path, (reference,)), timeout)

    @method
    def redeliver(self, id: int, *, timeout: float | None = None) -> Operation[wire.Delivery]:
        """Sends the event of a delivery again."""
        call = Call("redeliver_event", "POST", "/deliveries/{id}/redeliver", (str(id),))
        return self._read(call, timeout)


class Events(Group):
    @listing
    def list(self, *, cursor: str | None = None, timeout: float | None = None) -> Pages[wire.Event]:
        """Lists the events of 30 days, the oldest first, after a stored cursor if there is one."""
        return self._pages("list_events", "/events", timeout, {"per_page": PER_PAGE}, cursor)


class Settlements(Group):
    @listing
    def list(self, *, timeout: float | None = None) -> Pages[wire.Settlement]:
        """Lists the settlement batches, the newest first."""
        return self._pages("list_settlements", "/settlements", timeout, {"per_page": PER_PAGE})

    @method
    def get(self, id: str, *, timeout: float | None = None) -> Operation[wire.Settlement]:
        """Reads a batch."""
        return self._read(Call("get_settlement", "GET", "/settlements/{id}", (id,)), timeout)

    def _report(self, id: str, form: Literal["json", "csv"], timeout: float | None) -> Operation[Any]:
        """Returns a report. The link of a large one is followed without the credentials.

        Each client has the method, whose result depends on the format.
        """
        call = Call(
            "get_settlement_report",
            "GET",
            "/settlements/{id}/report",
            (id,),
            {"format": form},
            form=form,
        )
        since = self._settings.clock()
        success: Success = yield from perform(self._settings, call, timeout)
        if success.status == 303:
            link = urljoin(self._settings.base_url, success.body["data"]["url"])
            call = Call(call.operation, "GET", call.path, form=form, link=link)
            success = yield from perform(self._settings, call, timeout, since=since)
            return success.body
        return success.body["data"] if form == "json" else success.body

    def _statement(
        self, month: str, form: Literal["json", "csv", "html"], timeout: float | None
    ) -> Operation[Any]:
        """Returns a monthly statement. Each client has the method, whose result depends on the format."""
        call = Call(
            "get_monthly_statement",
            "GET",
            "/settlements/statements/{month}",
            (month,),
            {"format": form},
            form=form,
        )
        success: Success = yield from perform(self._settings, call, timeout)
        return success.body["data"] if form == "json" else success.body


class Webhook(Group):
    @method
    def test(self, *, timeout: float | None = None) -> Operation[wire.PingResult]:
        """Sends a ping to the webhook and returns the response of the receiver."""
        return self._read(Call("test_webhook", "POST", "/webhook/test"), timeout)


def _get_call(reference: str) -> Call:
    return Call("get_debit_request", "GET", "/debit-requests/{reference}", (reference,))


def _instant(value: str | date | None) -> str | None:
    """Returns the text that the API reads; it knows milliseconds."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    return value.isoformat() if isinstance(value, date) else value
