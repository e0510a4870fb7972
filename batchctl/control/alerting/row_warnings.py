"""Warning of rows that start nothing until somebody corrects them: once as long as the reason stays the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from batchctl.domain.rows import EventFilter
from batchctl.domain.scheduling.business_days import running_out
from batchctl.domain.scheduling.schedules import Calendar
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.domain.status import SchedulerEvent
from batchctl.domain.text import storable
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import Connection, scheduler_log
from batchctl.store.scheduler_log import LogSource, Starting

Row = tuple[str, int]
"""A table and the number of a row of it."""

_BOUNDARIES = frozenset({Boundary.SCHEDULE})


@dataclass(slots=True)
class RowWarnings:
    """Announces and logs what is wrong with rows; the log repeats nothing after a restart, nor from another node."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    _announced: dict[Row, str] = field(default_factory=dict)
    """The last warning about each row."""

    def tell(self, row: Row, event: Event, wording: str, about: Starting) -> None:
        """Warn of what is wrong with a row; `about` says in `SchedulerLog` what would have started work."""
        if self._announced.get(row) == wording:
            return

        def log(connection: Connection) -> None:
            scheduler_log.wait_for_others(connection, about.source)
            if about.entity is None:
                last = next(iter(scheduler_log.newest(connection, EventFilter(source=about.source), 1)), None)
            else:
                last = scheduler_log.last_of(connection, about)
            if last is None or (last.event, last.message) != (SchedulerEvent.ERROR, wording):
                scheduler_log.add(connection, SchedulerEvent.ERROR, about, self.clock.now(), wording)

        self.transactions.run(_BOUNDARIES, log)
        self._announced[row] = wording
        self.listener(Event(event.name, {**event.fields, "Message": wording}))

    def forget(self, row: Row) -> None:
        """Let the next warning about a row be given, whatever it says."""
        self._announced.pop(row, None)


DAILY, WEEKLY = timedelta(days=1), timedelta(days=7)
"""How often to warn of a calendar that has run out, and of one that soon will."""


@dataclass(slots=True)
class CalendarWarnings:
    """Warns of calendars in use; the log keeps it from repeating a warning after a restart."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    zone: str
    _announced: dict[str, date] = field(default_factory=dict)
    """When the last warning about each was given."""

    def give(self, used: Iterable[Calendar]) -> None:
        """Warn of those of these calendars that run out, unless a warning was given lately."""
        today = self.clock.now().astimezone(ZoneInfo(self.zone)).date()
        for calendar in used:
            said = running_out(calendar, today)
            if said is None or calendar.valid_until is None:
                continue
            every = DAILY if calendar.valid_until < today else WEEKLY
            last = self._announced.get(calendar.name)
            if last is None or not timedelta(0) <= today - last < every:
                self._tell(calendar, storable(said), today, every)

    def _tell(self, calendar: Calendar, wording: str, today: date, every: timedelta) -> None:
        source = f"calendar {calendar.name}"

        def log(connection: Connection) -> tuple[date, bool]:
            scheduler_log.wait_for_others(connection, source)
            for entry in scheduler_log.newest(connection, EventFilter(source=source), 1):
                told_on = clock_of(self.zone).day_of(entry.at)
                if timedelta(0) <= today - told_on < every:
                    return told_on, False
            scheduler_log.add(connection, SchedulerEvent.ERROR, LogSource(source), self.clock.now(), wording)
            return today, True

        self._announced[calendar.name], is_news = self.transactions.run(frozenset({Boundary.SCHEDULE}), log)
        if is_news:
            self.listener(Event("calendar.ending", {"CalendarName": calendar.name, "Message": wording}))
