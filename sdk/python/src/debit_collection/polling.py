"""Spaces the polls of all waits of a client, so that they never exceed the rate limit."""

import threading
from collections import deque
from collections.abc import Callable, Generator

from . import wire
from .calls import Call, Operation, Pause, Settings, perform
from .errors import DebitCollectionError, WaitTimeoutError
from .retries import retry_delay

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


def wait_until_final(
    settings: Settings, pacer: Pacer, call: Call, timeout: float
) -> Operation[wire.DebitDetail]:
    """Repeats the call that reads a debit, in the turns of a pacer."""
    deadline = settings.clock() + timeout
    last: wire.DebitDetail | None = None
    failure: DebitCollectionError | None = None
    interval, failures = INTERVAL_FIRST, 0
    while (yield from pacer.turn(deadline)):
        seconds = min(settings.timeout, max(deadline - settings.clock(), 1.0))
        try:
            success = yield from perform(settings, call, seconds, max_retries=0)
        except DebitCollectionError as error:
            failures += 1
            delay = retry_delay(error, failures, settings.jitter)
            if delay is None:
                raise
            failure = error
        else:
            debit: wire.DebitDetail = success.body["data"]
            if debit["status"] in wire.FINAL_DEBIT_STATUSES:
                return debit
            last, failures = debit, 0
            delay, interval = interval, min(interval * GROWTH, INTERVAL_MAX)
        remaining = deadline - settings.clock()
        if remaining <= 0:
            break
        yield Pause(min(delay, remaining))
    raise WaitTimeoutError(call.values[0], last) from failure
