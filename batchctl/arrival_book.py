"""When files usually come: what the past days show, read page by page, so that no look takes long."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any

from batchctl.domain.alerting.expectations import WEEKS, Expected, is_expected_on, is_from_outside, learned_times
from batchctl.domain.scheduling.business_days import BusinessDays
from batchctl.domain.scheduling.wall_clock import DAY, WallClock
from batchctl.store.alerting import evidence

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

    def read_on(self, connection: Any, now: datetime, monotonic: float) -> None:
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
