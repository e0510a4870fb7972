"""The batches, what they wait for, and how each stands: the read models behind `graph` and `impact`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from batchctl.domain.dependencies import graph
from batchctl.domain.dependencies.stands import Stand, Stands
from batchctl.domain.errors import NotFound
from batchctl.domain.operators import freezes
from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.domain.status import FINAL, InstanceStatus, OnFailure
from batchctl.domain.text import unfit
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import unknown
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import live
from batchctl.store.dependencies.live import WaitingCompletion

_TELLING = (
    InstanceStatus.FAILED,
    InstanceStatus.HELD,
    InstanceStatus.RETRY,
    InstanceStatus.CANCELLING,
    InstanceStatus.PAUSING,
    InstanceStatus.RUNNING,
    InstanceStatus.PAUSED,
    InstanceStatus.READY,
)
"""Of several open instances, the one whose status stands first here speaks for its batch."""
_UNDER_WAY = (InstanceStatus.RUNNING, InstanceStatus.RETRY, InstanceStatus.READY)
_PAUSED = {InstanceStatus.PAUSED, InstanceStatus.PAUSING}
_QUIET = {InstanceStatus.COMPLETE.value, InstanceStatus.CANCELLED.value, "idle"}
ALONE_DRAWN = 20
"""So many batches without dependencies are drawn; of more only those of which there is something to say."""
MOST_ALONE = 100
WAITS = "waits"
IDLE = "idle"
"""The states of batches without an instance: something they need has completed, or nothing has happened lately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyWait:
    """What has completed for one CycleKey, and what has not."""

    cycle_key: str | None
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    since: datetime
    is_overdue: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A batch with how it stands; `level` says how many others stand in a row before it."""

    batch: BatchDefinition
    level: int
    stand: Stand | None
    counts: Mapping[InstanceStatus, int]
    """How many instances are open in each status."""
    waits: tuple[KeyWait, ...]
    in_cycle: bool
    alone: bool
    """True when it waits for nothing and nothing waits for it."""
    is_frozen: bool = False

    @property
    def closed(self) -> tuple[str, ...]:
        """Say why nothing new starts in it, whatever stands in line."""
        return *(() if self.batch.enabled else ("disabled",)), *(("frozen",) if self.is_frozen else ())

    @property
    def state(self) -> str:
        """Return the status of the instance that speaks for it, or that it waits, or that there is nothing to say."""
        if self.waits and (self.stand is None or self.stand.status in FINAL):
            return WAITS
        return IDLE if self.stand is None else self.stand.status.value


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetState:
    """How the batch stands that a picture is drawn of."""

    cycle_key: str | None
    """The CycleKey that it goes on with; None when nothing of it, or of what it waits for, is under way."""
    is_complete: bool
    blockers: tuple[str, ...]
    """What keeps it from completing, unless a person acts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The batches in levels, those without dependencies among them; of one batch only what it waits for."""

    now: datetime
    cycle_key: str | None
    target: BatchDefinition | None
    nodes: tuple[GraphNode, ...]
    target_state: TargetState | None = None
    unreadable: tuple[UnreadableRow, ...] = ()
    """What cannot be read of other batches, which are left out."""

    @property
    def is_of_unknown_key(self) -> bool:
        """Say whether nothing has happened for the CycleKey that was asked for."""
        return self.cycle_key is not None and not any(node.stand or node.waits for node in self.nodes)

    @property
    def linked(self) -> tuple[GraphNode, ...]:
        """Return the batches that are drawn with lines."""
        return tuple(node for node in self.nodes if not node.alone)

    @property
    def alone(self) -> tuple[GraphNode, ...]:
        """Return the batches without dependencies that are drawn one by one."""
        alone = [node for node in self.nodes if node.alone]
        if len(alone) <= ALONE_DRAWN:
            return tuple(alone)
        return tuple(node for node in alone if node.state not in _QUIET)[:MOST_ALONE]

    @property
    def left_out(self) -> Mapping[str, int]:
        """Return how many batches are not drawn, by their states."""
        drawn = {node.batch.batch_id for node in self.alone}
        return Counter(node.state for node in self.nodes if node.alone and node.batch.batch_id not in drawn)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBatch:
    """A batch that a failure would hold back: the way to it, and what waits there now."""

    batch: BatchDefinition
    way: tuple[str, ...]
    waits: tuple[KeyWait, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What follows when a batch does not complete."""

    batch: BatchDefinition
    held: tuple[HeldBatch, ...]
    spared: tuple[BatchDefinition, ...]
    """What stands further on, and can be started by other batches all the same."""
    in_line: int
    """Instances of the batch itself that would wait by its failure policy."""

    @property
    def stops_all(self) -> bool:
        """Say whether its failure stops everything else, too."""
        return self.batch.on_failure is OnFailure.STOP_ALL


