"""What keeps an instance from starting. The controller decides with these gates, and `why` explains with them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum

from batchctl.domain.definitions.sql_jobs import ORIGIN, correcting, correcting_job
from batchctl.domain.locked_rows import message_about
from batchctl.domain.occupancy import Occupancy
from batchctl.domain.operators import freezes
from batchctl.domain.operators.agents_seen import lacking
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.operators.pools import PoolsInUse, room_in, to_test, undraining, wording
from batchctl.domain.rows import (
    DEFAULT_POOL,
    HIGHEST_SEQ,
    LONG_AGO,
    NEVER,
    RETRIES_SKIPPED,
    BatchDefinition,
    BatchId,
    BatchInstance,
    ControllerRow,
    HistoryEntry,
    InstanceId,
    MissingPlugin,
    Need,
)
from batchctl.domain.rule_texts import ROWS
from batchctl.domain.scheduling.pace import Pace, begins
from batchctl.domain.status import STANDING_FAILURE, InstanceStatus, OnFailure
from batchctl.domain.step_mending import correct_failed
from batchctl.domain.text import typed, visible
from batchctl.domain.unreadable import correcting as correcting_row
from batchctl.domain.values import value

LISTED = 5
"""How many of the holders are named one by one."""


class Ends(StrEnum):
    """What lets a blocking gate be passed."""

    ACT = "when a person acts"
    HOLDER = "when what holds it ends"
    CONTROLLER = "when a controller comes to it"
    TIME = "at its time"


@value
class Gate:
    """One condition. `blocked` is None when it is passed, else why it is not; `clear` is what to type."""

    name: str
    blocked: str | None = None
    clear: str | None = None
    row: str | None = None
    """The row that blocks, or the rows."""
    ends: Ends = Ends.ACT
    until: datetime | None = None
    """The time before which it certainly blocks, where that is known."""


@value
class Holder:
    """An instance that holds what another one waits for, or gets it first."""

    instance_id: InstanceId
    batch_id: BatchId
    since: datetime | None = None
    """Since when it is under way; None where it starts only now, before the one in question."""

    def __str__(self) -> str:
        """Return its name, and since when it runs."""
        when = "which starts first" if self.since is None else f"since {self.since:%Y-%m-%d %H:%M:%S} UTC"
        return f"BatchControl {self.instance_id} {when}"


@value
class Slots:
    """How many instances the running controllers can have under way together, and what takes all of that, if so."""

    count: int
    takers: tuple[Holder, ...] = ()


@value
class GateContext:
    """What an instance's gates depend on besides itself and its batch."""

    now: datetime
    places: int
    """How many more instances of the batch may run at once."""
    ahead: BatchInstance | None = None
    """An earlier instance of the batch that makes later ones wait."""
    stop_all: BatchInstance | None = None
    """A failure anywhere whose batch stops everything."""
    others: Occupancy | None = None
    """What else is claimed, or will be first, where that is not counted in `places` already."""
    holders: tuple[Holder, ...] = ()
    """The instances that hold it."""
    slots: Slots | None = None
    """Whether a controller has room for it; None while claiming: a controller knows its own."""
    pace: Pace | None = None
    """How many of the batch are begun within a minute; None where that is not limited, or the instance is begun already."""
    last: HistoryEntry | None = None
    """The last attempt of an instance that has failed, for the advice about it."""
    question: Confirmation | None = None
    """The question that the instance waits with."""
    pools: PoolsInUse | None = None
    """Where steps may begin; None while claiming: a controller knows what it serves."""


def gates(instance: BatchInstance, batch: BatchDefinition, standing: GateContext) -> tuple[Gate, ...]:
    """Return every gate of an instance, passed or blocking."""
    return (
        _status(instance, batch, standing.last, standing.question),
        enabled(batch),
        frozen(batch, standing.now),
        _steps(batch, instance),
        _next_run_time(instance, standing.now),
        _failure_policy(batch, standing.ahead),
        _stop_all(standing.stop_all),
        *_pool(instance, batch, standing.pools),
        _places(batch, standing),
        *_pace(batch, standing.pace),
        *_resources(batch, standing.others, standing.holders),
        *_slots(standing.slots),
    )


def locks(controllers: Iterable[ControllerRow], names: Collection[str]) -> Gate:
    """Return the gate of locked rows: what controllers report as locked under any of some names."""
    for row in controllers:
        if (found := message_about(row.failure, names)) is not None:
            said, end = found
            return Gate("locks", said, end or "batchctl status", f"Controller {row.row_id}", Ends.HOLDER)
    return Gate("locks")


