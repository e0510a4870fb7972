"""`batchctl watch`: the folders whose files become work."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.filtering import of_starters, starts
from batchctl.cli.session import CliSession, WholeNumber, reads, reads_rows
from batchctl.cli.unreadable_lists import show_unreadable
from batchctl.domain.error_codes import NOT_LISTED
from batchctl.domain.text import storable, typed
from batchctl.operations import shown_columns
from batchctl.operations.intake import watches

NOT_USABLE = 4
"""The same as for a database that cannot be used: something outside the command has to be put right."""


@click.group()
def watch() -> None:
    """See which folders are watched, and test what would be taken from one.

    A folder is watched by inserting a row into FileWatch; a running controller takes it up without a restart.
    """


@watch.command(name="list")
@of_starters
@reads_rows
def listed(session: CliSession, batch: str | None, status: str | None, as_json: bool) -> None:
    """List the watches: folder, since when it cannot be listed, how many files were taken, and the last of them."""
    app = session.app
    is_wanted = starts(app, batch, status)
    every, broken = watches.everyone(app.transactions)
    found = [one for one in every if is_wanted(one.watch.entity, one.watch.enabled)]
    if as_json:
        output.print_list(watches.WATCHES, found, broken)
        return
    output.show_list(watches.WATCHES, found)
    if broken:
        show_unreadable(broken)
    elif found:
        output.hints(
            f"batchctl watch test {typed(found[0].watch.name)}   (what would be taken now, and why not the rest)"
        )
    else:
        output.hints("insert a row into FileWatch (WatchName, Entity, Folder), then: batchctl check")


@watch.command(name="test")
@click.argument("name")
@click.option(
    "--most", type=WholeNumber(1, 100_000), default=20, show_default=True, help="How many of each kind to show."
)
@reads
def rehearsed(session: CliSession, name: str, most: int, as_json: bool) -> None:
    """Walk once through the folder of a watch, on this host, and say of each entry what would happen and why.

    Nothing is submitted. Exit code 4 when the folder cannot be listed.
    """
    app = session.app
    with app.folders() as folders:
        found = watches.rehearse(app.transactions, folders, app.settings.directory, name, most)
    if as_json:
        output.print_json(
            {
                **shown_columns.of(found.watch),
                "FolderHere": found.folder,
                "Trouble": found.failure,
                "Totals": {outcome: found.totals[outcome] for outcome in watches.OUTCOMES},
                "Files": [
                    {
                        "FilePath": storable(one.path),
                        "FileSize": None if one.file is None else one.file.size,
                        "Outcome": one.outcome,
                        "Reason": one.reason,
                        "FileProcess_id": one.intake_id,
                        "Data": one.data,
                    }
                    for one in found.verdicts
                ],
            }
        )
    else:
        rows = [
            (one.path, None if one.file is None else one.file.size, one.outcome, one.reason) for one in found.verdicts
        ]
        if rows or found.failure is None:
            output.table(f"In {found.folder}", ["file", "bytes#", "outcome", "because"], rows)
            counted = ", ".join(f"{found.totals[outcome]} {outcome}" for outcome in watches.OUTCOMES)
            output.line(f"Entries: {counted}. Nothing was submitted.")
        if found.failure is None:
            disabled = "the watch is disabled: UPDATE FileWatch SET Enabled = 1 WHERE WatchName = ..."
            taken = "a running controller takes what is complete; without one: batchctl run --once"
            output.hints(taken if found.watch.enabled else disabled)
    if found.failure is not None:
        said, to_do = found.announced
        output.warn(f"the folder cannot be listed: {said}", NOT_LISTED, to_do)
        raise click.exceptions.Exit(NOT_USABLE)
