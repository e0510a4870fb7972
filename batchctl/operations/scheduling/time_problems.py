"""Everything wrong with schedules, calendars and modes at once: for `check`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from batchctl.domain.definitions.declared import correct_decorator, job_of
from batchctl.domain.definitions.reconciling import TIMING, owner_in
from batchctl.domain.outcomes import Problem
from batchctl.domain.rows import BatchDefinition, DataTrigger
from batchctl.domain.scheduling.schedules import Backfill, Schedule
from batchctl.domain.text import visible
from batchctl.operations.scheduling.schedule_problems import (
    calendar_problems,
    mode_problems,
    remedy_of,
    schedule_problems,
    schedule_warnings,
)
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store.scheduling import backfills, calendars, schedules

_OR_CANCEL = "correct the row in an SQL client, or set its Status to cancelled there"
_SAID = "The row holds nonsense, so it starts nothing"

Row = tuple[str, str, Problem]
"""Table, row, and what is wrong with it."""


def time_problems(
    connection: Any, table: Timetable, batches: Sequence[BatchDefinition], triggers: Sequence[DataTrigger]
) -> Iterator[Row]:
    """Yield what is wrong with each schedule, calendar and mode."""
    around = table.around(connection)
    timed, broken = schedules.everything(connection)
    known = calendars.everything(connection)
    for row in broken:
        yield row.table, str(row.row_id), Problem(row.column, f"{_SAID}: {visible(row.said)}.", row.mend)
    for schedule in timed:
        wrong = list(schedule_problems(schedule, around))
        for problem in wrong:
            mended = replace(problem, remedy=remedy_of(schedule, problem, wrong))
            yield "Schedule", visible(schedule.name), _of_job(schedule, mended)
        for problem in schedule_warnings(schedule, around):
            yield "Schedule", visible(schedule.name), problem
    for calendar in known:
        users = [one for one in timed if one.timing.calendar_name == calendar.name]
        for problem in calendar_problems(calendar, users, around.today):
            yield "Calendar", visible(calendar.name), problem
    for day_id, calendar_id in calendars.strays(connection).items():
        said = f"There is no Calendar {calendar_id}, so nobody goes by this day."
        yield "CalendarDay", str(day_id), Problem("Calendar_id", said, calendars.sql_to_delete(day_id))
    running, unreadable = backfills.running(connection)
    for row in unreadable:
        yield row.table, str(row.row_id), Problem(row.column, f"{_SAID}: {visible(row.said)}.", _OR_CANCEL)
    for backfill in running:
        if backfill.last > around.now:
            yield "ScheduleBackfill", str(backfill.backfill_id), _ahead(backfill)
    for batch in batches:
        for problem in mode_problems(batch, batches, timed, triggers):
            yield "ProcessBatch", visible(batch.name), problem


_OF_THE_CODE = frozenset({"", "Entity", "ScheduleName", *TIMING})
"""Columns of a job's schedule that are overwritten by what its code says."""


def _of_job(schedule: Schedule, problem: Problem) -> Problem:
    """Send who looks at a job's schedule to its code: what he writes into the row by hand does not stay."""
    is_of_code = owner_in(schedule.origin) is not None and problem.column in _OF_THE_CODE
    by_hand = problem.remedy is None or problem.remedy.startswith(
        ("batchctl schedule set ", "correct it where it is declared")
    )
    if not is_of_code or not by_hand:
        return problem
    return replace(problem, remedy=correct_decorator(job_of(schedule.name)))


def _ahead(backfill: Backfill) -> Problem:
    said = (
        f"{backfill.last:%Y-%m-%d %H:%M:%S} UTC is still to come: a backfill is for due times that are over, so this one"
        " takes none before its time and stays running until then."
    )
    return Problem("UntilTime", said, f"batchctl backfill cancel {backfill.backfill_id} --reason ...")
