"""The options by which a list is narrowed: `--batch`, `--status`, `--since`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

from batchctl.cli.scheduler_log import Moment
from batchctl.cli.session import Command, batch_names, one_of


def filters(statuses: Iterable[str], since: str) -> Callable[[Command], Command]:
    """Give a command the options; `since` says of what the time is."""

    def given(command: Command) -> Command:
        later = click.option("--since", type=Moment(), help=f"Only what {since} then or later, in UTC.")
        status = click.option("--status", type=one_of(statuses), help="Only what stands so.")
        batch = click.option("--batch", metavar="NAME", shell_complete=batch_names, help="Only what is of this batch.")
        return batch(status(later(command)))

    return given
