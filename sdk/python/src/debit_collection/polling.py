"""Spaces the polls of all waits of a client, so that they never exceed the rate limit."""

import threading
from collections import deque
from collections.abc import Callable, Generator

from .calls import Pause

SHARE = 0.8
INTERVAL_FIRST = 1.0
INTERVAL_MAX = 10.0
GROWTH = 1.5


class Pacer:
    """Gives one turn after the other. Threads and tasks can share it."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.limit = 60
        """Requests a minute; until a reply shows another limit, that of a sandbox."""
        self._clock = clock
        self._lock = threading.Lock()
        self._queue: deque[object] = deque()
        self._last = float("-inf")

    def turn(self, deadline: float) -> Generator[Pause, object, bool]:
        """Pauses until the caller may poll. Returns False if that is after the deadline."""
        ticket = object()
        with self._lock:
            self._queue.append(ticket)
        try:
            while True:
                with self._lock:
                    now = self._clock()
                    spacing = 60 / self.limit / SHARE
                    delay = max(self._last + spacing - now, 0) + self._queue.index(ticket) * spacing
                    if delay == 0:
                        self._last = now
                        return True
                if now >= deadline:
                    return False
                # The limit and the queue can change in the meantime.
                yield Pause(min(delay, deadline - now, 1.0))
        finally:
            with self._lock:
                self._queue.remove(ticket)
