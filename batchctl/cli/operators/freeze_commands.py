"""`batchctl freeze, thaw, freezes`: let nothing new start for a while, whatever the batches' own flags say."""

from __future__ import annotations

import click

from batchctl import app
from batchctl.cli import output
from batchctl.cli.operators import release_options
from batchctl.cli.session import (
    ROW_ID,
    CliSession,
    WholeNumber,
    acts,
    as_json,
    batch_names,
    reads,
    reads_rows,
    reason,
    sure,
)
from batchctl.cli.unreadable_lists import show_unreadable
from batchctl.domain.operators.freezes import Scope, thawing, wording
from batchctl.domain.rows import FreezeId
from batchctl.operations.operators import freezing

_batch = click.option("--batch", metavar="NAME", shell_complete=batch_names, help="Only this batch.")
_tag = click.option("--tag", metavar="TAG", help="Only the batches that have it among their Tags.")


@click.command()
@_batch
@_tag
@click.option("--until", metavar="TIME", help="When it ends by itself: 2h, 30m, 3d, or a time in UTC.")
@acts(needs_reason=True)
@as_json
def freeze(
    session: CliSession,
    batch: str | None,
    tag: str | None,
    until: str | None,
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Let nothing new start: in one batch, in those with a tag, or, without either, anywhere.

    What runs ends; its next steps, retries and other instances wait until the freeze ends or somebody thaws it. Rows are
    taken in, instances made and schedules fired meanwhile. The batches stay enabled or disabled as they are.
    """
    done = _freezer(session.app, dry_run=dry_run).freeze(_scope(batch, tag), reason=reason, until=until)
    if as_json:
        output.print_json(done.columns())
    else:
        _show_frozen(done)


@click.command()
@click.argument("freeze_id", metavar="[ID]", required=False, type=ROW_ID)
@_batch
@_tag
@release_options.release_options
@reason(required=True)
@sure
@reads
def thaw(
    session: CliSession,
    freeze_id: int | None,
    batch: str | None,
    tag: str | None,
    release: str | None,
    throttle: int | None,
    reason: str,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """End the freeze of everything, of a batch, of a tag, or the one with a number; see batchctl freezes.

    Where more than one instance would start, it says so first and, on a terminal, asks what is to become of them; elsewhere
    --release, --throttle or --yes has to say it.
    """
    if freeze_id is not None and (batch is not None or tag is not None):
        raise click.UsageError("A number, --batch and --tag exclude each other.")
    of = _scope(batch, tag) if freeze_id is None else FreezeId(freeze_id)
    app = session.app
    chosen = release_options.chosen(release, throttle, yes=yes)
    if release_options.should_ask(chosen, dry_run=dry_run):
        chosen = release_options.asked(_freezer(app, dry_run=True).thaw(of, reason=reason).released)
    done = _freezer(app, dry_run=dry_run).thaw(of, reason=reason, choice=chosen)
    if as_json:
        output.print_json(done.columns())
    else:
        _show_thawed(done)


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also those that are over, newest first.")
@click.option("--limit", type=WholeNumber(1, 10_000), default=50, show_default=True, help="How many rows at most.")
@reads_rows
def freezes(session: CliSession, everything: bool, limit: int, as_json: bool) -> None:
    """List what is frozen, since when, by whom, why and until when."""
    app = session.app
    now = app.clock.now()
    found, broken = freezing.listed(app.transactions, now, limit, everything=everything)
    idle = freezing.idle(app.transactions, [one for one in found if one.holds(now)])
    columns = freezing.freezes_at(now, idle)
    if as_json:
        output.print_rows(freezing.as_json(columns, found, broken), columns.header)
        return
    if found:
        output.show_list(columns, found)
    elif not broken:
        output.line("Nothing is frozen.")
    for number, why in idle.items():
        output.say(f"Note: BatchFreeze {number}: {why}")
    if broken:
        show_unreadable(broken, "what of these rows cannot be read ends no freeze")
        return
    holding = [one for one in found if one.holds(now)]
    output.hints(*(thawing(one) for one in holding[:1]), *([] if holding else ["batchctl status"]))


def _scope(batch: str | None, tag: str | None) -> Scope:
    if batch is not None and tag is not None:
        raise click.UsageError("--batch and --tag exclude each other.")
    return Scope(batch=batch, tag=tag)


def _freezer(app: app.App, *, dry_run: bool) -> freezing.Freezer:
    return freezing.Freezer(app.actor(dry_run=dry_run))


def _show_frozen(done: freezing.Frozen) -> None:
    if not done.is_new:
        click.echo(f"It is frozen already: {wording(done.freeze)}.")
        output.say(f"Next: {thawing(done.freeze)}   (ends it)")
        return
    would = "Would be frozen" if done.dry_run else "Frozen"
    click.echo(f"{would}: {wording(done.freeze)}.")
    if done.was_frozen is not None:
        click.echo(f"Before that: {wording(done.was_frozen, 'was')}.")
    many = "1 batch" if len(done.batches) == 1 else f"{len(done.batches)} batches"
    output.say(f"What runs ends; nothing new starts in {many}.")
    output.say("Next: batchctl status   (what runs still)" if not done.dry_run else "Next: the same without --dry-run")


def _show_thawed(done: freezing.Thawed) -> None:
    if not done.freezes:
        click.echo("Nothing of that is frozen: there is nothing to thaw.")
        return
    would, verb = ("Would be thawed", "is") if done.dry_run else ("Thawed", "was")
    for one in done.freezes:
        click.echo(f"{would}: {wording(one, verb)}.")
    click.echo(release_options.announced(done.released) or "Nothing waits that this would start.")
    for name, held in done.still:
        output.say(f"Note: batch {name} stays frozen: {wording(held)}.")
    output.say("Next: the same without --dry-run" if done.dry_run else "Next: batchctl status")
