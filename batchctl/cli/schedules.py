"""`batchctl schedule`: what starts work because it is time."""

from __future__ import annotations

import click


@click.group()
def schedule() -> None:
    """See what starts work because it is time, when it does so next, and change it.

    A schedule is a row of Schedule; a running controller takes up what is inserted or changed by hand, without a restart.
    """
