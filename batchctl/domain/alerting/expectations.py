"""By when work is expected: as columns of `ProcessBatch` say, or as files have come before; even if nothing ran yet."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Annotated

from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.rows import BatchId
from batchctl.domain.scheduling.business_days import BusinessDays, no_calendar
from batchctl.domain.scheduling.column_text import UnfitText, time_of_day, weekdays_of
from batchctl.domain.scheduling.wall_clock import DAY, WallClock
from batchctl.domain.status import IncidentKind
from batchctl.domain.text import typed, visible
from batchctl.domain.values import named_value

NEVER = "none"
"""What stands in `ArriveBy` of a batch whose files are expected at no time, whatever the past says."""
EVERY_DAY = frozenset(range(7))
LOOK_BACK = 10
"""How many days back to look for the last day on which something was expected."""
WEEKS = 8
"""How many weeks of the past say when files come."""
FEWEST = 5
"""On how many days of the same weekday a file has to have come before anything is learned."""
NEARLY_ALL = 0.8
"""By when on what share of these days a file has to have come."""
INTERNAL = ("schedule", "trigger", "dependency", "backfill", "resend", "job")
"""First words of `Source` of rows that do not come from outside: their times do not show when others are late."""

Arrivals = Mapping[date, time]
"""On which days something came, and at what time the first of it, by the clocks of the business."""


@named_value
class Expected:
    """The columns of `ProcessBatch` that say when its work is expected."""

    batch_id: BatchId
    name: Annotated[str, "ProcessBatchName"]
    entity: str
    enabled: bool
    registered_at: Annotated[datetime, "z_inserted"]
    arrive_by: str | None = None
    start_by: str | None = None
    finish_by: str | None = None
    on: Annotated[str | None, "ExpectedOn"] = None
    calendar: Annotated[str | None, "ExpectedCalendar"] = None


@named_value
class Deadline:
    """A moment by which something has to have happened since a day began."""

    kind: IncidentKind
    batch: Expected
    day: date
    begins: datetime
    """The first moment of the day."""
    at: datetime
    shown: str
    """The time of day, as the clocks show it."""
    is_learned: bool = False


def weekdays(on: str | None) -> frozenset[int]:
    """Read `ExpectedOn`; raises `UnfitText`."""
    if on is None:
        return EVERY_DAY
    return frozenset(day for part in on.split(",") for day in weekdays_of(part.strip()))


def unfit_columns(batch: Expected, calendars: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the columns that cannot be read, and why."""
    for column, written in (("ArriveBy", batch.arrive_by), ("StartBy", batch.start_by), ("FinishBy", batch.finish_by)):
        try:
            _minutes(written)
        except UnfitText as error:
            yield column, f"{error} Until then it is expected at no time."
    try:
        weekdays(batch.on)
    except UnfitText as error:
        yield "ExpectedOn", f"{error} Until then it is expected on every day."
    if batch.calendar is not None and batch.calendar not in calendars:
        said = no_calendar(batch.calendar, calendars)
        yield "ExpectedCalendar", f"{said} Until then every day counts as a business day."


def _minutes(written: str | None) -> int | None:
    """Read a time of day; None where nothing is expected."""
    if written is None or written.strip().lower() == NEVER:
        return None
    return time_of_day(written.strip())


def deadlines(
    batches: Iterable[Expected],
    learned: Mapping[str, Mapping[int, time]],
    calendars: Mapping[str, BusinessDays],
    clock: WallClock,
    now: datetime,
) -> list[Deadline]:
    """Return, of everything that is expected, the last deadline that has passed.

    `learned` holds by entity and weekday until when files usually have come.
    """
    found, told = list[Deadline](), set[str]()
    batches = [batch for batch in batches if batch.enabled]
    given = {batch.entity for batch in batches if batch.arrive_by is not None}
    for batch in batches:
        for kind, written in (
            (IncidentKind.NOT_ARRIVED, batch.arrive_by),
            (IncidentKind.NOT_STARTED, batch.start_by),
            (IncidentKind.NOT_FINISHED, batch.finish_by),
        ):
            minutes = _read(written)
            if minutes is not None:
                found += _last(kind, batch, dict.fromkeys(range(7), minutes), calendars, clock, now)
        if batch.entity in learned and batch.entity not in given and batch.entity not in told:
            told.add(batch.entity)
            times = {day: at.hour * 60 + at.minute for day, at in learned[batch.entity].items()}
            found += _last(IncidentKind.NOT_ARRIVED, batch, times, calendars, clock, now, is_learned=True)
    return found


def _read(written: str | None) -> int | None:
    try:
        return _minutes(written)
    except UnfitText:
        return None


