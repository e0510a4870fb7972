"""The definition tables as people fill them: which columns those are, and rows read and written by name.

The tables themselves show what is a definition: every column is, unless it is named here as batchctl's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Integer,
    SmallInteger,
    String,
    Table,
    Unicode,
    bindparam,
    delete,
    select,
    update,
)

from batchctl.domain.definitions.defined import Columns, ColumnShape, Defined, Shape, Value, sparse
from batchctl.domain.definitions.reconciling import owner_in
from batchctl.domain.errors import BatchctlError, Conflict
from batchctl.domain.text import message_of
from batchctl.store import identity
from batchctl.store.comparison import exactly
from batchctl.store.dialects import dialect_of
from batchctl.store.operators import note_rows
from batchctl.store.statements import RowInsert
from batchctl.store.tables import (
    batch_dependency,
    batch_resource,
    calendar,
    calendar_day,
    data_trigger,
    file_watch,
    pool,
    process_batch,
    process_control,
    resource,
    schedule,
    setting,
    variable,
)
from batchctl.store.transactions import savepoint

_LOCK = "batchctl apply"
STAMPS = frozenset({"z_inserted", "z_updated"})
KEPT: Mapping[str, frozenset[str]] = {
    "Schedule": frozenset({"NextRunTime", "DecidedUntil", "TimingHash"}),
    "DataTrigger": frozenset({"LastFired"}),
    "FileWatch": frozenset({"UnreachableSince"}),
}
"""The columns of definition tables that batchctl itself keeps, besides numbers and stamps."""
_NAMES = {
    "DependsOnBatch_id": ("DependsOnBatchName", process_batch, "ProcessBatchName"),
    "Resource_id": ("ResourceName", resource, "ResourceName"),
}
"""What a file holds in the place of the id of another table's row."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A table whose rows stand below a definition."""

    table: Table
    key: str
    is_short: bool = True


_TABLES: Mapping[Table, tuple[str, tuple[_Part, ...]]] = {
    calendar: ("CalendarName", (_Part(calendar_day, "CalendarDate"),)),
    resource: ("ResourceName", ()),
    pool: ("PoolName", ()),
    process_batch: (
        "ProcessBatchName",
        (
            _Part(batch_dependency, "DependsOnBatch_id"),
            _Part(batch_resource, "Resource_id"),
            _Part(process_control, "ProcessControlSeq", is_short=False),
        ),
    ),
    schedule: ("ScheduleName", ()),
    data_trigger: ("TriggerName", ()),
    file_watch: ("WatchName", ()),
    setting: ("Name", ()),
    variable: ("VariableName", ()),
}
_LITERAL = re.compile(r"'(.*)'\Z", re.DOTALL)


def _shape(table: Table, key: str, parts: Iterable[_Part] = (), *, is_short: bool = False, below: str = "") -> Shape:
    own = {f"{table.name}_id", f"{below}_id", *STAMPS, *KEPT.get(str(table.name), ())}
    columns = {
        _NAMES[column.name][0] if column.name in _NAMES else str(column.name): _column(column)
        for column in sorted(table.columns, key=lambda column: str(column.name) != key)
        if column.name not in own
    }
    named = _NAMES[key][0] if key in _NAMES else key
    made = tuple(_shape(one.table, one.key, is_short=one.is_short, below=str(table.name)) for one in parts)
    return Shape(str(table.name), named, columns, made, is_short)


def _column(column: Any) -> ColumnShape:
    is_number = isinstance(column.type, (BigInteger, Integer, SmallInteger)) and column.name not in _NAMES
    default = None if column.server_default is None else str(column.server_default.arg)
    text = None if default is None else _LITERAL.match(default)
    return ColumnShape(
        is_number=is_number,
        default=int(default) if is_number and default is not None else text[1] if text else None,
        is_needed=not column.nullable and default is None,
        limit=column.type.length if isinstance(column.type, Unicode) else None,
        is_word=type(column.type) is String,
    )


