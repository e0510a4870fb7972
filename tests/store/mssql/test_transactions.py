"""Transactions on SQL Server, and their parts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseRefused, DatabaseUnreachable, OutcomeUnknown
from batchctl.ports import Boundary
from batchctl.store import engine
from batchctl.store.dialects import mssql, mssql_session
from batchctl.store.dialects.mssql_session import ServerError
from batchctl.store.transactions import StoreTransactions, savepoint
from tests.store.sql_server import (
    ADDED,
    BROKEN,
    C1,
    DONE,
    NOW,
    URLS,
    Answer,
    Count,
    Rows,
    SqlServer,
    add,
    link_error,
    one,
    raising,
    server_error,
)


def test_a_transaction_sees_what_others_have_committed_and_is_told_the_servers_time(
    server: SqlServer, tmp_path: Path
) -> None:
    told: list[datetime] = []
    transactions = StoreTransactions(engine.open_engine(URLS["pyodbc"], tmp_path), lambda: told.append)
    server.when("INSERT INTO FileProcess", ADDED)
    transactions.run(frozenset({Boundary.POPULATE}), add)
    (begin,) = server.wording("BEGIN TRANSACTION")

    assert told == [NOW.replace(tzinfo=UTC)]
    level = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;"
    assert begin.index(level) < begin.index("BEGIN TRANSACTION") < begin.index("SYSUTCDATETIME")
    assert server.asked[-1][0] == mssql._COMMIT


def test_what_an_earlier_one_left_open_is_undone_first(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    transactions.run(C1, add)

    assert server.wording("BEGIN TRANSACTION")[0].startswith("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;")


LATE: dict[str, list[Answer]] = {
    "on the way to its row": [Rows([], ["FileProcess_id"]), BROKEN],
    "behind its row": [*ADDED, BROKEN],
    "behind a count": [Count(1), BROKEN],
    "at once": [BROKEN],
}


@pytest.mark.parametrize("late", LATE)
def test_an_error_behind_the_first_result_is_an_error(
    server: SqlServer, transactions: StoreTransactions, late: str
) -> None:
    server.when("INSERT INTO FileProcess", LATE[late])
    with pytest.raises(ServerError, match="FOREIGN KEY") as raised:
        transactions.run(C1, add)

    assert raised.value.number == 547
    assert not server.wording("COMMIT TRANSACTION")
    assert server.asked[-1][0].startswith("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;")


@pytest.mark.parametrize("number", [3902, 3903])
def test_an_error_of_the_rollback_does_not_hide_the_first(
    server: SqlServer, transactions: StoreTransactions, number: int
) -> None:
    server.when("INSERT INTO FileProcess", raising(BROKEN), ADDED)
    server.when(r"\AIF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;\Z", raising(server_error(number, "no BEGIN")), DONE)
    with pytest.raises(ServerError, match="FOREIGN KEY"):
        transactions.run(C1, add)

    assert transactions.run(C1, add) == 7
    assert len(server.connected) == 1


def test_a_session_that_cannot_be_rolled_back_is_ended(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", raising(BROKEN), ADDED)
    server.when(r"\AIF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;\Z", raising(link_error()), DONE)
    with pytest.raises(ServerError, match="FOREIGN KEY"):
        transactions.run(C1, add)
    assert server.closed == 1

    with pytest.raises(DatabaseRefused, match="the session has been closed"):
        transactions.run(C1, add)
    assert transactions.run(C1, add) == 7
    assert len(server.connected) == 2


@pytest.mark.parametrize("number", [1205, 1222, 3960, 41302, 41305, 41325])
def test_the_whole_transaction_is_run_again(server: SqlServer, transactions: StoreTransactions, number: int) -> None:
    state = {1205: "40001", 1222: "HYT00"}.get(number, "42000")
    server.when("INSERT INTO FileProcess", raising(server_error(number, "try again", state)), ADDED)

    assert transactions.run(C1, add) == 7
    assert len(server.wording("BEGIN TRANSACTION")) == 2
    assert len(server.wording("COMMIT TRANSACTION")) == 1


@pytest.mark.full
def test_a_deadlock_that_does_not_end_is_named(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", raising(server_error(1205, "deadlocked", "40001")))
    with pytest.raises(Busy, match=r"stayed locked by another program"):
        transactions.run(C1, add)


@pytest.mark.parametrize(
    "error",
    [
        link_error(),
        link_error("08007", 0),
        server_error(10053, "aborted", "08S01"),
        server_error(64, "gone", "08S01"),
        server_error(233, "no process", "08001"),
        server_error(121, "semaphore", "08S01"),
        server_error(40613, "not available", "HY000"),
        server_error(0, "Query timeout expired", "HYT00"),
        server_error(51077, "the transaction had ended before its commit"),
        server_error(3902, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION."),
    ],
    ids=lambda error: error.args[1][-40:],
)
def test_a_lost_commit_is_never_taken_for_one_or_the_other(
    server: SqlServer, transactions: StoreTransactions, error: Exception
) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    server.when("COMMIT TRANSACTION", raising(error), DONE)
    with pytest.raises(OutcomeUnknown, match="it is unknown whether"):
        transactions.run(C1, add)

    assert len(server.wording("BEGIN TRANSACTION")) == 1
    assert transactions.run(C1, add) == 7
    assert len(server.connected) == 2


def test_what_a_lost_commit_may_still_write_is_waited_for_before_anything_is_read(
    server: SqlServer, transactions: StoreTransactions
) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    server.when("COMMIT TRANSACTION", raising(link_error()), DONE)
    server.when("READCOMMITTEDLOCK", raising(server_error(1222, "Lock request time out.", "HYT00")), one(0))
    with pytest.raises(OutcomeUnknown):
        transactions.run(C1, add)
    with pytest.raises(Conflict):
        transactions.run(C1, add, nowait=True)
    begun = len(server.wording("BEGIN TRANSACTION"))

    assert begun == 1
    assert transactions.run(C1, add) == 7
    assert len(server.wording("READCOMMITTEDLOCK")) == 2


def test_a_lock_that_a_commit_waits_for_in_vain_is_no_lost_commit(
    server: SqlServer, transactions: StoreTransactions
) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    server.when("COMMIT TRANSACTION", raising(server_error(1222, "Lock request time out.", "HYT00")), DONE)

    assert transactions.run(C1, add) == 7
    assert len(server.wording("BEGIN TRANSACTION")) == 2


def test_a_commit_that_is_refused_is_known_to_have_failed(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    server.when("COMMIT TRANSACTION", raising(server_error(3930, "The transaction cannot be committed.")))
    with pytest.raises(ServerError, match="cannot be committed"):
        transactions.run(C1, add)
    assert "ROLLBACK" in server.asked[-1][0]


@pytest.mark.parametrize("part", [nullcontext, savepoint])
def test_a_lost_connection_is_made_anew(
    server: SqlServer, transactions: StoreTransactions, part: Callable[[Connection], AbstractContextManager[None]]
) -> None:
    def add_in_a_part(connection: Connection) -> None:
        with part(connection):
            add(connection)

    server.when("INSERT INTO FileProcess", raising(link_error()), ADDED)
    with pytest.raises(DatabaseUnreachable, match="control on host:1433 cannot be reached: TCP Provider"):
        transactions.run(C1, add_in_a_part)

    assert transactions.run(C1, add) == 7
    assert len(server.connected) == 2


def isolated(connection: Connection) -> str:
    try:
        with savepoint(connection):
            add(connection)
    except BatchctlError:
        raise
    except Exception as error:  # noqa: BLE001 - as the controller isolates one instance from the next
        return str(error)
    return "added"


def test_a_part_alone_is_undone(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", raising(BROKEN))
    said = transactions.run(C1, isolated)

    assert "(error 547)" in said
    # With XACT_ABORT on, the error would have ended the transaction, and what follows would commit by itself.
    after = [sql for sql, _ in server.asked if "XACT_" in sql or "COMMIT TRANSACTION" in sql]
    assert after[-4:] == [mssql._BEGIN_PART, mssql._UNDO_PART, mssql._END_PART, mssql._COMMIT]
    assert mssql._BEGIN_PART == "SET XACT_ABORT OFF; SAVE TRANSACTION part;"
    assert mssql._END_PART == "SET XACT_ABORT ON;"


@pytest.mark.parametrize("state", [-1, 0])
def test_nothing_goes_on_behind_a_transaction_that_is_over(
    server: SqlServer, transactions: StoreTransactions, state: int
) -> None:
    server.when("INSERT INTO FileProcess", raising(BROKEN))
    server.when(r"XACT_STATE\(\)", one(state))
    with pytest.raises(DatabaseRefused, match="gave up a whole transaction"):
        transactions.run(C1, isolated)
    assert not server.wording("COMMIT TRANSACTION")


def test_a_deadlock_in_a_part_runs_the_whole_again(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", raising(server_error(1205, "deadlocked", "40001")), ADDED)

    assert transactions.run(C1, isolated) == "added"
    assert len(server.wording("BEGIN TRANSACTION")) == 2
    assert not server.wording("ROLLBACK TRANSACTION part")


@pytest.mark.parametrize("module", ["pyodbc", "mssql_python"])
def test_no_null_is_bound_for_whose_type_the_server_would_be_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str
) -> None:
    server = SqlServer(module)
    server.install(monkeypatch)
    connection = engine.open_engine(URLS[module], tmp_path).connect()
    session: Any = connection.connection.dbapi_connection
    cursor = session.cursor()
    cursor.setinputsizes([(1, 2, 3), None, (4, 5, 6)])
    cursor.execute("UPDATE t SET a = ?, b = ? WHERE c = ?", ["x", None, 7])

    sql, values = server.asked[-1]
    assert "UPDATE t SET a = ?, b = CAST(NULL AS nvarchar(4000)) WHERE c = ?" in sql
    assert values == ("x", 7)
    assert server.sizes == [[(1, 2, 3), (4, 5, 6)]]


def test_a_null_is_written_where_its_mark_stands() -> None:
    said = mssql_session._with_typed_nulls("SELECT '?''?', [?], ? -- ?\n, ?", [None, 1])

    assert said == ("SELECT '?''?', [?], CAST(NULL AS nvarchar(4000)) -- ?\n, ?", [1])


def test_a_commit_is_made_of_one_transaction_alone(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    transactions.run(C1, add)

    (commit,) = server.wording("COMMIT TRANSACTION")
    assert commit.startswith("IF @@TRANCOUNT <> 1 THROW 51077, ")
