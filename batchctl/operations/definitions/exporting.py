"""Definitions as a file: all of them, or some batches with what starts them and what they need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from batchctl.domain.definitions import defined
from batchctl.domain.definitions.defined import EXPORTED, OWNS, Columns, Defined, Shape, Value, fingerprint
from batchctl.domain.errors import NotFound
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import pool_named
from batchctl.domain.text import did_you_mean, is_invisible, visible
from batchctl.ports import Transactions
from batchctl.store.definitions import definition_rows
from batchctl.store.definitions.definition_rows import SETTINGS, SHAPES, VARIABLES

_OF_ENTITY = {"Schedule", "DataTrigger", "FileWatch"}


def export(
    transactions: Transactions,
    batches: Sequence[str] = (),
    *,
    with_settings: bool = False,
    with_variables: bool = False,
) -> list[Defined]:
    """Return all definitions, or some batches with what starts them and what they need.

    Settings and variables are those of one installation: the same definitions serve others.
    """
    left_out = {kind for kind, wanted in ((SETTINGS, with_settings), (VARIABLES, with_variables)) if not wanted}
    with transactions.read() as connection:
        found = [row.defined for row in definition_rows.everything(connection) if row.owner is None]
    found = [one for one in found if one.kind not in left_out]
    return _context(found, batches) if batches else found


def text_of(found: Sequence[Defined], owner: str | None, *, of_database: bool = True) -> str:
    """Return definitions as a file, which may say under which name it holds them; those of no database without its part."""
    return written(SHAPES, found, owner, of_database=of_database)


def listed(found: Sequence[Defined]) -> dict[str, JsonValue]:
    """Return definitions for JSON, as files have them."""
    return {
        shape.kind: [defined.raw(shape, one) for one in found if one.kind == shape.kind]
        for shape in SHAPES
        if any(one.kind == shape.kind for one in found)
    }


def _context(found: Sequence[Defined], names: Sequence[str]) -> list[Defined]:
    every = {one.name: one for one in found if one.kind == "ProcessBatch"}
    for name in names:
        if name not in every:
            meant = visible(did_you_mean(name, every))
            raise NotFound(f"There is no batch '{visible(name)}'.{meant}", next_step="batchctl batches")
    chosen = [every[name] for name in dict.fromkeys(names)]
    entities = {one.columns.get("Entity", one.name) for one in chosen}
    starting = [one for one in found if one.kind in _OF_ENTITY and one.columns.get("Entity") in entities]
    named = {("Calendar", one.columns.get("CalendarName")) for one in starting}
    named |= {("Resource", name) for one in chosen for name in one.parts.get("BatchResource", {})}
    steps = [step for one in chosen for step in one.parts.get("ProcessControl", {}).values()]
    named |= {("Pool", pool_named(str(of.get("Pool") or ""))) for of in (*(one.columns for one in chosen), *steps)}
    return [*chosen, *starting, *(one for one in found if (one.kind, one.name) in named)]


_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_CLOSING = re.compile(r'"(?=""|"?\Z)')
"""A quotation mark that would end a text of several lines, or help to."""
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_HEAD = """\
# Definitions of batchctl. See what applying them would change: batchctl plan FILE; do it: batchctl apply FILE --reason TEXT
# What has its default is left out. What stands in the database and not here is left alone; below what stands here, it is removed.
"""
_FOOT = """
# What these were when they were exported, so that apply overwrites nothing that somebody has changed since. Leave it as it is.
"""


def written(shapes: Sequence[Shape], found: Iterable[Defined], owner: str | None, *, of_database: bool = True) -> str:
    """Return a file's text; the same definitions make the same text."""
    every = sorted(found, key=lambda one: one.name)
    lines = [_HEAD.rstrip("\n")]
    if owner is not None:
        lines += ["", f"{OWNS} = {quoted(owner)}"]
    for shape in shapes:
        for one in every:
            if one.kind == shape.kind:
                lines += ["", *_table(shape, one)]
    if not of_database:
        return "\n".join(lines) + "\n"
    lines.append(_FOOT.rstrip("\n"))
    for shape in shapes:
        names = {one.name: fingerprint(shape, one) for one in every if one.kind == shape.kind}
        if names:
            lines += [
                f"[{EXPORTED}.{shape.kind}]",
                *(f"{_key(name)} = {quoted(said)}" for name, said in names.items()),
                "",
            ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(shape: Shape, one: Defined) -> Iterator[str]:
    yield f"[[{shape.kind}]]"
    yield from _assigned(_in_order(shape, one.name, one.columns))
    for part in shape.parts:
        if part.is_short and (below := one.parts.get(part.kind)):
            yield f"{part.kind} = ["
            yield from (f"  {_inline({part.key: key, **columns})}," for key, columns in below.items())
            yield "]"
    for part in shape.parts:
        if not part.is_short:
            for key, columns in one.parts.get(part.kind, {}).items():
                yield ""
                yield f"[[{shape.kind}.{part.kind}]]"
                yield from _assigned(_in_order(part, key, columns))


def _in_order(shape: Shape, key: str | int, columns: Columns) -> Columns:
    """Return columns in the order of their table, the key first."""
    return {
        column: {shape.key: key, **columns}[column]
        for column in (shape.key, *shape.columns)
        if column in {shape.key, *columns}
    }


def _assigned(columns: Columns) -> Iterator[str]:
    for column, value in columns.items():
        yield f"{column} = {_text(value) if isinstance(value, str) else value}"


def _inline(columns: Mapping[str, Value]) -> str:
    listed = (f"{column} = {quoted(value) if isinstance(value, str) else value}" for column, value in columns.items())
    return f"{{ {', '.join(listed)} }}"


def _text(value: str) -> str:
    return _lines(value) if "\n" in value else quoted(value)


def quoted(value: str) -> str:
    """Write a text on one line."""
    if ("\\" in value or '"' in value) and "'" not in value and not any(map(is_invisible, value)):
        return f"'{value}'"
    return f'"{"".join(_ESCAPES.get(each) or _plain(each) for each in value)}"'


def _lines(value: str) -> str:
    """Write a text on several lines, unchanged where possible."""
    is_plain = not any(is_invisible(each) for each in value if each not in "\n\t")
    if "\\" in value and is_plain and "'''" not in value and not value.endswith("'"):
        return f"'''\n{value}'''"
    made = "".join("\\\\" if each == "\\" else each if each in "\n\t" else _plain(each) for each in value)
    made = _CLOSING.sub(r'\\"', made)
    return f'"""\n{made}"""'


def _plain(character: str) -> str:
    if not is_invisible(character):
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _key(name: str) -> str:
    return name if _BARE.match(name) else quoted(name)
