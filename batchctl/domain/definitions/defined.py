"""What people define by rows, apart from any database: by name, without numbers, and without defaults.

A *definition* is a row with a name and what stands below it, such as a batch with its steps. Its columns are listed in
a *shape*, made of the tables themselves, so that a column added later is part of it by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeAlias

from batchctl.domain.outcomes import RowFinding
from batchctl.domain.records import JsonValue
from batchctl.domain.text import did_you_mean, unfit, visible

Value: TypeAlias = "str | int | None"
Columns: TypeAlias = "Mapping[str, Value]"
Place: TypeAlias = "tuple[str, str]"
"""Where a value stands: below which row of which table (empty for the definition's own row), and in which column."""

ENABLED = "Enabled"
"""The column that belongs to operators: a file that does not name it leaves it as it stands."""
EXPORTED = "Exported"
"""The part of a file that keeps its definitions as they were when they were exported."""
CORRECT = "correct the file"
OWNS = "Owns"
"""The first line of a file: the name under which it owns its definitions, so that it may remove them too."""


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """A column that people fill."""

    is_number: bool
    default: Value = None
    is_needed: bool = False
    """True when it may not be left out."""
    limit: int | None = None
    """How many characters it takes, if that is limited."""
    is_word: bool = False
    """True of a status word, whose letter case means nothing."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A table of definitions, or of what stands below one."""

    kind: str
    """The name of the table."""
    key: str
    """The column that names a row, or distinguishes the rows below one definition."""
    columns: Mapping[str, ColumnShape]
    """All that people fill, in the table's order, the key first."""
    parts: tuple[Shape, ...] = ()
    is_short: bool = False
    """True of rows that are best written on one line."""

    def default(self, column: str) -> Value:
        """Return the default of a column."""
        return self.columns[column].default


@dataclass(frozen=True, slots=True)
class Defined:
    """A definition: its columns that differ from their defaults, and those of each row below it, by table and key."""

    kind: str
    name: str
    columns: Columns
    parts: Mapping[str, Mapping[str | int, Columns]] = field(default_factory=dict)

    @property
    def called(self) -> str:
        """Name it for a person."""
        return f"{self.kind} {visible(self.name)}"


def sparse(shape: Shape, row: Mapping[str, Any]) -> dict[str, Value]:
    """Return the columns of a row that differ from their defaults, without its key."""
    return {
        column: row[column]
        for column, about in shape.columns.items()
        if column != shape.key and row[column] is not None and row[column] != about.default
    }


def raw(shape: Shape, one: Defined) -> dict[str, JsonValue]:
    """Return a definition as files and JSON hold it."""
    made: dict[str, JsonValue] = {shape.key: one.name, **one.columns}
    for part in shape.parts:
        if below := one.parts.get(part.kind):
            made[part.kind] = [{part.key: key, **columns} for key, columns in below.items()]
    return made


def fingerprint(shape: Shape, one: Defined) -> str:
    """Return what changes with a definition; whether it is enabled is not part of it."""
    columns = {column: value for column, value in one.columns.items() if column != ENABLED}
    said = json.dumps(raw(shape, Defined(one.kind, one.name, columns, one.parts)), sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def flat(shape: Shape, one: Defined | None) -> dict[Place, Value]:
    """Return every value by its place, defaults included; a missing definition has none."""
    if one is None:
        return {}
    made: dict[Place, Value] = {("", column): value for column, value in _filled(shape, one.columns)}
    for part in shape.parts:
        for key, columns in one.parts.get(part.kind, {}).items():
            place = f"{part.kind} {key}"
            made |= {(place, column): value for column, value in _filled(part, columns)}
    return made


def _filled(shape: Shape, columns: Columns) -> Iterator[tuple[str, Value]]:
    for column, about in shape.columns.items():
        if column != shape.key:
            yield column, columns.get(column, about.default)


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file says."""

    found: list[Defined] = field(default_factory=list)
    findings: list[RowFinding] = field(default_factory=list)
    mistaken: set[str] = field(default_factory=set)
    """The names of the definitions that the findings are about, or stand below."""
    exported: dict[tuple[str, str], str] = field(default_factory=dict)
    """What each definition was when the file was exported."""
    owner: str | None = None
    """The name under which the file owns its definitions."""


def read(shapes: Sequence[Shape], document: Mapping[str, Any], source: str) -> FileContent:
    """Read what a file defines, and what is wrong with it."""
    known = {shape.kind: shape for shape in shapes}
    findings, owner = list[RowFinding](), document.get(OWNS)
    if owner is not None and (not isinstance(owner, str) or not owner.strip() or unfit(owner) or len(owner) > 200):
        findings.append(_wrong(visible(source), OWNS, "", "It has to be a name of at most 200 characters."))
        owner = None
    content = FileContent(findings=findings, exported=_wording(document.get(EXPORTED, {})), owner=owner)

    def read_one(shape: Shape, row: Mapping[str, Any]) -> None:
        own = list[RowFinding]()
        if (one := _defined(shape, row, own)) is not None:
            content.found.append(one)
        if own:
            content.mistaken.add(str(row.get(shape.key)))
        findings.extend(own)

    for kind, rows in document.items():
        if kind in {EXPORTED, OWNS}:
            continue
        if kind not in known:
            meant = did_you_mean(kind, known)
            findings.append(
                _wrong(visible(source), visible(kind), "", f"There is no such table of definitions.{meant}")
            )
        elif not _are_rows(rows):
            findings.append(_wrong(visible(source), kind, "", f"Write each as a table of its own: [[{kind}]]."))
        else:
            for row in rows:
                read_one(known[kind], row)
    return content


def _wrong(table: str, row: str, column: str, message: str) -> RowFinding:
    return RowFinding(table, row, column, message, CORRECT)


def _are_rows(rows: object) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def _wording(exported: Any) -> dict[tuple[str, str], str]:
    if not isinstance(exported, dict):
        return {}
    return {
        (kind, name): str(said)
        for kind, names in exported.items()
        if isinstance(names, dict)
        for name, said in names.items()
    }


def _defined(shape: Shape, row: Mapping[str, Any], findings: list[RowFinding]) -> Defined | None:
    name = row.get(shape.key)
    if not isinstance(name, str) or not name:
        findings.append(_wrong(shape.kind, "", shape.key, "A definition without a name."))
        return None
    called = visible(name)
    parts: dict[str, dict[str | int, Columns]] = {}
    known = {part.kind: part for part in shape.parts}
    own = {column: value for column, value in row.items() if column not in known}
    columns = _columns(shape, shape.kind, called, own, known, findings)
    for kind, part in known.items():
        below = row.get(kind, [])
        if not _are_rows(below):
            findings.append(_wrong(shape.kind, called, kind, f"Write each as a table: [[{shape.kind}.{kind}]]."))
            continue
        made = _below(part, called, below, findings)
        if made:
            parts[kind] = made
    return Defined(shape.kind, name, columns, parts)


def _below(
    part: Shape, called: str, rows: Sequence[Mapping[str, Any]], findings: list[RowFinding]
) -> dict[str | int, Columns]:
    made: dict[str | int, Columns] = {}
    for row in rows:
        columns = _columns(part, part.kind, called, {part.key: None, **row}, {}, findings, with_key=True)
        key = columns.pop(part.key, None)
        if key is None:
            continue
        if key in made:
            findings.append(_wrong(part.kind, f"{called}, {visible(str(key))}", part.key, "It stands there twice."))
        made[key] = columns
    ordered = sorted(made, key=lambda key: (isinstance(key, str), key))
    return {key: made[key] for key in ordered}


def _columns(
    shape: Shape,
    kind: str,
    row: str,
    given: Mapping[str, Any],
    parts: Mapping[str, Shape],
    findings: list[RowFinding],
    *,
    with_key: bool = False,
) -> dict[str, Value]:
    if with_key:
        row = f"{row}, {visible(str(given.get(shape.key)))}"
    made: dict[str, Value] = {}
    for column, value in given.items():
        about = shape.columns.get(column)
        if about is None:
            meant = did_you_mean(column, [*shape.columns, *parts])
            findings.append(_wrong(kind, row, visible(column), f"There is no such column.{meant}"))
            continue
        if column == shape.key and value is None:
            continue
        read, failure = _value(about, value)
        if failure is not None:
            findings.append(_wrong(kind, row, column, failure))
        # A default in the file would be a difference to nothing; the operators' own column is meant as it stands.
        elif column == ENABLED or read != about.default:
            made[column] = read
    if not with_key:
        made.pop(shape.key, None)
    for column, about in shape.columns.items():
        if about.is_needed and (with_key or column != shape.key) and given.get(column) is None:
            findings.append(_wrong(kind, row, column, "It is missing."))
    return {column: made[column] for column in shape.columns if column in made}


def _value(about: ColumnShape, value: object) -> tuple[Value, str | None]:
    if about.is_number:
        if not isinstance(value, int):
            return None, f"'{visible(str(value))}' is no whole number."
        return int(value), None if -(2**63) <= value < 2**63 else "It is too large a number."
    if isinstance(value, date):
        # Days need no quotes.
        value = value.isoformat()
    if not isinstance(value, str):
        return None, f"'{visible(str(value))}' is no text: write it in quotation marks."
    if (failure := unfit(value)) is not None:
        return None, f"It cannot be used: {failure}."
    if about.limit is not None and len(value) > about.limit:
        return None, f"It is longer than {about.limit} characters."
    return value.lower() if about.is_word else value, None
