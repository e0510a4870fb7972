"""`batchctl schedule run`: start a schedule's work now."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.missing_controller import to_wait
from batchctl.cli.session import CliSession, acts
from batchctl.domain.text import visible
from batchctl.operations.scheduling import schedule_keeper


@click.command()
@click.argument("name")
@acts(needs_reason=True)
def run(session: CliSession, name: str, reason: str, dry_run: bool) -> None:
    """Start a schedule's work now, outside of its due times, and print the number of the FileProcess row.

    It does so also while the schedule is disabled, and whatever ProcessingMode says: that is for what starts of itself.
    Its due times stay as they are.
    """
    app = session.app
    actor = app.actor(dry_run=dry_run)
    done = schedule_keeper.run_now(actor, name, zone=app.settings.business_time_zone, reason=reason)
    steps = to_wait(app, f"file:{done.intake_id or 'ID'}")
    entity = visible(done.schedule.entity)
    if done.intake_id is None:
        output.say(f"A FileProcess row would be inserted: {entity}, CycleKey {done.cycle_key}.")
    else:
        click.echo(done.intake_id)
    if done.open_work is not None:
        output.say(f"Note: {done.open_work}; the new work waits behind it.")
    if done.unreadable is not None:
        output.say(f"Note: {done.unreadable.message}")
        output.say(f"Next: {done.unreadable.next_step}")
    if done.batches:
        output.say(f"Taken by: {', '.join(map(visible, done.batches))}.")
        for step in steps:
            output.say(f"Next: {step}")
    elif done.unreadable is None:
        output.say(f"Note: No batch takes entity '{entity}'.")
        output.say("Next: batchctl batches   (which entities are taken)")
