"""`batchctl job run`: what the pasted command of a `python` step calls."""

from __future__ import annotations

import json
from typing import Any

import click

from batchctl.cli.session import Session
from batchctl.domain.errors import NotFound
from batchctl.domain.text import did_you_mean, visible

FAILED = 1


@click.group()
def job() -> None:
    """Call registered Python jobs by hand."""


@job.command()
@click.argument("name")
@click.option("--arguments", default="{}", metavar="JSON", help="The job's arguments, as a JSON object.")
@click.pass_context
def run(ctx: click.Context, name: str, arguments: str) -> None:
    """Call a job as the controller does and print what it printed; exit code 1 when it fails."""
    from batchctl.cli import output

    session: Session = ctx.obj
    given = _object(arguments)
    with session.app() as app:
        known = app.registry.job_names
        if name not in known:
            message = f"There is no job '{visible(name)}'.{visible(did_you_mean(name, known))}"
            raise NotFound(message, next_step="batchctl check   (says what is wrong with plugins)")
        outcome = app.run_job(name, given)
    if outcome.output:
        click.echo(outcome.output, nl=not outcome.output.endswith("\n"))
    if outcome.message:
        output.say(outcome.message if outcome.succeeded else f"Error: {outcome.message}")
    if not outcome.succeeded:
        ctx.exit(FAILED)


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"It is not JSON: {error}.", param_hint="--arguments") from None
    if not isinstance(found, dict):
        raise click.BadParameter('It is not a JSON object, such as {"day": "2026-11-01"}.', param_hint="--arguments")
    return found
