"""`batchctl submit, create, accept`: what asks for work, and what is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from batchctl import node
from batchctl.cli import output, progress
from batchctl.cli.missing_controller import to_wait
from batchctl.cli.session import FAILED, INTAKE_ID, CliSession, acts, writes
from batchctl.domain.error_codes import REJECTED_AGAIN
from batchctl.domain.locked_rows import parted
from batchctl.domain.rows import IntakeId, Populated
from batchctl.operations import inspection, planning
from batchctl.operations.intake import inbox, submission

PLANNED_MOST = 100
MOST_NAMED = 20
"""Who keeps a row locked is printed for this many rows at most."""


@click.command()
@click.argument("entity")
@click.option("--file", "file_name", metavar="FILE", help="FileName; the path of a file that exists is made absolute.")
@click.option("--data", metavar="TEXT", help="Data: what tells duplicates, or a payload.")
@click.option("--cycle-key", metavar="KEY", help="CycleKey: the business date or another key.")
@writes
def submit(
    session: CliSession, entity: str, file_name: str | None, data: str | None, cycle_key: str | None, dry_run: bool
) -> None:
    """Insert a FileProcess row, as any program may, and print its id."""
    if file_name is not None and not file_name.strip():
        raise click.BadParameter("it is empty; leave --file out where there is no file.", param_hint="--file")
    wanted = submission.Submission(entity=entity, file_name=_absolute(file_name), data=data, cycle_key=cycle_key)
    app = session.app
    done = submission.submit(
        app.transactions,
        wanted,
        user=app.ids.user(),
        host=app.ids.host(),
        dry_run=dry_run,
        check=app.check_of_tasks,
    )
    steps = to_wait(app, f"file:{done.intake_id or 'ID'}")
    if done.intake_id is None:
        output.say(f"A FileProcess row would be inserted: {wanted.entity}, {wanted.file_name or 'no file'}.")
    else:
        click.echo(done.intake_id)
    if wanted.file_name is not None and not _exists(wanted.file_name):
        output.say("Note: no such file here; stored as written.")
    if done.hint is not None:
        output.say(f"Note: {done.hint}")
    if done.batches:
        output.say(f"Taken by: {', '.join(done.batches)}.")
    for step in steps if done.next_step is None else (done.next_step,):
        output.say(f"Next: {step}")


@click.command()
@writes
def create(session: CliSession, dry_run: bool) -> None:
    """Make every instance that is missing: one creation pass."""
    if dry_run:
        show_planned_creations(session)
        return
    with progress.watched(session) as node:
        done = node.create()
    parts = [f"{done.created} created", f"{done.duplicates} duplicate", f"{done.rejected} rejected"]
    click.echo(f"Instances: {', '.join(parts)}. FileProcess rows that no batch takes: {done.untaken}.")
    if done.locked:
        _tell_locked(done.locked)
        return
    if tell_stuck(session):
        return
    failure = done.rejected or done.duplicates or done.untaken
    output.say("Next: batchctl status   (the reasons)" if failure else "Next: batchctl process")


def _tell_locked(locked: Sequence[tuple[int, str]]) -> None:
    """Print the rows of which nothing could be made because of locks, who holds these, and what ends them."""
    click.echo(f"FileProcess rows that somebody keeps locked: {len(locked)}.")
    ends = list[str]()
    for intake_id, said in locked[:MOST_NAMED]:
        who, end = parted(said)
        output.say(f"Note: FileProcess {intake_id} is no work yet: {who}.")
        ends.append(end or "batchctl create   (once that is over)")
    for end in dict.fromkeys(ends):
        output.say(f"Next: {end}")


def tell_stuck(session: CliSession) -> bool:
    """Say which rows wait for a person, whatever is created or processed; say whether there are any."""
    app = session.app
    found = inbox.stuck(app.transactions, app.registry.plugins())
    for item in found[:1]:
        others = f" {len(found) - 1} more wait for a person." if len(found) > 1 else ""
        output.say(f"Note: FileProcess {item.row.intake_id} is no work: {item.because}.{others}")
        output.say(f"Next: {item.clear}")
    return bool(found)


@click.command()
@click.argument("intake_id", metavar="FILEPROCESS_ID", type=INTAKE_ID)
@acts(needs_reason=True)
def accept(session: CliSession, intake_id: int, reason: str, dry_run: bool) -> None:
    """Take in a rejected or duplicate FileProcess row on purpose.

    Its populator is asked again: correct first what it rejected. Exit code 1 when the row is rejected again.
    """
    planned = planning.acceptance(session.app.transactions, IntakeId(intake_id))
    if dry_run:
        takers = ", ".join(planned.batches) or ("none that can be read" if planned.unreadable else "no batch")
        output.say(f"FileProcess {intake_id} ({planned.row.status}) would be taken in by {takers}.")
        output.say("Note: the populator is asked again then, and may reject it again.")
    for row in planned.unreadable:
        output.say(f"Note: {row.message}. Until that is corrected the batch does nothing.")
        output.say(f"Next: {row.mend}")
    if dry_run:
        return
    app = session.app
    done = node.Node(app).accept(IntakeId(intake_id), reason)
    again = inspection.rejected_row(app.transactions, IntakeId(intake_id)) if done.rejected else None
    click.echo(f"FileProcess {intake_id}: {output.counted(done.created, 'instance')} created.")
    if again is None:
        output.say(f"Next: batchctl why file:{intake_id}")
        return
    output.warn(f"FileProcess {intake_id} is rejected again: {again.message}", REJECTED_AGAIN, again.clear)
    raise click.exceptions.Exit(FAILED)


def show_planned_creations(session: CliSession) -> bool:
    """Show what a creation pass would do; say whether it would create anything."""
    planned = node.Node(session.app).plan_creations(PLANNED_MOST)
    if not planned:
        click.echo("Nothing to do: no instance would be created.")
        return False
    rows = [
        (
            one.row.intake_id,
            one.row.entity,
            one.row.file_name,
            ", ".join(one.batches) or None,
            "; ".join(_values(one)) or None,
            "; ".join([*one.all_refused, *(f"repeats FileProcess {first}" for first in one.repeats)]) or None,
        )
        for one in planned
    ]
    title = "Instances that would be created"
    output.table(title, ["FileProcess#", "entity", "file", "for batch", "values", "but"], rows)
    return any(one.batches for one in planned)


def _values(planned: planning.PlannedCreation) -> Iterator[str]:
    """Yield what the populators have found; with the names of the batches only where their values differ."""
    each = [(name, _wording(values)) for name, values in planned.values]
    if len({said for _, said in each}) == 1:
        each = [("", each[0][1])]
    for name, said in each:
        yield f"{name}: {said}" if name else said


def _wording(values: Populated) -> str:
    """Write the values that are not empty."""
    named = {**{f"Data{at}": value for at, value in enumerate(values.data, start=1)}, "CycleKey": values.cycle_key}
    return ", ".join(f"{name}={value}" for name, value in named.items() if value is not None) or "none"


def _absolute(file_name: str | None) -> str | None:
    return file_name if file_name is None or not _exists(file_name) else str(Path(file_name).absolute())


def _exists(file_name: str) -> bool:
    try:
        return Path(file_name).exists()
    except (OSError, ValueError):
        return False
