"""Migrations: up, down, equal to the model, all or nothing."""

from __future__ import annotations

import re
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import text

from batchctl.control_database import check_may_upgrade, upgrade_database
from batchctl.domain.errors import Busy, DatabaseRefused, SchemaMismatch
from batchctl.domain.outcomes import Result
from batchctl.store import engine, identity, tables, views
from batchctl.store.dialects import dialect_of
from batchctl.store.maintenance import examination, former_tables, schema
from batchctl.store.maintenance.schema import SchemaStanding
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import ControlDatabase, PostgresControl, SqliteControl
from tests.hand import Hand
from tests.postgres import PostgresServer

FILLED = """
INSERT INTO ProcessBatch (ProcessBatchName, OnFailure) VALUES ('Daily', 'continue');
INSERT INTO FileProcess (Entity, FileName) VALUES ('Daily', 'one');
INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status, NextRunTime, Data1)
SELECT ProcessBatch_id, 1, 'retry', '2026-11-21 03:15:00', 'text' FROM ProcessBatch;
INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, CommandText,
Status, StartTime, EndTime)
SELECT 1, ProcessBatch_id, 10, 'load', 'sql', 'SELECT 1', 'failed', '2026-11-21 03:15:00.123', '2026-11-21 03:15:01.500'
FROM ProcessBatch
"""
KEPT = ("ProcessBatch", "FileProcess", "BatchControl", "BatchProcessHistory")
"""The tables with rows of it."""
SPOILT = {
    "sqlite": (
        "DROP VIEW vStatus",
        "CREATE VIEW vStatus AS SELECT ProcessBatchName FROM ProcessBatch",
        "DROP TRIGGER TR_ProcessBatch_AuditUpdate",
        "CREATE TRIGGER TR_Setting_AuditReplaceInsert BEFORE INSERT ON Setting BEGIN SELECT 1; END",
    ),
    "postgresql": (
        "DROP VIEW vStatus",
        "CREATE VIEW vStatus AS SELECT ProcessBatchName, 1 AS Other FROM ProcessBatch",
        "GRANT SELECT ON vStatus TO PUBLIC",
        "DROP TRIGGER TR_ProcessBatch_Audit ON ProcessBatch",
        "CREATE OR REPLACE FUNCTION batchctl_notify() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    ),
}
"""What leaves views, triggers and functions otherwise than this version makes them, as an older one has made them."""


def spoil(transactions: StoreTransactions) -> None:
    """Make a database and leave what is repeatable in it as an older version made it."""
    transactions.run(frozenset(), schema.upgrade)
    with transactions.read() as connection:
        for statement in SPOILT[connection.dialect.name]:
            connection.exec_driver_sql(statement)


@pytest.fixture
def hand(empty_database: ControlDatabase) -> Iterator[Hand]:
    """Return a person's client."""
    made = empty_database.hand()
    yield made
    made.close()


@pytest.fixture
def empty(empty_database: ControlDatabase) -> Iterator[StoreTransactions]:
    """Return the way to a database that holds nothing."""
    made = StoreTransactions(engine.open_engine(empty_database.url, empty_database.directory, may_create=True))
    yield made
    made.close()


def definitions_of(transactions: StoreTransactions) -> dict[str, str]:
    """Return how everything is defined but Alembic's own table."""
    with transactions.read() as connection:
        found = dialect_of(connection).definitions(connection)
    return {name: text for name, text in found.items() if not name.startswith(("alembic", "AutogenContext"))}


def test_what_is_migrated_is_what_the_model_says_to_the_letter(empty: StoreTransactions) -> None:
    with empty.read() as connection:
        model = dialect_of(connection).wanted_definitions(connection, tables.metadata.create_all)
    empty.run(frozenset(), schema.upgrade)

    migrated = definitions_of(empty)
    beyond = {name for name in migrated if name not in model}
    assert {name: migrated[name] for name in model} == model
    shown = {name.lower() for name in views.NAMES}
    others = {name for name in beyond if name.lower() not in shown}
    triggers = re.compile(r"(\w+\.)?TR_|batchctl_", re.IGNORECASE)
    assert [name for name in others if not triggers.match(name)] == [], "only views and triggers are beyond it"


def test_there_is_one_revision_whose_file_begins_with_its_number() -> None:
    script = ScriptDirectory(str(schema.migrations_path()))

    assert [revision.revision for revision in script.walk_revisions()] == [schema.newest_revision()]
    assert schema.revisions() == [*former_tables.REVISIONS, schema.newest_revision()]


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_the_script_is_the_one_that_was_reviewed(dialect: str) -> None:
    golden = Path(__file__).parent / "golden" / f"{dialect}.sql"

    assert schema.script(dialect) == golden.read_text(encoding="utf-8")


def test_an_upgrade_makes_anew_what_differs_and_keeps_the_rows(empty: StoreTransactions, hand: Hand) -> None:
    empty.run(frozenset(), schema.upgrade)
    made = definitions_of(empty)
    for statement in FILLED.split(";"):
        hand.sql(statement)
    before = {table: hand.sql(f"SELECT * FROM {table}") for table in KEPT}
    spoil(empty)
    with empty.read() as connection:
        assert schema.standing(connection) is SchemaStanding.STALE
        assert schema.lacks_only_what_is_repeatable(connection)

    empty.run(frozenset(), schema.upgrade)

    assert definitions_of(empty) == made
    assert {table: hand.sql(f"SELECT * FROM {table}") for table in KEPT} == before
    with empty.read() as connection:
        assert schema.standing(connection) is SchemaStanding.CURRENT
        assert schema.differences(connection) == []


def test_views_are_made_anew_under_the_rights_and_the_views_upon_them(empty: StoreTransactions, hand: Hand) -> None:
    empty.run(frozenset(), schema.upgrade)
    made = definitions_of(empty)
    hand.sql("CREATE VIEW Mine AS SELECT ProcessBatchName FROM vFailed")
    if hand.Refused is not sqlite3.IntegrityError:
        hand.sql("GRANT SELECT ON vFailed TO PUBLIC")
    spoil(empty)

    empty.run(frozenset(), schema.upgrade)

    assert {name: text for name, text in definitions_of(empty).items() if name.lower() != "mine"} == made
    assert hand.sql("SELECT * FROM Mine") == []
    if hand.Refused is not sqlite3.IntegrityError:
        kept = "SELECT table_name FROM information_schema.table_privileges WHERE grantee = 'PUBLIC' AND table_name LIKE 'v%'"
        kept += " AND table_schema = current_schema() ORDER BY 1"
        assert hand.sql(kept) == [("vfailed",), ("vstatus",)], "one was replaced, one made again with other columns"


def test_a_view_upon_one_that_gets_other_columns_is_named(postgres: PostgresServer, tmp_path: Path) -> None:
    """Only PostgreSQL remembers what stands upon what."""
    database = PostgresControl(postgres, tmp_path, postgres.new_database())
    with closing(StoreTransactions(engine.open_engine(database.url, tmp_path))) as transactions:
        spoil(transactions)
        with transactions.read() as connection:
            connection.exec_driver_sql("CREATE VIEW Mine AS SELECT Other FROM vStatus")
        with pytest.raises(SchemaMismatch, match=r"(?s)View vStatus gets other columns.*view mine depends") as refused:
            transactions.run(frozenset(), schema.upgrade)

    assert refused.value.next_step == "drop that, then: batchctl db upgrade, then make it again"


def test_a_view_that_others_stand_upon_gets_other_columns(postgres: PostgresServer, tmp_path: Path) -> None:
    """What stands upon it is made again, too, with the rights that people have on it."""
    database = PostgresControl(postgres, tmp_path, postgres.new_database())
    with closing(StoreTransactions(engine.open_engine(database.url, tmp_path))) as transactions:
        transactions.run(frozenset(), schema.upgrade)
        made = definitions_of(transactions)
        with transactions.read() as connection:
            for statement in (
                "DROP VIEW vStatus, vWaiting, vInbox, vSchedule, vUnreadable",
                "CREATE VIEW vUnreadable AS SELECT 1 AS Other",
                "CREATE VIEW vStatus AS SELECT Other FROM vUnreadable",
                "CREATE VIEW vLooked AS SELECT Other FROM vStatus",
                "GRANT SELECT ON vUnreadable, vStatus TO PUBLIC",
            ):
                connection.exec_driver_sql(statement)
        with pytest.raises(SchemaMismatch, match=r"(?s)View vUnreadable gets other columns.*view vlooked depends"):
            transactions.run(frozenset(), schema.upgrade)
        with transactions.read() as connection:
            connection.exec_driver_sql("DROP VIEW vLooked")
        transactions.run(frozenset(), schema.upgrade)

        assert definitions_of(transactions) == made
        with transactions.read() as connection:
            public = connection.exec_driver_sql(
                "SELECT table_name FROM information_schema.table_privileges WHERE grantee = 'PUBLIC' AND table_name LIKE 'v%%'"
                " AND table_schema = current_schema() ORDER BY 1"
            )
            assert public.scalars().all() == ["vstatus", "vunreadable"]


def test_who_may_make_no_schema_is_told_that_there_is_nothing_to_do(postgres: PostgresServer, tmp_path: Path) -> None:
    database = PostgresControl(postgres, tmp_path, postgres.new_database())
    with closing(StoreTransactions(engine.open_engine(database.url, tmp_path))) as transactions:
        transactions.run(frozenset(), schema.upgrade)
        with transactions.read() as connection:
            connection.exec_driver_sql("CREATE ROLE worker LOGIN")
            connection.exec_driver_sql("GRANT SELECT ON ALL TABLES IN SCHEMA public TO worker")
        worker = engine.open_engine(database.url.replace("postgres@", "worker@"), tmp_path)
        with closing(StoreTransactions(worker)) as theirs:
            with theirs.read() as connection:
                assert schema.standing(connection) is SchemaStanding.NOT_COMPARED
            with transactions.read() as connection:
                connection.exec_driver_sql("DROP VIEW vStatus")
            with theirs.read() as connection:
                assert schema.standing(connection) is SchemaStanding.STALE


def test_an_older_schema_than_it_knows_is_refused_with_the_two_ways_out(empty: StoreTransactions) -> None:
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0021'")
        for look in (schema.verify, schema.check_upgradable):
            with pytest.raises(SchemaMismatch, match=r"has schema 0021; .* knows none older than 0045") as refused:
                look(connection)
            assert "bring it to 0045" in str(refused.value.next_step)
            assert "batchctl export" in str(refused.value.next_step)


def test_a_new_database_has_no_batch_that_would_run_whatever_a_row_says(empty: StoreTransactions, hand: Hand) -> None:
    empty.run(frozenset(), schema.upgrade)

    assert hand.sql("SELECT ProcessBatchName FROM ProcessBatch") == []


def test_every_database_gets_a_name_that_no_other_has(tmp_path: Path) -> None:
    names = set()
    for number in range(3):
        opened = StoreTransactions(engine.open_engine(f"sqlite:///{number}.db", tmp_path, may_create=True))
        opened.run(frozenset(), schema.upgrade)
        with opened.read() as connection:
            names.add(identity.database_id(connection))
        opened.close()

    assert len(names) == 3
    assert {len(name) for name in names} == {32}


def test_an_upgrade_cut_in_the_middle_leaves_nothing(empty: StoreTransactions) -> None:
    def cut(connection: object) -> None:
        schema.upgrade(connection)  # type: ignore[arg-type] # the store's connection
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        empty.run(frozenset(), cut)
    assert definitions_of(empty) == {}


@pytest.mark.full
def test_the_printed_script_makes_the_same_database_in_the_databases_own_shell(
    empty: StoreTransactions, empty_database: ControlDatabase, tmp_path: Path
) -> None:
    empty.run(frozenset(), schema.upgrade)
    script = schema.script(empty_database.kind)
    if isinstance(empty_database, PostgresControl):
        server = empty_database.server
        by_script: ControlDatabase = PostgresControl(server, tmp_path, server.new_database())
        said = server.psql(by_script.url.rpartition("/")[2], script)
        assert (said.returncode, said.stderr) == (0, "")
    else:
        (tmp_path / "script").mkdir()
        by_script = SqliteControl(tmp_path / "script")
        with closing(sqlite3.connect(by_script.directory / "batchctl.db")) as connection:
            connection.executescript(script)

    other = StoreTransactions(engine.open_engine(by_script.url, by_script.directory))
    assert definitions_of(other) == definitions_of(empty)
    with other.read() as connection:
        schema.verify(connection)
    other.close()


def test_the_printed_script_run_again_says_so_and_changes_nothing(postgres: PostgresServer) -> None:
    name = postgres.new_database()
    script = schema.script("postgresql")
    postgres.psql(name, script)
    again = postgres.psql(name, script)
    heedless = postgres.psql(name, script, "-v", "ON_ERROR_STOP=0")

    assert again.returncode != 0
    assert "there are tables of these names already; nothing is made" in again.stderr
    assert "ROLLBACK" in heedless.stdout
    with postgres.connect(name) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(schema.newest_revision(),)]


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_a_script_says_what_it_is_and_how_to_run_it(dialect: str) -> None:
    heading = schema.script(dialect).partition("BEGIN;")[0]

    assert all(line.startswith("--") for line in heading.splitlines() if line)
    assert schema.newest_revision() in heading
    assert {"sqlite": "sqlite3 -bail", "postgresql": "psql -v ON_ERROR_STOP=1"}[dialect] in heading


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
    with pytest.raises(DatabaseRefused, match="does not exist") as refused:
        engine.open_engine("sqlite:///none.db", tmp_path)
    assert refused.value.next_step == "batchctl db upgrade"
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is a letter, not a database, and long enough to be looked at\n" * 20)
    transactions = StoreTransactions(engine.open_engine("sqlite:///text.db", tmp_path))
    with pytest.raises(DatabaseRefused, match=r"text\.db is not a SQLite database"), transactions.read() as connection:
        schema.verify(connection)


