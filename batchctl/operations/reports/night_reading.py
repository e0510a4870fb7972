"""Reads the report of a night: what ran, what failed and who mended it, what was late, and what stands open now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cached_property
from typing import Any

from batchctl.domain.alerting import night_summary
from batchctl.domain.alerting.alerts import AlertRules
from batchctl.domain.alerting.incidents import OF_AN_INSTANCE, Incident, IncidentSign
from batchctl.domain.alerting.night_summary import LongStep, NightAttempt, NightInstance, NightSpan, NightVerdict
from batchctl.domain.definitions.row_guard import band_of, days_like, warning_in
from batchctl.domain.dependencies.forecast_record import KeptForecast
from batchctl.domain.errors import InvalidInput
from batchctl.domain.rows import NEVER, AuditEntry, BatchDefinition, BatchId, BatchInstance, InstanceId
from batchctl.domain.scheduling.wall_clock import WallClock, clock_of
from batchctl.domain.status import IncidentKind, InstanceStatus
from batchctl.domain.text import visible
from batchctl.expected_work import ExpectedWork
from batchctl.operations import overview
from batchctl.operations.alerting import incident_desk
from batchctl.operations.alerting.overview_lists import FailingInstance
from batchctl.operations.column_lists import ColumnList
from batchctl.operations.overview import Overview
from batchctl.operations.presence import Presence
from batchctl.operations.reports import night_lists, reporting
from batchctl.operations.reports.night_lists import (
    AS_FORETOLD,
    NOT_DUE,
    SHOWN,
    FailedStep,
    ForecastLine,
    GuardedRows,
    LateWork,
    LongLine,
    MendingAct,
    NightLine,
    NightReport,
    OpenMatter,
    ReportPart,
)
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store import Connection, instances, reports, row_counts
from batchctl.store.alerting import incident_rows, night_rows
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import kept_forecasts
from batchctl.store.maintenance import audit_entries

SINCE = "18:00"
"""When a night begins where nothing else is said."""
ATTEMPTS = 20_000
"""How many attempts are looked at; of more, the newest."""
MOST = 200
"""How many lines of each list there are at most."""
ACTS = 1000
"""How many acts of people are looked at."""
GUARDED = 50
"""Of how many steps it is looked up how many rows they should have."""
INCIDENTS = 2000
"""How many of the newest incidents are looked through for those of the night."""
LATE = timedelta(minutes=10)
"""How long after it was due a report says that it is late."""
MENDING = ("rerun", "skip", "resume", "cancel", "confirm", "refuse", "accept", "retry", "reject", "resend", "set-sql")
"""What people do so that work goes on, besides what they change by hand."""
_DEADLINES = {
    IncidentKind.NOT_ARRIVED: "arrival",
    IncidentKind.NOT_STARTED: "start",
    IncidentKind.NOT_FINISHED: "finish",
    IncidentKind.DEPENDENCY_DEADLINE: "wait",
}
_RESUME = "batchctl resume {id} --reason ..."
_STANDS = (InstanceStatus.FAILED, InstanceStatus.HELD)
_OF_INSTANCE = audit_entries.instance_target(InstanceId(0)).removesuffix("0")


@dataclass(frozen=True, slots=True)
class NightReader:
    """Reads the report of a night."""

    timetable: Timetable
    presence: Presence
    rules: AlertRules

    @property
    def clock(self) -> WallClock:
        """Return the clocks of the business."""
        return clock_of(self.timetable.zone)

    def since(self, written: str) -> NightReport:
        """Return the report from the time that a text means until now."""
        now = self.timetable.clock.now()
        try:
            since = night_summary.span_since(written, self.clock, now)
        except (ValueError, OverflowError):
            message = (
                f"--since: '{visible(written)}' is neither a time of day, such as {SINCE},"
                " nor a time in UTC, such as '2026-11-28 18:00'."
            )
            raise InvalidInput(message, next_step=f"--since {SINCE}") from None
        if since >= now:
            message = f"--since: {since:%Y-%m-%d %H:%M} UTC is still to come: there is no report of that."
            raise InvalidInput(message, next_step=f"--since {SINCE}")
        return self.of(NightSpan(since=since, until=now, is_open=True))

    def of(self, span: NightSpan) -> NightReport:
        """Return the report of a span of time, with what stands open now."""
        transactions, clock = self.timetable.transactions, self.timetable.clock
        seen = overview.overview(transactions, clock, self.presence, most=MOST, with_over=False)
        with transactions.read() as connection:
            missed = self._missed(connection, seen)
            return _Night(connection, span, seen, missed).report(self.clock)

    def _missed(self, connection: Connection, seen: Overview) -> Sequence[IncidentSign]:
        """Return what should have come, begun or ended by now, whether a controller is there that says so or not.

        When files usually come is learned only where none is: a leader has learned that, and opened incidents by it.
        """
        learns, now = self.rules.learns_arrivals and not seen.controllers, seen.now
        awaited, clock = ExpectedWork(replace(self.rules, learns_arrivals=learns)), self.timetable.clock
        until = clock.monotonic() + reporting.PATIENCE.total_seconds()
        awaited.learn(connection, now, clock.monotonic(), lambda: clock.monotonic() >= until)
        return awaited.missed_now(connection, now, clock.monotonic())


@dataclass
class _Night:
    """What all parts of a report go by."""

    connection: Connection
    span: NightSpan
    seen: Overview
    missed: Sequence[IncidentSign]

    def report(self, clock: WallClock) -> NightReport:
        """Put the parts together."""
        opened, late, failed = [*self.open()], [*self.late()], [*self.failed()]
        verdict = NightVerdict(
            span=self.span,
            complete=sum(one.is_complete for one in self.instances),
            mended=sum(one.is_mended for one in self.instances),
            went_on=sum(one.is_complete and any(not each.is_mended for each in one.failures) for one in self.instances),
            late=len(late),
            stands_open=len(opened) + self.more_open,
            is_cut=self.is_cut,
        )
        since = f"{self.span.since:%Y-%m-%d %H:%M}"
        guarded = self.guarded
        acts = [MendingAct(entry=one, batch=self.batch_acted_on(one)) for one in self.acts]
        order = {batch_id: at for at, batch_id in enumerate(self.batches)}
        nights = night_summary.batches_of(self.instances)
        nights.sort(key=lambda one: (not (one.failed or one.mended), order.get(one.batch_id, len(order))))
        ran = [NightLine(batch=self.name_of(one.batch_id), night=one) for one in nights]
        everything = f"batchctl report night --since '{since}' --json"
        parts = (
            part("Open", night_lists.OPEN, opened, "batchctl status", more=self.more_open),
            part("Failed", night_lists.FAILED, failed, f"batchctl history --status failed --since '{since}'"),
            part("Acts", night_lists.MENDED, acts, f"batchctl audit --since '{since}'"),
            part("Late", night_lists.LATE, late, "batchctl report late"),
            part("Longer", night_lists.LONG, [*self.long()], "batchctl report durations"),
            part("NotArrived", reporting.MISSED, self.not_arrived, "batchctl report late"),
            part("Rows", night_lists.ROWS, [*self.rows()], everything, more=max(len(guarded) - GUARDED, 0)),
            part("Forecasts", night_lists.FORESEEN, [*self.foreseen()], "batchctl forecast --check"),
            part("Ran", night_lists.RAN, ran, everything),
        )
        return NightReport(
            verdict=verdict.wording(clock),
            span=self.span,
            now=self.seen.now,
            parts=parts,
            notes=tuple(self.notes()),
            next_steps=_next_steps(opened),
        )

    @cached_property
    def read(self) -> list[NightAttempt]:
        return night_rows.attempts_since(self.connection, self.span.since, ATTEMPTS)

    @cached_property
    def instances(self) -> list[NightInstance]:
        return night_summary.instances_of(self.read, self.span)

    @property
    def is_cut(self) -> bool:
        """Say whether there may be more attempts of the night than were read."""
        return len(self.read) == ATTEMPTS and self.read[-1].started_at > self.span.since

    @cached_property
    def batches(self) -> Mapping[BatchId, BatchDefinition]:
        return {batch.batch_id: batch for batch in definitions.all_batches(self.connection)}

    @cached_property
    def acts(self) -> list[AuditEntry]:
        until = NEVER if self.span.is_open else self.span.until
        return night_rows.acts_between(self.connection, self.span.since, until, MENDING, ACTS)

    @cached_property
    def acted_on(self) -> Mapping[str, str]:
        """Name the batches of the instances that people did something to, by the targets of the audit log."""
        numbers = sorted({InstanceId(int(number)) for one in self.acts if (number := _number(one.target)) is not None})
        pages = (numbers[at : at + instances.MOST_LOADED] for at in range(0, len(numbers), instances.MOST_LOADED))
        found = [one for page in pages for one in instances.these(self.connection, page)]
        return {audit_entries.instance_target(one.instance_id): self.name_of(one.batch_id) for one in found}

    def batch_acted_on(self, entry: AuditEntry) -> str | None:
        return self.acted_on.get(entry.target)

    def name_of(self, batch_id: BatchId) -> str:
        batch = self.batches.get(batch_id)
        return f"(ProcessBatch {batch_id}, which cannot be read)" if batch is None else batch.name

    @cached_property
    def standing(self) -> list[Incident]:
        return incident_rows.standing(self.connection)

    @cached_property
    def not_arrived(self) -> list[IncidentSign]:
        """Return what has not arrived: as it is now, and as incidents say."""
        found = [one for one in self.missed if one.kind is IncidentKind.NOT_ARRIVED]
        known = {one.key for one in found}
        others = [one for one in self.standing if one.kind is IncidentKind.NOT_ARRIVED and one.key not in known]
        return [
            *found,
            *(
                IncidentSign(
                    kind=one.kind,
                    subject=one.subject,
                    message=one.message,
                    since=one.opened_at,
                    next_step=one.next_step,
                    batch_id=one.batch_id,
                )
                for one in others
            ),
        ]

    @property
    def failing(self) -> list[FailingInstance]:
        return [one for one in self.seen.failing if one.instance.status in _STANDS]

    @cached_property
    def paused(self) -> list[BatchInstance]:
        return reports.open_in(self.connection, (InstanceStatus.PAUSED,), MOST)

    @property
    def pauses(self) -> Mapping[str, AuditEntry]:
        """Return who has paused each of them last, by the targets of the audit log."""
        targets = [audit_entries.instance_target(one.instance_id) for one in self.paused]
        return {one.target: one for one in audit_entries.of_targets(self.connection, targets, ("pause",))}

    @property
    def more_open(self) -> int:
        """Return how many instances stand, or are paused, beyond those that were read."""
        statuses = (*_STANDS, InstanceStatus.PAUSED)
        read = len(self.failing) + len(self.paused)
        return max(sum(self.seen.instances.get(status, 0) for status in statuses) - read, 0)

    def open(self) -> Iterator[OpenMatter]:
        """Yield what waits for a person, the gravest first."""
        asked = {one.question.instance_id: one for one in self.seen.asked}
        for one in self.failing:
            yield OpenMatter(
                what=one.instance.status.value,
                subject=one.batch,
                instance_id=one.instance.instance_id,
                since=one.instance.updated_at,
                message=one.wording,
                next_step=one.clear,
            )
        by_whom = self.pauses
        for instance in self.paused:
            question = asked.get(instance.instance_id)
            act = by_whom.get(audit_entries.instance_target(instance.instance_id))
            said = None if act is None else f"paused by {act.actor}: {act.reason or '-'}"
            yield OpenMatter(
                what="paused" if question is None else "asks",
                subject=self.name_of(instance.batch_id),
                instance_id=instance.instance_id,
                since=instance.updated_at,
                message=said if question is None else question.question.question,
                next_step=_RESUME.format(id=instance.instance_id) if question is None else question.clear,
            )
        late = {one.entry.instance_id for one in self.seen.running if one.is_late}
        for running in self.seen.running:
            if running.is_late:
                yield OpenMatter(
                    what="late",
                    subject=running.batch,
                    instance_id=running.entry.instance_id,
                    since=running.entry.started_at,
                    message=f"step {running.entry.seq} '{visible(running.entry.step_name)}' runs longer than AlarmDuration",
                    next_step=f"batchctl show {running.entry.instance_id}",
                )
        for sign in self.missed:
            yield OpenMatter(
                what="late", subject=sign.subject, since=sign.since, message=sign.message, next_step=sign.next_step
            )
        yield from self._incidents({*asked}, late)

    def _incidents(self, asked: set[InstanceId], late: set[InstanceId]) -> Iterator[OpenMatter]:
        """Yield the incidents about nothing that is named already."""
        keys = {sign.key for sign in self.missed}
        others = [
            one
            for one in self.standing
            if one.kind not in OF_AN_INSTANCE
            and one.key not in keys
            and not (one.kind is IncidentKind.UNANSWERED and one.instance_id in asked)
            and not (one.kind is IncidentKind.TOO_LONG and one.instance_id in late)
        ]
        for one in (*incident_desk.with_reasons(self.connection, others[:MOST]), *others[MOST:]):
            yield OpenMatter(
                what="late" if one.kind in _DEADLINES else "incident",
                subject=one.subject,
                instance_id=one.instance_id,
                incident_id=one.incident_id,
                since=one.opened_at,
                message=one.message,
                next_step=one.next_step or f"batchctl acknowledge {one.incident_id} --reason ...",
            )

    def foreseen(self) -> Iterator[ForecastLine]:
        """Yield of each batch what was said first of this night, and when it was ready; what was not as said first.

        What is due after the night stands last, and what is due later than the next night not at all.
        """
        soon = self.span.until + (self.span.until - self.span.since)
        found = [
            ForecastLine(
                batch=self.name_of(one.batch_id),
                first=one,
                ready_on=one.ready_on
                or kept_forecasts.end_of(self.connection, one.batch_id, one.cycle_key, one.made_on),
                until=self.span.until,
            )
            for one in [*self._first_forecasts().values()][:MOST]
        ]
        yield from sorted(
            (one for one in found if one.outcome != NOT_DUE or (one.first.median or soon) <= soon),
            key=lambda one: (
                one.outcome == NOT_DUE,
                one.outcome == AS_FORETOLD,
                -abs(one.later_by or timedelta(0)),
                one.batch,
            ),
        )

    def _first_forecasts(self) -> Mapping[BatchId, KeptForecast]:
        """Return of each batch the first forecast of what was due in this night, else the first."""
        kept = kept_forecasts.of_hours(self.connection, self.span.since, self.span.until)
        foretold = [one for one in kept if one.median is not None]
        of_this_night = [one for one in foretold if one.median is not None and one.median <= self.span.until]
        firsts: dict[BatchId, KeptForecast] = {}
        for one in (*of_this_night, *foretold):
            firsts.setdefault(one.batch_id, one)
        return firsts

    def failed(self) -> Iterator[FailedStep]:
        """Yield the steps that failed for good, those that were not mended first."""
        acts = {one.target: one for one in self.acts}
        found = [failure for one in self.instances for failure in one.failures]
        for failure in sorted(found, key=lambda one: (one.is_mended, one.first.history_id)):
            yield FailedStep(
                batch=self.name_of(failure.first.batch_id),
                failure=failure,
                act=acts.get(audit_entries.instance_target(failure.first.instance_id)),
            )

    def late(self) -> Iterator[LateWork]:
        """Yield the deadlines that passed in vain within the night: by the incidents about them, else as it is now."""
        known = {one.key: one for one in incident_rows.newest(self.connection, INCIDENTS) if one.kind in _DEADLINES}
        for incident in sorted(known.values(), key=lambda one: one.opened_at):
            if self.span.holds(incident.opened_at):
                over = incident.resolved_at or self.seen.now
                yield LateWork(
                    what=_DEADLINES[incident.kind],
                    subject=incident.subject,
                    by=incident.opened_at,
                    late_by=max(over - incident.opened_at, timedelta(0)),
                    stands=incident.is_standing,
                    message=incident.message,
                )
        for sign in self.missed:
            if sign.key not in known and self.span.holds(sign.since):
                yield LateWork(
                    what=_DEADLINES[sign.kind],
                    subject=sign.subject,
                    by=sign.since,
                    late_by=max(self.seen.now - sign.since, timedelta(0)),
                    stands=True,
                    message=sign.message,
                )

    @property
    def attempts(self) -> Iterator[NightAttempt]:
        """Yield the attempts that have ended within the night."""
        return (each for one in self.instances for each in one.attempts)

    def long(self) -> Iterator[LongLine]:
        """Yield the steps that took longer than ExpectedDuration says."""
        over = defaultdict[tuple[BatchId, int], list[NightAttempt]](list)
        for one in self.attempts:
            if night_summary.is_over(one, self._expected(one.batch_id, one.seq)):
                over[one.batch_id, one.seq].append(one)
        for (batch_id, seq), found in over.items():
            long = LongStep(
                batch_id=batch_id,
                seq=seq,
                step_name=found[-1].step_name,
                over=len(found),
                longest=max(one.took or timedelta(0) for one in found),
                expected=self._expected(batch_id, seq) or timedelta(0),
            )
            yield LongLine(batch=self.name_of(batch_id), long=long)

    def _expected(self, batch_id: BatchId, seq: int) -> timedelta | None:
        batch = self.batches.get(batch_id)
        step = None if batch is None else batch.step_at(seq)
        return None if step is None else step.expected_duration

    @cached_property
    def guarded(self) -> list[NightAttempt]:
        """Return the attempts at steps that have a number of rows to keep to, unusual ones first."""
        found = [
            one for one in self.attempts if one.is_unusual or (one.rows_affected is not None and self._guards(one))
        ]
        return sorted(found, key=lambda one: (not one.is_unusual, one.history_id))

    def _guards(self, one: NightAttempt) -> bool:
        batch = self.batches.get(one.batch_id)
        step = None if batch is None else batch.step_at(one.seq)
        return step is not None and step.counts_rows

    def rows(self) -> Iterator[GuardedRows]:
        """Yield how many rows steps had, and should have: as was found then, of usual ones as it is now."""
        for one in self.guarded[:GUARDED]:
            yield GuardedRows(batch=self.name_of(one.batch_id), attempt=one, expected=self._band(one))

    def _band(self, one: NightAttempt) -> str:
        if one.is_unusual:
            return warning_in(one.message) or one.message or ""
        step = self.batches[one.batch_id].step_at(one.seq)
        if step is None:
            return ""
        counts = row_counts.of_step(self.connection, step, days_like(None, one.started_at))
        band = band_of(step, counts)
        return "nothing is learned yet" if band is None else band.wording

    def notes(self) -> Iterator[str]:
        """Yield what else has to be known."""
        if not self.seen.controllers:
            yield "No controller works now: batchctl run"
        if not self.span.is_open and self.seen.now - self.span.until > LATE:
            yield f"It was due at {self.span.until:%Y-%m-%d %H:%M} UTC, and could not be made before."
        if self.is_cut:
            yield f"Only the newest {ATTEMPTS} attempts were looked at; counts and lists are of these."


def part(
    name: str,
    columns: ColumnList[Any],
    rows: Sequence[object],
    all_of_them: str,
    *,
    more: int = 0,
) -> ReportPart:
    """Return a part of the report, with as many rows as programs get."""
    return ReportPart(name=name, columns=columns, rows=rows[:MOST], whole=len(rows) + more, more=all_of_them)


def _next_steps(opened: Sequence[OpenMatter]) -> tuple[str, ...]:
    steps = [one.next_step for one in opened[:SHOWN] if one.next_step]
    return tuple(dict.fromkeys(steps[:1] or ["batchctl status"]))


def _number(target: str) -> int | None:
    """Return the number of the instance that the audit log names."""
    number = target.removeprefix(_OF_INSTANCE)
    return int(number) if number != target and number.isascii() and number.isdecimal() else None
