"""`Note`: what people have written about instances, incidents and batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from itertools import zip_longest
from typing import Any

from sqlalchemy import Connection, bindparam, delete, or_, select

from batchctl.domain.operators.notes import Note
from batchctl.domain.rows import BatchId, IncidentId, InstanceId
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert
from batchctl.store.tables import note

AT_ONCE = 500
"""Rows that one statement names."""

_n = note.c
_note = Reader(Note)
_ADD = RowInsert(note)
_SUBJECTS = {"instances": _n.BatchControl_id, "incidents": _n.Incident_id, "batches": _n.ProcessBatch_id}
_ABOUT = (
    select(note)
    .where(or_(*(column.in_(bindparam(name, expanding=True)) for name, column in _SUBJECTS.items())))
    .order_by(_n.Note_id)
)
_REMOVE = {name: delete(note).where(column.in_(bindparam("ids", expanding=True))) for name, column in _SUBJECTS.items()}


def add(
    connection: Connection,
    text: str,
    actor: str,
    now: datetime,
    *,
    instance_id: InstanceId | None = None,
    incident_id: IncidentId | None = None,
    batch_id: BatchId | None = None,
) -> Note:
    """Insert a note about one of the three."""
    subject: dict[str, object] = {
        "BatchControl_id": instance_id,
        "Incident_id": incident_id,
        "ProcessBatch_id": batch_id,
    }
    made = _ADD(connection, {**subject, "Text": text, "Actor": actor, "z_inserted": now})
    return Note(
        note_id=made,
        instance_id=instance_id,
        incident_id=incident_id,
        batch_id=batch_id,
        text=text,
        actor=actor,
        at=now,
    )


def of(
    connection: Connection,
    *,
    instances: Collection[InstanceId] = (),
    incidents: Collection[IncidentId] = (),
    batches: Collection[BatchId] = (),
) -> list[Note]:
    """Return the notes about some instances, incidents and batches, oldest first."""
    pages = zip_longest(*map(_pages, (instances, incidents, batches)), fillvalue=list[int]())
    rows = (row for some in pages for row in connection.execute(_ABOUT, dict(zip(_SUBJECTS, some, strict=True))))
    return sorted(map(_note, rows), key=lambda one: one.note_id)


def remove_of_instances(connection: Connection, ids: Collection[InstanceId]) -> int:
    """Delete the notes about instances that go."""
    return _remove(connection, "instances", ids)


def remove_of_incidents(connection: Connection, ids: Collection[int]) -> int:
    """Delete the notes about incidents that go."""
    return _remove(connection, "incidents", ids)


def remove_of_batch(connection: Connection, batch_id: int) -> int:
    """Delete the notes about a batch that goes."""
    return _remove(connection, "batches", [batch_id])


def _remove(connection: Connection, name: str, ids: Collection[Any]) -> int:
    return sum(connection.execute(_REMOVE[name], {"ids": some}).rowcount for some in _pages(ids))


def _pages(ids: Collection[Any]) -> Iterator[list[Any]]:
    every = sorted(set(ids))
    yield from (every[at : at + AT_ONCE] for at in range(0, len(every), AT_ONCE))
