"""When the work of a batch comes from outside: once a day, by when it came on past days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from batchctl.domain.scheduling.wall_clock import DAY, WallClock, naive

KEY_FORMS = ("%Y-%m-%d", "%Y%m%d")
"""How CycleKeys name days; one that is written otherwise is not foreseen."""
WEEKS_KNOWN = timedelta(days=13)
"""Over how many days anything has to be known before weekdays are told apart."""


class Arrival(NamedTuple):
    """When an instance comes, and the day on which it is expected."""

    at: datetime
    day: date


class PastArrivals:
    """When instances of one batch came.

    Its days begin where the clocks show the middle of the widest gap between the times at which any came: what comes around
    midnight is of one day.
    """

    def __init__(self, came: Mapping[str, datetime], last: datetime | None, clock: WallClock) -> None:
        """Keep by CycleKey, or day where there is none, when the first instance came; at least one has.

        `last` is when the newest instance came, whether anything of it has ended or not.
        """
        self.came, self._clock = came, clock
        # Each replay of a night asks the same again.
        self._next, self._keys = dict[datetime, date | None](), dict[date, str | None]()
        self._later = dict[tuple[date, datetime], list[datetime]]()
        times = sorted({_since_midnight(self._shown(one)) for one in came.values()})
        gap, before = max(
            (after - before, before) for before, after in zip(times, [*times[1:], times[0] + DAY], strict=True)
        )
        self._begins = (before + gap / 2) % DAY
        self._days = {self.day_of(one) for one in (*came.values(), *(() if last is None else (last,)))}

    def day_of(self, moment: datetime) -> date:
        """Return the day of the batch at a moment."""
        return (self._shown(moment) - self._begins).date()

    def on(self, day: date, at: datetime) -> datetime:
        """Return the moment of a day at which the clocks show what they showed then."""
        since_midnight = _since_midnight(self._shown(at))
        later = DAY if since_midnight < self._begins else timedelta()
        return self._clock.meant(datetime.combine(day, datetime.min.time()) + since_midnight + later)

    def later(self, day: date, now: datetime) -> Sequence[datetime]:
        """Return the moments of a day at which the clocks show what they showed when any came, those after `now`."""
        if (day, now) not in self._later:
            self._later[day, now] = [moment for one in self.came.values() if (moment := self.on(day, one)) > now]
        return self._later[day, now]

    def next_day(self, now: datetime) -> date | None:
        """Return the day of which an instance is expected next; None where that is neither today nor tomorrow.

        That is yesterday where its instance is late for less than a day, else today, or tomorrow where today's is here; once
        weekdays are known, none on which none ever came.
        """
        if now not in self._next:
            self._next[now] = self._day_after(now)
        return self._next[now]

    def _day_after(self, now: datetime) -> date | None:
        days = self._days
        weekdays = {day.weekday() for day in days}
        are_known = max(days) - min(days) >= WEEKS_KNOWN
        today, after_last = self.day_of(now), max(days) + DAY
        day = after_last if after_last >= today - DAY else today
        while day <= today + DAY:
            is_left_out = day < today and now - min(self.on(day, one) for one in self.came.values()) >= DAY
            if not is_left_out and (day.weekday() in weekdays or not are_known):
                return day
            day += DAY
        return None

    def key_of(self, day: date) -> str | None:
        """Return the CycleKey that the instance of a day probably has, by those that came before."""
        if day not in self._keys:
            self._keys[day] = self._key_of(day)
        return self._keys[day]

    def _key_of(self, day: date) -> str | None:
        last = max(self.came, key=lambda key: self.came[key])
        for form in KEY_FORMS:
            try:
                named = datetime.strptime(last, form).date()  # noqa: DTZ007 - a day has no zone
            except ValueError:
                continue
            return (day + (named - self.day_of(self.came[last]))).strftime(form)
        return None

    def _shown(self, moment: datetime) -> datetime:
        return self._clock.shown(naive(moment)).replace(tzinfo=None)


def _since_midnight(shown: datetime) -> timedelta:
    return shown - datetime.combine(shown.date(), datetime.min.time())
