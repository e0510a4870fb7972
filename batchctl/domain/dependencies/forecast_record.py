"""Forecasts that are written down: the newest of each batch, and those of fixed hours, to see what came of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Annotated

from batchctl.domain.rows import BatchId
from batchctl.domain.scheduling.wall_clock import DAY, WallClock
from batchctl.domain.values import named_value

EVEN = 50
"""Percent: with a smaller chance a batch is at risk."""
FEWEST = 5
"""Of how many nights anything has to be known before a batch is at risk."""
LATE = timedelta(hours=1)
"""How long after a fixed hour a forecast is still one of it: later ones know more."""


@named_value
class KeptForecast:
    """A `KeptForecast` row."""

    batch_id: BatchId
    cycle_key: str | None
    made_on: datetime
    kept_for: datetime | None
    """The fixed hour; None of the newest one."""
    median: Annotated[datetime | None, "P50"]
    nearly: Annotated[datetime | None, "P90"]
    finish_by: datetime | None
    chance: int | None
    """Percent, of being ready by then."""
    needs_person: int
    """In how many percent of the nights."""
    nights: int
    decides: str | None
    helps: str | None
    ready_on: datetime | None = None
    """When it was ready; None until it is."""

    def is_at_risk(self, now: datetime) -> bool:
        """Say whether it will probably be late, while there is time left."""
        is_unlikely = self.chance is not None and self.chance < EVEN and self.nights >= FEWEST
        return is_unlikely and self.finish_by is not None and self.finish_by > now


def last_hour(hours: Iterable[int], clock: WallClock, now: datetime) -> datetime | None:
    """Return the last of some times of day, in minutes after midnight, that the clocks have shown."""
    today = clock.day_of(now)
    shown = (
        clock.meant(datetime.combine(day, time()) + timedelta(minutes=minutes))
        for day in (today - DAY, today)
        for minutes in hours
    )
    return max((at for at in shown if at <= now), default=None)
