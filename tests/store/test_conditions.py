"""Conditions that cost SQLite little, and queries that say them as its partial indexes do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, make_url

from batchctl.domain.rows import BatchId, InstanceId, IntakeId, IntakeRow
from batchctl.domain.status import InstanceStatus, IntakeStatus
from batchctl.store import controllers, history, instances, limits, reports, tables
from batchctl.store.conditions import is_word, one_of
from batchctl.store.engine import open_engine
from batchctl.store.intake import intake
from batchctl.store.maintenance import audit_entries
from tests.control_databases import SqliteControl, with_tables

NOW = datetime(2026, 11, 21, 3, 15, tzinfo=UTC)
BATCH = BatchId(1)
REPEATED = IntakeRow(
    intake_id=IntakeId(9),
    entity="B",
    file_name=None,
    status=IntakeStatus.READY,
    data="k",
    cycle_key=None,
    source=None,
    message=None,
    inserted_at=NOW,
)
QUERIES: list[tuple[str, Callable[[Connection], object]]] = [
    ("IX_BatchControl_InLine", lambda connection: limits.ask_room(connection, {}, None, NOW)()),
    ("IX_BatchControl_InLine", lambda connection: instances.open_of(connection, BATCH, 0, 8)),
    ("IX_BatchControl_Claimed", lambda connection: instances.open_of(connection, BATCH, 0, 8)),
    ("IX_BatchControl_Paused", lambda connection: instances.open_of(connection, BATCH, 0, 8)),
    ("IX_BatchControl_InLine", lambda connection: instances.ask_in_line(connection, BATCH, 0, 8)()),
    ("IX_BatchControl_InLine", lambda connection: instances.ask_due(connection, BATCH, 0, 8, NOW)()),
    ("IX_BatchControl_InLine", lambda connection: instances.ask_near(connection, BATCH, 0, 8, NOW, among=50)()),
    ("IX_BatchControl_AtOnce", lambda connection: instances.ask_at_once(connection, BATCH, 0, 8)()),
    ("IX_BatchControl_Deferred", lambda connection: instances.ask_deferred(connection, BATCH, 8, NOW)()),
    ("IX_BatchControl_Standing", lambda connection: reports.open_in(connection, [InstanceStatus.HELD], 8)),
    ("IX_BatchControl_Claimed", lambda connection: reports.open_in(connection, [InstanceStatus.RUNNING], 8)),
    ("IX_BatchControl_Paused", lambda connection: reports.open_in(connection, [InstanceStatus.PAUSED], 8)),
    ("IX_BatchControl_InLine", lambda connection: reports.may_hold_up(connection, BATCH, NOW, 8)),
    ("IX_BatchControl_Claimed", instances.claimed),
    ("IX_BatchControl_Claimed", controllers.owners),
    ("IX_BatchControl_Claimed", lambda connection: controllers.forget(connection, NOW)),
    ("IX_BatchControl_Claimed", lambda connection: limits.ask_room(connection, {}, None, NOW)()),
    ("IX_BatchControl_Standing", instances.standing_failures),
    ("IX_BatchControl_Due", lambda connection: instances.next_due(connection, NOW)),
    ("IX_FileProcess_Ready", lambda connection: reports.count_intake(connection, with_over=False)),
    ("IX_FileProcess_Inbox", lambda connection: reports.count_intake(connection, with_over=False)),
    ("UX_BatchProcessHistory_Live", history.live_entries),
    ("UX_BatchProcessHistory_Live", lambda connection: reports.live_entries(connection, 8)),
    ("IX_FileProcess_Ready", intake.look),
    ("IX_FileProcess_Ready", lambda connection: intake.untaken(connection, 0, 8)),
    ("IX_FileProcess_Ready", reports.count_untaken),
    ("IX_FileProcess_Ready", intake.look_back),
    ("IX_FileProcess_Inbox", lambda connection: intake.not_taken_in(connection, 8)),
    ("IX_FileProcess_Inbox", lambda connection: intake.set_aside(connection, [IntakeStatus.PAUSED], 900, 8)),
    ("IX_FileProcess_Inbox", lambda connection: intake.set_aside(connection, [IntakeStatus.REJECTED], 900, 8, "B")),
    ("IX_AuditLog_Target", lambda connection: audit_entries.of_target(connection, "FileProcess:1")),
    ("IX_AuditLog_Target", lambda connection: intake.first_with_same_data(connection, REPEATED, BATCH)),
]


MUCH_IS_DONE = """
INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('B');
WITH n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000)
    INSERT INTO FileProcess (Entity, Status) SELECT 'B', CASE WHEN x % 50 = 0 THEN 'ready' ELSE 'complete' END FROM n;
INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status)
    SELECT 1, FileProcess_id, CASE FileProcess_id % 50 WHEN 0 THEN 'running' WHEN 1 THEN 'held' ELSE 'complete' END
    FROM FileProcess;
INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, CommandText,
    Status, EndTime)
    SELECT BatchControl_id, 1, 10, 'step', 'sql', 'SELECT 1', CASE Status WHEN 'running' THEN Status ELSE 'success' END,
        CASE Status WHEN 'running' THEN NULL ELSE '2026-11-21' END
    FROM BatchControl;
"""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    """Return a connection to the tables, such as the engine's own."""
    database = SqliteControl(tmp_path)
    with_tables(database)
    with open_engine(database.url, tmp_path).connect() as made:
        yield made


@pytest.mark.parametrize(("index", "query"), QUERIES)
def test_a_query_of_few_rows_finds_its_index(
    connection: Connection, index: str, query: Callable[[Connection], object]
) -> None:
    raw: Any = connection.connection.dbapi_connection
    raw.executescript(MUCH_IS_DONE)
    sent: list[str] = []
    raw.set_trace_callback(sent.append)
    query(connection)
    raw.set_trace_callback(None)

    plans = [row[3] for statement in sent for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert any(f"INDEX {index}" in step for step in plans), plans


def test_instances_are_loaded_by_their_numbers_and_nothing_else(connection: Connection) -> None:
    raw: Any = connection.connection.dbapi_connection
    raw.executescript(MUCH_IS_DONE)
    sent: list[str] = []
    raw.set_trace_callback(sent.append)
    found = instances.these(connection, [InstanceId(at) for at in (9, 2, 2000, 7, 8)])
    raw.set_trace_callback(None)

    assert [one.instance_id for one in found] == [2, 7, 8, 9]
    assert [one.status for one in instances.these(connection, [InstanceId(50)])] == ["running"]
    (statement,) = sent
    plan = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert [step.partition(" USING ")[2] for step in plan] == ["INTEGER PRIMARY KEY (rowid=?)"] * 2, plan


def own_operations(raw: Any, statement: str, values: Sequence[object] = ()) -> set[str]:
    """Return what SQLite does for a statement; what triggers do for a hand's change stands behind its end."""
    operations = [row[1] for row in raw.execute(f"EXPLAIN {statement}", values)]
    starts = [at for at, operation in enumerate(operations) if operation == "Init"]
    return set(operations[: starts[1]] if len(starts) > 1 else operations)


@pytest.mark.parametrize("table", tables.UNREADABLE, ids=lambda table: str(table.name))
def test_no_table_is_built_to_look_at_a_row(connection: Connection, table: Any) -> None:
    raw: Any = connection.connection.dbapi_connection
    columns = [column.name for column in table.columns if not column.primary_key]
    (key,) = table.primary_key
    values = ", ".join("?" for _ in columns)
    statements = [f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({values})"]
    statements += [f"UPDATE {table.name} SET {column} = ? WHERE {key.name} = ?" for column in columns]
    for statement in statements:
        assert "OpenEphemeral" not in own_operations(raw, statement, [None] * statement.count("?")), statement


def test_completing_a_row_builds_no_table(connection: Connection) -> None:
    raw: Any = connection.connection.dbapi_connection
    sent: list[str] = []
    raw.set_trace_callback(sent.append)
    intake.complete_if_done(connection, IntakeId(1), NOW)
    raw.set_trace_callback(None)

    (statement,) = sent
    assert "OpenEphemeral" not in own_operations(raw, statement)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql", "mssql"])
def test_words_are_said_as_each_database_wants_them(kind: str) -> None:
    dialect = make_url(f"{kind}://").get_dialect()()
    often = partial(is_word, often=True)
    said = [str(condition("Status", "ab").compile(dialect=dialect)) for condition in (one_of, often, is_word)]

    one_by_one = "Status = 'a' OR Status = 'b'"
    listed = "Status IN ('a', 'b')"
    in_any_case = f"lower(Status){listed.removeprefix('Status')}"
    on_sqlite = [f"({one_by_one})", one_by_one, listed]
    assert said == (on_sqlite if kind == "sqlite" else [listed, in_any_case, in_any_case])
