"""`batchctl purge`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from batchctl import node
from batchctl.cli import output
from batchctl.cli.session import FAILED, FINDINGS, CliSession, acts, as_json
from batchctl.domain.error_codes import NOT_PURGED
from batchctl.domain.text import visible
from batchctl.operations import shown_columns
from batchctl.operations.maintenance import disposal


@click.command()
@acts(needs_reason=False)
@as_json
def purge(session: CliSession, reason: str | None, as_json: bool, dry_run: bool) -> None:
    """Delete at once what is older than the table Setting says, as the leader does once an hour.

    Never goes what is not over, nor the last instances of a batch. Exit code 1 when some of it could not be purged, 6 when
    a dry run finds a setting that cannot be meant so.
    """
    if dry_run:
        _rehearse(session, as_json=as_json)
        return
    if reason is None:
        raise click.UsageError("Missing option '--reason': say why, or only look: --dry-run.")

    done = node.Node(session.app).purge(reason)
    _print_gone(done.gone, as_json=as_json)
    _warn(done.failures)
    if done.failures:
        raise click.exceptions.Exit(FAILED)


def _rehearse(session: CliSession, *, as_json: bool) -> None:
    app = session.app
    planned = disposal.plan(app.transactions, app.clock)
    if as_json:
        output.print_json([shown_columns.of(one) for one in planned.going])
    else:
        _print_planned(planned)
    _warn([(f"Setting {visible(one.name)}", one.message) for one in planned.findings])
    if planned.findings:
        raise click.exceptions.Exit(FINDINGS)


def _print_planned(planned: disposal.Disposal) -> None:
    if not planned.going:
        output.line("Nothing would go.")
        return
    rows = [
        (one.table, one.batch, output.word(one.outcome.value) if one.outcome else "", one.rows, one.oldest)
        for one in planned.going
    ]
    output.table("Rows that would go", ["table", "batch", "outcome", "rows#", "oldest (UTC)"], rows)
    if planned.known:
        had = output.counted(planned.known, "FileProcess row")
        output.say(f"Note: {had} of these have Data: sent again after that, they are no duplicates.")
    output.hints("batchctl purge --reason ...")


def _print_gone(gone: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        output.print_json([{"Table": table, "Rows": rows} for table, rows in gone.items()])
        return
    said = ", ".join(f"{rows} of {table}" for table, rows in gone.items())
    click.echo(f"Rows purged: {said}." if said else "Nothing was old enough to go.")


def _warn(failures: Sequence[tuple[str, str]]) -> None:
    for what, said in failures:
        output.warn(f"{what}: {said}", NOT_PURGED, "batchctl check; batchctl doctor   (settings, rights)")
