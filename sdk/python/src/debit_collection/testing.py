"""Creates webhooks as the service sends them, for tests of a receiver."""

import json
import re
import secrets as randomness
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, NamedTuple

from .signature import body_signature, secret_list, standard_signature


class SignedWebhook(NamedTuple):
    body: bytes
    headers: dict[str, str]


def signed(event: Mapping[str, Any], secret: str) -> SignedWebhook:
    """Signs an event with both signatures. It gets the members that it lacks, such as a fresh `event_id`."""
    secret_list(secret)
    number = 10**15 + randomness.randbelow(9 * 10**15)
    envelope = {
        "event": "ping",
        "event_id": f"evt_{number}",
        "timestamp": datetime.now(timezone.utc).isoformat(timespec="milliseconds")[:-6] + "Z",
        "api_version": "v1",
        "data": {},
        **event,
    }
    body = _json(envelope)
    event_id, sent_at = str(envelope["event_id"]), str(int(time.time()))
    headers = {
        "content-type": "application/json",
        "x-svc-signature": body_signature(secret, body),
        "x-svc-event": str(envelope["event"]),
        "x-svc-event-id": event_id,
        "x-svc-delivery-id": f"dlv_{event_id.removeprefix('evt_')}_{randomness.token_hex(8)}",
        "x-svc-timestamp": sent_at,
        "webhook-id": event_id,
        "webhook-timestamp": sent_at,
        "webhook-signature": standard_signature(secret, f"{event_id}.{sent_at}.".encode() + body),
    }
    return SignedWebhook(body, headers)


def _json(value: object) -> bytes:
    """Returns JSON in which a Decimal is a number with its own digits."""

    def marked(member: object) -> str:
        if isinstance(member, Decimal):
            return f"\0{member}\0"
        raise TypeError(f"{type(member).__name__} is not JSON")

    text = json.dumps(value, default=marked, ensure_ascii=False, separators=(",", ":"))
    return re.sub(r'"\\u0000([^"\\]*)\\u0000"', r"\1", text).encode()
