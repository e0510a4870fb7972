"""Which driver for SQL Server is chosen, and what is said where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from batchctl.domain.errors import ConfigurationError
from batchctl.store import engine
from batchctl.store.maintenance import examination
from tests.store.sql_server import (
    SqlServer,
)


def driver_of(url: str, directory: Path) -> str:
    return engine.open_engine(url, directory).dialect.driver


@pytest.mark.parametrize("url", ["mssql://u@h/d", "sqlserver://u@h/d"])
def test_a_plain_url_takes_the_driver_that_is_there(server: SqlServer, tmp_path: Path, url: str) -> None:
    assert driver_of(url, tmp_path) == "pyodbc"


@pytest.mark.parametrize("url", ["mssql://u@h/d", "sqlserver://u@h/d", "mssql+pyodbc://u@h/d"])
def test_doctor_looks_at_a_connection_through_the_driver_that_steps_take(
    server: SqlServer, tmp_path: Path, url: str
) -> None:
    made = examination.open_target(url, tmp_path)

    assert (made.dialect.name, made.dialect.driver) == ("mssql", "pyodbc")
    assert made.url.query["driver"] == "ODBC Driver 18 for SQL Server"


def test_a_plain_url_takes_mssql_python_where_odbc_has_no_driver(
    server: SqlServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bundled = SqlServer("mssql_python").driver
    server.odbc_drivers = ("SQL Server", "FreeTDS")
    monkeypatch.setitem(sys.modules, "mssql_python", bundled)

    assert driver_of("mssql://u@h/d", tmp_path) == "mssqlpython"


def test_a_plain_url_takes_mssql_python_where_pyodbc_is_missing(python_server: SqlServer, tmp_path: Path) -> None:
    assert driver_of("mssql://u@h/d", tmp_path) == "mssqlpython"


def test_an_odbc_driver_that_is_named_is_taken(server: SqlServer, tmp_path: Path) -> None:
    made = engine.open_engine("mssql+pyodbc://u@h/d?driver=FreeTDS&port=1444", tmp_path)
    with made.connect():
        pass

    assert "DRIVER={FreeTDS}" in server.connected[0][0]
    # Or FreeTDS would cut long texts.
    assert made.dialect.bind_typing.name == "NONE"


@pytest.mark.parametrize(
    ("url", "module", "fixes"),
    [
        ("mssql://u@h/d", "nothing", ("batchctl[sqlserver]", "batchctl[sqlserver-bundled]")),
        ("mssql+pyodbc://u@h/d", "mssql_python", ("pip install 'batchctl[sqlserver]'",)),
        ("mssql+mssqlpython://u@h/d", "pyodbc", ("pip install 'batchctl[sqlserver-bundled]'",)),
        ("mssql+pymssql://u@h/d", "pyodbc", ("mssql+pyodbc://", "mssql+mssqlpython://")),
    ],
)
def test_a_missing_driver_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, module: str, fixes: tuple[str, ...]
) -> None:
    SqlServer(module).install(monkeypatch)
    with pytest.raises(ConfigurationError) as missing:
        engine.open_engine(url, tmp_path)

    assert all(fix in str(missing.value.next_step) for fix in fixes)


def test_a_missing_odbc_driver_is_named(server: SqlServer, tmp_path: Path) -> None:
    server.odbc_drivers = ()
    with pytest.raises(ConfigurationError, match="ODBC driver for SQL Server is not installed") as missing:
        engine.open_engine("mssql+pyodbc://u@h/d", tmp_path)
    assert "ODBC Driver 18" in str(missing.value.next_step)
