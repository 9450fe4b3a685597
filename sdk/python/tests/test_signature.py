"""Signatures of webhooks, checked against other implementations."""

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, cast
from unittest.mock import patch

import pytest
from standardwebhooks import Webhook as StandardWebhook

from debit_collection import testing, webhooks
from debit_collection.errors import SignatureError
from debit_collection.signature import body_signature, standard_signature

from .conftest import ROOT, cases_in, named

CASES = cases_in("webhooks")
SECRET, OTHER = CASES["secret"], CASES["other_secret"]
UNREADABLE = ["[" * 100_000, '{"event":"ping","data":1e99999999999999999999}']
PAGE = (ROOT / "docs/webhooks.md").read_text()
EVENT = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0], parse_float=Decimal)

IsGenuine = Callable[[Mapping[str, str], bytes, str], bool]


def published_snippet() -> IsGenuine:
    """Returns the function that docs/webhooks.md shows."""
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0], names)
    return cast(IsGenuine, names["is_genuine"])


def test_the_signatures_are_those_of_the_service() -> None:
    body = '{"event":"transaction.completed","data":{"amount":100.00,"narration":"Nyansapɔ"}}'.encode()
    # The expected values of test/webhooks/http/signature.test.ts.
    assert body_signature(SECRET, body) == "df9bb07d7e19eda70a9d97dd7131487057eaec3ca62332994fda68b073721b2a"
    signed = b"evt_1988055307469803.1735812000." + body
    assert standard_signature(SECRET, signed) == "v1,t5tU1hFJSksQsi9BpZm8SW8S+97yvKUOn3EvkByBpdk="


def test_a_signed_event_passes_other_implementations() -> None:
    body, headers = testing.signed(EVENT, SECRET)
    assert StandardWebhook(SECRET).verify(body, headers) == json.loads(body)
    assert published_snippet()(headers, body, SECRET)
    assert not published_snippet()(headers, body, OTHER)
    for digits in (309, 5_000):
        assert not published_snippet()({**headers, "webhook-timestamp": "9" * digits}, body, SECRET)
    forged = base64.b64encode(
        hmac.digest(b"", f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body, "sha256")
    )
    for empty in ("", "whsec_", "whsec_!"):
        assert not published_snippet()({**headers, "webhook-signature": f"v1,{forged.decode()}"}, body, empty)
    own = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert headers["x-svc-signature"] == own
    assert b'"amount":100.00' in body


def test_events_of_other_implementations_pass() -> None:
    body = json.dumps({"event": "ping", "event_id": "evt_1", "data": {}})
    now = time.time()
    signature = StandardWebhook(SECRET).sign("evt_1", datetime.fromtimestamp(now, timezone.utc), body)
    headers = {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": str(int(now)),
        "Webhook-Signature": f"v1a,other v1,AAAA {signature}",
    }
    assert webhooks.verify(body, headers, SECRET)["event"] == "ping"


def test_amounts_are_exact() -> None:
    event: Any = webhooks.verify(*testing.signed(EVENT, SECRET), SECRET)
    assert str(event["data"]["transaction"]["amount"]) == "100.00"
    assert type(event["data"]["transaction"]["amount"]) is Decimal


def test_signed_adds_what_an_event_lacks() -> None:
    first, second = (testing.signed({"event": "ping"}, SECRET) for _ in range(2))
    event: Any = webhooks.verify(*first, SECRET)
    assert first.headers["x-svc-event-id"] == event["event_id"] != second.headers["x-svc-event-id"]
    assert re.fullmatch(r"dlv_\d+_[0-9a-f]{16}", first.headers["x-svc-delivery-id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["timestamp"])


def delivered(case: dict[str, Any]) -> tuple[bytes, dict[str, str], Any]:
    """Returns body, headers and secrets of a case."""
    now = int(time.time())
    with patch("time.time", return_value=now + case.get("signed_at", 0)):
        body, headers = testing.signed(CASES["event"], SECRET)
    base64 = headers["webhook-signature"].removeprefix("v1,")
    values = {**headers, "base64": base64, "next": str(now + 1), "old": str(now - 301)}

    def filled(text: str) -> str:
        return re.sub(r"\{([\w-]+)\}", lambda found: values[found[1]], text)

    changes = {name: filled(text) for name, text in case.get("set", {}).items()}
    sent = {**{name: headers[name] for name in case.get("only", headers)}, **changes}
    values["body"] = body.decode()
    return filled(case.get("body", "{body}")).encode(), sent, case.get("secrets", SECRET)


@pytest.mark.parametrize("case", CASES["genuine"], ids=named)
def test_a_genuine_webhook_is_accepted(case: dict[str, Any]) -> None:
    body, headers, secrets = delivered(case)
    is_required = case.get("require_standard", False)
    event = webhooks.verify(body.decode(), headers, secrets, require_standard=is_required)
    assert event == webhooks.verify(body, headers, iter([OTHER, SECRET])) == CASES["event"]


@pytest.mark.parametrize("case", CASES["forged"], ids=named)
def test_a_forged_webhook_is_rejected(case: dict[str, Any]) -> None:
    with pytest.raises(SignatureError):
        webhooks.verify(*delivered(case), require_standard=case.get("require_standard", False))


@pytest.mark.parametrize("secrets", [*CASES["secrets_without_a_key"], ()])
def test_a_secret_without_a_key_raises_a_value_error_and_no_signature_error(secrets: Any) -> None:
    body = b"{}"
    forged = {
        "x-svc-signature": body_signature("", body),
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(time.time())),
    }
    with pytest.raises(ValueError, match="secret") as raised:
        webhooks.verify(body, forged, secrets)
    assert not isinstance(raised.value, SignatureError)
    with pytest.raises(ValueError, match="secret"):
        webhooks.Receiver(secrets, webhooks.memory_store(), {})


@pytest.mark.parametrize("text", [*CASES["malformed"], *UNREADABLE])
def test_a_signed_body_that_is_not_an_event_is_refused(text: str) -> None:
    body = text.encode()
    headers = {"x-svc-signature": body_signature(SECRET, body)}
    with pytest.raises(SignatureError, match="not an event"):
        webhooks.verify(body, headers, SECRET)
    assert webhooks.Receiver(SECRET, webhooks.memory_store(), {}).receive(body, headers) == 401
