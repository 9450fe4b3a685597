"""Defines each operation of the API as a generator (see `calls.py`), for both clients."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Generic, Literal, TypeAlias, TypedDict, TypeVar
from urllib.parse import urljoin

from . import wire
from .amounts import Amount, amount_text
from .calls import Call, Operation, Pause, Settings, Success, perform, read_json, retry_delay
from .errors import DebitCollectionError, DuplicateReferenceError, WaitTimeoutError
from .polling import GROWTH, INTERVAL_FIRST, INTERVAL_MAX, Pacer

T = TypeVar("T")

PER_PAGE = "100"


class ChargeResult(TypedDict):
    """The reply to a charge. `replayed` is True if the debit existed before this call."""

    reference: str
    uuid: str
    status: wire.DebitStatus
    timestamp: str
    bank: wire.Bank
    replayed: bool


class CustomerBanks(TypedDict):
    """The banks where a phone number has an active account, and the name of the customer."""

    customer: str
    banks: list[wire.Bank]


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. `next_cursor` of the event feed continues after its last page, too."""

    data: list[T]
    next_cursor: str | None
    has_more: bool


FetchPage: TypeAlias = Callable[[str | None], Operation[Page[T]]]


class Operations:
    """Creates the operations of one client."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pacer = Pacer(settings.clock)

    def charge(
        self,
        *,
        phone_number: str,
        bank_identifier: str,
        amount: Amount,
        narration: str,
        partner_reference: str,
        metadata: dict[str, Any] | None,
        timeout: float | None,
    ) -> Operation[ChargeResult]:
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
        try:
            success = yield from perform(self._settings, call, timeout)
        except DuplicateReferenceError as error:
            # With `duplicates: "reject"`, an earlier attempt of this call may have created the debit.
            if error.attempts == 1:
                raise
            debit: wire.DebitDetail = yield from self.get(error.existing["reference"], timeout)
            if not _is_charged(debit, body):
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

    def get(self, reference: str, timeout: float | None) -> Operation[wire.DebitDetail]:
        return self._read(_get_call(reference), timeout)

    def _read(self, call: Call, timeout: float | None) -> Operation[Any]:
        """Returns `data` of the reply."""
        success = yield from perform(self._settings, call, timeout)
        return success.body["data"]

    def _pages(
        self, operation: str, path: str, timeout: float | None, query: dict[str, str | None]
    ) -> "FetchPage[Any]":
        """Returns the function that fetches the page of a cursor."""

        def fetch(cursor: str | None) -> Operation[Page[Any]]:
            call = Call(operation, "GET", path, query={**query, "cursor": cursor})
            success = yield from perform(self._settings, call, timeout)
            meta = success.body["meta"]
            has_more = bool(meta.get("has_more")) and meta.get("next_cursor") is not None
            return Page(success.body["data"], meta.get("next_cursor"), has_more)

        return fetch

    def debits(
        self,
        *,
        status: wire.DebitStatus | None = None,
        created_from: str | date | None = None,
        created_to: str | date | None = None,
        partner_reference: str | None = None,
        timeout: float | None,
    ) -> FetchPage[wire.Debit]:
        query = {
            "status": status,
            "created_from": _instant(created_from),
            "created_to": _instant(created_to),
            "partner_reference": partner_reference,
            "per_page": PER_PAGE,
        }
        return self._pages("list_debit_requests", "/debit-requests", timeout, query)

    def find_by_partner_reference(
        self, partner_reference: str, timeout: float | None
    ) -> Operation[wire.Debit | None]:
        if not partner_reference:
            raise ValueError("partner_reference is empty")
        page = yield from self.debits(partner_reference=partner_reference, timeout=timeout)(None)
        return page.data[0] if page.data else None

    def events(self, timeout: float | None) -> FetchPage[wire.Event]:
        return self._pages("list_events", "/events", timeout, {"per_page": PER_PAGE})

    def settlements(self, timeout: float | None) -> FetchPage[wire.Settlement]:
        return self._pages("list_settlements", "/settlements", timeout, {"per_page": PER_PAGE})

    def settlement(self, id: str, timeout: float | None) -> Operation[wire.Settlement]:
        return self._read(Call("get_settlement", "GET", "/settlements/{id}", (id,)), timeout)

    def banks(self, timeout: float | None) -> FetchPage[wire.Bank]:
        return self._pages("list_banks", "/banks", timeout, {})

    def bank(self, identifier: str, timeout: float | None) -> Operation[wire.BankDetail]:
        return self._read(Call("get_bank", "GET", "/banks/{identifier}", (identifier,)), timeout)

    def lookup(self, phone_number: str, timeout: float | None) -> Operation[CustomerBanks]:
        call = Call("lookup_customer_banks", "GET", "/banks/lookup/{phone_number}", (phone_number,))
        success = yield from perform(self._settings, call, timeout)
        return {"customer": success.body["customer"], "banks": success.body["data"]}

    def deliveries(self, reference: str, timeout: float | None) -> Operation[list[wire.DeliveryWithAttempts]]:
        path = "/debit-requests/{reference}/deliveries"
        return self._read(Call("list_deliveries", "GET", path, (reference,)), timeout)

    def redeliver(self, id: int, timeout: float | None) -> Operation[wire.Delivery]:
        call = Call("redeliver_event", "POST", "/deliveries/{id}/redeliver", (str(id),))
        return self._read(call, timeout)

    def test_webhook(self, timeout: float | None) -> Operation[wire.PingResult]:
        return self._read(Call("test_webhook", "POST", "/webhook/test"), timeout)

    def report(self, id: str, form: Literal["json", "csv"], timeout: float | None) -> Operation[Any]:
        """Returns a report. The link of a large one is followed without the credentials."""
        call = Call(
            "get_settlement_report",
            "GET",
            "/settlements/{id}/report",
            (id,),
            {"format": form},
            form=form,
        )
        success: Success = yield from perform(self._settings, call, timeout)
        if success.status == 303:
            link = urljoin(self._settings.base_url, success.body["data"]["url"])
            call = Call(call.operation, "GET", call.path, form=form, link=link)
            success = yield from perform(self._settings, call, timeout)
            return success.body
        return success.body["data"] if form == "json" else success.body

    def wait_for(self, reference: str, timeout: float) -> Operation[wire.DebitDetail]:
        settings = self._settings
        deadline = settings.clock() + timeout
        last: wire.DebitDetail | None = None
        failure: DebitCollectionError | None = None
        interval, failures = INTERVAL_FIRST, 0
        while (yield from self._pacer.turn(deadline)):
            seconds = min(settings.timeout, max(deadline - settings.clock(), 1.0))
            try:
                success = yield from perform(settings, _get_call(reference), seconds, max_retries=0)
            except DebitCollectionError as error:
                failures += 1
                delay = retry_delay(error, failures, settings.jitter)
                if delay is None:
                    raise
                failure = error
            else:
                debit: wire.DebitDetail = success.body["data"]
                if debit["status"] in wire.FINAL_DEBIT_STATUSES:
                    return debit
                last, failures = debit, 0
                delay, interval = interval, min(interval * GROWTH, INTERVAL_MAX)
            remaining = deadline - settings.clock()
            if remaining <= 0:
                break
            yield Pause(min(delay, remaining))
        raise WaitTimeoutError(reference, last) from failure


def _get_call(reference: str) -> Call:
    return Call("get_debit_request", "GET", "/debit-requests/{reference}", (reference,))


def _instant(value: str | date | None) -> str | None:
    """Returns the text that the API reads; it knows milliseconds."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    return value.isoformat() if isinstance(value, date) else value


def _is_charged(debit: wire.DebitDetail, body: dict[str, Any]) -> bool:
    return all(comparison(debit, body).values())


def comparison(debit: wire.DebitDetail, body: dict[str, Any]) -> dict[str, bool]:
    """Returns for each field of a charge whether the debit has its value. Banks can add metadata."""
    metadata: dict[str, object] = read_json(json.dumps(body.get("metadata") or {}))
    return {
        "phone_number": debit["customer"]["phone_number"] == body["phone_number"],
        "bank_identifier": debit["bank"]["identifier"] == body["bank_identifier"],
        "amount": debit["amount"] == body["amount"],
        "currency": debit["currency"] == body["currency"],
        "narration": debit["narration"] == body["narration"],
        "partner_reference": debit["partner_reference"] == body["partner_reference"],
        "metadata": debit["metadata"].items() >= metadata.items(),
    }
