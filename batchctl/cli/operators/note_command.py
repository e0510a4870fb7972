"""`batchctl note`: what those who come after have to know."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import INSTANCE_ID, ROW_ID, CliSession, as_json, batch_names, writes
from batchctl.domain.operators.notes import NoteSubject
from batchctl.domain.rows import IncidentId, InstanceId
from batchctl.operations.operators import noting


@click.command()
@click.argument("words", metavar="[ID] TEXT", nargs=-1, required=True)
@click.option("--incident", "incident_id", type=ROW_ID, metavar="ID", help="About an incident.")
@click.option("--batch", metavar="NAME", shell_complete=batch_names, help="About a batch.")
@writes
@as_json
def note(
    session: CliSession,
    words: tuple[str, ...],
    incident_id: int | None,
    batch: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Write a note about an instance, an incident or a batch: ID is a BatchControl id.

    It is shown wherever that is shown, and kept as long. A text of several words stands in quotes.
    """
    subject, text = _read(words, incident_id, batch)
    done = noting.Noter(session.app.actor(dry_run=dry_run)).note(subject, text)
    if as_json:
        output.print_list(noting.NOTES, [done.note])
        return
    click.echo(f"{done.wording}")
    output.say(f"Next: {'the same without --dry-run' if dry_run else _where(subject)}")


def _read(words: tuple[str, ...], incident_id: int | None, batch: str | None) -> tuple[NoteSubject, str]:
    """Return what the note is about, and its text."""
    if incident_id is not None and batch is not None:
        raise click.UsageError("--incident and --batch exclude each other.")
    named = incident_id is not None or batch is not None
    if len(words) != (1 if named else 2):
        about = "--incident and --batch say what it is about, so that" if named else "Name an instance first, then"
        raise click.UsageError(f"{about} the text stands in quotes as one word: batchctl note 42 'the text'")
    if incident_id is not None:
        return NoteSubject(incident_id=IncidentId(incident_id)), words[0]
    if batch is not None:
        return NoteSubject(batch=batch), words[0]
    number = INSTANCE_ID.convert(words[0], None, click.get_current_context())
    return NoteSubject(instance_id=InstanceId(number)), words[1]


def _where(subject: NoteSubject) -> str:
    """Return where the note is shown."""
    if subject.instance_id is not None:
        return f"batchctl show {subject.instance_id}"
    return "batchctl incidents" if subject.batch is None else "batchctl batches"
