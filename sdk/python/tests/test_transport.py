"""Both clients against a server with faults."""

import asyncio
import logging
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest

from debit_collection import AsyncDebitCollection, DebitCollection
from debit_collection.calls import Pause, Request
from debit_collection.errors import (
    DebitCollectionError,
    NetworkError,
    RequestTimeoutError,
)
from debit_collection.operations import Debits
from debit_collection.transport import environment_proxy

from .calling import CASES, ORDER, ClientKind, both, call, expect_call
from .conftest import named
from .faulty_server import CHARGED, DEBIT, FaultyServer, Step, faulty_server, problem, step_of, success

BANK = DEBIT["bank"]
HTML = Step(502, "<html>Bad gateway</html>")


@both
@pytest.mark.parametrize("case", CASES["calls"], ids=named)
def test_call(kind: ClientKind, case: dict[str, Any]) -> None:
    with faulty_server(*map(step_of, case["replies"])) as server:
        expect_call(kind, server.url, case, signing_secret="rs_1")
    assert [request.path for request in server.requests] == case["paths"]
    for request in server.requests:
        is_signed = {"authorization", "x-signature"} <= request.headers.keys()
        assert is_signed == request.path.startswith("/api/")


@both
@pytest.mark.parametrize("fault", [Step(fault="close"), Step(body="{}", fault="cut"), HTML])
def test_a_charge_survives_a_fault_and_sends_the_same_body(kind: ClientKind, fault: Step) -> None:
    with faulty_server(fault, CHARGED) as server:
        charged = call(kind, server.url, lambda client: client.charge(**ORDER), signing_secret="rs_1")
    assert charged["reference"] == DEBIT["reference"]
    first, second = server.requests
    assert first.body == second.body
    assert first.headers["authorization"] == "Bearer sk_sandbox_demo"
    assert "x-signature" in second.headers


@both
@pytest.mark.parametrize("fault", ["hang", "drip"])
def test_an_attempt_ends_at_its_timeout(kind: ClientKind, fault: str) -> None:
    with faulty_server(Step(body="x" * 200, fault=fault)) as server:
        started = time.monotonic()
        with pytest.raises(RequestTimeoutError):
            call(kind, server.url, lambda client: client.get("DCS-1", timeout=0.3), max_retries=0)
    assert 0.3 <= time.monotonic() - started < 5


@both
def test_a_call_ends_at_its_deadline(kind: ClientKind) -> None:
    with faulty_server(Step(fault="hang")) as server:
        started = time.monotonic()
        with pytest.raises(RequestTimeoutError) as raised:
            call(kind, server.url, lambda client: client.charge(**ORDER), deadline=0.3)
    assert 0.3 <= time.monotonic() - started < 5
    assert raised.value.attempts == 1


@both
def test_a_refused_connection_is_a_network_error_with_its_cause(kind: ClientKind) -> None:
    with faulty_server(CHARGED) as server:
        pass
    with pytest.raises(NetworkError) as raised:
        call(kind, server.url, lambda client: client.get("DCS-1"), max_retries=0)
    assert isinstance(raised.value.__cause__, httpx.ConnectError)


@both
def test_the_link_of_a_large_report_is_followed_without_credentials(kind: ClientKind) -> None:
    link = success({"url": "/bucket/report?X-Amz-Signature=1"}, 303, {"location": "/elsewhere"})
    report = Step(200, '{"lines": [{"gross": "1.00", "rate": 1.10}]}')
    options: Any = {"signing_secret": "rs_1"}
    with faulty_server(link, problem(503, 1503), report) as server:
        read = call(kind, server.url, lambda client: client.settlements.report("STL-1"), **options)
    assert read["lines"][0]["rate"] == Decimal("1.10")
    first, *followed = server.requests
    assert "authorization" in first.headers
    assert [request.path for request in followed] == ["/bucket/report?X-Amz-Signature=1"] * 2
    for request in followed:
        assert not {"authorization", "x-signature", "x-timestamp"} & set(request.headers)


