"""Locks on SQL Server: the leader's, and those of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from batchctl.store import engine, instances, leading
from batchctl.store.dialects import mssql
from tests.store.sql_server import (
    URLS,
    Rows,
    SqlServer,
    one,
    raising,
    server_error,
)


@pytest.fixture
def transaction(server: SqlServer) -> Iterator[Connection]:
    """A connection as the dialect's own functions are given one."""
    with engine.open_engine(URLS["pyodbc"], Path()).connect() as made:
        yield made


def test_the_session_that_blocks_is_named_with_what_ends_it(server: SqlServer, transaction: Connection) -> None:
    server.when("dm_tran_locks", one(61, "SSMS\x1b", "etl", "DESK1", "02:10:00"))

    assert mssql.DIALECT.blocker(transaction) == (
        "session 61 (SSMS\\x1b, etl on DESK1, transaction open since 02:10:00 UTC)",
        "KILL 61",
    )


def test_where_nobody_blocks_nobody_is_named(server: SqlServer, transaction: Connection) -> None:
    server.when("dm_tran_locks", [Rows([], [""] * 5)])

    assert mssql.DIALECT.blocker(transaction) is None


@pytest.mark.parametrize("number", [300, 297, 371])
def test_who_may_not_see_other_sessions_is_never_refused_but_names_nobody(
    server: SqlServer, transaction: Connection, number: int
) -> None:
    server.when("VIEW SERVER STATE", one(0))
    server.when("dm_tran_locks", raising(server_error(number, "VIEW SERVER STATE permission was denied")))

    assert mssql.DIALECT.blocker(transaction) is None
    assert instances.blocker(transaction) == "another program"
    assert server.wording("'VIEW SERVER PERFORMANCE STATE'"), "which servers from 2022 on ask for"


def test_only_sessions_of_this_database_that_have_changed_something_block(
    server: SqlServer, transaction: Connection
) -> None:
    mssql.DIALECT.blocker(transaction)
    (sql,) = server.wording("dm_tran_locks")
    conditions = re.split(r"\s+AND\s+|WHERE\s+|\s+ORDER BY", sql)

    assert {
        "l.resource_database_id = DB_ID()",
        "l.request_status = 'GRANT'",
        "l.request_session_id <> @@SPID",
        "l.request_mode NOT IN ('Sch-S', 'IS', 'S')",
    } <= set(conditions)
    assert sql.rstrip().endswith("ORDER BY a.transaction_begin_time")


def test_rows_that_others_keep_locked_are_passed_over(server: SqlServer, transaction: Connection) -> None:
    server.when("SELECT c.BatchControl_id", [Rows([[2]], ["BatchControl_id"])])
    server.when("FROM Resource", [Rows([[3], [4]], ["Resource_id"])])

    assert mssql.DIALECT.locked_instances(transaction, [1, 2]) == {1}
    assert mssql.DIALECT.lock_rows(transaction, "Resource", [3, 4])() == {3, 4}
    for sql, values in server.asked[-2:]:
        assert "WITH (UPDLOCK, ROWLOCK, READPAST)" in sql
        assert len(values) == 2


@pytest.mark.parametrize(("code", "is_had"), [(0, True), (1, True), (-1, False), (-3, False), (-999, False)])
def test_a_name_is_had_until_the_end_of_the_transaction_and_waited_for_but_a_moment(
    server: SqlServer, transaction: Connection, code: int, is_had: bool
) -> None:
    server.when("sp_getapplock", one(code))

    assert mssql.DIALECT.lock_name(transaction, "n") is is_had
    ((asked, values),) = [each for each in server.asked if "sp_getapplock" in each[0]]
    assert "@LockOwner = 'Transaction', @LockTimeout = 100;" in asked
    assert list(values) == ["n"]


def test_a_creation_locks_its_row(server: SqlServer, transaction: Connection) -> None:
    asked = len(server.asked)

    assert mssql.DIALECT.is_locked_intake(transaction, 7, [1]) is False
    assert [sql for sql, _ in server.asked[asked:]] == [
        "SELECT 1 FROM FileProcess WITH (UPDLOCK, ROWLOCK) WHERE FileProcess_id = ?;"
    ]


def test_a_row_of_leader_that_is_gone_is_made_under_its_number(server: SqlServer, transaction: Connection) -> None:
    """The server gives numbers itself, and refuses one that is given (error 544), unless it is told so first."""
    server.when("FROM Leader", [Rows([], ["Leader_id"])])
    server.when("INSERT INTO Leader", [Rows([(1,)], ["Number"])])

    leading.load_or_make(transaction)

    (made,) = server.wording("INSERT INTO Leader")
    assert made.startswith("SET IDENTITY_INSERT Leader ON; ")
    assert "; SET IDENTITY_INSERT Leader OFF; " in made
