"""What started work of itself, and what came of it: the read model behind `log`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from batchctl.domain.rows import EventFilter, LogEntry
from batchctl.operations import unknown
from batchctl.operations.column_lists import ColumnList, record
from batchctl.ports import Transactions
from batchctl.store import scheduler_log
from batchctl.store.definitions import definitions


@dataclass(frozen=True, slots=True)
class LogLine:
    """An event, and the name of the batch it is about, if it is about one."""

    entry: LogEntry
    batch: Annotated[str | None, "ProcessBatchName"]


def _took(line: LogLine) -> timedelta | None:
    return None if line.entry.duration_ms is None else timedelta(milliseconds=line.entry.duration_ms)


LOG = ColumnList[LogLine](
    "Log",
    record(LogLine),
    {
        "id#": "SchedulerLog_id",
        "at (UTC)": "EventTime",
        "event": "EventType",
        "source": "Source",
        "entity": "Entity",
        "batch": "ProcessBatchName",
        "file#": "FileProcess_id",
        "instance#": "BatchControl_id",
        "rows#": "RowsQueued",
        "took": _took,
        "message": "Message",
    },
)


@dataclass(frozen=True, slots=True)
class EventPage:
    """Some events, newest first."""

    lines: tuple[LogLine, ...]
    is_last: bool
    """True when there are no older ones."""


def page(transactions: Transactions, wanted: EventFilter, most: int) -> EventPage:
    """Return the newest events of those wanted."""
    with transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        batch = None
        if wanted.batch is not None:
            batch = unknown.named(connection, batches.values(), wanted.batch)
        found = scheduler_log.newest(connection, wanted, most + 1, batch)
    names = {batch_id: one.name for batch_id, one in batches.items()}
    lines = (LogLine(entry, None if entry.batch_id is None else names.get(entry.batch_id)) for entry in found[:most])
    return EventPage(tuple(lines), is_last=len(found) <= most)