def may_start(instance: BatchInstance, batch: BatchDefinition, standing: GateContext) -> bool:
    """Say whether no gate blocks."""
    return all(gate.blocked is None for gate in gates(instance, batch, standing))


def startable(
    batch: BatchDefinition,
    candidates: Iterable[BatchInstance],
    *,
    now: datetime,
    places: int,
    failures: Sequence[BatchInstance] = (),
    pace: Pace | None = None,
) -> Iterator[BatchInstance]:
    """Yield the instances of a batch that may start now, in order; `candidates` are those in line, in order of creation.

    `places` is MaxConcurrent less the claimed instances; candidates that are claimed or paused change nothing.
    `failures` are those that stop everything. Behind the first that may not be begun yet for the `pace` of the batch all
    wait, in their order: otherwise the whole line would be read for the few that are begun already.
    """
    for instance in candidates:
        if places <= 0:
            return
        its_pace = pace if pace is not None and begins(instance, batch) else None
        stop_all = stopper(instance, failures)
        if may_start(instance, batch, GateContext(now=now, places=places, stop_all=stop_all, pace=its_pace)):
            places -= 1
            pace = pace if its_pace is None else its_pace.after(1, now)
            yield instance
        elif makes_later_wait(instance, batch, now) or (its_pace is not None and its_pace.left <= 0):
            return


def stopper(instance: BatchInstance, failures: Sequence[BatchInstance]) -> BatchInstance | None:
    """Return which of the failures that stop everything keeps an instance from starting.

    A failure's own retry may be its cure: only a failure that needs a person, or an earlier retry, goes before it.
    """
    own_retry = instance.status is InstanceStatus.RETRY and any(
        at.instance_id == instance.instance_id for at in failures
    )
    for failure in failures:
        waits_itself = failure.status is InstanceStatus.RETRY and failure.instance_id >= instance.instance_id
        if not (own_retry and waits_itself):
            return failure
    return None


def makes_later_wait(instance: BatchInstance, batch: BatchDefinition, now: datetime) -> bool:
    """Say whether later instances of the batch wait for this one by the failure policy."""
    if batch.on_failure is OnFailure.CONTINUE:
        return False
    waits = instance.status in {InstanceStatus.READY, InstanceStatus.RETRY} and instance.next_run_time > now
    return waits or instance.status in STANDING_FAILURE


_STATUS_SAYS: dict[InstanceStatus, tuple[str | None, str | None]] = {
    InstanceStatus.READY: (None, None),
    InstanceStatus.RETRY: (None, None),
    InstanceStatus.RUNNING: ("it is running now", None),
    InstanceStatus.PAUSING: ("it pauses when its running step ends", "batchctl resume {id} --reason ..."),
    InstanceStatus.PAUSED: ("somebody paused it", "batchctl resume {id} --reason ..."),
    InstanceStatus.FAILED: ("a step failed and no retry is left", None),
    InstanceStatus.HELD: (
        "a step was started and it is unknown how it ended; look at its work, then decide",
        "batchctl rerun {id} --reason ...   (or: batchctl skip {id} --reason ...)",
    ),
    InstanceStatus.CANCELLING: ("it is being cancelled", None),
    InstanceStatus.CANCELLED: ("somebody cancelled it", "batchctl rerun {id} --reason ..."),
    InstanceStatus.COMPLETE: ("it is complete", "batchctl rerun {id} --from SEQ --reason ..."),
}


_UNDER_WAY = {InstanceStatus.RUNNING, InstanceStatus.CANCELLING}
"""The running step has to end first; what pauses then waits for a person."""

_PASSED = {
    name: Gate(name)
    for name in ("status", "enabled", "freeze", "steps", "NextRunTime", "failure policy", "stop_all", "MaxConcurrent")
}
"""The gates that only say that they are passed, as they are for every instance that starts."""

_ACTS = re.compile(r"batchctl (?:rerun|cancel|submit) ")
"""Commands that decide themselves how an instance goes on, or that it does not."""
_AT_ONCE = f"'{LONG_AGO:%Y-%m-%d %H:%M:%S}.000'"
"""A time that is past everywhere, as SQL writes it."""
_RERUN = "batchctl rerun {id} --reason ..."
_IF_RIGHT = f"{_RERUN}   (if that number of rows is right: batchctl skip {{id}} --reason ...)"
_TO_MEND = "correct what its message names (batchctl history {id}), then: batchctl rerun {id} --reason ..."


