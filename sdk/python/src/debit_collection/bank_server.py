"""Serves the protocol for banks (docs/bank-protocol.md): signatures, idempotency and the form of replies."""

import asyncio
import hmac
import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, get_args, get_type_hints
from urllib.parse import quote

from .bank_replies import complete_reply
from .bank_requests import Kind, MemoryReplies, Payout, Query, RefundOrder, ReplyStore, Result, Submission
from .bodies import read_body
from .calls import request_hmac
from .handlers import call_handler, in_thread

BODY_MAX = 64 * 1024
TOLERANCE_SECONDS = 300

# The characters of a path that a URL need not escape; WSGI gives the path without its escapes.
PATH_CHARACTERS = "/:@!$&'()*+,;="

logger: logging.Logger = logging.getLogger("debit_collection")


class _Refused(Exception):
    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


_ROUTE = re.compile(r"/(submissions|settlements|refunds)(?:/([0-9a-f-]{36}))?/*$")
_ACCOUNT = re.compile(r"/accounts/((?:\+|%2B)[0-9]+)/*$")
_KINDS: dict[str, Kind] = {
    "submissions": "submission",
    "settlements": "payout",
    "refunds": "refund",
}


class BankServer:
    """Answers the service. `wsgi` and `asgi` are applications for any server, at any path."""

    def __init__(
        self,
        secrets: list[str],
        store: ReplyStore,
        handlers: Mapping[Kind, Callable[[Any], Any]],
        on_query: Callable[[Query], Any] | None,
        on_account: Callable[[str], Any] | None = None,
    ) -> None:
        if not secrets or not all(secrets):
            raise ValueError("a connector secret is missing or empty")
        self._secrets = secrets
        self._store = store
        self._handlers = handlers
        self._on_query = on_query
        self._on_account = on_account

    def respond(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> tuple[int, bytes]:
        """Returns status and body. `target` is the path as sent; names of headers are in lower case."""
        try:
            status, reply = self._respond(method, target, headers, body, loop)
            # Escaped, 2,000 characters of a message can exceed the 16 KiB of a reply.
            return status, json.dumps(reply, allow_nan=False, ensure_ascii=False).encode(errors="replace")
        except _Refused as refused:
            status, error = refused.status, str(refused)
            if status == 401:
                logger.warning("Refused a request: %s", error)
        except Exception:
            # The service queries and repeats.
            logger.exception("A handler of the bank failed")
            status, error = 500, "the bank failed"
        return status, json.dumps({"error": error}).encode()

    def _respond(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes,
        loop: asyncio.AbstractEventLoop | None,
    ) -> tuple[int, Result]:
        if len(body) > BODY_MAX:
            raise _Refused(413, "the body is too large")
        account = _ACCOUNT.search(target.split("?")[0])
        if account is not None and method == "GET":
            self._check_signature(method, target, headers, body)
            return 200, self._account(account[1].replace("%2B", "+"), loop)
        route = _ROUTE.search(target.split("?")[0])
        if route is None:
            raise _Refused(404, "unknown path")
        kind, uuid = _KINDS[route[1]], route[2]
        if method != ("POST" if uuid is None else "GET"):
            raise _Refused(405, "wrong method")
        self._check_signature(method, target, headers, body)
        if uuid is not None:
            first = self._store.read(f"{kind}:{uuid}")
            if first is None:
                raise _Refused(404, "unknown uuid")
            return 200, self._current(kind, first, loop)
        request = _parse(kind, body, headers)

        def decide() -> dict[str, Any]:
            return complete_reply(kind, request, call_handler(loop, self._handlers[kind], request))

        first = self._store.once(f"{kind}:{request['uuid']}", decide)
        # The first reply to a submission, but the present state of a payment.
        return 200, first if kind == "submission" else self._current(kind, first, loop)

    def _account(self, phone: str, loop: asyncio.AbstractEventLoop | None) -> Result:
        found = None if self._on_account is None else call_handler(loop, self._on_account, phone)
        if found is None:
            raise _Refused(404, "no such account")
        return {name: found[name] for name in ("account_number", "name", "active")}

    def _current(self, kind: Kind, first: Result, loop: asyncio.AbstractEventLoop | None) -> Result:
        if self._on_query is None or first["status"] not in ("accepted", "underway"):
            return first
        outcome = call_handler(loop, self._on_query, {"kind": kind, "uuid": first["uuid"]})
        return first if outcome is None else complete_reply(kind, first, outcome)

    def _check_signature(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> None:
        sent_at = headers.get("x-timestamp", "")
        if not re.fullmatch(r"[0-9]{10}", sent_at):
            raise _Refused(401, "X-Timestamp is missing or malformed")
        if abs(time.time() - int(sent_at)) > TOLERANCE_SECONDS:
            raise _Refused(401, "X-Timestamp is more than five minutes off the clock of this machine")
        given = headers.get("x-signature", "").encode(errors="replace")
        expected = [request_hmac(secret, method, target, sent_at, body).encode() for secret in self._secrets]
        if not any([hmac.compare_digest(given, one) for one in expected]):
            raise _Refused(401, "X-Signature is missing or wrong")

    def wsgi(self, environ: Mapping[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        """Is the application for WSGI servers, Flask and Django."""
        path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
        query = environ.get("QUERY_STRING")
        target = quote(path.encode("latin-1"), safe=PATH_CHARACTERS) + (f"?{query}" if query else "")
        names = {
            name[5:].replace("_", "-").lower(): value
            for name, value in environ.items()
            if name.startswith("HTTP_")
        }
        length = environ.get("CONTENT_LENGTH") or "0"
        size = int(length) if length.isdecimal() else 0
        # This server marks the end of a body, so that a chunked one needs no length.
        if environ.get("wsgi.input_terminated"):
            size = BODY_MAX + 1
        body = read_body(environ["wsgi.input"], min(size, BODY_MAX + 1))
        status, reply = self.respond(environ["REQUEST_METHOD"], target, names, body)
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(reply)))]
        start_response(f"{status} Reply", headers)
        return [reply]

    @property
    def asgi(self) -> Callable[..., Awaitable[None]]:
        """Is the application for ASGI servers, FastAPI and Starlette. Only async handlers run in the loop."""

        # uvicorn takes a method for an application of ASGI 2.
        async def application(
            scope: Mapping[str, Any],
            receive: Callable[[], Awaitable[Mapping[str, Any]]],
            send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
        ) -> None:
            if scope["type"] != "http":
                return
            body, more = b"", True
            while more and len(body) <= BODY_MAX:
                message = await receive()
                body += message.get("body", b"")
                more = message.get("more_body", False)
            path = scope.get("raw_path") or quote(scope["path"], safe=PATH_CHARACTERS).encode()
            query = scope.get("query_string") or b""
            target = (path.split(b"?")[0] + (b"?" + query if query else b"")).decode("latin-1")
            names = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
            }
            loop = asyncio.get_running_loop()
            status, reply = await in_thread(self.respond, scope["method"], target, names, body, loop)
            length = str(len(reply)).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", length)]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": reply})

        return application


