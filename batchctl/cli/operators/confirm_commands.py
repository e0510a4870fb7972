"""`batchctl confirm, refuse`: answers to what steps ask people."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.operators import acting_commands
from batchctl.cli.session import INSTANCE_ID, CliSession, acts, as_json
from batchctl.domain.rows import InstanceId
from batchctl.domain.text import visible
from batchctl.operations import intervene

_instance = click.argument("instance_id", metavar="ID", type=INSTANCE_ID)


@click.command()
@_instance
@acts(needs_reason=False)
@as_json
def confirm(session: CliSession, instance_id: int, reason: str | None, dry_run: bool, as_json: bool) -> None:
    """Answer yes to the question that an instance waits with: it goes on behind the step that asks.

    ID is a BatchControl id. With --dry-run the question is shown, and what was found that is to be seen beside it.
    """
    done = session.app.operator(dry_run=dry_run).confirm(InstanceId(instance_id), reason=reason)
    _show(done, as_json=as_json)


@click.command()
@_instance
@acts(needs_reason=True)
@as_json
def refuse(session: CliSession, instance_id: int, reason: str, dry_run: bool, as_json: bool) -> None:
    """Answer no to the question that an instance waits with: the step has failed, without a retry.

    ID is a BatchControl id. What follows is what follows any step that has failed: OnStepFailure and OnFailure say it.
    """
    done = session.app.operator(dry_run=dry_run).refuse(InstanceId(instance_id), reason=reason)
    _show(done, as_json=as_json)


def _show(done: intervene.Intervention, *, as_json: bool) -> None:
    if as_json:
        output.print_json(done.columns())
        return
    asked = done.question
    if asked is not None:
        output.line(f"Asked by step {asked.seq}: {visible(asked.question)}")
        for line in (asked.evidence or "").splitlines() if done.dry_run else ():
            output.line(f"  {visible(line)}")
    acting_commands.show(done)
