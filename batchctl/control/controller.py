"""The controller: one loop on one thread. Each turn collects what has ended, decides, records, starts.

It takes the place of the seed's s_PopulateDatamart and s_ProcessControl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from batchctl.control.allotment import Allotment
from batchctl.control.asked_rows import WantedCreation
from batchctl.control.attempts import Attempt, End, Mark, Tally, WrittenTurn
from batchctl.control.claiming import CHANGED, Claimer
from batchctl.control.contention import LOCKED_LOOK, Contention
from batchctl.control.drafts import Draft
from batchctl.control.in_flight import InFlight, Notes
from batchctl.control.intake_writing import IntakeWriter, Made
from batchctl.control.recording import Recorder
from batchctl.domain.errors import (
    BatchctlError,
    Busy,
    Conflict,
    DatabaseRefused,
    DatabaseUnreachable,
    OutcomeUnknown,
    Refused,
)
from batchctl.domain.operators import freezes
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import BatchDefinition, BatchId, HistoryEntry, HistoryId, InstanceId
from batchctl.domain.text import in_short, storable, visible
from batchctl.logs import Event, Listener, silent
from batchctl.ports import Boundary, Change, Clock, Notify, StepRunner, Transactions
from batchctl.store import Connection, instances, limits
from batchctl.store.definitions import batch_versions, definitions
from batchctl.store.transactions import NotAsReadError

REST = timedelta(milliseconds=20)
"""How long the controller ignores notifies after one: where many write, everything is read anew only so often."""

LONGEST_UNSEEN = 15.0
"""Seconds after which everything is read anew, although no change is known."""

CONTENDED_LOOK = timedelta(milliseconds=5)
"""How soon to try again what another controller has locked for the length of a transaction."""

WARY_TRIES = 3
"""How often a transaction that looks for locks first is tried before the database is left alone for a while."""

AT_A_STRETCH = 0.02
"""Seconds for which steps that take a moment only follow each other before anything else is attended to."""

BACK_OFF = timedelta(seconds=1)
LONGEST_BACK_OFF = timedelta(seconds=30)
"""How long to leave a database alone that cannot be used: at first, and at most after pauses that double."""


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
        """Store the ports; start nothing yet. `is_trusted` says whether no other can take this one for dead."""
        self._transactions = transactions
        self._clock = clock
        self._runner = runner
        self._allotment = Allotment(clock)
        self._recorder = replace(recorder, allotment=self._allotment)
        self._claimer = Claimer(self._recorder)
        self._listener = listener
        self._slots = slots
        self._is_trusted = is_trusted
        self._in_flight = InFlight(runner, clock, listener, is_trusted)
        self._notes = Notes(transactions, clock, listener)
        self._contention = Contention(transactions, clock, listener)
        self._parked: dict[InstanceId, str] = {}
        """Instances that could not be claimed, and why; they are tried again when something has changed."""
        self._waiting = 0
        """How many ends wait for a locked row."""
        self._batches: dict[BatchId, BatchDefinition] = {}
        self._is_numbered = True
        """False while batches are known whose version is not written down."""
        self._limit: int | None = None
        """How many instances of all batches may be under way at once."""
        self._stopping = False
        self.failure: BatchctlError | None = None
        """Why the database could not be read or written in the last turn, if it could not."""
        self._back_off = self._rest = BACK_OFF
        """How long to leave the database alone, and what is left of that."""
        self._wary = False
        """True while it is known that others keep rows locked."""
        self._unsettled = False
        """True while it is unknown whether the last transaction was committed: until the next one that is."""
        self._marks: set[Mark] = set()
        """What was begun by the transactions of which that is unknown."""
        self._look = True
        self._likely: frozenset[BatchId] = frozenset()
        """Batches of which something may start, as it seems."""
        self._claims_singly = False
        """True while what was refused in the last transaction may be a claim."""
        self._noticed = Change.NOTHING
        self._noticed_at = 0.0
        self._has_looked = False
        self._looked_at = 0.0
        self._next_due: datetime | None = None
        self._claimed: WrittenTurn | None = None
        """What was begun along with a creation and is not announced yet."""
        self.tally = Tally()

    @property
    def is_idle(self) -> bool:
        """Say whether nothing runs, nothing waits to be recorded and nothing may start now."""
        return not self.is_working and (self._stopping or not (self._look or self.failure))

    @property
    def is_stopping(self) -> bool:
        """Say whether nothing more is started."""
        return self._stopping

    @property
    def is_working(self) -> bool:
        """Say whether any attempt is under way or waits to be recorded."""
        return bool(self._in_flight or self._in_flight.ended)

    @property
    def is_flying(self) -> bool:
        """Say whether any attempt is under way."""
        return bool(self._in_flight)

    @property
    def blocker(self) -> BatchctlError | None:
        """Say what keeps ends from being recorded, if anything does."""
        if self.failure is None and self._waits:
            message = "The end of a step could not be recorded: somebody keeps its rows locked."
            return Busy(message, next_step="batchctl status   (once the row is free, a controller finds the step lost)")
        return self.failure

    @property
    def unclaimed(self) -> BatchctlError | None:
        """Say what keeps an instance from being claimed that may start, if anything does."""
        for instance_id, reason in self._parked.items():
            if reason != CHANGED:
                said = visible(reason.partition("\n")[0])
                message = f"BatchControl {instance_id} may start, and what would begin it is refused: {said}."
                return Refused(message, next_step=f"batchctl show {instance_id}   (correct what is refused)")
        return None

    @property
    def locked(self) -> dict[str, str]:
        """Return what others keep locked for longer than a moment, and who, by the name of what is locked."""
        return self._contention.locked

    @property
    def _waits(self) -> bool:
        """Say whether all ends that are left wait for a locked row; one that came since then has not been tried."""
        return 0 < self._waiting == len(self._in_flight.ended)

    @property
    def batches(self) -> Mapping[BatchId, BatchDefinition]:
        """Return the definitions as they were read last."""
        return self._batches

    def take_notice(self) -> Change:
        """Say what anybody may have changed since this was last asked."""
        noticed, self._noticed = self._noticed, Change.NOTHING
        return noticed

    def look_again(self) -> None:
        """Look for what may start: this program itself has created instances, which `changed` does not report."""
        self._look = True

    def look_closely(self) -> None:
        """Read everything anew: others may have taken this controller for dead, or it has itself changed what it knows."""
        self._has_looked = False

    def take_over(self, attempt: Attempt, entry: HistoryEntry) -> None:
        """Go on with an attempt that a dead controller has begun."""
        self._in_flight.take_over(attempt, entry)

    def knows(self, key: HistoryId) -> bool:
        """Say whether an attempt is under way here, or waits to be recorded; ask only while there is no `failure`."""
        return self._in_flight.knows(key)

    def carries(self, instance_id: InstanceId) -> bool:
        """Say whether an attempt of an instance is under way here, or waits to be recorded; not during a `failure`."""
        return self._in_flight.carries(instance_id)

    def request_stop(self) -> None:
        """Start nothing more; may be called from a signal handler."""
        self._stopping = True
        self._runner.wake()

    def leave_steps(self) -> None:
        """Let steps that can go on without this controller do so, and stop the rest, because the controller ends."""
        self._in_flight.leave()

    def turn(self, wait: timedelta, longest: timedelta | None = None) -> None:
        """Collect what has ended, decide and record in one transaction, start what was recorded.

        `longest` is how long the turn may last until there is anything else to do, if there is.
        """
        pause, notify = self._wait(wait, longest)
        self._in_flight.collect(pause, notify)
        self._in_flight.watch()
        if self.failure is not None and pause < self._rest:
            self._rest -= pause
            return
        until = self._clock.monotonic() + AT_A_STRETCH
        self._move()
        # What ended while steps were begun is recorded at once: there is nothing to wait for.
        while self._in_flight.ended and not (self._waits or self.failure) and self._clock.monotonic() < until:
            self._move()

    def _move(self) -> None:
        """Decide and record in one transaction, start what was recorded."""
        self._allotment.renew()
        try:
            self._look_again()
            self._notes.write(self._in_flight)
            written = self._record()
        except (Busy, DatabaseRefused) as error:
            self._wait_for_the_database(error)
            return
        except Exception as error:  # noqa: BLE001 - the last resort: an unforeseen error must not end the running steps
            self._wait_for_the_database(DatabaseRefused(in_short(error)))
            return
        if self.failure is not None:
            self.failure = None
            self._tell("controller.resumed")
        self._in_flight.begin()
        self._report(written)

    def create_and_claim(self, transactions: Transactions, writer: IntakeWriter, wanted: WantedCreation) -> Made | None:
        """Create, claim what may start now and record its beginning in one transaction, then start it.

        What begins is announced by `announce`, once the creation is. Returns None when nothing was done: while anything
        else is to be recorded, or because of any error. Then the creation is better written alone.
        """
        if self.is_working or self._unsettled or self._wary or self._free == 0:
            return None

        self._allotment.renew()

        def work(connection: Connection) -> tuple[Made, WrittenTurn]:
            self._take_in_changes(connection)
            sent = writer.send(wanted, connection)
            written = self._note_marks(
                self._claim(connection, self._clock.now(), self._free, frozenset(wanted.batch_ids))
            )
            made = writer.settle(sent, connection)
            if {*made.created.values()} - {*written.started}:
                # Other controllers need not be notified of what is claimed at once.
                instances.tell(connection)
            return made, written

        boundaries = frozenset({Boundary.POPULATE, Boundary.CLAIM, Boundary.START})
        try:
            made, written = transactions.run(boundaries, work, nowait=True)
        except (Busy, DatabaseUnreachable) as error:
            self._wait_for_the_database(error)
            raise
        except Exception:  # noqa: BLE001 - the caller then creates alone, and finds out which row caused it
            return None
        self._claimed = written = written.committed()
        self._marks.clear()
        self._in_flight.add(written.starts)
        self._in_flight.begin()
        return made

    def announce(self) -> None:
        """Announce what `create_and_claim` has begun."""
        written, self._claimed = self._claimed, None
        if written is not None:
            self._take_note(written)
            self._report(written)

    def _wait_for_the_database(self, error: BatchctlError) -> None:
        """Leave the database alone for a while.

        What has ended stays in memory until the database takes it: an outcome must not become a lost one.
        """
        self._back_off = BACK_OFF if self.failure is None else min(2 * self._back_off, LONGEST_BACK_OFF)
        self._rest = self._back_off
        is_known = self.failure is not None and self.failure.message == error.message
        self.failure = error
        self._unsettled |= isinstance(error, OutcomeUnknown)
        self._has_looked = False
        if not is_known:
            self._tell("controller.waiting", Message=error.in_full)

    def _wait(self, wait: timedelta, longest: timedelta | None) -> tuple[timedelta, Notify | None]:
        """Return how long to wait for the next report, so that no deadline is missed, and what else ends the waiting."""
        now, notify = self._clock.monotonic(), None
        rested = timedelta(seconds=now - self._noticed_at)
        if self.failure is not None:
            waits = [self._rest if longest is None else min(longest, self._rest)]
        elif self._in_flight.ended and not self._waits:
            return timedelta(0), None
        elif self._contention.are_new:
            waits = [wait, CONTENDED_LOOK]
        elif (self._look and self._free > 0) or not wait or self._in_flight.has_more_to_begin:
            return timedelta(0), None
        elif rested < REST:
            waits = [wait, REST - rested]
        else:
            waits, notify = [wait], self._transactions.notify()
        return min(waits), notify

    @property
    def _free(self) -> int:
        # A controller that may have been taken for dead begins nothing.
        may_begin = self._may_begin and self._is_trusted()
        return max(0, self._slots - len(self._in_flight)) if may_begin else 0

    @property
    def _passed_over(self) -> set[InstanceId]:
        # What is being stopped because somebody else has its instance now has to end before it begins again.
        return self._parked.keys() | self._in_flight.under_way

    @property
    def _may_begin(self) -> bool:
        return not (self._stopping or self._in_flight.may_meet_others)

    def _look_again(self) -> None:
        """Take notice of what others have changed, and of what is due."""
        with self._transactions.read() as connection:
            # Otherwise the transaction that records the ends looks by itself, where no other connection waits for that.
            if not (self._in_flight.ended and limits.others_write(connection)):
                self._take_in_changes(connection)
        if not self._is_numbered:
            self._number_versions()
        if self._next_due is not None and self._clock.now() >= self._next_due:
            self._look = True

    def _take_in_changes(self, connection: Connection) -> None:
        """Read the definitions anew and stop what was cancelled, if anybody has changed the database."""
        now = self._clock.monotonic()
        change = self._transactions.changed()
        if not self._has_looked or now - self._looked_at >= LONGEST_UNSEEN:
            # Even if notices fail, no change stays unseen for longer.
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
            self._is_numbered = all(batch.version is not None for batch in self._batches.values())
            self._limit = limits.overall(connection)
        self._look = True
        self._in_flight.look_after(connection)

    def _number_versions(self) -> None:
        """Write down what the batches are now; what is begun before that writes it down for itself, each time."""
        new = [batch.batch_id for batch in self._batches.values() if batch.version is None]

        def work(connection: Connection) -> dict[BatchId, BatchDefinition]:
            for batch_id in new:
                batch_versions.number(connection, batch_id)
            return {batch.batch_id: batch for batch in definitions.all_batches(connection)}

        self._is_numbered = True
        try:
            self._batches = self._transactions.run(frozenset({Boundary.SCHEDULE}), work)
        except (Busy, DatabaseRefused):
            self._is_numbered = False
            raise
        except Exception as error:  # noqa: BLE001 - steps go on, whatever keeps their version from being written down
            self._tell("controller.trouble", Message=in_short(error))

    def _record(self) -> WrittenTurn:
        """Write the ends and the starts that follow; one at a time when together they are refused."""
        claims = self._free > 0 and (
            bool(self._in_flight.ended or self._likely) or (self._look and self._something_may_start())
        )
        if not self._in_flight.ended and not claims and not self._unsettled:
            self._contention.are_new = False
            return WrittenTurn()
        ends = tuple(self._in_flight.ended)
        try:
            written, self._claims_singly = self._write(ends, claims=claims), False
        except (Busy, DatabaseRefused):
            raise
        except NotAsReadError:
            written = self._write_singly(ends, claims=claims)
        except Exception as error:  # noqa: BLE001 - an error of one instance must not undo the others
            if ends:
                self._tell("controller.trouble", Message=in_short(error))
            written = self._write_singly(ends, claims=claims)
        # The look inside the transaction may have ended what was not begun yet, and what ended meanwhile may be recorded.
        known = {told.attempt.history_id for told in written.announced if told.attempt}
        known |= {end.attempt.history_id for end in written.waiting}
        new = [end for end in self._in_flight.ended if end.attempt.history_id not in known]
        self._in_flight.ended = [*written.waiting, *new]
        self._runner.recorded(
            [told.attempt.history_id for told in written.announced if told.is_recorded and told.attempt]
        )
        self._waiting = len(written.waiting)
        self._unsettled = False
        self._look, self._likely = bool(written.announced or written.starts), frozenset()
        self._take_note(written)
        return written

    def _take_note(self, written: WrittenTurn) -> None:
        """Take note of what could not be claimed or recorded, and of what asks for work now."""
        if written.fired:
            self._noticed |= Change.INTAKE
        for instance_id, reason in written.parked:
            self._parked[instance_id] = reason
            self._tell("instance.parked", BatchControl_id=instance_id, Message=reason)
        if self._contention.take_note(written):
            # A rollback notifies no controller: look again by the clock.
            self._next_due = self._clock.now() + LOCKED_LOOK
        self._look = self._look or self._contention.are_new

    def _something_may_start(self) -> bool:
        """Look, without taking the write lock, whether there is anything to claim; note when the next will be due."""
        with self._transactions.read() as connection:
            now = self._clock.now()
            ends = instances.next_due(connection, now), freezes.next_end(self._batches.values(), now)
            self._next_due = min((end for end in ends if end is not None), default=None)
            found = self._claimer.promising(connection, self._batches, self._limit, now, parked=self._passed_over)
        self._look, self._likely = found is not None, frozenset() if found is None else frozenset({found})
        return self._look

    def _write(self, ends: Sequence[End], *, claims: bool, goes_on: bool = True, singly: bool = False) -> WrittenTurn:
        together = bool(ends) and not singly
        draft = (
            self._draft(ends, stopping=not goes_on or not self._may_begin) if together and not self._unsettled else None
        )

        def work(connection: Connection) -> WrittenTurn:
            self._take_in_changes(connection)
            now, stopping = self._clock.now(), not goes_on or not self._may_begin
            record = partial(self._recorder.record_ends, connection, stopping=stopping, singly=singly)
            if self._unsettled:
                settled, left = self._recorder.settle(connection, ends, self._batches, self._marks)
                written = settled + record(left, self._batches, now)
            else:
                written = record(ends, self._batches, now, draft=draft)
            if together and (late := self._in_flight.overhear()):
                # They share the commit, which costs more than all the rest. What takes their places begins after them.
                now = self._clock.now()
                written += record(late, self._batches, now)
            places = self._free - len(written.started)
            if claims and places > 0:
                over = {told.instance.batch_id for told in written.announced if not told.stays}
                written += self._claim(connection, now, places, self._likely | over)
            return self._note_marks(written)

        boundaries = {Boundary.CLAIM, Boundary.START} if claims else {Boundary.START}
        if ends:
            boundaries |= {Boundary.STEP_SUCCEEDED, Boundary.STEP_FAILED, Boundary.INSTANCE_DONE}
        written = self._run(frozenset(boundaries), work).committed()
        self._marks.clear()
        self._in_flight.add(written.starts)
        return written

    def _note_marks(self, written: WrittenTurn) -> WrittenTurn:
        self._marks.update(attempt.mark for begun in written.begun for attempt in begun.attempts)
        return written

    def _draft(self, ends: Sequence[End], *, stopping: bool) -> Draft:
        """Work out what follows from ends, before others are kept from writing."""
        with self._transactions.read() as connection:
            return self._recorder.draft(connection, ends, self._batches, self._clock.now(), stopping=stopping)

    def _claim(self, connection: Connection, now: datetime, places: int, likely: AbstractSet[BatchId]) -> WrittenTurn:
        return self._claimer.claim(
            connection,
            self._batches,
            self._limit,
            now,
            places=places,
            parked=self._passed_over,
            likely=likely,
            singly=self._claims_singly,
        )

    def _run(self, boundaries: frozenset[Boundary], work: Callable[[Connection], WrittenTurn]) -> WrittenTurn:
        """Run a transaction without looking for locks first, until one was in the way and as long as any is.

        Wait only a moment for what cannot be passed over, such as a locked table: signs of life have to go on.
        """
        if not self._wary:
            try:
                return self._transactions.run(boundaries, work, nowait=True)
            except Conflict:
                self._wary = True
        for _ in range(WARY_TRIES):
            with suppress(Conflict):
                written = self._transactions.run(boundaries, partial(_warily, work), nowait=True)
                self._wary = bool(written.locked)
                return written
        with self._transactions.read() as connection:
            message = f"The control database stayed locked by {instances.blocker(connection)}."
        raise Busy(message, next_step="batchctl status")

    def _write_singly(self, ends: Sequence[End], *, claims: bool) -> WrittenTurn:
        """Record each end by itself: with the next step, else without, else as an outcome that cannot be recorded.

        Claim each instance by itself: at once where nothing has ended, else in the next turn.
        """
        self._claims_singly = True
        written = WrittenTurn() if ends else self._write((), claims=claims)
        for end in ends:
            recorded = self._first_that_is_taken(end)
            written += recorded
            if not recorded.waiting:
                self._in_flight.ended.remove(end)
        return written

    def _first_that_is_taken(self, end: End) -> WrittenTurn:
        message = ""
        for goes_on in (True, False):
            try:
                return self._write([end], claims=False, goes_on=goes_on, singly=True)
            except (Busy, DatabaseRefused):
                raise
            except Exception as error:  # noqa: BLE001 - what cannot be written so is written more plainly
                message = f"the outcome could not be recorded: {in_short(error)}"
        outcome = StepOutcome(succeeded=False, message=storable(message), fatal=True)
        return self._write([replace(end, outcome=outcome)], claims=False, goes_on=False, singly=True)

    def _report(self, written: WrittenTurn) -> None:
        """Announce the result of the commit, after the recorded steps are started: they need not wait for that."""
        self.tally.count(written)
        if self._listener is not silent:
            for event in written.events():
                self._listener(event)

    def _tell(self, name: str, **fields: str | int) -> None:
        self._listener(Event(name, fields))


def _warily(work: Callable[[Connection], WrittenTurn], connection: Connection) -> WrittenTurn:
    instances.look_for_locks(connection)
    return work(connection)
