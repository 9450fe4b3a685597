"""Errors of replies, with the published examples as samples."""

import json
import pickle
from typing import Any

import pytest

from debit_collection import errors
from debit_collection.errors import ApiError, DuplicateReferenceError, ValidationError, api_error

from .conftest import ROOT

EXAMPLES = json.loads((ROOT / "docs/openapi.json").read_text())["components"]["examples"]


def problem(status: int, code: int, details: Any = None) -> ApiError:
    body = {"success": False, "error": {"code": code, "message": "Refused"}, "details": details}
    return api_error(status, {}, body)


@pytest.mark.parametrize(
    ("status", "code", "details", "kind"),
    [
        (422, 1007, {"phone_number": ["is required"]}, errors.ValidationError),
        (400, 3007, {"amount": ["must not exceed 10000.00 GHS"]}, errors.ValidationError),
        (400, 1400, ["body must be JSON"], errors.ApiError),
        (400, 3005, {"amount": ["exceeds the daily limit"], "limit": "daily"}, errors.LimitExceededError),
        (401, 1401, "unknown credential", errors.AuthenticationError),
        (402, 1402, {"bank_identifier": ["is not supported"]}, errors.ApiError),
        (403, 1451, None, errors.ForbiddenError),
        (404, 3404, None, errors.NotFoundError),
        (409, 3003, {"reference": "DCS-1", "uuid": "u", "status": "failed"}, errors.DuplicateReferenceError),
        (409, 1409, None, errors.ConflictError),
        (429, 1454, {"limit": 60}, errors.RateLimitError),
        (500, 1500, None, errors.ServerError),
        (503, 2003, {"bank_identifier": ["has no connector"]}, errors.ServerError),
    ],
)
def test_status_and_code_decide_about_the_class(
    status: int, code: int, details: Any, kind: type[ApiError]
) -> None:
    error = problem(status, code, details)
    assert type(error) is kind
    assert (error.status, error.code, error.details) == (status, code, details)


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


def test_fields_have_their_messages() -> None:
    error = problem(422, 1007, {"amount": ["is required"], "limit": "bank"})
    assert isinstance(error, ValidationError)
    assert error.fields == {"amount": ["is required"]}
    assert problem(400, 1400, ["body must be JSON"]).fields == {}


def test_a_duplicate_names_the_existing_debit() -> None:
    existing = {"reference": "DCS-1", "uuid": "u", "status": "failed"}
    error = problem(409, 3003, existing)
    assert isinstance(error, DuplicateReferenceError)
    assert error.existing == existing


@pytest.mark.parametrize("body", [None, [], "text", {"success": True}, {"success": False}, {"error": {}}])
def test_a_reply_that_is_not_an_envelope_is_a_server_error_with_its_status(body: Any) -> None:
    error = api_error(404, {"x-request-id": "r", "retry-after": "5"}, body)
    assert type(error) is errors.ServerError
    assert (error.status, error.code, error.request_id, error.retry_after) == (404, None, "r", 5)


@pytest.mark.parametrize(
    "error", [problem(422, 1007, {"amount": ["is required"]}), errors.WaitTimeoutError("DCS-1")]
)
def test_an_error_can_be_pickled(error: Any) -> None:
    copied = pickle.loads(pickle.dumps(error))
    assert (type(copied), str(copied), vars(copied)) == (type(error), str(error), vars(error))
