"""`batchctl variable`: the texts that definitions take from the control database."""

from __future__ import annotations

import click

from batchctl import app
from batchctl.cli import output
from batchctl.cli.session import CliSession, acts, as_json, reads_rows
from batchctl.domain.text import typed, visible
from batchctl.operations import shown_columns
from batchctl.operations.definitions import variable_keeper


@click.group()
def variable() -> None:
    """Keep the texts that definitions name as {var:NAME}: what differs between test and production.

    A variable is a row of Variable, and may be written there. A changed value is taken by the next attempt of each step.
    """


@variable.command(name="list")
@reads_rows
def listed(session: CliSession, as_json: bool) -> None:
    """List the variables with their values, and what names each."""
    found = variable_keeper.listed(session.app.transactions, session.app.context.read_text)
    if as_json:
        output.print_list(variable_keeper.VARIABLES, found)
        return
    if found:
        output.show_list(variable_keeper.VARIABLES, found)
    else:
        output.line("There is no variable.")
    output.hints("batchctl variable set NAME VALUE --reason ...", "batchctl check")


@variable.command(name="set")
@click.argument("name")
@click.argument("value")
@click.option("--description", metavar="TEXT", help="What it is for.")
@acts(needs_reason=True)
@as_json
def set_value(
    session: CliSession,
    name: str,
    value: str,
    description: str | None,
    reason: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Give a variable a value, which is taken as it stands: no variable and no placeholder is looked up in it.

    What runs keeps the value it began with. A secret is none: write {secret:NAME} into the definition itself.
    """
    done = _keeper(session.app, dry_run=dry_run).set(name, value, description=description, reason=reason)
    if as_json:
        _print_json(done)
        return
    if not done.is_changed:
        click.echo(f"Variable {visible(name)} has that value already.")
        return
    before = "" if done.before is None else f"; it was '{visible(done.before.text)}'"
    would = "would be" if dry_run else "is"
    click.echo(f"Variable {visible(name)} {would} '{visible(value)}'{before}.")
    if done.named_by:
        named = output.counted(len(done.named_by), "column")
        output.say(
            f"It is named in {named}: {', '.join(done.named_by[:3])}{', ...' if len(done.named_by) > 3 else ''}."
        )
    output.say("Next: the same without --dry-run" if dry_run else "Next: batchctl variable list")


@variable.command()
@click.argument("name")
@acts(needs_reason=True)
@as_json
def remove(session: CliSession, name: str, reason: str, dry_run: bool, as_json: bool) -> None:
    """Remove a variable that no definition names."""
    done = _keeper(session.app, dry_run=dry_run).remove(name, reason=reason)
    if as_json:
        _print_json(done)
        return
    click.echo(f"Variable {visible(name)} {'would be' if dry_run else 'is'} removed.")
    if not dry_run and done.before is not None:
        again = f"batchctl variable set {typed(name)} {typed(done.before.text)} --reason ..."
        output.say(f"Next: {again}   (has it back)")


def _keeper(app: app.App, *, dry_run: bool) -> variable_keeper.VariableKeeper:
    return variable_keeper.VariableKeeper(app.actor(dry_run=dry_run), app.context.read_text)


def _print_json(done: variable_keeper.ChangedVariable) -> None:
    before, after = (None if one is None else shown_columns.of(one) for one in (done.before, done.after))
    output.print_json({"Before": before, "After": after, "NamedBy": list(done.named_by)})
