"""`batchctl inbox`: the rows that did not become work, why, and what a person does about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import click

from batchctl.cli import output
from batchctl.cli.instance_commands import show_acts
from batchctl.cli.log_command import Moment
from batchctl.cli.missing_controller import to_take
from batchctl.cli.session import INTAKE_ID, CliSession, WholeNumber, acts, as_rows, batch_names, one_of, reads
from batchctl.cli.unreadable_lists import unreadable_rows
from batchctl.domain.errors import BatchctlError, NotFound, Refused
from batchctl.domain.rows import IntakeId
from batchctl.domain.status import InboxState
from batchctl.domain.text import did_you_mean, visible
from batchctl.operations import clerk, inspection, shown_columns
from batchctl.operations.column_lists import UNREADABLE
from batchctl.operations.intake import inbox as inbox_rows

_STATES = tuple(state.value for state in InboxState)
_ids = click.argument("intake_ids", metavar="FILEPROCESS_ID...", type=INTAKE_ID, nargs=-1, required=True)


class InboxGroup(click.Group):
    """Says what was meant where a row's number stands in the place of a verb."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a verb, or say which one may have been meant."""
        if args[0] in self.commands or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        if args[0] == "accept":
            meant = " Did you mean 'batchctl accept'?"
        elif args[0].isdecimal():
            meant = f" Did you mean 'inbox show {args[0]}'?"
        else:
            meant = did_you_mean(args[0], self.commands)
        raise click.UsageError(f"The inbox has no command '{visible(args[0])}'.{meant}", ctx)


