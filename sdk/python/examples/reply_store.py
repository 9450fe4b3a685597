"""Stores the replies of a bank in the SQLite file of its books."""

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def _is_in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


class SqliteReplies:
    """Decides about a request, and stores the reply, in one transaction on one connection.

    Handlers that use it are plain functions: an async one would wait in the loop for its own `once`.
    """

    def __init__(self, file: str, tables: str) -> None:
        self._db = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self._db.executescript(
            f"CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT); {tables}"
        )
        self._lock = threading.RLock()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if _is_in_loop():
            raise TypeError("a handler that uses these books must be a plain function")
        with self._lock:
            yield

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commits all `rows` of the block, or none. Other threads wait."""
        with self._locked(), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield

    def rows(self, sql: str, *values: object) -> list[Any]:
        with self._locked():
            return self._db.execute(sql, values).fetchall()

    def once(self, key: str, decide: Callable[[], dict[str, Any]], /) -> dict[str, Any]:
        with self.transaction():
            reply = self.read(key)
            if reply is None:
                reply = decide()
                self.rows("INSERT INTO replies VALUES (?, ?)", key, json.dumps(reply))
            return reply

    def read(self, key: str, /) -> dict[str, Any] | None:
        found = self.rows("SELECT reply FROM replies WHERE key = ?", key)
        return json.loads(found[0][0]) if found else None
