"""Builds requests, parses replies and retries calls, without I/O.

A call is a generator: it yields a `Request` or a `Pause` and receives the `Reply` or the error. `client.py`
and `async_client.py` perform these steps.
"""

import asyncio
import hashlib
import hmac
import itertools
import json
import math
import random
import re
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar
from urllib.parse import quote, urlencode

from .errors import ApiError, NetworkError, api_error
from .retries import is_refusal, retry_delay
from .version import __version__

T = TypeVar("T")

API = "/api/v1/payment-providers"


@dataclass(frozen=True)
class Request:
    """An attempt to send.

    `timeout` is in seconds; the synchronous client applies it to the connection and each read of the headers.
    """

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    timeout: float


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Reply:
    """A complete reply; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


Outcome = Reply | NetworkError | None
Operation: TypeAlias = Generator[Request | Pause, Outcome, T]


class AttemptLog(TypedDict):
    """Describes an attempt to the `log` hook. `duration` is in seconds, `path` a template."""

    operation: str
    method: str
    path: str
    status: int | None
    attempt: int
    duration: float
    request_id: str | None
    error: str | None


@dataclass(frozen=True)
class Call:
    """A call of the API. `path` is a template such as `/banks/{identifier}`, below `api`."""

    operation: str
    method: str
    path: str
    values: tuple[str, ...] = ()
    query: Mapping[str, str | None] = field(default_factory=dict)
    body: object = None
    form: Literal["json", "csv", "html"] = "json"
    link: str | None = None
    """Replaces the URL; such a request has no credentials, and its reply no envelope."""
    api: str = API


@dataclass(frozen=True)
class Success:
    """`body` is the envelope, the JSON behind a link, or CSV or HTML as text."""

    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Settings:
    """The options of a client. `clock` and `jitter` are replaced in tests."""

    base_url: str
    api_key: str = field(repr=False)
    signing_secret: str | None = field(default=None, repr=False)
    max_retries: int = 3
    timeout: float = 30.0
    deadline: float | None = None
    log: Callable[[AttemptLog], object] | None = None
    clock: Callable[[], float] = time.monotonic
    jitter: Callable[[], float] = random.random

    def __post_init__(self) -> None:
        # A line end in a header is an error of the transport whose text shows the key.
        if not re.fullmatch(r"[!-~]+", self.api_key):
            raise ValueError("api_key must be printable text without blanks")
        if not re.fullmatch(r"https?://[^/?#@]+(/[^?#]*)?", self.base_url):
            raise ValueError("base_url must be https:// or http://, a host and optionally a path")
        if self.signing_secret == "":
            raise ValueError("signing_secret must not be empty")
        if not isinstance(self.max_retries, int) or self.max_retries < 0:
            raise ValueError("max_retries must be an int from 0")
        limits = {"timeout": self.timeout, **({} if self.deadline is None else {"deadline": self.deadline})}
        for name, seconds in limits.items():
            if not isinstance(seconds, (int, float)) or not 0 < seconds < math.inf:
                raise ValueError(f"{name} must be seconds above 0")


def read_json(text: bytes | str) -> Any:
    """Parses JSON with exact numbers: a float never occurs. Raises ValueError."""
    try:
        return json.loads(text, parse_float=Decimal)
    except (ArithmeticError, RecursionError) as error:
        raise ValueError("an exponent is too large or the nesting too deep") from error


def perform(
    settings: Settings,
    call: Call,
    timeout: float | None = None,
    max_retries: int | None = None,
    since: float | None = None,
) -> Operation[Success]:
    """Sends the same body until it succeeds, is refused, or `max_retries` retries are used.

    `timeout` replaces that of the settings for each attempt. The deadline counts from `since`, by default
    from now.
    """
    retries = settings.max_retries if max_retries is None else max_retries
    ends = (settings.clock() if since is None else since) + (
        math.inf if settings.deadline is None else settings.deadline
    )
    longest = settings.timeout if timeout is None else timeout
    may_exist = False
    for attempt in itertools.count(1):
        started = settings.clock()
        try:
            outcome = yield request_of(settings, call, min(longest, max(ends - started, 0.001)))
        except GeneratorExit:
            _log(settings, call, attempt, None, asyncio.CancelledError(), settings.clock() - started)
            raise
        if outcome is None:
            raise TypeError("a request needs an outcome")
        result = parse_reply(call, outcome) if isinstance(outcome, Reply) else outcome
        _log(settings, call, attempt, outcome, result, settings.clock() - started)
        if isinstance(result, Success):
            return result
        may_exist = may_exist or not is_refusal(result)
        result.attempts, result.may_exist = attempt, may_exist
        delay = retry_delay(result, attempt, settings.jitter)
        if delay is None or attempt > retries or settings.clock() + delay >= ends:
            raise result
        yield Pause(delay)
    raise AssertionError


def request_of(settings: Settings, call: Call, seconds: float) -> Request:
    """Returns the request, signed if there is a secret (docs/api.md#request-signing)."""
    headers = {
        "accept": "application/json" if call.form == "json" else f"text/{call.form}, application/json",
        "user-agent": f"debit-collection-python/{__version__}",
    }
    if call.link:
        return Request("GET", call.link, headers, b"", seconds)
    body = b""
    if call.body is not None:
        body = json.dumps(call.body, separators=(",", ":"), allow_nan=False).encode()
        headers["content-type"] = "application/json"
    url = settings.base_url.rstrip("/") + _target(call)
    headers["authorization"] = f"Bearer {settings.api_key}"
    if settings.signing_secret:
        now = str(int(time.time()))
        path = re.sub(r"^https?://[^/]+", "", url)
        headers["x-timestamp"] = now
        headers["x-signature"] = request_hmac(settings.signing_secret, call.method, path, now, body)
    return Request(call.method, url, headers, body, seconds)


def request_hmac(secret: str, method: str, path: str, timestamp: str, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{method}{path}{timestamp}".encode() + body, hashlib.sha256).hexdigest()


def _target(call: Call) -> str:
    for value in call.values:
        # These would name another resource.
        if value in ("", ".", ".."):
            raise ValueError(f"{call.operation} needs an id")
    values = iter(call.values)
    path = call.api + re.sub(r"\{\w+\}", lambda _: quote(next(values), safe=""), call.path)
    query = urlencode({name: value for name, value in call.query.items() if value is not None})
    return f"{path}?{query}" if query else path


def parse_reply(call: Call, reply: Reply) -> Success | ApiError:
    """Returns the success or the error that a reply means. Only an envelope or a report is a success."""
    is_text = bool(call.link) or reply.headers.get("content-type", "").startswith(f"text/{call.form}")
    if reply.status == 200 and call.form != "json" and is_text:
        return Success(reply.status, reply.headers, reply.body.decode(errors="replace"))
    try:
        body = read_json(reply.body)
    except ValueError:
        body = None
    data = body.get("data") if isinstance(body, dict) and body.get("success") is True else None
    is_envelope = isinstance(data, (dict, list))
    is_success = 200 <= reply.status < 300 or (reply.status == 303 and not call.link)
    if is_success and (is_envelope or (call.link and body is not None)):
        return Success(reply.status, reply.headers, body)
    return api_error(reply.status, reply.headers, body)


def _log(
    settings: Settings,
    call: Call,
    attempt: int,
    outcome: Outcome,
    result: Success | BaseException,
    duration: float,
) -> None:
    if settings.log is None:
        return
    code = f" {result.code}" if isinstance(result, ApiError) and result.code else ""
    entry: AttemptLog = {
        "operation": call.operation,
        "method": call.method,
        "path": call.api + call.path,
        "status": outcome.status if isinstance(outcome, Reply) else None,
        "attempt": attempt,
        "duration": duration,
        "request_id": outcome.headers.get("x-request-id") if isinstance(outcome, Reply) else None,
        "error": None if isinstance(result, Success) else type(result).__name__ + code,
    }
    # A fault of the hook must not hide that a charge succeeded.
    with suppress(Exception):
        settings.log(entry)
