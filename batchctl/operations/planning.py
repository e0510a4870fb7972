"""What a pass would do: the answer to `--dry-run` where nothing is asked of one instance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice

from batchctl.domain import gates, moves
from batchctl.domain.errors import StatusChanged
from batchctl.domain.operators.pools import Pools
from batchctl.domain.rows import (
    MOST_TRIES,
    BatchDefinition,
    BatchId,
    BatchInstance,
    IntakeId,
    IntakeRow,
    Populated,
    Step,
)
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import files_taken_again, unknown
from batchctl.operations.standing import WaitingLine
from batchctl.ports import Clock, PopulatorRunner, Transactions
from batchctl.preparation import Preparer, populate
from batchctl.store import Connection, history, limits, pool_rows
from batchctl.store.definitions import definitions
from batchctl.store.definitions.definitions import Definitions
from batchctl.store.intake import intake

EVERY_PLACE = 1_000_000


@dataclass(frozen=True, slots=True)
class PlannedCreation:
    """A row and the batches that would get an instance of it, or why one would not."""

    row: IntakeRow
    batches: tuple[str, ...]
    repeats: tuple[IntakeId, ...]
    all_refused: tuple[str, ...]
    values: tuple[tuple[str, Populated], ...] = ()
    """What the populator of each batch has found, whether it would get an instance or not."""


@dataclass(frozen=True, slots=True)
class PlannedWalk:
    """An instance that a pass would start, with the command of its next step."""

    instance: BatchInstance
    batch: str
    seq: int | None
    step: str | None
    command: str
    carrier: str | None = None
    """Who runs it with what another host has, where that is no controller."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A row that would be taken in on purpose, and by which batches."""

    row: IntakeRow
    batches: tuple[str, ...]
    unreadable: tuple[UnreadableRow, ...] = ()
    """What cannot be read of other batches that take its entity."""


def creations(transactions: Transactions, populators: PopulatorRunner, most: int) -> tuple[PlannedCreation, ...]:
    """Return what a creation pass would begin with; the populators are asked."""
    with transactions.read() as connection:
        defined = definitions.read(connection)
        wanted = (
            (missing.row, missing.batch_ids)
            for missing in intake.all_missing(connection)
            if missing.row is not None and missing.batch_ids
        )
        return tuple(
            _creation(connection, row, defined, batch_ids, populators) for row, batch_ids in islice(wanted, most)
        )


def _creation(
    connection: Connection, row: IntakeRow, defined: Definitions, batch_ids: list[BatchId], populators: PopulatorRunner
) -> PlannedCreation:
    names, repeats, found = list[str](), list[IntakeId](), list[tuple[str, Populated]]()
    all_refused = [f"{one.message}; {one.mend}" for one in defined.unreadable if one.batch_id in batch_ids]
    for batch in (one for one in defined.batches if one.batch_id in batch_ids):
        values = populate(populators, row, batch)
        if isinstance(values, str):
            all_refused.append(f"batch {visible(batch.name)}: {values}")
            continue
        found.append((batch.name, values))
        first = intake.first_with_same_data(connection, row, batch.batch_id) if batch.duplicate_check else None
        if first is None:
            names.append(batch.name)
        else:
            repeats.append(first)
    return PlannedCreation(row, tuple(names), tuple(repeats), tuple(all_refused), tuple(found))


def walks(
    transactions: Transactions,
    clock: Clock,
    preparer: Preparer,
    most: int,
    *,
    served: Collection[str],
    with_agents: Collection[str] = (),
    host: str,
) -> tuple[PlannedWalk, ...]:
    """Return the instances that a pass on a host would start if all goes well, in its order, for the pools that it serves."""
    with transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        pools = pool_rows.known(connection)
        startable = _startable(connection, batches, clock)
        may_begin = partial(pools.may_begin, served=served, with_agents=with_agents, host=host)
        found = (one for one in startable if _may_begin(may_begin, *one))
        walk = partial(_walk, connection, pools, preparer, clock.now())
        return tuple(walk(batch, instance) for batch, instance in islice(found, most))


def _startable(
    connection: Connection, batches: dict[BatchId, BatchDefinition], clock: Clock
) -> Iterator[tuple[BatchDefinition, BatchInstance]]:
    line = WaitingLine(connection, batches, clock.now())
    for batch in batches.values():
        # Each place becomes free again during the pass, so places do not limit what it starts.
        open_ones, stoppers = line.open_of(batch), line.stoppers
        pace = limits.pace(connection, batch, line.now)
        for instance in gates.startable(
            batch, open_ones, now=line.now, places=EVERY_PLACE, failures=stoppers, pace=pace
        ):
            yield batch, instance


def _may_begin(
    may_begin: Callable[[BatchDefinition, Step], bool], batch: BatchDefinition, instance: BatchInstance
) -> bool:
    step = batch.step_after(instance.last_seq)
    return step is None or may_begin(batch, step)


def _walk(
    connection: Connection,
    pools: Pools,
    preparer: Preparer,
    now: datetime,
    batch: BatchDefinition,
    instance: BatchInstance,
) -> PlannedWalk:
    step = batch.step_after(instance.last_seq)
    if step is None:
        return PlannedWalk(instance, batch.name, None, None, "")
    attempts = history.attempts_so_far(connection, instance.instance_id).at(step.seq)
    cause = moves.cause_of(instance.status, attempts=attempts, must_verify=False)
    ready = preparer.prepare(instance, batch, step, attempt_no=attempts + 1, cause=cause, now=now)
    return PlannedWalk(
        instance, batch.name, step.seq, step.name, ready.command_text, pools.carrier(batch.pool_of(step))
    )


def acceptance(transactions: Transactions, intake_id: IntakeId) -> Acceptance:
    """Return what accepting a row would do; raises what accepting it would raise."""
    with transactions.read() as connection:
        row = intake.load(connection, intake_id)
        defined = definitions.read(connection)
        if row is None:
            raise unknown.intake_row(connection, intake_id)
        files_taken_again.check(connection, row)
    if row.status not in {IntakeStatus.REJECTED, IntakeStatus.DUPLICATE} and row.tries < MOST_TRIES:
        raise StatusChanged(
            f"FileProcess {intake_id}", row.status, "accept", next_step=f"batchctl why file:{intake_id}"
        )
    takers = tuple(batch.name for batch in defined.batches if batch.entity == row.entity)
    return Acceptance(row, takers, defined.unreadable_of(row.entity))