SHAPES = tuple(_shape(table, key, parts) for table, (key, parts) in _TABLES.items())
"""The shapes of all definitions, each behind those that it may name."""
_BY_KIND = {shape.kind: shape for shape in SHAPES}
_ANY_KIND = {part.kind: part for shape in SHAPES for part in (shape, *shape.parts)}
SETTINGS, VARIABLES = "Setting", "Variable"
_TABLE_OF = {str(table.name): table for table in _TABLES}
_PART_OF = {str(part.table.name): part for _, parts in _TABLES.values() for part in parts}


def shape_of(kind: str) -> Shape:
    """Return the shape of a table of definitions."""
    return _BY_KIND[kind]


@dataclass(frozen=True, slots=True)
class DefinitionRow:
    """A definition with the number of its row."""

    row_id: int
    defined: Defined
    owner: str | None = None
    """What keeps the row up to date, where that is the code of a job."""


def lock(connection: Connection, keys: Iterable[tuple[str, str]]) -> None:
    """Keep others from applying anything, and from changing these definitions or what stands below them, meanwhile."""
    dialect = dialect_of(connection)
    if not dialect.lock_name(connection, _LOCK):
        message = "Somebody else is applying definitions."
        raise Conflict(message)
    for kind, name in keys:
        shape, table = shape_of(kind), _TABLE_OF[kind]
        named, key = table.c[shape.key], table.c[f"{kind}_id"]
        here = exactly(named, bindparam("name", type_=named.type))
        for row_id in connection.execute(select(key).where(here), {"name": name}).scalars().all():
            dialect.lock_row(connection, kind, row_id)
            for part in shape.parts:
                below = _PART_OF[part.kind].table
                found = select(below.c[f"{part.kind}_id"]).where(below.c[f"{kind}_id"] == row_id)
                for part_id in connection.execute(found).scalars().all():
                    dialect.lock_row(connection, part.kind, part_id)


@contextmanager
def apart(connection: Connection) -> Iterator[None]:
    """Undo only this part when the database refuses it, and raise what it says as `ValueError`."""
    try:
        with savepoint(connection):
            yield
    except (BatchctlError, LookupError):
        raise
    except Exception as error:  # constraints and triggers of others refuse with whatever they please
        raise ValueError(message_of(error).rstrip(".")) from error


def everything(connection: Connection) -> list[DefinitionRow]:
    """Return all definitions but the database's own name."""
    return [row for shape in SHAPES for row in _of(connection, shape)]


def _of(connection: Connection, shape: Shape) -> Iterator[DefinitionRow]:
    table = _TABLE_OF[shape.kind]
    key = table.c[f"{shape.kind}_id"]
    parts = {part.kind: _below(connection, shape, part) for part in shape.parts}
    for row in connection.execute(select(table).order_by(key)).mappings():
        name, row_id = str(row[shape.key]), int(row[f"{shape.kind}_id"])
        if (shape.kind, name) == (SETTINGS, identity.DATABASE_ID):
            continue
        below = {kind: found[row_id] for kind, found in parts.items() if row_id in found}
        yield DefinitionRow(
            row_id, Defined(shape.kind, name, sparse(shape, _plain(shape, row)), below), owner_in(row.get("Origin"))
        )


def _below(connection: Connection, shape: Shape, part: Shape) -> dict[int, dict[str | int, Columns]]:
    found: dict[int, list[tuple[Any, Columns]]] = {}
    for row in connection.execute(_select(part.kind)).mappings():
        values = _plain(part, row)
        found.setdefault(row[f"{shape.kind}_id"], []).append((values[part.key], sparse(part, values)))
    return {at: dict(sorted(rows, key=lambda row: row[0])) for at, rows in found.items()}


