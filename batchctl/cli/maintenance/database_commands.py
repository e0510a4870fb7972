"""`batchctl db upgrade, verify, script, roles`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from batchctl import control_database
from batchctl.cli import output
from batchctl.cli.session import CliSession, reads, reason, writes
from batchctl.domain.errors import DatabaseRefused, SchemaMismatch
from batchctl.domain.text import visible
from batchctl.operations import copies

LISTED_MOST = 5
DIALECTS = ("sqlite", "postgresql", "mssql")


@click.group()
def db() -> None:
    """Create, migrate or verify the control database."""


@db.command()
@writes
def upgrade(session: CliSession, dry_run: bool) -> None:
    """Create the control database, or bring it up to date; not beneath a controller that works on it."""
    if dry_run:
        try:
            found = control_database.verify_database(session.config)
        except (DatabaseRefused, SchemaMismatch) as needed:
            if not (needed.next_step or "").startswith("batchctl db upgrade"):
                raise
            if isinstance(needed, SchemaMismatch):
                _name_others(control_database.check_may_upgrade(session.config))
            click.echo(needed.message)
            click.echo("batchctl db upgrade would create or upgrade it.")
        else:
            click.echo(f"Nothing to do: the control database has schema {found}.")
        return
    done = control_database.upgrade_database(session.config, _name_others)
    if done.before != done.after:
        click.echo(f"The control database now has schema {done.after} (before: {done.before or 'none'}).")
    elif done.made_anew:
        click.echo(f"The control database has schema {done.after}; its views and triggers were made anew.")
    elif done.left:
        click.echo(f"The control database has schema {done.after} already.")
    else:
        click.echo(f"Nothing to do: the control database has schema {done.after}.")
    if not done.was_compared:
        output.say(
            "Note: how views and triggers are defined was not compared, for which this login would have to make a schema."
        )
        output.say("      After a new version of batchctl, as the owner of the tables: batchctl db upgrade")
    if done.left:
        more = "" if len(done.left) <= LISTED_MOST else f"; and {len(done.left) - LISTED_MOST} more"
        said = "; ".join(done.left[:LISTED_MOST])
        output.say(f"Note: it is not as batchctl made it, which no upgrade mends: {said}{more}.")
    output.say("Next: batchctl db verify" if done.left else "Next: batchctl check")


def _name_others(tables: Sequence[str]) -> None:
    """Say that the database holds tables of others already: it may be the wrong one."""
    if tables:
        more = "" if len(tables) <= LISTED_MOST else ", ..."
        others = f"{output.counted(len(tables), 'other table')} ({', '.join(tables[:LISTED_MOST])}{more})"
        wrong = "if that is not meant, database_url names the wrong database"
        output.say(f"Note: the database holds {others}; batchctl keeps its own beside them: {wrong}.")


@db.command()
@reads
def verify(session: CliSession, as_json: bool) -> None:
    """Compare the control database's schema with what this version needs; exit code 4 when they differ."""
    found = control_database.verify_database(session.config)
    if as_json:
        output.print_json({"Schema": found})
        return
    click.echo(f"The control database has schema {found}, as it should.")


@db.command()
@reason(required=True)
@click.option("--apart", is_flag=True, help="Give it a name of its own: the other one goes on working, too.")
@writes
def adopt(session: CliSession, reason: str | None, apart: bool, dry_run: bool) -> None:
    """Let controllers work on a control database that was copied or moved; until then nothing runs on it."""
    actor = session.app.actor(dry_run=dry_run)
    done = copies.adopt(actor, reason=reason, apart=apart)
    if done.original is None:
        click.echo("It was where it is now when somebody last let controllers work on it.")
    verb = "would be" if dry_run else "is"
    named = ", with a name of its own" if apart else ""
    click.echo(f"The control database {verb} adopted{named}: controllers work on it, and on what is open in it.")
    output.say("Next: batchctl status   (look what is open before you start a controller)")


@db.command()
@click.option("--dialect", type=click.Choice(DIALECTS), default="sqlite", show_default=True, help="Kind of database.")
def script(dialect: str) -> None:
    """Print the SQL that builds the schema, for a DBA."""
    output.verbatim(control_database.schema_script(dialect))


@db.command()
@click.option("--dialect", type=click.Choice(DIALECTS), required=True, help="Kind of database.")
@click.option("--schema", metavar="NAME", help="Where the tables are  [default: public, on SQL Server dbo].")
@click.option(
    "--intake",
    "suppliers",
    metavar="NAME=ENTITY",
    multiple=True,
    help="A role batchctl_intake_NAME that inserts rows of this entity only; may be repeated, also with the same name.",
)
def roles(dialect: str, schema: str | None, suppliers: tuple[str, ...]) -> None:
    """Print the SQL that makes roles with the rights that each kind of user needs, for a DBA; it may be run again."""
    entities: dict[str, list[str]] = {}
    for supplier in suppliers:
        name, _, entity = supplier.partition("=")
        if not entity:
            message = f"'{visible(supplier)}' does not name an entity; write it like this: --intake shop=Orders"
            raise click.BadParameter(message, param_hint="--intake")
        entities.setdefault(name, []).append(entity)
    output.verbatim(control_database.roles_script(dialect, schema, entities).rstrip("\n"))
