"""`batchctl schedule`: what starts work because it is time."""

from __future__ import annotations

import click

from batchctl.cli import sql_jobs


@click.group()
def schedule() -> None:
    """See what starts work because it is time, when it does so next, and change it.

    A schedule is a row of Schedule; a running controller takes up what is inserted or changed by hand, without a restart.
    """


for command in (sql_jobs.add_sql, sql_jobs.jobs, sql_jobs.remove):
    schedule.add_command(command)
