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
from batchctl.domain.errors import Busy, DatabaseUnusable, SchemaMismatch
from batchctl.domain.health import Result
from batchctl.domain.requests import Verb
from batchctl.store import engine, examination, identity, schema, tables, views
from batchctl.store.dialects import dialect_of
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import ControlDatabase, PostgresControl, SqliteControl
from tests.hand import Hand
from tests.postgres import PostgresServer

*OLDER, NEWEST = schema.revisions()[:-1]

FILLED = """
INSERT INTO ProcessBatch (ProcessBatchName, OnFailure) VALUES ('Daily', 'continue');
INSERT INTO FileProcess (Entity, FileName) VALUES ('Daily', 'one');
INSERT INTO FileProcess (Entity, FileName) VALUES ('Daily', 'two');
INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status, NextRunTime, Data1)
SELECT ProcessBatch_id, 1, 'retry', '2026-11-21 03:15:00', 'text' FROM ProcessBatch;
INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status)
SELECT ProcessBatch_id, 2, 'paused' FROM ProcessBatch;
INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, CommandText,
Status, StartTime, EndTime)
SELECT 1, ProcessBatch_id, 10, 'load', 'sql', 'SELECT 1', 'failed', '2026-11-21 03:15:00.123', '2026-11-21 03:15:01.500'
FROM ProcessBatch
"""
"""Rows of what the oldest schema has."""
OF_OLD = {
    "ProcessBatch": "ProcessBatch_id, ProcessBatchName, OnFailure, z_inserted",
    "FileProcess": "FileProcess_id, Entity, Status, z_updated",
    "BatchControl": "BatchControl_id, Status, NextRunTime, Data1, z_updated",
    "BatchProcessHistory": "BatchProcessHistory_id, Status, StartTime, EndTime, CommandText",
}


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


def test_the_files_are_numbered_as_alembic_orders_them() -> None:
    script = ScriptDirectory(str(schema.migrations_path()))

    assert [revision.revision for revision in script.walk_revisions()] == list(reversed(schema.revisions()))


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql"])
def test_what_a_released_migration_makes_is_never_changed(dialect: str) -> None:
    golden = Path(__file__).parent / "golden" / f"{dialect}.sql"

    assert schema.script(dialect) == golden.read_text(encoding="utf-8")


@pytest.mark.full
def test_views_are_made_anew_under_the_rights_and_the_views_upon_them(empty: StoreTransactions, hand: Hand) -> None:
    empty.run(frozenset(), lambda connection: schema.upgrade(connection, "0020"))
    before = definitions_of(empty)
    hand.sql("CREATE VIEW Mine AS SELECT ProcessBatchName FROM vStatus")
    if hand.Refused is not sqlite3.IntegrityError:
        hand.sql("GRANT SELECT ON vStatus TO PUBLIC")
    mine = {name: text for name, text in definitions_of(empty).items() if name not in before}

    empty.run(frozenset(), schema.upgrade)
    after = definitions_of(empty)
    assert {"vstatus", "vwaiting"} <= {name.lower() for name in before if after[name] != before[name]}
    assert hand.sql("SELECT * FROM Mine") == []
    if hand.Refused is not sqlite3.IntegrityError:
        kept = "SELECT 1 FROM information_schema.table_privileges WHERE grantee = 'PUBLIC' AND table_name = 'vstatus'"
        assert hand.sql(kept) == [(1,)]

    empty.run(frozenset(), lambda connection: schema.downgrade(connection, "0020"))
    assert definitions_of(empty) == before | mine


def test_an_older_database_is_brought_up_with_all_that_it_holds(empty: StoreTransactions) -> None:
    empty.run(frozenset(), lambda connection: schema.upgrade(connection, "0001"))
    empty.run(frozenset(), lambda connection: connection.execute(text("INSERT INTO FileProcess (Entity) VALUES ('E')")))
    with empty.read() as connection, pytest.raises(SchemaMismatch, match=r"has schema 0001; this version needs"):
        schema.verify(connection)

    empty.run(frozenset(), schema.upgrade)

    with empty.read() as connection:
        schema.verify(connection)
        assert connection.execute(text("SELECT Entity FROM FileProcess")).scalars().all() == ["E"]
        assert schema.differences(connection) == []


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


