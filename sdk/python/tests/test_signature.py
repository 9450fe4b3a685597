"""Signatures of webhooks, checked against other implementations."""

import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, cast

import pytest
from standardwebhooks import Webhook as StandardWebhook

from debit_collection import testing, webhooks
from debit_collection.errors import SignatureError
from debit_collection.signature import body_signature, standard_signature

from .conftest import ROOT

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
OTHER = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
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


Headers = dict[str, str]


def only(*names: str) -> Callable[[Headers], Headers]:
    return lambda headers: {name: headers[name] for name in names}


def replaced(**changes: str) -> Callable[[Headers], Headers]:
    return lambda headers: {**headers, **{name.replace("_", "-"): text for name, text in changes.items()}}


STANDARD = ("webhook-id", "webhook-timestamp", "webhook-signature")

GENUINE: dict[str, tuple[Callable[[Headers], Headers], Any]] = {
    "all headers": (dict, SECRET),
    "several secrets": (dict, [OTHER, SECRET]),
    "an iterator of secrets": (dict, (secret for secret in [OTHER, SECRET])),
    "upper case": (lambda headers: {name.upper(): text for name, text in headers.items()}, SECRET),
    "only Standard Webhooks": (only(*STANDARD), SECRET),
    "only X-SVC-Signature": (only("x-svc-signature"), SECRET),
    "X-SVC-Signature with its time": (only("x-svc-signature", "x-svc-timestamp"), SECRET),
    "a prefix": (lambda headers: {"X-SVC-Signature": "sha256=" + headers["x-svc-signature"]}, SECRET),
    "the previous secret": (
        lambda headers: {"x-svc-signature": "0" * 64, "x-svc-signature-previous": headers["x-svc-signature"]},
        SECRET,
    ),
}


@pytest.mark.parametrize("name", GENUINE)
def test_a_genuine_webhook_is_accepted_with(name: str) -> None:
    change, secrets = GENUINE[name]
    body, headers = testing.signed(EVENT, SECRET)
    assert webhooks.verify(body.decode(), change(headers), secrets)["event"] == "transaction.completed"


OLD = str(int(time.time()) - 310)
FORGED: dict[str, tuple[Callable[[Headers], Headers], Any]] = {
    "another secret": (dict, OTHER),
    "no headers": (only(), SECRET),
    "an empty signature": (replaced(webhook_signature=""), SECRET),
    "no version": (
        lambda headers: {**headers, "webhook-signature": headers["webhook-signature"].removeprefix("v1,")},
        SECRET,
    ),
    "an X-SVC-Signature next to a wrong one": (replaced(webhook_signature="v1,AAAA"), SECRET),
    "another id": (replaced(webhook_id="evt_1"), SECRET),
    "another time": (
        lambda headers: {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) + 1)},
        SECRET,
    ),
    "an old time": (replaced(webhook_timestamp=OLD), SECRET),
    "no time": (only("webhook-id", "webhook-signature"), SECRET),
    "a fraction of time": (replaced(webhook_timestamp=f"{time.time()}"), SECRET),
    "digits of another script": (replaced(webhook_timestamp="١٧٩٥٢٦٢٤٠٠"), SECRET),
    "an old X-SVC-Timestamp": (
        lambda headers: {"x-svc-signature": headers["x-svc-signature"], "x-svc-timestamp": OLD},
        SECRET,
    ),
    "text that is not ASCII": (replaced(webhook_signature="v1,é\udcff"), SECRET),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_webhook_is_refused_with(name: str) -> None:
    change, secrets = FORGED[name]
    body, headers = testing.signed(EVENT, SECRET)
    with pytest.raises(SignatureError):
        webhooks.verify(body, change(headers), secrets)


def test_a_changed_body_is_refused() -> None:
    body, headers = testing.signed(EVENT, SECRET)
    for shown in (headers, only("x-svc-signature")(headers)):
        with pytest.raises(SignatureError):
            webhooks.verify(body.replace(b"100.00", b"900.00"), shown, SECRET)


@pytest.mark.parametrize("secrets", ["", [], [""], [SECRET, ""], "whsec_", "whsec_not base64", ()])
def test_a_secret_without_a_key_is_never_accepted(secrets: Any) -> None:
    body = b"{}"
    forged = {
        "x-svc-signature": body_signature("", body),
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(time.time())),
    }
    with pytest.raises(SignatureError):
        webhooks.verify(body, forged, secrets)
    with pytest.raises(ValueError, match="secret"):
        webhooks.Receiver(secrets, webhooks.memory_store(), {})


def test_a_signed_body_that_is_not_json_is_refused() -> None:
    with pytest.raises(SignatureError):
        webhooks.verify(b"no", {"x-svc-signature": body_signature(SECRET, b"no")}, SECRET)
