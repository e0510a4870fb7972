"""Asking for the work of due times of the past: what that would start, the request itself, and its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from itertools import islice
from zoneinfo import ZoneInfo

from batchctl.domain.definitions.sql_jobs import local_now, shown, wall_time
from batchctl.domain.errors import InvalidInput, NotFound, Refused, StatusChanged
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition, InstanceId
from batchctl.domain.scheduling import due
from batchctl.domain.scheduling.backfill_turns import TICK, Fate, fate_of, reach_of
from batchctl.domain.scheduling.due import Instant, Plan
from batchctl.domain.scheduling.modes import takers_of
from batchctl.domain.scheduling.schedules import Backfill, BackfillId, Schedule, ScheduleId
from batchctl.domain.scheduling.wall_clock import DAY, LAST_DAY, WallClock, clock_of
from batchctl.domain.status import BackfillStatus, FireOutcome
from batchctl.domain.text import fitting, typed, visible
from batchctl.domain.unreadable import UnreadableRow, taking
from batchctl.operations import shown_columns
from batchctl.operations.column_lists import ColumnList, record
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.scheduling import timetable
from batchctl.ports import Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.scheduling import backfills, calendars, schedule_fires, schedule_rows

COUNTED = 10_000
"""Up to how many due times are counted before the backfill begins."""
UNASKED = 100
"""For how many due times work is started without a `--yes`."""
LISTED = 1000
"""How many backfills are listed."""
_ANNOUNCED = 20
"""How many due times are listed of those to start work for, beside the last of them, and of those decided before."""
_CANCEL = "cancel"


def range_end(text: str) -> datetime | date | None:
    """Read a day, or what a clock shows; None where it is neither."""
    found = wall_time(text.strip())
    if found is not None:
        return found
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def end_of(text: str, name: str) -> datetime | date:
    """Read what was written as one end of a range; raises `InvalidInput`."""
    found = range_end(text)
    if found is None:
        message = f"'{visible(text)}' is neither a day such as 2026-11-01 nor a time such as '2026-11-01 06:00'."
        raise InvalidInput(message, next_step=f"correct '{name}'")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From when to when, in wall time of the schedule; of a whole day, its last moment belongs to it."""

    first: datetime | date
    last: datetime | date

    def moments(self, zone: str) -> tuple[datetime, datetime]:
        """Return both ends in UTC."""
        clock = clock_of(zone)
        return clock.meant(_midnight(self.first)), _end(self.last, clock)

    def until(self, zone: str, now: datetime) -> tuple[datetime, datetime]:
        """Return both ends in UTC, of a day that has begun only what of it is over; raises `Refused` for what is to come."""
        first, last = self.moments(zone)
        if first > last:
            begins, ends = _typed(self.first), _typed(self.last)
            raise Refused(
                f"--to, {_written(self.last)}, lies before --from, {_written(self.first)}.",
                next_step=f"the same with --from {ends} --to {begins}",
            )
        for name, end in (("from", self.first), ("to", self.last)):
            if clock_of(zone).meant(_midnight(end)) > now:
                raise Refused(
                    f"{_written(end)} is still to come: in {zone} it is {local_now(now, zone)} now.",
                    next_step=f"an earlier --{name}; what is to come, the schedule fires by itself",
                )
        return first, min(last, now)


