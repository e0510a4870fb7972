"""`batchctl rerun, pause, resume, cancel, skip, enable, disable`: acts, each with its row in the audit log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from batchctl.cli.releasing import release_options
from batchctl.cli.session import ROW_ID, Session, WholeNumber, dry_run, pass_session, reason, sure
from batchctl.domain.text import did_you_mean, visible

if TYPE_CHECKING:
    from batchctl.operations.intervene import Intervention, Operator, Switching

_COLUMNS = {f"data{at}": f"Data{at}" for at in range(1, 7)}

_instance = click.argument("instance_id", metavar="ID", type=ROW_ID)


@click.command()
@_instance
@click.option("--from", "from_seq", type=WholeNumber(1, 2_000_000_000), metavar="SEQ", help="Begin with this step.")
@click.option("--set", "corrections", multiple=True, metavar="Data3=VALUE", help="Correct a value; may be repeated.")
@reason(required=True)
@dry_run
@pass_session
def rerun(
    session: Session, instance_id: int, from_seq: int | None, corrections: Sequence[str], reason: str, dry_run: bool
) -> None:
    """Run an instance again, from the step that failed or from the one --from names.

    ID is a BatchControl id. With --dry-run the exact commands are shown that would run.
    """
    from batchctl.domain.rows import InstanceId

    values = dict(_correction(text) for text in corrections)
    with _operator(session, dry_run=dry_run) as operator:
        done = operator.rerun(InstanceId(instance_id), reason=reason, from_seq=from_seq, corrections=values)
    _show(done)


@click.command()
@_instance
@reason(required=False)
@dry_run
@pass_session
def pause(session: Session, instance_id: int, reason: str | None, dry_run: bool) -> None:
    """Let nothing more of an instance start; a step that runs ends first."""
    from batchctl.domain.rows import InstanceId

    with _operator(session, dry_run=dry_run) as operator:
        done = operator.pause(InstanceId(instance_id), reason=reason)
    _show(done)


@click.command()
@_instance
@reason(required=False)
@dry_run
@pass_session
def resume(session: Session, instance_id: int, reason: str | None, dry_run: bool) -> None:
    """Let a paused instance go on where it stood."""
    from batchctl.domain.rows import InstanceId

    with _operator(session, dry_run=dry_run) as operator:
        done = operator.resume(InstanceId(instance_id), reason=reason)
    _show(done)


@click.command()
@_instance
@reason(required=True)
@dry_run
@pass_session
def cancel(session: Session, instance_id: int, reason: str, dry_run: bool) -> None:
    """Give an instance up; a step that runs is stopped."""
    from batchctl.domain.rows import InstanceId

    with _operator(session, dry_run=dry_run) as operator:
        done = operator.cancel(InstanceId(instance_id), reason=reason)
    _show(done)


@click.command()
@_instance
@reason(required=True)
@dry_run
@pass_session
def skip(session: Session, instance_id: int, reason: str, dry_run: bool) -> None:
    """Go on without the step that is next; the history keeps who skipped it and why."""
    from batchctl.domain.rows import InstanceId

    with _operator(session, dry_run=dry_run) as operator:
        done = operator.skip(InstanceId(instance_id), reason=reason)
    _show(done)


@click.command()
@click.argument("batch")
@release_options
@reason(required=False)
@sure
@pass_session
def enable(
    session: Session,
    batch: str,
    release: str | None,
    throttle: int | None,
    reason: str | None,
    yes: bool,
    dry_run: bool,
) -> None:
    """Switch a batch on: its instances may start.

    Where more than one has waited, it says so first and, on a terminal, asks what is to become of them; elsewhere --release,
    --throttle or --yes (all of them) has to say it.
    """
    from batchctl.cli import releasing

    chosen = releasing.chosen(release, throttle, yes=yes)
    if releasing.should_ask(chosen, dry_run=dry_run):
        with _operator(session, dry_run=True) as operator:
            chosen = releasing.asked(operator.set_enabled(batch, enabled=True, reason=reason).released)
    with _operator(session, dry_run=dry_run) as operator:
        _show_switching(operator.set_enabled(batch, enabled=True, reason=reason, choice=chosen))


@click.command()
@click.argument("batch")
@reason(required=False)
@dry_run
@pass_session
def disable(session: Session, batch: str, reason: str | None, dry_run: bool) -> None:
    """Switch a batch off: its instances are created and wait; a step that runs ends first."""
    with _operator(session, dry_run=dry_run) as operator:
        _show_switching(operator.set_enabled(batch, enabled=False, reason=reason))


@contextmanager
def _operator(session: Session, *, dry_run: bool) -> Iterator[Operator]:
    from batchctl.operations.intervene import Operator

    with session.app() as app:
        yield Operator(
            transactions=app.transactions,
            clock=app.clock,
            preparer=app.preparer,
            user=app.ids.user(),
            host=app.ids.host(),
            dry_run=dry_run,
        )


def _correction(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    column = _COLUMNS.get(name.strip().lower())
    if not equals:
        raise click.BadParameter(f"'{visible(text)}' has no '='; write Data3=VALUE.", param_hint="--set")
    if column is None:
        meant = did_you_mean(name, _COLUMNS.values())
        raise click.BadParameter(f"An instance has no '{visible(name)}'.{meant}", param_hint="--set")
    return column, value


def _show(done: Intervention) -> None:
    from batchctl.cli import commands, output
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell
    from batchctl.operations import columns

    out = output.console()
    at = done.before.instance_id
    would = "would become" if done.dry_run else "is now"
    subject = f"BatchControl {at} of batch {done.batch} {would} {done.after.status}"
    out.print(cell(f"{subject} (it was {done.before.status})."), soft_wrap=True)
    for step in done.skipped:
        skipped = "would be skipped: it would count as done" if done.dry_run else "is skipped: it counts as done"
        out.print(cell(f"Step {step.seq} '{visible(step.name)}' {skipped}."), soft_wrap=True)
    before, after = columns.changes(columns.instance(done.before), columns.instance(done.after))
    rows = [(cell(name), cell(before[name]), cell(after[name])) for name in before if name != "Status"]
    if rows:
        output.section(out, Listing(None, ["column", "before", "after"], rows))
    if done.unused:
        output.say(f"Note: no step that is left uses {' or '.join(done.unused)}.")
    if done.dry_run:
        titled = ((f"step {at.seq} {at.name} ({at.process_type}):", at.text) for at in done.commands)
        commands.show_each(out, titled)
        output.hints(out, "the same command without --dry-run")
        return
    output.hints(out, *_next(done))


def _next(done: Intervention) -> list[str]:
    at = done.after.instance_id
    match done.after.status.value:
        case "ready" | "retry":
            return [f"batchctl why {at}   (a running controller goes on by itself; without one: batchctl process)"]
        case "paused":
            return [f"batchctl resume {at}"]
        case "cancelled":
            return [f"batchctl rerun {at} --reason ...   (if it is wanted after all)"]
        case "cancelling":
            return [f"batchctl show {at}   (a running controller stops the step; without one: batchctl run --once)"]
        case "complete":
            return [f"batchctl history {at}"]
        case _:
            return [f"batchctl show {at}"]


def _show_switching(done: Switching) -> None:
    from batchctl.cli import output, releasing

    word = "enabled" if done.enabled else "disabled"
    if done.enabled_before is done.enabled:
        click.echo(f"Batch {visible(done.batch)} is {word} already.")
    else:
        click.echo(f"Batch {visible(done.batch)} {'would be' if done.dry_run else 'is now'} {word}.")
    said = releasing.told(done.released, dry_run=done.dry_run)
    if said is not None:
        click.echo(said)
    output.hints(output.console(), f"batchctl why batch:{done.batch}")