@pytest.mark.full
def test_up_down_up(empty: StoreTransactions) -> None:
    empty.run(frozenset(), schema.upgrade)
    made = definitions_of(empty)
    empty.run(frozenset(), lambda connection: schema.downgrade(connection, "base"))
    left = definitions_of(empty)
    empty.run(frozenset(), schema.upgrade)

    assert left == {}
    assert definitions_of(empty) == made


def fill(transactions: StoreTransactions, hand: Hand, revision: str) -> None:
    """Make a database of a revision, with rows."""
    transactions.run(frozenset(), lambda connection: schema.upgrade(connection, revision))
    for statement in FILLED.split(";"):
        hand.sql(statement)


@pytest.mark.parametrize("revision", [*(pytest.param(one, marks=pytest.mark.full) for one in OLDER), NEWEST])
def test_an_upgrade_keeps_the_rows_and_so_does_the_way_back(
    empty: StoreTransactions, hand: Hand, revision: str
) -> None:
    def rows() -> dict[str, list[tuple[object, ...]]]:
        return {table: hand.sql(f"SELECT {columns} FROM {table} ORDER BY 1") for table, columns in OF_OLD.items()}

    fill(empty, hand, revision)
    before = rows()
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        assert schema.differences(connection) == []
    after = rows()
    empty.run(frozenset(), lambda connection: schema.downgrade(connection, revision))

    assert [len(found) for found in before.values()] == [1, 2, 2, 1]
    assert after == before
    assert rows() == before


@pytest.mark.full
def test_a_view_that_was_put_otherwise_is_put_as_before_for_the_versions_that_knew_no_other(
    empty: StoreTransactions,
) -> None:
    def start_time() -> list[str]:
        text = next(text for name, text in definitions_of(empty).items() if name.lower() == "vschedule")
        return re.findall(r"min\(\(select min\(|min\(c\.starttime\)", re.sub(r"(?<=\() ", "", text.lower()))

    empty.run(frozenset(), schema.upgrade)
    made = definitions_of(empty)
    now = start_time()
    empty.run(frozenset(), lambda connection: schema.downgrade(connection, "0032"))

    assert (now, start_time()) == (["min(c.starttime)"], ["min((select min("])
    empty.run(frozenset(), schema.upgrade)
    assert definitions_of(empty) == made


def test_an_upgrade_names_the_rows_that_have_to_be_corrected_first(postgres: PostgresServer, tmp_path: Path) -> None:
    """Only PostgreSQL ever took a time that is no day of the calendar."""
    older = PostgresControl(postgres, tmp_path, postgres.new_database())
    transactions = StoreTransactions(engine.open_engine(older.url, tmp_path))
    with closing(older.hand()) as hand:
        fill(transactions, hand, "0006")
        hand.sql("UPDATE BatchControl SET NextRunTime = 'infinity'")
        with pytest.raises(DatabaseUnusable, match=r"^BatchControl 1, 2: NextRunTime is no day") as refused:
            transactions.run(frozenset(), schema.upgrade)
        assert hand.sql("SELECT version_num FROM alembic_version") == [("0006",)]
        correction, then, _ = str(refused.value.next_step).partition(", or another time; then: batchctl db upgrade")
        hand.sql(correction)
    transactions.run(frozenset(), schema.upgrade)
    with transactions.read() as connection:
        schema.verify(connection)
    transactions.close()

    assert then


