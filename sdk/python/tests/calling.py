"""Makes a call with either client."""

import asyncio
from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import Any, Literal, cast

import pytest

from debit_collection import AsyncDebitCollection, DebitCollection
from debit_collection.errors import DebitCollectionError

from .conftest import cases_in

ClientKind = Literal["sync", "async"]
both = pytest.mark.parametrize("kind", ["sync", "async"])

CASES = cases_in("client")
ORDER: dict[str, Any] = CASES["order"]


def call(kind: ClientKind, base_url: str, use: Callable[[Any], Any], **options: Any) -> Any:
    """Returns the result of `use(client)`; items of an async list are collected."""
    options = {"api_key": "sk_sandbox_demo", **options}
    if kind == "sync":
        with DebitCollection(base_url=base_url, **options) as client:
            result = use(client)
            return list(result) if hasattr(result, "pages") else result

    async def run() -> Any:
        async with AsyncDebitCollection(base_url=base_url, **options) as client:
            result = use(client)
            if hasattr(result, "pages"):
                return [item async for item in result]
            return await cast(Awaitable[Any], result)

    return asyncio.run(run())


def expect_call(kind: ClientKind, base_url: str, step: dict[str, Any], **options: Any) -> Any:
    """Makes a call of sdk/cases, compares its result or error, and returns the result."""

    def use(client: Any) -> Any:
        return attrgetter(step["call"])(client)(*step.get("arguments", []), **step.get("options", {}))

    if "error" not in step:
        result = call(kind, base_url, use, **options)
        assert "result" not in step or part_of(result, step["result"]) == step["result"]
        return result
    with pytest.raises(DebitCollectionError) as raised:
        call(kind, base_url, use, **options)
    expected = {**step["error"]}
    assert type(raised.value).__name__ == expected.pop("class")
    actual = {name: getattr(raised.value, name) for name in expected}
    assert part_of(actual, expected) == expected
    return None


def part_of(actual: Any, expected: Any) -> Any:
    """Returns the members of a value that the expected value names."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return {name: part_of(actual[name], expected[name]) for name in actual.keys() & expected.keys()}
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        return [part_of(*pair) for pair in zip(actual, expected, strict=True)]
    return actual
