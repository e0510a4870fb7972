"""Which work should have arrived, begun or ended by now: one evaluator for incidents, reports and views."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from batchctl.domain.alerting import expectations
from batchctl.domain.alerting.alerts import AlertRules
from batchctl.domain.alerting.expectations import (
    WEEKS,
    Deadline,
    Expected,
    is_expected_on,
    is_from_outside,
    learned_times,
)
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.rows import BatchId
from batchctl.domain.scheduling.business_days import BusinessDays
from batchctl.domain.scheduling.column_text import UnfitText, weekdays_of
from batchctl.domain.scheduling.schedules import Calendar
from batchctl.domain.scheduling.wall_clock import DAY, WallClock, clock_of
from batchctl.domain.status import IncidentKind
from batchctl.store import Connection
from batchctl.store.alerting import evidence
from batchctl.store.scheduling import calendars

CHANGES = 20
"""Changes of a batch that are looked at."""


@dataclass(slots=True)
class ExpectedWork:
    """Finds the deadlines that have passed in vain. It remembers what stays as it is."""

    rules: AlertRules
    _book: ArrivalBook = field(init=False)
    _met: set[tuple[IncidentKind, BatchId, date]] = field(default_factory=set)
    _late: dict[tuple[IncidentKind, BatchId, date], bool] = field(default_factory=dict)
    _floors: dict[tuple[IncidentKind, datetime], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin to learn when files come."""
        self._book = ArrivalBook(clock_of(self.rules.zone))

    @property
    def is_learning(self) -> bool:
        """Say whether it still reads when files have come before."""
        return self.rules.learns_arrivals and self._book.is_behind

    def learn(self, connection: Connection, now: datetime, monotonic: float, until: Callable[[], bool]) -> None:
        """Read as much of the past as there is, until the time is up."""
        while self.is_learning and not until():
            self._book.read_on(connection, now, monotonic)

    def read_anew(self) -> None:
        """Forget what follows from definitions: somebody may have changed them."""
        self._late.clear()
        self._book.forget_what_was_learned()

    def missed_now(self, connection: Connection, now: datetime, monotonic: float) -> list[IncidentSign]:
        """Return missed deadlines by what the tables say at this moment."""
        expected, known = evidence.expected(connection), calendars.everything(connection)
        return self.missed(connection, expected, known, now, monotonic)

    def missed(
        self,
        connection: Connection,
        batches: Sequence[Expected],
        known: Sequence[Calendar],
        now: datetime,
        monotonic: float,
    ) -> list[IncidentSign]:
        """Return missed deadlines by batches and calendars that were read before."""
        clock = clock_of(self.rules.zone)
        days = business_days(known)
        learned = {}
        if self.rules.learns_arrivals:
            self._book.read_on(connection, now, monotonic)
            learned = self._book.learned(batches, days, now, self.rules.arrival_margin)
        due = expectations.deadlines(batches, learned, days, clock, now)
        self._met &= {(one.kind, one.batch.batch_id, one.day) for one in due}
        wanted = {(one.kind, one.begins) for one in due}
        self._floors = {key: floor for key, floor in self._floors.items() if key in wanted}
        missed = [one for one in due if not self._is_met(connection, one) and not self._is_asked_late(connection, one)]
        return [expectations.missed(one, self.rules.zone) for one in missed]

    def _is_met(self, connection: Connection, one: Deadline) -> bool:
        key, batch = (one.kind, one.batch.batch_id, one.day), one.batch
        if key in self._met:
            return True
        if one.kind is IncidentKind.NOT_FINISHED:
            is_met = evidence.finished(connection, batch.batch_id, one.begins, one.day)
        elif one.kind is IncidentKind.NOT_STARTED:
            floor = self._floor(connection, evidence.first_attempt_since, one)
            is_met = evidence.started(connection, floor, batch.batch_id, one.begins, one.day)
        else:
            floor = self._floor(connection, evidence.first_arrival_since, one)
            is_met = evidence.arrived(connection, floor, batch.entity, batch.batch_id, one.begins, one.day)
        if is_met:
            self._met.add(key)
        return is_met

    def _is_asked_late(self, connection: Connection, one: Deadline) -> bool:
        """Say whether the work was not asked for before the time had passed."""
        key = one.kind, one.batch.batch_id, one.day
        if key not in self._late:
            changes = evidence.changes(connection, one.batch.name, one.at, CHANGES)
            self._late[key] = expectations.is_asked_late(one.kind, changes)
        return self._late[key]

    def _floor(self, connection: Connection, find: Callable[[Connection, datetime], int], one: Deadline) -> int:
        """Return where the rows of a day begin: that stays so, and is looked up once."""
        key = one.kind, one.begins
        if key not in self._floors:
            self._floors[key] = find(connection, one.begins)
        return self._floors[key]


