"""Stores the replies of a bank in the SQLite file of its books."""

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


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
    def transaction(self) -> Iterator[None]:
        """Commits all `rows` of the block, or none. Other threads wait."""
        with self._lock, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield

    def rows(self, sql: str, *values: object) -> list[Any]:
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            raise TypeError("a handler that uses these books must be a plain function")
        with self._lock:
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
