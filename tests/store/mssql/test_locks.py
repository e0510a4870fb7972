"""Locks on SQL Server: the leader's, and those of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from batchctl.domain.errors import Refused
from batchctl.domain.leader import Holder
from batchctl.store import engine
from batchctl.store.dialects import mssql
from batchctl.store.leader_lock import SessionLeaderLock
from tests.store.sql_server import (
    URLS,
    Answer,
    Rows,
    SqlServer,
    one,
    raising,
    server_error,
)


@pytest.fixture
def lock(server: SqlServer, tmp_path: Path) -> SessionLeaderLock:
    return SessionLeaderLock(engine.open_engine(URLS["pyodbc"], tmp_path))


@pytest.mark.parametrize("code", [0, 1])
def test_a_lock_that_is_granted_is_held_under_the_controllers_name(
    server: SqlServer, lock: SessionLeaderLock, code: int
) -> None:
    server.when("sp_getapplock", one(code))
    assert lock.take("etl-1:4711")
    assert lock.take("etl-1:4711")
    assert server.closed == 0
    lock.release()
    names = [values[0] for sql, values in server.asked if "CONTEXT_INFO" in sql]

    assert names[-1] == "etl-1:4711"
    (asked,) = server.said("sp_getapplock")
    assert "@LockOwner = 'Session'" in asked
    assert "@LockTimeout = 0" in asked
    assert server.closed == 1


def test_a_lock_that_another_session_has_is_not_waited_for(server: SqlServer, lock: SessionLeaderLock) -> None:
    server.when("sp_getapplock", one(-1), one(0))

    assert not lock.take("etl-1")
    assert server.closed == 1
    assert lock.take("etl-1")


@pytest.mark.parametrize("code", [-2, -3, -999, None])
def test_a_lock_that_fails_is_never_taken_for_granted(
    server: SqlServer, lock: SessionLeaderLock, code: int | None
) -> None:
    server.when("sp_getapplock", one(code))

    assert not lock.take("etl-1")
    assert server.closed == 1


def test_nobody_holds_a_lock_that_could_be_had(server: SqlServer, lock: SessionLeaderLock) -> None:
    server.when("APPLOCK_TEST", one(1))

    assert lock.holder() is None


@pytest.mark.parametrize(
    "answers",
    [
        raising(server_error(300, "VIEW SERVER STATE permission was denied")),
        raising(server_error(297, "The user does not have permission to perform this action.")),
        [Rows([], ["", ""])],
    ],
)
def test_a_holder_that_may_not_be_seen_is_there_all_the_same(
    server: SqlServer, lock: SessionLeaderLock, answers: list[Answer]
) -> None:
    server.when("APPLOCK_TEST", one(0))
    server.when("dm_tran_locks", answers)

    assert "may not see" in str(lock.holder())


def test_a_lock_that_was_lost_is_taken_again(server: SqlServer, lock: SessionLeaderLock) -> None:
    assert lock.take("etl-1")
    server.when("APPLOCK_MODE", one("NoLock"), one("Exclusive"))
    assert not lock.take("etl-1")  # it lets go of the dead session
    assert server.closed == 1
    assert lock.take("etl-1")
    assert len(server.said("sp_getapplock")) == 2


@pytest.fixture
def transaction(server: SqlServer) -> Iterator[Connection]:
    """A connection as the dialect's own functions are given one."""
    with engine.open_engine(URLS["pyodbc"], Path()).connect() as made:
        yield made


def test_the_session_that_blocks_is_named_with_what_ends_it(server: SqlServer, transaction: Connection) -> None:
    server.when("dm_tran_locks", one(61, "SSMS\x1b", "etl", "DESK1", "02:10:00"))

    assert mssql.blocker(transaction) == (
        "session 61 (SSMS\\x1b, etl on DESK1, transaction open since 02:10:00 UTC)",
        "KILL 61",
    )


