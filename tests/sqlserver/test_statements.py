"""SQL Server takes every statement that the store keeps; those it makes while it runs are looked at by every test."""

from __future__ import annotations

from importlib import import_module
from types import FunctionType

import pytest
from sqlalchemy import Connection, create_engine, text

from batchctl.store import identity, unreadable_columns
from batchctl.store.conditions import requirements
from batchctl.store.dialects import mssql_session
from batchctl.store.maintenance import schema
from batchctl.store.statements import RowInsert
from batchctl.store.tables import file_process, metadata
from tests.sqlserver import statements, taken

KEPT = statements.kept()


def test_all_that_the_store_keeps_is_found() -> None:
    modules = {name.rpartition(".")[0].rpartition(".")[2] for name in KEPT}

    assert {"instances", "intake", "incident_rows", "limits", "backfills", "calendars", "definitions"} <= modules
    assert len(KEPT) > 300


@pytest.mark.parametrize("name", KEPT)
def test_it_is_taken(name: str) -> None:
    taken.assert_taken(KEPT[name], of_ours=True)


@pytest.mark.parametrize("name", KEPT)
def test_it_is_taken_as_mssql_python_is_given_it(name: str) -> None:
    taken.assert_taken(mssql_session._TELLING.format(KEPT[name]), of_ours=True)


@pytest.mark.parametrize("table", metadata.tables)
def test_what_looks_for_unreadable_rows_is_taken(table: str) -> None:
    made = metadata.tables[table]
    for column, condition in requirements(made, "mssql"):
        taken.assert_taken(f"SELECT 1 FROM {table} WHERE {unreadable_columns._breaks(made.c[column], condition)}")


def test_another_name_for_the_database_is_taken() -> None:
    for statement in (identity._INSERT, identity._UPDATE):
        taken.assert_taken(statement.format(identity._AT_RANDOM["mssql"]))


def test_a_statement_is_heard_when_it_is_executed_once_whatever_the_database() -> None:
    heard: list[str] = []
    with statements.recording(heard.append), create_engine("sqlite://").connect() as connection:
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num text)")
        for _ in range(2):
            assert schema.revision_of(connection) is None

    assert heard == ["SELECT version_num FROM alembic_version"]


def ask_in_two_ways(connection: Connection) -> None:
    connection.exec_driver_sql("SELECT 1")
    connection.execute(text("SELECT 2"))


@pytest.mark.parametrize("module", sorted({module for module, _ in statements.BY_KIND}))
def test_a_new_statement_is_heard_of_a_module_that_makes_others_for_each_kind_of_database(module: str) -> None:
    heard: list[str] = []
    # As if it stood there.
    asked = FunctionType(ask_in_two_ways.__code__, {"__name__": module, "text": text})
    with statements.recording(heard.append), create_engine("sqlite://").connect() as connection:
        asked(connection)
        asked(connection)

    assert heard == ["SELECT 1", "SELECT 2"]


def test_what_is_made_for_each_kind_of_database_is_there() -> None:
    for module, name in statements.BY_KIND:
        found = import_module(module)
        functions = {**{key: one for made in vars(found).values() for key, one in _members(made)}, **vars(found)}
        assert isinstance(functions.get(name), FunctionType), f"{module}.{name}"


def _members(made: object) -> list[tuple[str, object]]:
    return [*vars(made).items()] if isinstance(made, type) else []


def test_a_statement_is_heard_when_it_is_compiled_for_the_driver() -> None:
    heard: list[str] = []
    added = RowInsert(file_process)
    with statements.recording(heard.append):
        added._for(create_engine("sqlite://").connect(), ["Entity", "FileName"])

    assert heard == ["INSERT INTO FileProcess (Entity, FileName) VALUES (?, ?)"]
