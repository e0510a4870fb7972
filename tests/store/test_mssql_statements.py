"""What the store sends to SQL Server is T-SQL, with one kind of mark whatever the driver."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlalchemy import Connection, make_url
from sqlglot import ErrorLevel, exp

from batchctl.domain.rows import BatchId
from batchctl.store import engine, history, instances
from batchctl.store.dialects import mssql, mssql_catalog, mssql_session
from batchctl.store.intake import intake
from batchctl.store.maintenance import audit_entries
from batchctl.store.statements import RowInsert
from batchctl.store.tables import DEFINITIONS, metadata
from batchctl.store.transactions import StoreTransactions
from tests.sqlserver import statements
from tests.step_handlers.tsql_frames import assert_frames_are_closed
from tests.store.sql_server import NOW, Count, Rows, SqlServer, one

URLS = {"pyodbc": "mssql+pyodbc://user@host/control", "mssql_python": "mssql+mssqlpython://user@host/control"}


FOUND = statements.sources()


@pytest.fixture(params=URLS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SqlServer:
    """A server that can be reached by one of the drivers."""
    made = SqlServer(request.param)
    made.install(monkeypatch)
    return made


@pytest.fixture
def connection(server: SqlServer, tmp_path: Path) -> Iterator[Connection]:
    """A connection to it."""
    with engine.open_engine(URLS[server.module], tmp_path).connect() as made:
        yield made


def parsed(text: str) -> exp.Expr:
    """Parse one T-SQL statement; what the parser only passes through counts as an error."""
    (found,) = sqlglot.parse(text, dialect="tsql", error_level=ErrorLevel.RAISE)
    assert found is not None
    assert not found.find(exp.Command), text
    return found


@pytest.mark.parametrize("name", FOUND)
def test_a_statement_has_one_kind_of_mark_and_no_condition_as_a_value(name: str) -> None:
    text = statements.compiled(FOUND[name])

    assert "%(" not in text
    assert "LIMIT" not in text
    # A condition is no value there: (a = b) = 1 is refused.
    assert not [one for one in parsed(text).find_all(exp.EQ) if isinstance(one.this, (exp.EQ, exp.In, exp.Exists))]


def test_a_row_is_inserted_and_its_id_comes_with_it(server: SqlServer, connection: Connection) -> None:
    server.when("INSERT INTO FileProcess", [Rows([[41]], ["FileProcess_id"])])
    added = intake.add(connection, entity="50% ü", file_name=None, data="?", cycle_key=None, source="test")

    (sql,) = server.wording("INSERT INTO FileProcess")
    assert added == 41
    null = "CAST(NULL AS nvarchar(4000))"
    assert f"VALUES (?, {null}, ?, {null}, ?); SELECT CAST(SCOPE_IDENTITY() AS bigint)" in sql
    assert server.asked[-1][1] == ("50% ü", "?", "test")


@pytest.mark.parametrize("table", DEFINITIONS)
def test_what_a_trigger_hears_of_is_inserted_without_output(
    server: SqlServer, connection: Connection, table: str
) -> None:
    # With OUTPUT and without INTO, SQL Server refuses the statement (error 334).
    server.when(f"INSERT INTO {table}", one(41))

    assert RowInsert(metadata.tables[table])(connection, {"z_updated": NOW.replace(tzinfo=UTC)}) == 41
    (sql,) = server.wording(f"INSERT INTO {table}")
    assert "VALUES (?); SELECT CAST(SCOPE_IDENTITY() AS bigint)\n" in f"{sql}\n"
    assert "OUTPUT" not in sql


@pytest.mark.parametrize(("changed", "was_there"), [(1, True), (0, False)])
def test_an_update_says_whether_there_was_such_a_row(
    server: SqlServer, connection: Connection, changed: int, was_there: bool
) -> None:
    # A trigger of somebody else's has written first: his count comes before the statement's own.
    server.when("UPDATE BatchProcessHistory", [Count(7), Count(changed), Count(-1)])

    assert history._LIVE_ENTRY(connection, {"Pid": 1}, history_id=5, token=3) is was_there
    (sql,) = server.wording("UPDATE BatchProcessHistory")
    conditions = "BatchProcessHistory_id = ? AND BatchProcessHistory.ClaimToken = ?"
    assert f"WHERE BatchProcessHistory.{conditions} AND BatchProcessHistory.Status = 'running'" in sql
    assert server.asked[-1][1] == (1, 5, 3)


def test_a_ready_made_select_keeps_the_order_of_its_values(server: SqlServer, connection: Connection) -> None:
    assert instances.open_of(connection, BatchId(3), after=7, most=50) == []
    assert server.asked[-1][1] == (3, 7, 50)
    assert "FETCH FIRST ? ROWS ONLY" in server.asked[-1][0]


def test_moments_are_sent_without_a_zone(server: SqlServer, tmp_path: Path) -> None:
    transactions = StoreTransactions(engine.open_engine(URLS[server.module], tmp_path))
    server.when("INSERT INTO AuditLog", one(1))
    now = NOW.replace(tzinfo=UTC)
    transactions.run(
        frozenset(),
        lambda connection: audit_entries.add(connection, audit_entries.By("a", "h", now), "x", "t", None, None, None),
    )

    (values,) = [values for sql, values in server.asked if "INSERT INTO AuditLog" in sql]
    assert values[-1] == NOW
    assert values[-1].tzinfo is None


OWN = {
    name: text
    for name, text in {**vars(mssql), **vars(mssql_session)}.items()
    if isinstance(text, str) and any(f"{verb} " in text for verb in ("SELECT", "SET", "COMMIT"))
}
PLAIN = ("_SERVER", "_DURABILITY", "_MARKER")


@pytest.mark.parametrize("name", PLAIN)
def test_what_the_dialect_asks_is_t_sql(name: str) -> None:
    assert isinstance(parsed(OWN[name]), exp.Select)


@pytest.mark.parametrize("schema", ["SCHEMA_NAME()", "N'batchctl_model'"])
def test_what_it_asks_about_definitions_is_t_sql(schema: str) -> None:
    declare, _, query = mssql_catalog.DEFINITIONS.format(schema=schema).partition(";")

    assert declare.strip() == f"DECLARE @of int = SCHEMA_ID({schema})"
    assert len(list(parsed(query).find_all(exp.Union))) == 5


def test_what_tells_the_number_of_an_error_is_t_sql() -> None:
    text = mssql_session._TELLING.format("UPDATE t SET a = ? WHERE b = '{}'")

    assert "WHERE b = '{}'\n;SELECT @@ROWCOUNT AS batchctl_count;\nEND TRY" in text
    assert isinstance(parsed(text.partition("BEGIN CATCH\n")[2].partition(";")[0]), exp.Select)
    assert_frames_are_closed(text)


def test_texts_are_compared_with_all_their_blanks(connection: Connection) -> None:
    def written(statement: Any, dialect: Any) -> str:
        return str(statement.compile(dialect=dialect))

    length = "DATALENGTH(CAST({} AS NVARCHAR(max)))"
    first = written(intake._FIRST, connection.dialect)
    entity = "coalesce(ProcessBatch.Entity, ProcessBatch.ProcessBatchName)"

    for name in ("Entity", "Data"):
        # The plain comparison is there too, for the index.
        assert f"(same.{name} = ? AND {length.format(f'same.{name}')} = {length.format('?')})" in first
    asking = (
        (FOUND["intake.intake._LOOK"], "looked"),
        (FOUND["intake.intake.UNTAKEN"], "FileProcess"),
        (FOUND["reports.COUNT_UNTAKEN"], "FileProcess"),
    )
    for statement, rows in asking:
        assert f"({entity} = {rows}.Entity AND {length.format(entity)} = {length.format(f'{rows}.Entity')})" in (
            written(statement, connection.dialect)
        )
    for other in (make_url("sqlite://"), make_url("postgresql+psycopg://")):
        assert "datalength" not in written(intake._FIRST, other.get_dialect()()).lower()


def test_nothing_of_what_goes_to_the_driver_directly_is_left_to_be_filled_in() -> None:
    for name, found in statements.kept_selects().items():
        assert "POSTCOMPILE" not in str(found._statement.compile(dialect=statements.dialect())), name


@pytest.mark.parametrize("name", FOUND)
def test_no_entity_is_compared_without_its_blanks(name: str) -> None:
    text = statements.compiled(FOUND[name])
    names = "Entity|Data|ProcessBatchName|CycleKey|FileName|CalendarName|ExpectedCalendar|ScheduleName|VariableName"
    plain = re.findall(rf"\b(?:{names})\)? = [^=]*?(?= AND| OR|\)|$)", text)

    assert len(plain) == text.count("DATALENGTH(") / 2, text
