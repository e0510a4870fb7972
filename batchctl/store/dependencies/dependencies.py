"""Start a batch once every batch that it depends on has completed for a CycleKey.

A completion is offered to each batch that depends on it, in the transaction that completes the instance. Offering
the last one of a set inserts the `FileProcess` row, and each completion is used once: the second of one batch waits for
the second of the others. An instance that is run again is offered no second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection

from batchctl.domain.dependencies.waits import AwaitedUpstream, Wait, lacking
from batchctl.domain.errors import Conflict
from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance, IntakeId
from batchctl.domain.status import DependencyMode, SchedulerEvent
from batchctl.domain.text import shorten, visible
from batchctl.store import instances, scheduler_log
from batchctl.store.dependencies import completions
from batchctl.store.dependencies.completions import Completion, WaitingCompletions
from batchctl.store.dialects import dialect_of
from batchctl.store.intake import intake
from batchctl.store.scheduler_log import LogSource
from batchctl.store.transactions import left_out_if_refused

SOURCE = "dependency"
"""`FileProcess.Source` of what completions have started, and `SchedulerLog.Source`."""

ASKED_SINGLY = 10
"""Up to how many upstreams are asked for their completions one by one: until one has none, however many others have."""

SHOWN = 2000
"""The most characters of a message about a set."""

Batches = Mapping[BatchId, BatchDefinition]


def offer(
    connection: Connection, completed: Sequence[BatchInstance], batches: Batches, now: datetime
) -> list[IntakeId]:
    """Offer completions to the batches that depend on them; return the rows that this has started."""
    started: list[IntakeId] = []
    for batch_id, offered in _by_dependent(completed, batches):
        _keep(connection, batch_id, offered, now)
        for cycle_key in dict.fromkeys(one.cycle_key for one in offered):
            started += _start(connection, batches[batch_id], cycle_key, batches, now)
    return started


def offer_singly(
    connection: Connection, completed: Sequence[BatchInstance], batches: Batches, now: datetime
) -> list[IntakeId]:
    """Offer completions batch by batch; where no row can be inserted they wait, and a later pass tries again."""
    started: list[IntakeId] = []
    for batch_id, offered in _by_dependent(completed, batches):
        with left_out_if_refused(connection):
            _keep(connection, batch_id, offered, now)
        for cycle_key in dict.fromkeys(one.cycle_key for one in offered):
            with left_out_if_refused(connection):
                started += _start(connection, batches[batch_id], cycle_key, batches, now)
    return started


def _by_dependent(
    completed: Sequence[BatchInstance], batches: Batches
) -> Iterator[tuple[BatchId, list[BatchInstance]]]:
    offered: dict[BatchId, list[BatchInstance]] = {}
    for instance in completed:
        batch = batches.get(instance.batch_id)
        for dependent in () if batch is None else batch.dependents:
            offered.setdefault(dependent, []).append(instance)
    return ((batch_id, offered[batch_id]) for batch_id in sorted(offered))


def _keep(connection: Connection, batch_id: BatchId, offered: Sequence[BatchInstance], now: datetime) -> None:
    _lock(connection, batch_id)
    for one in offered:
        completions.add(connection, batch_id, one, now)


def start(
    connection: Connection, batch: BatchDefinition, cycle_key: str | None, batches: Batches, now: datetime
) -> list[IntakeId]:
    """Start a batch if a changed definition has made a whole set of what waits for it; return the rows."""
    _lock(connection, batch.batch_id)
    return _start(connection, batch, cycle_key, batches, now)


def is_ready(connection: Connection, batch: BatchDefinition, cycle_key: str | None) -> bool:
    """Say whether a whole set waits."""
    return next(_sets(connection, batch, cycle_key), None) is not None


def _lock(connection: Connection, batch_id: BatchId) -> None:
    """Let transactions that complete the last ones of a set follow each other, so that each sees the other's offer."""
    if not dialect_of(connection).lock_name(connection, f"dependencies of batch {batch_id}"):
        message = f"Somebody else completes what batch {batch_id} depends on."
        raise Conflict(message)