def test_foreign_keys_are_in_force(sqlite_database: SqliteControl) -> None:
    with engine.open_engine(sqlite_database.url, sqlite_database.directory).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1


def test_a_new_file_is_written_to_in_the_way_that_doctor_recommends(tmp_path: Path) -> None:
    made = SqliteControl(tmp_path)
    transactions = StoreTransactions(engine.open_engine(made.url, made.directory, may_create=True))
    with transactions.read() as connection:
        dialect_of(connection).prepare(connection)
    transactions.run(frozenset(), schema.upgrade)
    transactions.close()

    with engine.open_engine(made.url, made.directory).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        assert [one.result for one in examination.durability(connection)] == [Result.OK, Result.OK]


@pytest.mark.full
def test_what_a_hand_has_changed_is_found(empty: StoreTransactions) -> None:
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        assert schema.differences(connection) == []
        connection.exec_driver_sql("ALTER TABLE ProcessBatch RENAME COLUMN Description TO zz")
        with_it = " CASCADE" if connection.dialect.name == "postgresql" else ""
        connection.exec_driver_sql(f"DROP TABLE AuditLog{with_it}")
        connection.exec_driver_sql("CREATE TABLE TheirOwn (x int)")
        found = schema.differences(connection)
    assert any(line.lower().startswith("auditlog") and line.endswith("is missing") for line in found)
    assert any(line.lower().startswith("processbatch") for line in found)
    assert not any("theirown" in line.lower() for line in found)


