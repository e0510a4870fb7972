"""What people write about instances, incidents and batches: each note in one transaction, with its row in the audit log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from batchctl.domain.errors import InvalidInput, NotFound
from batchctl.domain.operators import notes
from batchctl.domain.operators.notes import Note, NoteSubject
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import IncidentId, InstanceId
from batchctl.domain.text import fitting, visible
from batchctl.operations import shown_columns, unknown
from batchctl.operations.column_lists import ColumnList, record
from batchctl.operations.operators.acts import Actor
from batchctl.store import Connection, instances
from batchctl.store.alerting import incident_rows
from batchctl.store.definitions import definitions
from batchctl.store.maintenance import audit_entries
from batchctl.store.operators import note_rows


def about(one: Note) -> str:
    """Say what a note is about."""
    if one.instance_id is not None:
        return f"BatchControl {one.instance_id}"
    return f"ProcessBatch {one.batch_id}" if one.incident_id is None else f"incident {one.incident_id}"


NOTES = ColumnList[Note](
    "Notes",
    record(Note),
    {"about": about, "at (UTC)": "z_inserted", "who": "Actor", "note": "Text"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A note that was kept, or would be."""

    note: Note
    about: str
    """How people call what it is about."""
    dry_run: bool

    @property
    def wording(self) -> str:
        """Say what was done."""
        return f"{'Would be noted' if self.dry_run else 'Noted'} about {self.about}: {visible(self.note.text)}"


@dataclass(frozen=True, slots=True)
class Noter:
    """Keeps notes of a person."""

    actor: Actor

    def note(self, subject: NoteSubject, text: str) -> Noted:
        """Keep a note as long as what it is about is kept."""
        if (failure := notes.unfit_text(text)) is not None:
            raise InvalidInput(f"The note cannot be kept: {failure}.", next_step="the same with another text")

        def act(connection: Connection) -> Noted:
            now, who, batch_id = self.actor.clock.now(), fitting(self.actor.user), None
            if subject.batch is not None:
                batch_id = unknown.named(connection, definitions.all_batches(connection), subject.batch).batch_id
            elif subject.instance_id is not None:
                _check_instance(connection, subject.instance_id)
            elif subject.incident_id is not None:
                _check_incident(connection, subject.incident_id, lock=not self.actor.dry_run)
            made = Note(
                note_id=0,
                instance_id=subject.instance_id,
                incident_id=subject.incident_id,
                batch_id=batch_id,
                text=text,
                actor=who,
                at=now,
            )
            if not self.actor.dry_run:
                made = note_rows.add(
                    connection,
                    text,
                    who,
                    now,
                    instance_id=subject.instance_id,
                    incident_id=subject.incident_id,
                    batch_id=batch_id,
                )
                self.actor.note(connection, "note", _target(subject), text, {}, {"Note_id": made.note_id})
            called = about(made) if subject.batch is None else f"batch {visible(subject.batch)}"
            return Noted(note=made, about=called, dry_run=self.actor.dry_run)

        return self.actor.act(act)


def in_json(found: Iterable[Note]) -> list[JsonValue]:
    """Return notes for programs."""
    return [shown_columns.of(one) for one in found]


def _check_instance(connection: Connection, instance_id: InstanceId) -> None:
    if instances.load(connection, instance_id) is None:
        raise unknown.instance(connection, instance_id)


def _check_incident(connection: Connection, incident_id: IncidentId, *, lock: bool) -> None:
    load = incident_rows.load_locked if lock else incident_rows.load
    if load(connection, incident_id) is None:
        raise NotFound(f"There is no incident {incident_id}.", next_step="batchctl incidents --all")


def _target(subject: NoteSubject) -> str:
    if subject.instance_id is not None:
        return audit_entries.instance_target(subject.instance_id)
    if subject.incident_id is not None:
        return f"Incident:{subject.incident_id}"
    return fitting(f"ProcessBatch:{subject.batch}")