def mending(instance: BatchInstance, batch: BatchDefinition | None, last: HistoryEntry | None) -> str:
    """Return what to type about an instance that has failed: the SQL of a job can be corrected by a command.

    An attempt that was refused before it began names itself what to correct.
    """
    rerun = _RERUN.format(id=instance.instance_id)
    mend = refused_mend(batch, last)
    if mend is not None:
        return mend if _ACTS.search(mend) else f"{mend}, then: {rerun}"
    if last is not None and last.error_code == ROWS:
        return _IF_RIGHT.format(id=instance.instance_id)
    if batch is not None and batch.origin == ORIGIN:
        correct = correcting(batch.name)
        if instance.retries_skipped:
            return f"{correct}   (if its SQL is wrong: batchctl history {instance.instance_id}), then: {rerun}"
        return f"{rerun}   (if its SQL is wrong, first: {correct})"
    return _TO_MEND.format(id=instance.instance_id) if instance.retries_skipped else rerun


def refused_mend(batch: BatchDefinition | None, last: HistoryEntry | None) -> str | None:
    """Return what to do about an attempt that was refused before it began, or would fail again; None for others."""
    if last is None or batch is None:
        return None if last is None else last.mend
    if last.mend is None:
        return correct_failed(last, batch.name)
    return correcting_job(batch.name, last.mend) if batch.origin == ORIGIN else last.mend


def _status(
    instance: BatchInstance, batch: BatchDefinition, last: HistoryEntry | None, question: Confirmation | None
) -> Gate:
    blocked, clear = _STATUS_SAYS[instance.status]
    if blocked is None:
        return _PASSED["status"]
    if instance.status is InstanceStatus.PAUSED and question is not None:
        row = f"Confirmation {question.confirmation_id}"
        return Gate("status", f"step {question.seq} asks {question.wording}", question.answering, row)
    if instance.status is InstanceStatus.FAILED:
        said = f"a step failed; {RETRIES_SKIPPED}" if instance.retries_skipped else blocked
        return Gate(name="status", blocked=said, clear=mending(instance, batch, last), row=row_of(instance))
    return Gate(
        name="status",
        blocked=blocked,
        clear=clear and clear.format(id=instance.instance_id),
        row=row_of(instance),
        ends=Ends.HOLDER if instance.status in _UNDER_WAY else Ends.ACT,
    )


def enabled(batch: BatchDefinition) -> Gate:
    """Return the gate of a batch that may be disabled."""
    if batch.enabled:
        return _PASSED["enabled"]
    return Gate(
        name="enabled",
        blocked=f"batch {batch.name} is disabled",
        clear=f"batchctl enable {typed(batch.name)} --reason ...",
        row=f"ProcessBatch {batch.batch_id}",
    )


def frozen(batch: BatchDefinition, now: datetime) -> Gate:
    """Return the gate of a batch that may be frozen."""
    freeze = freezes.holding(batch, now)
    if freeze is None:
        return _PASSED["freeze"]
    until = None if freeze.until == NEVER else freeze.until
    return Gate(
        name="freeze",
        blocked=freezes.wording(freeze),
        clear=freezes.thawing(freeze),
        row=f"BatchFreeze {freeze.freeze_id}",
        ends=Ends.ACT if until is None else Ends.TIME,
        until=until,
    )


def is_open(batch: BatchDefinition, now: datetime) -> bool:
    """Say whether anything new may start in a batch: it may be disabled or frozen."""
    return batch.enabled and freezes.holding(batch, now) is None


def populator(batch: BatchDefinition) -> Gate:
    """Return the gate of a batch whose populator may not be installed."""
    missing = next((one for one in batch.missing_plugins if one.seq is None), None)
    return Gate("populator") if missing is None else _lacking("populator", missing)


def _lacking(gate: str, missing: MissingPlugin) -> Gate:
    return Gate(gate, missing.message, missing.mend, missing.row)


def _steps(batch: BatchDefinition, instance: BatchInstance) -> Gate:
    if not 0 <= instance.last_seq <= HIGHEST_SEQ:
        row, allowed = row_of(instance), f"between 0 and {HIGHEST_SEQ}"
        said = f"PrevProcessControlSeq is {instance.last_seq}, and has to be {allowed}"
        where = f"BatchControl_id = {instance.instance_id}"
        mend = correcting_row("BatchControl", "PrevProcessControlSeq", where, "write the last step that succeeded: ")
        return Gate("steps", f"{row} cannot be read: {said}", mend, row)
    if missing := batch.missing_after(instance.last_seq):
        return _lacking("steps", missing[0])
    if batch.steps:
        return _PASSED["steps"]
    return Gate(
        name="steps",
        blocked=f"batch {batch.name} has no steps",
        clear="INSERT INTO ProcessControl ...",
        row=f"ProcessBatch {batch.batch_id}",
    )