def test_a_check_somebody_dropped_is_found_on_a_server(
    empty: StoreTransactions, empty_database: ControlDatabase
) -> None:
    empty.run(frozenset(), schema.upgrade)
    if empty_database.kind == "postgresql":
        with empty.read() as connection:
            connection.exec_driver_sql('ALTER TABLE BatchControl DROP CONSTRAINT "CK_BatchControl_Status"')
            connection.exec_driver_sql("DROP TRIGGER TR_FileProcess_Notify ON FileProcess")
            assert schema.differences(connection) == [
                "CK_BatchControl_Status is missing",
                "fileprocess.tr_fileprocess_notify is missing",
            ]


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


@pytest.fixture
def older(empty: StoreTransactions, empty_database: ControlDatabase) -> str:
    """Return the configuration of a database whose views and triggers are of an older version."""
    spoil(empty)
    file = empty_database.directory / "batchctl.toml"
    file.write_text(f'database_url = "{empty_database.url}"\n', encoding="utf-8")
    return str(file)


ENTERED = "INSERT INTO Controller (ControllerName, Host, Pid{more}) VALUES ('c1', 'etl 7', 4711{values})"


@pytest.mark.parametrize("upgrade", [upgrade_database, check_may_upgrade])
def test_nothing_is_upgraded_beneath_a_living_controller(
    older: str, empty: StoreTransactions, upgrade: Callable[[str], object]
) -> None:
    with empty.read() as connection:
        connection.exec_driver_sql(ENTERED.format(more="", values=""))

    with pytest.raises(Busy) as refused:
        upgrade(older)

    assert "controller c1 (host etl 7, process 4711)" in refused.value.message
    assert (refused.value.next_step or "").endswith("then: batchctl db upgrade")
    with empty.read() as connection:
        assert schema.standing(connection) is SchemaStanding.STALE


