"""The receivers of FastAPI, Flask and Django behave alike."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import django
import flask
import httpx
import pytest
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.core.wsgi import get_wsgi_application
from django.urls import path
from fastapi import FastAPI

from debit_collection import testing, webhooks
from debit_collection.webhooks import Applied, EventKey, Receiver

from .conftest import named, served_asgi, served_wsgi
from .test_signature import CASES, OTHER, SECRET

settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="test")
django.setup()
urlpatterns: list[Any] = []

Handled = list[tuple[str, str]]
Serve = Callable[[Any], AbstractContextManager[str]]


def handlers(handled: Handled, failures: list[Exception]) -> webhooks.Handlers:
    def handle(event: Any, transaction: object) -> None:
        if failures:
            raise failures.pop()
        data = event["data"]
        subject = data.get("settlement") or data.get("transaction", data)
        handled.append((event["event"], subject.get("reference") or subject["id"]))

    return {"transaction.completed": handle, "transaction.failed": handle, "settlement.completed": handle}


def async_handlers(handled: Handled, failures: list[Exception]) -> webhooks.Handlers:
    handle: Any = handlers(handled, failures)["transaction.completed"]

    async def handle_later(event: Any, transaction: object) -> None:
        await asyncio.sleep(0)
        handle(event, transaction)

    return dict.fromkeys(handlers([], []), handle_later)  # type: ignore[return-value]


class AsyncMemoryStore:
    def __init__(self) -> None:
        self.store = webhooks.memory_store()
        self.lock = asyncio.Lock()

    async def apply(self, key: EventKey, work: Callable[[Any], Awaitable[object]], /) -> Applied:
        async with self.lock:
            applied = self.store.apply(key, lambda _: None)
            if applied == "applied":
                try:
                    await work(None)
                except Exception:
                    self.store = webhooks.memory_store()
                    raise
            return applied


def hidden(apply: Callable[..., Any]) -> Callable[..., Any]:
    """Hides from an inspection that a function is async."""
    return lambda *arguments: apply(*arguments)


class HiddenAsyncStore(AsyncMemoryStore):
    apply = hidden(AsyncMemoryStore.apply)


def fastapi_app(on: webhooks.Handlers, store: Any = None, secret: str = SECRET) -> Any:
    app = FastAPI()
    app.post("/webhooks")(webhooks.fastapi(secrets=secret, store=store or webhooks.memory_store(), on=on))
    return app


def flask_app(on: webhooks.Handlers) -> Any:
    app = flask.Flask(__name__)
    app.post("/webhooks")(webhooks.flask(secrets=SECRET, store=webhooks.memory_store(), on=on))
    return app


def django_app(on: webhooks.Handlers) -> Any:
    view = webhooks.django(secrets=SECRET, store=webhooks.memory_store(), on=on)
    urlpatterns[:] = [path("webhooks", view)]
    return get_wsgi_application()


APPS: dict[str, Callable[[Handled, list[Exception]], tuple[Any, Serve]]] = {
    "fastapi": lambda *lists: (fastapi_app(handlers(*lists)), served_asgi),
    "fastapi with async handlers": lambda *lists: (fastapi_app(async_handlers(*lists)), served_asgi),
    "fastapi with an async store": lambda *lists: (
        fastapi_app(async_handlers(*lists), AsyncMemoryStore()),
        served_asgi,
    ),
    "fastapi with sync handlers and an async store": lambda *lists: (
        fastapi_app(handlers(*lists), AsyncMemoryStore()),
        served_asgi,
    ),
    "fastapi with an async store behind a decorator": lambda *lists: (
        fastapi_app(async_handlers(*lists), HiddenAsyncStore()),
        served_asgi,
    ),
    "flask": lambda *lists: (flask_app(handlers(*lists)), served_wsgi),
    "django": lambda *lists: (django_app(handlers(*lists)), served_wsgi),
}


class Shop:
    def __init__(self, url: str, handled: Handled, failures: list[Exception]) -> None:
        self.url, self.handled, self.failures = f"{url}/webhooks", handled, failures

    def send(self, event: dict[str, Any], secret: str = SECRET) -> int:
        body, headers = testing.signed(event, secret)
        return httpx.post(self.url, content=body, headers=headers).status_code


@pytest.fixture(params=APPS)
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    handled: Handled = []
    failures: list[Exception] = []
    app, serve = APPS[request.param](handled, failures)
    with serve(app) as url:
        yield Shop(url, handled, failures)


def event_of(name: str, sequence: int, **members: Any) -> dict[str, Any]:
    transaction = {"reference": "DCS-1", "status": name.split(".")[1], "narration": "Nyansapɔ"}
    return {"event": name, "sequence": sequence, "data": {"transaction": transaction}, **members}


@pytest.mark.parametrize("case", CASES["deliveries"], ids=named)
def test_deliveries(shop: Shop, case: dict[str, Any]) -> None:
    for step in case["steps"]:
        shop.failures.extend(RuntimeError(step[name]) for name in step if name == "throws")
        event = {**step["event"], "filler": "x" * step.get("filler", 0)}
        assert shop.send(event, step.get("secret", SECRET)) == step["status"]
    assert [list(handled) for handled in shop.handled] == case["handled"]


class Endless:
    """A body whose length nobody states."""

    size = 0

    def read(self, size: int = -1) -> bytes:
        if size < 0:
            raise AssertionError("read without a limit")
        self.size += min(size, 4096)
        return b"x" * min(size, 4096)


def flask_status(body: Endless) -> int:
    chunked = {"Transfer-Encoding": "chunked"}
    environ = {"wsgi.input": body, "wsgi.input_terminated": True}
    client = flask_app({}).test_client()
    return int(client.post("/webhooks", headers=chunked, environ_overrides=environ).status_code)


def django_status(body: Endless) -> int:
    scope = {"type": "http", "path": "/webhooks", "method": "POST", "headers": [], "query_string": b""}
    view = webhooks.django(secrets=SECRET, store=webhooks.memory_store(), on={})
    return int(view(ASGIRequest(scope, body)).status_code)


@pytest.mark.parametrize("status_of", [flask_status, django_status])
def test_a_chunked_body_is_read_up_to_the_maximum_only(status_of: Callable[[Endless], int]) -> None:
    body = Endless()
    assert (status_of(body), body.size) == (413, webhooks.BODY_MAX + 1)


def test_a_body_that_a_flask_application_reads_before_the_receiver_is_applied() -> None:
    handled: Handled = []
    app = flask_app(handlers(handled, []))
    app.before_request(lambda: flask.request.get_data() and None)
    body, headers = testing.signed(event_of("transaction.completed", 3), SECRET)
    assert app.test_client().post("/webhooks", data=body, headers=headers).status_code == 204
    assert handled == [("transaction.completed", "DCS-1")]


def test_another_method_is_refused(shop: Shop) -> None:
    assert httpx.get(shop.url).status_code == 405


def test_a_misspelt_event_is_refused_at_the_start() -> None:
    with pytest.raises(ValueError, match="unknown events"):
        Receiver(SECRET, webhooks.memory_store(), {"transaction.complete": print})  # type: ignore[typeddict-unknown-key]


def test_an_async_handler_without_a_loop_is_an_error_instead_of_lost_work() -> None:
    handled: Handled = []
    receiver = Receiver(SECRET, webhooks.memory_store(), async_handlers(handled, []))
    body, headers = testing.signed(event_of("transaction.completed", 3), SECRET)
    assert receiver.receive(body, headers) == 500


@pytest.mark.parametrize("view", [webhooks.flask, webhooks.django])
def test_an_async_store_of_a_synchronous_framework_is_an_error_instead_of_lost_work(view: Any) -> None:
    with pytest.raises(TypeError, match="async store"):
        view(secrets=SECRET, store=AsyncMemoryStore(), on={})
    receiver = Receiver(SECRET, HiddenAsyncStore(), handlers([], []))
    body, headers = testing.signed(event_of("transaction.completed", 3), SECRET)
    assert receiver.receive(body, headers) == 500


def test_async_handlers_of_many_deliveries_may_use_the_threads_of_their_loop() -> None:
    class Store:
        def apply(self, _: EventKey, work: Callable[[Any], object], /) -> Applied:
            work(None)
            return "applied"

    async def handle(event: Any, transaction: object) -> None:
        await asyncio.to_thread(time.sleep, 0)

    event = event_of("transaction.completed", 3)
    app = fastapi_app({"transaction.completed": handle}, Store())
    with served_asgi(app) as url, ThreadPoolExecutor(40) as callers:
        shop = Shop(url, [], [])
        assert list(callers.map(lambda _: shop.send(event), range(40))) == [204] * 40


@pytest.mark.parametrize("store", [webhooks.memory_store, AsyncMemoryStore])
def test_an_event_of_the_feed_is_applied_unless_its_webhook_or_a_later_one_was(store: Any) -> None:
    handled: Handled = []
    failures: list[Exception] = []
    is_async = store is AsyncMemoryStore
    on = (async_handlers if is_async else handlers)(handled, failures)
    options: Any = {"store": store(), "on": on}

    def apply(event: Any) -> None:
        if is_async:
            asyncio.run(webhooks.apply_async(event, **options))
        else:
            webhooks.apply(event, **options)

    older, newer = (event_of("transaction.completed", sequence, event_id="e") for sequence in (3, 4))
    webhook = testing.signed(older, SECRET)
    receiver = Receiver(SECRET, **options)
    status = asyncio.run(receiver.receive_async(*webhook)) if is_async else receiver.receive(*webhook)
    assert status == 204
    newer["event"], newer["event_id"] = "debit_request.failed", "f"
    for event in (older, newer, older):
        apply(event)
    assert handled == [("transaction.completed", "DCS-1"), ("debit_request.failed", "DCS-1")]
    failures.append(RuntimeError("no database"))
    with pytest.raises(RuntimeError, match="no database"):
        apply(event_of("transaction.failed", 5, event_id="g"))


def test_concurrent_deliveries_of_an_event_run_its_handler_once() -> None:
    handled: Handled = []
    receiver = Receiver([SECRET, OTHER], webhooks.memory_store(), handlers(handled, []))
    body, headers = testing.signed(event_of("transaction.completed", 3), OTHER)
    threads = [threading.Thread(target=receiver.receive, args=(body, headers)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(handled) == 1
