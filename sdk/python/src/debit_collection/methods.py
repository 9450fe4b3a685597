"""Makes each function of `operations.py` a method of both clients."""

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from .calls import Call, Operation, Settings, perform

P = ParamSpec("P")
T = TypeVar("T")


class Synchronous:
    """Has methods that return their results."""

    def _run(self, operation: Operation[T]) -> T:
        raise NotImplementedError


class Asynchronous:
    """Has methods that return coroutines."""

    async def _run(self, operation: Operation[T]) -> T:
        raise NotImplementedError


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. `next_cursor` of the event feed continues after its last page, too."""

    data: list[T]
    next_cursor: str | None
    has_more: bool


@dataclass(frozen=True)
class Pages(Generic[T]):
    """The pages of a list after a cursor. `fetch` reads the one of a cursor."""

    fetch: Callable[[str | None], Operation[Page[T]]]
    start: str | None = None


class Group:
    """Operations that share the settings of a client."""

    _settings: Settings

    def _read(self, call: Call, timeout: float | None, since: float | None = None) -> Operation[Any]:
        """Returns `data` of the reply."""
        success = yield from perform(self._settings, call, timeout, since=since)
        return success.body["data"]

    def _pages(
        self,
        operation: str,
        path: str,
        timeout: float | None,
        query: dict[str, str | None],
        start: str | None = None,
    ) -> Pages[Any]:
        return self._pages_of(Call(operation, "GET", path, query=query), timeout, start)

    def _pages_of(
        self, first: Call, timeout: float | None, start: str | None = None, member: str | None = None
    ) -> Pages[Any]:
        """Returns the pages of a call. The items are `data` of the reply, or a member of it."""

        def fetch(cursor: str | None) -> Operation[Page[Any]]:
            call = replace(first, query={**first.query, "cursor": cursor})
            success = yield from perform(self._settings, call, timeout)
            meta, data = success.body["meta"], success.body["data"]
            has_more = bool(meta.get("has_more")) and meta.get("next_cursor") is not None
            return Page(data[member] if member else data, meta.get("next_cursor"), has_more)

        return Pages(fetch, start)


class Listing(Generic[T]):
    """Iterates over all items, and reads a page when it needs one."""

    def __init__(self, client: Synchronous, pages: Pages[T]) -> None:
        self._client = client
        self._pages = pages

    def pages(self) -> Iterator[Page[T]]:
        """Iterates over the pages, so that a reader can store its cursor."""
        cursor, has_more = self._pages.start, True
        while has_more:
            page = self._client._run(self._pages.fetch(cursor))
            cursor, has_more = page.next_cursor, page.has_more
            yield page

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data


class AsyncListing(Generic[T]):
    """Iterates over all items, and reads a page when it needs one."""

    def __init__(self, client: Asynchronous, pages: Pages[T]) -> None:
        self._client = client
        self._pages = pages

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Iterates over the pages, so that a reader can store its cursor."""
        cursor, has_more = self._pages.start, True
        while has_more:
            page = await self._client._run(self._pages.fetch(cursor))
            cursor, has_more = page.next_cursor, page.has_more
            yield page

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.data:
                yield item


class method(Generic[P, T]):
    """Decorates an operation: the method performs it."""

    def __init__(self, function: Callable[Concatenate[Any, P], Operation[T]]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[Concatenate[Any, P], Operation[T]]: ...
    @overload
    def __get__(self, instance: Synchronous, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Asynchronous, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        return bound(self._function, instance, lambda operation: instance._run(operation))


class listing(Generic[P, T]):
    """Decorates a function that returns pages: the method returns an iterable."""

    def __init__(self, function: Callable[Concatenate[Any, P], Pages[T]]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[Concatenate[Any, P], Pages[T]]: ...
    @overload
    def __get__(self, instance: Synchronous, owner: type) -> Callable[P, Listing[T]]: ...
    @overload
    def __get__(self, instance: Asynchronous, owner: type) -> Callable[P, AsyncListing[T]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        kind: Any = Listing if isinstance(instance, Synchronous) else AsyncListing
        return bound(self._function, instance, lambda pages: kind(instance, pages))


def bound(function: Callable[..., Any], instance: Any, finish: Callable[[Any], Any]) -> Any:
    """Returns the method of an instance, with the signature and the docstring of the function."""
    if instance is None:
        return function

    @functools.wraps(function.__get__(instance))
    def call(*args: Any, **options: Any) -> Any:
        return finish(function(instance, *args, **options))

    return call
