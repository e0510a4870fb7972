"""Warning that a calendar runs out: from then on what uses it goes by the days of the week."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from batchctl.domain.scheduling.business_days import running_out
from batchctl.domain.scheduling.schedules import Calendar
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.domain.status import SchedulerEvent
from batchctl.domain.text import storable
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import scheduler_log
from batchctl.store.scheduler_log import LogSource, WantedEvents

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

        def log(connection: Any) -> tuple[date, bool]:
            scheduler_log.wait_for_others(connection, source)
            for entry in scheduler_log.newest(connection, WantedEvents(source=source), 1):
                told_on = clock_of(self.zone).day_of(entry.at)
                if timedelta(0) <= today - told_on < every:
                    return told_on, False
            scheduler_log.add(connection, SchedulerEvent.ERROR, LogSource(source), self.clock.now(), wording)
            return today, True

        self._announced[calendar.name], is_news = self.transactions.run(frozenset({Boundary.SCHEDULE}), log)
        if is_news:
            self.listener(Event("calendar.ending", {"CalendarName": calendar.name, "Message": wording}))
