"""`BatchVersion`: what a batch and its steps were at each version that anything has run, or was created for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import Connection, bindparam, func, select

from batchctl.domain.definitions.defined import ENABLED, Defined, raw
from batchctl.store.columns import readable
from batchctl.store.definitions.definition_rows import shape_of, sparse_row
from batchctl.store.one_look import ask_ahead
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect
from batchctl.store.tables import batch_version, process_batch, process_control
from batchctl.store.transactions import left_out_if_refused

_v, _b, _p = batch_version.c, process_batch.c, process_control.c

_UNVERSIONED = frozenset({ENABLED, "Origin"})
"""Whether a batch is enabled, and what keeps its row up to date, changes nothing of what it does."""
_newest = select(_v.ProcessBatch_id, func.max(_v.DefVersion).label("DefVersion")).group_by(_v.ProcessBatch_id)
_LAST = _newest.subquery("Newest")
NEWEST = RowSelect(
    select(_v.ProcessBatch_id, _v.DefVersion, _v.Fingerprint).join(
        _LAST, (_LAST.c.ProcessBatch_id == _v.ProcessBatch_id) & (_LAST.c.DefVersion == _v.DefVersion)
    )
)
_OF = RowSelect(select(batch_version).where(_v.ProcessBatch_id == bindparam("batch_id")).order_by(_v.DefVersion))
_BATCH = RowSelect(select(process_batch).where(_b.ProcessBatch_id == bindparam("batch_id")))
_STEPS = RowSelect(
    select(process_control).where(_p.ProcessBatch_id == bindparam("batch_id")).order_by(_p.ProcessControlSeq)
)
_ADD = RowInsert(batch_version)


@dataclass(frozen=True, slots=True)
class Version:
    """A `BatchVersion` row."""

    batch_id: int
    batch: Annotated[str, "ProcessBatchName"]
    number: Annotated[int, "DefVersion"]
    fingerprint: str
    content: str
    """A batch with its steps, as an exported file has it, in JSON."""
    seen_at: Annotated[datetime, "z_inserted"]


_version = Reader(Version)


def newest(connection: Connection) -> dict[int, tuple[int, str]]:
    """Return the newest version of each batch that has one: its number and fingerprint."""
    return {batch_id: (number, said) for batch_id, number, said in NEWEST(connection)}


def of_batch(connection: Connection, batch_id: int) -> list[Version]:
    """Return all versions of a batch, oldest first."""
    return readable(_OF(connection, batch_id=batch_id), _version)


def ask(connection: Connection, batch_id: int) -> None:
    """Ask ahead for the versions of a batch, and for what it now is."""
    ask_ahead(connection, *((each, {"batch_id": batch_id}) for each in (_OF, _BATCH, _STEPS)))


def content_of(batch: Any, steps: Iterable[Any]) -> str:
    """Return a batch with its steps, given by their rows, as a version keeps it."""
    columns = {
        column: value for column, value in sparse_row("ProcessBatch", batch).items() if column not in _UNVERSIONED
    }
    below = {step.ProcessControlSeq: sparse_row("ProcessControl", step) for step in steps}
    defined = Defined("ProcessBatch", str(batch.ProcessBatchName), columns, {"ProcessControl": below})
    return json.dumps(raw(shape_of("ProcessBatch"), defined), sort_keys=True)


def fingerprint(content: str) -> str:
    """Return a short text that differs once the content does."""
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def present(connection: Connection, batch_id: int) -> str | None:
    """Return what a batch with its steps now is."""
    steps = _STEPS.ask(connection, batch_id=batch_id)
    batch = next(iter(_BATCH(connection, batch_id=batch_id)), None)
    return None if batch is None else content_of(batch, steps())


def number(connection: Connection, batch_id: int) -> int | None:
    """Return the version that a batch now stands at, writing down a new one where it is not known; None without a batch.

    To be called in a transaction that writes.
    """
    content = present(connection, batch_id)
    if content is None:
        return None
    said = fingerprint(content)
    found = _known(connection, batch_id, said)
    if found is None:
        # Of two that write it down at the same moment the database refuses one, which then finds it written.
        with left_out_if_refused(connection):
            found = _add(connection, batch_id, content, said)
    return found or _known(connection, batch_id, said) or _add(connection, batch_id, content, said)


def _known(connection: Connection, batch_id: int, wording: str) -> int | None:
    known = of_batch(connection, batch_id)
    return known[-1].number if known and known[-1].fingerprint == wording else None


def _add(connection: Connection, batch_id: int, content: str, wording: str) -> int:
    known = of_batch(connection, batch_id)
    following = known[-1].number + 1 if known else 1
    values = {
        "ProcessBatch_id": batch_id,
        "ProcessBatchName": json.loads(content)["ProcessBatchName"],
        "DefVersion": following,
        "Fingerprint": wording,
        "Content": content,
    }
    _ADD(connection, values)
    return following
