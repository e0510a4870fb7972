"""`batchctl schedule add-sql, set-sql, jobs, remove`: SQL that runs once or daily, and the end of any schedule."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batchctl.cli.session import CliSession, WholeNumber, as_json, as_rows, dry_run, no_time, pass_session, reason
from batchctl.domain.text import typed, visible

if TYPE_CHECKING:
    from rich.text import Text

    from batchctl.operations.definitions.registrar import Added, JobStanding
    from batchctl.operations.definitions.schedule_removal import RemovedSchedule
    from batchctl.operations.definitions.sql_correction import Corrected


SHOWN = 3
"""Up to how many runs that have failed are named one by one."""


class WallTime(click.ParamType[datetime]):
    """What a clock shows, such as 2026-12-01 02:00."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read a wall time."""
        from batchctl.domain.definitions.sql_jobs import wall_time

        found = value if isinstance(value, datetime) else wall_time(str(value))
        if found is None:
            self.fail(no_time(value, "such as '2026-12-01 02:00'"), param, ctx)
        return found


class Zone(click.ParamType[str]):
    """The IANA name of a time zone."""

    name = "zone"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Look whether there is such a zone."""
        from batchctl.domain.scheduling.column_text import UnfitText
        from batchctl.domain.scheduling.timing_text import checked_zone

        try:
            return checked_zone(str(value))
        except UnfitText as unfit:
            self.fail(str(unfit), param, ctx)


@click.command("add-sql")
@click.argument("name")
@click.option("--connection", required=True, metavar="NAME", help="Where it runs: a connection of the configuration.")
@click.option("--sql", metavar="SQL", help="What is carried out, as it stands: nothing in it is a placeholder.")
@click.option(
    "--file", type=click.Path(path_type=Path), metavar="FILE", help="The same from a file (- for standard input)."
)
@click.option("--at", required=True, type=WallTime(), metavar="TIME", help="When, as in '2026-12-01 02:00'.")
@click.option("--daily", is_flag=True, help="Every day at that time of day, from that day on.")
@click.option("--time-zone", type=Zone(), metavar="ZONE", help="Whose time it is  [default: business_time_zone].")
@click.option(
    "--retries",
    type=WholeNumber(0, 1000),
    default=0,
    show_default=True,
    metavar="N",
    help="How often a run that failed is tried again.",
)
@click.option(
    "--catch-up",
    type=click.Choice(["latest", "none"]),
    default="latest",
    show_default=True,
    help="Whether a time at which no controller was there is made up for.",
)
@click.option("--disabled", is_flag=True, help="Let it not run before somebody enables it.")
@reason(required=False)
@as_json
@dry_run
@pass_session
def add_sql(
    session: CliSession,
    name: str,
    connection: str,
    sql: str | None,
    file: Path | None,
    at: datetime,
    daily: bool,
    time_zone: str | None,
    retries: int,
    catch_up: str,
    disabled: bool,
    reason: str | None,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Let SQL run at a time, once or daily: a batch with one step and its schedule, in one transaction.

    It is carried out as a sql step is: one transaction on its connection, with the exact text in the history. A running
    controller (batchctl run) starts it when it is due, however short before that it was added.
    """
    from batchctl.cli import output
    from batchctl.cli.missing_controller import to_run
    from batchctl.domain.definitions.sql_jobs import SqlJob
    from batchctl.domain.status import CatchUp
    from batchctl.operations.definitions.registrar import Registrar
    from batchctl.operations.operators.acts import Actor

    text = _text(sql, file)
    with session.app() as app:
        job = SqlJob(
            name=name,
            connection=connection,
            sql=text,
            at=at,
            zone=time_zone or app.settings.business_time_zone,
            is_daily=daily,
            retries=retries,
            catch_up=CatchUp(catch_up),
            enabled=not disabled,
        )
        user, host = app.ids.user(), app.ids.host()
        actor = Actor(transactions=app.transactions, clock=app.clock, user=user, host=host, dry_run=dry_run)
        added = Registrar(actor=actor, preparer=app.preparer).add(job, reason=reason)
        idle = to_run(app)
    if as_json:
        output.print_json(added.columns())
    else:
        _show_added(added, idle, dry_run=dry_run)
    for note in added.notes:
        output.say(f"Note: {note}")


def _text(sql: str | None, file: Path | None) -> str:
    if (sql is None) == (file is None):
        message = 'Say what to carry out, once: --sql "..." or --file FILE.'
        raise click.UsageError(message)
    if sql is not None:
        return sql
    try:
        return sys.stdin.read() if str(file) == "-" else Path(str(file)).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        because = str(error) if isinstance(error, UnicodeDecodeError) else error.strerror or type(error).__name__
        message = f"'{visible(str(file))}' cannot be read: {visible(because)}."
        raise click.BadParameter(message, param_hint="--file") from None


