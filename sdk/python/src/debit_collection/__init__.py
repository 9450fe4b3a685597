"""Client of the debit collection service. `webhooks`, `testing` and `bank_server` are modules."""

from . import errors
from .amounts import Pesewas
from .async_client import AsyncBankReports, AsyncDebitCollection
from .client import BankReports, DebitCollection
from .version import __version__

__all__ = [
    "AsyncBankReports",
    "AsyncDebitCollection",
    "BankReports",
    "DebitCollection",
    "Pesewas",
    "__version__",
    "errors",
]
