"""What is wrong with a schedule, a calendar or a batch's mode: for `check`, `schedule list` and what writes one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from batchctl.domain.definitions import sql_jobs
from batchctl.domain.outcomes import Finding
from batchctl.domain.placeholders import MalformedTemplate, Placeholder, parse
from batchctl.domain.rows import BatchDefinition, DataTrigger, Step
from batchctl.domain.scheduling import catch_up, due
from batchctl.domain.scheduling.business_days import running_out, to_import
from batchctl.domain.scheduling.due import Plan, UnfitTiming
from batchctl.domain.scheduling.modes import is_scheduled, is_triggered, lets_schedules, mode_word, takers_of
from batchctl.domain.scheduling.schedule_columns import option_of
from batchctl.domain.scheduling.schedules import Calendar, Schedule, Timing
from batchctl.domain.scheduling.timing_text import run_at
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.domain.status import ProcessingMode
from batchctl.domain.text import capitalized, is_invisible, nearest, typed, unfit, visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations.scheduling import almanac
from batchctl.operations.taken_entities import entity_findings
from batchctl.store.intake import data_triggers

OPERATORS = {"CatchUp", "CatchUpMost", "Overlap", "Jitter", "Description"}
"""Columns that are the operator's own, whatever writes the row."""
OR_DISABLE = "   (or, in place of set: disable)"
"""Ends the remedy of what is never due again."""
_NO_TRIGGER = "insert a row into DataTrigger, or: batchctl mode --help"
_PATTERN = "pattern"
_COMMAND = "os_command"
_FILLED = (1, 2, 4)
"""Data columns of a command that are filled wholly: a placeholder without a value fails the step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleContext:
    """What a schedule's row has to fit."""

    zone: str
    """The business time zone, which schedules go by that name none."""
    now: datetime
    batches: Sequence[BatchDefinition]
    calendars: Mapping[str, Calendar]
    unreadable: Sequence[UnreadableRow] = ()
    """What of the batches cannot be read."""

    @property
    def today(self) -> date:
        """Return today's date in the business time zone."""
        return clock_of(self.zone).day_of(self.now)

    def calendar_of(self, timing: Timing) -> Calendar | None:
        """Return the calendar that a timing goes by, if it names one that there is."""
        return None if timing.calendar_name is None else self.calendars.get(timing.calendar_name)

    def plan_of(self, timing: Timing) -> Plan | None:
        """Return when a timing is due; None when it cannot be understood."""
        try:
            return due.plan_of(timing, self.zone, self.calendar_of(timing))
        except UnfitTiming:
            return None


def schedule_findings(schedule: Schedule, context: ScheduleContext) -> Iterator[Finding]:
    """Yield what keeps a schedule from starting work, or lets it start less than somebody expects."""
    yield from _of_texts(schedule)
    yield from _of_entity(schedule, context)
    timing = due.findings(schedule.timing, context.zone, context.calendar_of(schedule.timing), context.calendars)
    yield from (_with_calendar(schedule.timing, finding, context) for finding in timing)
    yield from _of_policies(schedule)
    if not timing and schedule.enabled:
        yield from _of_due_times(schedule, context)


def never_due(timing: Timing, decided_until: datetime | None, context: ScheduleContext) -> str | None:
    """Say why what a job's code says is never due, from what is decided on; None when it is."""
    finding = next(iter(due.findings(timing, context.zone, context.calendar_of(timing), context.calendars)), None)
    if finding is not None:
        return f"{finding.message} It never starts anything."
    plan = context.plan_of(timing)
    if plan is None or _is_due_again(plan, decided_until, context):
        return None
    at = run_at(timing)
    if at is None:
        return "It is never due, so it never starts anything."
    return f"Its only time, {at:%Y-%m-%d %H:%M}, is over or skipped, so it never starts anything."


def schedule_warnings(schedule: Schedule, context: ScheduleContext) -> Iterator[Finding]:
    """Yield what will fail once a schedule has started it; a schedule is made all the same."""
    for batch in takers_of(schedule.entity, context.batches) if schedule.enabled else ():
        # With PopulatorArgs nothing comes of it at all, which is said elsewhere.
        plain = batch.populator == _PATTERN and not batch.populator_args
        empty = {"FileName", "Data1", "Data2"} if plain else {"FileName"}
        for step in batch.steps:
            used = [f"{{{name}}}" for name in _placeholders(step) if name in empty]
            if used:
                said = f"Step {step.seq} of {visible(batch.name)} uses {', '.join(used)}; a schedule brings none, so it fails."
                yield Finding("Entity", said, f"correct the step, or start {visible(batch.name)} by files only")


