"""How fast due times are reckoned: a schedule of every minute over ten weeks in which the clocks go on.

The bare loop adds a minute at a time and writes what the clocks of the zone show, for each; it knows of no window, no calendar
and no change of the clocks.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from batchctl.domain.scheduling.due import plan_of
from batchctl.domain.scheduling.schedules import Timing
from batchctl.domain.status import ScheduleType

TIMES = 100_000
ZONE = "Europe/Amsterdam"
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def ours(_folder: Path) -> float:
    """Reckon all times of the schedule; return how many per second."""
    plan = plan_of(Timing(schedule_type=ScheduleType.INTERVAL, interval_minutes=1), ZONE, None)
    begun = time.perf_counter()
    found = sum(1 for _ in plan.instants(BEGIN, BEGIN + TIMES * MINUTE))
    seconds = time.perf_counter() - begun
    if found != TIMES:
        message = f"{found} times were found where there are {TIMES}"
        raise SystemExit(message)
    return found / seconds


def bare(_folder: Path) -> float:
    """Go through as many minutes and nothing else; return how many per second."""
    zone, moment = ZoneInfo(ZONE), BEGIN
    begun = time.perf_counter()
    for _ in range(TIMES):
        moment += MINUTE
        f"{moment.astimezone(zone):%Y-%m-%dT%H:%M}"
    return TIMES / (time.perf_counter() - begun)
