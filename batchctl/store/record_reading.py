"""Records read from rows, by what their attributes say of their columns."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from sqlalchemy import Table

from batchctl.domain.records import Field, fields_of
from batchctl.store import bounds

Record = TypeVar("Record")


class Reader(Generic[Record]):
    """Makes records of rows; raises `ValueError` when a number of a row breaks a constraint of the table `held_to`."""

    def __init__(self, record: type[Record], held_to: Table | None = None) -> None:
        """Look at nothing yet: most commands read few of all the records there are."""
        self.record, self._held_to = record, held_to
        self._made: dict[tuple[str, ...], Any] = {}

    def __call__(self, row: Any, **given: Any) -> Record:
        """Make a record of a row; `given` are attributes that the caller knows already, or reads in another way."""
        if self._held_to is not None:
            bounds.hold(self._held_to, row)
        names = (*given,)
        make = self._made.get(names) or self._making(names)
        made: Record = make(row, **given)
        return made

    def _making(self, given: tuple[str, ...]) -> Any:
        """Return the function that somebody would write by hand, and that is as fast: rows are read all the time."""
        wanted = [field for field in fields_of(self.record) if field.is_column and field.name not in given]
        readers = {f"_{field.name}": _reader(field) for field in wanted}
        arguments = ", ".join(f"{field.name}={_expression(field)}" for field in wanted)
        source = f"lambda row, **given: make({arguments}, **given)" if given else f"lambda row: make({arguments})"
        made = self._made[given] = eval(source, {**readers, "make": self.record})  # noqa: S307 - names of our own only
        return made


def _reader(field: Field) -> Any:
    return field.kept.read if field.record is None else Reader(field.record)


def _expression(field: Field) -> str:
    if field.record is not None:
        return f"_{field.name}(row)"
    if len(field.columns) > 1:
        return f"({', '.join(f'row.{column}' for column in field.columns)})"
    return f"row.{field.columns[0]}" if field.kept.read is None else f"_{field.name}(row.{field.columns[0]})"
