"""Spaces the polls of all waits of a client, so that they never exceed the rate limit."""

import threading
from collections import deque
from collections.abc import Callable, Generator

from .calls import Pause

SPACING = 0.075
"""Seconds between the reads of all waits of a client: 800 of the published 1,000 a minute."""

INTERVAL_FIRST = 1.0
INTERVAL_MAX = 10.0
GROWTH = 1.5


class Pacer:
    """Gives one turn after the other. Threads and tasks can share it."""

    def __init__(self, clock: Callable[[], float]) -> None:
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
                    ahead = self._queue.index(ticket)
                    delay = max(self._last + SPACING - now, 0) + ahead * SPACING
                    if delay == 0:
                        self._last = now
                        return True
                if now >= deadline:
                    return False
                # The queue can change during the pause.
                yield Pause(min(delay, deadline - now, 1.0))
        finally:
            with self._lock:
                self._queue.remove(ticket)
