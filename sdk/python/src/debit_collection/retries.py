"""Decides whether to retry a call, and whether a failed attempt can have created a charge."""

from collections.abc import Callable

from .errors import (
    ApiError,
    BankUnavailableError,
    DebitCollectionError,
    DuplicateReferenceError,
    NetworkError,
    ServerError,
)

DELAY_MAX = 60.0
BANK_DELAY_MAX = 4.0
"""The customer can choose another bank instead of a longer wait."""


def retry_delay(error: DebitCollectionError, attempt: int, jitter: Callable[[], float]) -> float | None:
    """Returns the seconds before the next attempt, None if a retry is useless or due too late."""
    backoff = min(2.0 ** min(attempt - 1, 10), DELAY_MAX)
    retry_after, longest = 0.0, DELAY_MAX
    if isinstance(error, ApiError):
        if error.status not in (408, 429) and error.status < 500:
            return None
        retry_after = error.retry_after or 0.0
    elif not isinstance(error, NetworkError):
        return None
    if isinstance(error, BankUnavailableError):
        longest = BANK_DELAY_MAX
    return max(retry_after, backoff * (0.5 + jitter() / 2)) if retry_after <= longest else None


def is_refusal(error: DebitCollectionError) -> bool:
    """Reports whether the attempt neither created a debit nor found an existing one."""
    if not isinstance(error, ApiError) or error.status == 408:
        return False
    return not isinstance(error, (ServerError, DuplicateReferenceError))
