"""`batchctl batches` and `batchctl check`."""

from __future__ import annotations

from datetime import datetime

import click

from batchctl import config
from batchctl.cli import output
from batchctl.cli.lazily import load_all
from batchctl.cli.session import FINDINGS, CliSession, one_of, reads_rows
from batchctl.cli.unreadable_lists import show_unreadable
from batchctl.domain.maintenance.lengths import in_words
from batchctl.domain.operators import freezes
from batchctl.domain.rows import BatchDefinition
from batchctl.domain.text import typed
from batchctl.operations import inspection, shown_columns
from batchctl.operations.definitions import connection_checks
from batchctl.operations.maintenance import doctor


@click.command()
@click.option("--status", type=one_of(("enabled", "disabled")), help="Only those that are so.")
@reads_rows
def batches(session: CliSession, status: str | None, as_json: bool) -> None:
    """List the batches in order of Seq, with their steps and how many instances stand where."""
    app = session.app
    (found, broken, strange), now = inspection.batches(app.transactions, app.clock), app.clock.now()
    # Whether a row that cannot be read is enabled is unknown: it is always shown.
    found = tuple(one for one in found if status in {None, "enabled" if one.batch.enabled else "disabled"})
    if as_json:
        listed = [
            {
                **shown_columns.batch(one.batch),
                "Steps": [shown_columns.of(step) for step in one.batch.steps],
                "NotInstalled": [shown_columns.of(missing) for missing in one.batch.missing_plugins],
                "Misread": [{"Message": each.message, "Next": each.next_step} for each in one.misread],
                "Frozen": freezes.holding(one.batch, now) is not None,
                "Instances": {status.value: count for status, count in one.instances.items()},
            }
            for one in found
        ]
        nothing = dict.fromkeys(listed[0] if listed else ())
        listed += [
            {**nothing, "ProcessBatch_id": row.batch_id, **shown_columns.unreadable(row), "Unreadable": row.message}
            for row in broken
        ]
        output.print_json(listed)
        for row in strange:
            output.say(f"Note: {row.message}. {row.mend}")
        return
    rows = [
        (
            one.batch.seq,
            one.batch.name,
            _state(one.batch, now),
            one.batch.entity,
            ", ".join(f"{step.seq} {step.name}" for step in one.batch.steps) or None,
            f"{one.batch.retry_count} x {in_words(one.batch.retry_wait)}",
            one.batch.on_failure,
            ", ".join(f"{count} {status}" for status, count in one.instances.items()) or None,
        )
        for one in found
    ]
    headings = ["Seq#", "batch", "state", "entity", "steps", "retries", "OnFailure", "instances"]
    output.table("Batches", headings, rows)
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


def _state(batch: BatchDefinition, now: datetime) -> object:
    frozen = "" if freezes.holding(batch, now) is None else ", frozen"
    shown = output.word("enabled" if batch.enabled else "disabled").append(frozen, style="bold cyan")
    return shown.append(", not installed" if batch.missing_plugins else "", style="bold red")


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
    if as_json:
        listed = [
            {
                "Table": one.table,
                "Row": one.row,
                "Column": one.column or None,
                "Message": one.message,
                "Next": one.remedy,
            }
            for one in found
        ]
        output.print_json(listed)
    elif found:
        rows = [(one.table, one.row or None, one.column or None, one.message) for one in found]
        output.table(output.counted(len(found), "finding"), ["table", "row", "column", "what is wrong"], rows)
        output.hints(*dict.fromkeys(one.remedy for one in found), "and look again: batchctl check")
    else:
        click.echo("Everything is in order.")
    if found:
        raise click.exceptions.Exit(FINDINGS)