def remedy_of(schedule: Schedule, finding: Finding, others: Collection[Finding]) -> str | None:
    """Return what mends a finding of a row that is there; None where that takes an SQL client.

    The row is looked through wholly again, so one command names all columns that are wrong.
    """
    is_kept = schedule.origin not in {None, sql_jobs.ORIGIN}
    if finding.column == "CalendarName" and finding.remedy is not None and not is_kept:
        other = f"batchctl schedule set {typed(schedule.name)} --calendar-name ... --reason ..."
        return f"{finding.remedy}   (or: {other})"
    if not _is_set(finding):
        return finding.remedy
    if is_kept and finding.column not in OPERATORS:
        return finding.remedy or f"correct it where it is declared: {visible(schedule.origin or '')}"
    wrong = [one for one in others if _is_set(one) and (not is_kept or one.column in OPERATORS)]
    columns = list(dict.fromkeys(one.column for one in wrong))
    if "ScheduleName" in columns or visible(schedule.name) != schedule.name:
        return None
    if finding.remedy is not None and columns == [finding.column]:
        return finding.remedy
    options = " ".join(f"{option_of(column)} ..." if column else "..." for column in columns)
    return f"batchctl schedule set {typed(schedule.name)} {options} --reason ..."


def _is_set(finding: Finding) -> bool:
    """Say whether it is another value in its own row that mends it."""
    return finding.remedy is None or finding.remedy.startswith("batchctl schedule set ")


def calendar_findings(calendar: Calendar, users: Iterable[Schedule], today: date) -> Iterator[Finding]:
    """Yield what is wrong with a calendar, and whether it ends soon though some schedule goes by it."""
    for finding in _of_name("CalendarName", calendar.name):
        yield replace(finding, remedy=almanac.to_correct(calendar, finding.column))
    yield from almanac.faults(calendar)
    ends = running_out(calendar, today)
    names = [visible(schedule.name) for schedule in users if schedule.enabled]
    if ends is not None and names:
        said = f"{capitalized(ends)}. Schedule {', '.join(names)} {'uses' if len(names) == 1 else 'use'} it."
        yield Finding("ValidUntil", said, almanac.to_extend(calendar, today))


def mode_findings(
    batch: BatchDefinition,
    batches: Sequence[BatchDefinition],
    schedules: Iterable[Schedule],
    triggers: Iterable[DataTrigger],
) -> Iterator[Finding]:
    """Yield what does not fit a batch's mode: nothing that starts it, or something that should not."""
    if batch.mode is None:
        return
    takers = takers_of(batch.entity, batches)
    every_timed = [one for one in schedules if one.entity == batch.entity]
    every_trigger = [one for one in triggers if one.entity == batch.entity]
    timed, rows = [one for one in every_timed if one.enabled], [one for one in every_trigger if one.enabled]
    name = visible(batch.name)
    if batch.mode is ProcessingMode.SCHEDULED and not timed:
        message = f"No enabled schedule is of its entity '{visible(batch.entity)}', so no time starts it."
        yield Finding("ProcessingMode", message, _to_have_schedule(batch, every_timed))
    if batch.mode is ProcessingMode.TRIGGERED and not rows:
        message = f"No enabled trigger is of its entity '{visible(batch.entity)}', so no rows start it."
        yield Finding("ProcessingMode", message, _to_have_trigger(every_trigger))
    yield from _disagreeing(batch, takers, is_scheduled, timed)
    yield from _disagreeing(batch, takers, is_triggered, rows)
    if rows and not any(is_triggered(one.mode) for one in takers):
        message = f"Trigger {_names(rows)} is enabled, but the mode of {name} is {batch.mode}, so it starts nothing."
        yield Finding(
            "ProcessingMode", message, f"batchctl mode {typed(name)} {batch.mode} --reason ...   (disables it)"
        )


def _to_have_schedule(batch: BatchDefinition, disabled: Sequence[Schedule]) -> str:
    add = f"batchctl schedule add NAME --entity {typed(batch.entity)} ..."
    return f"batchctl schedule enable {typed(disabled[0].name)} --reason ...   (or: {add})" if disabled else add


def _to_have_trigger(disabled: Sequence[DataTrigger]) -> str:
    return data_triggers.sql_to_enable(disabled[0]) if disabled else _NO_TRIGGER


