"""`batchctl task` and `batchctl wait`: queue something, and wait for it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import click

from batchctl.cli import command_texts, output
from batchctl.cli.missing_controller import to_take, to_wait
from batchctl.cli.session import FAILED, CliSession, Ref, Seconds, acts, as_json, dry_run, reads_rows
from batchctl.domain.error_codes import NOT_DONE, TIME_OVER
from batchctl.domain.maintenance.lengths import for_people
from batchctl.domain.operators import freezes
from batchctl.domain.text import typed, visible
from batchctl.operations import pool_standing, tasks, waiting
from batchctl.operations.operators import pooling
from batchctl.system.commands import command_line

TIMED_OUT = 5
LISTED_MOST = 10
_COMMAND = "batchctl.command"


class TaskCommand(click.Command):
    """Keeps what stands behind `--` apart, whatever it looks like."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Go on with `task enable`, which is no SQL."""
        if args[:1] == ["enable"]:
            return enable.make_context(f"{info_name} enable", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options before `--`."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_COMMAND] = None if at == len(args) else tuple(args[at + 1 :])
        try:
            return super().parse_args(ctx, args[:at])
        except click.NoSuchOption as error:
            if at < len(args):
                raise
            meant = "If it belongs to a command, write -- before the command: batchctl task -- COMMAND ARG..."
            raise click.UsageError(f"{error.format_message()} {meant}", ctx) from None

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Show both ways to call it."""
        del ctx
        return ["[OPTIONS]", "(SQL --connection NAME | -- COMMAND [ARG]...)"]


@click.command(cls=TaskCommand)
@click.argument("sql", nargs=-1, metavar="SQL")
@click.option("--connection", metavar="NAME", help="Where the SQL runs: a connection of the configuration.")
@click.option(
    "--entity", metavar="NAME", default="Task", show_default=True, help="Another task queue: what its batch takes."
)
@as_json
@dry_run
@click.pass_context
def task(
    ctx: click.Context, sql: tuple[str, ...], connection: str | None, entity: str, as_json: bool, dry_run: bool
) -> None:
    """Queue a task: a command or SQL that a running controller (batchctl run) carries out.

    A command stands behind --, as in: batchctl task -- gzip -k /in/data.csv. It is run without a shell: no pipe, no *, no
    variable. SQL is one argument, as in: batchctl task "DELETE FROM Stage" --connection warehouse; - reads it from
    standard input. The task is inserted as a FileProcess row, whose id is printed as file:17: what
    `batchctl wait` and `batchctl why` take.

    A new database has no task queue: batchctl task enable --reason ... makes it.
    """
    session: CliSession = ctx.obj
    wanted = _wanted(ctx, sql, connection, entity)
    app = session.app
    desk = tasks.Desk(**app.acting(dry_run=dry_run), populators=app.registry, preparer=app.preparer)
    done, now = desk.queue(wanted), app.clock.now()
    steps = to_wait(app, f"file:{done.intake_id}")
    if as_json:
        output.print_json(done.columns())
    elif done.intake_id is not None:
        click.echo(f"file:{done.intake_id}")
    _tell(done, now, steps, as_json=as_json)


@click.command()
@click.option("--entity", metavar="NAME", default="Task", show_default=True, help="What the queue is called.")
@click.option(
    "--role", "roles", metavar="NAME", multiple=True, help="A database role that may use it; may be repeated."
)
@acts(needs_reason=True)
def enable(session: CliSession, entity: str, roles: tuple[str, ...], reason: str, dry_run: bool) -> None:
    """Make the task queue: every user who may insert its rows then runs any command as the controller's user.

    On PostgreSQL and SQL Server the script of batchctl db roles keeps every role out but the owner of the tables, the
    controller, and those named here. On SQLite every user who may write to the file may do anything anyway.
    """
    actor = session.app.actor(dry_run=dry_run)
    done = tasks.enable(actor, entity, roles, reason=reason)
    would = "would be" if dry_run else "is now"
    if done.is_made or done.is_enabled:
        click.echo(
            f"Batch {visible(done.batch)} {would} {'made' if done.is_made else 'enabled'}: it carries out tasks."
        )
    else:
        click.echo(f"Batch {visible(done.batch)} is enabled already.")
    if done.roles:
        click.echo(f"Roles that may use it: {', '.join(done.roles)}.")
    looked = []
    if done.held:
        waits, are = output.counted(done.held, "row"), "would be" if dry_run else "now"
        click.echo(f"Paused {are}, because inserted before: {waits} of entity '{visible(entity)}'.")
        listed = f"batchctl inbox --entity {typed(entity)}"
        looked = [f"{listed}   (look at Data, then: batchctl inbox retry ID --reason ..., or inbox reject)"]
    guard = f"batchctl db roles --dialect {done.database}   (what keeps everybody else out)"
    output.hints(
        *looked, *(["the same command without --dry-run"] if dry_run else [guard, "batchctl task -- COMMAND ARG..."])
    )


def _wanted(ctx: click.Context, sql: tuple[str, ...], connection: str | None, entity: str) -> tasks.TaskWish:
    command: tuple[str, ...] | None = ctx.meta[_COMMAND]
    if command is not None and (sql or connection is not None):
        raise click.UsageError("A task is either SQL on a --connection, or a command behind --, not both.", ctx)
    if command:
        return tasks.TaskWish(body=command_line.written(command), entity=entity)
    if command is not None or not sql:
        message = 'Say what to do: batchctl task "SELECT ..." --connection NAME, or batchctl task -- COMMAND ARG...'
        raise click.UsageError(message, ctx)
    if connection is None:
        message = "SQL needs --connection NAME. If it is a command, write -- before it: batchctl task -- COMMAND ARG..."
        raise click.UsageError(message, ctx)
    if len(sql) > 1:
        raise click.UsageError(f"The SQL is one argument: put it in quotes. It was {len(sql)} arguments.", ctx)
    text = sys.stdin.read() if sql == ("-",) else sql[0]
    return tasks.TaskWish(body=text, connection=connection, entity=entity)


def _tell(done: tasks.Queued, now: datetime, steps: Sequence[str], *, as_json: bool) -> None:
    freeze = freezes.holding(done.batch, now)

    if done.intake_id is None and not as_json:
        output.say(f"A FileProcess row would be inserted, and batch {done.batch.name} would carry out:")
        command_texts.show(done.command_text)
    for name in done.besides:
        output.say(f"Note: batch {name} takes entity '{done.task.entity}' too.")
    if not done.batch.enabled:
        output.say(f"Note: batch {done.batch.name} is disabled, so the task waits.")
        output.say(f"Next: batchctl enable {typed(done.batch.name)} --reason ...")
    elif freeze is not None:
        output.say(f"Note: the task waits, because {freezes.wording(freeze)}.")
        output.say(f"Next: {freezes.thawing(freeze)}")
    elif done.intake_id is not None:
        for step in steps:
            output.say(f"Next: {step}")


@click.command()
@click.argument("references", nargs=-1, metavar="ID...", type=Ref())
@click.option("--drained", metavar="HOST|POOL", help="Wait until nothing runs any more on a drained host or in a pool.")
@click.option(
    "--timeout", type=Seconds(0, 31_536_000), metavar="SECONDS", help="Wait no longer  [default: as long as it takes]."
)
@reads_rows
def wait(
    session: CliSession, references: tuple[str, ...], drained: str | None, timeout: float | None, as_json: bool
) -> None:
    """Wait until instances are done or need a person.

    ID is a BatchControl id (42), or file:17 for the instances of FileProcess row 17 (`batchctl submit` prints 17 of it,
    `batchctl task` file:17). Each is printed, with its status, as soon as nothing more happens to it by itself; what
    one waits for, `batchctl why ID` tells meanwhile. Exit code 0 when all are complete, 1 when one is not (failed,
    held, paused, cancelled, its row rejected or a duplicate), 3 when one does not exist, 5 when the time is over.
    """
    if bool(references) is (drained is not None):
        raise click.UsageError("Name what to wait for: ID..., or --drained HOST|POOL.")
    if drained is not None:
        _wait_drained(session, drained, timeout, as_json=as_json)
        return
    wanted = [_reference(text) for text in references]
    shown = _Progress(len(dict.fromkeys(wanted)))

    def settled(one: waiting.Awaited) -> None:
        shown.clear()
        if not as_json:
            _settled(one)

    def failure(message: str) -> None:
        shown.clear()
        output.say(f"Note: still waiting, although: {message}")

    app = session.app
    shown.idle = to_take(app)
    means = app.transactions, app.clock, app.presence
    found = waiting.InstanceWait(*means, settled, failure, progress=shown.show).until_settled(wanted, timeout)
    shown.clear()
    if as_json:
        output.print_list(waiting.AWAITED, found)
    left = [one for one in found if not one.settled]
    if left:
        _timed_out(left, timeout)
        raise click.exceptions.Exit(TIMED_OUT)
    if not all(one.succeeded for one in found):
        raise click.exceptions.Exit(FAILED)


def _wait_drained(session: CliSession, name: str, timeout: float | None, *, as_json: bool) -> None:
    app = session.app
    place = pooling.place_named(app.transactions, name)
    left = pool_standing.until_drained(app.transactions, app.clock, place, timeout)
    if as_json:
        output.print_json({"Host": place.host, "PoolName": place.pool, "UnderWay": list(left)})
    elif left:
        some = ", ".join(str(each) for each in left[:LISTED_MOST])
        many = f"{output.counted(len(left), 'instance')} {'has' if len(left) == 1 else 'have'}"
        message = f"{many} a step under way on {place} still: BatchControl {some}"
        output.say(f"{message}\nNext: batchctl show {left[0]}")
    else:
        click.echo(f"Nothing runs {'on' if place.pool is None else 'in'} {place} any more.")
    if left:
        raise click.exceptions.Exit(TIMED_OUT)


def _reference(text: str) -> waiting.Reference:
    found = waiting.Reference.of(text)
    if found is None:
        said = f"'{visible(text)}' is neither a BatchControl id such as 42, nor a FileProcess row such as file:17."
        raise click.BadParameter(said, param_hint="ID")
    return found


class _Progress:
    """A line on a terminal, written over again and again; elsewhere only what to type."""

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._length = 0
        self.idle: tuple[str, ...] = ()
        """What to type where no controller takes up what is waited for; it is printed once."""
        self._is_shown = sys.stderr.isatty()

    def show(self, left: Sequence[waiting.Awaited], seconds: float) -> None:
        """Say what is waited for still."""
        for step in self.idle:
            output.say(f"Next: {step}")
        self.idle = ()
        stand = ", ".join(f"{one.reference} {one.status}" for one in left[:LISTED_MOST])
        done = f"{self._wanted - len(left)} of {self._wanted} settled, "
        self._write(f"{done}{for_people(timedelta(seconds=seconds))}: {stand}")

    def clear(self) -> None:
        """Leave the line to what is printed next."""
        if self._length:
            self._write("")
            click.echo("\r", nl=False, err=True)

    def _write(self, text: str) -> None:
        if not self._is_shown:
            return
        text = visible(text)[: shutil.get_terminal_size().columns - 1]
        click.echo(f"\r{text.ljust(self._length)}", nl=False, err=True)
        self._length = len(text)


def _settled(one: waiting.Awaited) -> None:
    click.echo(f"{one.reference} {one.status}")
    if not one.succeeded:
        because = "" if one.message is None else f": {one.message}"
        output.warn(f"{one.reference} is {one.status}{because}", NOT_DONE, one.next_step)


def _timed_out(left: Sequence[waiting.Awaited], timeout: float | None) -> None:
    first = left[0]
    if len(left) == 1:
        because = "" if first.message is None else f": {first.message}"
        said = f"{first.reference} is {first.status} after {timeout:g} s{because}"
    else:
        more = "" if len(left) <= LISTED_MOST else f", and {len(left) - LISTED_MOST} more"
        said = f"after {timeout:g} s these are not done: {', '.join(map(_stands, left[:LISTED_MOST]))}{more}"
    output.warn(said, TIME_OVER, first.next_step)


def _stands(one: waiting.Awaited) -> str:
    because = "" if one.message is None else f": {one.message}"
    return f"{one.reference} ({one.status}{because})"