def business_days(calendars: Iterable[Calendar]) -> dict[str, BusinessDays]:
    """Return the business days of the calendars that can be read."""
    return {one.name: found for one in calendars if (found := _business_days(one)) is not None}


def next_deadline(
    connection: Connection, batch: Expected, days: Mapping[str, BusinessDays], clock: WallClock, now: datetime
) -> datetime | None:
    """Return the next moment by which a batch has to be finished, of those days of which it is not finished yet."""
    for day, begins, at in expectations.coming(batch, days, clock, now):
        if not evidence.finished(connection, batch.batch_id, begins, day):
            return at
    return None


def _business_days(calendar: Calendar) -> BusinessDays | None:
    """Return the business days of a calendar; None when it cannot be read, which `check` reports."""
    try:
        parts = [part.strip() for part in calendar.business_days.split(",") if part.strip()]
        weekdays = frozenset(day for part in parts for day in weekdays_of(part))
    except UnfitText:
        return None
    return None if calendar.no_days else BusinessDays(calendar, weekdays)


PAGE = 2000
EVERY = timedelta(hours=1)
"""How long after the last row was read more of them are looked for."""
SLACK = 500
"""Rows that are read once more, because some are committed late."""


@dataclass(slots=True)
class ArrivalBook:
    """Remembers by entity and day when the first file came, in UTC."""

    clock: WallClock
    _came: dict[str, dict[date, datetime]] = field(default_factory=dict)
    _after: int | None = None
    _next: float = -math.inf
    _learned: dict[str, dict[int, time]] | None = None
    is_behind: bool = True
    """True while the past is still being read: nothing is learned from a part of it."""

    def read_on(self, connection: Connection, now: datetime, monotonic: float) -> None:
        """Read a page, if there is one to read."""
        if not self.is_behind and monotonic < self._next:
            return
        if self._after is None:
            self._after = evidence.first_arrival_since(connection, now - timedelta(days=WEEKS * 7 + 1))
        page = evidence.arrivals(connection, self._after, PAGE)
        for one in page:
            if is_from_outside(one.source):
                self._note(one.entity, one.at)
        self.is_behind = len(page) == PAGE
        if page:
            self._after = page[-1].intake_id
        if not self.is_behind:
            self._after = max(self._after - SLACK, 0)
            self._next = monotonic + EVERY.total_seconds()
            self._learned = None
            self._forget(self.clock.day_of(now) - (WEEKS * 7 + 1) * DAY)

    def learned(
        self, batches: Iterable[Expected], calendars: Mapping[str, BusinessDays], now: datetime, margin: timedelta
    ) -> dict[str, dict[int, time]]:
        """Return by entity and weekday until when files usually have come."""
        if self.is_behind:
            return {}
        if self._learned is not None:
            return self._learned
        today = self.clock.day_of(now)
        past = [today - back * DAY for back in range(1, WEEKS * 7 + 1)]
        ahead = self.clock.shown(now.replace(tzinfo=None)).utcoffset() or timedelta()
        found = {}
        for batch in batches:
            if batch.entity in self._came and batch.entity not in found:
                counts = [day for day in past if is_expected_on(batch, day, calendars)]
                came = {day: self._shown(at, day, ahead) for day, at in self._came[batch.entity].items()}
                if times := learned_times(came, today, margin, counts):
                    found[batch.entity] = times
        self._learned = found
        return found

    def forget_what_was_learned(self) -> None:
        """Learn anew from what came: another day may have begun, or something else be expected."""
        self._learned = None

    def _note(self, entity: str, at: datetime) -> None:
        at = at.replace(tzinfo=None)
        days = self._came.setdefault(entity, {})
        day = self.clock.shown(at).date()
        days[day] = min(days.get(day, at), at)

    def _shown(self, at: datetime, day: date, ahead: timedelta) -> time:
        """Return what the clocks showed when something came, or would show now, if that is later.

        It is unknown whether the sender goes by the same clocks: once these are changed, nothing is late by that.
        """
        shown = self.clock.shown(at).replace(tzinfo=None)
        now_shown = at + ahead
        return max(shown, now_shown).time() if now_shown.date() == day else shown.time()

    def _forget(self, before: date) -> None:
        for entity, days in list(self._came.items()):
            kept = {day: at for day, at in days.items() if day >= before}
            if kept:
                self._came[entity] = kept
            else:
                del self._came[entity]