def _disagreeing(
    batch: BatchDefinition,
    takers: Sequence[BatchDefinition],
    lets: Callable[[ProcessingMode | None], bool],
    starters: Sequence[Schedule] | Sequence[DataTrigger],
) -> Iterator[Finding]:
    """Yield what starts a batch whose own mode does not let it, because another batch of its entity does."""
    if lets(batch.mode) or not starters:
        return
    others = [visible(one.name) for one in takers if lets(one.mode)]
    if others:
        kind = "schedule" if isinstance(starters[0], Schedule) else "trigger"
        message = (
            f"Its mode is {batch.mode}, but {kind} {_names(starters)} starts it all the same, with {', '.join(others)},"
            f" whose entity is '{visible(batch.entity)}' too."
        )
        yield Finding("ProcessingMode", message, "give them different entities, or one mode: batchctl mode --help")


def _names(starters: Sequence[Schedule] | Sequence[DataTrigger]) -> str:
    return ", ".join(visible(one.name) for one in starters)


def _of_name(column: str, text: str) -> Iterator[Finding]:
    if any(map(is_invisible, text)):
        yield Finding(column, f"It holds an invisible character: '{visible(text)}'.")
    elif text != text.strip():
        yield Finding(column, f"It begins or ends with a blank: '{visible(text)}'.")


def _placeholders(step: Step) -> list[str]:
    """Return the names that a command is filled with, each once."""
    if step.process_type != _COMMAND:
        return []
    found = list[str]()
    for column in _FILLED:
        try:
            template = parse(step.data[column - 1] or "")
        except MalformedTemplate:
            continue
        found += [part.name for part in template if isinstance(part, Placeholder)]
    return list(dict.fromkeys(found))


def _of_texts(schedule: Schedule) -> Iterator[Finding]:
    for column, text in (("ScheduleName", schedule.name), ("Entity", schedule.entity)):
        yield from _of_name(column, text)
    failure = None if schedule.description is None else unfit(schedule.description)
    if failure is not None:
        yield Finding("Description", f"It cannot be used: {failure}.")


def _of_entity(schedule: Schedule, context: ScheduleContext) -> Iterator[Finding]:
    takers = takers_of(schedule.entity, context.batches)
    if schedule.enabled and not lets_schedules(takers):
        modes = ", ".join(f"{visible(batch.name)} is {mode_word(batch.mode)}" for batch in takers)
        what = f"No batch of entity '{visible(schedule.entity)}' lets schedules start it"
        remedy = f"batchctl mode {typed(takers[0].name)} scheduled --reason ..."
        yield Finding("Entity", f"{what}, so it is left alone: {modes}.", remedy)
    yield from entity_findings(schedule.entity, context.batches, context.unreadable, "a schedule")


def _of_policies(schedule: Schedule) -> Iterator[Finding]:
    """Yield what the database itself would refuse, before it is asked."""
    if (schedule.catch_up.value == "up_to") is not (schedule.catch_up_most is not None):
        said = "CatchUp up_to needs it; write for example 3."
        yield Finding("CatchUpMost", said if schedule.catch_up_most is None else "Only CatchUp up_to has it; empty it.")
    elif schedule.catch_up_most is not None and not 1 <= schedule.catch_up_most <= 1000:
        yield Finding("CatchUpMost", f"{schedule.catch_up_most} is not between 1 and 1000.")
    seconds = int(schedule.jitter.total_seconds())
    if not 0 <= seconds <= 86400:
        yield Finding("Jitter", f"{seconds} is not between 0 and 86400 seconds.")


def _of_due_times(schedule: Schedule, context: ScheduleContext) -> Iterator[Finding]:
    plan = context.plan_of(schedule.timing)
    if plan is None or _is_due_again(plan, schedule.decided_until, context):
        return
    name = typed(schedule.name)
    at = run_at(schedule.timing)
    if at is not None:
        said = f"Its only time, {at:%Y-%m-%d %H:%M}, is over or skipped, so it never starts anything."
        remedy = f"batchctl schedule set {name} --run-at ... --reason ...{OR_DISABLE}"
        yield Finding("RunAt", said, remedy)
        return
    remedy = f"batchctl schedule set {name} ... --reason ...{OR_DISABLE}"
    yield Finding("", "It is never due again, so it never starts anything.", remedy)


def _with_calendar(timing: Timing, finding: Finding, context: ScheduleContext) -> Finding:
    """Say how a calendar is made that there is not, unless a name was only misspelt."""
    name = timing.calendar_name
    if (
        finding.column != "CalendarName"
        or name is None
        or name in context.calendars
        or nearest(name, context.calendars)
    ):
        return finding
    return replace(finding, remedy=to_import(name, str(context.today.year)))


def _is_due_again(plan: Plan, decided_until: datetime | None, context: ScheduleContext) -> bool:
    """Say whether anything is due behind what is decided; like a controller, look no farther back than `LONGEST`."""
    begun = min(decided_until or context.now, context.now)
    return plan.next_after(max(begun, context.now - catch_up.LONGEST)) is not None
