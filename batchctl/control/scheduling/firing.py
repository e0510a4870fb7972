"""Each scheduler's duty, which starts work because it is time: every due time of every schedule is decided once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import ClassVar

from batchctl.control.alerting.row_warnings import CalendarWarnings, RowWarnings
from batchctl.control.scheduling.deciding import Decided, Deciding, Known
from batchctl.control.worker import SLICE
from batchctl.domain.errors import BatchctlError, Conflict
from batchctl.domain.rows import BatchDefinition
from batchctl.domain.scheduling import catch_up
from batchctl.domain.scheduling.catch_up import ScheduleFinding, ScheduleStanding, Times, standing_of
from batchctl.domain.scheduling.due import UnfitTiming, never, plan_of, timing_hash
from batchctl.domain.scheduling.modes import lets_schedules
from batchctl.domain.scheduling.schedules import Calendar, Schedule, ScheduleId
from batchctl.domain.text import in_short, storable
from batchctl.domain.unreadable import UnreadableRow
from batchctl.domain.values import value
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Change, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.scheduler_log import LogSource
from batchctl.store.scheduling import calendars, schedule_fires, schedule_rows

NOTICED = 1.0
"""Seconds between two readings of the schedules, however often somebody changes something."""
PAGE = 50
"""How many schedules are armed by one transaction."""
MISSED = "its only time, {}, was over before any controller knew of it"
"""The message about a schedule that will never run."""
REST = 5.0
"""Seconds after which a schedule that could not be decided is tried again."""

_BOUNDARIES = frozenset({Boundary.SCHEDULE})


@value
class _Read:
    """A schedule that somebody has made or changed, with all that it goes by."""

    schedule: Schedule
    calendar: Calendar | None
    takers: Sequence[BatchDefinition]

    def is_known(self, known: Known | None) -> bool:
        """Say whether all of it is as it was."""
        return known is not None and (self.schedule, self.calendar, self.takers) == (
            known.schedule,
            known.calendar,
            known.takers,
        )


@dataclass(slots=True)
class Firing:
    """Decides what is due; an error of one schedule concerns that one alone."""

    transactions: Transactions
    clock: Clock
    deciding: Deciding
    listener: Listener
    poll_interval: float
    default_zone: str
    wake: Callable[[], None]
    """Lets the controller come back without waiting."""
    name: ClassVar[str] = "schedules"
    _known: dict[ScheduleId, Known] = field(default_factory=dict)
    _changed: dict[ScheduleId, _Read] = field(default_factory=dict)
    """What is to be armed, or to be disarmed."""
    _resting: dict[ScheduleId, float] = field(default_factory=dict)
    """Until when, by this program's clock, schedules that could not be decided are left alone."""
    _failing: dict[ScheduleId, ScheduleFinding] = field(default_factory=dict)
    """Since when schedules cannot be decided, and what kept them from it last."""
    _wakes_at: datetime | None = None
    """When the first of them has something to decide."""
    _read_at: float = -math.inf
    _unread: BatchctlError | None = None
    """Why the schedules could not be read the last time."""
    _reads_at: float = -math.inf
    """When it is tried again."""
    _is_stale: bool = True
    _is_behind: bool = False
    _warnings: CalendarWarnings = field(init=False)
    _row_warnings: RowWarnings = field(init=False)

    def __post_init__(self) -> None:
        """Know nothing yet."""
        self._warnings = CalendarWarnings(self.transactions, self.clock, self.listener, self.default_zone)
        self._row_warnings = RowWarnings(self.transactions, self.clock, self.listener)

    @property
    def is_busy(self) -> bool:
        """Say whether something is due that is not decided yet."""
        return self._is_behind

    def look(self, noticed: Change = Change.NOTHING) -> bool:
        """Decide what is due, for a while."""
        now = self.clock.monotonic()
        self._is_stale |= Change.DEFINITIONS in noticed
        unread = now - self._read_at
        if self._unread is not None and now < self._reads_at:
            # The failure is not over only because the reading is not tried each time.
            raise self._unread
        if unread >= self.poll_interval or (self._is_stale and unread >= NOTICED):
            self._try_to_read(now)
        elif not self._is_behind and (self._wakes_at is None or self.clock.now() < self._wakes_at):
            return False
        return self._go_on(now + SLICE)

    def finish(self) -> bool:
        """Decide all that is due."""
        self._resting.clear()
        self._read()
        return self._go_on(math.inf)

    def _try_to_read(self, now: float) -> None:
        try:
            self._read()
        except BatchctlError as error:
            self._unread, self._reads_at = error, now + NOTICED
            raise
        self._unread = None

    def _read(self) -> None:
        """Read the schedules; what somebody has changed is armed anew."""
        began = self.clock.monotonic()
        with self.transactions.read() as connection:
            rows, broken = schedule_rows.everything(connection)
            named = {one.name: one for one in calendars.everything(connection)} if rows else {}
            batches = definitions.all_batches(connection) if rows else ()
        takers: dict[str, list[BatchDefinition]] = {}
        for batch in batches:
            takers.setdefault(batch.entity, []).append(batch)
        now, found = self.clock.now(), dict[ScheduleId, _Read]()
        for row in rows:
            calendar = None if row.timing.calendar_name is None else named.get(row.timing.calendar_name)
            found[row.schedule_id] = _Read(row, calendar, takers.get(row.entity, []))
        for schedule_id, known in list(self._known.items()):
            if schedule_id not in found:
                del self._known[schedule_id]
                self._failing.pop(schedule_id, None)
            elif found[schedule_id].schedule.decided_until != known.schedule.decided_until:
                # Another node could decide it: a failure from now on is news.
                self._row_warnings.forget(("Schedule", schedule_id))
        self._changed = {
            key: read
            for key, read in found.items()
            if not read.is_known(self._known.get(key)) or catch_up.is_ahead(read.schedule, now)
        }
        for unreadable in broken:
            self._tell_unreadable(unreadable)
        used = {read.calendar.name: read.calendar for read in found.values() if read.calendar and read.schedule.enabled}
        self._warnings.give(used.values())
        self._read_at, self._is_stale = began, False

    def _go_on(self, until: float) -> bool:
        """Arm what was changed and decide what is due, until the time is up."""
        while self._changed and self.clock.monotonic() < until:
            self._arm_some(until)
        now, inserted = self.clock.now(), False
        due = [] if self._changed else self._due(now)
        for known in due:
            if self.clock.monotonic() >= until:
                break
            inserted |= self._decide(known)
        self._wakes_at = min((one.wakes_at for one in self._known.values() if one.wakes_at is not None), default=None)
        self._is_behind = bool(self._changed) or bool(due and self._due(now))
        if self._is_behind:
            self.wake()
        return inserted

    def _due(self, now: datetime) -> list[Known]:
        """Return the schedules that have something to decide, and have not just failed to; the longest due first."""
        seconds = self.clock.monotonic()
        due = [
            (one.wakes_at, key, one)
            for key, one in self._known.items()
            if one.wakes_at is not None and one.wakes_at <= now and self._resting.get(key, seconds) <= seconds
        ]
        return [one for *_, one in sorted(due, key=lambda each: each[:2])]

    def _arm_some(self, until: float) -> None:
        armed = list[tuple[Known, ScheduleStanding]]()
        for key in list(self._changed)[:PAGE]:
            armed.append(self._armed(self._changed.pop(key)))
            if self.clock.monotonic() >= until:
                break
        for known, standing in armed:
            if standing == standing_of(known.schedule):
                self._know(known)
        for known in self._written([known for known, standing in armed if standing != standing_of(known.schedule)]):
            if known.is_missed:
                self._tell_error(known.schedule, MISSED.format(known.schedule.timing.run_at))
            self._know(known)

    def _armed(self, read: _Read) -> tuple[Known, ScheduleStanding]:
        """Return what is known of a schedule, and where it stands from now on."""
        schedule = read.schedule
        self._known.pop(schedule.schedule_id, None)
        known = Known(schedule, None, "", read.calendar, read.takers)
        try:
            if schedule.enabled and lets_schedules(read.takers):
                known = self._planned(known)
            standing = self._standing(known)
            if known.plan is not None and standing.next_run_time is None and (findings := list(never(known.plan))):
                raise UnfitTiming(findings)
            return known, standing
        except Exception as error:  # noqa: BLE001 - the boundary between one schedule and the next
            self._fail(schedule, _wording(error))
            self._tell_error(schedule, _wording(error))
            known = replace(known, plan=None)
            return known, self._standing(known)

    def _standing(self, known: Known, times: Times | None = None) -> ScheduleStanding:
        is_let, plan = lets_schedules(known.takers), times or known.plan
        return catch_up.arm(known.schedule, plan, known.timing_hash, self.clock.now(), is_let=is_let)

    def _planned(self, known: Known) -> Known:
        schedule = known.schedule
        plan = plan_of(schedule.timing, self.default_zone, known.calendar)
        return replace(known, plan=plan, timing_hash=timing_hash(schedule.timing, self.default_zone))

    def _written(self, changed: Sequence[Known]) -> list[Known]:
        """Write where schedules stand now; return the new state of those that nothing else has changed."""
        if not changed:
            return []
        try:
            written = self.transactions.run(_BOUNDARIES, partial(self._stand, changed), nowait=True)
        except Conflict:
            written = []
        except BatchctlError:
            self._read_at = -math.inf
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one schedule and the next
            if len(changed) > 1:
                return [known for one in changed for known in self._written([one])]
            self._tell_error(changed[0].schedule, _wording(error))
            return []
        if len(written) < len(changed):
            self._read_at = -math.inf
        return written

    def _stand(self, changed: Sequence[Known], connection: Connection) -> list[Known]:
        now, written = self.clock.now(), list[Known]()
        for known in changed:
            if schedule_rows.load_locked(connection, known.schedule.schedule_id) == known.schedule:
                key, plan, decided = known.schedule.schedule_id, known.plan, Decided(known.schedule, [], [])
                undecided = None if plan is None else schedule_fires.undecided(connection, key, plan)
                standing = self._standing(known, undecided)
                if standing != standing_of(known.schedule):
                    schedule_rows.stand(connection, known.schedule.schedule_id, standing, now)
                if undecided is not None:
                    self.deciding.tell_passed(connection, decided, undecided, now)
                is_missed = undecided is not None and catch_up.is_missed(known.schedule, standing, undecided, now)
                written.append(replace(known, schedule=standing.of(known.schedule), is_missed=is_missed))
        return written

    def _know(self, known: Known) -> None:
        """Remember a schedule as it is now, and when there is something to decide about it."""
        schedule = known.schedule
        if known.plan is not None and schedule.enabled and schedule.decided_until is not None:
            wakes_at = catch_up.wakes_at(known.plan, standing_of(schedule), self.clock.now())
            known = replace(known, wakes_at=wakes_at)
        else:
            known = replace(known, wakes_at=None)
        self._known[schedule.schedule_id] = known
        if known.plan is not None and (known.wakes_at is None or known.wakes_at > self.clock.now()):
            self._failing.pop(schedule.schedule_id, None)

    def _fail(self, schedule: Schedule, message: str) -> None:
        """Remember what keeps a schedule from being decided, lest this count later as a time without a controller."""
        before = self._failing.get(schedule.schedule_id)
        self._failing[schedule.schedule_id] = ScheduleFinding(before.since if before else self.clock.now(), message)

    def _decide(self, known: Known) -> bool:
        """Decide what is due of one schedule; true when it has started work."""
        key = known.schedule.schedule_id
        try:
            decided = self._written_of(known)
        except Conflict:
            # Somebody keeps a row locked, for a moment.
            self._fail(known.schedule, "a row that somebody kept locked")
            self._resting[key] = self.clock.monotonic() + NOTICED
            return False
        except BatchctlError:
            self._read_at = -math.inf
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one schedule and the next
            self._fail(known.schedule, _wording(error))
            self._resting[key] = self.clock.monotonic() + REST
            self._read_at = -math.inf
            self._tell_error(known.schedule, _wording(error))
            return False
        self._resting.pop(key, None)
        if decided is None:
            # What was changed meanwhile is read first.
            self._known.pop(key)
            self._read_at = -math.inf
            return False
        self._row_warnings.forget(("Schedule", key))
        self._know(replace(known, schedule=decided.schedule))
        for event in decided.events:
            self.listener(event)
        for creation in decided.creations:
            self.deciding.creator.created_within(creation)
        return decided.has_fired

    def _written_of(self, known: Known) -> Decided | None:
        if known.plan is None:
            return None
        failure = self._failing.get(known.schedule.schedule_id)
        write = partial(Deciding.write, known=known, plan=known.plan, failure=failure)
        return self.deciding.run(self.transactions, write)

    def _tell_error(self, schedule: Schedule, message: str) -> None:
        about = {"ScheduleName": schedule.name, "Entity": schedule.entity}
        said = f"{message.rstrip('.')}; until that is corrected it starts nothing"
        row, event = ("Schedule", schedule.schedule_id), Event("schedule.error", about)
        self._row_warnings.tell(row, event, said, schedule)

    def _tell_unreadable(self, row: UnreadableRow) -> None:
        """Warn of an unreadable row, which only somebody who switched the constraints off can leave."""
        said, about = f"the row cannot be read: {storable(row.wording)}", LogSource(f"schedule row {row.row_id}")
        event = Event("schedule.error", {"Schedule_id": row.row_id})
        self._row_warnings.tell((row.table, row.row_id), event, said, about)


def _wording(error: Exception) -> str:
    if isinstance(error, UnfitTiming):
        return storable(str(error))
    # Further lines describe the row that was refused, a different one each time.
    return storable(in_short(error))
