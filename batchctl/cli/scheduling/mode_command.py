"""`batchctl mode`."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.session import CliSession, acts, batch_names, one_of
from batchctl.domain.scheduling import modes
from batchctl.domain.status import ProcessingMode
from batchctl.domain.text import capitalized, typed, visible
from batchctl.operations.scheduling import batch_modes

ANY = "any"


@click.command()
@click.argument("batch", shell_complete=batch_names)
@click.argument("mode", type=one_of(["scheduled", "triggered", "manual", ANY]))
@acts(needs_reason=True)
def mode(session: CliSession, batch: str, mode: str, reason: str, dry_run: bool) -> None:
    """Say what starts a batch: only schedules, only data triggers, neither of them, or any.

    Whatever the mode, people, programs and files start it by rows in FileProcess, and what it depends on starts it.
    Schedules and triggers that the mode has no use for are disabled with it, so that switching back starts nothing.
    """
    wanted = None if mode == ANY else ProcessingMode(mode)
    app = session.app
    actor = app.actor(dry_run=dry_run)
    done = batch_modes.switch_mode(actor, batch, wanted, zone=app.settings.business_time_zone, reason=reason)
    _show(done)


def _show(done: batch_modes.ModeSwitch) -> None:
    would = "would be" if done.dry_run else "is now"
    if done.before is done.after:
        click.echo(f"The mode of batch {visible(done.batch)} is {modes.mode_word(done.after)} already.")
    else:
        was = modes.mode_word(done.before)
        click.echo(f"The mode of batch {visible(done.batch)} {would} {modes.mode_word(done.after)} (it was {was}).")
    for source in done.disabled:
        click.echo(f"{_first(source)} {would} disabled: nothing is started by it.")
    for source in done.left:
        click.echo(f"{_first(source)} still starts it: another batch takes its entity too.")
    output.warn_of_missing(done.missing)
    output.warn_of_misread(done.misread)
    if done.dry_run:
        output.hints("the same command without --dry-run")
        return
    output.hints(*[_to_enable(source) for source in done.others], f"batchctl why batch:{typed(done.batch)}")


def _to_enable(source: str) -> str:
    kind, _, name = source.partition(" ")
    if kind == "schedule":
        return f"batchctl schedule enable {typed(name)} --reason ...   (it is disabled)"
    return f"set Enabled of row '{name}' in DataTrigger to 1   (it is disabled)"


def _first(source: str) -> str:
    return visible(capitalized(source))
