"""What started work of itself, and what came of it: the read model behind `log`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from batchctl.domain.records import JsonValue
from batchctl.domain.rows import LogEntry
from batchctl.domain.status import SchedulerEvent
from batchctl.operations import shown_columns, unknown
from batchctl.ports import Transactions
from batchctl.store import scheduler_log
from batchctl.store.definitions import definitions
from batchctl.store.scheduler_log import WantedEvents


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events are wanted, as a person names them; None where any will do."""

    source: str | None = None
    entity: str | None = None
    event: SchedulerEvent | None = None
    batch: str | None = None
    since: datetime | None = None
    before: int | None = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """An event, and the name of the batch it is about, if it is about one."""

    entry: LogEntry
    batch: str | None

    def columns(self) -> dict[str, JsonValue]:
        """Return it by column names."""
        return {**shown_columns.of(self.entry), "ProcessBatchName": self.batch}


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
        asked = WantedEvents(
            source=wanted.source,
            entity=wanted.entity,
            event=wanted.event,
            batch=batch,
            since=wanted.since,
            before=wanted.before,
        )
        found = scheduler_log.newest(connection, asked, most + 1)
    names = {batch_id: one.name for batch_id, one in batches.items()}
    lines = (LogLine(entry, None if entry.batch_id is None else names.get(entry.batch_id)) for entry in found[:most])
    return EventPage(tuple(lines), is_last=len(found) <= most)
