"""Which columns a value is made of: each is named once, at its attribute, for reading, writing and JSON.

An attribute is a column of its own name (`file_name` is `FileName`) unless it is annotated with another one, as in
`Annotated[int, "Controller_id"]`; some words are called the same in every record. The type says how its value is kept.
An attribute that is a record itself is made of columns of the same row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, date, datetime, timedelta
from enum import Enum, StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
Columns = dict[str, JsonValue]
"""Values under the names of their columns, as JSON shows them."""

Kind = TypeVar("Kind")
Record = TypeVar("Record")


class Mark(Enum):
    """What an attribute is not."""

    NO_COLUMN = "no column of its row"
    NOT_SHOWN = "not part of the row in JSON"


Apart = Annotated[Kind, Mark.NO_COLUMN, Mark.NOT_SHOWN]
"""An attribute that is made of something else than one column; the reader of the row supplies it."""
Hidden = Annotated[Kind, Mark.NOT_SHOWN]
"""A column that JSON does not show."""

_EVERYWHERE = {
    "batch_id": "ProcessBatch_id",
    "instance_id": "BatchControl_id",
    "intake_id": "FileProcess_id",
    "seq": "ProcessControlSeq",
    "last_seq": "PrevProcessControlSeq",
}
"""The attributes that have the same name in every record, and another one than their columns."""

Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """How the values of a type are kept in a column and shown in JSON; None where that is the same."""

    read: Convert | None = None
    write: Convert | None = None
    show: Convert | None = None
    parse: Convert | None = None
    """From JSON, or from a file of definitions; raises `ValueError` for anything else."""


@dataclass(frozen=True, slots=True)
class Field:
    """An attribute of a record."""

    name: str
    columns: tuple[str, ...]
    """More than one for a record within the record, and for a tuple: `Data1` to `Data6`."""
    kept: Kept = Kept()
    record: Any = None
    """The record within the record."""
    is_column: bool = True
    is_shown: bool = True


def moment(at: datetime | None) -> str | None:
    """Write a time as ISO 8601 in UTC."""
    return None if at is None else f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def fields_of(record: Any) -> tuple[Field, ...]:
    """Return the attributes of a record in their order."""
    return _fields(record)


@cache
def _fields(record: Any) -> tuple[Field, ...]:
    hints = get_type_hints(record, include_extras=True)
    return tuple(_field(each.name, hints[each.name]) for each in fields(record))


def columns_of(record: Any) -> tuple[str, ...]:
    """Return the columns that a record is made of."""
    return tuple(column for field in fields_of(record) if field.is_column for column in field.columns)


def values_of(record: Any, *but: str) -> dict[str, Any]:
    """Return the columns of a record as they are written, all but those of some attributes."""
    return {
        column: value
        for field in fields_of(type(record))
        if field.is_column and field.name not in but
        for column, value in _spread(field, getattr(record, field.name), field.kept.write, values_of)
    }


def shown(record: Any, **instead: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return a record by column names as JSON has it; `instead` gives other content for some attributes."""
    found: dict[str, JsonValue] = {}
    for field in fields_of(type(record)):
        if field.name in instead:
            found |= instead[field.name]
        elif field.is_shown:
            found |= _spread(field, getattr(record, field.name), field.kept.show, shown)
    return found


def of_columns(record: type[Record], columns: Mapping[str, JsonValue]) -> Record:
    """Make a record of its columns as JSON has them; missing ones get their defaults."""
    values: dict[str, Any] = {}
    for field in fields_of(record):
        if field.record is not None:
            values[field.name] = of_columns(field.record, columns)
        elif field.is_column and (value := columns.get(field.columns[0])) is not None:
            values[field.name] = value if field.kept.parse is None else field.kept.parse(value)
    return record(**values)


def _spread(field: Field, value: Any, convert: Convert | None, parts: Convert) -> Iterator[tuple[str, Any]]:
    if field.record is not None:
        yield from parts(value).items()
    elif len(field.columns) > 1:
        yield from zip(field.columns, value, strict=True)
    else:
        yield field.columns[0], value if value is None or convert is None else convert(value)


def _field(name: str, hint: Any) -> Field:
    kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    column = next((each for each in marks if isinstance(each, str)), _EVERYWHERE.get(name) or _by_rule(name))
    is_column, is_shown = Mark.NO_COLUMN not in marks, Mark.NOT_SHOWN not in marks
    if not is_column and not is_shown:
        return Field(name, (), is_column=False, is_shown=False)
    if is_dataclass(kind):
        return Field(name, columns_of(kind), Kept(), kind, is_shown=is_shown)
    if get_origin(kind) is tuple and ... not in get_args(kind):
        columns = tuple(f"{column}{at}" for at in range(1, len(get_args(kind)) + 1))
        return Field(name, columns, is_shown=is_shown)
    kept = next((each for each in marks if isinstance(each, Kept)), None) or _kept(kind, column)
    return Field(name, (column,), kept, None, is_column, is_shown)


def _by_rule(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def _kept(kind: Any, column: str) -> Kept:
    if get_origin(kind) in {Union, UnionType}:
        (kind,) = (each for each in get_args(kind) if each is not NoneType)
        kept = _kept(kind, column)
        return replace(kept, read=None if kept.read is None else _where_any(kept.read))
    if kind is timedelta:
        return _DURATIONS[column.endswith(("Mins", "Minutes"))]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return Kept(_words(kind), _value, _value, lambda value: kind(str(value)))
    return _KEPT.get(getattr(kind, "__supertype__", kind), Kept())


def _where_any(read: Convert) -> Convert:
    return lambda value: None if value is None else read(value)


def _words(kind: type[StrEnum]) -> Convert:
    known = {member.value: member for member in kind}
    return lambda text: known.get(text) or kind(text.strip().lower())


def _duration(seconds: int) -> Kept:
    def written(duration: timedelta) -> int:
        return int(duration.total_seconds() // seconds)

    def read(number: int) -> timedelta:
        return timedelta(seconds=number * seconds)

    return Kept(read, written, written, lambda value: read(int(str(value))))


def _value(member: StrEnum) -> str:
    return member.value


_DURATIONS = _duration(1), _duration(60)
_KEPT: Mapping[Any, Kept] = {
    bool: Kept(lambda flag: flag == 1, int, int, lambda flag: flag == 1),
    int: Kept(parse=lambda value: int(str(value))),
    str: Kept(parse=str),
    datetime: Kept(show=moment, parse=lambda value: datetime.fromisoformat(str(value))),
    date: Kept(date.fromisoformat, date.isoformat, date.isoformat, lambda value: date.fromisoformat(str(value))),
}
