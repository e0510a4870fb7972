"""Changes, constraints and definitions on SQL Server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Connection

from batchctl.ports import Boundary
from batchctl.store import reports, unreadable_columns, views
from batchctl.store.dialects import mssql, mssql_catalog
from batchctl.store.maintenance import schema
from batchctl.store.tables import metadata
from batchctl.store.transactions import StoreTransactions
from tests.sqlserver import taken
from tests.sqlserver.names import parts
from tests.sqlserver.parser import tree_of
from tests.sqlserver.trees import everything, name_of, of_kind
from tests.store.sql_server import URLS, Answer, Count, Rows, SqlServer, one, raising, server_error, transactions_of


def test_everything_counts_as_changed_once_in_a_while(server: SqlServer, transactions: StoreTransactions) -> None:
    server.when("@@SPID, DATEDIFF", one(51, 100), one(51, 100), one(51, 101), one(52, 101))

    assert [bool(transactions.changed()) for _ in range(4)] == [True, False, True, True]


def test_broken_constraints_are_listed(
    server: SqlServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ["[dbo].[BatchControl]", "[FK_BatchControl_ProcessBatch_id]", "[ProcessBatch_id] = '9'"]
    server.when(r"CHECKCONSTRAINTS \(N'BatchControl'\)", [Rows([row] * 150, ["Table", "Constraint", "Where"])])
    assert reports.constraint_findings(connection) == ([], []), "every row would be read, however many there are"
    raw: Any = connection.connection.dbapi_connection
    before, looking, answers = raw.raw.timeout, set[int](), server.answers

    def listen(sql: str) -> Sequence[Answer]:
        if "CHECKCONSTRAINTS" in sql:
            looking.add(raw.raw.timeout)
        return answers(sql)

    monkeypatch.setattr(server, "answers", listen)
    _, found = reports.constraint_findings(connection, at_length=True)

    assert (looking, raw.raw.timeout) == ({0}, before), "reading every row may take long, and nothing else may"
    assert before > 0
    assert len(found) == 100
    assert found[0] == f"{row[0]}: a row with {row[2]} breaks {row[1]}"


def test_who_may_not_check_constraints_is_told_who_may(server: SqlServer, connection: Connection) -> None:
    for number in (2557, 2571):
        server.when("CHECKCONSTRAINTS", raising(server_error(number, "no permission to run DBCC")))
        _, found = reports.constraint_findings(connection, at_length=True)

        assert [line for line in found if "not looked at" in line and "batchctl check --constraints" in line] == found
        assert found


def names_without_schema(sql: str) -> list[str]:
    """Return what a statement writes, makes, changes or drops without naming a schema; within a trigger it is its own."""
    fragments = [*everything(tree_of(sql))]
    named = [one[key] for one in fragments for key in ("SchemaObjectName", "OnName", "Object") if key in one]
    named += [dropped for one in fragments for dropped in one.get("Objects", ())]
    named += [one["Target"]["SchemaObject"] for one in fragments if "SchemaObject" in one.get("Target", ())]
    return [name_of(name) for name in named if name["Count"] == 1]


def named_without_schema(server: SqlServer) -> set[str]:
    """Return what was made, written or changed in the model without naming its schema: the real tables were meant."""
    asked = [sql for sql, _ in server.asked]
    begun = asked.index("EXEC (N'CREATE SCHEMA batchctl_model')")
    ended = len(asked) - asked[::-1].index(mssql._ROLLBACK) - 1
    return {name for sql in asked[begun:ended] for name in names_without_schema(sql)}


def answer_a_comparison(server: SqlServer) -> None:
    """Let a server have two of three constraints, one of them switched off."""
    columns = ["name", "definition"]
    server.when("INFORMATION_SCHEMA|sys.tables", [Rows([], ["name"])])
    server.when("'batchctl_model'", [Rows([["CK_A", "(a > 0)"], ["CK_B", "(b > 0)"], ["CK_C", "(c)"]], columns)])
    server.when(
        r"SCHEMA_ID\(SCHEMA_NAME\(\)\)", [Rows([["CK_A", "(a > 0)"], ["CK_B", "(b > 0) NOT IN FORCE"]], columns)]
    )
    server.when(r"INSERT INTO batchctl_model\.\[?alembic_version", [Rows([["0051"]], ["version_num"])])
    server.when("UPDATE batchctl_model", [Count(1)])


@pytest.mark.full
def test_a_model_that_alters_the_real_tables_is_found(
    server: SqlServer, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_a_comparison(server)
    schema.differences(connection)
    assert named_without_schema(server) == set()

    server.asked.clear()
    right = [*taken.SENT]
    monkeypatch.setattr(mssql, "_alter_in_the_model", lambda *given: (given[2], given[3]))
    schema.differences(connection)

    assert {"batchprocesshistory", "controller", "processbatch"} <= named_without_schema(server)
    taken.SENT[:] = right  # What is wrong on purpose is nothing to look at further.


def test_what_was_changed_by_hand_is_found(server: SqlServer, connection: Connection) -> None:
    answer_a_comparison(server)

    assert schema.differences(connection) == ["CK_C is missing", "CK_B is not as it was made"]
    made = server.wording("CREATE ")
    assert made[0] == "EXEC (N'CREATE SCHEMA batchctl_model')"
    tables, indexes, triggers = len(metadata.tables) + 1, 45, 30
    assert len(made) == 1 + tables + indexes + len(views.NAMES) + triggers, "the schema, and all that stands in it"
    assert all("batchctl_model." in text for text in made[1:])
    assert "REFERENCES batchctl_model." in "".join(made)
    begin = next(at for at, (sql, _) in enumerate(server.asked) if "BEGIN TRANSACTION" in sql)
    rollback = max(at for at, (sql, _) in enumerate(server.asked) if sql == mssql._ROLLBACK)
    everything = [at for at, (sql, _) in enumerate(server.asked) if "CREATE " in sql or "INSERT" in sql]
    assert begin < min(everything)
    assert max(everything) < rollback
    assert not server.wording("COMMIT TRANSACTION")
    taken.SENT.clear()  # The test above had the same sent, and whatever is sent there is looked at.


def test_what_a_script_has_made_counts_as_made(server: SqlServer, connection: Connection) -> None:
    # The server keeps the semicolon that ends a statement of the script; the upgrade sends none.
    server.when(
        "sys.sql_modules", [Rows([["vFailed", "CREATE VIEW vFailed AS\nSELECT 1 AS a;"]], ["name", "definition"])]
    )

    assert mssql.DIALECT.definitions(connection) == {"vFailed": "CREATE VIEW vFailed AS SELECT 1 AS a"}


def test_what_mends_a_row_can_be_typed_in_sqlcmd_and_agent_too(connection: Connection) -> None:
    table = metadata.tables["Schedule"]
    row = SimpleNamespace(**{**dict.fromkeys(table.c.keys()), "Schedule_id": 7})
    found = unreadable_columns.unreadable(connection, table, row, ValueError(""))

    assert found.mend == "SET QUOTED_IDENTIFIER ON; UPDATE Schedule SET ScheduleName = ... WHERE Schedule_id = 7;"


def test_definitions_tell_the_order_of_an_index_and_what_is_not_in_force() -> None:
    # What is missing here would let a key in another order, or a constraint that was only switched on again, pass for whole.
    asked = " ".join(mssql_catalog.DEFINITIONS.split())

    assert "sys.triggers AS g JOIN sys.objects AS t" in asked, "a view has triggers, too"
    assert "WITHIN GROUP (ORDER BY x.key_ordinal)" in asked
    assert "WITHIN GROUP (ORDER BY x.constraint_column_id)" in asked
    for constraint in ("k", "f"):
        assert (
            f"CASE WHEN {constraint}.is_disabled = 1 OR {constraint}.is_not_trusted = 1 THEN N' NOT IN FORCE'" in asked
        )


def looked_at(catalog_view: str, server: SqlServer, connection: Connection) -> list[set[str]]:
    """Return which columns of a view of the catalog are compared, by each query that reads it."""
    mssql.DIALECT.definitions(connection)
    (asked,) = server.wording("sys.sql_modules")
    return [
        {name for table, name in map(parts, of_kind(query, "ColumnReferenceExpression")) if table == called}
        for query in of_kind(tree_of(asked), "QuerySpecification")
        for one in of_kind(query.get("FromClause", {"is": ""}), "NamedTableReference")
        if name_of(one["SchemaObject"]) == catalog_view and (called := name_of(one["Alias"]))
    ]


def test_what_a_module_keeps_of_the_session_that_made_it_is_compared(server: SqlServer, connection: Connection) -> None:
    # Made where it was off, a trigger fails on tables with filtered indexes (error 1934), word for word as it was made.
    of_views, of_triggers = looked_at("sql_modules", server, connection)

    assert of_views == of_triggers == {"object_id", "definition", "uses_quoted_identifier", "uses_ansi_nulls"}


def test_what_a_column_is_computed_of_is_compared(server: SqlServer, connection: Connection) -> None:
    (columns,) = looked_at("computed_columns", server, connection)

    assert columns == {"object_id", "column_id", "definition", "is_persisted"}


@pytest.mark.parametrize("module", URLS)
@pytest.mark.full
def test_an_upgrade_is_one_transaction(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, module: str) -> None:
    server = SqlServer(module)
    server.install(monkeypatch)
    transactions = transactions_of(server, tmp_path)
    server.when("INSERT INTO alembic_version", [Rows([["0051"]], ["version_num"])])
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
    assert "DF_FileProcess_Status] DEFAULT 'ready'" in "".join(server.wording("CREATE TABLE FileProcess"))
