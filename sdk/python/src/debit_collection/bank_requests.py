"""Defines what a bank receives, and where it stores its replies (docs/bank-protocol.md)."""

import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

from .wire import Payout as Payout
from .wire import RefundOrder as RefundOrder
from .wire import Submission as Submission

Kind: TypeAlias = Literal["submission", "payout", "refund"]
Result: TypeAlias = Mapping[str, Any]
"""The members of a reply in docs/bank-protocol.md, without `uuid` and `amount`."""


class Query(TypedDict):
    kind: Kind
    uuid: str


class ReplyStore(Protocol):
    """Stores the reply to each request. A bank needs one in the database of its books."""

    def once(self, key: str, decide: Callable[[], dict[str, Any]], /) -> dict[str, Any]:
        """Returns the stored reply of a key, or stores that of `decide`.

        Concurrent calls with the same key wait for the first. If `decide` raises, nothing is stored.
        """

    def read(self, key: str, /) -> dict[str, Any] | None:
        """Returns the stored reply of a key. Waits for a running `once` of the key."""


class MemoryReplies:
    """Stores replies until the process ends. After that, a repeat would debit twice: for tests only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._replies: dict[str, dict[str, Any]] = {}

    def once(self, key: str, decide: Callable[[], dict[str, Any]], /) -> dict[str, Any]:
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._replies:
                self._replies[key] = decide()
            return self._replies[key]

    def read(self, key: str, /) -> dict[str, Any] | None:
        with self._lock:
            lock = self._locks.get(key, nullcontext())
        with lock:
            return self._replies.get(key)
