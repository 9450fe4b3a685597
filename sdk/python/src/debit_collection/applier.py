"""Applies events of webhooks and of the feed, each once and in order."""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from .handlers import call_handler, in_thread, synchronous
from .signature import WebhookEvent
from .wire import Handlers

Applied: TypeAlias = Literal["applied", "duplicate", "superseded"]


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


class EventApplier:
    """Runs the handlers of events in a store."""

    def __init__(self, store: Store | AsyncStore, on: Handlers) -> None:
        unknown = set(on) - set(Handlers.__annotations__)
        if unknown:
            raise ValueError(f"unknown events: {', '.join(sorted(unknown))}")
        self._store: Any = store
        self._on: Mapping[str, Any] = dict(on)

    def apply(self, event: WebhookEvent) -> None:
        key, handler = _key(event), self._handler(event)
        if key:
            applied = self._store.apply(
                key, lambda transaction: call_handler(None, handler, event, transaction)
            )
            synchronous("store", applied)

    async def apply_async(self, event: WebhookEvent) -> None:
        key, handler = _key(event), self._handler(event)
        if not key:
            return
        loop, thread = asyncio.get_running_loop(), threading.current_thread()

        async def run_in_loop(transaction: object) -> None:
            result = handler(event, transaction)
            if inspect.isawaitable(result):
                await result

        def run(transaction: object) -> Any:
            if threading.current_thread() is thread:
                return run_in_loop(transaction)
            return call_handler(loop, handler, event, transaction)

        # A decorator can hide that `apply` is async: only its result shows it.
        applied = await in_thread(self._store.apply, key, run)
        if inspect.isawaitable(applied):
            await applied

    def _handler(self, event: WebhookEvent) -> Callable[..., Any]:
        # An event without a handler counts, too: `completed` after an ignored `reversed` is superseded.
        handler: Callable[..., Any] = self._on.get(
            event["event"].replace("debit_request.", "transaction."), _ignore
        )
        return handler


def _key(event: Mapping[str, Any]) -> EventKey | None:
    """Returns None for a ping and an event that this version does not know."""
    data = _members(event.get("data"))
    transaction = _members(data.get("transaction", data))
    subject = _members(data.get("settlement")).get("id") or transaction.get("reference")
    return None if subject is None else EventKey(event["event_id"], subject, event.get("sequence", 0))


def _members(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _ignore(*_: object) -> None:
    """Handles an event without a handler."""
