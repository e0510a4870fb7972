"""Whether backfills have started what was asked for and nothing else: reckoned from minutes, turn by turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from tests.sim.clock import BEGINNING
from tests.sim.due_minutes import MINUTE, Row, grid, moment, reach
from tests.sim.happening import run
from tests.sim.laws import Broken
from tests.sim.script import SchedulePlan

if TYPE_CHECKING:
    from tests.sim.world import World

TICK = timedelta(milliseconds=1)
MOST_AHEAD = timedelta(minutes=10)
"""How far ahead the end of a backfill may lie to be waited for: a clock that is set back puts it out of reach."""

_ASKED = """
SELECT ScheduleBackfill_id, Status, FromTime, UntilTime, MostOpen, Missed, Fired FROM ScheduleBackfill WHERE Schedule_id = ?
"""
_TURNS = """
SELECT Minutes, Enabled, DecidedUntil, DoneWas, DoneBecame, Became, Fired, LastFire, Open, At FROM temp.BackfillTurns
WHERE Backfill = ? ORDER BY Turn_id
"""
_ENDS = "SELECT UntilTime FROM ScheduleBackfill WHERE Status = 'running'"


def wait_for_ends(world: World) -> None:
    """Let the time go by that backfills reach into."""
    now = world.time.database_now()
    ahead = [moment(until) - now for (until,) in world.rows(_ENDS)]
    if wanted := [one for one in ahead if timedelta(0) < one <= MOST_AHEAD]:
        run(world, max(wanted).total_seconds() + 1)


def check(world: World, number: int, plan: SchedulePlan, fires: Sequence[Row]) -> None:
    """Ask of a schedule whether each due time that a backfill wanted was started once, and no other."""
    for due, times in Counter(row.due for row in fires if not row.is_stretch).items():
        if times > 1:
            raise Broken("backfill", f"schedule {number}: {due} was decided {times} times")
    for values in world.rows(_ASKED, number):
        asked = Asked(number, plan, *values)
        for row in fires:
            if row.backfill == asked.number:
                asked.check_fire(row, fires)
        for turn in world.rows(_TURNS, asked.number):
            asked.check_turn(Turn(*turn), fires)
        asked.check_end(fires, world.time.database_now())


class Turn:
    """A change of a row of `ScheduleBackfill`, and its schedule as it was then."""

    def __init__(
        self,
        minutes: int,
        enabled: int,
        decided_until: str | None,
        done_was: str | None,
        done: str | None,
        became: str,
        fired: int,
        last_fire: int | None,
        is_open: int,
        at: str,
    ) -> None:
        self.minutes, self.became, self.fired, self.open = minutes, became, fired, is_open
        self.done_was = None if done_was is None else moment(done_was)
        self.done = None if done is None else moment(done)
        self.last_fire = last_fire or 0
        self.at = moment(at)
        self.reach = reach(enabled, decided_until, self.at)


class Asked:
    """A row of `ScheduleBackfill` as it is in the end."""

    def __init__(
        self,
        schedule: int,
        plan: SchedulePlan,
        number: int,
        status: str,
        first: str,
        last: str,
        most_open: int,
        missed: int,
        fired: int,
    ) -> None:
        self.number, self.status, self.most_open, self.missed, self.fired = number, status, most_open, missed, fired
        self.first, self.last = moment(first), moment(last)
        self.wording = f"schedule {schedule}, backfill {number}"
        self._plan = plan

    def check_fire(self, row: Row, fires: Sequence[Row]) -> None:
        """Ask whether it might start this work at that moment."""
        said = f"{self.wording}, {row.outcome} {row.key} at {row.at}"
        if not row.is_fired or row.backfill_was != "running":
            raise Broken("backfill", f"{said}: it was {row.backfill_was}")
        if not self.first <= row.due <= self.last:
            raise Broken("backfill", f"{said}: it was asked for {self.first} to {self.last}")
        if row.due > row.reach:
            raise Broken("backfill", f"{said}: that is to come, or the schedule's own")
        if row.due not in self._dues(row.minutes, row.due - TICK, row.due):
            raise Broken("backfill", f"{said}: nothing is due then, every {row.minutes} minutes")
        if not self.missed and _is_missed(row.due, fires, row.number):
            raise Broken("backfill", f"{said}: it was missed, and those were not asked for")

    def check_turn(self, turn: Turn, fires: Sequence[Row]) -> None:
        """Ask whether nothing was left out of what it called done, and whether no more was open than may be.

        A person may run again what was done, so that more is open than may be: then nothing is started.
        """
        if turn.fired and turn.open > self.most_open:
            raise Broken("backfill", f"{self.wording}: {turn.open} were open at {turn.at}, not {self.most_open}")
        if turn.done is None:
            return
        was = turn.done_was or self.first - TICK
        if turn.done < was or turn.done > max(was, min(self.last, turn.reach)):
            raise Broken("backfill", f"{self.wording}: at {turn.at} it went from {was} to {turn.done}")
        before = {row.due for row in fires if row.number <= turn.last_fire and not row.is_stretch}
        for due in self._dues(turn.minutes, was, turn.done):
            is_left = not self.missed and _is_missed(due, fires, turn.last_fire)
            if due not in before and not is_left:
                raise Broken("backfill", f"{self.wording}: what was due at {due} was left out at {turn.at}")
        is_whole = self.last <= turn.at and not any(self._dues(turn.minutes, turn.done, self.last))
        if turn.became == "complete" and not is_whole:
            raise Broken("backfill", f"{self.wording}: it was complete at {turn.at}, done until {turn.done}")

    def check_end(self, fires: Sequence[Row], now: datetime) -> None:
        """Ask whether it has come to its end, unless that lies in the future, and has counted what it started."""
        started = sum(row.backfill == self.number for row in fires)
        if self.fired != started:
            raise Broken("backfill", f"{self.wording} has started work for {started} due times, and says {self.fired}")
        if self.status == "running" and self.last <= now:
            raise Broken("I35", f"{self.wording} is still running")

    def _dues(self, minutes: int, after: datetime, until: datetime) -> Iterator[datetime]:
        if self._plan.once_at is None:
            yield from grid(minutes, after, until)
        elif after < (at := BEGINNING + self._plan.once_at * MINUTE) <= until:
            yield at


def _is_missed(due: datetime, fires: Sequence[Row], last_fire: int) -> bool:
    """Say whether the schedule had skipped it by then with others, because nobody was there."""
    return any(row.is_stretch and row.number <= last_fire and row.due <= due <= row.until for row in fires)