def _last(
    kind: IncidentKind,
    batch: Expected,
    times: Mapping[int, int],
    calendars: Mapping[str, BusinessDays],
    clock: WallClock,
    now: datetime,
    *,
    is_learned: bool = False,
) -> Iterator[Deadline]:
    """Yield the last deadline that has passed since the batch was registered, if there is one."""
    today = clock.day_of(now)
    for back in range(LOOK_BACK + 1):
        day = today - back * DAY
        if not is_expected_on(batch, day, calendars) or day.weekday() not in times:
            continue
        wall = datetime.combine(day, time()) + timedelta(minutes=times[day.weekday()])
        at = clock.meant(wall)
        if at > now:
            continue
        if at > batch.registered_at:
            begins = clock.meant(datetime.combine(day, time()))
            shown = f"{wall:%H:%M}"
            yield Deadline(kind=kind, batch=batch, day=day, begins=begins, at=at, shown=shown, is_learned=is_learned)
        return


def coming(
    batch: Expected, calendars: Mapping[str, BusinessDays], clock: WallClock, now: datetime
) -> Iterator[tuple[date, datetime, datetime]]:
    """Yield the next days on which a batch has to be finished by a time: the day, its first moment, and that time."""
    minutes = _read(batch.finish_by) if batch.enabled else None
    if minutes is None:
        return
    today = clock.day_of(now)
    for ahead in range(LOOK_BACK + 1):
        day = today + ahead * DAY
        begins = datetime.combine(day, time())
        at = clock.meant(begins + timedelta(minutes=minutes))
        if at > now and is_expected_on(batch, day, calendars):
            yield day, clock.meant(begins), at


def is_expected_on(batch: Expected, day: date, calendars: Mapping[str, BusinessDays]) -> bool:
    """Say whether anything is expected on a day."""
    try:
        if day.weekday() not in weekdays(batch.on):
            return False
    except UnfitText:
        pass
    calendar = None if batch.calendar is None else calendars.get(batch.calendar)
    return calendar is None or calendar.is_business_day(day)


def is_asked_late(kind: IncidentKind, changes: Iterable[tuple[str | None, str | None]]) -> bool:
    """Say whether a batch was enabled, or first given its time, by one of these changes, as the audit log has them."""
    column = _COLUMNS[kind]
    for before, after in ((_values(was), _values(became)) for was, became in changes):
        is_enabled = before.get("Enabled") == 0 and after.get("Enabled") == 1
        is_given = column in before and before[column] is None and after.get(column) is not None
        if is_enabled or is_given:
            return True
    return False


_COLUMNS = {
    IncidentKind.NOT_ARRIVED: "ArriveBy",
    IncidentKind.NOT_STARTED: "StartBy",
    IncidentKind.NOT_FINISHED: "FinishBy",
}


def _values(wording: str | None) -> dict[str, object]:
    """Read columns of a row; return nothing for anything else."""
    try:
        found = json.loads(wording or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def missed(deadline: Deadline, zone: str) -> IncidentSign:
    """Return the sign of a deadline that has passed."""
    batch, name = deadline.batch, visible(deadline.batch.name)
    day = f"{deadline.day:%a} {deadline.day}"
    by = f"by {deadline.shown} {zone} on {day}"
    match deadline.kind:
        case IncidentKind.NOT_ARRIVED:
            why = "as it usually has" if deadline.is_learned else "as ArriveBy says"
            message = f"Nothing of entity {visible(batch.entity)} has arrived {by}, {why}"
            next_step = f"batchctl inbox   (if none is to come: let ArriveBy of the batch be '{NEVER}')"
        case IncidentKind.NOT_STARTED:
            message, next_step = f"Batch {name} has not started {by}", f"batchctl why batch:{typed(batch.name)}"
        case _:
            message, next_step = f"Batch {name} has not finished {by}", f"batchctl why batch:{typed(batch.name)}"
    return IncidentSign(
        kind=deadline.kind,
        about=(batch.batch_id, deadline.day),
        subject=batch.name,
        message=message,
        since=deadline.at,
        next_step=next_step,
        batch_id=batch.batch_id,
        evidence=deadline.day.toordinal(),
    )


def is_from_outside(source: str | None) -> bool:
    """Say whether a row of `FileProcess` shows when such rows come."""
    return source is None or source.partition(" ")[0] not in INTERNAL


def learned_times(
    arrivals: Arrivals, today: date, margin: timedelta, counts: Sequence[date] | None = None
) -> dict[int, time]:
    """Return by weekday until when something has come on nearly all of such days before, and a margin later.

    `counts` are the days of the past that count, where not all do.
    """
    past = counts if counts is not None else [today - back * DAY for back in range(1, WEEKS * 7 + 1)]
    first = min(arrivals, default=today)
    found = {}
    for weekday in range(7):
        days = [day for day in past if day.weekday() == weekday and first <= day < today]
        times = sorted(arrivals[day] for day in days if day in arrivals)
        if len(times) < FEWEST or len(times) < NEARLY_ALL * len(days):
            continue
        latest = times[math.ceil(len(times) * 0.95) - 1]
        late = datetime.combine(today, latest) + max(margin, _spread(times) / 2)
        if late.date() == today:
            found[weekday] = late.time().replace(second=0, microsecond=0)
    return found


def _spread(times: Sequence[time]) -> timedelta:
    def minutes(at: time) -> float:
        return at.hour * 60 + at.minute + at.second / 60

    return timedelta(minutes=minutes(times[-1]) - minutes(times[0]))
