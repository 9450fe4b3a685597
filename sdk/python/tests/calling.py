"""Makes a call with either client."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal, cast

from debit_collection import AsyncDebitCollection, DebitCollection

from .conftest import cases_in

ClientKind = Literal["sync", "async"]
KINDS: tuple[ClientKind, ...] = ("sync", "async")

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
