"""`batchctl batches` and `batchctl check`."""

from __future__ import annotations

import click

from batchctl import config
from batchctl.cli import output
from batchctl.cli.lazily import load_all
from batchctl.cli.session import FINDINGS, CliSession, one_of, reads_rows
from batchctl.cli.unreadable_lists import show_unreadable
from batchctl.domain.text import typed
from batchctl.operations import inspection
from batchctl.operations.definitions import checking, connection_checks, learned_rows
from batchctl.operations.maintenance import doctor
from batchctl.operations.operators import noting


@click.command()
@click.option("--status", type=one_of(("enabled", "disabled")), help="Only those that are so.")
@reads_rows
def batches(session: CliSession, status: str | None, as_json: bool) -> None:
    """List the batches in order of Seq, with their steps and how many instances stand where."""
    app = session.app
    (found, broken, strange), now = inspection.batches(app.transactions, app.clock), app.clock.now()
    # Whether a row that cannot be read is enabled is unknown: it is always shown.
    found = tuple(one for one in found if status in {None, "enabled" if one.batch.enabled else "disabled"})
    columns = inspection.batches_at(now)
    if as_json:
        output.print_list(columns, found, broken)
        for row in strange:
            output.say(f"Note: {row.message}. {row.mend}")
        return
    output.show_list(columns, found)
    output.show_list(noting.NOTES, [note for one in found for note in one.notes], if_any=True)
    missing = [each for one in found for each in one.batch.missing_plugins]
    misread = [each for one in found for each in one.misread]
    uninstalled = ((output.cell(each.message, "bold red"), each.mend) for each in missing)
    output.table_if_any("Not installed where the controllers run", ["message", "next"], uninstalled)
    meant_otherwise = ((output.cell(each.message, "bold red"), each.next_step) for each in misread)
    output.table_if_any("Cannot be meant so", ["message", "next"], meant_otherwise)
    if unread := (*broken, *strange):
        show_unreadable(unread)
    elif missing:
        output.hints(missing[0].mend, "batchctl check")
    elif misread:
        output.hints(misread[0].next_step or "batchctl check")
    elif found:
        output.hints(f"batchctl why batch:{typed(found[0].batch.name)}", "batchctl check")
    else:
        output.hints("insert a row into ProcessBatch and its steps into ProcessControl, then: batchctl check")


@click.command()
@click.option("--connections", "ask_targets", is_flag=True, help="Also ask the target databases for the procedures.")
@click.option(
    "--constraints", is_flag=True, help="Also have SQL Server read every row for constraints that were switched off."
)
@reads_rows
def check(session: CliSession, ask_targets: bool, constraints: bool, as_json: bool) -> None:
    """Check every definition row, placeholder, plugin and connection name; exit code 6 when anything is found.

    It asks no target database, unless --connections is given: then it connects to each that a step names, and finds
    procedures that do not exist. It does not look whether programs and files are there; whether the folders of watches
    are, it does. Whether the staging table of a trigger is there, batchctl trigger test NAME says.
    """
    load_all()
    app = session.app
    of_targets = connection_checks.findings(app.transactions, app.settings) if ask_targets else ()
    found = (*app.check(at_length=constraints), *of_targets)
    literal = sorted(config.literal_passwords(app.settings))
    for key in literal:
        output.say(f"Warning: {key} holds its password itself; {doctor.how_to_hide(key)}")
    for note in learned_rows.silent(app.transactions, app.clock):
        output.say(f"Note: {note}")
    if as_json:
        output.print_list(checking.FINDINGS, found)
    elif found:
        output.show_list(checking.FINDINGS, found, title=output.counted(len(found), "finding"))
        output.hints(*dict.fromkeys(one.remedy for one in found), "and look again: batchctl check")
    else:
        click.echo("Everything is in order.")
    if found:
        raise click.exceptions.Exit(FINDINGS)
