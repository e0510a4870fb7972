"""Everything wrong with schedules, calendars and modes at once: for `check`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from batchctl.domain.definitions.declared import correct_decorator, job_of
from batchctl.domain.definitions.reconciling import TIMING, owner_in
from batchctl.domain.outcomes import Finding
from batchctl.domain.rows import BatchDefinition, DataTrigger
from batchctl.domain.scheduling.schedules import Backfill, Schedule
from batchctl.domain.text import visible
from batchctl.operations.scheduling.schedule_findings import (
    calendar_findings,
    mode_findings,
    remedy_of,
    schedule_findings,
    schedule_warnings,
)
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store import Connection
from batchctl.store.scheduling import backfills, calendars, schedule_rows

_OR_CANCEL = "correct the row in an SQL client, or set its Status to cancelled there"
_WORDING = "The row holds nonsense, so it starts nothing"

Row = tuple[str, str, Finding]
"""Table, row, and what is wrong with it."""


def time_findings(
    connection: Connection, table: Timetable, batches: Sequence[BatchDefinition], triggers: Sequence[DataTrigger]
) -> Iterator[Row]:
    """Yield what is wrong with each schedule, calendar and mode."""
    context = table.context(connection)
    timed, broken = schedule_rows.everything(connection)
    known = calendars.everything(connection)
    for row in broken:
        yield row.table, str(row.row_id), Finding(row.column, f"{_WORDING}: {visible(row.wording)}.", row.mend)
    for schedule in timed:
        wrong = list(schedule_findings(schedule, context))
        for finding in wrong:
            mended = replace(finding, remedy=remedy_of(schedule, finding, wrong))
            yield "Schedule", visible(schedule.name), _of_job(schedule, mended)
        for finding in schedule_warnings(schedule, context):
            yield "Schedule", visible(schedule.name), finding
    for calendar in known:
        users = [one for one in timed if one.timing.calendar_name == calendar.name]
        for finding in calendar_findings(calendar, users, context.today):
            yield "Calendar", visible(calendar.name), finding
    for day_id, calendar_id in calendars.strays(connection).items():
        said = f"There is no Calendar {calendar_id}, so no schedule goes by this day."
        yield "CalendarDay", str(day_id), Finding("Calendar_id", said, calendars.sql_to_delete(day_id))
    running, unreadable = backfills.running(connection)
    for row in unreadable:
        yield row.table, str(row.row_id), Finding(row.column, f"{_WORDING}: {visible(row.wording)}.", _OR_CANCEL)
    for backfill in running:
        if backfill.last > context.now:
            yield "ScheduleBackfill", str(backfill.backfill_id), _ahead(backfill)
    for batch in batches:
        for finding in mode_findings(batch, batches, timed, triggers):
            yield "ProcessBatch", visible(batch.name), finding


_OF_THE_CODE = frozenset({"", "Entity", "ScheduleName", *TIMING})
"""Columns of a job's schedule that are overwritten by what its code says."""


def _of_job(schedule: Schedule, finding: Finding) -> Finding:
    """Name the code as what to correct in a job's schedule: what is written into the row by hand does not stay."""
    is_of_code = owner_in(schedule.origin) is not None and finding.column in _OF_THE_CODE
    by_hand = finding.remedy is None or finding.remedy.startswith(
        ("batchctl schedule set ", "correct it where it is declared")
    )
    if not is_of_code or not by_hand:
        return finding
    return replace(finding, remedy=correct_decorator(job_of(schedule.name)))


def _ahead(backfill: Backfill) -> Finding:
    said = (
        f"{backfill.last:%Y-%m-%d %H:%M:%S} UTC is still to come: a backfill is for due times that are over, so this one"
        " takes none before its time and stays running until then."
    )
    return Finding("UntilTime", said, f"batchctl backfill cancel {backfill.backfill_id} --reason ...")
