"""The README's snippets run against a sandbox, in their order."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from debit_collection import testing

from .conftest import ROOT, served_asgi
from .test_receivers import Shop, event_of, fastapi_app
from .test_signature import SECRET

PAGE = (ROOT / "sdk/python/README.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_snippets_run(
    sandbox: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("API_KEY", "sk_sandbox_other")
    monkeypatch.setenv("BASE_URL", sandbox)
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    names: dict[str, Any] = {}
    for snippet in SNIPPETS:
        exec(snippet, names)
    printed = capsys.readouterr().out
    assert printed.startswith("completed 100.00\n{'phone_number': ['must be in E.164 format'")
    assert names["client"].get(names["reference"])["amount"] == "25.50"

    completed = event_of("transaction.completed", 3, event_id="evt_3")
    completed["data"]["transaction"]["partner_reference"] = "order-1"
    with served_asgi(names["app"]) as url:
        shop = Shop(url, [], [])
        older = event_of("transaction.completed", 2)
        assert [shop.send(completed), shop.send(completed), shop.send(older)] == [204, 204, 204]
    assert capsys.readouterr().out == "deliver order-1\n"

    async def count(_: object, db: sqlite3.Connection) -> None:
        print(db.execute("SELECT count(*) FROM applied_events").fetchone())

    with served_asgi(fastapi_app({"transaction.completed": count}, names["SqlStore"]())) as url:
        newer = event_of("transaction.completed", 4)
        assert Shop(url, [], []).send(newer) == 204
    assert capsys.readouterr().out == "(1,)\n"

    submission = {"uuid": "u", "amount": "1.00", "account_number": None}
    assert names["submit"](submission)["status"] == "rejected"
    assert testing.signed(completed, SECRET).headers["x-svc-event-id"] == "evt_3"


@pytest.mark.parametrize("file", ["README.md", "examples/fastapi_shop.py"])
def test_a_store_finds_an_event_by_an_index(file: str) -> None:
    text = (ROOT / "sdk/python" / file).read_text()
    table = r"CREATE TABLE IF NOT EXISTS \w+ \((?:[^()]|\([^()]*\))*\)"
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(";".join(re.findall(table, text)))
        queries = re.findall(r"SELECT 1 FROM [^\"]*", text)
        assert queries
        for query in queries:
            plan = db.execute(f"EXPLAIN QUERY PLAN {query}", ("x",) * query.count("?")).fetchall()
            assert "SCAN" not in str(plan), query
