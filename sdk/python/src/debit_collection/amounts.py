"""Converts amounts to the text that the API publishes. No amount is ever a float."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Pesewas:
    """An amount in whole pesewas; `Pesewas(10000)` is 100.00 GHS."""

    count: int

    def __post_init__(self) -> None:
        if type(self.count) is not int:
            raise TypeError("Pesewas needs an int")


Amount = str | Pesewas | Decimal


def amount_text(amount: Amount) -> str:
    """Returns the text with two decimals.

    Raises TypeError for int, float and bool, ValueError for a third decimal.
    """
    if isinstance(amount, str):
        return amount
    if isinstance(amount, Pesewas):
        return f"{Decimal(amount.count).scaleb(-2):.2f}"
    if not isinstance(amount, Decimal):
        raise TypeError(f'an amount is "100.00", Pesewas(10000) or a Decimal, never {type(amount).__name__}')
    text = f"{amount:.2f}"
    if not amount.is_finite() or Decimal(text) != amount:
        raise ValueError("an amount has at most two decimals")
    return text