def _show_added(added: Added, idle: Sequence[str], *, dry_run: bool) -> None:
    from batchctl.cli import command_texts, output

    job = added.job
    out = output.console()
    would = "would be added" if dry_run else "is added"
    out.print(output.cell(f"Job {job.name} {would}: {added.words}."), soft_wrap=True)
    if not job.enabled:
        click.echo("It is disabled: it does not run.")
        following = [f"batchctl schedule enable {typed(job.name)} --reason ..."]
    else:
        click.echo(f"It runs next at {added.first.local} ({output.time(added.first.due).plain} UTC).")
        following = [*idle, "batchctl schedule jobs"]
    if dry_run:
        command_texts.show(out, added.command_text)
    output.hints(out, *(["the same command without --dry-run"] if dry_run else following))


@click.command("set-sql")
@click.argument("name")
@click.option("--connection", metavar="NAME", help="Where it runs from now on: a connection of the configuration.")
@click.option("--sql", metavar="SQL", help="What is carried out from now on, as it stands.")
@click.option(
    "--file", type=click.Path(path_type=Path), metavar="FILE", help="The same from a file (- for standard input)."
)
@reason(required=True)
@as_json
@dry_run
@pass_session
def set_sql(
    session: CliSession,
    name: str,
    connection: str | None,
    sql: str | None,
    file: Path | None,
    reason: str,
    as_json: bool,
    dry_run: bool,
) -> None:
    """Correct the SQL of a job that add-sql has made, or its connection; its times stay as they are.

    It is looked through as add-sql does. A run under way goes on with the old SQL; every attempt that begins later carries
    out the new one, also of a run that has failed: batchctl rerun.
    """
    from batchctl.cli import output
    from batchctl.operations.definitions import sql_correction
    from batchctl.operations.operators.acts import Actor

    text = None if connection is not None and sql is None and file is None else _text(sql, file)
    with session.app() as app:
        user, host = app.ids.user(), app.ids.host()
        actor = Actor(transactions=app.transactions, clock=app.clock, user=user, host=host, dry_run=dry_run)
        done = sql_correction.set_sql(actor, app.preparer, name, text, connection, reason=reason)
    if as_json:
        output.print_json(done.columns())
    else:
        _show_corrected(done)
    for note in done.rehearsed.notes:
        output.say(f"Note: {note}")


_CALLED = {"Data1": "connection", "Data2": "SQL"}


def _show_corrected(done: Corrected) -> None:
    from batchctl.cli import command_texts, output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell

    out, name = output.console(), done.schedule.name
    what = " and ".join(_CALLED[column] for column in done.after)
    if not done.is_changed:
        out.print(cell(f"The {what} of job {name} is that already."), soft_wrap=True)
    else:
        out.print(cell(f"The {what} of job {name} {'would be' if done.dry_run else 'is'} changed."), soft_wrap=True)
        rows = [_words(column, str(done.before[column]), str(after)) for column, after in done.after.items()]
        output.section(out, Listing(None, ["column", "before", "after"], rows))
    for instance_id in done.running:
        click.echo(f"BatchControl {instance_id} is under way, and goes on with the SQL that it has begun.")
    for instance_id in done.retrying:
        click.echo(f"BatchControl {instance_id} waits for its retry, which carries out the new SQL.")
    if done.dry_run:
        command_texts.show(out, done.rehearsed.command_text)
        output.hints(out, "the same command without --dry-run")
        return
    reruns = [f"batchctl rerun {each} --reason ...   (a run of it that has failed)" for each in done.failed[:SHOWN]]
    reruns += [f"batchctl rerun {each} --reason ...   (not to wait for its retry)" for each in done.retrying[:SHOWN]]
    once_more = f"batchctl schedule run {typed(name)} --reason ...   (to run it now)"
    output.hints(out, *(reruns or [once_more, "batchctl schedule jobs"]))


def _words(*wording: str) -> list[Text]:
    from batchctl.cli.output import cell

    return [cell(one) for one in wording]


@click.command()
@as_rows
@pass_session
def jobs(session: CliSession, as_json: bool) -> None:
    """Show how the jobs stand that add-sql has made: next run, running, waiting, last run, last error."""
    from batchctl.cli import output
    from batchctl.cli.listing import Listing
    from batchctl.operations.definitions import registrar

    with session.app() as app:
        found = registrar.everyone(app.timetable())
    if as_json:
        output.print_json([one.columns() for one in found])
        return
    out = output.console()
    headings = ["name", "state", "next run (UTC)", "running since", "waiting#", "last run", "last run at", "last error"]
    output.section(out, Listing("SQL jobs", headings, [_row(one) for one in found]))
    output.hints(out, *(_after_errors(found) if found else ["batchctl schedule add-sql --help"]))


