"""The versions of a batch, and what changed from one to the next: the read model behind `versions`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from batchctl.domain.definitions import defined
from batchctl.domain.definitions.defined import Defined
from batchctl.domain.definitions.defined_changes import Base, ColumnChange, change_of
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


def versions(transactions: Transactions, name: str) -> tuple[VersionStep, ...]:
    """Return the versions of a batch, oldest first, and what it is now if that is none of them yet."""
    with transactions.read() as connection:
        batch = unknown.named(connection, definitions.all_batches(connection), name)
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