def _next_run_time(instance: BatchInstance, now: datetime) -> Gate:
    if instance.next_run_time <= now:
        return _PASSED["NextRunTime"]
    if instance.next_run_time == NEVER:
        row = row_of(instance)
        where = f"BatchControl_id = {instance.instance_id}"
        mend = correcting_row(
            "BatchControl", "NextRunTime", where, "let it wait no more, or write until when: ", _AT_ONCE
        )
        return Gate("NextRunTime", f"{row} cannot be read: NextRunTime holds no time", mend, row)
    return Gate(
        name="NextRunTime",
        blocked=f"it waits until {instance.next_run_time:%Y-%m-%d %H:%M:%S} UTC",
        clear=f"batchctl rerun {instance.instance_id} --reason ...",
        row=row_of(instance),
        ends=Ends.TIME,
        until=instance.next_run_time,
    )


def _failure_policy(batch: BatchDefinition, ahead: BatchInstance | None) -> Gate:
    if ahead is None:
        return _PASSED["failure policy"]
    return _behind("failure policy", ahead, f"of the same batch is {ahead.status} (OnFailure {batch.on_failure})")


def _stop_all(failure: BatchInstance | None) -> Gate:
    if failure is None:
        return _PASSED["stop_all"]
    return _behind("stop_all", failure, f"is {failure.status} and its batch stops everything")


def _behind(name: str, other: BatchInstance, so: str) -> Gate:
    """Return the gate of an instance that another one keeps waiting: until its own next attempt, or for a person."""
    goes_on = other.status in _GOES_ON
    return Gate(
        name=name,
        blocked=f"BatchControl {other.instance_id} {so}",
        clear=f"batchctl why {other.instance_id}",
        row=row_of(other),
        ends=Ends.HOLDER if goes_on else Ends.ACT,
        until=other.next_run_time if goes_on and other.next_run_time > LONG_AGO else None,
    )


_GOES_ON = {InstanceStatus.READY, InstanceStatus.RETRY}


def row_of(instance: BatchInstance) -> str:
    """Name an instance by its row."""
    return f"BatchControl {instance.instance_id}"


def _resources(batch: BatchDefinition, others: Occupancy | None, holders: Sequence[Holder]) -> Iterator[Gate]:
    if others is None:
        return
    if others.limit is not None:
        yield _overall(others.total, others.limit, holders)
    for need in batch.needs:
        if others.room(need) > 0:
            yield Gate(name=f"resource {need.name}")
        elif need.units > need.capacity:
            yield Gate(
                name=f"resource {need.name}",
                blocked=f"it needs {need.units} units of {need.name}, and there are {need.capacity}",
                clear="correct Units of Resource or BatchResource",
                row=f"Resource {need.resource_id}",
            )
        else:
            yield _full(need, others, holders)


def _overall(total: int, limit: int, holders: Sequence[Holder]) -> Gate:
    if total < limit:
        return Gate(name="Setting MaxConcurrent")
    if limit == 0:
        blocked = "Setting MaxConcurrent is 0, or no number: nothing starts"
        clear = "let Value of Setting MaxConcurrent say how many, or delete that row"
        return Gate(name="Setting MaxConcurrent", blocked=blocked, clear=clear, row="Setting MaxConcurrent")
    return Gate(
        name="Setting MaxConcurrent",
        blocked=f"{total} instances are under way, and Setting MaxConcurrent is {limit}",
        clear=_UNDER_WAY_NOW,
        row=_rows(holders),
        ends=Ends.HOLDER,
    )


_UNDER_WAY_NOW = "batchctl status   (what is under way)"


def _full(need: Need, others: Occupancy, holders: Sequence[Holder]) -> Gate:
    theirs = {batch.batch_id: (batch, need) for batch, need, _ in others.holders(need.resource_id)}
    holding = [one for one in holders if one.batch_id in theirs]
    held = [
        f"{count} of batch {batch.name} ({'all of it' if its.exclusive else f'{count * its.units} units'}"
        f"{_named(one for one in holding if one.batch_id == batch.batch_id)})"
        for batch, its, count in others.holders(need.resource_id)
    ]
    wanted = f"all of {need.name}" if need.exclusive else f"{need.units} of the {need.capacity} units of {need.name}"
    return Gate(
        name=f"resource {need.name}",
        blocked=f"it needs {wanted}, and instances under way hold it: {', '.join(held)}",
        clear=_UNDER_WAY_NOW,
        row=_rows(holding) or f"Resource {need.resource_id}",
        ends=Ends.HOLDER,
    )


