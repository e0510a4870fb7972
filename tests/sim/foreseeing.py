"""The law that a preview is what fires: asked in every transaction that decides about due times, by what people ask with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING, TypeVar

from batchctl.domain.scheduling.due import InstantOutcome
from batchctl.domain.scheduling.schedules import Backfill
from batchctl.operations.operators.acts import Actor as Acts
from batchctl.operations.operators.acts import Joined
from batchctl.operations.scheduling import foresight
from batchctl.operations.scheduling.backfiller import Backfiller, Span
from batchctl.operations.scheduling.foresight import NOT_YET, Foreseen
from batchctl.operations.scheduling.schedule_trial import ScheduleBench
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store import Connection
from tests.sim.due_minutes import moment
from tests.sim.laws import Broken

if TYPE_CHECKING:
    from tests.sim.faults import Actor

Result = TypeVar("Result")

MOST = 500
"""Of a schedule whose clock was set far ahead no more due times are asked for."""
GRACE = timedelta(seconds=60)
ANNOUNCED = 20
"""How many due times a dry run of a backfill names, the oldest first."""
_TICK = timedelta(milliseconds=1)
_STANDING = (
    "SELECT Schedule_id, ScheduleName, DecidedUntil FROM Schedule"
    " WHERE DecidedUntil IS NOT NULL AND Enabled = 1 AND Schedule_id = ?"
)
_RUNNING = (
    "SELECT b.ScheduleBackfill_id, s.ScheduleName, b.FromTime, b.UntilTime, b.DoneUntil, b.MostOpen, b.Missed"
    " FROM ScheduleBackfill b JOIN Schedule s ON s.Schedule_id = b.Schedule_id"
    " WHERE b.Status = 'running' AND b.ScheduleBackfill_id = ?"
)
_NEWEST = "SELECT coalesce(max(ScheduleFire_id), 0) FROM ScheduleFire"
_WRITTEN = (
    "SELECT Schedule_id, FireKey, Outcome, DueTime, DueUntil, ScheduleBackfill_id FROM ScheduleFire"
    " WHERE ScheduleFire_id > ? ORDER BY ScheduleFire_id"
)


class Expected:
    """What people are told of a schedule's due times that have come, at the moment at which they are decided."""

    def __init__(self, foreseen: Sequence[Foreseen], *, would_fire: bool) -> None:
        undecided = [one for one in foreseen if one.decided is None and (one.fate.reason or "").startswith(NOT_YET)]
        undecided = [one for one in undecided if "jitter" not in (one.fate.reason or "")]
        self.fires = [one.instant.key for one in undecided if one.outcome != InstantOutcome.SKIPPED]
        self.skips = {one.instant.key: one.instant.due for one in undecided if one.outcome == InstantOutcome.SKIPPED}
        self.would_fire = would_fire


def watched(actor: Actor, work: Callable[[Connection], Result]) -> Callable[[Connection], Result]:
    """Let what a transaction decides be foreseen before, and compared behind."""

    known, backfill = _subject(work)

    def both(connection: Connection) -> Result:
        world = actor.world
        ((newest,),) = world.rows(_NEWEST)
        standing = [] if known is None else world.rows(_STANDING, known)
        expected = {number: _expected(actor, connection, *row) for number, *row in standing}
        running = [] if backfill is None else world.rows(_RUNNING, backfill)
        past = {number: _wanted(actor, connection, *row) for number, *row in running}
        result = work(connection)
        written = world.rows(_WRITTEN, newest)
        # Of what was disabled or over nothing is foreseen, and other laws say that nothing comes of it.
        own = [one for one in written if one[5] is None]
        for number, foreseen in expected.items():
            # What keeps a program from deciding in time, it alone knows: what was on time then still fires.
            if own and foreseen is not None and not world.kept_out[actor.name]:
                _compare(number, foreseen, [one[1:5] for one in own])
                world.happened["Foreseen"] += 1
        for number, wanted in past.items():
            keys = [key for _, key, *_, of in written if of == number]
            if keys != wanted[: len(keys)]:
                raise Broken("preview", f"backfill {number} was to start {wanted}, and has started {keys}")
            world.happened["ForeseenPast"] += 1
        return result

    return both


def _subject(work: object) -> tuple[int | None, int | None]:
    """Return the schedule that is decided, or the backfill that goes on; neither where schedules are armed."""
    if not isinstance(work, partial):
        return None, None
    if "known" in work.keywords:
        return work.keywords["known"].schedule.schedule_id, None
    backfill = next((one for one in work.args if isinstance(one, Backfill)), None)
    return None, None if backfill is None else backfill.backfill_id


def _expected(actor: Actor, connection: Connection, name: str, decided_until: str) -> Expected | None:
    table = Timetable(transactions=Joined(connection), clock=actor.clock, zone="UTC", grace=GRACE)
    start, now = moment(decided_until), actor.clock.now()
    if start > now:
        return Expected([], would_fire=False)
    preview = foresight.preview(table, name, start=start.replace(tzinfo=None), days=(now - start).days + 1)
    come = takewhile(lambda one: one.instant.due is not None and one.instant.due <= now, preview.due_times)
    foreseen = list(islice(come, MOST + 1))
    trial = ScheduleBench(table=table, fires_here=True).try_out(name)
    return None if len(foreseen) > MOST else Expected(foreseen, would_fire=trial.would_fire)


def _compare(number: int, expected: Expected, written: list[tuple[str, str, str, str | None]]) -> None:
    fired = [key for key, outcome, *_ in written if outcome == "fired"]
    if sorted(fired) != sorted(expected.fires):
        raise Broken("preview", f"schedule {number} was to fire {expected.fires}, and has fired {fired}")
    if expected.would_fire != bool(fired):
        raise Broken("preview", f"the trial of schedule {number} said {expected.would_fire}, and it has fired {fired}")
    skipped = [(key, moment(due), moment(until or due)) for key, outcome, due, until in written if outcome == "skipped"]
    left = {key for key, due in expected.skips.items() if not any(_holds(one, key, due) for one in skipped)}
    if left or (bool(skipped) != bool(expected.skips)):
        raise Broken("preview", f"schedule {number} was to skip {sorted(expected.skips)}, and has skipped {skipped}")


def _holds(skipped: tuple[str, datetime, datetime], key: str, due: datetime | None) -> bool:
    """Say whether what was skipped is this due time, or a stretch that holds it."""
    return skipped[0] == key or (due is not None and skipped[1] <= due <= skipped[2])


def _wanted(
    actor: Actor,
    connection: Connection,
    name: str,
    first: str,
    last: str,
    done_until: str | None,
    most_open: int,
    missed: int,
) -> list[str]:
    """Return which due times a backfill starts work for next, as its dry run names them."""
    now = actor.clock.now()
    begin = moment(first) if done_until is None else max(moment(first), moment(done_until) + _TICK)
    end = min(moment(last), now)
    if begin > end:
        return []
    acts = Acts(transactions=Joined(connection), clock=actor.clock, user="anna", host="desk", dry_run=True)
    span = Span(first=begin.replace(tzinfo=None), last=end.replace(tzinfo=None))
    preview = Backfiller(actor=acts, default_zone="UTC").begin(
        name, span, most_open=most_open, missed=bool(missed), sure=True
    )
    return [one.key for one in preview.fires][:ANNOUNCED]
