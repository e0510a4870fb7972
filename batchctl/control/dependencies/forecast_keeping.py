"""A duty of the leader: forecasts are made a little in each turn, written down, and compared with what came of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import ClassVar

from batchctl.domain.dependencies.forecast_record import LATE, KeptForecast, last_hour
from batchctl.domain.errors import Busy, Conflict
from batchctl.domain.scheduling.wall_clock import WallClock
from batchctl.ports import Boundary, Change, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.dependencies import kept_forecasts
from batchctl.store.dependencies.kept_forecasts import AwaitedForecast

Pieces = Iterator[Sequence[KeptForecast] | None]
"""Yields None after each piece of work, and the forecasts at the end."""
AT_ONCE = 50
"""Of how many kept forecasts it is looked at once what came of them."""
AWAITED_FOR = timedelta(days=3)
"""For how long it is looked what came of one."""
EVERY = 1.0
"""Seconds between two looks at whether it is time."""
REST = 60.0
"""Seconds after which to begin anew where an error has ended it."""
PATIENCE = 100
"""How often to try to write while somebody keeps rows locked."""

_BOUNDARIES = frozenset({Boundary.FORECAST})


@dataclass(slots=True, kw_only=True)
class ForecastKeeping:
    """Keeps the newest forecast of each batch, and those of fixed hours."""

    transactions: Transactions
    clock: Clock
    make: Callable[[], Pieces]
    """Begins to make forecasts."""
    interval: timedelta
    """How long after one the next is made; nothing is for never."""
    hours: Sequence[int]
    """The times of day, in minutes after midnight, whose forecasts are kept."""
    wall_clock: WallClock
    wake: Callable[[], None]
    """Lets the next turn come at once."""
    _work: Iterator[bool] | None = None
    """The forecast under way; yields after each piece whether there is more to do at once."""
    _goes_on: bool = False
    """Whether there is."""
    _last: tuple[datetime | None, datetime | None] | None = None
    """When the last one was made, and the last fixed hour of which one was kept."""
    _looks_at: float = -math.inf

    name: ClassVar[str] = "forecasts"
    is_busy: ClassVar[bool] = False

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Do a piece of what is due."""
        if self._work is None and self.clock.monotonic() < self._looks_at:
            return False
        if self._step() and self._goes_on:
            # What has ended meanwhile, and whatever else is due, goes first.
            self.wake()
        return False

    def finish(self) -> bool:
        """Do all that is due."""
        while self._step():
            pass
        return False

    def _step(self) -> bool:
        """Do a piece; true while there is more to do."""
        now = self.clock.monotonic()
        self._looks_at = now + EVERY
        if self._work is None:
            if not self._is_due():
                return False
            self._work = self._pieces() if self.interval else self._forget()
        work, self._work = self._work, None
        try:
            self._goes_on = next(work)
        except StopIteration:
            return False
        except BaseException:
            self._looks_at = now + REST
            raise
        self._work = work
        return True

    def _is_due(self) -> bool:
        if not self.interval:
            return self._last is None
        if self._last is None:
            with self.transactions.read() as connection:
                self._last = kept_forecasts.last(connection)
        made, _ = self._last
        now = self.clock.now()
        if made is None or not timedelta(0) <= now - made < self.interval:
            return True
        hour = self._hour(now)
        return hour is not None and made < hour

    def _hour(self, now: datetime) -> datetime | None:
        """Return the fixed hour that has struck, if none of it is kept yet."""
        hour = last_hour(self.hours, self.wall_clock, now)
        kept = None if self._last is None else self._last[1]
        return hour if hour is not None and now - hour < LATE and (kept is None or kept < hour) else None

    def _pieces(self) -> Iterator[bool]:
        yield from self._look_what_came()
        for made in self.make():
            if made is None:
                yield True
            else:
                yield from self._write(made)

    def _look_what_came(self) -> Iterator[bool]:
        after, since = 0, self.clock.now() - AWAITED_FOR
        while True:
            with self.transactions.read() as connection:
                found = kept_forecasts.awaited(connection, since, after, AT_ONCE)
                ends = [(one, end) for one in found if (end := _end_of(connection, one)) is not None]
            if ends:
                yield from self._run(partial(self._note, ends))
            if len(found) < AT_ONCE:
                return
            after = found[-1].forecast_id
            yield True

    def _note(self, ends: Sequence[tuple[AwaitedForecast, datetime]], connection: Connection) -> None:
        now = self.clock.now()
        for one, end in ends:
            kept_forecasts.set_ready(connection, one.forecast_id, end, now)

    def _forget(self) -> Iterator[bool]:
        """Delete what would get old."""
        self._last = None, None
        with self.transactions.read() as connection:
            is_any = bool(kept_forecasts.newest(connection))
        if is_any:
            now = self.clock.now()
            yield from self._run(lambda connection: kept_forecasts.replace_newest(connection, (), now))

    def _run(self, work: Callable[[Connection], None]) -> Iterator[bool]:
        """Write, as soon as no other transaction keeps locked what is written to."""
        for _ in range(PATIENCE):
            with suppress(Conflict, Busy):
                self.transactions.run(_BOUNDARIES, work, nowait=True)
                return
            yield False
        self.transactions.run(_BOUNDARIES, work, nowait=True)

    def _write(self, made: Sequence[KeptForecast]) -> Iterator[bool]:
        now = self.clock.now()
        hour = self._hour(now)
        yield from self._run(lambda connection: kept_forecasts.replace_newest(connection, made, now))
        kept = None if self._last is None else self._last[1]
        self._last = now, kept
        if hour is not None:
            foreseen = [one for one in made if one.median is not None]
            yield from self._run(lambda connection: kept_forecasts.keep(connection, foreseen, hour, now))
            self._last = now, hour


def _end_of(connection: Connection, one: AwaitedForecast) -> datetime | None:
    return kept_forecasts.end_of(connection, one.batch_id, one.cycle_key, one.made_on)
