"""Calls a handler, which may be a coroutine function where there is an event loop."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any


def call_handler(loop: asyncio.AbstractEventLoop | None, handler: Callable[..., Any], *args: object) -> Any:
    """Returns the result of the handler. `loop` runs coroutines; the caller is in another thread."""
    result = handler(*args)
    if not inspect.isawaitable(result):
        return result
    if loop is None:
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError("an async handler needs an async framework")
    return asyncio.run_coroutine_threadsafe(_awaited(result), loop).result()


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result
