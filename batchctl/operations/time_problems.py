"""Everything wrong with schedules, calendars and modes at once: for `check`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from batchctl.domain.outcomes import Problem
from batchctl.domain.rows import BatchDefinition, DataTrigger
from batchctl.domain.text import visible
from batchctl.operations.schedule_problems import (
    calendar_problems,
    mode_problems,
    remedy_of,
    schedule_problems,
    schedule_warnings,
)
from batchctl.operations.timetable import Timetable
from batchctl.store import calendars, schedules

_SAID = {
    "Schedule": "The row holds nonsense, so it starts nothing",
    "Calendar": "The row holds nonsense, so no schedule that names it starts anything",
    "CalendarDay": "The row holds nonsense, so no schedule that names its calendar starts anything",
}

Row = tuple[str, str, Problem]
"""Table, row, and what is wrong with it."""


def time_problems(
    connection: Any, table: Timetable, batches: Sequence[BatchDefinition], triggers: Sequence[DataTrigger]
) -> Iterator[Row]:
    """Yield what is wrong with each schedule, calendar and mode."""
    around = table.around(connection)
    timed, broken = schedules.everything(connection)
    known, broken_calendars = calendars.everything(connection)
    for row in (*broken, *broken_calendars):
        yield row.table, str(row.row_id), Problem("", f"{_SAID[row.table]}: {visible(row.message)}.")
    for schedule in timed:
        wrong = list(schedule_problems(schedule, around))
        for problem in wrong:
            yield "Schedule", visible(schedule.name), replace(problem, remedy=remedy_of(schedule, problem, wrong))
        for problem in schedule_warnings(schedule, around):
            yield "Schedule", visible(schedule.name), problem
    for calendar in known:
        users = [one for one in timed if one.timing.calendar_name == calendar.name]
        for problem in calendar_problems(calendar, users, around.today):
            yield "Calendar", visible(calendar.name), problem
    for batch in batches:
        for problem in mode_problems(batch, batches, timed, triggers):
            yield "ProcessBatch", visible(batch.name), problem