def picture(transactions: Transactions, clock: Clock, name: str | None, cycle_key: str | None) -> Picture:
    """Look at all batches, or at one and what it waits for; for one CycleKey, or for whatever is open."""
    now = clock.now()
    with transactions.read() as connection:
        defined = definitions.read(connection)
        every = defined.batches
        target = None if name is None else unknown.named(connection, every, name)
        batches = every if target is None else _with_what_it_waits_for(every, target)
        _check(cycle_key)
        stands = _by_batch(live.stands(connection, cycle_key))
        waits = _waits(every, live.waiting(connection), cycle_key)
        state = None
        if target is None:
            stands = _still_wanted(stands, waits, batches)
        else:
            key = _key_under_way(batches, target, stands, waits) if cycle_key is None else cycle_key
            of_key = {} if key is None else _by_batch(live.stands(connection, key))
            state = _state(connection, batches, target, now, key, of_key)
            stands = stands if key is None else _over_for(of_key, stands)
    return Picture(
        now=now,
        cycle_key=cycle_key,
        target=target,
        nodes=_nodes(batches, stands, waits, now),
        target_state=state,
        unreadable=defined.unreadable,
    )


def impact(transactions: Transactions, name: str) -> Impact:
    """Look at everything that waits for a batch."""
    with transactions.read() as connection:
        every = definitions.all_batches(connection)
        batch = unknown.named(connection, every, name)
        waits = _waits(every, live.waiting(connection), None)
        counts = _counts(_by_batch(live.stands(connection)).get(batch.batch_id, ()))
    known = {one.batch_id: one for one in every}
    ways = graph.held_back(every, batch.batch_id)
    further = graph.downstream(every, batch.batch_id) - {batch.batch_id}
    return Impact(
        batch=batch,
        held=tuple(
            HeldBatch(batch=known[one], way=tuple(known[at].name for at in way), waits=tuple(waits.get(one, ())))
            for one, way in ways.items()
        ),
        spared=tuple(one for one in every if one.batch_id in further and one.batch_id not in ways),
        in_line=0 if batch.on_failure is OnFailure.CONTINUE else counts.get(InstanceStatus.READY, 0),
    )


def _check(cycle_key: str | None) -> None:
    """Refuse a CycleKey that no row can hold, which some databases do not even want to look for."""
    failure = None if cycle_key is None else unfit(cycle_key)
    if failure is not None:
        raise NotFound(f"No instance has such a CycleKey: {failure}.", next_step="batchctl graph")


def _with_what_it_waits_for(every: Sequence[BatchDefinition], target: BatchDefinition) -> Sequence[BatchDefinition]:
    wanted = graph.upstream(every, target.batch_id) | {target.batch_id}
    return [batch for batch in every if batch.batch_id in wanted]


def _by_batch(stands: Iterable[Stand]) -> dict[BatchId, list[Stand]]:
    found: dict[BatchId, list[Stand]] = {}
    for stand in stands:
        found.setdefault(stand.batch_id, []).append(stand)
    return found


def _still_wanted(
    stands: Mapping[BatchId, Sequence[Stand]],
    waits: Mapping[BatchId, Sequence[KeyWait]],
    batches: Iterable[BatchDefinition],
) -> dict[BatchId, list[Stand]]:
    """Leave out what is over of a batch that something waits for: it was over for another CycleKey than that."""
    lacked = {name for there in waits.values() for wait in there for name in wait.lacks}
    wanted = {batch.batch_id for batch in batches if batch.name in lacked}
    return {
        one: [stand for stand in there if one not in wanted or stand.status not in FINAL]
        for one, there in stands.items()
    }


def _over_for(
    of_key: Mapping[BatchId, Sequence[Stand]], stands: Mapping[BatchId, Sequence[Stand]]
) -> dict[BatchId, list[Stand]]:
    """Return what is open, and what is over for a CycleKey."""
    return {
        one: [
            *(stand for stand in stands.get(one, ()) if stand.status not in FINAL),
            *(stand for stand in of_key.get(one, ()) if stand.status in FINAL),
        ]
        for one in {*stands, *of_key}
    }


def _counts(stands: Iterable[Stand]) -> dict[InstanceStatus, int]:
    return {stand.status: stand.how_many for stand in stands if stand.status not in FINAL}


def _speaks(stands: Sequence[Stand]) -> Stand | None:
    """Return the instance that says most about its batch."""
    still_open = [stand for stand in stands if stand.status not in FINAL]
    if still_open:
        return min(still_open, key=lambda stand: _TELLING.index(stand.status))
    return max(stands, key=lambda stand: stand.instance_id, default=None)


