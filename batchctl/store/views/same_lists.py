"""The statements that show in an SQL client what a list of the console shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from batchctl.domain.errors import InvalidInput
from batchctl.domain.text import visible

_INBOX = ("SELECT * FROM vInbox ORDER BY FileProcess_id DESC;",)
STATEMENTS: Mapping[str, tuple[str, ...]] = {
    "Running": ("SELECT * FROM vRunning ORDER BY StartTime;",),
    "Failed, held, to be tried again": (
        "SELECT * FROM vFailed ORDER BY BatchControl_id;",
        "SELECT * FROM vWaiting WHERE Status = 'retry' ORDER BY BatchControl_id;",
    ),
    "Waiting": ("SELECT * FROM vWaiting WHERE Status IN ('ready', 'paused') ORDER BY BatchControl_id;",),
    "Waiting for others": ("SELECT * FROM vWaiting WHERE Status = 'dependency' ORDER BY ProcessBatchName;",),
    "Waiting for a person": ("SELECT * FROM Confirmation WHERE Answer IS NULL ORDER BY Confirmation_id;",),
    "Late": ("SELECT * FROM vLate ORDER BY LateSeconds DESC;",),
    "Completed last": (
        "SELECT ProcessBatchName, LastComplete_id, LastCompleteTime FROM vStatus ORDER BY LastCompleteTime DESC;",
    ),
    "Due next": ("SELECT * FROM vSchedule ORDER BY NextRunTime;",),
    "Disabled batches with open instances": ("SELECT * FROM vStatus WHERE Status = 'disabled' ORDER BY Seq;",),
    "Rows that nothing came of": _INBOX,
    "Rows that are not work": _INBOX,
    "Attempts": ("SELECT * FROM vHistory ORDER BY BatchProcessHistory_id DESC;",),
    "Steps": ("SELECT * FROM ProcessControl ORDER BY ProcessBatch_id, ProcessControlSeq;",),
    "How long steps take": (
        "SELECT ProcessControlSeq, StartTime, EndTime FROM BatchProcessHistory WHERE Status = 'success' ORDER BY StartTime;",
    ),
    "Decided last": ("SELECT * FROM ScheduleFire ORDER BY DueTime DESC;",),
    "Instances": ("SELECT * FROM BatchControl ORDER BY BatchControl_id DESC;",),
    "Batches": ("SELECT * FROM vStatus ORDER BY Seq;",),
    "24 hours": ("SELECT * FROM vHistory ORDER BY BatchProcessHistory_id DESC;",),
    "Schedules": ("SELECT * FROM vSchedule ORDER BY ScheduleName;",),
    "Calendars": ("SELECT * FROM Calendar ORDER BY CalendarName;",),
    "Days": ("SELECT * FROM CalendarDay ORDER BY CalendarDate;",),
    "Incidents": ("SELECT * FROM Incident WHERE ResolvedTime IS NULL ORDER BY Incident_id DESC;",),
    "Requests": ("SELECT * FROM OperatorRequest ORDER BY OperatorRequest_id DESC;",),
    "Acts": ("SELECT * FROM AuditLog ORDER BY AuditLog_id DESC;",),
    "Notes": ("SELECT * FROM Note ORDER BY Note_id DESC;",),
    "Controllers": ("SELECT * FROM Controller ORDER BY Controller_id DESC;",),
    "Pools": ("SELECT * FROM vPools ORDER BY PoolName;",),
}
"""By the title of the list."""

_NARROWER: Mapping[str, Mapping[str, str]] = {
    "status": {"Instances": "Status = {}"},
    "batch": dict.fromkeys(
        ("Instances", "Notes", "Steps", "How long steps take"),
        "ProcessBatch_id IN (SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = {})",
    ),
    "instance": {
        **dict.fromkeys(("Notes", "Attempts"), "BatchControl_id = {}"),
        "Steps": "ProcessBatch_id IN (SELECT ProcessBatch_id FROM BatchControl WHERE BatchControl_id = {})",
    },
    "schedule": {"Decided last": "Schedule_id IN (SELECT Schedule_id FROM Schedule WHERE ScheduleName = {})"},
    "actor": {"Acts": "Actor = {}"},
}
"""What lists may be narrowed to, and by the title of each its condition."""
_ALL, _STANDING = "all", " WHERE ResolvedTime IS NULL"


@dataclass(frozen=True, slots=True)
class Targets:
    """What acts are about: some rows, or those whose names begin in some way."""

    names: Sequence[str] = ()
    beginnings: Sequence[str] = ()


def narrowed(connection: Connection, title: str, to: Mapping[str, str], about: Targets) -> tuple[str, ...]:
    """Return the statements that show no more of a list than a page does."""
    known = {name: conditions[title] for name, conditions in _NARROWER.items() if title in conditions}
    conditions = [
        condition.replace("{}", _literal(connection, value))
        for name, condition in known.items()
        if (value := to.get(name))
    ]
    if title == "Acts":
        conditions += _about(connection, about)
    found = [one.replace(_STANDING, "") if to.get(_ALL) else one for one in STATEMENTS[title]]
    return tuple(_narrowed(one, conditions) for one in found)


def _narrowed(statement: str, conditions: Sequence[str]) -> str:
    if not conditions:
        return statement
    begin = " AND " if " WHERE " in statement else " WHERE "
    return statement.replace(" ORDER BY ", f"{begin}{' AND '.join(conditions)} ORDER BY ")


def _about(connection: Connection, about: Targets) -> Iterator[str]:
    either = [
        *(f"Target = {_literal(connection, one)}" for one in about.names),
        *(f"substring(Target, 1, {len(one)}) = {_literal(connection, one)}" for one in about.beginnings),
    ]
    if either:
        yield f"({' OR '.join(either)})"


def _literal(connection: Connection, value: str) -> str:
    """Write a value as a statement has it that people paste: what cannot be seen there cannot be checked by them."""
    if visible(value) != value:
        message = f"'{visible(value)}' holds what cannot be seen, so no statement to paste can name it."
        raise InvalidInput(message, next_step="name the row by its number, or use the list as CSV")
    quoted = value.replace("'", "''")
    return f"N'{quoted}'" if connection.dialect.name == "mssql" else f"'{quoted}'"
