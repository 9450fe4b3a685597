"""Errors of replies, with the published examples as samples."""

import json
import pickle
from typing import Any

import pytest

from debit_collection.errors import WaitTimeoutError, api_error

from .conftest import ROOT
from .faulty_server import problem

EXAMPLES = json.loads((ROOT / "docs/openapi.json").read_text())["components"]["examples"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_published_error_shows_its_members_but_no_details_in_its_text(name: str) -> None:
    body = EXAMPLES[name]["value"]
    error = api_error(400, {}, body)
    published = body["error"]
    assert [error.code, error.message, error.category, error.severity] == [
        published[member] for member in ("code", "message", "category", "severity")
    ]
    assert error.doc_url == published.get("doc_url")
    assert error.request_id == body["meta"]["request_id"]
    names = f": {', '.join(sorted(error.fields))}" if error.fields else ""
    request = f" (request {error.request_id})" if error.request_id else ""
    assert str(error) == f"400/{error.code} {error.message}{names}{request}"


REFUSED = api_error(422, {}, problem(422, 1007, {"amount": ["is required"]}).body)


@pytest.mark.parametrize("error", [REFUSED, WaitTimeoutError("DCS-1")])
def test_an_error_can_be_pickled(error: Any) -> None:
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), vars(copied)) == (type(error), str(error), vars(error))
