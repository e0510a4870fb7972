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
from batchctl.control.announcing import Announcer
from batchctl.control.asked_rows import WantedCreation
from batchctl.control.attempts import Attempt, End, Tally, WrittenTurn
from batchctl.control.back_off import BackOff, Doubt
from batchctl.control.claiming import Claimer
from batchctl.control.contention import LOCKED_LOOK, Contention
from batchctl.control.drafts import Draft
from batchctl.control.in_flight import InFlight, Notes
from batchctl.control.intake_writing import IntakeWriter, Made
from batchctl.control.known_definitions import KnownDefinitions
from batchctl.control.live_output import LiveOutput
from batchctl.control.prospects import Prospects
from batchctl.control.recording import Recorder
from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseRefused, DatabaseUnreachable
from batchctl.domain.operators import freezes
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import BatchDefinition, BatchId, HistoryEntry, HistoryId, InstanceId
from batchctl.domain.text import in_short, storable
from batchctl.logs import Listener
from batchctl.ports import Boundary, Change, Clock, Notify, StepRunner, Transactions
from batchctl.store import Connection, instances, limits
from batchctl.store.transactions import NotAsReadError

REST = timedelta(milliseconds=20)
"""How long the controller ignores notifies after one: where many write, everything is read anew only so often."""

CONTENDED_LOOK = timedelta(milliseconds=5)
"""How soon to try again what another controller has locked for the length of a transaction."""

WARY_TRIES = 3
"""How often a transaction that looks for locks first is tried before the database is left alone for a while."""

