"""One of several workers on a database: a controller that gives signs of life, looks after dead ones, and may lead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Protocol

from batchctl.control.controller import Controller
from batchctl.control.creation import CreationReport, Creator
from batchctl.control.leadership import Leadership
from batchctl.control.membership import Membership
from batchctl.control.rescue import Rescue
from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseRefused, DatabaseUnreachable, NotLeading
from batchctl.domain.locked_rows import failure_of
from batchctl.domain.text import in_short
from batchctl.logs import Event, Listener
from batchctl.ports import Change, Clock, StepRunner

SLICE = 0.05
"""Seconds for which instances are created before the steps are seen to again."""


class Duty(Protocol):
    """Something that a worker does besides its steps. Most start work: they find reasons and insert `FileProcess` rows.

    Whatever may take its time, such as a question to another database, is done on threads, which wake the controller.
    """

    @property
    def name(self) -> str:
        """The name of the duty where its errors are reported."""

    @property
    def is_busy(self) -> bool:
        """Say whether anything is under way that will have to be looked at again."""

    def look(self, noticed: Change = Change.NOTHING) -> bool:
        """Do what is due and take in the results of the rest; waits for nothing. True when it has inserted rows.

        `noticed` is what others have written since the last look, as far as that is known.
        """

    def finish(self) -> bool:
        """Do all that can be done now, due or not, and wait for it within its time limits; true if it inserted rows."""


class Alarm(Duty, Protocol):
    """The duty that tells people what is wrong."""

    @property
    def locked(self) -> dict[str, str]:
        """Return what keeps it from that, and who, by the name of what is locked."""


@dataclass(slots=True)
class Leading:
    """The leader's duties, which at most one worker at a time has: starting work, and creating its instances."""

    leadership: Leadership
    creator: Creator
    poll_interval: timedelta
    duties: Sequence[Duty] = ()
    """What starts work."""
    upkeep: Sequence[Duty] = ()
    """What follows the duties, whatever their outcome."""
    alarm: Alarm | None = None
    """The duty of these that is also done where no controller leads and this one cannot: people have to know that."""
    creation: Iterator[CreationReport] | None = None
    """The creation pass under way."""
    has_made: bool = False
    """True once that pass has made something."""
    has_looked: bool = False
    """True once a pass has looked through everything."""
    is_leader: bool = False
    done_at: float = 0.0
    """When, by this program's clock, the duties were last done."""


