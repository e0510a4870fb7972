"""The schema of SQLite is what people read in their shell: it stays as short as it is, and tables fit on a screen."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import create_engine

from batchctl.store.maintenance import schema
from batchctl.store.tables import metadata

MOST = {"table": 60_833, "index": 5_800, "trigger": 39_000, "view": 66_100}
"""Characters of what `.schema` shows, by kind. Make it shorter, and write the new figure here.

The pools that a token is for are the newest: a column.
"""
MOST_LINES = 60
EVENTS = {"BEFORE INSERT", "AFTER INSERT", "BEFORE UPDATE", "AFTER UPDATE", "BEFORE DELETE"}
"""What SQLite tells triggers of: of none of these may the audit of definitions hear nothing, and once is enough."""


@pytest.fixture(scope="module")
def defined() -> list[tuple[str, str, str, str]]:
    """Return all that is defined in a new database: its kind, its name, its table, and how."""
    with create_engine("sqlite://", isolation_level="AUTOCOMMIT").connect() as connection:
        schema.upgrade(connection)
        rows = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return [(str(kind), str(name), str(table), str(sql)) for kind, name, table, sql in rows]


def test_there_is_not_more_to_read(defined: list[tuple[str, str, str, str]]) -> None:
    shown = Counter[str]()
    for kind, _, _, sql in defined:
        shown[kind] += len(sql) + len(";\n")

    assert {kind: many for kind, many in shown.items() if many >= MOST[kind]} == {}


def test_every_table_fits_on_a_screen(defined: list[tuple[str, str, str, str]]) -> None:
    lines = {name: sql.count("\n") + 1 for kind, name, _, sql in defined if kind == "table"}

    assert {name: many for name, many in lines.items() if many >= MOST_LINES} == {}


def test_the_columns_of_a_table_end_with_when_its_rows_were_written() -> None:
    for table in metadata.tables.values():
        names = [column.name for column in table.c]
        written = [name for name in ("z_inserted", "z_updated") if name in names]
        assert names[len(names) - len(written) :] == written, table.name


def test_of_a_definition_every_event_is_audited_by_one_trigger(defined: list[tuple[str, str, str, str]]) -> None:
    told = Counter[tuple[str, str]]()
    for kind, _, table, sql in defined:
        if kind == "trigger" and ("INSERT INTO batchctl_audited" in sql or "INSERT INTO batchctl_in_the_way" in sql):
            told[table, " ".join(sql.split()[3:5])] += 1
    tables = {table for table, _ in told}

    assert len(tables) == 15
    assert {one: many for one, many in told.items() if one[0] in tables} == {
        (table, event): 1 for table in tables for event in EVENTS
    }
