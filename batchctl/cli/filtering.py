"""The options by which a list is narrowed: `--batch`, `--status`, `--since`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

from batchctl import app
from batchctl.cli.log_command import Moment
from batchctl.cli.session import Command, batch_names, one_of
from batchctl.operations import inspection


def filters(statuses: Iterable[str], since: str) -> Callable[[Command], Command]:
    """Give a command the options; `since` says of what the time is."""

    def given(command: Command) -> Command:
        later = click.option("--since", type=Moment(), help=f"Only what {since} then or later, in UTC.")
        status = click.option("--status", type=one_of(statuses), help="Only what stands so.")
        batch = click.option("--batch", metavar="NAME", shell_complete=batch_names, help="Only what is of this batch.")
        return batch(status(later(command)))

    return given


def of_starters(command: Command) -> Command:
    """Give a list of what starts work the options by which it is narrowed."""
    status = click.option("--status", type=one_of(("enabled", "disabled")), help="Only those that are so.")
    batch = click.option("--batch", metavar="NAME", shell_complete=batch_names, help="Only what starts this batch.")
    return batch(status(command))


def starts(app: app.App, batch: str | None, status: str | None) -> Callable[[str, bool], bool]:
    """Return a function that says whether a starter is wanted, given its entity and whether it is enabled."""
    entity = None if batch is None else inspection.entity_of(app.transactions, batch)

    def is_wanted(started: str, enabled: bool) -> bool:
        return entity in {None, started} and status in {None, "enabled" if enabled else "disabled"}

    return is_wanted
