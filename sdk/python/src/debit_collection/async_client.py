"""The asynchronous client, for asyncio. It has the methods of `client.py`, which documents them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import date
from typing import Any, Generic, Literal, Protocol, TypeVar, overload

import httpx

from . import wire
from .amounts import Amount
from .calls import AttemptLog, Operation, Outcome, Pause, Reply, Request, Settings
from .client import WAIT_TIMEOUT, DeliveryRecords
from .errors import NetworkError, RequestTimeoutError
from .operations import ChargeResult, CustomerBanks, FetchPage, Operations, Page
from .transport import environment_proxy, to_httpx, transport_error

T = TypeVar("T")


class AsyncListing(Generic[T]):
    """Iterates over all items, and reads a page when it needs one."""

    def __init__(self, run: "AsyncRun", fetch: FetchPage[T], cursor: str | None = None) -> None:
        self._run = run
        self._fetch = fetch
        self._cursor = cursor

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Iterates over the pages, so that a reader can store its cursor."""
        cursor, has_more = self._cursor, True
        while has_more:
            page = await self._run(self._fetch(cursor))
            cursor, has_more = page.next_cursor, page.has_more
            yield page

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.data:
                yield item


class AsyncDebitCollection:
    """Charges customers and reads debits, events and settlements, like `DebitCollection`."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        signing_secret: str | None = None,
        max_retries: int = 3,
        timeout: float = 30.0,
        log: Callable[[AttemptLog], object] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._settings = Settings(base_url, api_key, signing_secret, max_retries, timeout, log)
        self._operations = Operations(self._settings)
        # A Client of httpx would log URLs, which can contain phone numbers.
        self._transport = transport or httpx.AsyncHTTPTransport(proxy=environment_proxy(base_url))
        self.banks = AsyncBanks(self._run, self._operations)
        self.deliveries = AsyncDeliveries(self._run, self._operations)
        self.events = AsyncEvents(self._run, self._operations)
        self.settlements = AsyncSettlements(self._run, self._operations)
        self.webhook = AsyncWebhook(self._run, self._operations)

    def __repr__(self) -> str:
        return f"AsyncDebitCollection(base_url={self._settings.base_url!r})"

    async def __aenter__(self) -> "AsyncDebitCollection":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()

    async def charge(
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
        return await self._run(
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

    async def get(self, reference: str, *, timeout: float | None = None) -> wire.DebitDetail:
        return await self._run(self._operations.get(reference, timeout))

    async def find_by_partner_reference(
        self, partner_reference: str, *, timeout: float | None = None
    ) -> wire.Debit | None:
        return await self._run(self._operations.find_by_partner_reference(partner_reference, timeout))

    def list(
        self,
        *,
        status: wire.DebitStatus | None = None,
        created_from: str | date | None = None,
        created_to: str | date | None = None,
        partner_reference: str | None = None,
        timeout: float | None = None,
    ) -> AsyncListing[wire.Debit]:
        fetch = self._operations.debits(
            status=status,
            created_from=created_from,
            created_to=created_to,
            partner_reference=partner_reference,
            timeout=timeout,
        )
        return AsyncListing(self._run, fetch)

    async def wait_for(self, reference: str, *, timeout: float = WAIT_TIMEOUT) -> wire.DebitDetail:
        return await self._run(self._operations.wait_for(reference, timeout))

    async def _run(self, operation: Operation[T]) -> T:
        outcome: Outcome = None
        try:
            while True:
                step = operation.send(outcome)
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    outcome = None
                else:
                    outcome = await self._send(step)
        except StopIteration as stop:
            result: T = stop.value
            return result
        finally:
            operation.close()

    async def _send(self, request: Request) -> Reply | NetworkError:
        try:
            return await asyncio.wait_for(self._exchange(request), request.timeout)
        except asyncio.TimeoutError as error:
            result = RequestTimeoutError("No reply in time")
            result.__cause__ = error
            return result
        except httpx.RequestError as error:
            return transport_error(error)

    async def _exchange(self, request: Request) -> Reply:
        response = await self._transport.handle_async_request(to_httpx(request))
        try:
            body = b"".join([chunk async for chunk in response.aiter_bytes()])
        finally:
            await response.aclose()
        return Reply(response.status_code, response.headers, body)


class AsyncRun(Protocol):
    def __call__(self, operation: Operation[T], /) -> Awaitable[T]: ...


class AsyncResource:
    """A group of operations of a client."""

    def __init__(self, run: AsyncRun, operations: Operations) -> None:
        self._run = run
        self._operations = operations


class AsyncBanks(AsyncResource):
    def list(self, *, timeout: float | None = None) -> AsyncListing[wire.Bank]:
        return AsyncListing(self._run, self._operations.banks(timeout))

    async def get(self, identifier: str, *, timeout: float | None = None) -> wire.BankDetail:
        return await self._run(self._operations.bank(identifier, timeout))

    async def lookup(self, phone_number: str, *, timeout: float | None = None) -> CustomerBanks:
        return await self._run(self._operations.lookup(phone_number, timeout))


class AsyncDeliveries(AsyncResource):
    async def list(self, reference: str, *, timeout: float | None = None) -> DeliveryRecords:
        return await self._run(self._operations.deliveries(reference, timeout))

    async def redeliver(self, id: int, *, timeout: float | None = None) -> wire.Delivery:
        return await self._run(self._operations.redeliver(id, timeout))


class AsyncEvents(AsyncResource):
    def list(self, *, cursor: str | None = None, timeout: float | None = None) -> AsyncListing[wire.Event]:
        return AsyncListing(self._run, self._operations.events(timeout), cursor)


class AsyncSettlements(AsyncResource):
    def list(self, *, timeout: float | None = None) -> AsyncListing[wire.Settlement]:
        return AsyncListing(self._run, self._operations.settlements(timeout))

    async def get(self, id: str, *, timeout: float | None = None) -> wire.Settlement:
        return await self._run(self._operations.settlement(id, timeout))

    @overload
    async def report(
        self, id: str, *, format: Literal["json"] = "json", timeout: float | None = None
    ) -> wire.SettlementReport: ...
    @overload
    async def report(self, id: str, *, format: Literal["csv"], timeout: float | None = None) -> str: ...
    async def report(
        self, id: str, *, format: Literal["json", "csv"] = "json", timeout: float | None = None
    ) -> wire.SettlementReport | str:
        return await self._run(self._operations.report(id, format, timeout))


class AsyncWebhook(AsyncResource):
    async def test(self, *, timeout: float | None = None) -> wire.PingResult:
        return await self._run(self._operations.test_webhook(timeout))
