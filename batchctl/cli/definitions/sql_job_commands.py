"""`batchctl schedule add-sql, set-sql, jobs, remove`: SQL that runs once or daily, and the end of any schedule."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from batchctl.cli import command_texts, output
from batchctl.cli.missing_controller import to_run
from batchctl.cli.session import CliSession, WholeNumber, acts, as_json, no_time, reads_rows
from batchctl.domain.definitions.sql_jobs import SqlJob, correcting, correcting_job, wall_time
from batchctl.domain.scheduling import column_text, timing_text
from batchctl.domain.status import CatchUp
from batchctl.domain.text import typed, visible
from batchctl.operations.definitions import registrar, schedule_removal, sql_correction

SHOWN = 3
"""Up to how many runs that have failed are named one by one."""


class WallTime(click.ParamType[datetime]):
    """What a clock shows, such as 2026-12-01 02:00."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Read a wall time."""
        found = value if isinstance(value, datetime) else wall_time(str(value))
        if found is None:
            self.fail(no_time(value, "such as '2026-12-01 02:00'"), param, ctx)
        return found


class Zone(click.ParamType[str]):
    """The IANA name of a time zone."""

    name = "zone"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Look whether there is such a zone."""
        try:
            return timing_text.checked_zone(str(value))
        except column_text.UnfitText as unfit:
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
@acts(needs_reason=False)
@as_json
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
    text = _text(sql, file)
    app = session.app
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
    added = registrar.Registrar(actor=app.actor(dry_run=dry_run), preparer=app.preparer).add(job, reason=reason)
    idle = to_run(app)
    if as_json:
        output.print_json(added.columns())
    else:
        _show_added(added, idle, dry_run=dry_run)
    for note in added.notes:
        output.say(f"Note: {note}")


def _text(sql: str | None, file: Path | None) -> str:
    if (sql is None) == (file is None):
        raise click.UsageError('Say what to carry out, once: --sql "..." or --file FILE.')
    if sql is not None:
        return sql
    try:
        return sys.stdin.read() if str(file) == "-" else Path(str(file)).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        because = str(error) if isinstance(error, UnicodeDecodeError) else error.strerror or type(error).__name__
        message = f"'{visible(str(file))}' cannot be read: {visible(because)}."
        raise click.BadParameter(message, param_hint="--file") from None


def _show_added(added: registrar.Added, idle: Sequence[str], *, dry_run: bool) -> None:
    job = added.job
    would = "would be added" if dry_run else "is added"
    output.line(f"Job {job.name} {would}: {added.words}.")
    if not job.enabled:
        click.echo("It is disabled: it does not run.")
        following = [f"batchctl schedule enable {typed(job.name)} --reason ..."]
    else:
        click.echo(f"It runs next at {added.first.local} ({added.first.due:%Y-%m-%d %H:%M:%S} UTC).")
        following = [*idle, "batchctl schedule jobs"]
    if dry_run:
        command_texts.show(added.command_text)
    output.hints(*(["the same command without --dry-run"] if dry_run else following))


@click.command("set-sql")
@click.argument("name")
@click.option("--connection", metavar="NAME", help="Where it runs from now on: a connection of the configuration.")
@click.option("--sql", metavar="SQL", help="What is carried out from now on, as it stands.")
@click.option(
    "--file", type=click.Path(path_type=Path), metavar="FILE", help="The same from a file (- for standard input)."
)
@acts(needs_reason=True)
@as_json
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
    text = None if connection is not None and sql is None and file is None else _text(sql, file)
    app = session.app
    done = sql_correction.set_sql(app.actor(dry_run=dry_run), app.preparer, name, text, connection, reason=reason)
    if as_json:
        output.print_json(done.columns())
    else:
        _show_corrected(done)
    for note in done.rehearsed.notes:
        output.say(f"Note: {note}")


_CALLED = {"Data1": "connection", "Data2": "SQL"}


def _show_corrected(done: sql_correction.Corrected) -> None:
    name = done.schedule.name
    what = " and ".join(_CALLED[column] for column in done.after)
    if not done.is_changed:
        output.line(f"The {what} of job {name} is that already.")
    else:
        output.line(f"The {what} of job {name} {'would be' if done.dry_run else 'is'} changed.")
        rows = [(column, done.before[column], after) for column, after in done.after.items()]
        output.table(None, ["column", "before", "after"], rows)
    for instance_id in done.running:
        click.echo(f"BatchControl {instance_id} is under way, and goes on with the SQL that it has begun.")
    for instance_id in done.retrying:
        click.echo(f"BatchControl {instance_id} waits for its retry, which carries out the new SQL.")
    if done.dry_run:
        command_texts.show(done.rehearsed.command_text)
        output.hints("the same command without --dry-run")
        return
    reruns = [f"batchctl rerun {each} --reason ...   (a run of it that has failed)" for each in done.failed[:SHOWN]]
    reruns += [f"batchctl rerun {each} --reason ...   (not to wait for its retry)" for each in done.retrying[:SHOWN]]
    once_more = f"batchctl schedule run {typed(name)} --reason ...   (to run it now)"
    output.hints(*(reruns or [once_more, "batchctl schedule jobs"]))


@click.command()
@reads_rows
def jobs(session: CliSession, as_json: bool) -> None:
    """Show how the jobs stand that add-sql has made: next run, running, waiting, last run, last error."""
    found = registrar.everyone(session.app.timetable())
    if as_json:
        output.print_list(registrar.JOBS, found)
        return
    output.show_list(registrar.JOBS, found)
    output.hints(*(_after_errors(found) if found else ["batchctl schedule add-sql --help"]))


def _after_errors(found: Sequence[registrar.JobStanding]) -> list[str]:
    """Return what to type about the newest error, of those first that wait for a person."""
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


@click.command()
@click.argument("name")
@acts(needs_reason=True)
@as_json
def remove(session: CliSession, name: str, reason: str, as_json: bool, dry_run: bool) -> None:
    """Delete a schedule, and what was decided about it: nothing more is started by it.

    The batch of a job that add-sql has made goes with it, unless it has a history: then it stays, disabled. A run under way
    goes on to its end; what waits, has failed or is held is cancelled. Other batches stay as they are, with all their
    instances. What the code of a decorated job says is refused: a controller would write it again.
    """
    app = session.app
    actor, operator = app.actor(dry_run=dry_run), app.operator(dry_run=dry_run)
    done = schedule_removal.remove(actor, operator, name, reason=reason, plugins=app.registry)
    if as_json:
        output.print_json(done.columns())
        return
    _show_removed(done)


def _show_removed(done: schedule_removal.RemovedSchedule) -> None:
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
    if done.dry_run:
        output.hints("the same command without --dry-run")
    elif done.left:
        output.hints(*[f"batchctl cancel {each} --reason ...   (if it is to be stopped)" for each in done.left])
    else:
        output.hints("batchctl schedule list")