@dataclass(slots=True)
class Worker:
    """What one process does on a control database, a turn at a time."""

    controller: Controller
    membership: Membership
    rescue: Rescue
    runner: StepRunner
    clock: Clock
    listener: Listener
    leading: Leading | None = None
    own_duties: Sequence[Duty] = ()
    """What starts work on every worker, leader or not: the database itself sees to it that nothing is started twice."""
    _waiting: dict[str, BatchctlError] = field(default_factory=dict)
    """The duties besides the steps that could not be done the last time, each with the reason, already reported."""
    _failure: str | None = None
    """What kept this worker from its work since its last sign of life."""
    _lasts: bool = False
    """Whether something did before that, too: what is over at once is not reported."""
    _is_tidy: bool = False

    def begin(self, *, patient: bool = False) -> None:
        """Enter the database, and take over what the dead have left; if `patient`, do the latter later if necessary.

        A worker that cannot be entered ends, patient or not: that may never be possible.
        """
        self.membership.begin()
        self.runner.keep_lease(self.membership.lease_until)
        if patient:
            self._go_on("rescue", self._rescue)
        else:
            self._look_after_the_dead()

    def lead(self) -> None:
        """Do all that starts work at once and in full; the leader's part of it, if this worker leads or can."""
        for duty in self.own_duties:
            self._go_on(duty.name, partial(_finish, duty))
            self.controller.look_again()
        if self.leading is not None and self._is_leader(self.leading):
            self.leading.done_at = self.clock.monotonic()
            for duty in self.leading.duties:
                self._go_on(duty.name, partial(_finish, duty))
            for _ in self.leading.creator.one_by_one():
                pass
            self.controller.look_again()

    def keep_up(self) -> None:
        """Do what follows the duties, in full, if this worker leads."""
        if self.leading is not None and self.leading.is_leader and not self.controller.is_stopping:
            self._go_on("stay", self._say_what_is_locked)
            for duty in self.leading.upkeep:
                self._go_on(duty.name, partial(_finish, duty))

    @property
    def is_idle(self) -> bool:
        """Say whether nothing is under way and nothing may start now."""
        # To look through what is known is no work, however long it takes.
        may_make = self.leading is None or self.leading.has_made or not self.leading.has_looked
        if self.leading is not None and self.leading.creator.is_waiting and not self.controller.is_stopping:
            return False
        return self.controller.is_idle and not (self._creates and may_make) and not self._is_starting

    @property
    def _is_starting(self) -> bool:
        if self.controller.is_stopping:
            return False
        duties = [*self.own_duties]
        if self.leading is not None and self.leading.is_leader:
            duties.extend(self.leading.duties)
        return any(duty.is_busy for duty in duties)

    @property
    def _creates(self) -> bool:
        return self.leading is not None and self.leading.creation is not None and not self.controller.is_stopping

    def turn(self, wait: timedelta) -> None:
        """Give a sign of life if one is due, look after the dead, move the steps, do the leader's duties."""
        due_in = self.membership.due_in
        was_due = due_in is None
        if was_due:
            # Whatever else the database refuses: a worker without signs of life is taken for dead.
            self._go_on("stay", self._stay)
            due_in = self.membership.due_in
        has_signed = was_due and due_in is not None
        self.controller.turn(timedelta(0) if self._creates else wait, due_in)
        noticed = self.controller.take_notice()
        if self.controller.is_stopping:
            self._resign()
            return
        if self.controller.failure is not None:
            self._note(self.controller.failure)
            if has_signed:
                # The database takes a sign of life and refuses the rest: people have to be told.
                self._keep_up()
            return
        if (unclaimed := self.controller.unclaimed) is not None:
            self._note(unclaimed)
        for duty in self.own_duties:
            self._go_on(duty.name, partial(self._look, duty, noticed))
        if self.leading is not None:
            self._go_on("lead", partial(self._lead, self.leading, noticed=noticed))
        self._keep_up()

    def _keep_up(self) -> None:
        """Do what follows the duties, if this worker leads; where no controller leads and it cannot, report that."""
        if self.leading is None:
            return
        if self.leading.is_leader:
            for duty in self.leading.upkeep:
                self._go_on(duty.name, partial(_look, duty))
        elif self.leading.alarm is not None and self.leading.leadership.is_vacant:
            self._go_on(self.leading.alarm.name, partial(_look, self.leading.alarm))

    def end(self) -> None:
        """Leave the database; what was let go goes on."""
        with suppress(Busy, Conflict, DatabaseRefused):
            # The others will find out by themselves.
            self.membership.end()
            if self.leading is not None:
                self.leading.leadership.release()

    def _stay(self) -> None:
        waits = next((error.in_full for error in self._waiting.values() if _is_announced(error)), None)
        failure = self._failure or waits or failure_of(self._locked)
        lasting = failure if self._lasts else None
        self._failure, self._lasts = None, failure is not None
        leadership = None if self.leading is None else self.leading.leadership
        was_silent = self.membership.beat(leadership, failure=lasting)
        self.runner.keep_lease(self.membership.lease_until)
        if was_silent:
            self.controller.look_closely()
        if self.controller.failure is None and not self.controller.is_stopping:
            self._go_on("rescue", self._rescue)

    def _say_what_is_locked(self) -> None:
        """Say what somebody keeps locked before ending: a brief worker may give no other sign of life."""
        failure = failure_of(self._locked)
        if failure is not None and self.leading is not None:
            self.membership.beat(self.leading.leadership, failure=failure)

    def _rescue(self) -> None:
        """Look after the dead; raise what keeps this worker from knowing what became of some of their work."""
        self._look_after_the_dead()
        if self.rescue.failure is not None:
            raise self.rescue.failure

    @property
    def _locked(self) -> dict[str, str]:
        """Return what others keep locked, and who, by how it is called."""
        found = self.controller.locked | self.rescue.locked
        if self.leading is not None:
            found |= self.leading.leadership.locked
        if self.leading is not None and self.leading.is_leader:
            found |= self.leading.creator.locked
        if self.leading is not None and self.leading.alarm is not None:
            found |= self.leading.alarm.locked
        return found

    def _look_after_the_dead(self) -> None:
        rescued = self.rescue.look(self.controller.knows, self.controller.carries)
        for instance_id in rescued.lost:
            self.controller.tally.count_failed(instance_id)
        for attempt, entry in rescued.adopted:
            # A worker that was frozen meanwhile first looks, the next time, whether it may still go on with this.
            if self.membership.is_trusted():
                self.controller.take_over(attempt, entry)
        if rescued.freed:
            self.controller.look_again()
        if not self._is_tidy:
            self.rescue.tidy()
            self._is_tidy = True

    def _lead(self, leading: Leading, *, noticed: Change) -> None:
        was_leader = leading.is_leader
        if not self._is_leader(leading):
            # The next leader creates what is missing still.
            leading.creation = None
            leading.creator.forget_answers()
            return
        is_due = self.clock.monotonic() - leading.done_at >= leading.poll_interval.total_seconds()
        anew = is_due or not was_leader
        if noticed or anew:
            # A pass under way would go by what it has read.
            known = self.controller.batches if noticed is Change.INTAKE else None
            leading.creation = leading.creator.one_by_one(known, self.controller.create_and_claim, anew=anew)
            leading.has_made = False
        elif leading.creation is None and leading.creator.is_ready:
            leading.creation = leading.creator.one_by_one(self.controller.batches, anew=False)
        if anew:
            leading.done_at = self.clock.monotonic()
        for duty in leading.duties:
            self._go_on(duty.name, partial(self._look, duty, noticed))
        if leading.creation is not None:
            self._create(leading, leading.creation)

    def _look(self, duty: Duty, noticed: Change) -> None:
        if not duty.look(noticed):
            return
        # Some rows come with their instances; the leader creates the others, and notices rows of any controller.
        self.controller.look_again()
        leading = self.leading
        if leading is not None and leading.is_leader:
            known = self.controller.batches
            leading.creation = leading.creator.one_by_one(known, self.controller.create_and_claim, anew=False)
            leading.has_made = False

    def _is_leader(self, leading: Leading) -> bool:
        """Keep the lead, or try once in a while to get it."""
        leading.is_leader = leading.leadership.seek()
        return leading.is_leader

    def _resign(self) -> None:
        """Let another lead: a worker that stops does nothing of it any more, however long its steps take to end."""
        leading = self.leading
        if leading is not None and leading.is_leader:
            leading.is_leader, leading.creation = False, None
            leading.creator.forget_answers()
            self._go_on("resign", leading.leadership.release)

    def _create(self, leading: Leading, creation: Iterator[CreationReport]) -> None:
        """Create for a while; the rest waits until the steps have been seen to."""
        until = self.clock.monotonic() + SLICE
        leading.creation = None
        for report in creation:
            self.controller.announce()
            if report.created:
                # What this program itself has written is not reported as a change by others.
                self.controller.look_again()
            is_first = bool(report.created) and not leading.has_made
            leading.has_made |= is_first
            # Whatever else there is to create, the first step does not wait for it.
            if is_first or self.clock.monotonic() >= until:
                leading.creation = creation
                break
        else:
            leading.has_looked = True

    def _go_on(self, duty: str, work: Callable[[], None]) -> None:
        """Do what must not keep the steps under way from going on, whatever error it meets; it is tried again."""
        try:
            work()
        except NotLeading as error:
            if self.leading is not None:
                self.leading.is_leader, self.leading.creation = False, None
                self.leading.creator.forget_answers()
            self.listener(Event("controller.superseded", {"Message": error.message}))
        except BatchctlError as error:
            self._note(error)
            if self.controller.failure is None:
                # Otherwise the controller has reported it, and reports when it is over.
                if error.message not in {one.message for one in self._waiting.values()}:
                    self.listener(Event("controller.waiting", {"Message": error.in_full}))
                self._waiting[duty] = error
        except Exception as error:  # noqa: BLE001 - nothing may end the controller
            self._failure = in_short(error)
            self.listener(Event("controller.trouble", {"Message": self._failure}))
        else:
            if [*self._waiting] == [duty]:
                self.listener(Event("controller.resumed"))
            self._waiting.pop(duty, None)

    def _note(self, error: BatchctlError) -> None:
        if _is_announced(error):
            self._failure = error.in_full


def _is_announced(error: BatchctlError) -> bool:
    """Say whether an error is worth reporting by a sign of life: a wait for others, or for the connection, is not."""
    return not isinstance(error, Busy | Conflict | DatabaseUnreachable)


def _look(duty: Duty) -> None:
    duty.look()


def _finish(duty: Duty) -> None:
    duty.finish()
