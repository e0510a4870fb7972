"""Fills an instance from the intake row's file name: as it stands, or by a regular expression."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from batchctl.plugin_api import (
    NO_DATA,
    BatchDefinition,
    CannotPopulate,
    DataValues,
    Finding,
    IntakeRow,
    Populated,
    did_you_mean,
    visible,
)

_CYCLE_KEY = "CycleKey"
_DATA = tuple(f"Data{at}" for at in range(1, len(NO_DATA) + 1))
_GROUPS = (*_DATA, _CYCLE_KEY)
_ON = ("filename", "data", "entity")
_SEPARATOR = re.compile(r"[/\\]")


class PatternPopulator:
    r"""Data1 is the directory, Data2 the file name, Data3 the intake row's Data.

    PopulatorArgs may be a regular expression. It is searched in the base name only (`data.csv` of `/in/data.csv`), so
    the directory can neither match nor be matched; `^` and `$` are the ends of the base name. Its named groups `Data1`
    to `Data6` and `CycleKey` fill the columns of their names, as in
    `data_(?P<CycleKey>\d{8})_(?P<Data4>\d{8})\.csv`; every column that no group names stays as said above.

    PopulatorOn lets it search something else: `filename` the whole FileName, `data` the row's Data, `entity` its Entity.
    """

    name: ClassVar[str] = "pattern"

    def check(self, batch: BatchDefinition) -> Sequence[Finding]:
        """Return what is wrong with the regular expression."""
        try:
            pattern = _compiled(batch)
        except CannotPopulate as error:
            return [Finding("PopulatorArgs", str(error))]
        unknown = [] if pattern is None else [name for name in pattern.groupindex if name not in _GROUPS]
        on = _on(batch)
        strange = [] if on is None or on in _ON else [Finding("PopulatorOn", _strange(batch))]
        return strange + [
            Finding("PopulatorArgs", f"the group '{visible(name)}' fills nothing.{did_you_mean(name, _GROUPS)}")
            for name in unknown
        ]

    def populate(self, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Return the values; a file name the regular expression does not match is refused."""
        values = _plain_values(row) | _matched_values(row, batch)
        one, two, three, four, five, six = (values.get(name) for name in _DATA)
        data: DataValues = (one, two, three, four, five, six)
        return Populated(data=data, cycle_key=values.get(_CYCLE_KEY))


def _plain_values(row: IntakeRow) -> dict[str, str | None]:
    if row.file_name is None:
        return {"Data3": row.data}
    directory, name = _split(row.file_name)
    return {"Data1": directory, "Data2": name, "Data3": row.data}


def _matched_values(row: IntakeRow, batch: BatchDefinition) -> dict[str, str | None]:
    pattern = _compiled(batch)
    if pattern is None:
        return {}
    called, text = _searched(row, batch)
    if text is None:
        raise CannotPopulate(f"there is no {called} to search for '{visible(pattern.pattern)}'")
    match = pattern.search(text)
    if match is None:
        said = "the file name" if called == "FileName" else called
        raise CannotPopulate(f"{said} '{visible(text)}' does not match '{visible(pattern.pattern)}'")
    # A group that took no part in the match gives no value, so the plain value stays.
    return {group: value for group, value in match.groupdict().items() if value is not None}


def _searched(row: IntakeRow, batch: BatchDefinition) -> tuple[str, str | None]:
    """Return the column that is searched, and its text."""
    match _on(batch):
        case None:
            return "FileName", None if row.file_name is None else _split(row.file_name)[1]
        case "filename":
            return "FileName", row.file_name
        case "data":
            return "Data", row.data
        case "entity":
            return "Entity", row.entity
        case _:
            raise CannotPopulate(_strange(batch))


def _on(batch: BatchDefinition) -> str | None:
    return None if batch.populator_on is None else batch.populator_on.lower()


def _strange(batch: BatchDefinition) -> str:
    return f"PopulatorOn '{visible(batch.populator_on or '')}' is none of {', '.join(_ON)}"


def _compiled(batch: BatchDefinition) -> re.Pattern[str] | None:
    if not batch.populator_args:
        return None
    try:
        return re.compile(batch.populator_args)
    except (re.error, OverflowError, RecursionError) as error:
        reason = f"'{visible(batch.populator_args)}' is not a regular expression: {error}"
        raise CannotPopulate(reason) from None


def _split(file_name: str) -> tuple[str | None, str]:
    """Split a path of any system into directory, if it names one, and name."""
    separators = list(_SEPARATOR.finditer(file_name))
    if not separators:
        return None, file_name
    last = separators[-1].start()
    return file_name[: max(last, 1)], file_name[last + 1 :]


PATTERN = PatternPopulator()
"""The product's own: what it is to search may be checked in any process, for it never hangs."""
