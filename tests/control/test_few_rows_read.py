"""However many rows wait or are done, PostgreSQL reads only the few that a turn is about: no plan goes through them all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control.world import NO_WAIT, World
from tests.control_databases import PostgresControl
from tests.postgres import PostgresServer

MANY = 200_000
TURNS = 10
FEW = 2_000
"""Far more than the turns of one night need here, and a hundredth of what there is."""

READ = "SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0) FROM pg_stat_user_tables"
BACKLOG = """
SET session_replication_role = replica;
INSERT INTO FileProcess (FileProcess_id, Entity, FileName, Status)
SELECT n, 'B', 'f', 'complete' FROM generate_series(1000001, 1000000 + {many}) n;
INSERT INTO BatchControl (BatchControl_id, ProcessBatch_id, FileProcess_id, {columns})
SELECT n, {batch}, n, {values} FROM generate_series(1000001, 1000000 + {many}) n;
INSERT INTO BatchProcessHistory (BatchProcessHistory_id, BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName,
    ProcessType, CommandText, Status, EndTime)
SELECT n, n, {batch}, 10, 'step', 'told', '', 'success', '2026-11-20' FROM generate_series(1000001, 1000000 + {many}) n;
SET session_replication_role = origin;
"""
KINDS = {
    "stand behind": ("Status", "'ready'"),
    "are complete": ("Status", "'complete'"),
}
"""What waits for its time, or is paused, in front of the others is passed over one by one."""


@pytest.fixture
def world(postgres: PostgresServer, prepared: str, tmp_path: Path) -> Iterator[World]:
    """Return a world on PostgreSQL, which plans; SQLite's plans do not depend on how much there is."""
    made = World(PostgresControl(postgres, tmp_path, postgres.new_database(prepared)))
    yield made
    made.close()


def rows_read(world: World) -> int:
    """Return how many rows of tables the engine has read in this database so far."""
    flush = "SELECT pg_stat_force_next_flush()"
    with world.transactions.read() as connection:
        connection.exec_driver_sql(flush)
    world.hand.sql(flush)
    return int(world.one(READ))


@pytest.mark.parametrize("on_failure", ["hold_batch", "continue"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_night_beside_many_rows_reads_few(world: World, kind: str, on_failure: str) -> None:
    batch = world.batch(steps=3, OnFailure=on_failure)
    columns, values = KINDS[kind]
    for statement in BACKLOG.format(many=MANY, batch=batch, columns=columns, values=values).split(";"):
        if statement.strip():
            world.hand.sql(statement)
    world.hand.sql("UPDATE ProcessBatch SET Enabled = 0 WHERE ProcessBatchName = 'Task'")
    world.hand.sql("VACUUM (ANALYZE)")
    world.submit()
    world.submit()
    before = rows_read(world)

    world.create()
    controller = world.controller(slots=2)
    for _ in range(TURNS):
        controller.turn(NO_WAIT)

    assert set(world.sql("SELECT Status FROM BatchControl WHERE BatchControl_id < 1000000")) == {("complete",)}
    assert rows_read(world) - before < FEW
