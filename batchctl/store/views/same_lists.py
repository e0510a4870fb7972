"""The statements that show in an SQL client what a list of the console shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from batchctl.domain.errors import InvalidInput
from batchctl.domain.text import typed, visible

_INBOX = ("SELECT * FROM vInbox ORDER BY FileProcess_id DESC;",)
_PLANNED = (
    "SELECT * FROM Schedule ORDER BY ScheduleName;",
    (
        "SELECT c.CalendarName, d.* FROM CalendarDay d JOIN Calendar c ON c.Calendar_id = d.Calendar_id"
        " ORDER BY c.CalendarName, d.CalendarDate;"
    ),
    "SELECT * FROM ScheduleFire ORDER BY DueTime DESC;",
)
"""What due times to come are computed from."""
STATEMENTS: Mapping[str, tuple[str, ...]] = {
    "Running": ("SELECT * FROM vRunning ORDER BY StartTime;",),
    "Failed, held, to be tried again": (
        "SELECT * FROM vFailed ORDER BY BatchControl_id;",
        "SELECT * FROM vWaiting WHERE Status = 'retry' ORDER BY BatchControl_id;",
    ),
    "Waiting": (
        (
            "SELECT * FROM vWaiting WHERE Status IN ('ready', 'paused') AND BatchControl_id NOT IN"
            " (SELECT BatchControl_id FROM Confirmation WHERE Answer IS NULL) ORDER BY BatchControl_id;"
        ),
    ),
    "Waits for other batches": ("SELECT * FROM vWaiting WHERE Status = 'dependency' ORDER BY ProcessBatchName;",),
    "Waiting for a person": ("SELECT * FROM Confirmation WHERE Answer IS NULL ORDER BY Confirmation_id;",),
    "Ready by": ("SELECT * FROM vForecast ORDER BY FinishBy;",),
    "Late": ("SELECT * FROM vLate ORDER BY LateSeconds DESC;",),
    "Completed last": (
        (
            "SELECT c.BatchControl_id, b.ProcessBatchName, c.z_updated FROM BatchControl c JOIN ProcessBatch b"
            " ON b.ProcessBatch_id = c.ProcessBatch_id WHERE c.Status = 'complete' ORDER BY c.z_updated DESC;"
        ),
    ),
    "Due next": ("SELECT * FROM vSchedule WHERE Status <> 'disabled' ORDER BY NextRunTime;",),
    "Disabled batches with open instances": (
        (
            "SELECT * FROM vStatus WHERE Status = 'disabled' AND Ready + Running + Retry + Failed + Held + Paused > 0"
            " ORDER BY Seq;"
        ),
    ),
    "Triggers, watches and schedules that start nothing": (
        (
            "SELECT * FROM SchedulerLog l WHERE l.EventType = 'error' AND l.BatchControl_id IS NULL"
            " AND (l.Source LIKE 'trigger %' AND substring(l.Source, 9, 255) IN"
            " (SELECT TriggerName FROM DataTrigger WHERE Enabled = 1) OR l.Source LIKE 'schedule %' AND"
            " substring(l.Source, 10, 255) IN (SELECT ScheduleName FROM Schedule WHERE Enabled = 1 AND NextRunTime IS NULL))"
            " AND NOT EXISTS"
            " (SELECT 1 FROM SchedulerLog n WHERE n.Source = l.Source AND n.Entity = l.Entity"
            " AND n.SchedulerLog_id > l.SchedulerLog_id AND n.EventType <> 'completed') ORDER BY l.Source;"
        ),
        "SELECT * FROM FileWatch WHERE Enabled = 1 AND UnreachableSince IS NOT NULL ORDER BY WatchName;",
    ),
    "Calendars that run out": (
        (
            "SELECT * FROM Calendar WHERE ValidUntil IS NOT NULL AND CalendarName IN"
            " (SELECT CalendarName FROM Schedule WHERE Enabled = 1) ORDER BY ValidUntil;"
        ),
    ),
    "Unreadable: nothing goes by these rows until they are corrected": (
        "SELECT * FROM vUnreadable ORDER BY TableName, Row_id;",
    ),
    "Rows that nothing came of": _INBOX,
    "Rows that are not work": _INBOX,
    "Attempts": ("SELECT * FROM vHistory ORDER BY BatchProcessHistory_id DESC;",),
    "Gates": (
        "SELECT * FROM vWaiting ORDER BY BatchControl_id;",
        "SELECT * FROM vUnreadable ORDER BY TableName, Row_id;",
        "SELECT * FROM vNotInstalled ORDER BY ProcessBatchName;",
        "SELECT * FROM vFrozen ORDER BY ProcessBatchName;",
    ),
    "Versions": ("SELECT * FROM BatchVersion ORDER BY ProcessBatchName, DefVersion;",),
    "Steps": ("SELECT * FROM ProcessControl ORDER BY ProcessBatch_id, ProcessControlSeq;",),
    "How long steps take": (
        "SELECT ProcessControlSeq, StartTime, EndTime FROM BatchProcessHistory WHERE Status = 'success' ORDER BY StartTime;",
    ),
    "Decided last": ("SELECT * FROM ScheduleFire ORDER BY DueTime DESC;",),
    **dict.fromkeys(("Due times", "Due within 30 days", "Nights in which the clocks are changed"), _PLANNED),
    "Instances": ("SELECT * FROM BatchControl ORDER BY BatchControl_id DESC;",),
    "Batches": ("SELECT * FROM vStatus ORDER BY Seq;",),
    "24 hours": ("SELECT * FROM vHistory ORDER BY BatchProcessHistory_id DESC;",),
    "Schedules": ("SELECT * FROM vSchedule ORDER BY ScheduleName;",),
    "Calendars": ("SELECT * FROM Calendar ORDER BY CalendarName;",),
    "Days": ("SELECT * FROM CalendarDay ORDER BY CalendarDate;",),
    "Incidents": ("SELECT * FROM Incident WHERE ResolvedTime IS NULL ORDER BY Incident_id DESC;",),
    "Requests": ("SELECT * FROM OperatorRequest ORDER BY OperatorRequest_id DESC;",),
    "Acts": ("SELECT * FROM AuditLog ORDER BY AuditLog_id DESC;",),
    "Refused": ("SELECT * FROM AuditLog WHERE Action LIKE '% refused' ORDER BY AuditLog_id;",),
    "Notes": ("SELECT * FROM Note ORDER BY Note_id DESC;",),
    "Controllers": ("SELECT * FROM Controller ORDER BY Controller_id DESC;",),
    "Pools": ("SELECT * FROM vPools ORDER BY PoolName;",),
}
"""By the title of the list."""

_OF_ITS_BATCH = "ProcessBatch_id IN (SELECT ProcessBatch_id FROM BatchControl WHERE BatchControl_id = {})"
_ALL, _STANDING = "all", " WHERE ResolvedTime IS NULL"
_NARROWER: Mapping[str, Mapping[str, str]] = {
    "status": {"Instances": "Status = {}"},
    "batch": {
        **dict.fromkeys(
            ("Instances", "Notes", "Steps", "How long steps take", "Versions"),
            "ProcessBatch_id IN (SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = {})",
        ),
        "Ready by": "ProcessBatchName = {}",
    },
    "instance": {
        "Attempts": "BatchControl_id = {}",
        "Notes": f"(BatchControl_id = {{}} OR {_OF_ITS_BATCH})",
        "Steps": _OF_ITS_BATCH,
    },
    "calendar": {
        "Calendars": "CalendarName = {}",
        "Days": "Calendar_id IN (SELECT Calendar_id FROM Calendar WHERE CalendarName = {})",
    },
    "batches": {"Batches": "ProcessBatch_id IN ({})"},
    "since": {"24 hours": "(EndTime IS NULL OR EndTime >= {})"},
    "request": {"Requests": "OperatorRequest_id = {}"},
    "schedule": {"Decided last": "Schedule_id IN (SELECT Schedule_id FROM Schedule WHERE ScheduleName = {})"},
    "actor": {"Acts": "Actor = {}"},
}
"""What lists may be narrowed to, and by the title of each its condition."""
_OF_INSTANCE, _OF_FILE = "WHERE BatchControl_id = {};", "WHERE FileProcess_id = {};"
_OF_ONE: Mapping[str, Mapping[str, Sequence[str]]] = {
    "Gates": {
        "instance": [
            f"SELECT * FROM {each} {_OF_INSTANCE}" for each in ("vWaiting", "vFailed", "vRunning", "BatchControl")
        ],
        "file": [
            f"SELECT * FROM {each} {_OF_FILE}" for each in ("vInbox", "vWaiting", "vFailed", "vRunning", "FileProcess")
        ],
        "batch": (
            *(
                f"SELECT * FROM {each} WHERE ProcessBatchName = {{}};"
                for each in ("vStatus", "vWaiting", "vNotInstalled", "vFrozen")
            ),
            (
                "SELECT * FROM vUnreadable WHERE ProcessBatch_id IN"
                " (SELECT ProcessBatch_id FROM ProcessBatch WHERE ProcessBatchName = {});"
            ),
        ),
        "schedule": (
            "SELECT * FROM vSchedule WHERE ScheduleName = {};",
            (
                "SELECT * FROM vUnreadable WHERE TableName = 'Schedule' AND Row_id IN"
                " (SELECT Schedule_id FROM Schedule WHERE ScheduleName = {});"
            ),
        ),
    },
    "Due times": {
        "schedule": (
            "SELECT * FROM Schedule WHERE ScheduleName = {};",
            (
                "SELECT c.CalendarName, d.* FROM CalendarDay d JOIN Calendar c ON c.Calendar_id = d.Calendar_id"
                " WHERE c.CalendarName IN (SELECT CalendarName FROM Schedule WHERE ScheduleName = {}) ORDER BY d.CalendarDate;"
            ),
            (
                "SELECT * FROM ScheduleFire WHERE Schedule_id IN"
                " (SELECT Schedule_id FROM Schedule WHERE ScheduleName = {}) ORDER BY DueTime DESC;"
            ),
        )
    },
    "Refused": {
        "requests": ["SELECT * FROM OperatorRequest WHERE OperatorRequest_id IN ({}) ORDER BY OperatorRequest_id;"]
    },
}
"""The statements about one, where other tables tell of it than of all."""
_COMPUTED = "Due times to come are computed from these rows; they are printed by: batchctl schedule preview"
_COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Gates": {
        "instance": "Every gate, also those that are passed: batchctl why {}",
        "file": "Every gate, also those that are passed: batchctl why file:{}",
        "batch": "Every gate, also those that are passed: batchctl why batch:{}",
        "schedule": "Every gate, also those that are passed: batchctl why schedule:{}",
        "": "Every gate of an instance, also those that are passed: batchctl why ID",
    },
    "Due times": {"schedule": f"{_COMPUTED} {{}} --csv", "": f"{_COMPUTED} NAME --csv"},
    "Due within 30 days": {"": f"{_COMPUTED} NAME --csv"},
    "Nights in which the clocks are changed": {"": f"{_COMPUTED} --dst --csv"},
    "24 hours": {"": "What is due in these hours is computed: batchctl report due --csv"},
    "Versions": {
        "batch": "What changed from one to the next is computed from Content: batchctl versions {} --csv",
        "": "What changed from one to the next is computed from Content: batchctl versions BATCH --csv",
    },
}
"""Which command prints the same, where no statement shows all of it: of one, and of all."""
NARROWED_BY = {_ALL, *_NARROWER, *(name for of in (*_OF_ONE.values(), *_COMMANDS.values()) for name in of if name)}
"""To what any of the lists may be narrowed."""
_NUMBERED = {"instance", "file", "batches", "request", "requests"}
"""What is narrowed to by numbers."""
_NUMBERS = re.compile(r"[0-9]{1,18}(, [0-9]{1,18})*")
_ACTS = {"Acts", "Refused"}
"""The lists of rows of the audit log."""


@dataclass(frozen=True, slots=True)
class Targets:
    """What acts are about: some rows, or those whose names begin in some way."""

    names: Sequence[str] = ()
    beginnings: Sequence[str] = ()


def narrowed(connection: Connection, title: str, to: Mapping[str, str], about: Targets) -> tuple[str, ...]:
    """Return the statements that show no more of a list than a page does, and before them the command that prints more."""
    first, *others = _statements(connection, title, to, about)
    told = (
        command.replace("{}", typed(_seen(to[name]))) if name else command
        for name, command in _COMMANDS.get(title, {}).items()
        if not name or to.get(name)
    )
    command = next(told, None)
    return (first if command is None else f"-- {command}\n{first}", *others)


def _statements(connection: Connection, title: str, to: Mapping[str, str], about: Targets) -> tuple[str, ...]:
    for name, statements in _OF_ONE.get(title, {}).items():
        if value := to.get(name):
            literal = _literal(connection, name, value)
            return tuple(one.replace("{}", literal) for one in statements)
    known = {name: conditions[title] for name, conditions in _NARROWER.items() if title in conditions}
    conditions = [
        condition.replace("{}", _literal(connection, name, value))
        for name, condition in known.items()
        if (value := to.get(name))
    ]
    if title in _ACTS:
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
        *(f"Target = {_quoted(connection, one)}" for one in about.names),
        *(f"substring(Target, 1, {len(one)}) = {_quoted(connection, one)}" for one in about.beginnings),
    ]
    if either:
        yield f"({' OR '.join(either)})"


def _literal(connection: Connection, name: str, value: str) -> str:
    """Write a value as a statement has it that people paste: a number is none of a view where it stands in quotes."""
    if name not in _NUMBERED:
        return _quoted(connection, value)
    if not _NUMBERS.fullmatch(value):
        message = f"'{visible(value)}' is not the number of a row."
        raise InvalidInput(message, next_step="open it from a list")
    return value


def _quoted(connection: Connection, value: str) -> str:
    quoted = _seen(value).replace("'", "''")
    return f"N'{quoted}'" if connection.dialect.name == "mssql" else f"'{quoted}'"


def _seen(value: str) -> str:
    """Refuse what cannot be seen: people could not check it."""
    if visible(value) != value:
        message = f"'{visible(value)}' holds what cannot be seen, so no statement to paste can name it."
        raise InvalidInput(message, next_step="name the row by its number, or use the list as CSV")
    return value