def _slots(slots: Slots | None) -> Iterator[Gate]:
    if slots is None:
        return
    if not slots.takers:
        yield Gate(name="slots")
        return
    yield Gate(
        name="slots",
        blocked=f"all slots of the controllers that run are taken ({slots.count}){_named(slots.takers)}",
        clear="batchctl controllers   (their slots; more of them: batchctl run --slots N)",
        row=_rows(slots.takers),
        ends=Ends.HOLDER,
    )


def _named(holders: Iterable[Holder]) -> str:
    found = list(holders)
    said = "".join(f"; {one}" for one in found[:LISTED])
    return said if len(found) <= LISTED else f"{said}; and {len(found) - LISTED} more"


def _rows(holders: Sequence[Holder]) -> str | None:
    """Name the rows of those that hold something, as far as they are listed."""
    return f"BatchControl {', '.join(str(one.instance_id) for one in holders[:LISTED])}" if holders else None


def _pool(instance: BatchInstance, batch: BatchDefinition, pools: PoolsInUse | None) -> Iterator[Gate]:
    """Yield the gate of the next step's pool."""
    step = batch.step_after(instance.last_seq)
    if step is None or pools is None:
        return
    name = batch.pool_of(step)
    pool, drain = pools.known.by_name.get(name), pools.known.drain_of_pool(name)
    row = None if pool is None else f"Pool {pool.pool_id}"
    if drain is not None:
        yield Gate("pool", wording(drain), undraining(drain), f"Drain {drain.drain_id}")
    elif pool is not None and not pool.enabled:
        enable = correcting_row("Pool", "Enabled", f"Pool_id = {pool.pool_id}", "let steps begin in it: ", "1")
        yield Gate("pool", f"pool {visible(name)} is disabled", enable, row)
    elif (unserved := pools.unserved(name)) is not None:
        of_host = pools.host_drains.get(name)
        yield Gate("pool", unserved, pools.to_serve(name), row if of_host is None else f"Drain {of_host.drain_id}")
    elif (room := room_in(name, pools.known, pools.claimed)) is not None and room <= 0:
        said = (
            f"{pools.claimed.get(name, 0)} instances have a step of pool {visible(name)} under way, its MaxConcurrent"
        )
        yield Gate("pool", said, _UNDER_WAY_NOW, row, Ends.HOLDER)
    elif not instance.status.is_claimed and (lacks := lacking(name, pools.agents.get(name, ()), step.host_needs)):
        said, ends_with_others = lacks
        yield Gate("pool", said, to_test(name), row, Ends.HOLDER if ends_with_others else Ends.ACT)
    elif name != DEFAULT_POOL:
        yield Gate("pool")


def _pace(batch: BatchDefinition, pace: Pace | None) -> Iterator[Gate]:
    if pace is None:
        return
    if pace.left > 0:
        yield Gate("MaxPerMinute")
        return
    were = "1 instance of it was" if pace.begun == 1 else f"{pace.begun} instances of it were"
    yield Gate(
        name="MaxPerMinute",
        blocked=f"MaxPerMinute of batch {batch.name} is {pace.most}, and {were} begun within 60 seconds",
        clear=correcting_row(
            *("ProcessBatch", "MaxPerMinute", f"ProcessBatch_id = {batch.batch_id}"),
            "it starts by itself; to let more begin: ",
        ),
        row=f"ProcessBatch {batch.batch_id}",
        ends=Ends.TIME,
        until=pace.next,
    )


def _places(batch: BatchDefinition, standing: GateContext) -> Gate:
    if standing.places > 0:
        return _PASSED["MaxConcurrent"]
    before = [one for one in standing.holders if one.batch_id == batch.batch_id]
    return Gate(
        name="MaxConcurrent",
        blocked=f"{batch.max_concurrent} of batch {batch.name} are started before it{_named(before)}",
        clear=f"batchctl why {before[0].instance_id}" if before else None,
        row=_rows(before) or f"ProcessBatch {batch.batch_id}",
        ends=Ends.HOLDER,
    )