AT_A_STRETCH = 0.02
"""Seconds for which steps that take a moment only follow each other before anything else is attended to."""


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
        self._slots = slots
        self._is_trusted = is_trusted
        self._claimer = Claimer(replace(recorder, allotment=Allotment(clock)))
        self._in_flight = InFlight(runner, clock, listener, is_trusted)
        self._notes = Notes(transactions, clock, listener)
        self._live_output = LiveOutput(transactions, clock, listener)
        self._contention = Contention(transactions, clock, listener)
        self._known = KnownDefinitions(transactions, clock, listener, recorder.serves)
        self._prospects = Prospects()
        self._back_off = BackOff()
        self._doubt = Doubt()
        self._announcer = Announcer(listener)
        self._stopping = False

    @property
    def is_idle(self) -> bool:
        """Say whether nothing runs, nothing waits to be recorded and nothing may start now."""
        return not self.is_working and (self._stopping or not (self._prospects.are_open or self.failure))

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
        if self.failure is None and self._in_flight.only_waits:
            message = "The end of a step could not be recorded: somebody keeps its rows locked."
            return Busy(message, next_step="batchctl status   (once the row is free, a controller finds the step lost)")
        return self.failure

    @property
    def unclaimed(self) -> BatchctlError | None:
        """Say what keeps an instance from being claimed that may start, if anything does."""
        return self._prospects.refused

    @property
    def failure(self) -> BatchctlError | None:
        """Say why the database could not be read or written in the last turn, if it could not."""
        return self._back_off.failure

    @property
    def tally(self) -> Tally:
        """Return the counts of what was done."""
        return self._announcer.tally

    @property
    def locked(self) -> dict[str, str]:
        """Return what others keep locked for longer than a moment, and who, by the name of what is locked."""
        return self._contention.locked

    @property
    def batches(self) -> Mapping[BatchId, BatchDefinition]:
        """Return the definitions as they were read last."""
        return self._known.batches

    def take_notice(self) -> Change:
        """Say what anybody may have changed since this was last asked."""
        noticed, self._known.noticed = self._known.noticed, Change.NOTHING
        return noticed

    def look_again(self) -> None:
        """Look for what may start: this program itself has created instances, which `changed` does not report."""
        self._prospects.are_open = True

    def look_closely(self) -> None:
        """Read everything anew: others may have taken this controller for dead, or it has itself changed what it knows."""
        self._known.look_closely()

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
        if self._back_off.goes_on(pause):
            return
        until = self._clock.monotonic() + AT_A_STRETCH
        self._move()
        # What ended while steps were begun is recorded at once: there is nothing to wait for.
        while (
            self._in_flight.ended
            and not (self._in_flight.only_waits or self.failure)
            and self._clock.monotonic() < until
        ):
            self._move()

    def _move(self) -> None:
        """Decide and record in one transaction, start what was recorded."""
        self._recorder.begin_turn()
        try:
            self._look_again()
            self._notes.write(self._in_flight)
            self._live_output.write(self._in_flight)
            written = self._record()
        except (Busy, DatabaseRefused) as error:
            self._wait_for_the_database(error)
            return
        except Exception as error:  # noqa: BLE001 - the last resort: an unforeseen error must not end the running steps
            self._wait_for_the_database(DatabaseRefused(in_short(error)))
            return
        if self._back_off.end():
            self._announcer.tell("controller.resumed")
        self._in_flight.begin()
        self._announcer.announce(written)

    def create_and_claim(self, transactions: Transactions, writer: IntakeWriter, wanted: WantedCreation) -> Made | None:
        """Create, claim what may start now and record its beginning in one transaction, then start it.

        What begins is announced by `announce`, once the creation is. Returns None when nothing was done: while anything
        else is to be recorded, or because of any error. Then the creation is better written alone.
        """
        if self.is_working or self._doubt.is_open or self._contention.is_wary or self._free == 0:
            return None

        self._recorder.begin_turn()

        def work(connection: Connection) -> tuple[Made, WrittenTurn]:
            self._take_in_changes(connection)
            sent = writer.send(wanted, connection)
            claimed = self._claim(connection, self._clock.now(), self._free, frozenset(wanted.batch_ids))
            written = self._doubt.note(claimed)
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
        written = written.committed()
        self._doubt.marks.clear()
        self._in_flight.add(written.starts)
        self._in_flight.begin()
        self._announcer.owe(written)
        return made

    def announce(self) -> None:
        """Announce what `create_and_claim` has begun."""
        if (written := self._announcer.take_owed()) is not None:
            self._take_note(written)
            self._announcer.announce(written)

    def _wait_for_the_database(self, error: BatchctlError) -> None:
        """Leave the database alone for a while.

        What has ended stays in memory until the database takes it: an outcome must not become a lost one.
        """
        is_new = self._back_off.begin(error)
        self._doubt.meet(error)
        self._known.look_closely()
        if is_new:
            self._announcer.tell("controller.waiting", Message=error.in_full)

    def _wait(self, wait: timedelta, longest: timedelta | None) -> tuple[timedelta, Notify | None]:
        """Return how long to wait for the next report, so that no deadline is missed, and what else ends the waiting."""
        now, notify = self._clock.monotonic(), None
        rested = timedelta(seconds=now - self._known.noticed_at)
        if self.failure is not None:
            waits = [self._back_off.rest if longest is None else min(longest, self._back_off.rest)]
        elif self._in_flight.ended and not self._in_flight.only_waits:
            return timedelta(0), None
        elif self._contention.are_new:
            waits = [wait, CONTENDED_LOOK]
        elif (self._prospects.are_open and self._free > 0) or not wait or self._in_flight.has_more_to_begin:
            return timedelta(0), None
        elif rested < REST:
            waits = [wait, REST - rested]
        else:
            waits, notify = [wait], self._transactions.notify()
        return min(waits), notify

    @property
    def _recorder(self) -> Recorder:
        return self._claimer.recorder

    @property
    def _free(self) -> int:
        # A controller that may have been taken for dead begins nothing.
        may_begin = self._may_begin and self._is_trusted()
        return max(0, self._slots - len(self._in_flight)) if may_begin else 0

    @property
    def _passed_over(self) -> set[InstanceId]:
        # What is being stopped because somebody else has its instance now has to end before it begins again.
        return self._prospects.parked.keys() | self._in_flight.under_way

    @property
    def _may_begin(self) -> bool:
        return not (self._stopping or self._in_flight.may_meet_others)

    def _look_again(self) -> None:
        """Take notice of what others have changed, and of what is due."""
        with self._transactions.read() as connection:
            # Otherwise the transaction that records the ends looks by itself, where no other connection waits for that.
            if not (self._in_flight.ended and limits.others_write(connection)):
                self._take_in_changes(connection)
        if not self._known.is_numbered:
            self._known.number()
        is_due = self._prospects.next_due is not None and self._clock.now() >= self._prospects.next_due
        if self._claimer.recorder.serves.take_new_room() or is_due:
            self._prospects.are_open = True

    def _take_in_changes(self, connection: Connection) -> None:
        """Read the definitions anew and stop what was cancelled, if anybody has changed the database."""
        change = self._known.take_in(connection)
        if not change or (change is Change.INTAKE and not self._prospects.parked):
            return  # What has no instance yet cannot start.
        self._prospects.open()
        self._in_flight.look_after(connection)

    def _record(self) -> WrittenTurn:
        """Write the ends and the starts that follow; one at a time when together they are refused."""
        claims = self._free > 0 and (
            bool(self._in_flight.ended or self._prospects.likely)
            or (self._prospects.are_open and self._something_may_start())
        )
        if not self._in_flight.ended and not claims and not self._doubt.is_open:
            self._contention.are_new = False
            return WrittenTurn()
        ends = tuple(self._in_flight.ended)
        try:
            written, self._prospects.claims_singly = self._write(ends, claims=claims), False
        except (Busy, DatabaseRefused):
            raise
        except NotAsReadError:
            written = self._write_singly(ends, claims=claims)
        except Exception as error:  # noqa: BLE001 - an error of one instance must not undo the others
            if ends:
                self._announcer.tell("controller.trouble", Message=in_short(error))
            written = self._write_singly(ends, claims=claims)
        self._in_flight.recorded(written)
        self._doubt.is_open = False
        self._prospects.are_open, self._prospects.likely = bool(written.announced or written.starts), frozenset()
        self._take_note(written)
        return written

    def _take_note(self, written: WrittenTurn) -> None:
        """Take note of what could not be claimed or recorded, and of what asks for work now."""
        if written.fired:
            self._known.noticed |= Change.INTAKE
        for instance_id, reason in written.parked:
            self._prospects.parked[instance_id] = reason
            self._announcer.tell("instance.parked", BatchControl_id=instance_id, Message=reason)
        if self._contention.take_note(written):
            # A rollback notifies no controller: look again by the clock.
            self._prospects.next_due = self._clock.now() + LOCKED_LOOK
        self._prospects.are_open |= self._contention.are_new

    def _something_may_start(self) -> bool:
        """Look, without taking the write lock, whether there is anything to claim; note when the next will be due."""
        with self._transactions.read() as connection:
            now = self._clock.now()
            ends = (
                instances.next_due(connection, now),
                freezes.next_end(self.batches.values(), now),
                limits.next_beginning(connection, self.batches.values(), now),
            )
            self._prospects.next_due = min((end for end in ends if end is not None), default=None)
            found = self._claimer.promising(connection, self.batches, self._known.limit, now, parked=self._passed_over)
        return self._prospects.found(found)

    def _write(self, ends: Sequence[End], *, claims: bool, goes_on: bool = True, singly: bool = False) -> WrittenTurn:
        together = bool(ends) and not singly
        draft = (
            self._draft(ends, stopping=not goes_on or not self._may_begin)
            if together and not self._doubt.is_open
            else None
        )

        def work(connection: Connection) -> WrittenTurn:
            self._take_in_changes(connection)
            now, stopping = self._clock.now(), not goes_on or not self._may_begin
            record = partial(self._recorder.record_ends, connection, stopping=stopping, singly=singly)
            if self._doubt.is_open:
                settled, left = self._recorder.settle(connection, ends, self.batches, self._doubt.marks)
                written = settled + record(left, self.batches, now)
            else:
                written = record(ends, self.batches, now, draft=draft)
            if together and (late := self._in_flight.overhear()):
                # They share the commit, which costs more than all the rest. What takes their places begins after them.
                now = self._clock.now()
                written += record(late, self.batches, now)
            places = self._free - len(written.started)
            if claims and places > 0:
                over = {told.instance.batch_id for told in written.announced if not told.stays}
                written += self._claim(connection, now, places, self._prospects.likely | over)
            return self._doubt.note(written)

        boundaries = {Boundary.CLAIM, Boundary.START} if claims else {Boundary.START}
        if ends:
            boundaries |= {Boundary.STEP_SUCCEEDED, Boundary.STEP_FAILED, Boundary.INSTANCE_DONE}
        written = self._run(frozenset(boundaries), work).committed()
        self._doubt.marks.clear()
        self._in_flight.add(written.starts)
        return written

    def _draft(self, ends: Sequence[End], *, stopping: bool) -> Draft:
        """Work out what follows from ends, before others are kept from writing."""
        with self._transactions.read() as connection:
            return self._recorder.draft(connection, ends, self.batches, self._clock.now(), stopping=stopping)

    def _claim(self, connection: Connection, now: datetime, places: int, likely: AbstractSet[BatchId]) -> WrittenTurn:
        return self._claimer.claim(
            connection,
            self.batches,
            self._known.limit,
            now,
            places=places,
            parked=self._passed_over,
            likely=likely,
            singly=self._prospects.claims_singly,
        )

    def _run(self, boundaries: frozenset[Boundary], work: Callable[[Connection], WrittenTurn]) -> WrittenTurn:
        """Run a transaction without looking for locks first, until one was in the way and as long as any is.

        Wait only a moment for what cannot be passed over, such as a locked table: signs of life have to go on.
        """
        if not self._contention.is_wary:
            try:
                return self._transactions.run(boundaries, work, nowait=True)
            except Conflict:
                self._contention.is_wary = True
        for _ in range(WARY_TRIES):
            with suppress(Conflict):
                written = self._transactions.run(boundaries, partial(_warily, work), nowait=True)
                self._contention.is_wary = bool(written.locked)
                return written
        with self._transactions.read() as connection:
            message = f"The control database stayed locked by {instances.blocker(connection)}."
        raise Busy(message, next_step="batchctl status")

    def _write_singly(self, ends: Sequence[End], *, claims: bool) -> WrittenTurn:
        """Record each end by itself: with the next step, else without, else as an outcome that cannot be recorded.

        Claim each instance by itself: at once where nothing has ended, else in the next turn.
        """
        self._prospects.claims_singly = True
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


def _warily(work: Callable[[Connection], WrittenTurn], connection: Connection) -> WrittenTurn:
    instances.look_for_locks(connection)
    return work(connection)
