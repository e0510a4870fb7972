"""Migrations: up, down, equal to the model, all or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from batchctl.app import upgrade_database
from batchctl.domain.errors import DatabaseUnusable, SchemaMismatch
from batchctl.store import engine, schema, tables
from batchctl.store.dialects import sqlite
from batchctl.store.transactions import StoreTransactions


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[StoreTransactions]:
    """Return the way to a database that holds nothing."""
    made = StoreTransactions(engine.open_engine("sqlite:///batchctl.db", tmp_path, may_create=True))
    yield made
    made.close()


def definitions_of(path: Path) -> dict[str, str]:
    """Return the text every table and index was made with."""
    with sqlite3.connect(path) as connection:
        found = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'alembic%'"
        )
        return {name: " ".join(text.split()) for name, text in found}


def test_what_is_migrated_is_what_the_model_says_to_the_letter(empty: StoreTransactions, tmp_path: Path) -> None:
    empty.run(frozenset(), schema.upgrade)
    with engine.open_engine("sqlite:///model.db", tmp_path, may_create=True).connect() as connection:
        tables.metadata.create_all(connection)

    assert definitions_of(tmp_path / "batchctl.db") == definitions_of(tmp_path / "model.db")


def test_the_files_are_numbered_as_alembic_orders_them() -> None:
    script = ScriptDirectory(str(schema.migrations_path()))

    assert [revision.revision for revision in script.walk_revisions()] == list(reversed(schema.revisions()))


def test_the_model_needs_no_further_revision(empty: StoreTransactions) -> None:
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), tables.metadata) == []


def test_up_down_up(empty: StoreTransactions, tmp_path: Path) -> None:
    empty.run(frozenset(), schema.upgrade)
    made = definitions_of(tmp_path / "batchctl.db")
    empty.run(frozenset(), lambda connection: schema.downgrade(connection, "base"))
    left = [name for name in definitions_of(tmp_path / "batchctl.db") if not name.startswith("sqlite_")]
    empty.run(frozenset(), schema.upgrade)

    assert left == []
    assert definitions_of(tmp_path / "batchctl.db") == made


def test_an_upgrade_cut_in_the_middle_leaves_nothing(empty: StoreTransactions, tmp_path: Path) -> None:
    def cut(connection: object) -> None:
        schema.upgrade(connection)  # type: ignore[arg-type] # the store's connection
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        empty.run(frozenset(), cut)
    assert definitions_of(tmp_path / "batchctl.db") == {}


def test_the_printed_script_makes_the_same_database(empty: StoreTransactions, tmp_path: Path) -> None:
    empty.run(frozenset(), schema.upgrade)
    with sqlite3.connect(tmp_path / "script.db") as connection:
        connection.executescript(schema.script("sqlite"))
        revision = connection.execute("SELECT version_num FROM alembic_version").fetchone()

    assert definitions_of(tmp_path / "script.db") == definitions_of(tmp_path / "batchctl.db")
    assert revision == (schema.newest_revision(),)


def test_a_database_without_tables_is_refused_with_what_to_type(empty: StoreTransactions) -> None:
    with empty.read() as connection, pytest.raises(SchemaMismatch, match="no batchctl tables") as refused:
        schema.verify(connection)
    assert refused.value.next_step == "batchctl db upgrade"


def test_a_newer_schema_is_refused(empty: StoreTransactions) -> None:
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(SchemaMismatch, match="does not know"):
            schema.verify(connection)


def test_a_missing_file_is_never_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnusable, match="does not exist") as refused:
        engine.open_engine("sqlite:///none.db", tmp_path)
    assert refused.value.next_step == "batchctl db upgrade"
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is a letter, not a database, and long enough to be looked at\n" * 20)
    transactions = StoreTransactions(engine.open_engine("sqlite:///text.db", tmp_path))
    with pytest.raises(DatabaseUnusable, match=r"text\.db is not a SQLite database"), transactions.read() as connection:
        schema.verify(connection)


def test_durability_is_full(empty: StoreTransactions) -> None:
    with empty.read() as connection:
        sqlite.prepare_file(connection)
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1


def test_what_a_hand_has_changed_is_found(empty: StoreTransactions) -> None:
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        assert schema.differences(connection) == []
        connection.exec_driver_sql("DROP TABLE AuditLog")
        connection.exec_driver_sql("ALTER TABLE ProcessBatch ADD COLUMN zz")
        connection.exec_driver_sql("CREATE TABLE TheirOwn (x)")
        assert schema.differences(connection) == ["AuditLog is missing", "ProcessBatch is not as it was made"]


def test_a_database_of_somebody_else_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "batchctl.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE FileProcess (x)")
    before = path.read_bytes()
    (tmp_path / "batchctl.toml").write_text("", encoding="utf-8")

    with pytest.raises(SchemaMismatch, match="did not make here: FileProcess"):
        upgrade_database(str(tmp_path / "batchctl.toml"))
    assert path.read_bytes() == before


def test_a_database_of_a_newer_version_is_not_upgraded(empty: StoreTransactions) -> None:
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(SchemaMismatch, match="does not know"):
            schema.check_upgradable(connection)
