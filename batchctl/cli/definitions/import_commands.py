"""`batchctl import`: jobs of other schedulers become definitions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from batchctl.cli import output
from batchctl.cli.definitions.file_commands import save
from batchctl.cli.session import FINDINGS, as_json
from batchctl.domain.definitions import agent_jobs, agent_scripts, crontabs
from batchctl.domain.definitions.foreign_jobs import ForeignJob
from batchctl.domain.scheduling.column_text import UnfitText
from batchctl.domain.scheduling.timing_text import checked_zone
from batchctl.domain.text import typed, visible
from batchctl.operations.definitions import exporting, importing
from batchctl.operations.definitions.importing import ForeignJobs

Read = Callable[[str, str, list[str]], list[ForeignJob]]
"""Reads a text: what it is called, and which names are taken."""
_files = click.argument("paths", metavar="FILE...", nargs=-1, required=True)
_output = click.option("--output", "path", metavar="FILE", help="Where the definitions go; without it, nowhere.")
_zone = click.option(
    "--time-zone", "zone", metavar="ZONE", help="Of the times; without it, business_time_zone where they are applied."
)


@click.group("import")
def import_() -> None:
    """Read the jobs of another scheduler, and write them as definitions, all of them disabled.

    Its files are read and never run. A report says of each job what is mapped, and of everything it says what became of
    that. Then: `batchctl plan FILE`, `batchctl apply FILE`. Exit code 6 where a person has to decide something.
    """


@import_.command("crontab")
@_files
@click.option("--user", "with_user", is_flag=True, help="Lines name a user, as in /etc/crontab and /etc/cron.d.")
@_zone
@_output
@as_json
def crontab(paths: tuple[str, ...], with_user: bool, zone: str | None, path: str | None, as_json: bool) -> None:
    """Read crontab files: each line becomes a batch with one step, and a schedule."""

    def read(text: str, source: str, taken: list[str]) -> list[ForeignJob]:
        return crontabs.jobs_of(text, source, with_user=with_user, zone=zone, taken=taken)

    _import(paths, read, zone, path, as_json=as_json)


@import_.command("sql-agent")
@_files
@_zone
@_output
@as_json
def sql_agent(paths: tuple[str, ...], zone: str | None, path: str | None, as_json: bool) -> None:
    """Read scripts of SQL Server Agent's jobs, as SSMS writes them: each job becomes a batch, with its schedules."""

    def read(text: str, source: str, taken: list[str]) -> list[ForeignJob]:
        return agent_jobs.jobs_of(agent_scripts.calls_of(text), source, zone=zone, taken=taken)

    _import(paths, read, zone, path, as_json=as_json)


def _import(paths: tuple[str, ...], read: Read, zone: str | None, path: str | None, *, as_json: bool) -> None:
    if zone is not None:
        try:
            checked_zone(zone)
        except UnfitText as error:
            raise click.UsageError(f"--time-zone {error}") from None
    jobs = list[ForeignJob]()
    for each in paths:
        jobs += read(importing.text_of(Path(each)), visible(each), [one.name for one in jobs])
    imported = ForeignJobs(jobs)
    if path is not None:
        save(path, exporting.text_of(imported.defined, None, of_database=False))
    if as_json:
        output.print_json(importing.report_columns(imported))
    else:
        _show(imported, path)
    if imported.has_findings:
        raise click.exceptions.Exit(FINDINGS)


def _show(imported: ForeignJobs, path: str | None) -> None:
    output.show_list(importing.JOBS, imported.jobs)
    for note in imported.notes:
        output.say(f"Note: {note}.")
    output.line(f"{output.counted(len(imported.jobs), 'job')}: {imported.verdict}.")
    if path is None:
        output.hints("the same with --output FILE writes the definitions, all of them disabled")
    else:
        output.hints(f"batchctl plan {typed(path)}")