def test_a_client_is_shared_by_threads() -> None:
    with (
        faulty_server(success(BANK)) as server,
        DebitCollection(api_key="sk_1", base_url=server.url) as client,
    ):
        found: list[str] = []
        threads = [
            threading.Thread(target=lambda: found.append(client.banks.get("GCB")["name"])) for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == ["GCB Bank PLC"] * 20


def forked(use: Callable[[], object]) -> int:
    """Calls a function in a fork of this process. Returns 0 if it returns, 1 for a RuntimeError."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 2
    # A lock that another thread had at the fork is never released.
    signal.alarm(30)
    try:
        use()
        code = 0
    except RuntimeError:
        code = 1
    finally:
        os._exit(code)


def test_a_forked_process_opens_its_own_connection() -> None:
    with (
        faulty_server(success(BANK)) as server,
        DebitCollection(api_key="sk_1", base_url=server.url) as client,
    ):
        client.banks.get("GCB")
        assert forked(lambda: client.banks.get("GCB")) == 0
        client.banks.get("GCB")
    first, second, third = [request.port for request in server.requests]
    assert first == third != second


def test_a_wait_in_a_forked_process_does_not_queue_behind_the_waits_of_its_parent() -> None:
    with (
        faulty_server(success({**DEBIT, "status": "completed"})) as server,
        DebitCollection(api_key="sk_1", base_url=server.url) as client,
    ):
        first, second = [Debits.wait_for(client, "DCS-1") for _ in range(2)]
        assert isinstance(first.send(None), Request)
        assert isinstance(second.send(None), Pause)
        assert forked(lambda: client.wait_for("DCS-1", timeout=1)) == 0


def test_a_transport_of_the_caller_is_used_by_one_process() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=success(BANK).body))
    client = DebitCollection(api_key="sk_1", base_url="http://127.0.0.1:9", transport=transport)
    assert forked(lambda: client.banks.get("GCB")) == 0
    client.banks.get("GCB")
    assert forked(lambda: client.banks.get("GCB")) == 1


def test_each_event_loop_opens_its_own_connection_and_a_closed_loop_keeps_none() -> None:
    with faulty_server(success(BANK)) as server:
        client = AsyncDebitCollection(api_key="sk_1", base_url=server.url)
        for _ in range(3):
            assert asyncio.run(client.banks.get("GCB"))["name"] == "GCB Bank PLC"
    assert len({request.port for request in server.requests}) == 3
    assert len(client._transports) == 1


def test_a_transport_of_another_event_loop_raises_a_network_error() -> None:
    with faulty_server(success(BANK)) as server:
        transport = httpx.AsyncHTTPTransport()
        client = AsyncDebitCollection(api_key="sk_1", base_url=server.url, transport=transport, max_retries=0)
        asyncio.run(client.banks.get("GCB"))
        with pytest.raises(NetworkError) as raised:
            asyncio.run(client.banks.get("GCB"))
    assert isinstance(raised.value.__cause__, RuntimeError)


def test_a_cancelled_call_ends_at_once_and_its_attempt_has_an_entry_in_the_log() -> None:
    entries: list[Any] = []

    async def run(server: FaultyServer) -> None:
        options: Any = {"api_key": "sk_1", "base_url": server.url, "log": entries.append}
        async with AsyncDebitCollection(**options) as client:
            await asyncio.wait_for(client.wait_for("DCS-1"), 0.2)

    with faulty_server(Step(fault="hang")) as server:
        started = time.monotonic()
        with pytest.raises((TimeoutError, asyncio.TimeoutError)):
            asyncio.run(run(server))
        assert time.monotonic() - started < 5
    assert [(entry["attempt"], entry["error"]) for entry in entries] == [(1, "CancelledError")]


def test_the_proxy_of_the_environment_is_used_except_for_its_exceptions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")
    assert environment_proxy("https://api.example/prod") == "http://proxy.example:3128"
    assert environment_proxy("https://127.0.0.1:3000") is None


SECRETS = ["sk_live_hidden", "rs_hidden", "233241234567", "1041001001", "Ama Mensah", "Order 1", "order-1"]


@both
@pytest.mark.parametrize(
    "step",
    [
        CHARGED,
        problem(401, 1401, "the credential is unknown"),
        problem(422, 1007, {"phone_number": ["+233241234567 is unknown"], "name": ["Ama Mensah"]}),
        problem(409, 3003, {"reference": "DCS-1", "account_number": "1041001001"}),
        Step(502, "<html>+233241234567 Ama Mensah 1041001001</html>", {"retry-after": "61"}),
        Step(fault="close"),
    ],
)
def test_no_secret_or_personal_data_appears_in_logs_errors_or_reprs(
    kind: ClientKind, step: Step, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    entries: list[Any] = []
    texts: list[str] = []

    def use(client: Any) -> Any:
        texts.extend([repr(client), str(client), repr(client.banks), repr(client._settings)])
        return client.charge(**{**ORDER, "metadata": {"name": SECRETS[4]}})

    options: Any = {
        "api_key": "sk_live_hidden",
        "signing_secret": "rs_hidden",
        "log": entries.append,
        "max_retries": 0,
    }
    with faulty_server(step) as server:
        for operation in (use, lambda client: client.banks.lookup(ORDER["phone_number"])):
            try:
                call(kind, server.url, operation, **options)
            except DebitCollectionError as error:
                texts.extend([*traceback.format_exception(error), repr(error), str(error)])
            except KeyError:
                assert step is CHARGED
    texts.extend([record.getMessage() for record in caplog.records])
    text = "\n".join([*texts, repr(entries)])
    assert len(entries) == 2
    assert [secret for secret in SECRETS if secret in text] == []
