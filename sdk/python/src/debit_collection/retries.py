"""Decides about retries, and about the charges of failed attempts."""

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


def retry_delay(error: DebitCollectionError, attempt: int, jitter: Callable[[], float]) -> float | None:
    """Returns the seconds before the next attempt, None if a retry is useless or due too late."""
    backoff = min(2.0 ** min(attempt - 1, 10), DELAY_MAX)
    if isinstance(error, ApiError):
        if error.status not in (408, 429) and error.status < 500:
            return None
        if error.retry_after is not None:
            # The customer can choose another bank instead of a longer wait.
            longest = backoff if isinstance(error, BankUnavailableError) else DELAY_MAX
            return error.retry_after if error.retry_after <= longest else None
    elif not isinstance(error, NetworkError):
        return None
    return backoff * (0.5 + jitter() / 2)


def is_refusal(error: DebitCollectionError) -> bool:
    """Reports whether the attempt certainly created nothing, and found nothing that exists."""
    if not isinstance(error, ApiError) or error.status == 408:
        return False
    return not isinstance(error, (ServerError, DuplicateReferenceError))
