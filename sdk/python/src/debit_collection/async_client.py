"""The asynchronous client, for asyncio. It has the methods of `operations.py`."""

import asyncio
from collections.abc import Callable
from typing import Literal, TypeVar, overload

import httpx

from . import operations, reports, wire
from .calls import AttemptLog, Operation, Outcome, Pause, Reply, Request, Settings
from .errors import NetworkError, RequestTimeoutError
from .methods import Asynchronous
from .transport import environment_proxy, to_httpx, transport_error

T = TypeVar("T")
C = TypeVar("C", bound="AsyncClient")


class AsyncClient(Asynchronous):
    """Sends requests and pauses before retries."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        signing_secret: str | None = None,
        max_retries: int = 3,
        timeout: float = 30.0,
        deadline: float | None = None,
        log: Callable[[AttemptLog], object] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._settings = Settings(base_url, api_key, signing_secret, max_retries, timeout, deadline, log)
        self._custom = transport
        self._transports: dict[asyncio.AbstractEventLoop, httpx.AsyncBaseTransport] = {}
        self._prepare()

    def _prepare(self) -> None:
        """Creates the groups of methods, before threads can share the client."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._settings.base_url!r})"

    async def __aenter__(self: C) -> C:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections of the running event loop."""
        transport = self._custom or self._transports.pop(asyncio.get_running_loop(), None)
        if transport:
            await transport.aclose()

    def _transport(self) -> httpx.AsyncBaseTransport:
        """Returns the transport of the running event loop: a connection fails in another one."""
        loop = asyncio.get_running_loop()
        if loop not in self._transports and not self._custom:
            for closed in [one for one in list(self._transports) if one.is_closed()]:
                self._transports.pop(closed, None)
            # A Client of httpx would log URLs, which can contain phone numbers.
            proxy = environment_proxy(self._settings.base_url)
            self._transports[loop] = httpx.AsyncHTTPTransport(proxy=proxy)
        return self._custom or self._transports[loop]

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
        except (httpx.RequestError, RuntimeError) as error:
            # A transport of the caller raises a RuntimeError if its event loop is closed.
            return transport_error(error)

    async def _exchange(self, request: Request) -> Reply:
        response = await self._transport().handle_async_request(to_httpx(request))
        try:
            body = b"".join([chunk async for chunk in response.aiter_bytes()])
        finally:
            await response.aclose()
        return Reply(response.status_code, response.headers, body)


class AsyncDebitCollection(AsyncClient, operations.Debits):
    """Charges customers and reads debits, events and settlements, like `DebitCollection`."""

    def _prepare(self) -> None:
        operations.Debits.__init__(self, self._settings)
        self.banks: AsyncBanks = AsyncBanks(self)
        self.deliveries: AsyncDeliveries = AsyncDeliveries(self)
        self.events: AsyncEvents = AsyncEvents(self)
        self.settlements: AsyncSettlements = AsyncSettlements(self)
        self.webhook: AsyncWebhook = AsyncWebhook(self)


class AsyncBankReports(AsyncClient, reports.Reports):
    """Reports the outcomes of debits, for banks; `api_key` is the token of the bank.

    A repeated outcome has no second effect; another one, or `approved` after the outcome, raises ApiError
    with code 3001.
    """


class AsyncPart(Asynchronous):
    """A group of methods of a client."""

    def __init__(self, client: AsyncDebitCollection) -> None:
        self._client = client
        self._settings = client._settings

    async def _run(self, operation: Operation[T]) -> T:
        return await self._client._run(operation)


class AsyncBanks(operations.Banks, AsyncPart):
    """Reads banks."""


class AsyncDeliveries(operations.Deliveries, AsyncPart):
    """Reads and repeats deliveries of webhooks."""


class AsyncEvents(operations.Events, AsyncPart):
    """Reads events."""


class AsyncSettlements(operations.Settlements, AsyncPart):
    """Reads settlement batches."""

    @overload
    async def report(
        self, id: str, *, format: Literal["json"] = "json", timeout: float | None = None
    ) -> wire.SettlementReport: ...
    @overload
    async def report(self, id: str, *, format: Literal["csv"], timeout: float | None = None) -> str: ...
    async def report(
        self, id: str, *, format: Literal["json", "csv"] = "json", timeout: float | None = None
    ) -> wire.SettlementReport | str:
        return await self._run(self._report(id, format, timeout))

    @overload
    async def statement(
        self, month: str, *, format: Literal["json"] = "json", timeout: float | None = None
    ) -> wire.MonthlyStatement: ...
    @overload
    async def statement(
        self, month: str, *, format: Literal["csv", "html"], timeout: float | None = None
    ) -> str: ...
    async def statement(
        self, month: str, *, format: Literal["json", "csv", "html"] = "json", timeout: float | None = None
    ) -> wire.MonthlyStatement | str:
        """Reads the statement of a month such as 2026-11, as an object, as CSV or as a page."""
        operation = self._statement(month, format, timeout)
        statement: wire.MonthlyStatement | str = await self._run(operation)
        return statement


class AsyncWebhook(operations.Webhook, AsyncPart):
    """Tests the webhook."""