@pytest.mark.parametrize(("more", "values"), [(", Status", ", 'stopped'"), (", Heartbeat", ", '2026-11-01 00:00:00'")])
def test_who_has_ended_or_is_silent_keeps_nobody_from_upgrading(
    older: str, empty: StoreTransactions, more: str, values: str
) -> None:
    with empty.read() as connection:
        connection.exec_driver_sql(ENTERED.format(more=more, values=values))
    check_may_upgrade(older)

    newest = schema.newest_revision()
    assert upgrade_database(older) == (newest, newest, SchemaStanding.STALE, [])
    with empty.read() as connection:
        connection.exec_driver_sql("UPDATE Controller SET Status = 'running', Heartbeat = '2099-01-01 00:00:00'")
    assert upgrade_database(older) == (newest, newest, SchemaStanding.CURRENT, []), (
        "where there is nothing to do, nobody is asked"
    )


@pytest.fixture
def versions(control_database: ControlDatabase) -> Iterator[Hand]:
    """Return who may write what the database says of its schema; afterwards it says what it said."""
    hand = control_database.hand()
    yield hand
    hand.sql("DELETE FROM alembic_version")
    hand.sql("INSERT INTO alembic_version (version_num) VALUES (?)", schema.newest_revision())
    hand.close()


def refused(database: ControlDatabase) -> SchemaMismatch:
    """Return why this version does not work with a database."""
    transactions = StoreTransactions(engine.open_engine(database.url, database.directory))
    with pytest.raises(SchemaMismatch) as told, transactions.read() as connection:
        schema.verify(connection)
    transactions.close()
    return told.value


