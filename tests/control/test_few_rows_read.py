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
    "are paused": ("Status", "'paused'"),
}
IN_FRONT = {
    "are paused": ("Status", "'paused'"),
    "have failed": ("Status", "'failed'"),
    "are held": ("Status", "'held'"),
    "wait for their retry": ("Status, NextRunTime", "'retry', '2200-01-01'"),
    "wait for their time": ("Status, NextRunTime", "'ready', '2200-01-01'"),
}
"""What keeps nobody back in a batch with OnFailure continue."""


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
    add_many(world, batch, *KINDS[kind])

    assert rows_read_by_a_night(world) < FEW
    assert set(world.sql("SELECT Status FROM BatchControl WHERE BatchControl_id < 1000000")) == {("complete",)}


@pytest.mark.parametrize("kind", IN_FRONT)
def test_what_stands_in_front_and_keeps_nobody_back_is_not_read(world: World, kind: str) -> None:
    batch = world.batch(steps=3, OnFailure="continue", MaxConcurrent=2)
    add_many(world, batch, *IN_FRONT[kind])
    number_on(world)

    assert rows_read_by_a_night(world) < FEW
    done = world.sql("SELECT BatchControl_id FROM BatchControl WHERE Status = 'complete' ORDER BY BatchControl_id")
    assert done == [(2000001,), (2000002,)]


@pytest.mark.parametrize(("due", "most"), [(50, FEW), (200, 5 * FEW), (5_000, MANY // 2)])
def test_what_is_due_costs_as_much_as_it_is_and_not_as_what_stands_in_front(world: World, due: int, most: int) -> None:
    batch = world.batch(steps=3, OnFailure="continue", MaxConcurrent=2)
    last = 1_000_000 + MANY
    # The later it was created, the sooner it was due.
    when = f"CASE WHEN n > {last - due} THEN timestamp '2026-01-01' + ({last} - n) * interval '1 minute' ELSE '2200-01-01' END"
    add_many(world, batch, "Status, NextRunTime", f"'retry', {when}")
    number_on(world)

    assert rows_read_by_a_night(world) < most
    done = world.sql("SELECT BatchControl_id FROM BatchControl WHERE Status = 'complete' ORDER BY BatchControl_id")
    first = last - due + 1
    assert done[:2] == [(first,), (first + 1,)]


def add_many(world: World, batch: int, columns: str, values: str) -> None:
    for statement in BACKLOG.format(many=MANY, batch=batch, columns=columns, values=values).split(";"):
        if statement.strip():
            world.hand.sql(statement)
    world.hand.sql("UPDATE ProcessBatch SET Enabled = 0 WHERE ProcessBatchName = 'Task'")
    world.hand.sql("VACUUM (ANALYZE)")


def number_on(world: World) -> None:
    """Let what is created from now on stand behind."""
    for table in ("FileProcess", "BatchControl"):
        world.hand.sql(f"SELECT setval(pg_get_serial_sequence('{table}', lower('{table}_id')), 2000000)")


def rows_read_by_a_night(world: World) -> int:
    world.submit()
    world.submit()
    before = rows_read(world)
    world.create()
    controller = world.controller(slots=2)
    for _ in range(TURNS):
        controller.turn(NO_WAIT)
    return rows_read(world) - before
