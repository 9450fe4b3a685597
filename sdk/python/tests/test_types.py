"""Mistakes that mypy must report: a comment without its error fails `npm run test:python`."""

import pytest
from typing_extensions import assert_type

from debit_collection import AsyncDebitCollection, BankReports, DebitCollection, wire
from debit_collection.methods import AsyncListing, Listing

from .calling import ORDER

URL = "http://127.0.0.1:9"


def test_a_client_has_the_types_of_the_description() -> None:
    client = DebitCollection(api_key="sk_1", base_url=URL)
    assert_type(client.list(status="failed"), Listing[wire.Debit])
    assert_type(AsyncDebitCollection(api_key="sk_1", base_url=URL).list(), AsyncListing[wire.Debit])
    client.list(status="done")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        client.charge(**{**ORDER, "amount": 1})
    with pytest.raises(TypeError):
        BankReports(api_key="bt_1", base_url=URL).update("uuid", status="completed")  # type: ignore[call-arg]


def test_a_bank_lists_only_by_the_statuses_that_the_service_accepts() -> None:
    reports = BankReports(api_key="bt_1", base_url=URL)
    assert_type(reports.list("+233241234567", status="cancelled"), Listing[wire.BankTransaction])
    reports.list("+233241234567", status="reversed")  # type: ignore[arg-type]
