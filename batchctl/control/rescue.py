"""After a crash: what a dead controller left open is gone on with, tried again, or recorded as lost.

Death is only the permission to look: the host, and the database a step ran in, are asked what became of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from batchctl.control.allotment import MOST, Allotment
from batchctl.control.attempts import Attempt
from batchctl.control.contention import Locks
from batchctl.control.controller_watch import ControllerWatch
from batchctl.control.recording import Recorder
from batchctl.control.takeover import LostVerdict, Takeover, belongs
from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseRefused, PluginError
from batchctl.domain.liveness import Rhythm
from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import (
    BatchDefinition,
    BatchId,
    BatchInstance,
    ControllerRow,
    HistoryEntry,
    HistoryId,
    InstanceId,
    Step,
)
from batchctl.domain.status import ControllerStatus
from batchctl.domain.text import in_short, visible
from batchctl.logs import Event, EventValue, Listener
from batchctl.plugin_api import StepHandler
from batchctl.ports import Clock, Sightings, StepRunner, Trace, Transactions
from batchctl.store import controllers, history, instances, pool_rows
from batchctl.store.definitions import definitions

Result = TypeVar("Result")

MOST_LOCKS = 5
"""How many locked rows one look may meet: each costs a moment, and the steps have to go on."""

_CANNOT_ASK = (
    "the controller died while the step ran, and this one lacks the step's definition or plugin, so it cannot find out"
    " what became of it: look whether it still runs"
)

_NOT_ASKED = (
    "the controller died while agents of pool {pool} carried the step, and no controller runs that serves the pool:"
    " it is unknown how it ended"
)


@dataclass(frozen=True, slots=True)
class Rescued:
    """What was taken over from dead controllers."""

    lost: tuple[InstanceId, ...] = ()
    """Instances whose step was lost."""
    adopted: tuple[tuple[Attempt, HistoryEntry], ...] = ()
    """Attempts that go on under this controller, each with its row as it was read."""
    freed: bool = False
    """True when something may start now that could not before."""

    def __add__(self, other: Rescued) -> Rescued:
        """Put two together."""
        return Rescued(self.lost + other.lost, self.adopted + other.adopted, self.freed or other.freed)


@dataclass(frozen=True, slots=True)
class _LeftOver:
    """An attempt of which something may be alive, unwatched. `owner` is None once this controller has the claim."""

    entry: HistoryEntry
    owner: ControllerRow | None
    batch: BatchDefinition
    handler: StepHandler
    rendered: Rendered
    may_run_within: bool = False
    """True while the process that began it may live, with a job running within it."""


@dataclass(slots=True)
class Rescue:
    """Watches the others for one controller. Several may watch the same: each write first looks whether it may."""

    transactions: Transactions
    clock: Clock
    runner: StepRunner
    recorder: Recorder
    listener: Listener
    rhythm: Rhythm = field(default_factory=Rhythm)
    noted: Sightings | None = None
    """What was seen at earlier starts, for a controller that runs too briefly to find others silent for long enough."""
    _announced: set[HistoryId] = field(default_factory=set)
    """Attempts that were announced as not clear yet."""
    _watch: ControllerWatch = field(init=False)
    _takeover: Takeover = field(init=False)
    _locks: Locks = field(init=False)
    """The rows that were locked at the last look, each a column and its value."""
    _met: set[tuple[str, int | str]] = field(default_factory=set)
    """The rows of this look that were locked."""
    _unknown: dict[HistoryId, PluginError] = field(default_factory=dict)
    """Attempts whose fate this look could not find out, each with the reason."""

    def __post_init__(self) -> None:
        """Know nothing of the others yet."""
        me = self.recorder.controller
        self._watch = ControllerWatch(self.transactions, self.clock, self.runner, me, self.rhythm, self.noted)
        self._takeover = Takeover(self.transactions, self.clock, self.recorder)
        self._locks = Locks(self.transactions, self.clock, self.listener)

    def look(
        self, is_known: Callable[[HistoryId], bool], carries: Callable[[InstanceId], bool] = lambda _instance_id: False
    ) -> Rescued:
        """Take over what dead controllers have left, as far as it can be known by now.

        `is_known` says of this controller's own attempts whether it watches over them, `carries` of an instance whether
        it has any attempt of it under way.
        """
        self._unknown.clear()
        dead = self._watch.dead()
        if not dead and not self._has_lost_sight(is_known, carries):
            return Rescued()
        return self._take_over_all(dead, is_known, carries)

    @property
    def failure(self) -> PluginError | None:
        """Say what kept the last look from finding out what became of an attempt, if anything did."""
        return next(iter(self._unknown.values()), None)

    @property
    def locked(self) -> dict[str, str]:
        """Return what was announced of the rows that stay locked, by the name of what is locked."""
        called = {"BatchControl_id": "BatchControl", "ClaimedBy": "controller"}
        told = self._locks.announced
        return {
            f"{called[column]} {value}": told[column, value] for column, value in self._met if (column, value) in told
        }

    def _has_lost_sight(self, is_known: Callable[[HistoryId], bool], carries: Callable[[InstanceId], bool]) -> bool:
        """Say whether anything stands as this controller's work that it does not watch over.

        It was taken over by a commit of unknown outcome, or is not clear yet; or an older database was restored.
        """
        with self.transactions.read() as connection:
            claimed, begun = controllers.open_of(connection, self.recorder.controller)
        return not all(map(carries, claimed)) or not all(map(is_known, begun))

    def tidy(self) -> None:
        """Forget what this host keeps about controllers that have nothing open any more, listed still or not."""
        with self.transactions.read() as connection:
            live = {entry.history_id for entry in history.live_entries(connection)}
            living = {row.name for row in controllers.everyone(connection) if row.status is ControllerStatus.RUNNING}
        # Others may have taken this one for dead while it began.
        self.runner.tidy(living | {self.recorder.controller}, live)

    def _take_over_all(
        self,
        dead: Mapping[str | None, ControllerRow | None],
        is_known: Callable[[HistoryId], bool],
        carries: Callable[[InstanceId], bool],
    ) -> Rescued:
        with self.transactions.read() as connection:
            batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
            live = history.live_entries(connection)
            claimed = {instance.instance_id: instance for instance in instances.claimed(connection)}
        rescued, unclear, left_over = Rescued(), set[str | None](), list[_LeftOver]()
        self._locks.keep(self._met)
        self._met = set()
        allotment = Allotment(self.clock, max(MOST, self.rhythm.lease.total_seconds() / 4))
        for entry in sorted(live, key=self._comes_late):
            instance = claimed.get(entry.instance_id)
            owner, has_claim = _owner(entry, instance), instance is not None and belongs(entry, instance)
            if owner == self.recorder.controller:
                if is_known(entry.history_id) or carries(entry.instance_id):
                    continue
                # Taken over by a commit of unknown outcome, or without what follows; or an older database was restored.
                row = None
            elif owner in dead:
                row = dead[owner]
            else:
                continue
            if not allotment.is_left:
                # Signs of life have to go on, however long plugins take to say what became of each.
                unclear.add(owner)
                continue
            take_over = partial(self._take_over, entry, row, batches, has_claim=has_claim)
            found = allotment.spend(partial(self._apart, entry, take_over))
            if found is None:
                unclear.add(owner)
            elif isinstance(found, _LeftOver):
                left_over.append(found)
            else:
                rescued += found
        # Only now: while something is being stopped, a controller that was only frozen may come back and keep the rest.
        for one in left_over:
            given_up = self._apart(one.entry, partial(self._stop_left_over, one))
            if given_up is None:
                unclear.add(self.recorder.controller if one.owner is None else one.owner.name)
            else:
                rescued += given_up
        self._release_claims(dead, carries)
        self._write_off(row for name, row in dead.items() if row is not None and name not in unclear)
        return rescued

    def _comes_late(self, entry: HistoryEntry) -> tuple[bool, bool]:
        """Order attempts: free ones before locked ones, ones never looked at before ones found unclear."""
        return ("BatchControl_id", entry.instance_id) in self._locks, entry.history_id in self._announced

    def _apart(self, entry: HistoryEntry, work: Callable[[], Result]) -> Result | None:
        """Do something about an attempt; None when that has to be tried again at the next look, delaying no other.

        Somebody keeps a row of it locked, or its handler does not say what became of it.
        """
        if len(self._met) >= MOST_LOCKS:
            return None
        try:
            return work()
        except Conflict:
            self._meet_instance(entry.instance_id)
        except (Busy, DatabaseRefused):
            raise
        except Exception as error:  # noqa: BLE001 - a handler may raise anything, and other attempts do not wait for it
            self._unknown[entry.history_id] = unknown = self._unknown_end(entry, error)
            self._tell_once(entry, unknown.in_full)
        return None

    def _unknown_end(self, entry: HistoryEntry, error: Exception) -> PluginError:
        said = error.message if isinstance(error, BatchctlError) else in_short(error)
        which = f"attempt {entry.history_id} of BatchControl {entry.instance_id}, step {entry.seq}"
        module = self.recorder.preparer.module_of(entry.process_type)
        message = f"What became of {which}, cannot be found out: {visible(said)} ({visible(module)})."
        return PluginError(message, next_step=f"correct {visible(module)} and restart the controller")

    def _meet_instance(self, instance_id: InstanceId) -> None:
        what = "what a dead controller has left of it cannot be taken over"
        self._meet("instance.locked", "BatchControl_id", instance_id, what)

    def _meet(self, event: str, column: str, value: int | str, what: str) -> None:
        self._met.add((column, value))
        if self._locks.meet((column, value)):
            self._locks.tell((column, value), event, {column: value}, f"{what}: its row, or one of its,")

    def _take_over(
        self,
        entry: HistoryEntry,
        owner: ControllerRow | None,
        batches: Mapping[BatchId, BatchDefinition],
        *,
        has_claim: bool,
    ) -> Rescued | _LeftOver | None:
        """Take over one attempt; None while it cannot be known what became of it."""
        batch = batches.get(entry.batch_id)
        step = None if batch is None else batch.step_at(entry.seq)
        prepared = None if step is None else self.recorder.preparer.as_begun(step, entry)
        if batch is not None and prepared is not None and prepared.agents_of is not None:
            return self._take_from_agents(entry, owner, batch, prepared.agents_of)
        if batch is None or prepared is None or prepared.handler is None or prepared.rendered is None:
            if step is not None and not self.recorder.has_plugin(step) and self._others_can_begin(step, owner):
                return None
            return self._give_up(entry, owner, batch, LostVerdict(message=_CANNOT_ASK, could_ask=False))
        trace = self.runner.examine(entry, prepared.handler, prepared.rendered)
        # Where nothing is known of it, it may live unseen until its supervisor has had to stop it.
        is_overdue = owner is not None and self._watch.is_overdue(owner.name)
        if trace is Trace.UNSTARTED:
            # An owner silent for so long has no lease any more, and nothing is begun without one.
            trace = Trace.NEVER_RAN if is_overdue else Trace.UNCLEAR
        waits_for_silence = trace is Trace.UNSEEN and owner is not None and not is_overdue
        if trace is Trace.UNCLEAR or waits_for_silence:
            self._tell_unclear(entry, waits_for_silence=waits_for_silence)
            return None
        if trace is Trace.ADOPTABLE:
            attempt = self._takeover.take(entry, owner, batch)
            if attempt is None:
                return Rescued()
            self._tell("step.adopted", entry, ClaimedBy=self.recorder.controller)
            return Rescued(adopted=((attempt, entry),))
        if trace is Trace.LEFT_OVER:
            found = _LeftOver(entry, owner, batch, prepared.handler, prepared.rendered, self._may_live(owner))
            return self._taken_first(found, has_claim=has_claim) or Rescued()
        never_ran = trace is Trace.NEVER_RAN
        message = self._say(trace, entry, may_run_within=self._may_live(owner))
        return self._give_up(entry, owner, batch, LostVerdict(message=message, never_ran=never_ran))

    def _take_from_agents(
        self, entry: HistoryEntry, owner: ControllerRow | None, batch: BatchDefinition, pool: str
    ) -> Rescued | None:
        """Leave what agents carry to a controller that serves their pool; where none runs, it is lost when its lease is over."""
        is_silent = owner is None or self._watch.is_overdue(owner.name)
        if not is_silent or self._others_serve(pool, owner):
            self._tell_once(entry, self._say_carried(entry, pool))
            return None
        message = _NOT_ASKED.format(pool=visible(pool))
        return self._give_up(entry, owner, batch, LostVerdict(message=message))

    def _others_serve(self, pool: str, owner: ControllerRow | None) -> bool:
        without = {self.recorder.controller, *(() if owner is None else (owner.name,))}
        with self.transactions.read() as connection:
            return pool_rows.others_serve(connection, pool, without)

    def _others_can_begin(self, step: Step, owner: ControllerRow | None) -> bool:
        """Say whether a living controller has the plugin of a step which this one lacks: it takes the attempt over."""
        without = {self.recorder.controller, *(() if owner is None else (owner.name,))}
        with self.transactions.read() as connection:
            return controllers.others_can_begin(connection, step, without)

    def _taken_first(self, found: _LeftOver, *, has_claim: bool) -> _LeftOver | None:
        """Make sure, before anything is stopped, that its controller has not come back; None when it has."""
        entry, owner = found.entry, found.owner
        if not has_claim:
            # Somebody took its instance away by hand: no instance waits for it, and nothing follows from its end.
            return found if self._takeover.stands(entry, owner) else None
        attempt = self._takeover.take(entry, owner, found.batch)
        if attempt is None:
            return None
        return replace(found, entry=replace(entry, claim_token=attempt.instance.claim_token), owner=None)

    def _stop_left_over(self, found: _LeftOver) -> Rescued:
        """Stop what is left, and only then write that it is lost: from then on it may be repeated."""
        entry = found.entry
        stopped = self.runner.stop_left_over(entry, found.handler, found.rendered)
        message = self._say(Trace.LEFT_OVER, entry, stopped, may_run_within=found.may_run_within)
        verdict = LostVerdict(message=message)
        return self._give_up(entry, found.owner, found.batch, verdict)

    def _give_up(
        self, entry: HistoryEntry, owner: ControllerRow | None, batch: BatchDefinition | None, verdict: LostVerdict
    ) -> Rescued:
        """Write that it is unknown how an attempt ended, or that it never ran."""
        done, after = self._takeover.give_up(entry, owner, batch, verdict)
        if done:
            self._tell("step.lost", entry, Message=verdict.message)
            if after is not None:
                self.listener(Event(f"instance.{after.status}", {"BatchControl_id": after.instance_id}))
        return Rescued(lost=() if verdict.never_ran or not done else (entry.instance_id,), freed=done)

    def _may_live(self, owner: ControllerRow | None) -> bool:
        """Say whether a controller of this host may have only been silent."""
        return owner is not None and owner.host == self.recorder.host and not self.runner.is_gone(owner)

    def _say(self, trace: Trace, entry: HistoryEntry, stopped: Sequence[int] = (), *, may_run_within: bool) -> str:
        if trace is Trace.NEVER_RAN:
            return "the controller died before the step was started; it never ran"
        here = visible(self.recorder.host)
        said = "the controller died while the step ran; it is unknown how it ended"
        if entry.claimed_by == self.recorder.controller:
            said = (
                "an older control database was restored, or rows were changed, while it ran; it is unknown how it ended"
            )
        if stopped:
            numbers = ", ".join(str(pid) for pid in stopped)
            said += f". What was left of it on {here} (process {numbers}) has been stopped"
        if may_run_within:
            return f"{said}. If its controller was only frozen, a job within its process may run on"
        if stopped:
            return said
        if entry.host and entry.host != self.recorder.host:
            return f"{said}. It ran on {visible(entry.host)}, which cannot be asked from {here}"
        return f"{said}. Nothing of it runs on {here} any more"

    def _release_claims(
        self, dead: Mapping[str | None, ControllerRow | None], carries: Callable[[InstanceId], bool]
    ) -> None:
        """Give back claims under which no attempt is open; only manual changes of the tables leave such."""
        me = self.recorder.controller
        with self.transactions.read() as connection:
            # In this order: what is claimed has its attempt from the beginning.
            claimed = [
                instance
                for instance in instances.claimed(connection)
                if instance.claimed_by in dead or (instance.claimed_by == me and not carries(instance.instance_id))
            ]
            busy = {entry.instance_id for entry in history.live_entries(connection)}
            idle = [instance for instance in claimed if instance.instance_id not in busy]
        for instance in idle:
            if len(self._met) >= MOST_LOCKS:
                return
            try:
                self._takeover.release(instance)
            except Conflict:
                self._meet_instance(instance.instance_id)

    def _write_off(self, dead: Iterable[ControllerRow]) -> None:
        """Write off the dead controllers that have nothing open."""
        for row in dead:
            if row.status is not ControllerStatus.RUNNING or len(self._met) >= MOST_LOCKS:
                continue
            try:
                if self._takeover.write_off(row):
                    self.listener(Event("controller.lost", {"ClaimedBy": row.name}))
            except Conflict:
                self._meet("controller.locked", "ClaimedBy", row.name, "it cannot be written off")

    def _tell_unclear(self, entry: HistoryEntry, *, waits_for_silence: bool) -> None:
        if entry.history_id not in self._announced:
            self._tell_once(entry, self._say_unclear(entry, waits_for_silence=waits_for_silence))

    def _tell_once(self, entry: HistoryEntry, message: str) -> None:
        if entry.history_id not in self._announced:
            self._announced.add(entry.history_id)
            self._tell("step.unclear", entry, Message=message)

    def _say_unclear(self, entry: HistoryEntry, *, waits_for_silence: bool) -> str:
        dead, here = f"its controller {visible(entry.claimed_by or '')} is dead", visible(self.recorder.host)
        if entry.claimed_by == self.recorder.controller:
            dead = "its controller knows nothing of it, as after an older control database was restored"
        if waits_for_silence:
            return (
                f"{dead}, no journal of it is in the state_directory of this one, and nothing of the step is seen on"
                f" {here}; it counts as lost once that controller has been silent for orphan_timeout"
            )
        if living := self.runner.seen_alive(entry):
            numbers = " ".join(str(pid) for pid in living)
            return (
                f"{dead}, but the step runs on {here} (process {numbers}) and no journal of it is in the state_directory"
                f" of this one, which decides nothing until the step has ended. To let it be gone on with: as the user who"
                f" started that controller, and with its state_directory, type: batchctl run. To end it, type: kill {numbers}"
            )
        return f"{dead}; what became of the step is not known yet"

    def _say_carried(self, entry: HistoryEntry, pool: str) -> str:
        return (
            f"its controller {visible(entry.claimed_by or '')} is dead, and agents of pool {visible(pool)} carry the step:"
            f" a controller that serves the pool goes on with it, and where none runs it counts as lost once that"
            f" controller has been silent for orphan_timeout"
        )

    def _tell(self, name: str, entry: HistoryEntry, **fields: EventValue) -> None:
        ids: dict[str, EventValue] = {"BatchControl_id": entry.instance_id, "ProcessControlSeq": entry.seq}
        self.listener(Event(name, ids | fields))


def _owner(entry: HistoryEntry, instance: BatchInstance | None) -> str | None:
    """Return who has to watch over an attempt: the controller that claimed its instance, not always its beginner."""
    return instance.claimed_by if instance is not None and belongs(entry, instance) else entry.claimed_by
