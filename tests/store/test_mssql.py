"""The control store on SQL Server, against a driver that replays what servers were seen to answer."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from batchctl.domain.errors import BatchctlError, Busy, ConfigurationError, DatabaseUnusable, OutcomeUnknown
from batchctl.ports import Boundary
from batchctl.store import engine, examination, intake, reports, schema
from batchctl.store.dialects import mssql, mssql_catalog, mssql_errors
from batchctl.store.dialects.mssql_session import ServerError, error_of
from batchctl.store.leader_lock import SessionLeaderLock
from batchctl.store.tables import metadata
from batchctl.store.transactions import StoreTransactions, savepoint
from tests.store.sql_server import (
    DONE,
    NOW,
    Answer,
    ConnectionStringParseError,
    Count,
    Rows,
    SqlServer,
    link_error,
    one,
    python_error,
    server_error,
)

URLS = {
    "pyodbc": "mssql+pyodbc://user:s3cret@host/control",
    "mssql_python": "mssql+mssqlpython://user:s3cret@host/control",
}
C1 = frozenset({Boundary.INTAKE})


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


def transactions_of(server: SqlServer, directory: Path) -> StoreTransactions:
    return StoreTransactions(engine.open_engine(URLS[server.module], directory))


@pytest.fixture
def transactions(server: SqlServer, tmp_path: Path) -> StoreTransactions:
    return transactions_of(server, tmp_path)


@pytest.fixture
def connection(server: SqlServer, tmp_path: Path) -> Iterator[Connection]:
    with engine.open_engine(URLS["pyodbc"], tmp_path).connect() as made:
        yield made


def add(connection: Connection) -> int:
    return intake.add(connection, entity="E", file_name=None, data=None, cycle_key=None, source="test")


def raising(error: Exception) -> list[Answer]:
    return [error]


ADDED = [Rows([[7]], ["FileProcess_id"])]
BROKEN = server_error(547, "The INSERT statement conflicted with the FOREIGN KEY constraint.", "23000")


# Connecting


def test_a_session_has_a_name_and_a_pool_of_nobody(server: SqlServer, transactions: StoreTransactions) -> None:
    with transactions.read():
        pass
    ((text, given),) = server.connected

    assert text.startswith("DRIVER={ODBC Driver 18 for SQL Server};Server=host;Database=control;")
    assert ";APP=batchctl/" in text
    assert given == {"autocommit": True, "timeout": 10}
    assert not server.pooling


def test_mssql_python_is_used_without_its_pool_and_named_otherwise(python_server: SqlServer, tmp_path: Path) -> None:
    transactions = transactions_of(python_server, tmp_path)
    python_server.pooling = True  # as a step's driver in the same process could have it
    with transactions.read():
        pass

    assert not python_server.pooling
    (named,) = [values for sql, values in python_server.asked if "SET CONTEXT_INFO" in sql]
    assert named[0].startswith("batchctl/")


@pytest.mark.parametrize(
    "setting",
    [
        "SET LANGUAGE us_english",
        "SET DATEFORMAT ymd",
        "SET LOCK_TIMEOUT 5000",
        "SET XACT_ABORT ON",
        "SET NOCOUNT OFF",
        "SET IMPLICIT_TRANSACTIONS OFF",
        "SET QUOTED_IDENTIFIER ON",
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
    ],
)
def test_every_session_is_set_as_the_store_needs_it(
    server: SqlServer, transactions: StoreTransactions, setting: str
) -> None:
    with transactions.read():
        pass

    assert setting in server.asked[0][0]
    # The language would set the format of dates again.
    assert server.asked[0][0].index("SET LANGUAGE") < server.asked[0][0].index("SET DATEFORMAT")


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ((13, 3, "READ_WRITE"), "SQL Server of version 13"),
        ((16, 3, "READ_ONLY"), "read-only, or the secondary"),
        ((16, 3, None), "read-only, or the secondary"),
    ],
)
def test_a_server_that_will_not_do_is_refused_with_the_reason(
    server: SqlServer, transactions: StoreTransactions, answers: tuple[Any, ...], reason: str
) -> None:
    server.when("PARSENAME", one(*answers))
    with pytest.raises(DatabaseUnusable, match=reason) as refused, transactions.read():
        pass

    assert refused.value.next_step
    assert server.closed == 1


def test_azure_is_new_enough_whatever_its_version_says(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("PARSENAME", one(12, 5, "READ_WRITE"))
    server.when("INSERT INTO FileProcess", ADDED)

    assert transactions.run(C1, add) == 7


def test_a_database_that_delays_durability_is_refused(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("delayed_durability_desc", one("FORCED"))
    with pytest.raises(DatabaseUnusable, match="power failure") as refused, transactions.read():
        pass
    assert "SET DELAYED_DURABILITY = ALLOWED" in str(refused.value.next_step)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            server_error(18456, "Login failed for user 'user'.", "28000"),
            "refuses the login: Login failed for user 'user'",
        ),
        (server_error(4060, "Cannot open database.", "42000"), "cannot be opened: Cannot open database"),
        (link_error("08001", 10060), "cannot be reached: TCP Provider"),
        (server_error(1, "odd: UID=user;PWD=s3cret", "HY000"), "cannot be reached: odd"),
        (python_error("Invalid authorization specification", "Login failed."), "refuses the login: Login failed"),
    ],
)
def test_who_cannot_be_reached_is_named_without_a_password(
    server: SqlServer, transactions: StoreTransactions, error: Exception, said: str
) -> None:
    server.connecting = error
    with pytest.raises(DatabaseUnusable) as refused, transactions.read():
        pass

    assert f"The control database control on host:1433 {said}" in refused.value.message
    assert refused.value.next_step
    assert "s3cret" not in refused.value.message
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


@pytest.mark.parametrize("module", list(URLS))
def test_a_changed_password_is_taken_up_at_the_next_connect(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str
) -> None:
    server = SqlServer(module)
    server.install(monkeypatch)
    urls = [URLS[module]]
    transactions = StoreTransactions(engine.open_engine(lambda: urls[-1], tmp_path))
    with transactions.read():
        pass
    transactions.close()
    urls.append(URLS[module].replace("s3cret", "n3wer"))
    with transactions.read():
        pass
    transactions.close()
    server.connecting = server_error(18456, "Login failed with n3wer.", "28000")
    with pytest.raises(DatabaseUnusable, match="refuses the login") as refused, transactions.read():
        pass

    assert ["s3cret" in text for text, _ in server.connected] == [True, False]
    assert "n3wer" in server.connected[1][0]
    assert "n3wer" not in refused.value.message


def test_who_upgrades_waits_for_who_upgrades_already(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("batchctl schema", one(0), one(-1))
    with transactions.read() as connection:
        mssql.lock_schema(connection)
        with pytest.raises(Busy, match="Another program upgrades the control database"):
            mssql.lock_schema(connection)

    (asked, _) = server.said("sp_getapplock")
    assert "@LockOwner = 'Session'" in asked
    assert "@LockTimeout = 5000" in asked


def test_a_connection_string_that_cannot_be_read_is_told_without_a_password(
    python_server: SqlServer, tmp_path: Path
) -> None:
    python_server.connecting = ConnectionStringParseError(["Unknown keyword 'tiemout'", "Duplicate keyword 's3cret'"])
    with pytest.raises(ConfigurationError) as refused, transactions_of(python_server, tmp_path).read():
        pass

    assert refused.value.message == (
        "The control database control on host:1433 cannot be opened: Unknown keyword 'tiemout'; Duplicate keyword '***'."
    )
    assert "database_url" in str(refused.value.next_step)


@pytest.mark.parametrize("module", URLS)
def test_no_statement_waits_for_ever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str) -> None:
    server = SqlServer(module)
    server.install(monkeypatch)
    with transactions_of(server, tmp_path).read():
        pass

    assert [session.timeout for session in server.sessions] == [60]


# Choosing a driver


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


# Transactions


@pytest.mark.parametrize(
    ("boundary", "isolation"), [(Boundary.CLAIM, "READ COMMITTED"), (Boundary.POPULATE, "SERIALIZABLE")]
)
def test_only_a_creation_is_serializable_and_all_are_told_the_servers_time(
    server: SqlServer, tmp_path: Path, boundary: Boundary, isolation: str
) -> None:
    told: list[datetime] = []
    transactions = StoreTransactions(engine.open_engine(URLS["pyodbc"], tmp_path), told.append)
    server.when("INSERT INTO FileProcess", ADDED)
    transactions.run(frozenset({boundary}), add)
    (begin,) = server.said("BEGIN TRANSACTION")

    assert told == [NOW.replace(tzinfo=UTC)]
    level = f"SET TRANSACTION ISOLATION LEVEL {isolation};"
    assert begin.index(level) < begin.index("BEGIN TRANSACTION") < begin.index("SYSUTCDATETIME")
    assert server.asked[-1][0].startswith("COMMIT TRANSACTION;")
    assert server.asked[-1][0].endswith("SET TRANSACTION ISOLATION LEVEL READ COMMITTED;")


def test_what_an_earlier_one_left_open_is_undone_first(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    transactions.run(C1, add)

    assert server.said("BEGIN TRANSACTION")[0].startswith("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;")


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
    assert not server.said("COMMIT TRANSACTION")
    assert server.asked[-1][0].startswith("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION;")


@pytest.mark.parametrize("number", [3902, 3903])
def test_an_error_of_the_rollback_does_not_hide_the_first(
    server: SqlServer, transactions: StoreTransactions, number: int
) -> None:
    server.when("INSERT INTO FileProcess", raising(BROKEN), ADDED)
    server.when(r"\AIF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; SET TRAN", raising(server_error(number, "no BEGIN")), DONE)
    with pytest.raises(ServerError, match="FOREIGN KEY"):
        transactions.run(C1, add)

    assert transactions.run(C1, add) == 7
    assert len(server.connected) == 1


def test_a_session_that_cannot_be_rolled_back_is_ended(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", raising(BROKEN), ADDED)
    server.when(r"\AIF @@TRANCOUNT > 0 ROLLBACK TRANSACTION; SET TRAN", raising(link_error()), DONE)
    with pytest.raises(ServerError, match="FOREIGN KEY"):
        transactions.run(C1, add)
    assert server.closed == 1

    with pytest.raises(DatabaseUnusable, match="the session has been closed"):
        transactions.run(C1, add)
    assert transactions.run(C1, add) == 7
    assert len(server.connected) == 2


@pytest.mark.parametrize("number", [1205, 1222, 3960, 41302, 41305, 41325])
def test_the_whole_transaction_is_run_again(server: SqlServer, transactions: StoreTransactions, number: int) -> None:
    state = {1205: "40001", 1222: "HYT00"}.get(number, "42000")
    server.when("INSERT INTO FileProcess", raising(server_error(number, "try again", state)), ADDED)

    assert transactions.run(C1, add) == 7
    assert len(server.said("BEGIN TRANSACTION")) == 2
    assert len(server.said("COMMIT TRANSACTION")) == 1


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
    ],
    ids=lambda error: error.args[1][-40:],
)
def test_a_lost_commit_is_never_taken_for_one_or_the_other(
    server: SqlServer, transactions: StoreTransactions, error: Exception
) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    server.when("COMMIT TRANSACTION", raising(error), DONE)
    with pytest.raises(OutcomeUnknown, match="nobody knows"):
        transactions.run(C1, add)

    assert len(server.said("BEGIN TRANSACTION")) == 1
    assert transactions.run(C1, add) == 7
    assert len(server.connected) == 2


def test_a_lock_that_a_commit_waits_for_in_vain_is_no_lost_commit(
    server: SqlServer, transactions: StoreTransactions
) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    server.when("COMMIT TRANSACTION", raising(server_error(1222, "Lock request time out.", "HYT00")), DONE)

    assert transactions.run(C1, add) == 7
    assert len(server.said("BEGIN TRANSACTION")) == 2


def test_a_commit_that_is_refused_is_known_to_have_failed(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", ADDED)
    server.when("COMMIT TRANSACTION", raising(server_error(3930, "The transaction cannot be committed.")))
    with pytest.raises(ServerError, match="cannot be committed"):
        transactions.run(C1, add)
    assert "ROLLBACK" in server.asked[-1][0]


def test_a_lost_connection_is_made_anew(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", raising(link_error()), ADDED)
    with pytest.raises(DatabaseUnusable, match="control on host:1433 cannot be reached: TCP Provider"):
        transactions.run(C1, add)

    assert transactions.run(C1, add) == 7
    assert len(server.connected) == 2


# Parts of a transaction


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
    with pytest.raises(DatabaseUnusable, match="gave up a whole transaction"):
        transactions.run(C1, isolated)
    assert not server.said("COMMIT TRANSACTION")


def test_a_deadlock_in_a_part_runs_the_whole_again(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO FileProcess", raising(server_error(1205, "deadlocked", "40001")), ADDED)

    assert transactions.run(C1, isolated) == "added"
    assert len(server.said("BEGIN TRANSACTION")) == 2
    assert not server.said("ROLLBACK TRANSACTION part")


# What errors are


@pytest.mark.parametrize(
    ("error", "number", "state"),
    [
        (server_error(2627, "duplicate", "23000"), 2627, "23000"),
        (server_error(547, "broken", "23000", "; [23000] The statement has been terminated. (3621)"), 547, "23000"),
        (server_error(2627, "The duplicate key value is (a (1205) (SQLExecDirectW)).", "23000"), 2627, "23000"),
        (server_error(2627, "The duplicate key value is ((1205) (SQLFetch); [40001] x).", "23000"), 2627, "23000"),
        (link_error(), 10054, "08S01"),
        (python_error("Serialization failure", "deadlocked"), 1205, "40001"),
        (python_error("Base table or view not found", "Invalid object name"), 208, "42S02"),
        (python_error("An error occurred with SQLSTATE code: 10054"), None, "10054"),
        (python_error("Syntax error or access violation", "Deadlock (1205) (SQLExecDirectW)"), None, "42000"),
    ],
)
def test_the_number_is_read_and_never_the_words(error: Exception, number: int | None, state: str) -> None:
    found = error_of(error)

    assert (found.number, found.state) == (number, state)
    assert "[Microsoft]" not in str(found)


def test_mssql_python_learns_the_number_from_the_batch(python_server: SqlServer, tmp_path: Path) -> None:
    told = Rows([[1222]], ["batchctl_error"])
    words = python_error("Syntax error or access violation", "Lock request time out period exceeded.")
    python_server.when("INSERT INTO FileProcess", [Rows([], ["FileProcess_id"]), told, words], ADDED)
    transactions = transactions_of(python_server, tmp_path)

    assert transactions.run(C1, add) == 7
    (first, _) = python_server.said("INSERT INTO FileProcess")
    assert first.startswith("BEGIN TRY\n")
    assert "SELECT ERROR_NUMBER() AS batchctl_error;\nTHROW;" in first


def test_a_lost_commit_of_mssql_python_is_unknown_too(python_server: SqlServer, tmp_path: Path) -> None:
    python_server.when("INSERT INTO FileProcess", ADDED)
    python_server.when("COMMIT TRANSACTION", raising(python_error("Communication link failure", "TCP Provider: reset")))
    with pytest.raises(OutcomeUnknown):
        transactions_of(python_server, tmp_path).run(C1, add)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (1105, "the disk is full"),
        (9002, "transaction log is full"),
        (3906, "is read-only"),
        (823, "is damaged"),
        (824, "is damaged"),
        (825, "its disk is about to fail"),
        (18456, "refuses the login"),
        (229, "the rights that batchctl needs"),
        (208, "lacks a table"),
        (4060, "cannot be opened"),
    ],
)
def test_an_error_of_the_whole_database_is_explained(
    server: SqlServer, transactions: StoreTransactions, number: int, said: str
) -> None:
    server.when("INSERT INTO FileProcess", raising(server_error(number, "The server's words.")))
    with pytest.raises(DatabaseUnusable, match=said) as raised:
        transactions.run(C1, add)
    assert f"control on host:1433 {mssql_errors.UNUSABLE[number]}: The server's words. (error {number})" in str(
        raised.value
    )


@pytest.mark.parametrize("number", [547, 2627, 2601, 515, 2628, 8152, 8134, 245])
def test_an_error_of_a_row_is_not_the_databases(number: int) -> None:
    error = ServerError("a row", number=number, state="23000")

    assert not mssql.is_about_the_database(error)
    assert not mssql.is_transient(error)
    assert not mssql.is_lost(error)


# The leader's lock


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

    assert lock.holder() == "etl-2:815"
    (sql,) = server.said("dm_tran_locks")
    assert "l.resource_database_id = DB_ID()" in sql
    assert "l.request_status = 'GRANT'" in sql


def test_rows_that_others_keep_locked_are_passed_over(server: SqlServer, transaction: Connection) -> None:
    server.when("SELECT c.BatchControl_id", [Rows([[2]], ["BatchControl_id"])])
    server.when("FROM Resource", [Rows([[3], [4]], ["Resource_id"])])

    assert mssql.locked_instances(transaction, [1, 2]) == {1}
    assert mssql.lock_rows(transaction, "Resource", [3, 4]) == {3, 4}
    for sql, values in server.asked[-2:]:
        assert "WITH (UPDLOCK, ROWLOCK, READPAST)" in sql
        assert len(values) == 2


def test_a_creation_asks_for_no_locked_rows(server: SqlServer, transaction: Connection) -> None:
    asked = len(server.asked)

    assert mssql.is_locked_intake(transaction, 7, [1]) is False
    # A question with READPAST would be refused in a serializable transaction.
    assert len(server.asked) == asked


# Changes, constraints, definitions


def test_everything_counts_as_changed_once_in_a_while(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("@@SPID, DATEDIFF", one(51, 100), one(51, 100), one(51, 101), one(52, 101))

    assert [bool(transactions.changed()) for _ in range(4)] == [True, False, True, True]


def test_broken_constraints_are_listed(server: SqlServer, connection: Connection) -> None:
    row = ["[dbo].[BatchControl]", "[FK_BatchControl_ProcessBatch_id]", "[ProcessBatch_id] = '9'"]
    server.when(r"CHECKCONSTRAINTS \(N'BatchControl'\)", [Rows([row] * 150, ["Table", "Constraint", "Where"])])
    found = reports.violations(connection)

    assert len(found) == 100
    assert found[0] == f"{row[0]}: a row with {row[2]} breaks {row[1]}"


def test_who_may_not_check_constraints_finds_none(server: SqlServer, connection: Connection) -> None:
    server.when("CHECKCONSTRAINTS", raising(server_error(2571, "no permission to run DBCC")))

    assert reports.violations(connection) == []


def test_what_was_changed_by_hand_is_found(server: SqlServer, connection: Connection) -> None:
    server.when("INFORMATION_SCHEMA|sys.tables", [Rows([], ["name"])])
    columns = ["name", "definition"]
    server.when("'batchctl_model'", [Rows([["CK_A", "(a > 0)"], ["CK_B", "(b > 0)"], ["CK_C", "(c)"]], columns)])
    server.when(
        r"SCHEMA_ID\(SCHEMA_NAME\(\)\)", [Rows([["CK_A", "(a > 0)"], ["CK_B", "(b > 0) NOT IN FORCE"]], columns)]
    )
    server.when(r"INSERT INTO batchctl_model\.\[?alembic_version", [Rows([["0001"]], ["version_num"])])
    server.when("UPDATE batchctl_model", [Count(1)])

    assert schema.differences(connection) == ["CK_C is missing", "CK_B is not as it was made"]
    made = server.said("CREATE ")
    assert made[0] == "EXEC (N'CREATE SCHEMA batchctl_model')"
    assert len(made) == 19
    assert all("batchctl_model." in text for text in made[1:])
    assert "REFERENCES batchctl_model." in "".join(made)
    begin = next(at for at, (sql, _) in enumerate(server.asked) if "BEGIN TRANSACTION" in sql)
    rollback = max(at for at, (sql, _) in enumerate(server.asked) if sql == mssql._ROLLBACK)
    everything = [at for at, (sql, _) in enumerate(server.asked) if "CREATE " in sql or "INSERT" in sql]
    assert begin < min(everything)
    assert max(everything) < rollback
    assert not server.said("COMMIT TRANSACTION")


def test_definitions_tell_the_order_of_an_index_and_what_is_not_in_force() -> None:
    # What is missing here would let a key in another order, or a constraint that was only switched on again, pass for whole.
    asked = " ".join(mssql_catalog.DEFINITIONS.split())

    assert "WITHIN GROUP (ORDER BY x.key_ordinal)" in asked
    assert "WITHIN GROUP (ORDER BY x.constraint_column_id)" in asked
    for constraint in ("k", "f"):
        assert (
            f"CASE WHEN {constraint}.is_disabled = 1 OR {constraint}.is_not_trusted = 1 THEN N' NOT IN FORCE'" in asked
        )


def test_an_upgrade_is_one_transaction(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("INSERT INTO alembic_version", [Rows([["0001"]], ["version_num"])])
    server.when("UPDATE alembic_version", [Count(1)])
    server.when("INFORMATION_SCHEMA|sys.tables", [Rows([], ["name"])])
    transactions.run(frozenset({Boundary.MIGRATION}), schema.upgrade)
    kinds = [
        word
        for sql, _ in server.asked
        for word in ("BEGIN TRANSACTION", "CREATE TABLE", "INDEX [", "COMMIT TRANSACTION")
        if word in sql
    ]

    assert (kinds[0], kinds[-1]) == ("BEGIN TRANSACTION", "COMMIT TRANSACTION")
    assert set(kinds[1:-1]) == {"CREATE TABLE", "INDEX ["}
    assert kinds.count("CREATE TABLE") == len(metadata.tables) + 1, "and the one that names the schema"
    assert "DF_FileProcess_Status] DEFAULT 'ready'" in "".join(server.said("CREATE TABLE FileProcess"))
