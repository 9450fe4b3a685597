"""Completes the replies of a bank (docs/bank-protocol.md)."""

import json
import math
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
    if not _is_text(result.get("bank_reference") or "none", 255):
        raise ValueError("bank_reference must be text of at most 255 characters")
    reply = {**result, "uuid": request["uuid"], "amount": request["amount"]}
    if isinstance(reply.get("fee"), (Decimal, Pesewas)):
        reply["fee"] = amount_text(reply["fee"])
    # A store must not keep what can never be sent.
    json.dumps(reply, allow_nan=False)
    return reply


def _is_text(value: object, longest: float = math.inf) -> bool:
    return isinstance(value, str) and value.strip() != "" and len(value) <= longest