def _waits(
    batches: Iterable[BatchDefinition], waiting: Iterable[WaitingCompletion], cycle_key: str | None
) -> dict[BatchId, list[KeyWait]]:
    """Return for each batch the sets that are not complete."""
    known = {batch.batch_id: batch for batch in batches}
    sets: dict[tuple[BatchId, str | None], list[WaitingCompletion]] = {}
    for one in waiting:
        if one.batch_id in known and (cycle_key is None or one.cycle_key == cycle_key):
            sets.setdefault((one.batch_id, one.cycle_key), []).append(one)
    found: dict[BatchId, list[KeyWait]] = {}
    for (batch_id, key), there in sets.items():
        needs, complete = graph.needs(known[batch_id]), {one.completed for one in there}
        has, lacks = ([at for at in needs if (at in complete) is wanted] for wanted in (True, False))
        if has and lacks:
            wait = KeyWait(
                cycle_key=key,
                has=tuple(_name(known, at) for at in has),
                lacks=tuple(_name(known, at) for at in lacks),
                since=min(one.since for one in there),
                is_overdue=any(one.is_overdue for one in there),
            )
            found.setdefault(batch_id, []).append(wait)
    return found


def _name(known: Mapping[BatchId, BatchDefinition], batch_id: BatchId) -> str:
    return known[batch_id].name if batch_id in known else f"(ProcessBatch {batch_id}, which does not exist)"


def _nodes(
    batches: Sequence[BatchDefinition],
    stands: Mapping[BatchId, Sequence[Stand]],
    waits: Mapping[BatchId, Sequence[KeyWait]],
    now: datetime,
) -> tuple[GraphNode, ...]:
    known = {batch.batch_id: batch for batch in batches}
    caught = graph.in_cycle(batches)
    needed = {other for batch in batches for other in graph.needs(batch)}
    return tuple(
        GraphNode(
            batch=known[one],
            level=level,
            stand=_speaks(stands.get(one, ())),
            counts=_counts(stands.get(one, ())),
            waits=tuple(waits.get(one, ())),
            in_cycle=one in caught,
            alone=not known[one].dependencies and one not in needed,
            is_frozen=freezes.holding(known[one], now) is not None,
        )
        for level, those in enumerate(graph.levels(batches))
        for one in those
    )


def _key_under_way(
    batches: Sequence[BatchDefinition],
    target: BatchDefinition,
    stands: Mapping[BatchId, Sequence[Stand]],
    waits: Mapping[BatchId, Sequence[KeyWait]],
) -> str | None:
    """Return the CycleKey of what is nearest to its end: of what runs, else of what is about to, else of what waits or stands."""
    ids = [batch.batch_id for batch in batches]
    going = [stand for one in ids for stand in stands.get(one, ()) if stand.status in _UNDER_WAY]
    if going:
        return min(going, key=lambda stand: (_UNDER_WAY.index(stand.status), stand.instance_id)).cycle_key
    waiting = [wait for one in ids for wait in waits.get(one, ())]
    if waiting:
        return min(waiting, key=lambda wait: wait.since).cycle_key
    stand = _speaks([one for one in stands.get(target.batch_id, ()) if one.status in _PAUSED])
    return None if stand is None else stand.cycle_key


def _stuck(connection: Connection, batches: Sequence[BatchDefinition]) -> dict[BatchId, Stand]:
    """Return the first instance of each batch that keeps later ones waiting until a person acts."""
    found: dict[BatchId, Stand] = {}
    keeps = {one.batch_id for one in batches if one.on_failure is not OnFailure.CONTINUE}
    for stand in live.stands(connection):
        if stand.status in {InstanceStatus.FAILED, InstanceStatus.HELD} and stand.batch_id in keeps:
            first = found.setdefault(stand.batch_id, stand)
            found[stand.batch_id] = min(first, stand, key=lambda one: one.instance_id)
    return found


def _state(
    connection: Connection,
    batches: Sequence[BatchDefinition],
    target: BatchDefinition,
    now: datetime,
    cycle_key: str | None,
    of_key: Mapping[BatchId, Sequence[Stand]],
) -> TargetState:
    speaking = {one: stand for one, stands in of_key.items() if (stand := _speaks(stands)) is not None}
    stands = Stands(
        batches=batches,
        now=now,
        stands=speaking,
        under_way=live.under_way(connection),
        stuck=_stuck(connection, batches),
    )
    own = speaking.get(target.batch_id)
    return TargetState(
        cycle_key=cycle_key,
        is_complete=own is not None and own.status is InstanceStatus.COMPLETE,
        blockers=stands.blockers(target.batch_id),
    )
