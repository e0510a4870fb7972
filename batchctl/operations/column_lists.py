"""Column lists: how the columns of a list are called, and what stands in them, for people and for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Generic, TypeAlias, TypeVar

from batchctl.domain import records
from batchctl.domain.records import JsonValue
from batchctl.domain.unreadable import UnreadableRow

Row = TypeVar("Row")
Whole = TypeVar("Whole")


def in_json(value: Any) -> JsonValue:
    """Return a value as JSON has it: a time in UTC, a length of time in whole seconds, a record by its columns."""
    match value:
        case datetime():
            return records.moment(value)
        case date():
            return value.isoformat()
        case timedelta():
            return int(value.total_seconds())
        case StrEnum():
            return value.value
        case list() | tuple():
            return [in_json(each) for each in value]
        case _:
            found: JsonValue = records.shown(value) if is_dataclass(value) else value
            return found


@dataclass(frozen=True, slots=True)
class StatusWord:
    """A word that says how something stands, and is shown in the colour of that."""

    text: str


@dataclass(frozen=True, slots=True)
class Alarming:
    """A text that must not be overlooked."""

    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Lengths of time one after the other, drawn as a small line."""

    points: Sequence[timedelta]


def is_enabled(flag: Callable[[Row], bool]) -> Callable[[Row], StatusWord]:
    """Say in a cell whether something is enabled."""
    return lambda row: StatusWord("enabled" if flag(row) else "disabled")


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """What stands in a column: its value, and how JSON writes it."""

    value: Callable[[Row], object]
    show: Callable[[Any], JsonValue] = in_json

    def in_row(self, row: Row) -> JsonValue:
        """Return what JSON has of a row."""
        value = self.value(row)
        return None if value is None else self.show(value)

    def within(self, of: Callable[[Whole], Row]) -> Column[Whole]:
        """Return the column of rows that hold such a row."""
        return Column(lambda whole: self.value(of(whole)), self.show)


Columns: TypeAlias = Mapping[str, Column[Row] | Callable[[Row], object]]
"""Columns by their names, each with what stands in it."""


@dataclass(frozen=True)
class ColumnList(Generic[Row]):
    """The columns of a list, each stated once.

    `columns` are those that programs get, by name. `headings` are those that people see: a heading has the name of the
    column that stands under it, and by which the list can be sorted, or what else stands there. One that ends with
    `#` is of numbers.
    """

    title: str
    columns: Columns[Row]
    headings: Mapping[str, str | Callable[[Row], object]] = field(default_factory=dict)
    key_of: Callable[[UnreadableRow], records.Columns] | None = None
    """Names a row that cannot be read, where programs get these too."""

    @property
    def header(self) -> list[str]:
        """Return the names of the columns."""
        more = () if self.key_of is None else (*UNREADABLE.columns, "Unreadable")
        return list(dict.fromkeys([*self.columns, *more]))

    def of(self, row: Row) -> records.Columns:
        """Return one row by column names, for programs."""
        return {name: _column(each).in_row(row) for name, each in self.columns.items()}

    def as_json(self, rows: Iterable[Row], broken: Iterable[UnreadableRow] = ()) -> list[JsonValue]:
        """Return rows so; behind them those that cannot be read, with what is known of them."""
        found = [self.of(row) for row in rows]
        nothing: records.Columns = dict.fromkeys(found[0] if found else ())
        name = self.key_of or by_row_id
        unread = [{**nothing, **name(row), **UNREADABLE.of(row), "Unreadable": row.message} for row in broken]
        return [*found, *unread]

    def within(self, of: Callable[[Whole], Row]) -> Columns[Whole]:
        """Return the columns for a list whose rows hold the row of this one."""
        return {name: _column(each).within(of) for name, each in self.columns.items()}

    def cells(self, rows: Iterable[Row]) -> list[Sequence[object]]:
        """Return what stands under each heading, for people."""
        values = [
            _column(self.columns[each]).value if isinstance(each, str) else each for each in self.headings.values()
        ]
        return [[value(row) for value in values] for row in rows]


UNREADABLE = ColumnList[UnreadableRow](
    "Unreadable",
    {
        "TableName": lambda row: row.table,
        "RowNumber": lambda row: row.row_id,
        "ColumnName": lambda row: row.column or None,
        "ProcessBatchName": lambda row: row.batch or None,
        "Message": lambda row: row.message,
        "Next": lambda row: row.mend,
    },
    {
        "row": lambda row: row.called,
        "column": "ColumnName",
        "message": lambda row: Alarming(row.wording),
        "next": "Next",
    },
)


_FORMULA, _NUMBER = re.compile(r"[=+\-@\t\r]"), re.compile(r"[+-]?[0-9]+([.][0-9]+)?")
_COMMENT, _PROGRAM = re.compile(r"--+[ \t]*[^\W\d][^\n(|]*(?:\n|\Z)"), re.compile(r"\|.*!", re.DOTALL)
"""A line of words behind `--`, as SQL begins; and how a formula names a program."""


def in_csv(value: JsonValue) -> JsonValue:
    """Return a column of a row as CSV has it: a list or an object is JSON.

    A text that a spreadsheet would take for a formula gets a `'` before it; SQL that begins with a comment is none, as long
    as it calls nothing where it is taken for one.
    """
    if isinstance(value, str) and _FORMULA.match(value) and not (_NUMBER.fullmatch(value) or _is_comment(value)):
        return f"'{value}"
    return json.dumps(value) if isinstance(value, (bool, list, dict)) else value


def _is_comment(text: str) -> bool:
    return _COMMENT.match(text) is not None and _PROGRAM.search(text) is None


UNTIL_CORRECTED = "nothing goes by these rows until they are corrected"


def by_row_id(row: UnreadableRow) -> records.Columns:
    """Name a row that cannot be read by its number, of which the other rows have the column."""
    return {f"{row.table}_id": row.row_id}


def _column(each: Column[Row] | Callable[[Row], object]) -> Column[Row]:
    return each if isinstance(each, Column) else Column(each)


def record(
    kind: type, of: Callable[[Row], object] = lambda row: row, **instead: Columns[Row]
) -> dict[str, Column[Row] | Callable[[Row], object]]:
    """Return the columns of a record: of each row itself, or of what `of` finds in it.

    `instead` gives other columns for some attributes.
    """
    found: dict[str, Column[Row] | Callable[[Row], object]] = {}
    for attribute in records.fields_of(kind):
        if attribute.name in instead:
            found |= instead[attribute.name]
        elif attribute.is_shown:
            found |= _columns_of(attribute, _attribute(of, attribute.name))
    return found


def _columns_of(attribute: records.Field, value: Callable[[Row], Any]) -> Columns[Row]:
    if attribute.record is not None:
        return record(attribute.record, value)
    if len(attribute.columns) > 1:
        return {name: Column(_item(value, at)) for at, name in enumerate(attribute.columns)}
    return {attribute.columns[0]: Column(value, attribute.kept.show or in_json)}


def _attribute(of: Callable[[Row], object], name: str) -> Callable[[Row], Any]:
    return lambda row: getattr(of(row), name)


def _item(of: Callable[[Row], Any], at: int) -> Callable[[Row], Any]:
    return lambda row: of(row)[at]
