"""What `doctor` asks SQL Server, against a driver that replays what servers were seen to answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import pytest
from sqlalchemy import Connection, make_url

from batchctl.domain.health import Reading, Result
from batchctl.store import engine
from batchctl.store.dialects.health import mssql
from tests.store.sql_server import NOW, Rows, SqlServer, one

URLS = {"pyodbc": "mssql+pyodbc://u:p@h/d?driver=ODBC+Driver+18", "mssql_python": "mssql+mssqlpython://u:p@h/d"}


@pytest.fixture(params=URLS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SqlServer:
    """A server that can be reached by one of the drivers."""
    made = SqlServer(request.param)
    made.install(monkeypatch)
    return made


@pytest.fixture
def connection(server: SqlServer, tmp_path: Path) -> Iterator[Connection]:
    """A connection of the doctor's."""
    with mssql.open_target(make_url(URLS[server.module]), tmp_path).connect() as made:
        yield made


@pytest.fixture
def control(server: SqlServer, tmp_path: Path) -> Iterator[Connection]:
    """A connection to the control database, where alone rights to tables are asked for."""
    with engine.open_engine(URLS[server.module], tmp_path).connect() as made:
        yield made


NEEDED = {"BatchControl": ["SELECT", "INSERT", "UPDATE"], "Setting": ["SELECT", "INSERT", "UPDATE"]}


def test_a_login_is_given_up_after_a_while(server: SqlServer, connection: Connection) -> None:
    ((_, given),) = server.connected

    assert given["timeout"] == 10


def test_every_right_to_every_table_is_asked_for(server: SqlServer, control: Connection) -> None:
    server.when(r"HAS_PERMS_BY_NAME\(\?", [Rows([[1, 1]], ["found", "may"])])

    (reading,) = mssql.rights(control, NEEDED)

    assert reading.result is Result.OK
    asked = [(sql, given) for sql, given in server.asked if "HAS_PERMS_BY_NAME(?" in sql]
    assert [(given[0], given[2]) for _, given in asked] == [
        (table, right) for table in ("BatchControl", "Setting") for right in ("SELECT", "INSERT", "UPDATE")
    ]
    # The script of roles grants columns: a right to any of them is one, where columns can be granted.
    for sql, (name, _, right, *others) in asked:
        assert "WHEN ? IN ('SELECT', 'UPDATE') THEN" in sql
        assert "MAX(HAS_PERMS_BY_NAME(?, 'OBJECT', ?, c.name, 'COLUMN'))" in sql
        assert others == [right, name, right, name]


def test_a_right_that_is_lacking_is_named_with_what_grants_it(server: SqlServer, control: Connection) -> None:
    names = ["found", "may"]
    answers: list[list[int | None]] = [[1, 1], [1, 0], [1, 0], [None, None], [None, None], [None, None]]
    server.when(r"HAS_PERMS_BY_NAME\(\?", *([Rows([answer], names)] for answer in answers))
    server.when(r"USER_NAME\(\)", [Rows([["etl", 1]], ["name", "may_connect"])])

    assert mssql.rights(control, NEEDED) == [
        Reading(
            "rights",
            Result.FAIL,
            "User etl has no right to INSERT, UPDATE on BatchControl.",
            "as the tables' owner: GRANT INSERT, UPDATE ON BatchControl TO [etl];",
        )
    ]


def test_the_user_is_asked_for_by_what_the_server_calls_him(server: SqlServer, connection: Connection) -> None:
    server.when(r"USER_NAME\(\)", [Rows([["etl", 1]], ["name", "may_connect"])])

    (reading,) = mssql.target_rights(connection)

    assert reading.message == "Steps work as user etl."
    assert server.said(r"HAS_PERMS_BY_NAME\(DB_NAME\(\), 'DATABASE', 'CONNECT'\)")


def test_the_facts_are_those_of_this_database(server: SqlServer, connection: Connection) -> None:
    names = ["name", "delayed_durability", "is_snapshot", "compatibility_level", "updateability"]
    server.when("sys.databases", [Rows([["etl", "DISABLED", 0, 120, "READ_WRITE"]], names)])

    found = {reading.check: reading for reading in mssql.durability(connection)}

    assert found["read committed snapshot"].result is Result.WARN
    assert found["read committed snapshot"].next_step == "ALTER DATABASE [etl] SET READ_COMMITTED_SNAPSHOT ON;"
    assert found["delayed durability"].result is found["updateability"].result is Result.OK
    assert found["compatibility level"].next_step == "ALTER DATABASE [etl] SET COMPATIBILITY_LEVEL = 140;"
    (asked,) = server.said("sys.databases")
    assert asked.rstrip().endswith("FROM sys.databases WHERE database_id = DB_ID()")


def test_the_time_is_the_servers(server: SqlServer, connection: Connection) -> None:
    server.when(r"SYSUTCDATETIME\(\)", one(NOW))

    assert mssql.now(connection) == NOW.replace(tzinfo=UTC)
