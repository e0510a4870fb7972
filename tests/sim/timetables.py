"""Whether every due time was decided once: reckoned from minutes alone, and from what was seen in the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.sim import backfilled
from tests.sim.due_minutes import MINUTE, Row, dues_of, grid, moment
from tests.sim.happening import run
from tests.sim.laws import Broken
from tests.sim.programs import GRACE, POLL_INTERVAL
from tests.sim.script import Retime, SchedulePlan

if TYPE_CHECKING:
    from tests.sim.world import World

SLACK = timedelta(seconds=POLL_INTERVAL + 5)
ROUNDS = 20
MOST_COUNTED = 10_000
"""What the product says it counts up to; there are no more due times in a world without jumps of years."""

_FIRES = """
SELECT f.ScheduleFire_id, f.FireKey, f.Outcome, f.DueTime, f.DueUntil, f.Instants, f.Reason, f.ScheduleBackfill_id,
    s.Minutes, s.Enabled, s.DecidedUntil, s.Backfill, s.Program, s.Commits, s.At
FROM ScheduleFire f JOIN temp.Fires s ON s.Fire = f.ScheduleFire_id WHERE f.Schedule_id = ? ORDER BY 1
"""
_STANDINGS = (
    "SELECT Minutes, Was, Became, HashWas, HashBecame, At FROM temp.Standings WHERE Schedule = ? ORDER BY Standing_id"
)
_ENABLED = (
    "SELECT Schedule_id, IntervalMinutes, DecidedUntil FROM Schedule WHERE Enabled = 1 AND ScheduleType = 'interval'"
)
_DECIDED = "SELECT DueTime FROM ScheduleFire WHERE Schedule_id = ? AND DueUntil IS NULL"
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
        # A clock that was set back comes again to what is decided already.
        decided = {moment(due) for (due,) in world.rows(_DECIDED, number)}
        if stands is None or stands > now + SLACK or any(set(grid(minutes, stands, now - patience)) - decided):
            raise Broken("timetable", f"schedule {number} is decided until {decided_until} only, and it is {now}")
    for number in range(len(world.options.schedules)):
        world.person.retime(Retime(number, enabled=False))
    backfilled.wait_for_ends(world)


def check(world: World) -> None:
    """Ask whether each due time has fired or was skipped, once, as its schedule wants it."""
    was_set = not world.goes_by_clocks
    fired = 0
    for number, plan in enumerate(world.options.schedules, start=1):
        fires = [Row(*row) for row in world.rows(_FIRES, number)]
        own = [row for row in fires if row.backfill is None]
        fired += sum(row.is_fired for row in fires)
        for row in own:
            _check_row(number, plan, row, fires)
        _check_policy(world, number, plan, own, was_set=was_set)
        if not was_set:
            _check_beginnings(number, world.rows(_STANDINGS, number))
        if plan.once_at is None:
            _check_coverage(world, number, fires, was_set=was_set)
        backfilled.check(world, number, plan, fires)
    started = len(world.rows(_STARTED))
    if fired != started:
        raise Broken("timetable", f"{fired} due times have fired, and {started} rows were inserted")


def _check_row(number: int, plan: SchedulePlan, row: Row, fires: list[Row]) -> None:
    said = f"schedule {number}, {row.outcome} {row.key} at {row.at}"
    if row.enabled != 1:
        raise Broken("timetable", f"{said}: it was disabled")
    if row.due > row.at:
        raise Broken("timetable", f"{said}: it was not due yet")
    if plan.once_at is not None:
        return
    whole = list(grid(row.minutes, row.due - MINUTE, row.until))
    if row.due not in whole or row.until not in whole:
        raise Broken("timetable", f"{said}: nothing is due then, every {row.minutes} minutes")
    stands_for = len(dues_of(row, fires))
    if row.instants != min(stands_for, MOST_COUNTED):
        raise Broken("timetable", f"{said}: it stands for {stands_for} due times, and says {row.instants}")


def _check_policy(world: World, number: int, plan: SchedulePlan, fires: list[Row], *, was_set: bool) -> None:
    """Ask whether as much was made up for as the schedule wants."""
    most = {"none": 0, "latest": 1}.get(plan.catch_up, plan.most or 0)
    late = Counter(row.at for row in fires if row.is_fired and _is_late(plan, row))
    made_up = Counter(
        row.at for row in fires if row.is_fired and _is_late(plan, row) and not _is_held(world, plan, row)
    )
    skipped = {row.at for row in fires if row.is_stretch}
    for at, count in made_up.items():
        if count > most:
            raise Broken("timetable", f"schedule {number}: {count} due times were made up for at {at}, not {most}")
    by_overlap = Counter(row.at for row in fires if str(row.reason).startswith("Overlap"))
    for at in skipped:
        if late[at] + by_overlap[at] < most and not plan.jitter and not was_set:
            raise Broken("timetable", f"schedule {number}: of what was missed, {late[at]} were made up for at {at}")


def _is_late(plan: SchedulePlan, row: Row) -> bool:
    return row.at > row.due + _patience(plan)


def _is_held(world: World, plan: SchedulePlan, row: Row) -> bool:
    """Say whether it was on time when a lock kept the program that fires it from deciding: that is not made up for.

    How long the lock lasts, or the program takes to come back, does not matter: it goes by the moment at which that began,
    which only the program itself knows, by its own clock. What became due later has been missed.
    """
    return any(row.due <= at <= row.due + _patience(plan) for at in world.kept_out[row.program] if at <= row.at)


def _patience(plan: SchedulePlan) -> timedelta:
    """Return how long after it a due time may be on time; to the second, which is all that clocks here show.

    With jitter some are late before that: how long each waits is the product's own affair.
    """
    return timedelta(seconds=GRACE + plan.jitter)


def _check_beginnings(number: int, standings: list[tuple[Any, ...]]) -> None:
    """Ask whether what was changed or enabled has begun at that moment, and not with what was due before."""
    for _, was, became, hash_was, hash_became, at in standings:
        begins = became is not None and (was is None or hash_was not in {None, hash_became})
        if begins and moment(became) < moment(at) - SLACK:
            raise Broken("timetable", f"schedule {number} was changed at {at}, and begins at {became}")


def _check_coverage(world: World, number: int, fires: list[Row], *, was_set: bool) -> None:
    """Ask whether everything was decided between the moments at which the schedule began and up to which it is decided."""
    decided, own = Counter[datetime](), Counter[datetime]()
    for row in fires:
        dues = dues_of(row, fires)
        decided.update(dues)
        # A backfill may start what the schedule has missed.
        own.update(dues if row.backfill is None else ())
    for minutes, begin, end in _stretches(world.rows(_STANDINGS, number)):
        for due in grid(minutes, begin, end):
            if not decided[due]:
                raise Broken("timetable", f"schedule {number}: what was due at {due} was never decided")
    if not was_set and (twice := [due for due, count in own.items() if count > 1]):
        raise Broken("timetable", f"schedule {number}: what was due at {twice[0]} was decided twice")


def _stretches(standings: list[tuple[Any, ...]]) -> Iterator[tuple[int, datetime, datetime]]:
    """Yield the times in which each due time must have been decided, with the interval that was in force."""
    for minutes, was, became, hash_was, hash_became, _ in standings:
        # Otherwise it has begun, or begun anew, or a clock was set back.
        if None not in (was, became) and hash_was == hash_became and was <= became:
            yield minutes, moment(was), moment(became)
