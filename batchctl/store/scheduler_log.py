"""`SchedulerLog`: every reason to start work, what came of it, and how that ended."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple, Protocol

from sqlalchemy import ColumnElement, Connection, bindparam, func, literal, or_, select

from batchctl.domain.errors import Conflict
from batchctl.domain.rows import BatchDefinition, BatchId, EventFilter, InstanceId, IntakeId, LogEntry
from batchctl.domain.status import SchedulerEvent
from batchctl.domain.text import NAME_LIMIT
from batchctl.store.columns import readable
from batchctl.store.comparison import exactly
from batchctl.store.conditions import one_of
from batchctl.store.dialects import dialect_of
from batchctl.store.one_look import ask_ahead
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect
from batchctl.store.tables import scheduler_log

_l = scheduler_log.c
_entry = Reader(LogEntry)

_ADD = RowInsert(scheduler_log)
_OF_ITSELF = SchedulerEvent.FIRED.value, SchedulerEvent.SKIPPED.value
_ALSO_OF_WORK = SchedulerEvent.ERROR.value, SchedulerEvent.RESCUED.value
_LAST_OF = RowSelect(
    select(scheduler_log)
    .where(
        exactly(_l.Entity, bindparam("entity", type_=_l.Entity.type)),
        _l.Source == bindparam("source", type_=_l.Source.type),
        one_of("SchedulerLog.EventType", (*_OF_ITSELF, *_ALSO_OF_WORK)),
        # What became of work that was started is another matter.
        or_(one_of("SchedulerLog.EventType", _OF_ITSELF), _l.BatchControl_id.is_(None)),
    )
    .order_by(_l.SchedulerLog_id.desc())
    .limit(bindparam("most"))
)


class Starting(Protocol):
    """Something that starts work: a schedule, a trigger, a watch."""

    @property
    def source(self) -> str:
        """What `FileProcess.Source` says of it."""

    @property
    def entity(self) -> str | None:
        """The entity for which it starts work, if that is known."""


class LogSource(NamedTuple):
    """The same of what has no row of its own that could be read."""

    source: str
    entity: str | None = None


def add(
    connection: Connection,
    event: SchedulerEvent,
    about: Starting,
    now: datetime,
    message: str | None,
    *,
    batch_id: BatchId | None = None,
    intake_id: IntakeId | None = None,
    instance_id: InstanceId | None = None,
    rows_queued: int | None = None,
    duration_ms: int | None = None,
) -> None:
    """Record one event about what starts work."""
    values = {
        "EventTime": now,
        "EventType": str(event),
        "Source": about.source[:NAME_LIMIT],
        "Entity": about.entity,
        "ProcessBatch_id": batch_id,
        "FileProcess_id": intake_id,
        "BatchControl_id": instance_id,
        "Message": message,
        "RowsQueued": rows_queued,
        "DurationMs": duration_ms,
    }
    _ADD(connection, values)


def wait_for_others(connection: Connection, source: str) -> None:
    """Keep others from logging about a source until the end of the transaction: its last entry stays the last."""
    if not dialect_of(connection).lock_name(connection, f" tells of {source[:NAME_LIMIT]}"):
        message = f"somebody else is logging about {source}"
        raise Conflict(message)


def add_all(
    connection: Connection,
    event: SchedulerEvent,
    about: Starting,
    now: datetime,
    messages: Iterable[tuple[IntakeId, str]],
) -> None:
    """Record the same event of many FileProcess rows, each with its message."""
    columns = ("EventTime", "EventType", "Source", "Entity", "FileProcess_id", "Message")
    rows = [(now, str(event), about.source[:NAME_LIMIT], about.entity, *one) for one in messages]
    if rows:
        _ADD.rows(connection, columns, rows).insert(connection)


def last_of(connection: Connection, about: Starting) -> LogEntry | None:
    """Return the newest event that says whether a source has started work, if there is one."""
    return next(iter(readable(_LAST_OF(connection, **_which(about)), _entry)), None)


def ask_last_of(connection: Connection, every: Iterable[Starting]) -> None:
    """Ask ahead for the newest event of each source."""
    ask_ahead(connection, *((_LAST_OF, _which(about)) for about in every))


def _which(about: Starting) -> dict[str, object]:
    return {"entity": about.entity, "source": about.source[:NAME_LIMIT], "most": 1}


def newest(
    connection: Connection, wanted: EventFilter, most: int, batch: BatchDefinition | None = None
) -> list[LogEntry]:
    """Return the newest events of those wanted, newest first; `batch` is the one of that name, if one is wanted.

    What concerns its entity as a whole is wanted, too.
    """
    statement = select(scheduler_log).where(*_conditions(wanted, batch)).order_by(_l.SchedulerLog_id.desc()).limit(most)
    return readable(connection.execute(statement), _entry)


def _conditions(wanted: EventFilter, batch: BatchDefinition | None) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted.source is not None:
        begins = func.substring(_l.Source, 1, len(wanted.source) + 1, type_=_l.Source.type)
        found.append(or_(_is(_l.Source, wanted.source), _is(begins, f"{wanted.source} ")))
    if wanted.entity is not None:
        found.append(_is(_l.Entity, wanted.entity))
    if wanted.event is not None:
        found.append(_l.EventType == wanted.event.value)
    if batch is not None:
        of_all = _l.ProcessBatch_id.is_(None) & _is(_l.Entity, batch.entity)
        found.append(or_(_l.ProcessBatch_id == batch.batch_id, of_all))
    if wanted.since is not None:
        found.append(_l.EventTime >= wanted.since)
    if wanted.before is not None:
        found.append(_l.SchedulerLog_id < wanted.before)
    return found


def _is(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    return exactly(column, literal(text, column.type))
