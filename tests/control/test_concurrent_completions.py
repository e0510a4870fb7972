"""Two processes complete the two halves of a set at the same moment, ten thousand times: each set starts its batch once."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

from batchctl.domain import moves
from batchctl.domain.errors import Conflict
from batchctl.domain.rows import BatchInstance
from batchctl.operations.maintenance import fsck
from batchctl.ports import Boundary
from batchctl.store import engine, instances
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import dependencies
from batchctl.store.intake import intake
from batchctl.store.transactions import StoreTransactions
from batchctl.system.clock import SystemClock
from tests.control.world import World

ROUNDS = 10_000
PATIENCE = 300
OPENED = frozenset({Boundary.INSTANCE_DONE})
ROWS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rounds})"
    " INSERT INTO FileProcess (Entity, CycleKey) SELECT '{entity}', 'cycle ' || i FROM n"
)
INSTANCES = (
    "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, CycleKey, Status, ClaimedBy)"
    " SELECT b.ProcessBatch_id, f.FileProcess_id, f.CycleKey, 'running', '{entity}' FROM FileProcess f"
    " JOIN ProcessBatch b ON b.ProcessBatchName = f.Entity WHERE f.Entity = '{entity}' ORDER BY f.FileProcess_id"
)


def complete_all(url: str, directory: Path, entity: str, together: Barrier) -> None:
    """Complete the instances of a batch, each at the same moment as the other process its own."""
    transactions, clock = StoreTransactions(engine.open_engine(url, directory)), SystemClock()
    with transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        (batch,) = [batch for batch in batches.values() if batch.name == entity]
        waiting = instances.open_of(connection, batch.batch_id, 0, ROUNDS)
    for found in waiting:
        after = moves.moved(found, moves.finished(found))

        def write(connection: object, found: BatchInstance = found, after: BatchInstance = after) -> None:
            now = clock.now()
            assert instances.move(connection, found, after, now)  # type: ignore[arg-type]
            intake.complete_if_done(connection, after.intake_id, now)  # type: ignore[arg-type]
            dependencies.offer(connection, [after], batches, now)  # type: ignore[arg-type]

        together.wait(PATIENCE)
        while True:
            try:
                transactions.run(OPENED, write, nowait=True)
            except Conflict:
                continue
            break
    transactions.close()


def test_every_set_starts_exactly_one(world: World) -> None:
    for name in ("A", "B", "C"):
        world.batch(name, steps=0)
    for name in ("A", "B"):
        world.sql(
            "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT c.ProcessBatch_id, u.ProcessBatch_id"
            " FROM ProcessBatch c JOIN ProcessBatch u ON u.ProcessBatchName = ? WHERE c.ProcessBatchName = 'C'",
            name,
        )
        world.sql(ROWS.format(rounds=ROUNDS, entity=name))
        world.sql(INSTANCES.format(entity=name))
    process = multiprocessing.get_context("spawn")
    together = process.Barrier(2)
    halves = [
        process.Process(target=complete_all, args=(world.database.url, world.directory, name, together))
        for name in ("A", "B")
    ]
    for half in halves:
        half.start()
    for half in halves:
        half.join(PATIENCE)
    assert [half.exitcode for half in halves] == [0, 0]

    started = (
        "SELECT count(*), count(DISTINCT CycleKey) FROM FileProcess WHERE Source = 'dependency' AND Message LIKE ?"
    )
    assert world.sql(started, "A (%, B (%") == [(ROUNDS, ROUNDS)]
    assert world.one("SELECT count(*) FROM FileProcess WHERE Entity = 'C'") == ROUNDS
    assert world.one("SELECT count(*) FROM BatchCompletion WHERE FileProcess_id IS NULL") == 0
    assert fsck.examine(world.transactions, world.clock) == ()
