"""The synchronous client, with the methods of `operations.py`. Threads and forked processes can share it."""

import os
import time
from collections.abc import Callable
from typing import Literal, TypeVar, overload

import httpx

from . import operations, reports, wire
from .calls import AttemptLog, Operation, Outcome, Pause, Reply, Request, Settings
from .errors import NetworkError
from .methods import Synchronous
from .transport import environment_proxy, to_httpx, transport_error

T = TypeVar("T")
C = TypeVar("C", bound="Client")


class Client(Synchronous):
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
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._settings = Settings(base_url, api_key, signing_secret, max_retries, timeout, deadline, log)
        self._custom = transport
        self._transports: dict[int, httpx.BaseTransport] = {}
        self._prepare()

    def _prepare(self) -> None:
        """Creates the groups of methods, before threads can share the client."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(base_url={self._settings.base_url!r})"

    def __enter__(self: C) -> C:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections of this process."""
        transport = self._transports.get(os.getpid(), self._custom)
        if transport:
            transport.close()

    def _transport(self) -> httpx.BaseTransport:
        """Returns the transport of this process: on a shared one, processes read each other's replies."""
        process = os.getpid()
        if process not in self._transports:
            if self._custom and self._transports.keys() - {process}:
                raise RuntimeError("create a client with a transport after the fork")
            # A Client of httpx would log URLs, which can contain phone numbers.
            opened = self._custom or httpx.HTTPTransport(proxy=environment_proxy(self._settings.base_url))
            self._transports.setdefault(process, opened)
        return self._transports[process]

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
            response = self._transport().handle_request(sent)
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


class DebitCollection(Client, operations.Debits):
    """Charges customers and reads debits, events and settlements.

    The methods raise errors of `errors.py`. `timeout` is in seconds, for each attempt, `deadline` for a call
    with its retries. A call retries the same body at most `max_retries` times after a temporary failure.
    `log` receives an entry for each attempt, without personal data. `transport` sends the requests, by
    default through the proxy of the environment.
    """

    def _prepare(self) -> None:
        operations.Debits.__init__(self, self._settings)
        self.banks: Banks = Banks(self)
        self.deliveries: Deliveries = Deliveries(self)
        self.events: Events = Events(self)
        self.settlements: Settlements = Settlements(self)
        self.webhook: Webhook = Webhook(self)


class BankReports(Client, reports.Reports):
    """Reports the outcomes of debits, for banks; `api_key` is the token of the bank.

    A repeated outcome has no second effect; another one, or `approved` after the outcome, raises ApiError
    with code 3001.
    """


class Part(Synchronous):
    """A group of methods of a client."""

    def __init__(self, client: DebitCollection) -> None:
        self._client = client
        self._settings = client._settings

    def _run(self, operation: Operation[T]) -> T:
        return self._client._run(operation)


class Banks(operations.Banks, Part):
    """Reads banks."""


class Deliveries(operations.Deliveries, Part):
    """Reads and repeats deliveries of webhooks."""


class Events(operations.Events, Part):
    """Reads events."""


class Settlements(operations.Settlements, Part):
    """Reads settlement batches."""

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
        report: wire.SettlementReport | str = self._run(self._report(id, format, timeout))
        return report

    @overload
    def statement(
        self, month: str, *, format: Literal["json"] = "json", timeout: float | None = None
    ) -> wire.MonthlyStatement: ...
    @overload
    def statement(
        self, month: str, *, format: Literal["csv", "html"], timeout: float | None = None
    ) -> str: ...
    def statement(
        self, month: str, *, format: Literal["json", "csv", "html"] = "json", timeout: float | None = None
    ) -> wire.MonthlyStatement | str:
        """Reads the statement of a month such as 2026-11, as an object, as CSV or as a page."""
        operation = self._statement(month, format, timeout)
        statement: wire.MonthlyStatement | str = self._run(operation)
        return statement


class Webhook(operations.Webhook, Part):
    """Tests the webhook."""