def _after_errors(found: Sequence[JobStanding]) -> list[str]:
    """Return what to type about the newest error, of those first that wait for a person."""
    from batchctl.domain.definitions.sql_jobs import correcting, correcting_job

    errors = [
        (one.failed, one.schedule.name, one.error) for one in found if one.error is not None and one.failed is not None
    ]
    if not errors:
        return []
    stands = {"failed": 2, "held": 2, "retry": 1}
    run, name, error = max(errors, key=lambda one: (stands.get(one[0].status.value, 0), one[0].instance_id))
    at, history = run.instance_id, f"batchctl history {run.instance_id}"
    match run.status.value:
        case "failed" | "held":
            if error.mend is not None:
                return [history, correcting_job(name, error.mend)]
            correct = f"{correcting(name)}   (if its SQL is wrong)"
            return [history, correct, f"batchctl rerun {at} --reason ..."]
        case "retry":
            when = f"{run.next_run_time:%Y-%m-%d %H:%M:%S} UTC"
            return [
                f"{history}   (it is tried again by itself at {when})",
                f"{correcting(name)}   (if its SQL is wrong)",
            ]
        case _:
            return [history]


def _row(one: JobStanding) -> list[Text]:
    from batchctl.cli.output import cell, time, word
    from batchctl.operations.scheduling.timetable import OVERDUE

    standing, last, error = one.standing, one.standing.last, one.error
    return [
        cell(one.schedule.name),
        word(one.state),
        time(one.next_at).append(f", {OVERDUE}" if one.is_overdue else ""),
        time(None if standing.running is None else standing.running.started_at),
        cell(standing.waiting),
        cell(None) if last is None else word(last.status.value),
        time(None if last is None else last.started_at),
        cell(None if error is None else f"{time(error.ended_at).plain}: {error.message}"),
    ]


@click.command()
@click.argument("name")
@reason(required=True)
@as_json
@dry_run
@pass_session
def remove(session: CliSession, name: str, reason: str, as_json: bool, dry_run: bool) -> None:
    """Delete a schedule, and what was decided about it: nothing more is started by it.

    The batch of a job that add-sql has made goes with it, unless it has a history: then it stays, disabled. A run under way
    goes on to its end; what waits, has failed or is held is cancelled. Other batches stay as they are, with all their
    instances. What the code of a decorated job says is refused: a controller would write it again.
    """
    from batchctl.cli import output
    from batchctl.operations.definitions.schedule_removal import remove
    from batchctl.operations.intervene import Operator
    from batchctl.operations.operators.acts import Actor

    with session.app() as app:
        user, host = app.ids.user(), app.ids.host()
        actor = Actor(transactions=app.transactions, clock=app.clock, user=user, host=host, dry_run=dry_run)
        operator = Operator(
            transactions=app.transactions, clock=app.clock, preparer=app.preparer, user=user, host=host, dry_run=dry_run
        )
        done = remove(actor, operator, name, reason=reason, plugins=app.registry)
    if as_json:
        output.print_json(done.columns())
        return
    _show_removed(done)


def _show_removed(done: RemovedSchedule) -> None:
    from batchctl.cli import output

    would = "would be" if done.dry_run else "is"
    fires = output.counted(done.trail.fires, "decided due time")
    click.echo(f"Schedule {visible(done.schedule.name)} {would} removed, with {fires}.")
    if done.batch is not None:
        kept = "kept for the run that goes on" if done.left else "disabled, and keeps its history"
        fate = "removed too" if done.is_batch_removed else kept
        click.echo(f"Its batch {visible(done.batch)} {would} {fate}.")
    for instance_id in done.cancelled:
        click.echo(f"BatchControl {instance_id} {would} cancelled (it was {done.were[instance_id]}).")
    for intake_id in done.rejected:
        click.echo(f"FileProcess {intake_id}, which nothing was made of, {would} rejected.")
    for instance_id in done.left:
        click.echo(f"BatchControl {instance_id} is under way and goes on to its end.")
    out = output.console()
    if done.dry_run:
        output.hints(out, "the same command without --dry-run")
    elif done.left:
        output.hints(out, *[f"batchctl cancel {each} --reason ...   (if it is to be stopped)" for each in done.left])
    else:
        output.hints(out, "batchctl schedule list")