@dataclass(frozen=True, slots=True)
class DecidedBefore:
    """A due time that was decided before, and how."""

    instant: Instant
    outcome: FireOutcome
    reason: str | None

    def columns(self) -> dict[str, JsonValue]:
        """Return it by names of columns."""
        return {
            "FireKey": self.instant.key,
            "LocalTime": self.instant.local,
            "Outcome": self.outcome.value,
            "Reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class _Look:
    """What was found of the due times of a time."""

    fates: Counter[Fate]
    fires: tuple[Instant, ...]
    before: tuple[DecidedBefore, ...]
    is_counted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillPreview:
    """What a backfill would start work for, and what it would leave alone."""

    schedule: Schedule
    words: str
    zone: str
    first: datetime
    last: datetime
    reach: datetime
    """Behind it the schedule itself decides."""
    most_open: int
    missed: bool
    fates: Mapping[Fate, int]
    fires: tuple[Instant, ...]
    """The due times that work would be started for: the first of them and the last, where they are many."""
    before: tuple[DecidedBefore, ...]
    """The first of those that were decided before."""
    is_counted: bool
    """False when there are more than are counted."""
    begun: str | None
    """The day that has begun and ends it; None where all is over that was asked for."""
    takers: tuple[BatchDefinition, ...]
    unreadable: UnreadableRow | None = None
    """What cannot be read of a batch that takes the entity."""
    backfill_id: BackfillId | None = None

    @property
    def to_fire(self) -> int:
        """Return for how many due times work would be started."""
        return self.fates.get(Fate.FIRE, 0)

    @property
    def warnings(self) -> Iterator[str]:
        """Yield what is worth knowing before it begins."""
        if self.begun is not None:
            yield f"{self.begun} is not over: it is taken up to now, {local_now(self.last, self.zone)} in {self.zone}"
        if not self.schedule.enabled:
            yield "the schedule is disabled; its past is worked off all the same"
        if not self.takers and self.unreadable is not None:
            yield f"{self.unreadable.message}: until that is corrected nothing comes of the rows ({self.unreadable.mend})"
        elif not self.takers:
            yield f"no batch takes entity '{self.schedule.entity}': nothing would come of the rows"
        for batch in self.takers:
            if not batch.enabled:
                yield f"batch {batch.name} is disabled: its instances are created and wait until it is enabled"
        if self.to_fire == 0:
            yield f"there is nothing to start work for: {self.why_nothing}"
        if self.fates.get(Fate.MISSED) and not self.missed:
            number = self.fates[Fate.MISSED]
            said = (
                "one due time was missed, and stays so"
                if number == 1
                else f"{number} due times were missed, and stay so"
            )
            yield f"{said}; to have {'it' if number == 1 else 'them'} too: --missed"

    @property
    def why_nothing(self) -> str:
        """Say why work would be started for no due time."""
        told = {
            Fate.DECIDED: "decided before",
            Fate.MISSED: "missed, and left so",
            Fate.SKIPPED: "skipped by the schedule itself",
        }
        found = ", ".join(f"{self.fates[fate]} {said}" for fate, said in told.items() if self.fates.get(fate))
        if found:
            return f"of the due times between, {found}"
        timing, zone = self.schedule.timing, ZoneInfo(self.zone)
        begins, ends = timing.start_date, timing.end_date
        if begins is not None and self.last.astimezone(zone).date().isoformat() < begins:
            return f"the schedule begins at its StartDate, {begins}"
        if ends is not None and self.first.astimezone(zone).date().isoformat() > ends:
            return f"the schedule has ended at its EndDate, {ends}"
        if self.reach < self.first:
            return "what was due since, the schedule decides by itself"
        return "it is not due between"

    def columns(self) -> dict[str, JsonValue]:
        """Return it by names of columns, as far as there are such."""
        return {
            "ScheduleBackfill_id": self.backfill_id,
            "ScheduleName": self.schedule.name,
            "FromTime": shown_columns.moment(self.first),
            "UntilTime": shown_columns.moment(self.last),
            "MostOpen": self.most_open,
            "Missed": int(self.missed),
            "ToFire": self.to_fire,
            "Decided": self.fates.get(Fate.DECIDED, 0),
            "Fires": [{"FireKey": one.key, "LocalTime": one.local} for one in self.fires],
            "DecidedBefore": [one.columns() for one in self.before],
            "MissedLeft": self.fates.get(Fate.MISSED, 0),
            "Skipped": self.fates.get(Fate.SKIPPED, 0),
            "CountedAll": self.is_counted,
            "First": None if not self.fires else shown_columns.moment(self.fires[0].due),
            "Last": None if not self.fires else shown_columns.moment(self.fires[-1].due),
            "Warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A backfill, its schedule, and how much of its work is not done yet."""

    backfill: Backfill
    schedule: str
    is_open: int
    stuck: tuple[InstanceId, str] | None
    """The first instance that failed or is held and so keeps the rest from being started, and its status."""
    is_ahead: bool
    """True when its time reaches into the future."""
    failure: str | None
    """Why it cannot be reckoned when its schedule was due."""

    @property
    def waits(self) -> str | None:
        """Say what it waits for, if it is for more than its work to be done."""
        if self.failure is not None:
            return self.failure
        if self.stuck is not None:
            return f"BatchControl {self.stuck[0]} is {self.stuck[1]}"
        return "its time reaches into the future" if self.is_ahead else None


BACKFILLS = ColumnList[Listed](
    "Backfills",
    record(
        Backfill,
        lambda one: one.backfill,
        schedule_id={"ScheduleName": lambda one: one.schedule},
        fired={
            "Fired": lambda one: one.backfill.fired,
            "Open": lambda one: one.is_open,
            "BatchControl_id": lambda one: None if one.stuck is None else one.stuck[0],
            "Waits": lambda one: one.waits,
        },
    ),
    {
        "id": "ScheduleBackfill_id",
        "name": "ScheduleName",
        "status": "Status",
        "from (UTC)": "FromTime",
        "to (UTC)": "UntilTime",
        "done until (UTC)": "DoneUntil",
        "fired#": "Fired",
        "open": lambda one: f"{one.is_open} of {one.backfill.most_open}",
        "who": "Actor",
        "waits": "Waits",
    },
)


@dataclass(frozen=True, slots=True)
class UnreadableBackfill:
    """A backfill whose row holds nonsense."""

    row: UnreadableRow

    @property
    def waits(self) -> str:
        """Say what it waits for."""
        return f"the row cannot be read: {visible(self.row.wording)}"

    def columns(self) -> dict[str, JsonValue]:
        """Return what is known of it under the names that the others have."""
        return {**dict.fromkeys(BACKFILLS.header), "ScheduleBackfill_id": self.row.row_id, "Waits": self.waits}


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfiller:
    """Asks for the work of the past, for a person."""

    actor: Actor
    default_zone: str

    def begin(
        self,
        name: str,
        span: Span,
        *,
        most_open: int = 1,
        missed: bool = False,
        sure: bool = False,
        reason: str | None = None,
    ) -> BackfillPreview:
        """Insert the row that asks for it; a running controller does the rest. Raises `Refused` where that makes no sense."""
        reason = checked_reason(reason)

        def act(connection: Connection) -> BackfillPreview:
            preview = self._preview(connection, name, span, most_open=most_open, missed=missed)
            if self.actor.dry_run:
                return preview
            self._check(preview, sure=sure)
            return replace(preview, backfill_id=self._insert(connection, preview, reason))

        return self.actor.act(act)

    def cancel(self, backfill_id: BackfillId, *, reason: str) -> Backfill:
        """Let nothing more be started by a backfill; what it has started goes on."""
        said = checked_reason(reason)

        def act(connection: Connection) -> Backfill:
            load = backfills.load if self.actor.dry_run else backfills.load_locked
            found = load(connection, backfill_id)
            if found is None:
                message = f"There is no ScheduleBackfill {backfill_id}."
                raise NotFound(message, next_step="batchctl backfill list")
            if found.status is BackfillStatus.CANCELLED:
                raise Refused(
                    f"ScheduleBackfill {backfill_id} is cancelled already.", next_step="batchctl backfill list"
                )
            if found.status is not BackfillStatus.RUNNING:
                row = f"ScheduleBackfill {backfill_id}"
                raise StatusChanged(row, found.status, _CANCEL, next_step="batchctl backfill list")
            after = replace(found, status=BackfillStatus.CANCELLED)
            if not self.actor.dry_run:
                changed = {"Status": after.status.value, "z_updated": self.actor.clock.now()}
                backfills.change(connection, backfill_id, changed)
                target, was = f"ScheduleBackfill:{backfill_id}", {"Status": found.status.value}
                self.actor.note(connection, _CANCEL, target, said, was, {"Status": after.status.value})
            return after

        return self.actor.act(act)

    def _preview(
        self, connection: Connection, name: str, span: Span, *, most_open: int, missed: bool
    ) -> BackfillPreview:
        schedule = timetable.named(connection, name)
        plan = self._plan(connection, schedule)
        zone = plan.read.zone
        now = self.actor.clock.now()
        first, last = span.until(zone, now)
        reach = min(last, reach_of(schedule, now))
        found = _look(connection, schedule.schedule_id, plan, first, reach, missed=missed)
        defined = definitions.read(connection)
        return BackfillPreview(
            schedule=schedule,
            words=plan.words,
            zone=zone,
            first=first,
            last=last,
            reach=reach,
            most_open=most_open,
            missed=missed,
            fates=found.fates,
            fires=found.fires,
            before=found.before,
            is_counted=found.is_counted,
            begun=_written(span.last) if last < span.moments(zone)[1] else None,
            takers=takers_of(schedule.entity, defined.batches),
            unreadable=taking(schedule.entity, defined.unreadable),
        )

    def _plan(self, connection: Connection, schedule: Schedule) -> Plan:
        try:
            return due.plan_of(schedule.timing, self.default_zone, calendars.of(connection, schedule.timing))
        except due.UnfitTiming as unfitting:
            finding = f"{unfitting.column}: {unfitting.message}"
            message = f"It cannot be reckoned when schedule '{schedule.name}' was due: {finding}"
            raise Refused(visible(message), next_step="batchctl check") from None

    def _check(self, preview: BackfillPreview, *, sure: bool) -> None:
        if preview.to_fire == 0:
            message = f"There is nothing to start work for: {preview.why_nothing}."
            raise Refused(message, next_step="the same with --dry-run shows how they were decided")
        if not sure and (preview.to_fire > UNASKED or not preview.is_counted):
            more = "more than " if not preview.is_counted else ""
            message = f"That would start work for {more}{preview.to_fire:,} due times."
            raise Refused(message, next_step="the same with --yes, if that is meant; with --dry-run it shows which")

    def _insert(self, connection: Connection, preview: BackfillPreview, reason: str | None) -> BackfillId:
        who = fitting(f"{self.actor.user}@{self.actor.host}")
        values: dict[str, object] = {
            "Schedule_id": preview.schedule.schedule_id,
            "FromTime": preview.first,
            "UntilTime": preview.last,
            "MostOpen": preview.most_open,
            "Missed": int(preview.missed),
            "Actor": who,
            "Reason": reason,
        }
        backfill_id = backfills.add(connection, values)
        after: dict[str, JsonValue] = {**preview.columns(), "ScheduleBackfill_id": backfill_id}
        self.actor.note(connection, "backfill", timetable.schedule_target(preview.schedule.name), reason, {}, after)
        return backfill_id


def everyone(
    transactions: Transactions, now: datetime, default_zone: str
) -> tuple[tuple[Listed, ...], tuple[UnreadableBackfill, ...]]:
    """Return the newest backfills, newest first, and those that cannot be read."""
    with transactions.read() as connection:
        named = {one.schedule_id: one for one in schedule_rows.everything(connection)[0]}
        found, broken = backfills.newest(connection, LISTED)
        listed = [_listed(connection, one, named.get(one.schedule_id), now, default_zone) for one in found]
    return tuple(listed), tuple(map(UnreadableBackfill, broken))


def under_way(
    transactions: Transactions, now: datetime, default_zone: str, of: ScheduleId | None = None
) -> tuple[Listed, ...]:
    """Return the backfills that are not over, oldest first, of one schedule or of all."""
    with transactions.read() as connection:
        found = [one for one in backfills.running(connection)[0] if of is None or one.schedule_id == of]
        named = {one.schedule_id: one for one in schedule_rows.everything(connection)[0]} if found else {}
        return tuple(_listed(connection, one, named.get(one.schedule_id), now, default_zone) for one in found)


def _listed(
    connection: Connection, one: Backfill, schedule: Schedule | None, now: datetime, default_zone: str
) -> Listed:
    is_running = one.status is BackfillStatus.RUNNING
    return Listed(
        backfill=one,
        schedule=str(one.schedule_id) if schedule is None else schedule.name,
        is_open=backfills.count_open(connection, one.backfill_id),
        stuck=backfills.stuck(connection, one.backfill_id) if is_running else None,
        is_ahead=is_running and one.last > now,
        failure=_failure(connection, schedule, default_zone) if is_running else None,
    )


def _failure(connection: Connection, schedule: Schedule | None, default_zone: str) -> str | None:
    """Return why it cannot be reckoned when a schedule was due; None when it can."""
    if schedule is None:
        return "the row of its schedule cannot be read"
    try:
        due.plan_of(schedule.timing, default_zone, calendars.of(connection, schedule.timing))
    except due.UnfitTiming as unfitting:
        return visible(f"its schedule cannot be understood: {unfitting.column}: {unfitting.message}")
    return None


def _look(
    connection: Connection, schedule_id: ScheduleId, plan: Plan, first: datetime, last: datetime, *, missed: bool
) -> _Look:
    """Judge the due times of a time; the first that work would be started for are kept, and the last."""
    fates, kept, decided = Counter[Fate](), list[Instant](), list[DecidedBefore]()
    stretches = backfills.stretches(connection, schedule_id, first, last)
    every = schedule_fires.undecided(connection, schedule_id, plan).looked_up(first - TICK, last)
    for instant, before in islice(every, COUNTED):
        fate = fate_of(instant, before, stretches, missed=missed)
        fates[fate] += 1
        if fate is Fate.FIRE:
            kept = [*kept[:_ANNOUNCED], instant]
        elif before is not None and fate is Fate.DECIDED and len(decided) < _ANNOUNCED:
            reason = "; ".join(filter(None, (before.reason, before.moved_to(instant)))) or None
            decided.append(DecidedBefore(instant, before.outcome, reason))
    return _Look(fates, tuple(kept), tuple(decided), is_counted=next(every, None) is None)


def _midnight(at: datetime | date) -> datetime:
    return at if isinstance(at, datetime) else datetime.combine(at, time())


def _end(at: datetime | date, clock: WallClock) -> datetime:
    if isinstance(at, datetime):
        return clock.meant(at)
    return clock.meant(_midnight(min(at, LAST_DAY) + DAY)) - TICK


def _typed(at: datetime | date) -> str:
    return typed(_written(at))


def _written(at: datetime | date) -> str:
    return shown(at) if isinstance(at, datetime) else at.isoformat()
