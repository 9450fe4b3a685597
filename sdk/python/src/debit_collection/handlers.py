"""Calls a handler, which may be a coroutine function where there is an event loop."""

import asyncio
import contextvars
import functools
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

# A handler may need the threads of its loop, also to resolve a name: waiting for it must not take them.
_threads = ThreadPoolExecutor(64, thread_name_prefix="debit-collection")


async def in_thread(function: Callable[..., Result], *args: object) -> Result:
    """Runs a function that may wait for handlers."""
    call = functools.partial(contextvars.copy_context().run, function, *args)
    return await asyncio.get_running_loop().run_in_executor(_threads, call)


def call_handler(loop: asyncio.AbstractEventLoop | None, handler: Callable[..., Any], *args: object) -> Any:
    """Returns the result of the handler. `loop` runs coroutines; the caller is in another thread."""
    result = handler(*args)
    if loop is None:
        return synchronous("handler", result)
    if not inspect.isawaitable(result):
        return result
    return asyncio.run_coroutine_threadsafe(_awaited(result), loop).result()


def synchronous(name: str, result: Any) -> Any:
    """Returns the result. Raises TypeError for an awaitable, which nothing would await."""
    if not inspect.isawaitable(result):
        return result
    if inspect.iscoroutine(result):
        result.close()
    raise TypeError(f"an async {name} needs an async framework")


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result
