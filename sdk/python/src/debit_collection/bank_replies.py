"""Completes the replies of a bank (docs/bank-protocol.md)."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from .amounts import Pesewas, amount_text
from .bank_requests import Kind, Result

_PAYMENT = {"paid": ("bank_reference",), "underway": (), "rejected": ("message",)}
# The members without which the service refuses a reply.
_MEMBERS: dict[Kind, dict[str, tuple[str, ...]]] = {
    "submission": {
        "accepted": ("bank_reference",),
        "rejected": ("code", "message"),
        "completed": ("bank_reference",),
        "failed": (),
    },
    "payout": _PAYMENT,
    "refund": _PAYMENT,
}
# Statuses whose wrong reference the service ignores.
_IGNORED = ("failed", "underway")

# The characters of `bank_reference` in docs/bank-protocol.json.
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_BLANKS = (
    r"\s\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
_CONTROL = re.compile(f"[{_CONTROLS}]")
_VISIBLE = re.compile(f"[^{_CONTROLS}{_BLANKS}]")


def complete_reply(kind: Kind, request: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """Returns a complete reply. A `fee` that is a Decimal or Pesewas becomes text.

    Raises ValueError for a result that the service would refuse, TypeError for one that is not JSON.
    """
    status = result["status"]
    if status not in _MEMBERS[kind]:
        raise ValueError(f"a {kind} cannot be {status}")
    missing = [name for name in _MEMBERS[kind][status] if not _is_text(result.get(name))]
    if missing:
        raise ValueError(f"a {kind} that is {status} needs {missing[0]} as text")
    reference = result.get("bank_reference")
    if reference is not None and status not in _IGNORED and not _is_line(reference):
        raise ValueError("bank_reference must be a line of 1 to 255 characters")
    reply = {**result, "uuid": request["uuid"], "amount": request["amount"]}
    if isinstance(reply.get("fee"), (Decimal, Pesewas)):
        reply["fee"] = amount_text(reply["fee"])
    if isinstance(reply.get("message"), str):
        # The service stores 2,000 characters, and refuses a reply above 16 KiB.
        reply["message"] = reply["message"].strip()[:2000]
    # A store must not keep what can never be sent.
    json.dumps(reply, allow_nan=False)
    return reply


def _is_text(value: object) -> bool:
    return isinstance(value, str) and _VISIBLE.search(value) is not None


def _is_line(value: Any) -> bool:
    return _is_text(value) and len(value) <= 255 and not _CONTROL.search(value)