@click.group(cls=InboxGroup, invoke_without_command=True)
@click.option("--entity", metavar="ENTITY", help="Only rows of this entity.")
@click.option("--batch", metavar="NAME", shell_complete=batch_names, help="Only rows that this batch takes.")
@click.option("--since", type=Moment(), help="Only what arrived then or later, in UTC.")
@click.option(
    "--state", "--status", "states", type=one_of(_STATES), multiple=True, help="Only such rows; may be repeated."
)
@click.option("--before", type=INTAKE_ID, metavar="FILEPROCESS_ID", help="Only rows before this one: the next page.")
@click.option("--limit", type=WholeNumber(1, 10_000), default=50, show_default=True, help="How many rows.")
@as_rows
@click.pass_context
def inbox(
    ctx: click.Context,
    entity: str | None,
    batch: str | None,
    since: datetime | None,
    states: tuple[str, ...],
    before: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """List the FileProcess rows that did not become work, the newest first: why, and what to do.

    untaken: no batch takes the entity. new: no controller has looked at it yet. partial: not every batch that takes it
    has its instance. paused, rejected (by its populator, or by a person), duplicate: the row's status.
    """
    if ctx.invoked_subcommand is not None:
        if entity or batch or since or states or before or as_json:
            raise click.UsageError("These options are for the list; options of a command stand behind it.", ctx)
        return

    session: CliSession = ctx.obj
    if entity is not None and batch is not None:
        raise click.UsageError("Give either --entity or --batch.")
    wanted = [InboxState(state) for state in states] or list(InboxState)
    reader = session.app.inbox()
    if batch is not None:
        entity = inspection.entity_of(reader.transactions, batch)
    found = reader.newest(states=wanted, entity=entity, since=since, before=before, most=limit)
    if as_json:
        output.print_lists(
            {
                "Leader": found.leader,
                "Rows": (inbox_rows.ITEMS, found.items),
                "Before": found.before,
                "Unreadable": (UNREADABLE, found.unreadable),
            }
        )
    else:
        _list(found)


@inbox.command()
@click.argument("intake_id", metavar="FILEPROCESS_ID", type=INTAKE_ID)
@reads
def show(session: CliSession, intake_id: int, as_json: bool) -> None:
    """Show one FileProcess row in full: what it asks for, what became of it, what people did."""
    shown = session.app.inbox().show(IntakeId(intake_id))
    if as_json:
        output.print_json(_shown_as_json(shown))
    else:
        _show(shown)


@inbox.command()
@_ids
@acts(needs_reason=True)
def resend(session: CliSession, intake_ids: tuple[int, ...], reason: str, dry_run: bool) -> None:
    """Send rows again on purpose: each is inserted once more, and is no duplicate although its Data is the same.

    The first row stays as it is, complete or not. What is printed is the new row, as `batchctl wait` takes it. To go on
    with an instance that failed, use rerun instead.
    """

    def send(by: clerk.Clerk, intake_id: IntakeId, to_take: Sequence[str]) -> None:
        _tell_resent(by.resend(intake_id, reason=reason), to_take)

    _each(session, intake_ids, send, dry_run=dry_run)


@inbox.command()
@_ids
@acts(needs_reason=True)
def retry(session: CliSession, intake_ids: tuple[int, ...], reason: str, dry_run: bool) -> None:
    """Make rejected, duplicate or paused rows ready again, to be looked at anew: correct first what was wrong.

    A controller takes them in as if they had just arrived, or rejects them again, with the reason of then.
    """

    def try_again(by: clerk.Clerk, intake_id: IntakeId, to_take: Sequence[str]) -> None:
        _tell_moved(by.retry(intake_id, reason=reason), to_take, dry_run=dry_run)

    _each(session, intake_ids, try_again, dry_run=dry_run)


@inbox.command()
@_ids
@acts(needs_reason=True)
def reject(session: CliSession, intake_ids: tuple[int, ...], reason: str, dry_run: bool) -> None:
    """Reject rows that are not wanted and are not work yet: nothing comes of them, and their Message says why."""

    def turn_down(by: clerk.Clerk, intake_id: IntakeId, to_take: Sequence[str]) -> None:
        _tell_moved(by.reject(intake_id, reason=reason), to_take, dry_run=dry_run)

    _each(session, intake_ids, turn_down, dry_run=dry_run)


def _each(
    session: CliSession,
    intake_ids: tuple[int, ...],
    act: Callable[[clerk.Clerk, IntakeId, Sequence[str]], None],
    *,
    dry_run: bool,
) -> None:
    """Do something about each row by itself; what is refused of one keeps no other from it."""
    failed: list[BatchctlError] = []
    wanted = list(dict.fromkeys(intake_ids))
    app = session.app
    of_all, takes = clerk.Clerk(**app.acting(dry_run=dry_run), zone=app.settings.zone), to_take(app)
    for intake_id in wanted:
        try:
            act(of_all, IntakeId(intake_id), takes)
        except (Refused, NotFound) as error:
            failed.append(error)
            output.warn(error.message, error.code, error.next_step)
    if dry_run and len(failed) < len(wanted):
        output.say("Next: the same command without --dry-run")
    if failed:
        raise click.exceptions.Exit(failed[0].exit_code)


def _tell_moved(done: clerk.MovedRow, to_take: Sequence[str], *, dry_run: bool) -> None:
    at, status = done.before.intake_id, done.status.value
    becomes = "would become" if dry_run else "is now"
    click.echo(f"FileProcess {at} {becomes} {status} (it was {done.before.status.value}).")
    if done.untaken is not None:
        output.say(f"Note: {done.untaken}")
    if dry_run:
        return
    if status == "rejected":
        output.say(f"Next: batchctl inbox retry {at} --reason ...   (if it is wanted after all)")
    elif status != "ready":
        output.say(f"Next: batchctl inbox show {at}")
    else:
        for step in (*to_take, f"batchctl inbox show {at}"):
            output.say(f"Next: {step}")


def _tell_resent(done: clerk.Resent, to_take: Sequence[str]) -> None:
    takers = ", ".join(visible(name) for name in done.batches)
    what = f"submission {done.number} of FileProcess {done.first}"
    if done.intake_id is None:
        click.echo(f"FileProcess {done.row.intake_id} would be inserted once more, as {what}; taken by: {takers}.")
        return
    click.echo(f"file:{done.intake_id}")
    output.say(f"FileProcess {done.intake_id} is {what}; taken by: {takers}.")
    for step in (*to_take, f"batchctl wait file:{done.intake_id}"):
        output.say(f"Next: {step}")


def _list(found: inbox_rows.Inbox) -> None:
    unreadable_rows(found.unreadable)
    if not found.items:
        far = "" if found.before is None else f" Ready rows before FileProcess {found.before} were not looked at."
        click.echo(f"Nothing of what was asked for is in the inbox.{far}")
    else:
        output.show_list(inbox_rows.ITEMS, found.items)
    hints = [f"batchctl inbox show {found.items[0].row.intake_id}   (one row in full)"] if found.items else []
    if found.before is not None:
        hints.append(f"batchctl inbox --before {found.before}   (older rows, with the same options)")
    output.hints(*(hints or ["batchctl status"]))


def _show(shown: inbox_rows.ShownIntake) -> None:
    output.properties(_summary(shown))
    names = {batch.batch_id: batch.name for batch in shown.takers}
    names |= {row.batch_id: row.batch for row in shown.unreadable if row.batch_id is not None}
    rows = [
        (
            instance.instance_id,
            names.get(instance.batch_id, f"(ProcessBatch {instance.batch_id})"),
            output.word(instance.status),
            instance.cycle_key,
        )
        for instance in shown.instances
    ]
    output.table_if_any("Its instances", ["id#", "batch", "status", "CycleKey"], rows)
    show_acts(shown.audit)
    output.hints(*_next(shown))


def _summary(shown: inbox_rows.ShownIntake) -> list[tuple[str, object]]:
    row, item = shown.row, shown.item
    columns = {
        "FileName": row.file_name,
        "Data": row.data,
        "CycleKey": row.cycle_key,
        "Source": row.source,
        "Message": row.message,
    }
    return [
        ("FileProcess", row.intake_id),
        ("Entity", row.entity),
        ("Status", output.word(row.status)),
        *((name, value) for name, value in columns.items() if value is not None),
        ("Arrived (UTC)", row.inserted_at),
        ("Taken by", ", ".join(_takers(shown)) or "no batch"),
        *([] if item is None else [("Not work because", f"{item.state}: {item.reason}")]),
    ]


def _takers(shown: inbox_rows.ShownIntake) -> list[str]:
    return [*(batch.name for batch in shown.takers), *(row.batch for row in shown.unreadable)]


def _next(shown: inbox_rows.ShownIntake) -> list[str]:
    at = shown.row.intake_id
    if shown.item is not None:
        return [shown.item.clear, f"batchctl why file:{at}   (every gate, passed or blocking)"]
    if shown.row.status.value == "complete":
        return [f"batchctl inbox resend {at} --reason ...   (to run all of it once more)"]
    return [f"batchctl why file:{at}   (every gate, passed or blocking)"]


def _shown_as_json(shown: inbox_rows.ShownIntake) -> shown_columns.Columns:
    why = {"State": None, "Because": None, "FileMissing": False, "Next": None}
    return {
        **(shown_columns.of(shown.row) | why if shown.item is None else inbox_rows.ITEMS.of(shown.item)),
        "Leader": shown.leader,
        "TakenBy": [*_takers(shown)],
        "BatchControl": [shown_columns.of(instance) for instance in shown.instances],
        "Audit": [shown_columns.of(entry) for entry in shown.audit],
    }