def test_a_request_of_no_known_word_is_answered_and_refused_from_then_on(empty: StoreTransactions, hand: Hand) -> None:
    asked = "INSERT INTO OperatorRequest (Action, Status) VALUES (?, ?)"
    empty.run(frozenset(), schema.upgrade)
    empty.run(frozenset(), lambda connection: schema.downgrade(connection, "0043"))
    for action, status in (("retrry", "requested"), ("retrry", "refused"), (" ReRun\u00a0", "requested")):
        hand.sql(asked, action, status)
    empty.run(frozenset(), schema.upgrade)
    kept = hand.sql("SELECT Action, Status, Answer IS NULL FROM OperatorRequest ORDER BY 1, OperatorRequest_id")
    with pytest.raises(hand.Refused, match="Action_Word"):
        hand.sql(asked, "retrry", "requested")
    for verb in Verb:
        hand.sql(asked, f"\t{verb.upper()} ", "requested")

    assert sorted((action, status, bool(unanswered)) for action, status, unanswered in kept) == [
        (" ReRun\u00a0", "requested", True),
        ("retrry", "refused", False),
        ("retrry", "refused", True),
    ]


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
    with pytest.raises(DatabaseUnusable, match="does not exist") as refused:
        engine.open_engine("sqlite:///none.db", tmp_path)
    assert refused.value.next_step == "batchctl db upgrade"
    assert not (tmp_path / "none.db").exists()


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is a letter, not a database, and long enough to be looked at\n" * 20)
    transactions = StoreTransactions(engine.open_engine("sqlite:///text.db", tmp_path))
    with pytest.raises(DatabaseUnusable, match=r"text\.db is not a SQLite database"), transactions.read() as connection:
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


@pytest.mark.parametrize(
    ("taken", "name"), [("VIEW vStatus AS SELECT 1 AS a", "vStatus"), ("TABLE incident (a integer)", "Incident")]
)
def test_a_name_that_an_upgrade_needs_and_somebody_has_taken_is_told(
    empty: StoreTransactions, empty_database: ControlDatabase, taken: str, name: str
) -> None:
    file = empty_database.directory / "batchctl.toml"
    file.write_text(f'database_url = "{empty_database.url}"\n', encoding="utf-8")
    empty.run(frozenset(), lambda connection: schema.upgrade(connection, "0016"))
    empty.run(frozenset(), lambda connection: connection.exec_driver_sql(f"CREATE {taken}"))

    with pytest.raises(SchemaMismatch, match=f"needs the names of: {name}") as told:
        upgrade_database(str(file))
    assert "rename them" in told.value.in_full
    with empty.read() as connection:
        assert schema.revision_of(connection) == "0016"


def test_a_database_of_a_newer_version_is_not_upgraded(empty: StoreTransactions) -> None:
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        with pytest.raises(SchemaMismatch, match="does not know"):
            schema.check_upgradable(connection)


@pytest.fixture
def older(empty: StoreTransactions, empty_database: ControlDatabase) -> str:
    """Return the configuration of a database of the version before the newest."""
    empty.run(frozenset(), lambda connection: schema.upgrade(connection, schema.revisions()[-2]))
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
        assert schema.revision_of(connection) == schema.revisions()[-2]


@pytest.mark.parametrize(("more", "values"), [(", Status", ", 'stopped'"), (", Heartbeat", ", '2026-11-01 00:00:00'")])
def test_who_has_ended_or_is_silent_keeps_nobody_from_upgrading(
    older: str, empty: StoreTransactions, more: str, values: str
) -> None:
    with empty.read() as connection:
        connection.exec_driver_sql(ENTERED.format(more=more, values=values))
    check_may_upgrade(older)

    assert upgrade_database(older) == (schema.revisions()[-2], schema.newest_revision())
    with empty.read() as connection:
        connection.exec_driver_sql("UPDATE Controller SET Status = 'running', Heartbeat = '2099-01-01 00:00:00'")
    assert upgrade_database(older) == (schema.newest_revision(),) * 2, "where there is nothing to do, nobody is asked"


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


def test_only_where_a_script_brings_up_to_date_what_is_there_is_it_advised(
    control_database: ControlDatabase, versions: Hand
) -> None:
    versions.sql("UPDATE alembic_version SET version_num = '0006'")
    told = refused(control_database)

    assert "has schema 0006" in told.message
    assert told.next_step == "batchctl db upgrade"


BROKEN = """
INSERT INTO ProcessBatch (ProcessBatchName, ProcessingMode) VALUES ('Daily', 'sheduled');
INSERT INTO ProcessBatch (ProcessBatchName, RetryWaitSecs) VALUES ('Nightly', -5);
INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT ProcessBatch_id, ProcessBatch_id FROM ProcessBatch
WHERE ProcessBatchName = 'Daily';
INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('at night', 'Daily', 'daily', '25:00')
"""


