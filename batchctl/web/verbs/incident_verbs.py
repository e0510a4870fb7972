"""What people do about incidents, and the notes that they write."""

from __future__ import annotations

from collections.abc import Sequence

from batchctl.app import App
from batchctl.domain.errors import InvalidInput
from batchctl.domain.maintenance.lengths import length_of
from batchctl.domain.operators.notes import NoteSubject
from batchctl.domain.operators.request_verbs import AskedAct, Verb
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import IncidentId, InstanceId
from batchctl.domain.text import visible
from batchctl.node import Node
from batchctl.operations import shown_columns
from batchctl.operations.alerting.incident_desk import LookedAfter, Which
from batchctl.operations.operators.noting import NOTES, Noter
from batchctl.web.page import batch_page
from batchctl.web.wishes import ActOutcome, Asks, Carry, ConsoleAct, FieldKind, FormField, Subject, Wish


def _acknowledge(app: App, wish: Wish) -> ActOutcome:
    which = Which(incident_id=IncidentId(wish.row_id))
    return _looked_after(Node(app).incident_desk(dry_run=wish.dry_run).acknowledge(which, reason=wish.why))


def _snooze(app: App, wish: Wish) -> ActOutcome:
    which, written = Which(incident_id=IncidentId(wish.row_id)), wish.text("for") or ""
    length = length_of(written)
    if length is None:
        raise InvalidInput(f"'{visible(written)}' is no length of time.", next_step="for example 30m, 2h or 1d")
    return _looked_after(Node(app).incident_desk(dry_run=wish.dry_run).snooze(which, length, reason=wish.why))


def _looked_after(done: Sequence[LookedAfter]) -> ActOutcome:
    found: list[JsonValue] = [
        {"Incident_id": each.incident.incident_id, "Until": shown_columns.moment(each.until)} for each in done
    ]
    return ActOutcome(lines=[each.wording for each in done], columns={"Incidents": found}, where="/incidents")


def _note_of_instance(app: App, wish: Wish) -> ActOutcome:
    subject = NoteSubject(instance_id=InstanceId(wish.row_id))
    return _noted(app, subject, wish, f"/instances/{wish.row_id}")


def _note_of_incident(app: App, wish: Wish) -> ActOutcome:
    return _noted(app, NoteSubject(incident_id=IncidentId(wish.row_id)), wish, "/incidents")


def _note_of_batch(app: App, wish: Wish) -> ActOutcome:
    return _noted(app, NoteSubject(batch=wish.key), wish, batch_page(wish.key))


def _noted(app: App, subject: NoteSubject, wish: Wish, where: str) -> ActOutcome:
    done = Noter(app.actor(dry_run=wish.dry_run)).note(subject, wish.text("text") or "")
    return ActOutcome(lines=[done.wording], columns=NOTES.of(done.note), where=where)


def _asks_of_incident(verb: Verb) -> Asks:
    def asks(wish: Wish) -> AskedAct:
        length = {} if wish.text("for") is None else {"for": wish.text("for")}
        reason = wish.text("text") if verb is Verb.NOTE else wish.reason
        return AskedAct(verb=verb, arguments={"incident": wish.row_id, **length}, reason=reason)

    return asks


def _asks_note_of_instance(wish: Wish) -> AskedAct:
    return AskedAct(verb=Verb.NOTE, instance_id=InstanceId(wish.row_id), reason=wish.text("text"))


def _asks_note_of_batch(wish: Wish) -> AskedAct:
    return AskedAct(verb=Verb.NOTE, batch=wish.key, reason=wish.text("text"))


_TEXT = (FormField("text", "Note", FieldKind.LONG, is_needed=True),)


def _note(subject: Subject, carry: Carry, asks: Asks) -> ConsoleAct:
    says = f"Write a note. It is shown wherever the {subject.one} is shown, and kept as long."
    return ConsoleAct(subject, "note", says, carry, _TEXT, takes_reason=False, asks=asks)


VERBS = (
    ConsoleAct(
        Subject.INCIDENTS,
        "acknowledge",
        "Take care of the incident: no more reminders of it are sent.",
        _acknowledge,
        needs_reason=True,
        asks=_asks_of_incident(Verb.ACKNOWLEDGE),
    ),
    ConsoleAct(
        Subject.INCIDENTS,
        "snooze",
        "Send no reminders of the incident for a while.",
        _snooze,
        (FormField("for", "For", is_needed=True, hint="30m, 2h, 1d"),),
        needs_reason=True,
        asks=_asks_of_incident(Verb.SNOOZE),
    ),
    _note(Subject.INSTANCES, _note_of_instance, _asks_note_of_instance),
    _note(Subject.INCIDENTS, _note_of_incident, _asks_of_incident(Verb.NOTE)),
    _note(Subject.BATCHES, _note_of_batch, _asks_note_of_batch),
)