def _start(
    connection: Connection, batch: BatchDefinition, cycle_key: str | None, batches: Batches, now: datetime
) -> list[IntakeId]:
    started: list[IntakeId] = []
    while (whole := next(_sets(connection, batch, cycle_key), None)) is not None:
        said = shorten(", ".join(_named(one, batches) for one in whole), SHOWN)
        row = intake.add(connection, entity=batch.entity, cycle_key=cycle_key, source=SOURCE, message=said)
        if not completions.use(connection, whole, row, now):
            message = f"Somebody else has used a completion that batch {batch.batch_id} waited for."
            raise Conflict(message)
        about = LogSource(SOURCE, batch.entity)
        scheduler_log.add(connection, SchedulerEvent.FIRED, about, now, said, batch_id=batch.batch_id, intake_id=row)
        started.append(row)
    if started:
        dialect_of(connection).tell(connection)
    return started


def _sets(connection: Connection, batch: BatchDefinition, cycle_key: str | None) -> Iterator[list[Completion]]:
    """Yield the sets that can start a batch as it is defined now; of sets of all its upstreams only the first."""
    if batch.is_in_cycle or not batch.dependencies:
        return
    wanted = dict.fromkeys(dependency.depends_on for dependency in batch.dependencies)
    found: Iterable[Completion | None]
    if len(wanted) <= ASKED_SINGLY:
        found = (completions.oldest(connection, batch.batch_id, cycle_key, each) for each in wanted)
    else:
        found = map(completions.oldest_of_each(connection, batch.batch_id, cycle_key).get, wanted)
    if batch.dependency_mode is DependencyMode.ANY:
        yield from ([one] for one in found if one is not None)
    elif (whole := _whole(found)) is not None:
        yield whole


def _whole(found: Iterable[Completion | None]) -> list[Completion] | None:
    whole: list[Completion] = []
    for one in found:
        if one is None:
            return None
        whole.append(one)
    return whole


def _named(one: Completion, batches: Batches) -> str:
    batch = batches.get(one.depends_on)
    name = f"batch {one.depends_on}" if batch is None else visible(batch.name)
    return f"{name} (BatchControl {one.instance_id})"


def waits(
    connection: Connection, batches: Batches, most: int, now: datetime, *, of: BatchId | None = None
) -> list[Wait]:
    """Return what waits for completions by batch and CycleKey, the longest wait first; `of` limits it to one batch."""
    return reasons_of(connection, batches, completions.waiting(connection, most, of=of), now)


def reasons_of(
    connection: Connection, batches: Batches, waitings: Iterable[WaitingCompletions], now: datetime
) -> list[Wait]:
    """Return the waits of batches that still have dependencies, with what each lacks."""
    found: list[Wait] = []
    for waiting in waitings:
        batch = batches.get(waiting.batch_id)
        if batch is None or not batch.dependencies:
            continue  # No batch waits for it any more.
        there = completions.oldest_of_each(connection, batch.batch_id, waiting.cycle_key)
        missing = dict.fromkeys(each.depends_on for each in batch.dependencies if each.depends_on not in there)
        reasons = [_reason(connection, waiting, batch, each, batches, now) for each in missing]
        found.append(Wait(batch, waiting.cycle_key, waiting.since, reasons, waiting.overdue, waiting.first))
    return found


def _reason(
    connection: Connection,
    waiting: WaitingCompletions,
    batch: BatchDefinition,
    missing: BatchId,
    batches: Batches,
    now: datetime,
) -> AwaitedUpstream:
    newest = instances.newest(connection, missing, waiting.cycle_key)
    was_offered = newest is not None and completions.was_offered(connection, batch.batch_id, newest.instance_id)
    other = batches.get(missing)
    key = waiting.cycle_key
    return lacking(waiting.since, batch, missing, other, newest, now, cycle_key=key, was_offered=was_offered)
