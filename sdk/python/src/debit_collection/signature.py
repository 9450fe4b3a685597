"""Signs and verifies webhooks (docs/webhooks.md#verification)."""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias, cast

from .calls import read_json
from .errors import SignatureError
from .wire import Event, PingEvent

TOLERANCE_SECONDS = 300


class HeaderItems(Protocol):
    """A mapping, or the headers of a framework."""

    def items(self) -> Iterable[tuple[str, str]]: ...


WebhookEvent: TypeAlias = Event | PingEvent


def verify(
    raw_body: bytes | str,
    headers: HeaderItems,
    secrets: str | Iterable[str],
    *,
    require_standard: bool = False,
) -> WebhookEvent:
    """Returns the event of a webhook, with exact amounts.

    Raises SignatureError unless one of the secrets signed it, ValueError for a wrong secret. Without
    `webhook-signature`, only `X-SVC-Signature` is verified, which covers no time: store the ids of events,
    or `require_standard`.
    """
    body = raw_body.encode() if isinstance(raw_body, str) else raw_body
    names = {name.lower(): value for name, value in headers.items()}
    keys = secret_list(secrets)
    if require_standard or "webhook-signature" in names:
        _check_age(names.get("webhook-timestamp", ""))
        given = names.get("webhook-signature", "").split(" ")
        signed = f"{names.get('webhook-id', '')}.{names['webhook-timestamp']}.".encode() + body
        expected = [standard_signature(key, signed) for key in keys]
    else:
        if "x-svc-timestamp" in names:
            _check_age(names["x-svc-timestamp"])
        published = ("x-svc-signature", "x-svc-signature-previous")
        given = [names.get(name, "").removeprefix("sha256=") for name in published]
        expected = [body_signature(key, body) for key in keys]
    # A list, so that the time does not depend on which one matches.
    matches = [
        hmac.compare_digest(one.encode(errors="replace"), own.encode()) for one in given for own in expected
    ]
    if not any(matches):
        raise SignatureError("the signature is missing or wrong")
    try:
        event: Any = read_json(body)
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise SignatureError("the body is not an event")
    return cast(WebhookEvent, event)


def secret_list(secrets: str | Iterable[str]) -> list[str]:
    """Returns the secrets. Raises ValueError if there is none, or one without a key."""
    keys = [secrets] if isinstance(secrets, str) else list(secrets)
    if not keys or not all(keys):
        raise ValueError("a webhook secret is missing or empty")
    for key in keys:
        standard_signature(key, b"")
    return keys


def standard_signature(secret: str, signed: bytes) -> str:
    """Returns the signature of Standard Webhooks over `id.timestamp.body`."""
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError("a webhook secret is whsec_ and base64")
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def body_signature(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _check_age(timestamp: str) -> None:
    is_time = re.fullmatch(r"[0-9]{1,12}", timestamp)
    if not is_time or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        raise SignatureError("the webhook was not signed within the last five minutes")
