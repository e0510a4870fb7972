"""Connecting to SQL Server, against a driver that replays what servers were seen to answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.errors import ConfigurationError, DatabaseRefused
from batchctl.store import engine
from batchctl.store.dialects import mssql
from batchctl.store.transactions import StoreTransactions
from tests.store.sql_server import (
    ADDED,
    C1,
    URLS,
    ConnectionStringParseError,
    SqlServer,
    add,
    link_error,
    one,
    python_error,
    server_error,
    transactions_of,
)


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
    with pytest.raises(DatabaseRefused, match=reason) as refused, transactions.read():
        pass

    assert refused.value.next_step
    assert server.closed == 1


def test_azure_is_new_enough_whatever_its_version_says(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("PARSENAME", one(12, 5, "READ_WRITE"))
    server.when("INSERT INTO FileProcess", ADDED)

    assert transactions.run(C1, add) == 7


def test_a_database_that_delays_durability_is_refused(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("delayed_durability_desc", one("FORCED"))
    with pytest.raises(DatabaseRefused, match="power failure") as refused, transactions.read():
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
    with pytest.raises(DatabaseRefused) as refused, transactions.read():
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
    with pytest.raises(DatabaseRefused, match="refuses the login") as refused, transactions.read():
        pass

    assert ["s3cret" in text for text, _ in server.connected] == [True, False]
    assert "n3wer" in server.connected[1][0]
    assert "n3wer" not in refused.value.message


def test_who_upgrades_waits_for_who_upgrades_already(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("batchctl schema", one(0), one(-1))
    with transactions.read() as connection:
        assert mssql.DIALECT.lock_schema(connection)
        assert not mssql.DIALECT.lock_schema(connection)

    (asked, _) = server.wording("sp_getapplock")
    assert "@LockOwner = 'Session'" in asked
    assert "@LockTimeout = 300000" in asked
    # An index over millions of attempts takes longer than any statement of the engine may.
    assert [session.timeout for session in server.sessions] == [0]


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


@pytest.mark.parametrize("module", URLS)
def test_no_handle_is_closed_twice(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    server = SqlServer(module)
    server.install(monkeypatch)
    with engine.open_engine(URLS[module], Path()).connect() as connection:
        session: Any = connection.connection.dbapi_connection
        cursor = session.cursor()
        cursor.execute("SELECT 1")
        for handle in (cursor, session):
            handle.close()
            handle.close()

    assert server.closed == 1
