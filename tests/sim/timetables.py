"""Whether every due time was decided once: reckoned from minutes alone, and from what was seen in the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.sim.happening import run
from tests.sim.laws import Broken
from tests.sim.programs import GRACE, POLL_INTERVAL
from tests.sim.script import Retime, SchedulePlan

if TYPE_CHECKING:
    from tests.sim.world import World

MINUTE = timedelta(minutes=1)
SLACK = timedelta(seconds=POLL_INTERVAL + 5)
ROUNDS = 20
MOST_COUNTED = 10_000
"""What the product says it counts up to; there are no more due times in a world without jumps of years."""

_FIRES = """
SELECT f.ScheduleFire_id, f.FireKey, f.Outcome, f.DueTime, f.DueUntil, f.Instants, f.Reason, s.Minutes, s.Enabled, s.At
FROM ScheduleFire f JOIN temp.Fires s ON s.Fire = f.ScheduleFire_id WHERE f.Schedule_id = ? ORDER BY 1
"""
_STANDINGS = (
    "SELECT Minutes, Was, Became, HashWas, HashBecame, At FROM temp.Standings WHERE Schedule = ? ORDER BY Standing_id"
)
HELD = timedelta(minutes=1)
"""For so long an error or a lock may keep what was on time from being decided; then it fires all the same."""
_ENABLED = (
    "SELECT Schedule_id, IntervalMinutes, DecidedUntil FROM Schedule WHERE Enabled = 1 AND ScheduleType = 'interval'"
)
_STARTED = "SELECT FileProcess_id FROM FileProcess WHERE Source LIKE 'schedule %'"


def go_on(world: World) -> None:
    """Let the schedules go on for a while once nothing fails any more, and then end."""
    if not world.options.schedules:
        return
    for _ in range(ROUNDS):
        run(world, POLL_INTERVAL / 2)
    now = world.time.database_now()
    for number, minutes, decided_until in world.rows(_ENABLED):
        patience = SLACK + timedelta(seconds=world.options.schedules[number - 1].jitter)
        stands = None if decided_until is None else moment(decided_until)
        if stands is None or stands > now + SLACK or any(_grid(minutes, stands, now - patience)):
            raise Broken("timetable", f"schedule {number} is decided until {decided_until} only, and it is {now}")
    for number in range(len(world.options.schedules)):
        world.person.retime(Retime(number, enabled=False))


def check(world: World) -> None:
    """Ask whether each due time has fired or was skipped, once, as its schedule wants it."""
    was_set = not world.goes_by_clocks
    fired = 0
    for number, plan in enumerate(world.options.schedules, start=1):
        fires = [Row(*row) for row in world.rows(_FIRES, number)]
        fired += sum(row.is_fired for row in fires)
        for at, row in enumerate(fires):
            _check_row(number, plan, row, fires[:at])
        _check_policy(number, plan, fires, was_set=was_set)
        if not was_set:
            _check_beginnings(number, world.rows(_STANDINGS, number))
        if plan.once_at is None:
            _check_coverage(world, number, fires, was_set=was_set)
    started = len(world.rows(_STARTED))
    if fired != started:
        raise Broken("timetable", f"{fired} due times have fired, and {started} rows were inserted")


class Row:
    """A row of `ScheduleFire`, and its schedule as it was when the row was inserted."""

    def __init__(self, *values: object) -> None:
        _, self.key, self.outcome, due, until, self.instants, self.reason, self.minutes, self.enabled, at = values
        self.due = moment(str(due))
        self.until = self.due if until is None else moment(str(until))
        self.is_stretch = until is not None
        self.at = moment(str(at))
        self.is_fired = self.outcome == "fired"


def _check_row(number: int, plan: SchedulePlan, row: Row, before: list[Row]) -> None:
    said = f"schedule {number}, {row.outcome} {row.key} at {row.at}"
    if row.enabled != 1:
        raise Broken("timetable", f"{said}: it was disabled")
    if row.due > row.at:
        raise Broken("timetable", f"{said}: it was not due yet")
    if plan.once_at is not None:
        return
    whole = list(_grid(int(str(row.minutes)), row.due - MINUTE, row.until))
    if row.due not in whole or row.until not in whole:
        raise Broken("timetable", f"{said}: nothing is due then, every {row.minutes} minutes")
    # What has a row of its own already stays out of a stretch, which only clocks that are set lead back to it.
    single = {other.due for other in before if not other.is_stretch} if row.is_stretch else set()
    undecided = [due for due in whole if due not in single]
    if row.instants != min(len(undecided), MOST_COUNTED):
        raise Broken("timetable", f"{said}: it stands for {len(undecided)} due times, and says {row.instants}")


def _check_policy(number: int, plan: SchedulePlan, fires: list[Row], *, was_set: bool) -> None:
    """Ask whether as much was made up for as the schedule wants."""
    most = {"none": 0, "latest": 1}.get(plan.catch_up, plan.most or 0)
    late = Counter(row.at for row in fires if row.is_fired and _is_late(plan, row))
    made_up = Counter(row.at for row in fires if row.is_fired and _is_late(plan, row, held=HELD))
    skipped = {row.at for row in fires if row.is_stretch}
    for at, count in made_up.items():
        if count > most:
            raise Broken("timetable", f"schedule {number}: {count} due times were made up for at {at}, not {most}")
    by_overlap = Counter(row.at for row in fires if str(row.reason).startswith("Overlap"))
    for at in skipped:
        if late[at] + by_overlap[at] < most and not plan.jitter and not was_set:
            raise Broken("timetable", f"schedule {number}: of what was missed, {late[at]} were made up for at {at}")


def _is_late(plan: SchedulePlan, row: Row, held: timedelta = timedelta(0)) -> bool:
    return row.at - row.due > timedelta(seconds=GRACE + plan.jitter + 1) + held


def _check_beginnings(number: int, standings: list[tuple[Any, ...]]) -> None:
    """Ask whether what was changed or enabled has begun at that moment, and not with what was due before."""
    for _, was, became, hash_was, hash_became, at in standings:
        begins = became is not None and (was is None or hash_was not in {None, hash_became})
        if begins and moment(became) < moment(at) - SLACK:
            raise Broken("timetable", f"schedule {number} was changed at {at}, and begins at {became}")


def _check_coverage(world: World, number: int, fires: list[Row], *, was_set: bool) -> None:
    """Ask whether everything was decided between the moments at which the schedule began and up to which it is decided."""
    decided = Counter[datetime]()
    for row in fires:
        decided.update(_grid(int(str(row.minutes)), row.due - MINUTE, row.until))
    for minutes, begin, end in _stretches(world.rows(_STANDINGS, number)):
        for due in _grid(minutes, begin, end):
            if not decided[due]:
                raise Broken("timetable", f"schedule {number}: what was due at {due} was never decided")
    if not was_set and (twice := [due for due, count in decided.items() if count > 1]):
        raise Broken("timetable", f"schedule {number}: what was due at {twice[0]} was decided twice")


def _stretches(standings: list[tuple[Any, ...]]) -> Iterator[tuple[int, datetime, datetime]]:
    """Yield the times in which each due time must have been decided, with the interval that was in force."""
    for minutes, was, became, hash_was, hash_became, _ in standings:
        # Otherwise it has begun, or begun anew, or a clock was set back.
        if None not in (was, became) and hash_was == hash_became and was <= became:
            yield minutes, moment(was), moment(became)


def _grid(minutes: int, after: datetime, until: datetime) -> Iterator[datetime]:
    """Yield every so many minutes of each day, counted from its midnight."""
    at = after.replace(second=0, microsecond=0) + MINUTE
    while at <= until:
        if (at.hour * 60 + at.minute) % minutes == 0:
            yield at
        at += MINUTE


def moment(text: str) -> datetime:
    """Read a time of the tables."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