def test_an_upgrade_names_what_the_new_constraints_would_refuse_and_changes_nothing(
    empty: StoreTransactions, hand: Hand
) -> None:
    empty.run(frozenset(), lambda connection: schema.upgrade(connection, "0022"))
    for statement in BROKEN.split(";"):
        hand.sql(statement)
    before = definitions_of(empty)

    with pytest.raises(DatabaseUnusable) as refused:
        empty.run(frozenset(), schema.upgrade)

    said = refused.value.message
    for row in (
        *("ProcessBatch 1 (Daily): ProcessingMode is 'sheduled'", "ProcessBatch 2 (Nightly): RetryWaitSecs is '-5'"),
        *("BatchDependency 1 (1): DependsOnBatch_id is '1'", "Schedule 1 (at night): RunTimes is '25:00'"),
    ):
        assert row in said
    assert refused.value.next_step == (
        "correct each, such as UPDATE ProcessBatch SET ProcessingMode = ... WHERE ProcessBatch_id = 1;"
        " then: batchctl db upgrade"
    )
    assert definitions_of(empty) == before
    hand.sql("UPDATE ProcessBatch SET ProcessingMode = 'scheduled', RetryWaitSecs = NULL")
    hand.sql("DELETE FROM BatchDependency")
    hand.sql("UPDATE Schedule SET RunTimes = '05:00'")
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        assert schema.differences(connection) == []


def test_an_upgrade_names_lists_limits_and_times_that_the_engine_could_not_read(
    empty: StoreTransactions, hand: Hand
) -> None:
    empty.run(frozenset(), lambda connection: schema.upgrade(connection, "0031"))
    hand.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', 'twenty')")
    monthly = (
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, RunMonths, RunDaysOfMonth, NextRunTime)"
    )
    hand.sql(f"{monthly} VALUES ('a', 'B', 'monthly', '06:00', 'Brumaire', '1,last', NULL)")
    hand.sql(f"{monthly} VALUES ('b', 'B', 'monthly', '06:00', 'Feb', '31', NULL)")
    said = ["Setting 2 (MaxConcurrent): Value is 'twenty'", "Schedule 1 (a): RunMonths is 'Brumaire'"]
    said.append("Schedule 2 (b): RunDaysOfMonth is '31'")
    if hand.Refused is not sqlite3.IntegrityError:
        hand.sql("UPDATE Schedule SET NextRunTime = 'infinity' WHERE Schedule_id = 1")
        said.append("Schedule 1: NextRunTime is 'infinity'")
    before = definitions_of(empty)

    with pytest.raises(DatabaseUnusable) as refused:
        empty.run(frozenset(), schema.upgrade)

    assert [row for row in said if row not in refused.value.message] == []
    assert definitions_of(empty) == before
    hand.sql("UPDATE Schedule SET RunMonths = NULL, NextRunTime = NULL")
    hand.sql("UPDATE Setting SET Value = '20' WHERE Name = 'MaxConcurrent'")
    empty.run(frozenset(), schema.upgrade)
    with empty.read() as connection:
        assert schema.differences(connection) == []


def test_an_upgrade_names_the_steps_whose_maxlost_the_engine_could_not_read(
    empty: StoreTransactions, hand: Hand
) -> None:
    empty.run(frozenset(), lambda connection: schema.upgrade(connection, "0025"))
    hand.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Daily')")
    hand.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, MaxLost)"
        " VALUES (1, 10, 'load', 'sql', -1)"
    )
    with pytest.raises(DatabaseUnusable, match=r"ProcessControl 1 \(load\): MaxLost is '-1'") as refused:
        empty.run(frozenset(), schema.upgrade)
    correction, then, _ = str(refused.value.next_step).removeprefix("correct each, such as ").partition("; then: ")
    hand.sql(correction)
    empty.run(frozenset(), schema.upgrade)

    assert then
    assert hand.sql("SELECT MaxLost FROM ProcessControl") == [(3,)]


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
