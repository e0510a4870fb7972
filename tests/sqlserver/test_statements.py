"""SQL Server takes every statement that the store keeps; those it makes while it runs are looked at by every test."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, select

from batchctl.store.dialects import mssql_session
from batchctl.store.tables import file_process, metadata
from tests.sqlserver import statements, taken

KEPT = statements.kept()


def test_all_that_the_store_keeps_is_found() -> None:
    modules = {name.partition(".")[0] for name in KEPT}

    assert {"instances", "intake", "incidents", "limits", "backfills", "calendars", "definitions"} <= modules
    assert len(KEPT) > 300


@pytest.mark.parametrize("name", KEPT)
def test_it_is_taken(name: str) -> None:
    taken.assert_taken(KEPT[name])


@pytest.mark.parametrize("name", KEPT)
def test_it_is_taken_as_mssql_python_is_given_it(name: str) -> None:
    taken.assert_taken(mssql_session._TELLING.format(KEPT[name]))


def test_a_statement_is_looked_at_when_it_is_made_too(tmp_path: Path) -> None:
    heard: list[str] = []
    engine = create_engine(f"sqlite:///{tmp_path / 'made.db'}")
    with statements.recording(heard.append), engine.begin() as connection:
        metadata.create_all(connection)
        connection.execute(select(file_process.c.Data).limit(7))
        connection.execute(select(file_process.c.Data).limit(7))

    assert [text for text in heard if "TOP 7" in text] == ["SELECT TOP 7 FileProcess.Data \nFROM FileProcess"]
