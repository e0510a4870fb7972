"""The versions of a batch, and what changed from one to the next: the read model behind `versions`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from batchctl.domain.definitions import defined
from batchctl.domain.definitions.defined import Defined
from batchctl.domain.definitions.defined_changes import Base, ColumnChange, change_of
from batchctl.domain.text import shorten, visible
from batchctl.operations import unknown
from batchctl.operations.column_lists import ColumnList
from batchctl.ports import Transactions
from batchctl.store.definitions import batch_versions, definitions
from batchctl.store.definitions.batch_versions import Version
from batchctl.store.definitions.definition_rows import SHAPES, shape_of

KIND = "ProcessBatch"


@dataclass(frozen=True, slots=True)
class VersionStep:
    """A version, and what is different in it from the one before."""

    number: int | None
    """None of what no controller has written down yet."""
    seen_at: datetime | None
    changes: tuple[ColumnChange, ...]
    content: str


VERSIONS = ColumnList[VersionStep](
    "Versions",
    {
        "DefVersion": lambda one: one.number,
        "z_inserted": lambda one: one.seen_at,
        "Changes": lambda one: [{"Column": at.where, "Before": at.before, "After": at.after} for at in one.changes],
        "Content": lambda one: json.loads(one.content),
    },
)
CHANGES = ColumnList[tuple[VersionStep, ColumnChange | None, bool]](
    "Versions",
    {
        "DefVersion": lambda row: row[0].number,
        "z_inserted": lambda row: row[0].seen_at,
        "Column": lambda row: None if row[1] is None else row[1].where,
        "Before": lambda row: None if row[1] is None else row[1].before,
        "After": lambda row: None if row[1] is None else row[1].after,
    },
    {
        "version": lambda row: (row[0].number or "now") if row[2] else "",
        "seen (UTC)": lambda row: (row[0].seen_at or "not seen yet") if row[2] else "",
        "what changed": lambda row: "as it was first seen" if row[1] is None else _wording(row[1]),
    },
)
"""A row for each change, of which the first says of which version it is."""


def changes(found: Sequence[VersionStep]) -> Iterator[tuple[VersionStep, ColumnChange | None, bool]]:
    """Yield what changed in each version, in rows of `CHANGES`."""
    for one in found:
        for at, change in enumerate(one.changes or (None,)):
            yield one, change, at == 0


def _wording(change: ColumnChange) -> str:
    return f"{change.where}: {_short(change.before)} -> {_short(change.after)}"


def _short(value: object) -> str:
    if value is None:
        return "-"
    return f"'{shorten(visible(value), 60)}'" if isinstance(value, str) else str(value)


def versions(transactions: Transactions, name: str) -> tuple[VersionStep, ...]:
    """Return the versions of a batch, oldest first, and what it is now if that is none of them yet."""
    with transactions.read() as connection:
        batch = unknown.named(connection, definitions.all_batches(connection), name)
        batch_versions.ask(connection, batch.batch_id)
        known = batch_versions.of_batch(connection, batch.batch_id)
        content = batch_versions.present(connection, batch.batch_id)
    found, before = list[VersionStep](), None
    for one in known:
        after = _defined(one.content)
        found.append(VersionStep(one.number, one.seen_at, _changes(before, after), one.content))
        before = after
    if content is not None and not _is_newest(known, content):
        found.append(VersionStep(None, None, _changes(before, _defined(content)), content))
    return tuple(found)


def _is_newest(known: list[Version], content: str) -> bool:
    return bool(known) and known[-1].fingerprint == batch_versions.fingerprint(content)


def _defined(content: str) -> Defined:
    found = defined.read(SHAPES, {KIND: [json.loads(content)]}, "").found
    return found[0]


def _changes(before: Defined | None, after: Defined) -> tuple[ColumnChange, ...]:
    """Return what is different; of the first one everything was there from the beginning."""
    change = None if before is None else change_of(shape_of(KIND), before, after, Base())
    return () if change is None else change.columns
