"""Defines the errors of the client. Their texts never contain credentials, bodies or personal data."""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, TypedDict, TypeGuard

from .wire import DebitDetail, DebitStatus


class _ExistingNames(TypedDict):
    """The members that each existing debit has."""

    reference: str
    uuid: str


class ExistingDebit(_ExistingNames, total=False):
    """Names the debit that has the partner_reference of a refused charge. An expired one has no status."""

    status: DebitStatus


class DebitCollectionError(Exception):
    """Is the root of all errors of this package."""

    attempts: int = 1
    """Attempts that the client made."""

    may_exist: bool = False
    """A debit of the charge may exist: the service has not refused each attempt, or `existing` names one."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Supports pickle, as workers of a task queue need it."""
        return _restored, (type(self), self.args, self.__dict__)


class NetworkError(DebitCollectionError):
    """The connection failed without a complete reply; `__cause__` is the error of the transport."""


class RequestTimeoutError(NetworkError):
    """An attempt got no complete reply in time."""


class SignatureError(DebitCollectionError, ValueError):
    """A webhook is not from the service, or too old."""


class WaitTimeoutError(DebitCollectionError):
    """A debit had no outcome in time; `debit` is its last known state, None before the first reply."""

    may_exist = True

    def __init__(self, reference: str, debit: DebitDetail | None = None) -> None:
        super().__init__(f"{reference} has no outcome yet")
        self.debit = debit


class ApiError(DebitCollectionError):
    """A reply that is not a success. docs/errors.md, or `doc_url`, has advice for each code.

    `code`, `category` and `severity` are None if the reply is not from the service. `retry_after` is in
    seconds.
    """

    def __init__(self, status: int, headers: Mapping[str, str], envelope: Mapping[str, Any]) -> None:
        problem: Mapping[str, Any] = envelope.get("error") or {}
        details = envelope.get("details", problem.get("details"))
        self.status = status
        self.code: int | None = problem.get("code")
        self.category: str | None = problem.get("category")
        self.severity: str | None = problem.get("severity")
        self.message: str = problem.get("message", "The reply is not from the service")
        self.details: Any = details
        self.fields: dict[str, list[str]] = fields_of(details)
        self.retry_after: float | None = _seconds(headers.get("retry-after"))
        self.request_id: str | None = (envelope.get("meta") or {}).get("request_id") or headers.get(
            "x-request-id"
        )
        self.doc_url: str | None = problem.get("doc_url")
        names = f": {', '.join(sorted(self.fields))}" if self.fields else ""
        code = f"/{self.code}" if self.code else ""
        request = f" (request {self.request_id})" if self.request_id else ""
        super().__init__(f"{status}{code} {self.message}{names}{request}")


class ValidationError(ApiError):
    """Fields are refused; `fields` has the messages of each."""


class AuthenticationError(ApiError):
    """The credential or the signature is refused."""


class ForbiddenError(ApiError):
    """The caller is suspended, or its address is not allowed."""


class NotFoundError(ApiError):
    """The object does not exist, or belongs to another provider."""


class ConflictError(ApiError):
    """The state of the object prevents the call."""


class DuplicateReferenceError(ConflictError):
    """The partner_reference has another debit, which `existing` names."""

    @property
    def existing(self) -> ExistingDebit:
        found: ExistingDebit = self.details
        return found


class LimitExceededError(ApiError):
    """The amount exceeds the maximum of the bank or the daily limit; `details` names the limit."""


class BankUnavailableError(ApiError):
    """The bank is down or has no connector. Unless `may_exist`, the customer can choose another bank."""


class RateLimitError(ApiError):
    """Too many requests in this minute."""


class ServerError(ApiError):
    """The service failed, or a reply of any status is not from the service."""


_BY_CODE: dict[int | None, type[ApiError]] = {
    2003: BankUnavailableError,
    3003: DuplicateReferenceError,
    3005: LimitExceededError,
}
_BY_STATUS: dict[int, type[ApiError]] = {
    401: AuthenticationError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    422: ValidationError,
    429: RateLimitError,
}


def api_error(status: int, headers: Mapping[str, str], envelope: object) -> ApiError:
    """Returns the error of a reply. `headers` has lower-case names, `envelope` any parsed body."""
    if not is_problem(envelope):
        return ServerError(status, headers, {})
    code = envelope["error"].get("code")
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status) or (ApiError if 400 <= status < 500 else ServerError)
    if status == 400 and kind is ApiError and fields_of(envelope.get("details")):
        kind = ValidationError
    return kind(status, headers, envelope)


def is_problem(envelope: object) -> TypeGuard[dict[str, Any]]:
    return (
        isinstance(envelope, dict)
        and envelope.get("success") is False
        and isinstance(envelope.get("error"), dict)
    )


def fields_of(details: object) -> dict[str, list[str]]:
    """Returns the messages of each refused field; empty if the details have another form."""
    if not isinstance(details, dict):
        return {}
    return {name: messages for name, messages in details.items() if isinstance(messages, list)}


def _restored(kind: type[DebitCollectionError], args: tuple[Any, ...], members: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.__dict__.update(members)
    return error


def _seconds(text: str | None) -> float | None:
    """Parses Retry-After: seconds, or the date that some proxies send. Returns None for a past date."""
    if text and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        return float(text) if "." in text else int(text)
    try:
        seconds = math.ceil(parsedate_to_datetime(text or "").timestamp() - time.time())
    except ValueError:
        return None
    return seconds if seconds >= 0 else None
