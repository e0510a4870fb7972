"""A world with schedules, and the leader who fires them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from batchctl.control.scheduling.deciding import Deciding
from batchctl.control.scheduling.firing import Firing
from batchctl.domain.rows import BatchDefinition
from batchctl.ports import Change
from tests.control.world import World

POLL = 15.0
GRACE = timedelta(minutes=5)
ZONE = "Europe/Amsterdam"
FIRES = "SELECT FireKey, Outcome, Instants FROM ScheduleFire ORDER BY ScheduleFire_id"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Timetable:
    """A batch `B`, its schedules, and a leader; times are UTC unless a schedule says otherwise."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.woken = 0
        self.harmless = True
        self.zone = "UTC"
        self.duty = self.leader()

    def leader(self, transactions: Any = None, clock: Any = None) -> Firing:
        """Return the duty of a controller that knows nothing yet."""
        world = self.world
        clock = clock or world.clock
        deciding = Deciding(clock, world.creator(), self._is_harmless, GRACE, "2026z")
        means = transactions or world.transactions, clock, deciding, world.events.append
        return Firing(*means, POLL, self.zone, self._wake)

    def _wake(self) -> None:
        self.woken += 1

    def _is_harmless(self, batch: BatchDefinition) -> bool:
        return self.harmless

    def schedule(self, name: str = "s", kind: str = "daily", **columns: object) -> int:
        """Register a schedule by a row, as the clock shows it."""
        written = {"ScheduleName": name, "Entity": "B", "ScheduleType": kind, "DecidedUntil": self.stamp()}
        self.world._insert("Schedule", {**written, **columns})
        return int(self.world.one("SELECT max(Schedule_id) FROM Schedule"))

    def stamp(self) -> str:
        """Return the present time as a person writes it into a table."""
        return self.world.clock.now().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]

    def set_clock(self, text: str) -> None:
        """Let somebody set the database's clock; one's own goes on."""
        clock = self.world.clock
        clock._now = utc(text)
        clock._seconds += 1.0

    def until(self, text: str) -> None:
        """Let time pass up to a moment, and the leader look."""
        self.world.clock.advance(utc(text) - self.world.clock.now())
        self.turns()

    def turns(self, most: int = 100) -> None:
        """Let the leader look until there is nothing more to do."""
        self.duty.look(Change.ANYTHING)
        for _ in range(most):
            self.duty.look(Change.NOTHING)
            if not self.duty.is_busy:
                return
        raise AssertionError("it does not come to rest")

    def restart(self) -> None:
        """Lose everything that is only in memory."""
        self.duty = self.leader()

    def fires(self) -> list[tuple[Any, ...]]:
        """Return what was decided: key, outcome, and how many due times it stands for."""
        return self.world.sql(FIRES)

    def fired(self) -> list[str]:
        """Return the keys that fired."""
        return [key for key, outcome, _ in self.fires() if outcome == "fired"]

    def standing(self, schedule_id: int = 1) -> tuple[Any, ...]:
        """Return Enabled, NextRunTime and DecidedUntil of a schedule, to the minute."""
        statement = "SELECT Enabled, NextRunTime, DecidedUntil FROM Schedule WHERE Schedule_id = ?"
        ((enabled, *times),) = self.world.sql(statement, schedule_id)
        return enabled, *(time and time[:16] for time in times)

    def log(self) -> list[tuple[Any, ...]]:
        """Return what the log says: event, source, message."""
        return self.world.sql("SELECT EventType, Source, Message FROM SchedulerLog ORDER BY SchedulerLog_id")
