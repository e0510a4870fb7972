"""Servers that can be reached, and ways to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from batchctl.store import engine
from batchctl.store.transactions import StoreTransactions
from tests.store.sql_server import (
    URLS,
    SqlServer,
    transactions_of,
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> SqlServer:
    """A server that can be reached by pyodbc."""
    made = SqlServer()
    made.install(monkeypatch)
    return made


@pytest.fixture
def python_server(monkeypatch: pytest.MonkeyPatch) -> SqlServer:
    """A server that can be reached by mssql-python."""
    made = SqlServer("mssql_python")
    made.install(monkeypatch)
    return made


@pytest.fixture
def transactions(server: SqlServer, tmp_path: Path) -> StoreTransactions:
    return transactions_of(server, tmp_path)


@pytest.fixture
def connection(server: SqlServer, tmp_path: Path) -> Iterator[Connection]:
    with engine.open_engine(URLS["pyodbc"], tmp_path).connect() as made:
        yield made
