"""Column lists: how the columns of a list are called, and what stands in them, for people and for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Generic, TypeVar

from batchctl.domain import records
from batchctl.domain.records import JsonValue

Row = TypeVar("Row")


def in_json(value: Any) -> JsonValue:
    """Return a value as JSON has it: a time in UTC, a length of time in whole seconds, a word as its text."""
    match value:
        case datetime():
            return records.moment(value)
        case date():
            return value.isoformat()
        case timedelta():
            return int(value.total_seconds())
        case StrEnum():
            return value.value
        case _:
            return _as_it_is(value)


def _as_it_is(value: Any) -> JsonValue:
    found: JsonValue = value
    return found


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """What stands in a column: its value, and how JSON writes it."""

    value: Callable[[Row], object]
    show: Callable[[Any], JsonValue] = in_json

    def in_row(self, row: Row) -> JsonValue:
        """Return what JSON has of a row."""
        value = self.value(row)
        return None if value is None else self.show(value)


@dataclass(frozen=True)
class ColumnList(Generic[Row]):
    """The columns of a list, each stated once.

    `columns` are those that programs get, by name. `headings` are those that people see: a heading has the name of the
    column that stands under it, and by which the list can be sorted, or what else stands there. One that ends with
    `#` is of numbers.
    """

    title: str
    columns: Mapping[str, Column[Row] | Callable[[Row], object]]
    headings: Mapping[str, str | Callable[[Row], object]]

    @property
    def header(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.columns)

    def as_json(self, rows: Iterable[Row]) -> list[dict[str, JsonValue]]:
        """Return rows by column names, for programs."""
        columns = {name: _column(each) for name, each in self.columns.items()}
        return [{name: column.in_row(row) for name, column in columns.items()} for row in rows]

    def cells(self, rows: Iterable[Row]) -> list[Sequence[object]]:
        """Return what stands under each heading, for people."""
        values = [
            _column(self.columns[each]).value if isinstance(each, str) else each for each in self.headings.values()
        ]
        return [[value(row) for value in values] for row in rows]


def _column(each: Column[Row] | Callable[[Row], object]) -> Column[Row]:
    return each if isinstance(each, Column) else Column(each)


def record(kind: type, of: Callable[[Row], object] = lambda row: row) -> dict[str, Column[Row]]:
    """Return the columns of a record: of each row itself, or of what `of` finds in it."""
    return {
        name: column
        for field in records.fields_of(kind)
        if field.is_shown
        for name, column in _columns_of(field, _attribute(of, field.name)).items()
    }


def _columns_of(field: records.Field, value: Callable[[Row], Any]) -> dict[str, Column[Row]]:
    if field.record is not None:
        return record(field.record, value)
    if len(field.columns) > 1:
        return {name: Column(_item(value, at)) for at, name in enumerate(field.columns)}
    return {field.columns[0]: Column(value, field.kept.show or _as_it_is)}


def _attribute(of: Callable[[Row], object], name: str) -> Callable[[Row], Any]:
    return lambda row: getattr(of(row), name)


def _item(of: Callable[[Row], Any], at: int) -> Callable[[Row], Any]:
    return lambda row: of(row)[at]
