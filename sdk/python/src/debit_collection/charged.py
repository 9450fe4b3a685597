"""Defines the result of a charge, and compares a debit with the charge that may have created it."""

import json
import re
from typing import Any, TypedDict

from . import wire
from .calls import read_json

# The service shows a narration in one line.
LINE_CHARACTERS = re.compile("[\t\r\n\u2028\u2029]")


class ChargeResult(TypedDict):
    """The reply to a charge.

    `replayed` is True if the debit existed, perhaps from an earlier attempt of this call.
    """

    reference: str
    uuid: str
    status: wire.DebitStatus
    timestamp: str
    bank: wire.Bank
    replayed: bool


def is_charged(debit: wire.DebitDetail, body: dict[str, Any]) -> bool:
    return all(comparison(debit, body).values())


def comparison(debit: wire.DebitDetail, body: dict[str, Any]) -> dict[str, bool]:
    """Returns for each field of a charge whether the debit has its value. Banks can add metadata."""
    metadata: dict[str, object] = read_json(json.dumps(body.get("metadata") or {}))
    return {
        "phone_number": debit["customer"]["phone_number"] == body["phone_number"],
        "bank_identifier": debit["bank"]["identifier"] == body["bank_identifier"],
        "amount": debit["amount"] == body["amount"],
        "currency": debit["currency"] == body["currency"],
        "narration": debit["narration"] == LINE_CHARACTERS.sub(" ", body["narration"]),
        "partner_reference": debit["partner_reference"] == body["partner_reference"],
        "metadata": (debit["metadata"] or {}).items() >= metadata.items(),
    }
