"""What the errors of SQL Server's drivers mean to the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from batchctl.domain.errors import DatabaseRefused, OutcomeUnknown
from batchctl.store.dialects import mssql, mssql_errors
from batchctl.store.dialects.mssql_session import ServerError, error_of
from batchctl.store.transactions import StoreTransactions
from tests.store.sql_server import (
    ADDED,
    C1,
    Rows,
    SqlServer,
    add,
    link_error,
    python_error,
    raising,
    server_error,
    transactions_of,
)


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
    (first, _) = python_server.wording("INSERT INTO FileProcess")
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
    with pytest.raises(DatabaseRefused, match=said) as raised:
        transactions.run(C1, add)
    assert f"control on host:1433 {mssql_errors.REFUSED_BECAUSE[number]}: The server's words. (error {number})" in str(
        raised.value
    )


@pytest.mark.parametrize("number", [547, 2627, 2601, 515, 2628, 8152, 8134, 245])
def test_an_error_of_a_row_is_not_the_databases(number: int) -> None:
    error = ServerError("a row", number=number, state="23000")

    assert not mssql.DIALECT.is_about_the_database(error)
    assert not mssql.DIALECT.is_transient(error)
    assert not mssql.DIALECT.is_lost(error)
