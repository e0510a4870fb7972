"""`Schedule`, `Calendar` and what is decided about a schedule's due times, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, NewType

from batchctl.domain.records import Apart, Hidden
from batchctl.domain.rows import IntakeId
from batchctl.domain.status import (
    BackfillStatus,
    CalendarRule,
    CatchUp,
    FireOutcome,
    FoldPolicy,
    GapPolicy,
    Overlap,
    ScheduleType,
)
from batchctl.domain.text import visible

ScheduleId = NewType("ScheduleId", int)
CalendarId = NewType("CalendarId", int)
FireId = NewType("FireId", int)
BackfillId = NewType("BackfillId", int)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The columns of a `Schedule` row that say when it is due, as they are written there: nothing is checked yet."""

    schedule_type: ScheduleType
    interval_minutes: int | None = None
    run_times: str | None = None
    run_days: str | None = None
    run_days_of_month: str | None = None
    week_of_month: str | None = None
    run_months: str | None = None
    between_times: str | None = None
    every_n: int = 1
    start_date: str | None = None
    end_date: str | None = None
    run_at: str | None = None
    cron: str | None = None
    time_zone: str | None = None
    """An IANA name; None for the business time zone of the configuration."""
    calendar_name: str | None = None
    calendar_rule: CalendarRule = CalendarRule.BUSINESS_DAYS
    gap_policy: GapPolicy = GapPolicy.RUN
    fold_policy: FoldPolicy = FoldPolicy.ONCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A `Schedule` row: times at which work is started for an entity."""

    schedule_id: Annotated[ScheduleId, "Schedule_id"]
    name: Annotated[str, "ScheduleName"]
    entity: str
    timing: Timing
    catch_up: CatchUp = CatchUp.NONE
    catch_up_most: int | None = None
    overlap: Overlap = Overlap.QUEUE
    jitter: timedelta = timedelta(0)
    enabled: bool = True
    next_run_time: datetime | None = None
    """The next due time, with its jitter. None for one that no controller has seen since it was made or enabled."""
    decided_until: datetime | None = None
    """Up to which moment all its due times are decided. None for one that was disabled: it begins anew."""
    timing_hash: Hidden[str | None] = None
    """Of the timing by which `next_run_time` was computed; another one means that somebody has changed it since."""
    origin: str | None = None
    """What wrote the row and keeps it up to date; None where people did."""
    description: str | None = None

    @property
    def source(self) -> str:
        """Return its `FileProcess.Source` and `SchedulerLog.Source`."""
        return f"schedule {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """A `Calendar` row with its days: which days are business days."""

    calendar_id: Annotated[CalendarId, "Calendar_id"]
    name: Annotated[str, "CalendarName"]
    business_days: str = "Mon,Tue,Wed,Thu,Fri"
    """The days of the week that are business days unless `days` says otherwise; may be empty."""
    valid_from: date | None = None
    valid_until: date | None = None
    """The days between which it is valid; outside of them nothing is known."""
    days: Apart[tuple[CalendarDay, ...]] = ()
    description: str | None = None
    no_days: Apart[tuple[NoDay, ...]] = ()
    """Texts in its rows that are no day: while there are any, the calendar cannot be used."""


@dataclass(frozen=True, slots=True)
class NoDay:
    """A text in place of a day, such as 2026-02-30: a database takes it."""

    table: str
    row_id: int
    column: str
    text: str
    wrong: str = "which is no day"

    def __str__(self) -> str:
        """Name the row that holds it."""
        return f"{self.table} {self.row_id} holds '{visible(self.text)}', {self.wrong}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarDay:
    """A `CalendarDay` row: a holiday, or an extra business day."""

    day: Annotated[date, "CalendarDate"]
    is_business_day: bool = False
    description: str | None = None

    @property
    def kind(self) -> str:
        """Say which kind of day it is."""
        return "business day" if self.is_business_day else "holiday"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleFire:
    """A `ScheduleFire` row: what was decided about a due time, or about all of a time in which none could be met."""

    fire_id: Hidden[Annotated[FireId, "ScheduleFire_id"]]
    schedule_id: Hidden[Annotated[ScheduleId, "Schedule_id"]]
    fire_key: str
    outcome: FireOutcome
    due: Annotated[datetime, "DueTime"]
    due_until: datetime | None
    """The last of the due times it stands for; None where it stands for one."""
    instants: int
    reason: str | None
    intake_id: IntakeId | None
    backfill_id: Hidden[Annotated[BackfillId | None, "ScheduleBackfill_id"]]
    zone_rules: Hidden[str | None]
    """The version of the time zone database by which it was computed."""
    decided_at: Hidden[Annotated[datetime, "z_inserted"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """A `ScheduleBackfill` row: due times of the past that a person wants to have work started for."""

    backfill_id: Annotated[BackfillId, "ScheduleBackfill_id"]
    schedule_id: Annotated[ScheduleId, "Schedule_id"]
    status: BackfillStatus
    first: Annotated[datetime, "FromTime"]
    last: Annotated[datetime, "UntilTime"]
    most_open: int
    """How many of its instances may be unfinished at once."""
    missed: bool
    """True when due times that were skipped because they were missed are wanted too."""
    done_until: datetime | None
    fired: int
    actor: str
    reason: str | None
