"""A database of a revision before, 0045 to 0050: its tables get what is new where they stand, and no row is moved."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from batchctl.control_database import upgrade_database
from batchctl.domain.errors import DatabaseRefused, SchemaMismatch
from batchctl.store import engine
from batchctl.store.dialects import sqlite
from batchctl.store.maintenance import schema
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import PostgresControl, SqliteControl
from tests.migrations.test_migrations import FILLED, KEPT
from tests.postgres import PostgresServer

FORMER = {
    revision: gzip.decompress(Path(__file__).with_name(f"former_{revision}_sqlite.sql.gz").read_bytes()).decode()
    for revision in ("0045", "0046", "0047", "0048", "0049", "0050")
}
"""What made the tables of those revisions."""
FORMER_POSTGRESQL = {
    revision: gzip.decompress(Path(__file__).with_name(f"former_{revision}_postgresql.sql.gz").read_bytes()).decode()
    for revision in ("0047", "0048", "0049", "0050")
}
"""What made those of the last four on PostgreSQL; those before were made as by the first of these."""
VERSION = """
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES ('{}');
"""
BURST = """
INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask');
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Pool, Needs)
SELECT ProcessBatch_id, 10, 'load', 'os_command', 'burst', 'GPU=1, MEMORY=8e9' FROM ProcessBatch;
INSERT INTO ApiToken (TokenName, TokenHash, Role, Pools) VALUES ('far-1', 'hash', 'agent', 'burst')
"""
"""What only the newest revision takes."""
COLUMNS = "SELECT group_concat(name) FROM pragma_table_info('ProcessBatch')"
MORE = """
INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes) VALUES ('nightly', 'Daily', 'daily', '02:00');
INSERT INTO AuditLog (Actor, Host, Action, Target) VALUES ('anna', 'etl 7', 'accept', 'FileProcess:1');
INSERT INTO AuditSeal (SealNo, AuditLog_id, PrevHash, RecordHash) VALUES (1, 1, 'a', 'b');
"""


@pytest.fixture(params=FORMER)
def revision(request: pytest.FixtureRequest) -> str:
    """Return a revision that an upgrade takes."""
    return str(request.param)


@pytest.fixture
def former(tmp_path: Path, revision: str) -> Iterator[sqlite3.Connection]:
    """Return a client of a database as a revision before has left it, with rows."""
    (tmp_path / "batchctl.toml").write_text("", encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "batchctl.db", isolation_level=None)) as client:
        client.executescript(
            f"PRAGMA journal_mode = WAL; {FORMER[revision]}; {VERSION.format(revision)} {FILLED}; {MORE}"
        )
        yield client


def upgrade(directory: Path) -> str | None:
    """Do what `batchctl db upgrade` does; return what the database was before."""
    return upgrade_database(str(directory / "batchctl.toml")).before


def rows_of(client: sqlite3.Connection) -> dict[str, list[object]]:
    """Return every row of the tables that were filled, as it lies in the file."""
    return {
        table: [without_what_is_new(row) for row in client.execute(f"SELECT rowid, * FROM {table}").fetchall()]
        for table in (*KEPT, "Schedule", "AuditSeal")
    }


def without_what_is_new(row: tuple[object, ...]) -> tuple[object, ...]:
    """Return a row as it was before columns were added behind its last, which is a time and never empty."""
    at = max(at for at, value in enumerate(row) if value is not None)
    return row[: at + 1]


def defined(client: sqlite3.Connection) -> list[object]:
    """Return all that is defined."""
    return client.execute("SELECT name, rootpage, sql FROM sqlite_master ORDER BY name").fetchall()


def test_definitions_become_the_newest_under_the_rows(
    former: sqlite3.Connection, revision: str, tmp_path: Path
) -> None:
    before, pages = (
        rows_of(former),
        dict(former.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'")),
    )
    (columns,) = former.execute(COLUMNS).fetchone()
    added = "" if revision >= "0048" else ",Priority,MaxPerMinute,Pool"
    assert upgrade(tmp_path) == revision

    assert rows_of(former) == before
    assert (
        pages.items() <= dict(former.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'")).items()
    )
    assert former.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert former.execute(COLUMNS).fetchone() == (f"{columns}{added}",), "they keep their order"
    with pytest.raises(sqlite3.IntegrityError, match=r"failed: length\(ProcessBatchName\) BETWEEN 1 AND 200"):
        former.execute("UPDATE ProcessBatch SET ProcessBatchName = ''")
    former.execute("INSERT INTO ProcessBatch (ProcessBatchName, PopulatorOn, Tags) VALUES ('Other', 'data', 'night')")
    former.executescript(BURST)
    opened = StoreTransactions(engine.open_engine("sqlite:///batchctl.db", tmp_path))
    with closing(opened), opened.read() as connection:
        assert schema.revision_of(connection) == schema.newest_revision() == "0051"
        assert schema.differences(connection) == []
    assert upgrade(tmp_path) == "0051", "there is nothing left to do"


def test_an_index_whose_rows_are_others_is_made_anew(former: sqlite3.Connection, tmp_path: Path) -> None:
    former.execute("DROP INDEX IX_BatchControl_Unreadable")
    former.execute("CREATE INDEX IX_BatchControl_Unreadable ON BatchControl (BatchControl_id) WHERE Status = 'odd'")
    upgrade(tmp_path)

    opened = StoreTransactions(engine.open_engine("sqlite:///batchctl.db", tmp_path))
    with closing(opened), opened.read() as connection:
        assert schema.differences(connection) == []


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE ProcessBatch ADD COLUMN CostCentre TEXT",
        "ALTER TABLE ProcessBatch RENAME COLUMN Tags TO Labels",
        "ALTER TABLE ProcessBatch DROP COLUMN Seq",
    ],
)
def test_a_table_that_somebody_has_changed_is_named_and_nothing_is_touched(
    former: sqlite3.Connection, revision: str, tmp_path: Path, change: str
) -> None:
    former.execute(change)
    before = defined(former)
    with pytest.raises(
        SchemaMismatch, match=rf"Somebody has changed tables that schema {revision} made: ProcessBatch\."
    ) as refused:
        upgrade(tmp_path)

    assert (refused.value.next_step or "").endswith("then: batchctl db upgrade")
    assert defined(former) == before


@pytest.mark.parametrize(
    ("other", "said"), [("0001", "none older than 0045"), ("0044", "none older"), ("0052", "newer")]
)
def test_another_revision_is_refused_and_nothing_is_touched(
    former: sqlite3.Connection, tmp_path: Path, other: str, said: str
) -> None:
    former.execute("UPDATE alembic_version SET version_num = ?", (other,))
    before = defined(former)
    with pytest.raises(SchemaMismatch) as refused:
        upgrade(tmp_path)

    assert said in f"{refused.value.message} {refused.value.next_step}"
    assert defined(former) == before
    assert former.execute("SELECT version_num FROM alembic_version").fetchall() == [(other,)]


def test_a_row_that_no_table_takes_any_more_is_named_before_anything_is_changed(
    former: sqlite3.Connection, revision: str, tmp_path: Path
) -> None:
    former.execute("PRAGMA ignore_check_constraints = ON")
    former.execute("UPDATE ProcessBatch SET RetryCount = 1001")
    before = defined(former)
    with pytest.raises(SchemaMismatch, match=r"hold what schema 0051 does not take: .*ProcessBatch") as refused:
        upgrade(tmp_path)

    assert "correct them in an SQL client" in str(refused.value.next_step)
    assert defined(former) == before
    former.execute("UPDATE ProcessBatch SET RetryCount = 2")
    assert upgrade(tmp_path) == revision


@pytest.fixture
def former_server(postgres: PostgresServer, revision: str, tmp_path: Path) -> Iterator[StoreTransactions]:
    """Return the way to a database of PostgreSQL as a revision before has left it, with rows."""
    database = PostgresControl(postgres, tmp_path, postgres.new_database())
    with closing(database.hand()) as hand:
        made = FORMER_POSTGRESQL[max(revision, min(FORMER_POSTGRESQL))]
        for statement in f"{made}; {VERSION.format(revision)} {FILLED}".split(";\n"):
            hand.sql(statement)
    with closing(StoreTransactions(engine.open_engine(database.url, tmp_path))) as transactions:
        yield transactions


def test_on_a_server_what_is_new_is_added_to_the_tables(former_server: StoreTransactions, revision: str) -> None:
    with former_server.read() as connection:
        schema.check_upgradable(connection)
    former_server.run(frozenset(), schema.upgrade)

    with former_server.read() as connection:
        assert schema.revision_of(connection) == "0051"
        assert schema.differences(connection) == []
        assert connection.exec_driver_sql("SELECT Status, NextPool FROM BatchControl").all() == [("retry", None)]
        for statement in BURST.split(";"):
            connection.exec_driver_sql(statement)
    assert revision != "0051"


def test_on_a_server_what_somebody_has_changed_is_named(former_server: StoreTransactions, revision: str) -> None:
    with former_server.read() as connection:
        connection.exec_driver_sql("ALTER TABLE Setting ADD COLUMN Comment text")
        connection.exec_driver_sql('ALTER TABLE Setting DROP CONSTRAINT "CK_Setting_Name"')
        with pytest.raises(
            SchemaMismatch, match=f"Somebody has changed tables that schema {revision} made: CK_Setting_Name"
        ):
            schema.check_upgradable(connection)


@pytest.mark.parametrize("revision", [each for each in FORMER if each < "0049"], indirect=True)
def test_a_table_of_others_with_a_new_name_is_named_before_anything_is_changed(
    former: sqlite3.Connection, tmp_path: Path
) -> None:
    former.execute("CREATE TABLE KeptForecast (Depth INTEGER)")
    before = defined(former)
    with pytest.raises(SchemaMismatch, match="the upgrade needs the names of: KeptForecast") as refused:
        upgrade(tmp_path)

    assert "rename them" in str(refused.value.next_step)
    assert defined(former) == before


def test_a_sqlite_without_strict_tables_is_refused_before_the_file_is_touched(
    sqlite_database: SqliteControl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "OLDEST", (9, 0, 0))
    with pytest.raises(
        DatabaseRefused, match=r"The SQLite .* of this Python cannot open the control database"
    ) as refused:
        engine.open_engine(sqlite_database.url, sqlite_database.directory)
    assert refused.value.next_step == "use a Python with SQLite 9.0.0 or later"