@cache
def _select(kind: str) -> Any:
    """Return the query of what stands below definitions, with the names of what it refers to."""
    table, wanted = _PART_OF[kind].table, list[Any]()
    source: Any = table
    for column in table.columns:
        if column.name in _NAMES:
            called, other, name = _NAMES[column.name]
            referred = other.alias(f"{called}Of")
            key = referred.c[f"{other.name}_id"]
            source = source.join(referred, column == key)
            wanted.append(referred.c[name].label(called))
        else:
            wanted.append(column)
    return select(*wanted).select_from(source)


def _plain(shape: Shape, row: Any) -> dict[str, Value]:
    """Return a row's values as they compare on every database."""
    return {
        column: value.lower() if about.is_word and isinstance(value := row[column], str) else row[column]
        for column, about in shape.columns.items()
    }


def sparse_row(kind: str, row: Any) -> dict[str, Value]:
    """Return the columns of a row read elsewhere that do not hold their defaults."""
    shape = _ANY_KIND[kind]
    return sparse(shape, _plain(shape, {column: getattr(row, column) for column in shape.columns}))


def write(connection: Connection, before: DefinitionRow | None, after: Defined, now: datetime) -> int:
    """Insert or change a definition's own row; return its number. What stands below it is `write_below`'s."""
    shape, table = shape_of(after.kind), _TABLE_OF[after.kind]
    key = table.c[f"{after.kind}_id"]
    if before is None:
        values = {shape.key: after.name, **after.columns}
        return RowInsert(table)(connection, values)
    changed = _changed(shape, before.defined.columns, after.columns)
    if changed:
        connection.execute(update(table).where(key == before.row_id).values({**changed, "z_updated": now}))
    return before.row_id


def write_below(
    connection: Connection, row_id: int, before: DefinitionRow | None, after: Defined, now: datetime
) -> None:
    """Make what stands below a definition what it is to be: what is gone first, so that no number is taken."""
    for part in shape_of(after.kind).parts:
        had: Mapping[str | int, Columns] = {} if before is None else before.defined.parts.get(part.kind, {})
        wanted = after.parts.get(part.kind, {})
        table, key = _PART_OF[part.kind].table, _PART_OF[part.kind].key
        mine = table.c[f"{after.kind}_id"] == row_id
        for gone in (each for each in had if each not in wanted):
            connection.execute(delete(table).where(mine, table.c[key] == _value(connection, key, gone)))
        for each, columns in wanted.items():
            found = _value(connection, key, each)
            if each not in had:
                values = {f"{after.kind}_id": row_id, key: found, **columns}
                RowInsert(table)(connection, values)
            elif changed := _changed(part, had[each], columns):
                here = update(table).where(mine, table.c[key] == found)
                connection.execute(here.values({**changed, "z_updated": now}))


def _value(connection: Connection, key: str, wording: str | int) -> object:
    """Return what a column holds for what a file says: the number of the row that it names."""
    if key not in _NAMES:
        return wording
    _, other, name = _NAMES[key]
    column = other.c[name]
    query = select(other.c[f"{other.name}_id"]).where(exactly(column, bindparam("name", type_=column.type)))
    found = connection.execute(query, {"name": wording}).scalar_one_or_none()
    if found is None:
        raise LookupError(str(other.name), wording)
    return found


def _changed(shape: Shape, before: Columns, after: Columns) -> dict[str, Value]:
    values = {
        column: (before.get(column, one.default), after.get(column, one.default))
        for column, one in shape.columns.items()
    }
    return {column: new for column, (old, new) in values.items() if column != shape.key and new != old}


def remove(connection: Connection, row: DefinitionRow) -> None:
    """Delete a definition with what stands below it; the database refuses that where anything else refers to it."""
    kind = row.defined.kind
    for part in shape_of(kind).parts:
        table = _PART_OF[part.kind].table
        connection.execute(delete(table).where(table.c[f"{kind}_id"] == row.row_id))
    table = _TABLE_OF[kind]
    if table is process_batch:
        note_rows.remove_of_batch(connection, row.row_id)
    connection.execute(delete(table).where(table.c[f"{kind}_id"] == row.row_id))