def bank_server(
    *,
    secret: str | Iterable[str],
    on_submission: Callable[[Submission], Any],
    on_query: Callable[[Query], Any] | None = None,
    on_payout: Callable[[Payout], Any] | None = None,
    on_refund: Callable[[RefundOrder], Any] | None = None,
    on_account: Callable[[str], Any] | None = None,
    store: ReplyStore | None = None,
) -> BankServer:
    """Returns the server of a bank.

    `on_submission` returns a status `accepted` with `bank_reference`, `rejected` with `code` and
    `message`, or the outcome; `on_payout` and `on_refund` return `paid`, `underway` or `rejected`. Each runs
    once per uuid, but the default store forgets that when the process ends. `on_query` returns the present
    outcome of an accepted or underway request, with its `fee` as text, Decimal or Pesewas, or None for the
    stored reply. `on_account` returns the account of a phone number as `account_number`, `name` and
    `active`, or None.
    """
    handlers: dict[Kind, Callable[[Any], Any]] = {
        "submission": on_submission,
        "payout": on_payout or (lambda _: _rejected("This bank makes no payouts")),
        "refund": on_refund or (lambda _: _rejected("This bank makes no refunds")),
    }
    secrets = [secret] if isinstance(secret, str) else list(secret)
    replies = MemoryReplies() if store is None else store
    return BankServer(secrets, replies, handlers, on_query, on_account)


def _rejected(message: str) -> Result:
    return {"status": "rejected", "message": message}


_FORMS: dict[Kind, type] = {"submission": Submission, "payout": Payout, "refund": RefundOrder}
_ABSENT: dict[Kind, dict[str, None]] = {
    kind: {name: None for name, hint in get_type_hints(form).items() if type(None) in get_args(hint)}
    for kind, form in _FORMS.items()
}
"""The members that a request may omit or send as null."""


def _parse(kind: Kind, body: bytes, headers: Mapping[str, str]) -> Any:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        raise _Refused(400, "the body is not JSON") from None
    names = request if isinstance(request, dict) else {}
    uuid, amount = names.get("uuid"), names.get("amount")
    if not isinstance(amount, str) or not re.fullmatch(r"[0-9]+\.[0-9]{2}", amount):
        raise _Refused(400, "amount must be text with two decimals")
    if not uuid or headers.get("x-idempotency-key") != uuid:
        raise _Refused(400, "X-Idempotency-Key must be the uuid")
    return {**_ABSENT[kind], **names}
