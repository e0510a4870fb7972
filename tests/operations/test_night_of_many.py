"""However many attempts there have been, the report of a night reads those of the night, and some before them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control.test_few_rows_read import rows_read
from tests.control.world import World
from tests.control_databases import PostgresControl
from tests.operations.test_night_reading import reader, rows
from tests.postgres import PostgresServer

MANY = 100_000
FEW = 20_000
"""Some thousands are of the last days, or just before the night: some rows are committed late."""
BEFORE = f"""
SET session_replication_role = replica;
INSERT INTO FileProcess (FileProcess_id, Entity, FileName, Status, z_inserted)
SELECT n, 'B', 'f', 'complete', '2025-01-01' FROM generate_series(1000, {MANY} + 999) n;
INSERT INTO BatchControl (BatchControl_id, ProcessBatch_id, FileProcess_id, Status, z_inserted, z_updated)
SELECT n, 1, n, 'complete', '2025-01-01', '2025-01-01' FROM generate_series(1000, {MANY} + 999) n;
INSERT INTO BatchProcessHistory (BatchProcessHistory_id, BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName,
    ProcessType, CommandText, Status, StartTime, EndTime)
SELECT n, n, 1, 10, 'step', 'told', '', 'success', '2025-01-01', '2025-01-01' FROM generate_series(1000, {MANY} + 999) n;
INSERT INTO AuditLog (AuditLog_id, Actor, Host, Action, Target, z_inserted)
SELECT n, 'anna', 'h', 'rerun', 'BatchControl:' || n, '2025-01-01' FROM generate_series(1000, {MANY} + 999) n;
SELECT setval(pg_get_serial_sequence(name, lower(name) || '_id'), {MANY} + 1000)
FROM unnest(ARRAY['fileprocess', 'batchcontrol', 'batchprocesshistory', 'auditlog']) name;
SET session_replication_role = origin;
ANALYZE;
"""


@pytest.fixture
def world(postgres: PostgresServer, prepared: str, tmp_path: Path) -> Iterator[World]:
    made = World(PostgresControl(postgres, tmp_path, postgres.new_database(prepared)))
    yield made
    made.close()


def test_only_what_is_of_the_night_is_read(world: World) -> None:
    world.batch(steps=1)
    for statement in BEFORE.split(";\n"):
        if statement.strip():
            world.sql(statement)
    world.submit()
    world.create()
    world.process()
    reader(world).since("18:00")
    before = rows_read(world)

    found = reader(world).since("18:00")

    assert rows_read(world) - before < FEW
    assert [one["Complete"] for one in rows(found, "Ran")] == [1]
