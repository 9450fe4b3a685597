"""The synchronous client. A program can share it between threads."""

import time
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar, overload

import httpx

from . import wire
from .amounts import Amount
from .calls import AttemptLog, Operation, Outcome, Pause, Reply, Request, Settings
from .errors import NetworkError
from .operations import ChargeResult, CustomerBanks, FetchPage, Operations, Page
from .transport import environment_proxy, to_httpx, transport_error

T = TypeVar("T")

WAIT_TIMEOUT = 660.0

# The classes below have a method `list`.
DeliveryRecords: TypeAlias = list[wire.DeliveryWithAttempts]


class Listing(Generic[T]):
    """Iterates over all items, and reads a page when it needs one."""

    def __init__(self, run: "Run", fetch: FetchPage[T], cursor: str | None = None) -> None:
        self._run = run
        self._fetch = fetch
        self._cursor = cursor

    def pages(self) -> Iterator[Page[T]]:
        """Iterates over the pages, so that a reader can store its cursor."""
        cursor, has_more = self._cursor, True
        while has_more:
            page = self._run(self._fetch(cursor))
            cursor, has_more = page.next_cursor, page.has_more
            yield page

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data


class DebitCollection:
    """Charges customers and reads debits, events and settlements.

    The methods raise errors of `errors.py`. `timeout` is in seconds, for each attempt. A call retries the
    same body at most `max_retries` times after a temporary failure. `log` receives an entry for each
    attempt, without personal data. `transport` sends the requests, by default through the proxy of the
    environment.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        signing_secret: str | None = None,
        max_retries: int = 3,
        timeout: float = 30.0,
        log: Callable[[AttemptLog], object] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._settings = Settings(base_url, api_key, signing_secret, max_retries, timeout, log)
        self._operations = Operations(self._settings)
        # A Client of httpx would log URLs, which can contain phone numbers.
        self._transport = transport or httpx.HTTPTransport(proxy=environment_proxy(base_url))
        self.banks = Banks(self._run, self._operations)
        self.deliveries = Deliveries(self._run, self._operations)
        self.events = Events(self._run, self._operations)
        self.settlements = Settlements(self._run, self._operations)
        self.webhook = Webhook(self._run, self._operations)

    def __repr__(self) -> str:
        return f"DebitCollection(base_url={self._settings.base_url!r})"

    def __enter__(self) -> "DebitCollection":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

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
    ) -> ChargeResult:
        """Requests a debit. A repeat with the same partner_reference and body returns the same debit.

        `amount` is text with two decimals, `Pesewas` or a `Decimal`; numbers raise TypeError.
        """
        return self._run(
            self._operations.charge(
                phone_number=phone_number,
                bank_identifier=bank_identifier,
                amount=amount,
                narration=narration,
                partner_reference=partner_reference,
                metadata=metadata,
                timeout=timeout,
            )
        )

    def get(self, reference: str, *, timeout: float | None = None) -> wire.DebitDetail:
        """Reads a debit."""
        return self._run(self._operations.get(reference, timeout))

    def find_by_partner_reference(
        self, partner_reference: str, *, timeout: float | None = None
    ) -> wire.Debit | None:
        """Finds the debit of a reference of yours."""
        return self._run(self._operations.find_by_partner_reference(partner_reference, timeout))

    def list(
        self,
        *,
        status: wire.DebitStatus | None = None,
        created_from: str | date | None = None,
        created_to: str | date | None = None,
        partner_reference: str | None = None,
        timeout: float | None = None,
    ) -> Listing[wire.Debit]:
        """Lists debits, the newest first. `created_to` is exclusive; a datetime needs a zone."""
        fetch = self._operations.debits(
            status=status,
            created_from=created_from,
            created_to=created_to,
            partner_reference=partner_reference,
            timeout=timeout,
        )
        return Listing(self._run, fetch)

    def wait_for(self, reference: str, *, timeout: float = WAIT_TIMEOUT) -> wire.DebitDetail:
        """Polls until the debit is completed, failed or reversed, or raises WaitTimeoutError."""
        return self._run(self._operations.wait_for(reference, timeout))

    def _run(self, operation: Operation[T]) -> T:
        outcome: Outcome = None
        try:
            while True:
                step = operation.send(outcome)
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    outcome = None
                else:
                    outcome = self._send(step)
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            operation.close()

    def _send(self, request: Request) -> Reply | NetworkError:
        deadline = time.monotonic() + request.timeout
        sent = to_httpx(request)
        try:
            response = self._transport.handle_request(sent)
            # httpx applies its timeouts to each read.
            sent.extensions["timeout"]["read"] = max(deadline - time.monotonic(), 0.001)
            chunks = []
            try:
                for chunk in response.iter_bytes():
                    chunks.append(chunk)
                    if time.monotonic() > deadline:
                        raise httpx.ReadTimeout("The body takes too long")
            finally:
                response.close()
        except httpx.RequestError as error:
            return transport_error(error)
        return Reply(response.status_code, response.headers, b"".join(chunks))


class Run(Protocol):
    def __call__(self, operation: Operation[T], /) -> T: ...


class Resource:
    """A group of operations of a client."""

    def __init__(self, run: Run, operations: Operations) -> None:
        self._run = run
        self._operations = operations


class Banks(Resource):
    def list(self, *, timeout: float | None = None) -> Listing[wire.Bank]:
        """Lists the banks that customers can choose."""
        return Listing(self._run, self._operations.banks(timeout))

    def get(self, identifier: str, *, timeout: float | None = None) -> wire.BankDetail:
        """Reads a bank."""
        return self._run(self._operations.bank(identifier, timeout))

    def lookup(self, phone_number: str, *, timeout: float | None = None) -> CustomerBanks:
        """Finds the banks where a phone number has an active account."""
        return self._run(self._operations.lookup(phone_number, timeout))


class Deliveries(Resource):
    def list(self, reference: str, *, timeout: float | None = None) -> DeliveryRecords:
        """Lists the deliveries of the events of a debit."""
        return self._run(self._operations.deliveries(reference, timeout))

    def redeliver(self, id: int, *, timeout: float | None = None) -> wire.Delivery:
        """Sends the event of a delivery again."""
        return self._run(self._operations.redeliver(id, timeout))


class Events(Resource):
    def list(self, *, cursor: str | None = None, timeout: float | None = None) -> Listing[wire.Event]:
        """Lists the events of 30 days, the oldest first, after a stored cursor if there is one."""
        return Listing(self._run, self._operations.events(timeout), cursor)


class Settlements(Resource):
    def list(self, *, timeout: float | None = None) -> Listing[wire.Settlement]:
        """Lists the settlement batches, the newest first."""
        return Listing(self._run, self._operations.settlements(timeout))

    def get(self, id: str, *, timeout: float | None = None) -> wire.Settlement:
        """Reads a batch."""
        return self._run(self._operations.settlement(id, timeout))

    @overload
    def report(
        self, id: str, *, format: Literal["json"] = "json", timeout: float | None = None
    ) -> wire.SettlementReport: ...
    @overload
    def report(self, id: str, *, format: Literal["csv"], timeout: float | None = None) -> str: ...
    def report(
        self, id: str, *, format: Literal["json", "csv"] = "json", timeout: float | None = None
    ) -> wire.SettlementReport | str:
        """Reads the report of a batch: a line for each debit, as an object or as CSV."""
        report: wire.SettlementReport | str = self._run(self._operations.report(id, format, timeout))
        return report


class Webhook(Resource):
    def test(self, *, timeout: float | None = None) -> wire.PingResult:
        """Sends a ping to the webhook and returns the response of the receiver."""
        return self._run(self._operations.test_webhook(timeout))
