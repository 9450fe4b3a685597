"""Receives webhooks: verifies them, applies each event once and in order, and answers the service."""

import asyncio
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from .errors import SignatureError
from .handlers import call_handler, in_thread, synchronous
from .signature import HeaderItems, WebhookEvent, secret_list
from .signature import verify as verify
from .wire import Handlers as Handlers

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from fastapi import Request, Response

BODY_MAX = 1024 * 1024

Applied: TypeAlias = Literal["applied", "duplicate", "superseded"]

logger: logging.Logger = logging.getLogger("debit_collection")


@dataclass(frozen=True)
class EventKey:
    """Identifies an event. `subject` is a debit or a batch, `sequence` orders its events."""

    id: str
    subject: str
    sequence: int


class Store(Protocol):
    """Applies events in a database of yours."""

    def apply(self, key: EventKey, work: Callable[[Any], object], /) -> Applied:
        """Runs `work(transaction)` at most once per id, and only for the highest sequence of a subject.

        One transaction contains the work and the record of `key`; if the work raises, nothing is stored.
        Calls for a subject run one after the other.
        """


class AsyncStore(Protocol):
    """Is a `Store` for asyncio."""

    async def apply(self, key: EventKey, work: Callable[[Any], Awaitable[object]], /) -> Applied:
        """Runs the work as `Store.apply` does."""


class MemoryStore:
    """Forgets all events when the process ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: set[str] = set()
        self._sequences: dict[str, int] = {}

    def apply(self, key: EventKey, work: Callable[[Any], object], /) -> Applied:
        with self._lock:
            if key.id in self._ids:
                return "duplicate"
            if key.sequence <= self._sequences.get(key.subject, -1):
                return "superseded"
            work(None)
            self._ids.add(key.id)
            self._sequences[key.subject] = key.sequence
            return "applied"


def memory_store() -> MemoryStore:
    """Returns a store for tests."""
    return MemoryStore()


class Receiver:
    """Decides about webhooks for the adapters below."""

    def __init__(
        self,
        secrets: str | Iterable[str],
        store: Store | AsyncStore,
        on: Handlers,
        require_standard: bool = False,
    ) -> None:
        unknown = set(on) - set(Handlers.__annotations__)
        if unknown:
            raise ValueError(f"unknown events: {', '.join(sorted(unknown))}")
        self._secrets = secret_list(secrets)
        self._store: Any = store
        self._require_standard = require_standard
        self._on: Mapping[str, Any] = dict(on)

    def receive(self, body: bytes, headers: HeaderItems) -> int:
        """Returns the status of the response."""
        work = self._work(body, headers)
        if isinstance(work, int):
            return work
        key, handler, event = work
        try:
            applied = self._store.apply(
                key, lambda transaction: call_handler(None, handler, event, transaction)
            )
            synchronous("store", applied)
        except Exception:
            return self._failed(key)
        return 204

    async def receive_async(self, body: bytes, headers: HeaderItems) -> int:
        """Returns the status of the response. A synchronous store works in a thread."""
        work = self._work(body, headers)
        if isinstance(work, int):
            return work
        key, handler, event = work
        loop, thread = asyncio.get_running_loop(), threading.current_thread()

        async def run_in_loop(transaction: object) -> None:
            result = handler(event, transaction)
            if inspect.isawaitable(result):
                await result

        def run(transaction: object) -> Any:
            if threading.current_thread() is thread:
                return run_in_loop(transaction)
            return call_handler(loop, handler, event, transaction)

        try:
            # A decorator can hide that `apply` is async: only its result shows it.
            applied = await in_thread(self._store.apply, key, run)
            if inspect.isawaitable(applied):
                await applied
        except Exception:
            return self._failed(key)
        return 204

    def _work(
        self, body: bytes, headers: HeaderItems
    ) -> int | tuple[EventKey, Callable[..., Any], WebhookEvent]:
        if len(body) > BODY_MAX:
            return 413
        try:
            event: Any = verify(body, headers, self._secrets, require_standard=self._require_standard)
        except SignatureError as error:
            logger.warning("Refused a webhook: %s", error)
            return 401
        # An event without a handler counts, too: `completed` after an ignored `reversed` is superseded.
        handler = self._on.get(event["event"].replace("debit_request.", "transaction."), _ignore)
        data = _members(event.get("data"))
        transaction = _members(data.get("transaction", data))
        subject = _members(data.get("settlement")).get("id") or transaction.get("reference")
        if subject is None:
            return 204
        return EventKey(event["event_id"], subject, event.get("sequence", 0)), handler, event

    def _failed(self, key: EventKey) -> int:
        logger.exception("The handler of %s failed; the service sends it again", key.id)
        return 500


def _members(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _ignore(*_: object) -> None:
    """Handles an event without a handler."""


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _read(stream: _Readable) -> bytes:
    """Reads at most a byte more than allowed: a chunked body states no length. A read may be short."""
    body = bytearray()
    while len(body) <= BODY_MAX and (chunk := stream.read(BODY_MAX + 1 - len(body))):
        body += chunk
    return bytes(body)


def _refuse_async(store: Store) -> None:
    if inspect.iscoroutinefunction(store.apply):
        raise TypeError("an async store needs an async framework")


def fastapi(
    *, secrets: str | Iterable[str], store: Store | AsyncStore, on: Handlers, require_standard: bool = False
) -> Callable[["Request"], Awaitable["Response"]]:
    """Returns a path operation for FastAPI or Starlette: `app.post("/webhooks")(webhooks.fastapi(...))`."""
    from starlette.requests import Request
    from starlette.responses import Response

    receiver = Receiver(secrets, store, on, require_standard)

    async def receive_webhook(request: Request) -> Response:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_MAX:
                break
        return Response(status_code=await receiver.receive_async(body, request.headers))

    return receive_webhook


def flask(
    *, secrets: str | Iterable[str], store: Store, on: Handlers, require_standard: bool = False
) -> Callable[[], tuple[str, int]]:
    """Returns a view for Flask: `app.post("/webhooks")(webhooks.flask(...))`."""
    from flask import request

    _refuse_async(store)
    receiver = Receiver(secrets, store, on, require_standard)

    def receive_webhook() -> tuple[str, int]:
        # The stream is at its end if the application has read the body before: Flask keeps it then.
        body = _read(request.stream) or request.get_data()
        return "", receiver.receive(body, request.headers)

    return receive_webhook


def django(
    *, secrets: str | Iterable[str], store: Store, on: Handlers, require_standard: bool = False
) -> Callable[["HttpRequest"], "HttpResponse"]:
    """Returns a view for Django, exempt from CSRF: `path("webhooks", webhooks.django(...))`."""
    from django.http import HttpRequest, HttpResponse

    _refuse_async(store)
    receiver = Receiver(secrets, store, on, require_standard)

    def receive_webhook(request: HttpRequest) -> HttpResponse:
        if request.method != "POST":
            return HttpResponse(status=405, headers={"Allow": "POST"})
        return HttpResponse(status=receiver.receive(_read(request), request.headers))

    receive_webhook.csrf_exempt = True  # type: ignore[attr-defined]
    return receive_webhook
