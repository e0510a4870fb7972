"""Definitions as a file: all of them, or some batches with what starts them and what they need."""

from __future__ import annotations

from collections.abc import Sequence

from batchctl.domain.definitions import defined, defined_text
from batchctl.domain.definitions.defined import Defined
from batchctl.domain.errors import NotFound
from batchctl.domain.records import JsonValue
from batchctl.domain.text import did_you_mean, visible
from batchctl.ports import Transactions
from batchctl.store.definitions import definition_rows
from batchctl.store.definitions.definition_rows import SETTINGS, SHAPES

_OF_ENTITY = {"Schedule", "DataTrigger", "FileWatch"}


def export(transactions: Transactions, batches: Sequence[str] = (), *, with_settings: bool = False) -> list[Defined]:
    """Return all definitions, or some batches with what starts them and what they need."""
    with transactions.read() as connection:
        found = [row.defined for row in definition_rows.everything(connection) if row.owner is None]
    if not with_settings:
        found = [one for one in found if one.kind != SETTINGS]
    return _context(found, batches) if batches else found


def text_of(found: Sequence[Defined], owner: str | None) -> str:
    """Return definitions as a file, which may say under which name it holds them."""
    return defined_text.written(SHAPES, found, owner)


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
    return [*chosen, *starting, *(one for one in found if (one.kind, one.name) in named)]
