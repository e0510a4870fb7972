"""What SQLite says at once of several columns, it says of each: no text with a NUL, and of definitions no time that is none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Table, create_mock_engine
from sqlalchemy.schema import CreateTable

from batchctl.store.columns import UtcTime
from batchctl.store.conditions import is_audited, is_often_written, is_text
from batchctl.store.repeatable.watched import DEFINITIONS
from batchctl.store.tables import (
    metadata,
    on_sqlite,  # noqa: F401 - importing it teaches SQLite's form of a table
)
from tests.control_databases import SqliteControl
from tests.hand import Hand
from tests.store.test_row_triggers import add_all

WITH_TEXTS = [
    table for table in metadata.sorted_tables if not is_often_written(table) and sum(map(is_text, table.c)) > 1
]
AUDITED = [table for table in metadata.sorted_tables if is_audited(table)]
TIMES = [(table.name, column.name) for table in AUDITED for column in table.c if isinstance(column.type, UtcTime)]
TEXTS = st.none() | st.lists(st.sampled_from(["\x00", "\\", "u", "0000", '"', "\n", "é", "\U0001f600", "a"])).map(
    "".join
)


def condition(table: Table) -> str:
    """Return what a table's last constraint says of all texts."""
    dialect = create_mock_engine("sqlite://", lambda *_: None).dialect
    made = str(CreateTable(table).compile(dialect=dialect))
    _, _, said = made.rpartition("CHECK (")
    return said.removesuffix(")\n) STRICT")


@given(st.data())
def test_a_nul_is_found_in_each_text_of_a_table_and_nothing_else_is(data: st.DataObject) -> None:
    table = data.draw(st.sampled_from(WITH_TEXTS))
    columns = [column.name for column in table.c if is_text(column)]
    values = [data.draw(TEXTS) for _ in columns]
    given_values = ", ".join(f"? AS {column}" for column in columns)
    with closing(sqlite3.connect(":memory:")) as scratch:
        ((taken,),) = scratch.execute(f"SELECT {condition(table)} FROM (SELECT {given_values})", values)

    assert bool(taken) == (not any("\x00" in value for value in values if value is not None))


def test_of_every_table_with_times_that_a_trigger_looks_at_that_trigger_hears() -> None:
    assert {table.name for table in AUDITED} == {watched.table for watched in DEFINITIONS}


@pytest.fixture
def defined(sqlite_database: SqliteControl) -> Iterator[Hand]:
    """Return a hand that has made a row of every definition."""
    with closing(sqlite_database.hand()) as hand:
        add_all(hand)
        yield hand


@pytest.mark.parametrize(("table", "column"), TIMES)
def test_a_time_of_a_definition_is_refused_by_its_name_where_it_is_none(defined: Hand, table: str, column: str) -> None:
    change = f"UPDATE {table} SET {column} = ? WHERE {table}_id = 1"
    defined.sql("PRAGMA ignore_check_constraints = ON")  # The batch depends on itself.
    for value in ("2026-02-31", "0000-01-01", "now", "", "2026-11-21T03:15", "2026-11-21 03:15\x00", "03:15", "2026"):
        with pytest.raises(defined.Refused, match=rf"a time is written like 2026-11-21 03:15:00: .*\b{column}\b"):
            defined.sql(change, value)
    for value in ("2026-11-21", "2026-11-21 03:15", "2026-11-21 03:15:07.1234567"):
        defined.sql(change, value)
        assert defined.sql(f"SELECT {column} FROM {table} WHERE {table}_id = 1") == [(value,)]