def test_a_database_that_says_it_has_two_schemas_is_told_so_by_name(
    control_database: ControlDatabase, versions: Hand
) -> None:
    versions.sql("INSERT INTO alembic_version (version_num) VALUES ('0001')")
    told = refused(control_database)

    assert f"several schemas: 0001, {schema.newest_revision()}." in told.message
    assert "restore a backup" in str(told.next_step)


@pytest.mark.full
def test_what_a_dump_brings_back_is_as_it_was_made(postgres: PostgresServer, prepared: str, tmp_path: Path) -> None:
    first, second, dump = postgres.new_database(prepared), postgres.new_database(), tmp_path / "dump"
    where = ["-h", "127.0.0.1", "-p", str(postgres.port), "-U", "postgres"]
    subprocess.run([postgres.programs / "pg_dump", *where, "-f", dump, first], check=True)
    done = postgres.psql(second, dump.read_text(encoding="utf-8"))
    assert (done.returncode, done.stderr) == (0, "")

    restored = StoreTransactions(engine.open_engine(postgres.url(second), tmp_path))
    with restored.read() as connection:
        assert schema.differences(connection) == []
        connection.execute(text('DROP INDEX "IX_BatchControl_Over"'))
        connection.execute(text('CREATE INDEX "IX_BatchControl_Over" ON BatchControl (BatchControl_id)'))
        connection.execute(text("CREATE OR REPLACE VIEW vFailed AS SELECT * FROM vFailed LIMIT 1"))
        found = schema.differences(connection)
    restored.close()
    assert sorted(found) == ["IX_BatchControl_Over is not as it was made", "vfailed is not as it was made"]