def test_where_nobody_blocks_nobody_is_named(server: SqlServer, transaction: Connection) -> None:
    server.when("dm_tran_locks", [Rows([], [""] * 5)])

    assert mssql.blocker(transaction) is None


def test_only_sessions_of_this_database_that_have_changed_something_block(
    server: SqlServer, transaction: Connection
) -> None:
    mssql.blocker(transaction)
    (sql,) = server.said("dm_tran_locks")
    conditions = re.split(r"\s+AND\s+|WHERE\s+|\s+ORDER BY", sql)

    assert {
        "l.resource_database_id = DB_ID()",
        "l.request_status = 'GRANT'",
        "l.request_session_id <> @@SPID",
        "l.request_mode NOT IN ('Sch-S', 'IS', 'S')",
    } <= set(conditions)
    assert sql.rstrip().endswith("ORDER BY a.transaction_begin_time")


def test_the_holder_of_the_lock_is_looked_for_in_this_database_alone(
    server: SqlServer, lock: SessionLeaderLock
) -> None:
    server.when("APPLOCK_TEST", one(0))
    server.when("dm_tran_locks", one("etl-2:815", 61))

    assert lock.holder() == Holder("etl-2:815", 61)
    (sql,) = server.said("dm_tran_locks")
    assert "l.resource_database_id = DB_ID()" in sql
    assert "l.request_status = 'GRANT'" in sql


def test_a_long_name_stands_for_nobody_else_in_the_64_characters_of_a_session(
    server: SqlServer, lock: SessionLeaderLock
) -> None:
    server.when("sp_getapplock", one(0))
    for number in (1, 2):
        assert lock.take(f"{'h' * 60}:4711:1a2b3c0{number}")
        lock.release()
    names = [str(values[0]) for sql, values in server.asked if "CONTEXT_INFO" in sql]
    one_name, other = [name for name in names if name.startswith("hhh")]

    assert one_name != other
    assert max(len(one_name), len(other)) <= 64


def test_a_leader_is_left_to_a_dba_who_is_told_what_ends_it(lock: SessionLeaderLock) -> None:
    with pytest.raises(Refused, match="session 61 has the leader's lock still") as refused:
        lock.wrest(Holder("etl-2:815", 61))

    assert refused.value.next_step == "let a DBA: KILL 61"


def test_rows_that_others_keep_locked_are_passed_over(server: SqlServer, transaction: Connection) -> None:
    server.when("SELECT c.BatchControl_id", [Rows([[2]], ["BatchControl_id"])])
    server.when("FROM Resource", [Rows([[3], [4]], ["Resource_id"])])

    assert mssql.locked_instances(transaction, [1, 2]) == {1}
    assert mssql.lock_rows(transaction, "Resource", [3, 4])() == {3, 4}
    for sql, values in server.asked[-2:]:
        assert "WITH (UPDLOCK, ROWLOCK, READPAST)" in sql
        assert len(values) == 2


@pytest.mark.parametrize(("code", "is_had"), [(0, True), (1, True), (-1, False), (-3, False), (-999, False)])
def test_a_name_is_had_until_the_end_of_the_transaction_and_waited_for_but_a_moment(
    server: SqlServer, transaction: Connection, code: int, is_had: bool
) -> None:
    server.when("sp_getapplock", one(code))

    assert mssql.lock_name(transaction, "n") is is_had
    ((asked, values),) = [each for each in server.asked if "sp_getapplock" in each[0]]
    assert "@LockOwner = 'Transaction', @LockTimeout = 100;" in asked
    assert list(values) == ["n"]


def test_a_creation_locks_its_row(server: SqlServer, transaction: Connection) -> None:
    asked = len(server.asked)

    assert mssql.is_locked_intake(transaction, 7, [1]) is False
    assert [sql for sql, _ in server.asked[asked:]] == [
        "SELECT 1 FROM FileProcess WITH (UPDLOCK, ROWLOCK) WHERE FileProcess_id = ?;"
    ]
