"""`batchctl process` and `batchctl run`: the controller."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import click

from batchctl.cli import command_texts, output, progress
from batchctl.cli.intake.intake_commands import PLANNED_MOST, show_planned_creations, tell_stuck
from batchctl.cli.interrupts import signals_to
from batchctl.cli.main import INTERRUPTED
from batchctl.cli.operators.pool_commands import tell_unserved
from batchctl.cli.session import FAILED, CliSession, Seconds, WholeNumber, writes
from batchctl.domain.operators.pools import served_by
from batchctl.domain.rows import InstanceId
from batchctl.operations import first_failed, planning

slots = click.option(
    "--slots", type=WholeNumber(1, 64), metavar="N", help="Steps under way at once; 1, or the setting, unless given."
)

pools = click.option(
    "--pool",
    "pools",
    multiple=True,
    metavar="NAME",
    help="Serve this pool; may be repeated. Without it: `default`, and what [pools] says.",
)


@click.command()
@slots
@pools
@writes
def process(session: CliSession, slots: int | None, pools: tuple[str, ...], dry_run: bool) -> None:
    """Walk every enabled batch until nothing more may start now: one processing pass.

    Exit code 1 when a step failed in this pass.
    """
    if dry_run:
        _show_planned_walks(session, pools)
        return
    _work(session, None, slots, pools)


@click.command()
@click.option("--once", is_flag=True, help="One round, for Agent, cron, Task Scheduler.")
@click.option("--until-idle", type=Seconds(0, 31_536_000), metavar="SECONDS", help="End after so long without work.")
@slots
@pools
@writes
def run(
    session: CliSession,
    once: bool,
    until_idle: float | None,
    slots: int | None,
    pools: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Be the controller: create and process, again and again, until interrupted.

    The first Ctrl-C or SIGTERM starts nothing more and waits for the running steps; a second one waits no longer.
    Exit code 0 then, whatever has failed meanwhile; with --once or --until-idle 1 when a step failed.
    """
    if once and until_idle is not None:
        message = "--once and --until-idle exclude each other: one round, or as many as there is work for."
        raise click.UsageError(message)
    if dry_run:
        creates = show_planned_creations(session)
        besides = "The instances above may start once they are created." if creates else ""
        _show_planned_walks(session, pools, besides)
        return
    _work(session, Rounds(once, None if until_idle is None else timedelta(seconds=until_idle)), slots, pools)


@dataclass(frozen=True, slots=True)
class Rounds:
    """How long to go on."""

    once: bool
    until_idle: timedelta | None

    @property
    def serves(self) -> bool:
        """Say whether to go on until it is ended from outside, whatever fails meanwhile."""
        return not self.once and self.until_idle is None


def _work(session: CliSession, rounds: Rounds | None, slots: int | None, pools: Sequence[str]) -> None:
    with progress.watched(session, slots, pools) as node, signals_to(node.stop) as received:
        done = node.process() if rounds is None else node.run(once=rounds.once, until_idle=rounds.until_idle)
    steps = f"{done.started} started, {done.succeeded} succeeded, {done.failed} failed"
    steps += f", {done.cancelled} cancelled" if done.cancelled else ""
    steps += f", {len(done.asked)} waiting for an answer" if done.asked else ""
    click.echo(f"Steps: {steps}. Instances: {done.completed} complete.")
    stuck, serves = rounds is None and tell_stuck(session), rounds is not None and rounds.serves
    stuck |= not serves and tell_unserved(session)
    if (failing := _failing(session, done.failed_instances)) is not None:
        output.say(f"Next: batchctl show {failing}")
    elif done.asked and not stuck:
        output.say(f"Next: batchctl show {done.asked[0]}   (waits for the answer of a person)")
    elif not stuck:
        output.say("Next: batchctl status")
    if len(received) > 1 and signal.SIGINT in received:
        raise click.exceptions.Exit(INTERRUPTED)
    if done.failed_instances and not serves:
        raise click.exceptions.Exit(FAILED)


def _failing(session: CliSession, failed: Sequence[InstanceId]) -> InstanceId | None:
    """Return which of the instances that failed meanwhile is to be looked at first, if any is not settled."""
    if not failed:
        return None
    return first_failed.first(session.app.transactions, failed)


def _show_planned_walks(session: CliSession, pools: Sequence[str], besides: str = "") -> None:
    app = session.app
    served = served_by(pools) if pools else app.pools
    means = app.transactions, app.clock, app.preparer, PLANNED_MOST
    planned = planning.walks(*means, served=served, with_agents=app.settings.agent_pools, host=app.ids.host())
    if besides:
        output.line(besides)
    elif not planned:
        output.line("Nothing may start now.")
        output.hints("batchctl status   (what waits, and why)")
    command_texts.show_each((_title(one), one.command) for one in planned)


def _title(one: planning.PlannedWalk) -> str:
    step = "completes, no step is left" if one.seq is None else f"step {one.seq} {one.step}"
    carried = f" (by {one.carrier})" if one.carrier else ""
    return f"BatchControl {one.instance.instance_id} of batch {one.batch}, {step}{carried}:"
