"""The controller: one loop on one thread. Each turn collects what has ended, decides, records, starts.

It takes the place of the seed's s_PopulateDatamart and s_ProcessControl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from batchctl.control.attempts import Attempt, End, Told, Written, made_storable
from batchctl.control.claiming import Claimer
from batchctl.control.recording import NotAsReadError, Recorder
from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseUnusable, OutcomeUnknown
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import BatchDefinition, BatchId, HistoryEntry, HistoryId, InstanceId
from batchctl.domain.status import HistoryStatus, InstanceStatus, OnLost, StopReason
from batchctl.domain.text import storable
from batchctl.logs import Event, Listener
from batchctl.ports import Bell, Boundary, Change, Clock, Finished, Spawned, StepRunner, Transactions
from batchctl.store import definitions, history, instances, limits

REST = timedelta(milliseconds=20)
"""How long the controller leaves the bell alone once it has rung: where many write, everything is read anew only so often."""

LONGEST_UNSEEN = 15.0
"""Seconds after which everything is read anew, although nobody is known to have changed it."""

LOCKED_LOOK = timedelta(seconds=1)
"""How soon an instance is tried again whose row somebody else keeps locked, and for how long that is not worth telling."""

CONTENDED_LOOK = timedelta(milliseconds=5)
"""How soon one is tried again that another controller has locked for the moment of a transaction."""

BACK_OFF = timedelta(seconds=1)
LONGEST_BACK_OFF = timedelta(seconds=30)
"""How long to leave a database alone that cannot be used: at first, and at most after pauses that double."""


@dataclass(slots=True)
class Flight:
    """An attempt under way, as this controller knows it."""

    attempt: Attempt
    started: float
    alarmed: bool = False
    stop: StopReason | None = None
    begun: bool = True
    """False for what is recorded as begun and has not been started yet."""

    @property
    def is_leashed(self) -> bool:
        """Say whether others may repeat it, or ask whether it was done, once they take this controller for dead."""
        return self.attempt.step.on_lost is not OnLost.HOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class PassReport:
    """What a pass did."""

    started: int = 0
    succeeded: int = 0
    failed: int = 0
    completed: int = 0
    failed_instances: tuple[InstanceId, ...] = ()


@dataclass(slots=True)
class Tally:
    """Counts what happens during a pass."""

    started: int = 0
    succeeded: int = 0
    failed: int = 0
    completed: int = 0
    failed_instances: dict[InstanceId, None] = field(default_factory=dict)

    def count_failed(self, instance_id: InstanceId) -> None:
        """Count an attempt that did not succeed."""
        self.failed += 1
        self.failed_instances[instance_id] = None

    def report(self) -> PassReport:
        """Return the counts so far."""
        return PassReport(
            started=self.started,
            succeeded=self.succeeded,
            failed=self.failed,
            completed=self.completed,
            failed_instances=tuple(self.failed_instances),
        )


class Controller:
    """Walks instances through their steps, `slots` of them at a time."""

    def __init__(
        self,
        *,
        transactions: Transactions,
        clock: Clock,
        runner: StepRunner,
        recorder: Recorder,
        listener: Listener,
        slots: int = 1,
        is_trusted: Callable[[], bool] = lambda: True,
    ) -> None:
        """Take hold of the ports; nothing happens yet. `is_trusted` says whether no other can take this one for dead."""
        self._transactions = transactions
        self._clock = clock
        self._runner = runner
        self._recorder = recorder
        self._claimer = Claimer(recorder)
        self._listener = listener
        self._slots = slots
        self._is_trusted = is_trusted
        self._flights: dict[HistoryId, Flight] = {}
        self._ends: list[End] = []
        self._spawned: list[Spawned] = []
        self._parked: set[InstanceId] = set()
        """Instances that could not be claimed; they are tried again when something has changed."""
        self._locked: dict[InstanceId, float] = {}
        """Instances whose rows somebody else keeps locked, and since when."""
        self._locked_told: set[InstanceId] = set()
        self._contended: dict[str, float] = {}
        """Batches that somebody else keeps from being claimed from, and since when."""
        self._contended_told: set[str] = set()
        self._waits = False
        """True while all ends that are left wait for such a row."""
        self._batches: dict[BatchId, BatchDefinition] = {}
        self._limit: int | None = None
        """How many instances of all batches may be under way at once."""
        self._stopping = False
        self.trouble: BatchctlError | None = None
        """Why the database could not be read or written in the last turn, if it could not."""
        self._back_off = BACK_OFF
        self._wary = False
        """True while it is known that others keep rows locked."""
        self._unsettled = False
        """True while nobody knows whether the last transaction was committed."""
        self._look = True
        self._expects = False
        """True when this program itself has made what may start."""
        self._noticed = Change.NOTHING
        self._noticed_at = 0.0
        self._has_looked = False
        self._looked_at = 0.0
        self._next_due: datetime | None = None
        self._left: set[HistoryId] = set()
        """Attempts that go on without this controller."""
        self._soon = False
        """True while something waits for another controller's transaction to end."""
        self.tally = Tally()

    @property
    def is_idle(self) -> bool:
        """Say whether nothing runs, nothing waits to be recorded and nothing may start now."""
        return not self.is_working and (self._stopping or not (self._look or self.trouble))

    @property
    def is_stopping(self) -> bool:
        """Say whether nothing more is started."""
        return self._stopping

    @property
    def is_working(self) -> bool:
        """Say whether any attempt is under way or waits to be recorded."""
        return bool(self._flights or self._ends)

    @property
    def is_flying(self) -> bool:
        """Say whether any attempt is under way."""
        return bool(self._flights)

    @property
    def obstacle(self) -> BatchctlError | None:
        """Say what keeps ends from being recorded, if anything does."""
        if self.trouble is None and self._waits:
            message = "The end of a step could not be recorded: somebody keeps its rows locked."
            return Busy(message, next_step="batchctl status   (once the row is free, a controller finds the step lost)")
        return self.trouble

    @property
    def batches(self) -> Mapping[BatchId, BatchDefinition]:
        """Return the definitions as they were read last."""
        return self._batches

    def take_notice(self) -> Change:
        """Say what anybody may have changed since this was last asked."""
        noticed, self._noticed = self._noticed, Change.NOTHING
        return noticed

    def look_again(self) -> None:
        """Look for what may start: this program itself has created instances, which is nobody else's change."""
        self._look = True

    def expect(self) -> None:
        """Claim in the next turn without looking first whether there is anything: this program has just made it."""
        self._look = self._expects = True

    def look_closely(self) -> None:
        """Read everything anew: others may have taken this controller for dead."""
        self._has_looked = False

    def take_over(self, attempt: Attempt, entry: HistoryEntry) -> None:
        """Go on with an attempt that a dead controller has begun."""
        ready = attempt.prepared
        if ready.handler is None or ready.rendered is None:
            raise ValueError(attempt)
        elapsed = max(timedelta(0), self._clock.now() - attempt.started_at).total_seconds()
        flight = self._flights[attempt.history_id] = Flight(attempt, self._clock.monotonic() - elapsed)
        self._runner.adopt(attempt.history_id, ready.handler, ready.rendered, entry, leashed=flight.is_leashed)

    def knows(self, key: HistoryId) -> bool:
        """Say whether an attempt is under way here, or waits to be recorded."""
        return key in self._flights or any(end.attempt.history_id == key for end in self._ends)

    def request_stop(self) -> None:
        """Start nothing more; may be called from a signal handler."""
        self._stopping = True
        self._runner.wake()

    def leave_steps(self) -> None:
        """Let what can go on without this controller do so, and stop the rest, because the controller ends."""
        for key, flight in list(self._flights.items()):
            if not flight.begun or (flight.stop is None and self._runner.let_go(key)):
                del self._flights[key]
                self._left.add(key)
                self._tell_of("step.left", flight.attempt)
            else:
                self._stop(key, flight, StopReason.SHUTDOWN)

    def turn(self, wait: timedelta) -> None:
        """Collect what has ended, decide and record in one transaction, start what was recorded."""
        self._collect(wait)
        is_trusted = self._is_trusted()
        for key, flight in list(self._flights.items()):
            self._watch(key, flight, is_trusted=is_trusted)
        try:
            self._look_around()
            self._record_spawned()
            written = self._record()
        except (Busy, DatabaseUnusable) as error:
            self._wait_for_the_database(error)
            return
        except Exception as error:  # noqa: BLE001 - the last resort: what nobody foresaw must not end the running steps
            self._wait_for_the_database(DatabaseUnusable(f"{type(error).__name__}: {error}"))
            return
        if self.trouble is not None:
            self.trouble = None
            self._tell("controller.resumed")
        self._start(written)

    def _wait_for_the_database(self, error: BatchctlError) -> None:
        """Leave the database alone for a while.

        What has ended stays in memory until the database takes it: an outcome must not become a lost one.
        """
        self._back_off = BACK_OFF if self.trouble is None else min(2 * self._back_off, LONGEST_BACK_OFF)
        self.trouble = error
        self._unsettled |= isinstance(error, OutcomeUnknown)
        self._has_looked = False
        self._tell("controller.waiting", Message=error.message)

    def _collect(self, wait: timedelta) -> None:
        for report in self._runner.collect(*self._wait(wait)):
            flight = self._flights.get(report.key)
            if flight is None:
                continue
            if isinstance(report, Spawned):
                self._spawned.append(report)
            else:
                del self._flights[report.key]
                self._ends.append(_end(flight, report))

    def _wait(self, wait: timedelta) -> tuple[timedelta, Bell | None]:
        """Return how long to wait for the next report, so that no deadline is missed, and what else ends the waiting."""
        now, bell = self._clock.monotonic(), None
        rested = timedelta(seconds=now - self._noticed_at)
        if self.trouble is not None:
            waits = [self._back_off]
        elif self._soon:
            waits = [wait, CONTENDED_LOOK]
        elif (self._ends and not self._waits) or (self._look and self._free > 0) or not wait:
            return timedelta(0), None
        elif rested < REST:
            waits = [wait, REST - rested]
        else:
            waits, bell = [wait], self._transactions.bell()
        for flight in self._flights.values():
            limit = flight.attempt.step.max_duration
            if limit is not None and flight.stop is None:
                waits.append(limit - timedelta(seconds=now - flight.started))
        return max(min(waits), timedelta(0)), bell

    @property
    def _free(self) -> int:
        # Who may have been taken for dead begins nothing.
        return 0 if self._stopping or not self._is_trusted() else max(0, self._slots - len(self._flights))

    def _look_around(self) -> None:
        """Take notice of what others have changed, and of what is due."""
        if not self._ends:
            # Otherwise the transaction that records the ends looks by itself: looking costs it nothing.
            with self._transactions.read() as connection:
                self._take_in_changes(connection)
        if self._next_due is not None and self._clock.now() >= self._next_due:
            self._look = True

    def _take_in_changes(self, connection: Any) -> None:
        """Read the definitions anew and stop what was cancelled, if anybody has changed the database."""
        now = self._clock.monotonic()
        change = self._transactions.changed()
        if not self._has_looked or now - self._looked_at >= LONGEST_UNSEEN:
            # Whatever becomes of notices, nobody's change stays unseen for longer.
            change = Change.ANYTHING
        if not change:
            return
        self._noticed, self._noticed_at = self._noticed | change, now
        if change is Change.INTAKE and not self._parked:
            return  # What has no instance yet cannot start.
        self._parked.clear()
        if Change.DEFINITIONS in change:
            self._has_looked, self._looked_at = True, now
            self._batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
            self._limit = limits.overall(connection)
        self._look = True
        for key, flight in list(self._flights.items()):
            self._look_after(connection, key, flight)

    def _look_after(self, connection: Any, key: HistoryId, flight: Flight) -> None:
        """Stop a flight whose instance a person cancels, or that is not this controller's any more."""
        ours = flight.attempt.instance
        row = instances.load(connection, ours.instance_id)
        if row is not None and row.status.is_claimed and row.claim_token == ours.claim_token:
            if row.status is InstanceStatus.CANCELLING:
                self._stop(key, flight, StopReason.CANCEL)
            return
        entry = history.load(connection, key)
        goes_on = entry is not None and entry.status is HistoryStatus.RUNNING and entry.claim_token != ours.claim_token
        if goes_on and self._runner.let_go(key):
            # Another controller took this one for dead and goes on with the step: it must not be stopped.
            del self._flights[key]
            self._tell_of("step.taken_over", flight.attempt, ClaimedBy=(row and row.claimed_by) or "")
        else:
            self._stop(key, flight, StopReason.FENCED)

    def _watch(self, key: HistoryId, flight: Flight, *, is_trusted: bool) -> None:
        step = flight.attempt.step
        running = timedelta(seconds=self._clock.monotonic() - flight.started)
        if step.max_duration is not None and running >= step.max_duration:
            self._stop(key, flight, StopReason.TIMEOUT)
        if flight.is_leashed and flight.begun and not is_trusted:
            self._stop(key, flight, StopReason.LEASE)
        if step.alarm_duration is not None and running >= step.alarm_duration and not flight.alarmed:
            flight.alarmed = True
            self._tell_of("step.alarm", flight.attempt, Seconds=int(running.total_seconds()))

    def _stop(self, key: HistoryId, flight: Flight, why: StopReason) -> None:
        if flight.stop is not None:
            return
        flight.stop = why
        self._tell_of("step.stopping", flight.attempt, Reason=why.value)
        if flight.begun:
            self._runner.stop(key)
            return
        del self._flights[key]
        if why is not StopReason.FENCED:
            outcome = StepOutcome(succeeded=False, stopped=True, message="it was stopped before it was started")
            self._ends.append(End(attempt=flight.attempt, outcome=outcome, stop=why))

    def _record_spawned(self) -> None:
        """Record the processes of attempts under way; one that has ended is recorded with its end."""
        spawned = [report for report in self._spawned if report.key in self._flights]
        if spawned:

            def work(connection: Any) -> None:
                for report in spawned:
                    token = self._flights[report.key].attempt.instance.claim_token
                    history.record_spawned(connection, report.key, token, report.identity)

            try:
                self._transactions.run(frozenset({Boundary.SPAWNED}), work)
            except (Busy, DatabaseUnusable):
                raise
            except Exception as error:  # noqa: BLE001 - a note about a process must not end the controller
                self._tell("controller.trouble", Message=f"{type(error).__name__}: {error}")
        self._spawned.clear()

    def _record(self) -> Written:
        """Write the ends and the starts that follow; one end at a time when together they are refused."""
        expects, self._expects = self._expects, False
        claims = self._free > 0 and (bool(self._ends) or expects or (self._look and self._something_may_start()))
        if not self._ends and not claims and not self._unsettled:
            self._soon = False
            return Written()
        ends = tuple(self._ends)
        try:
            written = self._write(ends, claims=claims)
        except (Busy, DatabaseUnusable):
            raise
        except NotAsReadError:
            written = self._write_one_by_one(ends)
        except Exception as error:  # noqa: BLE001 - one instance's trouble must not undo the others'
            self._tell("controller.trouble", Message=f"{type(error).__name__}: {error}")
            written = self._write_one_by_one(ends)
        # The look inside the transaction may have ended what was not begun yet.
        known = {id(end) for end in ends}
        new = [end for end in self._ends if id(end) not in known]
        self._ends = [*written.waiting, *new]
        self._runner.recorded([told.attempt.history_id for told in written.told if told.is_recorded and told.attempt])
        self._waits = bool(written.waiting) and not new
        # What was in doubt and could not be recorded because of a lock is in doubt still.
        self._unsettled = self._unsettled and self._waits
        self._look = len(written.waiting) < len(ends) or bool(written.starts)
        for instance_id, reason in written.parked:
            self._parked.add(instance_id)
            self._tell("instance.parked", BatchControl_id=instance_id, Message=reason)
        moved = [attempt.instance for attempt in written.starts] + [told.instance for told in written.told]
        for instance_id in [instance.instance_id for instance in moved]:
            self._locked.pop(instance_id, None)
            self._locked_told.discard(instance_id)
        self._tell_locked(dict(written.locked))
        self._tell_contended(written.contended)
        untold = {instance_id for instance_id, _ in written.locked} - self._locked_told
        self._soon = bool(untold or written.contended - self._contended_told)
        self._look = self._look or self._soon
        return written

    def _tell_locked(self, locked: Mapping[InstanceId, str]) -> None:
        """Tell what stays locked; another controller's transaction is over in a moment."""
        now = self._clock.monotonic()
        for instance_id, message in locked.items():
            since = self._locked.setdefault(instance_id, now)
            if now - since >= LOCKED_LOOK.total_seconds() and instance_id not in self._locked_told:
                self._locked_told.add(instance_id)
                self._tell("instance.locked", BatchControl_id=instance_id, Message=message)
        if locked:
            # Whoever rolls back tells nobody.
            self._next_due = self._clock.now() + LOCKED_LOOK

    def _tell_contended(self, names: frozenset[str]) -> None:
        """Tell which batches stay locked, as above."""
        now = self._clock.monotonic()
        self._contended = {name: self._contended.get(name, now) for name in names}
        self._contended_told &= names
        lasting = {name for name, since in self._contended.items() if now - since >= LOCKED_LOOK.total_seconds()}
        for name in sorted(lasting - self._contended_told):
            with self._transactions.read() as connection:
                blocker = instances.blocker(connection)
            message = (
                f"nothing of it can be claimed: the row of the batch, or of what limits it, is locked by {blocker}"
            )
            self._tell("batch.locked", ProcessBatchName=name, Message=message)
        self._contended_told |= lasting
        if names:
            self._next_due = self._clock.now() + LOCKED_LOOK

    def _something_may_start(self) -> bool:
        """Look, without taking the write lock, whether there is anything to claim; note when the next will be due."""
        with self._transactions.read() as connection:
            now = self._clock.now()
            self._next_due = instances.next_due(connection, now)
            occupancy = limits.occupancy(connection, self._batches, self._limit)
            promising = self._claimer.promising(connection, self._batches, occupancy, now, self._parked)
            self._look = next(promising, None) is not None
        return self._look

    def _write(self, ends: Sequence[End], *, claims: bool, goes_on: bool = True, singly: bool = False) -> Written:
        stopping = self._stopping or not goes_on

        def work(connection: Any) -> Written:
            self._take_in_changes(connection)
            now = self._clock.now()
            written, left = Written(), ends
            if self._unsettled:
                written, left = self._recorder.settle(
                    connection, ends, self._batches, self._flights.keys() | self._left
                )
            written += self._recorder.record_ends(
                connection, left, self._batches, now, stopping=stopping, singly=singly
            )
            places = self._free - len(written.starts)
            if claims and places > 0:
                written += self._claimer.claim(
                    connection, self._batches, self._limit, now, places=places, parked=self._parked
                )
            return written

        boundaries = {Boundary.CLAIM, Boundary.START} if claims else {Boundary.START}
        if ends:
            boundaries |= {Boundary.STEP_SUCCEEDED, Boundary.STEP_FAILED, Boundary.INSTANCE_DONE}
        return self._run(frozenset(boundaries), work)

    def _run(self, boundaries: frozenset[Boundary], work: Callable[[Any], Written]) -> Written:
        """Run a transaction without looking for locks first, until one was in the way and as long as any is."""
        if not self._wary:
            try:
                return self._transactions.run(boundaries, work, hurried=True)
            except Conflict:
                self._wary = True
        written = self._transactions.run(boundaries, work)
        self._wary = bool(written.locked)
        return written

    def _write_one_by_one(self, ends: Sequence[End]) -> Written:
        """Record each end by itself: with the next step, else without, else as an outcome that cannot be recorded."""
        written = Written()
        for end in ends:
            recorded = self._first_that_is_taken(end)
            written += recorded
            if not recorded.waiting:
                self._ends.remove(end)
        return written

    def _first_that_is_taken(self, end: End) -> Written:
        trouble: Exception | None = None
        for goes_on in (True, False):
            try:
                return self._write([end], claims=False, goes_on=goes_on, singly=True)
            except (Busy, DatabaseUnusable):
                raise
            except Exception as error:  # noqa: BLE001 - what cannot be written so is written more plainly
                trouble = error
        message = f"the outcome could not be recorded: {type(trouble).__name__}: {trouble}"
        outcome = StepOutcome(succeeded=False, message=storable(message), fatal=True)
        return self._write([replace(end, outcome=outcome)], claims=False, goes_on=False, singly=True)

    def _start(self, written: Written) -> None:
        """Start what was recorded, then tell what is so since the commit: a step need not wait for the telling."""
        for attempt in written.starts:
            self._flights[attempt.history_id] = Flight(attempt, self._clock.monotonic(), begun=False)
        self._begin()
        for told in written.told:
            self._count(told)
            for event in told.events():
                self._listener(event)
        for attempt in written.starts:
            self.tally.started += 1
            self._tell_of("step.started", attempt, AttemptNo=attempt.attempt_no, Cause=attempt.cause.value)

    def _begin(self) -> None:
        """Start what is recorded as begun; whoever froze meanwhile looks first whether it is still his to start."""
        for key, flight in self._flights.items():
            if flight.begun or not self._is_trusted():
                continue
            flight.begun, flight.started = True, self._clock.monotonic()
            ready = flight.attempt.prepared
            if ready.handler is None or ready.rendered is None:
                self._runner.refuse(key, ready.refusal or "")
            else:
                self._runner.start(key, ready.handler, ready.rendered, leashed=flight.is_leashed)

    def _count(self, told: Told) -> None:
        if told.instance.status is InstanceStatus.COMPLETE:
            self.tally.completed += 1
        if told.ended is None:
            return
        if told.ended.status is HistoryStatus.SUCCESS:
            self.tally.succeeded += 1
        elif told.ended.status is not HistoryStatus.CANCELLED:
            self.tally.count_failed(told.instance.instance_id)

    def _tell(self, name: str, **fields: str | int) -> None:
        self._listener(Event(name, fields))

    def _tell_of(self, name: str, attempt: Attempt, **fields: str | int) -> None:
        self._listener(Event(name, {**attempt.fields, **fields}))


def _end(flight: Flight, report: Finished) -> End:
    return End(
        attempt=flight.attempt,
        outcome=made_storable(report.outcome),
        identity=report.identity,
        ended_at=report.ended_at,
        stop=flight.stop,
        never_ran=report.never_ran,
    )
