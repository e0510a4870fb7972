"""`Variable`: texts that definitions name, and the columns that name them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, or_, select

from batchctl.domain.definitions.variables import PREFIX, VariableRow
from batchctl.domain.errors import Conflict
from batchctl.domain.values import value
from batchctl.store.comparison import exactly
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import file_watch, process_batch, process_control, variable

_v, _b, _p, _w = variable.c, process_batch.c, process_control.c, file_watch.c
_variable = Reader(VariableRow)
_NAME = exactly(_v.VariableName, bindparam("name", type_=_v.VariableName.type))
_DATA = [_p[f"Data{at}"] for at in range(1, 7)]
_NAMES_ONE, _NAMES_A_FILE = f"%{{{PREFIX}%", "%file:%"

_ALL = RowSelect(select(variable).order_by(_v.VariableName))
VALUES = RowSelect(select(_v.VariableName, _v.Value))
_NAMED = RowSelect(select(variable).where(_NAME))
_ADD = RowInsert(variable)
_CHANGE = RowUpdate(variable, _v.Variable_id == bindparam("variable_id"))
_REMOVE = delete(variable).where(_v.Variable_id == bindparam("variable_id"))
_STEPS = (
    select(_b.ProcessBatchName, _p.ProcessControlSeq, _p.ProcessName, *_DATA)
    .join(process_batch, _b.ProcessBatch_id == _p.ProcessBatch_id)
    .where(or_(*(one.like(written) for one in _DATA for written in (_NAMES_ONE, _NAMES_A_FILE))))
    .order_by(_b.ProcessBatchName, _p.ProcessControlSeq)
)
_WATCHES = select(_w.WatchName, _w.Folder).where(_w.Folder.like(_NAMES_ONE)).order_by(_w.WatchName)


@value
class NamingColumn:
    """A column that names a variable, or a file that may."""

    table: str
    row: str
    column: str
    text: str


def values(connection: Connection) -> dict[str, str]:
    """Return the value of each variable."""
    return {row.VariableName: row.Value for row in VALUES(connection)}


def everything(connection: Connection) -> list[VariableRow]:
    """Return the variables by name."""
    return [_variable(row) for row in _ALL(connection)]


def named(connection: Connection, name: str) -> VariableRow | None:
    """Return the variable of just that name."""
    return next((_variable(row) for row in _NAMED(connection, name=name)), None)


def lock(connection: Connection, name: str) -> None:
    """Keep others who ask from making or changing a variable of that name until the end of the transaction."""
    if not dialect_of(connection).lock_name(connection, f"variable {name}"):
        message = f"Somebody else is changing variable {name}."
        raise Conflict(message)


def add(connection: Connection, name: str, text: str, description: str | None) -> int:
    """Insert a variable."""
    return _ADD(connection, {"VariableName": name, "Value": text, "Description": description})


def change(connection: Connection, variable_id: int, columns: dict[str, Any], now: datetime) -> bool:
    """Change columns of a variable; false when it is gone."""
    return _CHANGE(connection, {**columns, "z_updated": now}, variable_id=variable_id)


def remove(connection: Connection, variable_id: int) -> bool:
    """Delete a variable; false when it is gone."""
    return connection.execute(_REMOVE, {"variable_id": variable_id}).rowcount == 1


def naming(connection: Connection) -> Iterator[NamingColumn]:
    """Yield the columns of definitions that may name a variable; also of rows that cannot be read otherwise."""
    for batch, seq, name, *data in connection.execute(_STEPS):
        for at, text in enumerate(data, start=1):
            if text is not None:
                yield NamingColumn("ProcessControl", f"{batch}, step {seq} '{name}'", f"Data{at}", text)
    for watch, folder in connection.execute(_WATCHES):
        yield NamingColumn("FileWatch", watch, "Folder", folder)
