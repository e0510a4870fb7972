"""After a crash: what a dead controller left open is gone on with, tried again, or recorded as lost.

Dead is only the permission to look: what became of each step is asked of the host and of the database it ran in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from batchctl.control.attempts import Attempt
from batchctl.control.recording import Recorder
from batchctl.domain import liveness, moves
from batchctl.domain.liveness import Rhythm, Sighting
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import (
    LONG_AGO,
    BatchDefinition,
    BatchId,
    BatchInstance,
    ControllerRow,
    HistoryEntry,
    HistoryId,
    InstanceId,
)
from batchctl.domain.status import ControllerStatus, HistoryStatus
from batchctl.domain.text import visible
from batchctl.logs import Event, EventValue, Listener
from batchctl.ports import Boundary, Clock, StepRunner, Trace, Transactions
from batchctl.store import controllers, definitions, history, instances, intake
from batchctl.store.history import Ending

_CANNOT_ASK = (
    "the controller died while the step ran, and this one lacks the step's definition or plugin, so it cannot find out"
    " what became of it: look whether it still runs"
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


@dataclass(slots=True)
class Rescue:
    """Watches the other controllers for one of them. Several may watch the same: each write looks first whether it may."""

    transactions: Transactions
    clock: Clock
    runner: StepRunner
    recorder: Recorder
    listener: Listener
    rhythm: Rhythm = field(default_factory=Rhythm)
    _sightings: dict[str, Sighting] = field(default_factory=dict)
    _told: set[HistoryId] = field(default_factory=set)
    """Attempts of which it was told that nobody knows yet."""
    _in_doubt: bool = False
    """True after a look that did not come to its end: something may be taken over that nobody watches over."""

    def look(self, is_known: Callable[[HistoryId], bool]) -> Rescued:
        """Take over what dead controllers have left, as far as it can be known by now.

        `is_known` says of this controller's own attempts whether it watches over them.
        """
        with self.transactions.read() as connection:
            owners = controllers.owners(connection) - {self.recorder.controller}
            rows = controllers.watched(connection, owners)
        rows.pop(self.recorder.controller, None)
        self._sightings = {name: seen for name, seen in self._sightings.items() if name in rows}
        # Without a row nobody can live: it is entered before the first claim.
        dead: dict[str | None, ControllerRow | None] = dict.fromkeys(owners - rows.keys())
        dead |= {name: row for name, row in rows.items() if self._is_dead(row)}
        if not dead and not self._in_doubt:
            return Rescued()
        self._in_doubt = True
        rescued = self._take_over_all(dead, is_known)
        self._in_doubt = False
        return rescued

    def tidy(self) -> None:
        """Forget what this host keeps about controllers of which nothing is open any more."""
        with self.transactions.read() as connection:
            live = {entry.history_id for entry in history.live_entries(connection)}
            ended = {row.name for row in controllers.everyone(connection) if row.status is not ControllerStatus.RUNNING}
        # Others may have taken this one for dead while it began.
        for name in sorted(ended - {self.recorder.controller}):
            self.runner.forget(name, live)

    def _is_dead(self, row: ControllerRow) -> bool:
        now = self.clock.monotonic()
        sighting = self._sightings[row.name] = liveness.seen(self._sightings.get(row.name), row, now)
        return liveness.is_overdue(sighting, now, self.rhythm) or self.runner.is_gone(row)

    def _take_over_all(
        self, dead: Mapping[str | None, ControllerRow | None], is_known: Callable[[HistoryId], bool]
    ) -> Rescued:
        with self.transactions.read() as connection:
            batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
            live = history.live_entries(connection)
            claimed = {instance.instance_id: instance for instance in instances.claimed(connection)}
        rescued, left = Rescued(), set[str | None]()
        for entry in live:
            owner = _owner(entry, claimed.get(entry.instance_id))
            if owner == self.recorder.controller and entry.claimed_by != owner and not is_known(entry.history_id):
                rescued += self._adopted_in_doubt(entry, claimed[entry.instance_id], batches)
            if owner not in dead:
                continue
            found = self._take_over(entry, dead[owner], batches)
            if found is None:
                left.add(owner)
            else:
                rescued += found
        self._release_claims(dead)
        self._write_off(row for name, row in dead.items() if row is not None and name not in left)
        return rescued

    def _adopted_in_doubt(
        self, entry: HistoryEntry, instance: BatchInstance, batches: Mapping[BatchId, BatchDefinition]
    ) -> Rescued:
        """Go on with an attempt whose adoption was committed although nobody saw that."""
        batch = batches.get(entry.batch_id)
        with self.transactions.read() as connection:
            attempt = None if batch is None else self.recorder.resumed(connection, entry, instance, batch)
        return Rescued() if attempt is None else Rescued(adopted=((attempt, entry),))

    def _take_over(
        self, entry: HistoryEntry, owner: ControllerRow | None, batches: Mapping[BatchId, BatchDefinition]
    ) -> Rescued | None:
        """Take over one attempt; None when nobody can know yet what became of it."""
        batch = batches.get(entry.batch_id)
        step = None if batch is None else batch.step_at(entry.seq)
        trace, could_ask = Trace.GONE, False
        prepared = None if step is None else self.recorder.preparer.as_begun(step, entry)
        if prepared is not None and prepared.handler is not None and prepared.rendered is not None:
            trace, could_ask = self.runner.examine(entry, prepared.handler, prepared.rendered), True
        if trace is Trace.UNCLEAR:
            self._tell_unclear(entry)
            return None
        if trace is Trace.ADOPTABLE and batch is not None:
            return self._adopt(entry, owner, batch)
        never_ran = trace is Trace.NEVER_RAN
        message = self._say(trace, entry) if could_ask else _CANNOT_ASK

        def record(connection: Any) -> tuple[bool, BatchInstance | None]:
            if not self._is_still(connection, entry, owner):
                return False, None
            return True, self._record(connection, entry, batch, message, never_ran=never_ran, could_ask=could_ask)

        done, after = self.transactions.run(frozenset({Boundary.TAKEOVER}), record)
        if done:
            self._tell("step.lost", entry, Message=message)
            if after is not None:
                self.listener(Event(f"instance.{after.status}", {"BatchControl_id": after.instance_id}))
        return Rescued(lost=() if never_ran or not done else (entry.instance_id,), freed=done)

    def _adopt(self, entry: HistoryEntry, owner: ControllerRow | None, batch: BatchDefinition) -> Rescued | None:
        def adopt(connection: Any) -> Attempt | None:
            found = instances.load(connection, entry.instance_id)
            if found is None or not _belongs(entry, found) or not self._is_still(connection, entry, owner):
                return None
            return self.recorder.take_over(connection, entry, found, batch, self.clock.now())

        attempt = self.transactions.run(frozenset({Boundary.TAKEOVER}), adopt)
        if attempt is None:
            return Rescued()
        self._tell("step.adopted", entry, ClaimedBy=self.recorder.controller)
        return Rescued(adopted=((attempt, entry),))

    def _is_still(self, connection: Any, entry: HistoryEntry, owner: ControllerRow | None) -> bool:
        """Say whether an attempt stands as it was read and its controller has not moved since; it cannot from now on."""
        if owner is not None:
            now_there = controllers.load_locked(connection, owner)
            if now_there is None or now_there.heartbeat_seq != owner.heartbeat_seq:
                return False
        found = history.load(connection, entry.history_id)
        return found is not None and found.status is HistoryStatus.RUNNING and found.claim_token == entry.claim_token

    def _say(self, trace: Trace, entry: HistoryEntry) -> str:
        if trace is Trace.NEVER_RAN:
            return "the controller died before the step was started; it never ran"
        said = "the controller died while the step ran; nobody knows how it ended"
        if entry.host and entry.host != self.recorder.host:
            return f"{said}. It ran on {visible(entry.host)}, which cannot be asked from {visible(self.recorder.host)}"
        return f"{said}. Nothing of it runs on {visible(self.recorder.host)} any more"

    def _record(
        self,
        connection: Any,
        entry: HistoryEntry,
        batch: BatchDefinition | None,
        message: str,
        *,
        never_ran: bool,
        could_ask: bool,
    ) -> BatchInstance | None:
        now = self.clock.now()
        instance = instances.load(connection, entry.instance_id)
        move, after = None, None
        if instance is not None and batch is not None and _belongs(entry, instance):
            # It may run still where nobody could ask: whatever OnLost says, it is not to be repeated unasked.
            ended = moves.Ended(seq=entry.seq, status=HistoryStatus.LOST, message=message, undecidable=not could_ask)
            if never_ran:
                move = moves.never_ran(instance, now)
            else:
                move = moves.after_step(instance, batch, ended, now=now, may_go_on=False)
            after = moves.moved(instance, move)
            intake.lock(connection, after.intake_id)
            instances.move(connection, instance, after, now)
            if after.status.is_final:
                intake.complete_if_done(connection, after.intake_id, now)
        waits = move is not None and move.next_run_time > LONG_AGO
        ending = Ending(
            history_id=entry.history_id,
            token=entry.claim_token,
            status=HistoryStatus.LOST,
            outcome=StepOutcome(succeeded=False),
            message=message,
            retry_count_after=None if move is None else move.retry_count,
            next_run_time_after=move.next_run_time if move is not None and waits else None,
            ended_at=now,
            never_ran=never_ran,
        )
        history.close_entries(connection, [ending], now)
        return after

    def _release_claims(self, dead: Mapping[str | None, ControllerRow | None]) -> None:
        """Give back claims under which no attempt is open; only a hand in the tables leaves such."""
        with self.transactions.read() as connection:
            # In this order: what is claimed has its attempt from the beginning.
            claimed = [instance for instance in instances.claimed(connection) if instance.claimed_by in dead]
            busy = {entry.instance_id for entry in history.live_entries(connection)}
            idle = [instance for instance in claimed if instance.instance_id not in busy]
        for instance in idle:

            def release(connection: Any, instance: BatchInstance = instance) -> None:
                self.recorder.release(connection, instance, self.clock.now())

            self.transactions.run(frozenset({Boundary.TAKEOVER}), release)

    def _write_off(self, dead: Iterable[ControllerRow]) -> None:
        """Write that controllers are dead of which nothing is left open."""
        for row in dead:
            if row.status is not ControllerStatus.RUNNING:
                continue

            def write(connection: Any, row: ControllerRow = row) -> bool:
                found = controllers.load_locked(connection, row)
                if found is None or found.heartbeat_seq != row.heartbeat_seq:
                    return False
                controllers.set_status(connection, row.name, ControllerStatus.LOST, self.clock.now())
                return True

            if self.transactions.run(frozenset({Boundary.TAKEOVER}), write):
                self.listener(Event("controller.lost", {"ClaimedBy": row.name}))

    def _tell_unclear(self, entry: HistoryEntry) -> None:
        if entry.history_id not in self._told:
            self._told.add(entry.history_id)
            self._tell("step.unclear", entry, Message="its controller is dead; what became of it is not known yet")

    def _tell(self, name: str, entry: HistoryEntry, **fields: EventValue) -> None:
        ids: dict[str, EventValue] = {"BatchControl_id": entry.instance_id, "ProcessControlSeq": entry.seq}
        self.listener(Event(name, ids | fields))


def _owner(entry: HistoryEntry, instance: BatchInstance | None) -> str | None:
    """Return who has to watch over an attempt: who has claimed its instance, which need not be who began it."""
    return instance.claimed_by if instance is not None and _belongs(entry, instance) else entry.claimed_by


def _belongs(entry: HistoryEntry, instance: BatchInstance) -> bool:
    return instance.status.is_claimed and instance.claim_token == entry.claim_token
