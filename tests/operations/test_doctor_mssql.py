"""What `doctor` asks SQL Server, against a driver that replays what servers were seen to answer."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.pool import StaticPool

from batchctl.domain.outcomes import HealthFinding, Result
from batchctl.store import engine
from batchctl.store.dialects.health import mssql_health
from batchctl.store.maintenance import examination, roles
from batchctl.store.tables import metadata
from batchctl.store.task_queues import SERVICE
from tests.store.sql_server import NOW, Rows, SqlServer, one
from tests.store.test_roles import GRANT

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
    with mssql_health.open_target(make_url(URLS[server.module]), tmp_path).connect() as made:
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

    (reading,) = mssql_health.rights(control, NEEDED)

    assert reading.result is Result.OK
    asked = [(sql, given) for sql, given in server.asked if "HAS_PERMS_BY_NAME(?" in sql]
    assert [(given[0], given[2]) for _, given in asked] == [
        (table, right) for table in ("BatchControl", "Setting") for right in ("SELECT", "INSERT", "UPDATE")
    ]


def granted_to(role: str) -> set[tuple[str, str, str]]:
    """Return what the script of roles grants a role: table, right and column, which is empty where it is for all."""
    return {
        (table, right, column)
        for rights, table, columns, granted in GRANT.findall(roles.script("mssql", None, {}))
        if role in granted.split(", ")
        for right in rights.split(", ")
        for column in columns.split(", ")
    }


@pytest.fixture
def judge() -> Iterator[Connection]:
    """SQLite, that carries out what is asked about rights, with SQL Server's functions for a member of the service role."""
    granted = granted_to(SERVICE)

    def has_perms_by_name(table: str, _kind: str, right: str, column: str = "", part: str = "") -> int | None:
        if part == "COLUMN" and right not in {"SELECT", "UPDATE", "REFERENCES"}:
            return None  # No column can be granted so.
        return int((table, right, "") in granted or (bool(part) and (table, right, column) in granted))

    with create_engine("sqlite://", poolclass=StaticPool).connect() as made:
        raw: Any = made.connection.dbapi_connection
        for count in (3, 5):
            raw.create_function("HAS_PERMS_BY_NAME", count, has_perms_by_name)
        raw.create_function("OBJECT_ID", 2, lambda name, _kind: name)
        raw.create_function("USER_NAME", 0, lambda: "etl")
        raw.create_function("DB_NAME", 0, lambda: "d")
        made.execute(text("ATTACH ':memory:' AS sys"))
        made.execute(text("CREATE TABLE sys.columns (object_id, name)"))
        for table in metadata.tables.values():
            for column in table.columns:
                made.execute(
                    text("INSERT INTO sys.columns VALUES (:table, :name)"), {"table": table.name, "name": column.name}
                )
        yield made


def lacking(judge: Connection) -> dict[str, str]:
    """Return the rights that doctor says the service role lacks, table by table."""
    return {one.tables: one.privileges for one in mssql_health.lacking(judge, examination._NEEDED)}


def test_a_right_to_columns_is_one_to_the_table(judge: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lacking(judge) == {}, "the script of roles grants what doctor asks for"

    whole = "SELECT OBJECT_ID(:name, 'U') AS found, HAS_PERMS_BY_NAME(:name, 'OBJECT', :privilege) AS may"
    monkeypatch.setattr(mssql_health, "_MAY", text(whole))
    granted_by_column = ("DataTrigger", "FileWatch", "OperatorRequest", "ProcessBatch", "Schedule")
    assert lacking(judge) == dict.fromkeys(granted_by_column, "UPDATE")


def test_what_the_service_may_not_do_is_lacking(judge: Connection) -> None:
    asked = {"ProcessControl": ("UPDATE",), "AuditLog": ("UPDATE",), "Schedule": ("INSERT", "UPDATE")}

    found = {one.tables: one.privileges for one in mssql_health.lacking(judge, asked)}
    assert found == {"ProcessControl": "UPDATE", "AuditLog": "UPDATE", "Schedule": "INSERT"}


def test_a_right_that_is_lacking_is_named_with_what_grants_it(server: SqlServer, control: Connection) -> None:
    names = ["found", "may"]
    answers: list[list[int | None]] = [[1, 1], [1, 0], [1, 0], [None, None], [None, None], [None, None]]
    server.when(r"HAS_PERMS_BY_NAME\(\?", *([Rows([answer], names)] for answer in answers))
    server.when(r"USER_NAME\(\)", [Rows([["etl", 1]], ["name", "may_connect"])])

    assert mssql_health.rights(control, NEEDED) == [
        HealthFinding(
            "rights",
            Result.FAIL,
            "User etl has no right to INSERT, UPDATE on BatchControl.",
            "as the tables' owner: GRANT INSERT, UPDATE ON BatchControl TO [etl];",
        )
    ]


def test_the_user_is_asked_for_by_what_the_server_calls_him(server: SqlServer, connection: Connection) -> None:
    server.when(r"USER_NAME\(\)", [Rows([["etl", 1]], ["name", "may_connect"])])

    (reading,) = mssql_health.target_rights(connection)

    assert reading.message == "Steps work as user etl."
    assert server.wording(r"HAS_PERMS_BY_NAME\(DB_NAME\(\), 'DATABASE', 'CONNECT'\)")


def test_the_facts_are_those_of_this_database(server: SqlServer, connection: Connection) -> None:
    names = ["name", "delayed_durability", "is_snapshot", "compatibility_level", "updateability"]
    server.when("sys.databases", [Rows([["etl", "DISABLED", 0, 120, "READ_WRITE"]], names)])

    found = {reading.check: reading for reading in mssql_health.durability(connection)}

    assert found["read committed snapshot"].result is Result.WARN
    assert found["read committed snapshot"].next_step == "ALTER DATABASE [etl] SET READ_COMMITTED_SNAPSHOT ON;"
    assert found["delayed durability"].result is found["updateability"].result is Result.OK
    assert found["compatibility level"].next_step == "ALTER DATABASE [etl] SET COMPATIBILITY_LEVEL = 140;"
    (asked,) = server.wording("sys.databases")
    assert asked.rstrip().endswith("FROM sys.databases WHERE database_id = DB_ID()")


def test_the_time_is_the_servers(server: SqlServer, connection: Connection) -> None:
    server.when(r"SYSUTCDATETIME\(\)", one(NOW))

    assert mssql_health.now(connection) == NOW.replace(tzinfo=UTC)
