"""Client of the debit collection service. `webhooks`, `testing` and `bank_server` are modules."""

from . import errors
from .amounts import Pesewas
from .async_client import AsyncDebitCollection
from .client import DebitCollection
from .version import __version__

__all__ = ["AsyncDebitCollection", "DebitCollection", "Pesewas", "__version__", "errors"]
