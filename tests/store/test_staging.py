"""Counting what waits in a staging table: names as anybody spells them, values and times of the types that columns have."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlalchemy import Dialect, column, table, true
from sqlalchemy.dialects import mssql
from sqlalchemy.sql.elements import quoted_name

from batchctl.domain.errors import BatchctlError, ConfigurationError, DatabaseRefused
from batchctl.domain.intake.triggers import Counted
from batchctl.domain.rows import DataTrigger
from batchctl.store.intake.staging import StagingTables, _Staging, in_utc
from tests.control_databases import KINDS
from tests.sqlserver import taken
from tests.staging_yard import PostgresTarget, SqliteTarget, target_of

LIMIT = timedelta(seconds=30)
HOUR = timedelta(hours=1)


@pytest.fixture(params=KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteTarget | PostgresTarget]:
    made = target_of(request.param, tmp_path, lambda: request.getfixturevalue("postgres"))
    yield made
    made.close()


@pytest.fixture
def sqlite_target(tmp_path: Path) -> Iterator[SqliteTarget]:
    made = SqliteTarget(tmp_path / "warehouse.db")
    yield made
    made.close()


@pytest.fixture
def postgres_target(request: pytest.FixtureRequest) -> Iterator[PostgresTarget]:
    made = PostgresTarget(request.getfixturevalue("postgres"))
    yield made
    made.close()


def count(target: SqliteTarget | PostgresTarget, ago: timedelta | None = None, **given: Any) -> Counted:
    usual = {"row_id": 1, "name": "t", "entity": "E", "connection": "wh", "table": "Staging"}
    usual |= {"status_column": "ImportStatus", "pending_value": "0", "created_column": "CreatedAt"}
    trigger = DataTrigger(**{**usual, **given})
    return StagingTables(lambda name: target.url, Path.cwd(), LIMIT).count(trigger, ago)


def refused(target: SqliteTarget | PostgresTarget, **given: Any) -> str:
    with pytest.raises(BatchctlError) as error:
        count(target, **given)
    return error.value.message


def hours(age: timedelta | None) -> int:
    assert age is not None
    return round(age / HOUR)


def test_names_are_found_in_any_letter_case_unless_two_differ_in_nothing_else(
    postgres_target: PostgresTarget,
) -> None:
    postgres_target.sql('CREATE TABLE "Orders" ("State" int, state int)')
    postgres_target.sql('CREATE TABLE "Twice" (x int); CREATE TABLE "TWICE" (x int); CREATE TABLE "ONCE" (state int)')
    plain: dict[str, Any] = {"status_column": "State", "created_column": None}

    assert count(postgres_target, table="ORDERS", **plain).pending == 0
    assert count(postgres_target, table="Once", **plain).pending == 0
    assert "has no column 'STATE'. Did you mean 'state'?" in refused(
        postgres_target, table="Orders", status_column="STATE"
    )
    assert "There is no table 'twice'" in refused(postgres_target, table="twice")


def test_a_schema_may_stand_before_the_name_and_a_dot_in_it(postgres_target: PostgresTarget) -> None:
    postgres_target.sql('CREATE SCHEMA "Stg"')
    postgres_target.sql('CREATE TABLE "Stg".orders (s int); INSERT INTO "Stg".orders VALUES (1)')
    postgres_target.sql('CREATE TABLE "a.b" (s int); INSERT INTO "a.b" VALUES (1), (1)')
    postgres_target.sql('CREATE VIEW waiting AS SELECT * FROM "Stg".orders')
    given: dict[str, Any] = {"status_column": "s", "pending_value": "1", "created_column": None}

    assert count(postgres_target, table="stg.Orders", **given).pending == 1
    assert count(postgres_target, table="a.b", **given).pending == 2
    assert count(postgres_target, table="waiting", **given).pending == 1
    assert "There is no table 'stg.order' on connection 'wh'. Did you mean 'Stg.orders'?" in refused(
        postgres_target, table="stg.order"
    )


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("integer", "7", "7"),
        ("numeric(5, 2)", "1.50", "1.50"),
        ("text", "'new'", "new"),
        ("char(5)", "'new'", "new"),
        ("boolean", "true", "1"),
        ("boolean", "false", "FALSE"),
        ("uuid", "'11111111-2222-3333-4444-555555555555'", "11111111-2222-3333-4444-555555555555"),
        ("date", "'2026-11-22'", "2026-11-22"),
        ("mood", "'sad'", "sad"),
        ("word", "'new'", "new"),
        ("box", "'(1,1),(0,0)'", "(1,1),(0,0)"),
    ],
)
def test_the_pending_value_has_the_type_of_its_column(
    postgres_target: PostgresTarget, kind: str, value: str, said: str
) -> None:
    postgres_target.sql("CREATE TYPE mood AS ENUM ('sad', 'glad'); CREATE DOMAIN word AS text")
    postgres_target.sql(f"CREATE TABLE t (s {kind})")
    postgres_target.sql(f"INSERT INTO t VALUES ({value}), (NULL)")

    assert count(postgres_target, table="t", status_column="s", pending_value=said, created_column=None).pending == 1


@pytest.mark.parametrize(("kind", "value"), [("", "0"), ("", "'0'"), ("INT", "0"), ("TEXT", "'0'"), ("NUMERIC", "0")])
def test_on_sqlite_a_column_without_a_type_is_compared_as_text(
    sqlite_target: SqliteTarget, kind: str, value: str
) -> None:
    sqlite_target.sql(f"CREATE TABLE t (s {kind})")
    sqlite_target.sql(f"INSERT INTO t VALUES ({value}), (NULL), (1)")

    assert count(sqlite_target, table="t", status_column="s", created_column=None).pending == 1


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("timestamp", "(clock_timestamp() AT TIME ZONE 'UTC') - interval '3 hours'"),
        ("timestamptz", "clock_timestamp() - interval '3 hours'"),
        ("timestamp(0)", "(clock_timestamp() AT TIME ZONE 'UTC') - interval '3 hours'"),
    ],
)
def test_times_are_utc_where_they_have_no_zone(postgres_target: PostgresTarget, kind: str, value: str) -> None:
    postgres_target.sql(f"CREATE TABLE t (ImportStatus int, CreatedAt {kind})")
    postgres_target.sql(f"INSERT INTO t VALUES (0, {value}), (0, NULL)")
    postgres_target.sql("ALTER DATABASE " + postgres_target.url.rpartition("/")[2] + " SET TimeZone = 'Asia/Tokyo'")

    found = count(postgres_target, table="t")

    assert (found.pending, found.undated, hours(found.oldest), found.new) == (2, 1, 3, 1)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("TEXT", "strftime('%Y-%m-%d %H:%M:%f', 'now', '-3 hours')"),
        ("TEXT", "strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-3 hours')"),
        ("DATETIME", "datetime('now', '-2 hours') || '+01:00'"),
        ("INTEGER", "CAST(strftime('%s', 'now', '-3 hours') AS INTEGER)"),
        ("TIMESTAMP", "julianday('now', '-3 hours')"),
        ("DATETIME2(3)", "datetime('now', '-3 hours')"),
    ],
)
def test_on_sqlite_times_are_read_as_people_write_them(sqlite_target: SqliteTarget, kind: str, value: str) -> None:
    sqlite_target.sql(f"CREATE TABLE t (ImportStatus INT, CreatedAt {kind})")
    sqlite_target.sql(f"INSERT INTO t VALUES (0, {value}), (0, NULL), (0, 'some time')")

    found = count(sqlite_target, table="t")

    assert (found.pending, found.undated, hours(found.oldest)) == (3, 2, 3)


def test_a_date_alone_is_its_midnight(postgres_target: PostgresTarget) -> None:
    postgres_target.sql("CREATE TABLE t (ImportStatus int, CreatedAt date)")
    postgres_target.sql("INSERT INTO t VALUES (0, (clock_timestamp() AT TIME ZONE 'UTC')::date - 2)")

    assert 48 <= hours(count(postgres_target, table="t").oldest) <= 72


def test_rows_are_new_that_came_after_it_fired_by_the_clock_of_their_own_database(
    target: SqliteTarget | PostgresTarget,
) -> None:
    for age in (40, 95, 170):
        target.sql(f"INSERT INTO Staging (CreatedAt) VALUES ({target.ago(age * 60)})")

    found = count(target, timedelta(minutes=100))

    assert (found.pending, found.new, hours(found.oldest), hours(found.newest)) == (3, 2, 3, 1)
    assert found.oldest_new is not None
    assert found.oldest_new // timedelta(minutes=30) == 3


def test_a_row_dated_with_the_second_in_which_it_fired_may_be_new(sqlite_target: SqliteTarget) -> None:
    sqlite_target.sql(sqlite_target.TABLE.format(name="Staging"))
    sqlite_target.sql("INSERT INTO Staging (ImportStatus) VALUES (0)")

    assert count(sqlite_target, timedelta(0)).new in {0, 1}  # The second may be over by now.
    sqlite_target.sql("UPDATE Staging SET CreatedAt = datetime('now', '+1 second')")
    assert count(sqlite_target, timedelta(0)).new == 1


def test_what_is_no_time_no_value_and_no_database_is_told(target: SqliteTarget | PostgresTarget) -> None:
    target.sql("CREATE TABLE t (s INTEGER, c TIME)")
    given = {"table": "t", "status_column": "s"}

    assert "PendingValue 'new' is no value of 's', which is INTEGER." in refused(
        target, pending_value="new", created_column=None, **given
    )
    if isinstance(target, PostgresTarget):
        assert "CreatedColumn 'c' of table 't' is TIME" in refused(target, created_column="c", **given)
    assert "has no column 'd'. Known: c, s." in refused(target, created_column="d", **given)


def test_a_database_that_cannot_be_opened_is_told_without_its_password(tmp_path: Path) -> None:
    trigger = DataTrigger(
        row_id=1, name="t", entity="E", connection="wh", table="t", status_column="s", pending_value="0"
    )
    urls = {
        "wh": f"sqlite:///{tmp_path / 'none.db'}",
        "pg": "postgresql://anna:geheim@127.0.0.1:1/x",
        "no": "nosuch://x",
    }

    def told(name: str, kind: type[BatchctlError]) -> str:
        with pytest.raises(kind) as error:
            StagingTables(lambda connection: urls[name], tmp_path, LIMIT).count(trigger, None)
        return error.value.message

    assert "There is no database file" in told("wh", DatabaseRefused)
    said = told("pg", DatabaseRefused)
    assert "connection" in said
    assert "geheim" not in said
    assert "nosuch" in told("no", ConfigurationError)


def test_a_statement_that_takes_too_long_is_ended_in_the_server(postgres_target: PostgresTarget) -> None:
    postgres_target.sql("CREATE FUNCTION slow() RETURNS int LANGUAGE sql AS 'SELECT 0 FROM pg_sleep(60)'")
    postgres_target.sql("CREATE VIEW t AS SELECT slow() AS s")
    trigger = DataTrigger(
        row_id=1, name="t", entity="E", connection="wh", table="t", status_column="s", pending_value="0"
    )

    with pytest.raises(DatabaseRefused, match="statement timeout"):
        StagingTables(lambda name: postgres_target.url, Path.cwd(), timedelta(seconds=0.2)).count(trigger, None)


def test_nothing_can_be_written_by_counting(sqlite_target: SqliteTarget) -> None:
    sqlite_target.sql(sqlite_target.TABLE.format(name="Staging"))
    before = sqlite_target.sql("PRAGMA data_version")

    count(sqlite_target)

    assert sqlite_target.sql("PRAGMA data_version") == before


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("DATETIME2", "CAST([Created] AS DATETIME2(3))"),
        ("DATETIME", "CAST([Created] AS DATETIME2(3))"),
        ("DATETIMEOFFSET", "CAST(switchoffset([Created], ?) AS DATETIME2(3))"),
    ],
)
def test_on_sql_server_it_is_one_statement_that_waits_for_nobodys_locks(kind: str, said: str) -> None:
    server: Dialect = getattr(mssql, "dialect")(paramstyle="qmark")  # noqa: B009 - it has no types
    made = in_utc("mssql", column(quoted_name("Created", quote=True)), getattr(mssql, kind)())
    staging = _Staging(table(quoted_name("Orders", quote=True), schema=quoted_name("stg", quote=True)), true(), made)

    text = str(staging.counting(datetime(2026, 11, 22, tzinfo=UTC)).compile(dialect=server))
    taken.assert_taken(text)

    sqlglot.parse_one(text, dialect="tsql")
    assert "FROM [stg].[Orders] WITH (READPAST, READCOMMITTEDLOCK)" in text
    assert f"min({said})" in text
    assert "SYSUTCDATETIME() AS [Now]" in text


@pytest.mark.parametrize("kind", ["timestamptz", "timestamp", "date"])
def test_moments_that_nothing_else_can_hold_are_none(postgres_target: PostgresTarget, kind: str) -> None:
    postgres_target.sql(f"CREATE TABLE Odd (ImportStatus int, CreatedAt {kind})")
    postgres_target.sql(
        "INSERT INTO Odd VALUES (0, 'infinity'), (0, '-infinity'), (0, '0044-03-15 BC'), (0, '20000-01-01')"
    )
    postgres_target.sql("INSERT INTO Odd VALUES (0, '2020-01-01')")
    found = count(postgres_target, timedelta(days=1), table="Odd")

    assert (found.pending, found.undated, found.new) == (5, 4, 0)
    assert found.oldest == found.newest
