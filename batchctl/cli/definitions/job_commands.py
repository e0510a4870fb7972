"""`batchctl job`: decorated functions; which there are, how each stands, and what people do about them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click

from batchctl import node
from batchctl.cli import output
from batchctl.cli.log_command import Moment
from batchctl.cli.session import (
    FAILED,
    FINDINGS,
    CliSession,
    WholeNumber,
    acts,
    as_json,
    dry_run,
    one_of,
    pass_session,
    reads_rows,
    reason,
    writes,
)
from batchctl.domain.error_codes import JOB_FAILED
from batchctl.domain.errors import NotFound
from batchctl.domain.operators import freezes
from batchctl.domain.status import HistoryStatus
from batchctl.domain.text import did_you_mean, typed, visible
from batchctl.operations.definitions import job_acts, reconciler, roster
from batchctl.system.plugins import job_calls


@click.group()
def job() -> None:
    """Look at decorated jobs, run one now, cancel one, see what became of it."""


@job.command("list")
@reads_rows
def list_jobs(session: CliSession, as_json: bool) -> None:
    """List the jobs: when each is due, how it last ended, and where the tables differ from the code."""
    app = session.app
    found = _roster(session).lines()
    findings = app.registry.failed_modules()
    for finding in findings.values():
        output.say(finding.in_full)
    if as_json:
        output.print_list(roster.JOBS, found)
        return
    headings = ["name", "state", "category", "schedule", "due", "next (UTC)", "last", "about"]
    if found:
        output.table("Jobs", headings, [row for one in found for row in _rows(one)])
    else:
        output.line("There is no job.")
    if any(one.state.value == "kept" for one in found):
        output.say("kept: a batch of its own, whose rows every controller that starts makes say what the code says.")
    if not found:
        output.hints('decorate a function with @daily("03:15"), and name its module in [jobs] modules')
        return
    with_batch = next((one.name for one in found if one.batch_id is not None), None)
    if any(one.state.value == "new" for one in found):
        output.hints("batchctl job reconcile   (as every controller does when it starts)")
    elif with_batch is not None:
        output.hints(f"batchctl job history {typed(with_batch)}", f"batchctl job run {typed(with_batch)} --reason ...")


@job.command()
@click.argument("name")
@reason(required=False)
@dry_run
@click.option("--arguments", metavar="JSON", hidden=True, help="As `job call`: commands of older histories say it so.")
@pass_session
def run(session: CliSession, name: str, reason: str | None, dry_run: bool, arguments: str | None) -> None:
    """Run a job now, outside its times: a controller takes it up. Prints the FileProcess row that asks for it.

    Its schedules go on as if nothing had happened. To call the function here, without a controller: batchctl job call.
    """
    if arguments is not None:
        if dry_run or reason is not None:
            message = (
                "With --arguments the function is called here and now, which takes neither --dry-run nor --reason."
            )
            raise click.UsageError(message)
        _call(session, name, arguments)
        return
    foreman = _foreman(session, dry_run=dry_run)
    started, now = foreman.run(name, reason=reason), foreman.operator.clock.now()
    _show_started(started, now)


@job.command()
@click.argument("name")
@click.option("--outcome", type=one_of(HistoryStatus), help="Only attempts that ended so.")
@click.option("--since", type=Moment(), help="Only those that began then or later, in UTC.")
@click.option("--limit", type=WholeNumber(1, 100_000), default=20, show_default=True, help="How many at most.")
@reads_rows
def history(
    session: CliSession, name: str, outcome: str | None, since: datetime | None, limit: int, as_json: bool
) -> None:
    """Show the newest attempts of a job: start, end, outcome, which attempt of how many, and by which controller."""
    wanted = None if outcome is None else HistoryStatus(outcome)
    found = _roster(session).history(name, outcome=wanted, since=since, most=limit)
    if as_json:
        output.print_list(roster.ATTEMPTS, roster.of_how_many(found))
        return
    if found:
        title = f"Attempts of job {visible(name)}"
        output.show_list(roster.ATTEMPTS, roster.of_how_many(found), title=title)
        output.hints(f"batchctl history {found[0].instance_id}   (the commands, ready to be pasted, and output)")
    else:
        output.line("BatchProcessHistory has no such row.")
        output.hints(f"batchctl job run {typed(name)} --reason ...")


@job.command()
@click.argument("name")
@click.option("--failed", is_flag=True, help="Give up all runs that have failed, and none that is under way.")
@acts(needs_reason=True)
def cancel(session: CliSession, name: str, failed: bool, reason: str, dry_run: bool) -> None:
    """Give up what is under way of a job, whichever controller runs it; what waits goes on afterwards.

    A job that asks `stopping()` ends by itself; one that does not within stop_grace is stopped.
    """
    foreman = _foreman(session, dry_run=dry_run)
    done = (foreman.cancel_failed if failed else foreman.cancel)(name, reason=reason)
    for one in done:
        would = "would become" if dry_run else "is now"
        click.echo(f"BatchControl {one.after.instance_id} of job {visible(name)} {would} {one.after.status}.")
    if failed:
        click.echo(
            f"{output.counted(len(done), 'failed run')} of job {visible(name)} {'would be' if dry_run else 'are'} given up."
        )
    output.say(f"Next: batchctl job history {typed(name)}")


@job.command()
@click.option("--retire", metavar="OWNER", multiple=True, help="Nothing announces its jobs any more: disable them.")
@as_json
@writes
def reconcile(session: CliSession, retire: tuple[str, ...], as_json: bool, dry_run: bool) -> None:
    """Write batches, steps and schedules as the code says, as every controller does when it starts.

    What is the operator's stays: Enabled, Jitter, CatchUp, Overlap, retries, Seq. What left the code is disabled, with its
    history kept; of what is not known here, nothing is changed. Exit code 6 when something cannot be written.
    """
    done = session.app.reconciler().reconcile(dry_run=dry_run, retired=retire)
    if as_json:
        output.print_json(done.columns())
    else:
        _show_reconciled(done, dry_run=dry_run)
    if done.all_refused or done.broken or done.failed_modules or done.never:
        raise click.exceptions.Exit(FINDINGS)


@job.command()
@click.argument("name")
@click.option("--arguments", default="{}", metavar="JSON", help="The job's arguments, as a JSON object.")
@pass_session
def call(session: CliSession, name: str, arguments: str) -> None:
    """Call a job's function here and now, as a controller does, and print what it printed; exit code 1 when it fails.

    Nothing of it stands in the tables. This is what the command of a `python` step in the history calls.
    """
    _call(session, name, arguments)


def _call(session: CliSession, name: str, arguments: str) -> None:
    given = _object(arguments)
    app = session.app
    known = app.registry.job_names
    if name not in known:
        message = f"There is no job '{visible(name)}'.{visible(did_you_mean(name, known))}"
        raise NotFound(message, next_step="batchctl check   (says what is wrong with plugins)")
    outcome = node.Node(app).run_job(name, given)
    required = job_calls.signature_of(app.registry.job(name)).required
    if outcome.output:
        click.echo(outcome.output, nl=not outcome.output.endswith("\n"))
    if outcome.message and outcome.succeeded:
        output.say(outcome.message)
    if not outcome.succeeded:
        # A function that was never entered has written nothing.
        was_misfit = outcome.fatal and not outcome.output
        wanted = ", ".join(f'"{each}": ...' for each in sorted(required))
        to_pass = f"batchctl job call {typed(name)} --arguments '{{{wanted}}}'" if was_misfit else None
        output.warn(outcome.message or "the job failed", JOB_FAILED, to_pass)
        raise click.exceptions.Exit(FAILED)


def _roster(session: CliSession) -> roster.Roster:
    app = session.app
    zone = app.settings.business_time_zone
    return roster.Roster(transactions=app.transactions, clock=app.clock, plugins=app.registry, default_zone=zone)


def _foreman(session: CliSession, *, dry_run: bool) -> job_acts.Foreman:
    app = session.app
    return job_acts.Foreman(app.operator(dry_run=dry_run), app.registry)


def _rows(one: roster.JobLine) -> Iterator[tuple[object, ...]]:
    """Yield a row for each schedule of a job; the first of them says how the job is."""
    state = "disabled" if one.enabled is False and one.state.value == "kept" else one.state.value
    about = [one.name, output.word(state), one.category]
    last = None if one.last is None else output.word(one.last.status) + f" {one.last.started_at:%Y-%m-%d %H:%M}"
    said = "; ".join(part for part in (one.wording, *one.drift) if part) or one.description
    if not one.schedules:
        yield (*about, None, None, None, last, said)
    for at, due in enumerate(one.schedules):
        head = about if at == 0 else [one.name, "", ""]
        words = "; ".join(part for part in (said if at == 0 else None, _of_schedule(due)) if part)
        called = due.name.rpartition(".")[2]
        next_run = due.next_run if due.enabled else output.word("disabled")
        yield (*head, called, due.words, next_run, last if at == 0 else "", words or None)


def _of_schedule(due: roster.JobSchedule) -> str | None:
    parts = [due.drift, due.overwritten, "not in the code any more" if due.has_left else None]
    return "; ".join(part for part in parts if part) or None


def _show_started(started: job_acts.Started, now: datetime) -> None:
    name = visible(started.batch.name)
    if started.intake_id is None:
        click.echo(f"Would insert a FileProcess row for entity {visible(started.batch.entity)}: one run of job {name}.")
    else:
        click.echo(f"file:{started.intake_id}")
    if started.failure is not None:
        output.say(f"Warning: {started.failure} On a controller where that is so, it waits: batchctl check")
    for other in started.also:
        output.say(f"Batch {visible(other)} takes the same entity, and is started too.")
    if not started.batch.enabled:
        output.say(f"Batch {name} is disabled: the run waits until: batchctl enable {typed(started.batch.name)}")
    if (freeze := freezes.holding(started.batch, now)) is not None:
        output.say(f"The run waits, because {freezes.wording(freeze)}. To end that: {freezes.thawing(freeze)}")
    word = typed(started.batch.name)
    output.say(
        f"Next: batchctl job history {word}   (a running controller takes it up; without one: batchctl run --once)"
    )


def _show_reconciled(done: reconciler.Reconciled, *, dry_run: bool) -> None:
    rows = [(one.change.table, one.change.name, one.change.did, one.wording) for one in done.written]
    if rows:
        title = "Would be written" if dry_run else "Written"
        output.table(title, ["table", "row", "action", "message"], rows)
    elif done.broken or done.failed_modules:
        unseen = ", ".join(visible(name) for name in (*done.failed_modules, *done.broken))
        click.echo(f"Nothing to write, as far as the code could be looked at; not looked at: {unseen}.")
    else:
        click.echo("Nothing to write: the tables say what the code says.")
    for refused in (*done.all_refused, *done.never):
        output.say(f"Job {visible(refused.job)}: {refused.message}")
    for message in (*done.broken.values(), *done.failed_modules.values()):
        output.say(f"{message} The rows of its jobs stay as they are.")
    output.hints("the same command without --dry-run" if dry_run and rows else "batchctl job list")


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"It is not JSON: {error}.", param_hint="--arguments") from None
    if not isinstance(found, dict):
        raise click.BadParameter('It is not a JSON object, such as {"day": "2026-11-01"}.', param_hint="--arguments")
    return found
