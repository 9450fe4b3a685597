"""Receives webhooks: verifies them, applies each event once and in order, and answers the service."""

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from .applier import Applied as Applied
from .applier import AsyncStore as AsyncStore
from .applier import EventApplier
from .applier import EventKey as EventKey
from .applier import MemoryStore as MemoryStore
from .applier import Store as Store
from .applier import memory_store as memory_store
from .bodies import read_body
from .errors import SignatureError
from .signature import HeaderItems, WebhookEvent, secret_list
from .signature import verify as verify
from .wire import Handlers as Handlers

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from fastapi import Request, Response

BODY_MAX = 1024 * 1024

logger: logging.Logger = logging.getLogger("debit_collection")


def apply(event: WebhookEvent, *, store: Store, on: Handlers) -> None:
    """Applies an event of the feed as a receiver does: once, unless a later one superseded it."""
    EventApplier(store, on).apply(event)


async def apply_async(event: WebhookEvent, *, store: Store | AsyncStore, on: Handlers) -> None:
    """Applies an event of the feed like `apply`, also with an async store or handler."""
    await EventApplier(store, on).apply_async(event)


class Receiver:
    """Decides about webhooks for the adapters below."""

    def __init__(
        self,
        secrets: str | Iterable[str],
        store: Store | AsyncStore,
        on: Handlers,
        require_standard: bool = False,
    ) -> None:
        self._applier = EventApplier(store, on)
        self._secrets = secret_list(secrets)
        self._require_standard = require_standard

    def receive(self, body: bytes, headers: HeaderItems) -> int:
        """Returns the status of the response."""
        event = self._verified(body, headers)
        if isinstance(event, int):
            return event
        try:
            self._applier.apply(event)
        except Exception:
            return self._failed(event)
        return 204

    async def receive_async(self, body: bytes, headers: HeaderItems) -> int:
        """Returns the status of the response. A synchronous store works in a thread."""
        event = self._verified(body, headers)
        if isinstance(event, int):
            return event
        try:
            await self._applier.apply_async(event)
        except Exception:
            return self._failed(event)
        return 204

    def _verified(self, body: bytes, headers: HeaderItems) -> int | WebhookEvent:
        if len(body) > BODY_MAX:
            return 413
        try:
            return verify(body, headers, self._secrets, require_standard=self._require_standard)
        except SignatureError as error:
            logger.warning("Refused a webhook: %s", error)
            return 401

    def _failed(self, event: WebhookEvent) -> int:
        logger.exception("The handler of %s failed; the service sends it again", event.get("event_id"))
        return 500


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
        body = read_body(request.stream, BODY_MAX + 1) or request.get_data()
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
        return HttpResponse(status=receiver.receive(read_body(request, BODY_MAX + 1), request.headers))

    receive_webhook.csrf_exempt = True  # type: ignore[attr-defined]
    return receive_webhook
