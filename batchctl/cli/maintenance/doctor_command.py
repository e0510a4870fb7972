"""`batchctl doctor`."""

from __future__ import annotations

import click

from batchctl import app
from batchctl.cli import output
from batchctl.cli.lazily import load_all
from batchctl.cli.session import FINDINGS, CliSession, reads_rows
from batchctl.domain.outcomes import Result
from batchctl.operations.maintenance import doctor as operation


@click.command()
@reads_rows
def doctor(session: CliSession, as_json: bool) -> None:
    """Examine the control database, every connection and this host; exit code 6 when something FAILs.

    It looks at drivers, logins, rights, clocks, the schema, and whether what is committed stays. It changes nothing,
    and it takes no longer than 20 seconds.
    """
    load_all()
    lines = app.examine(session.config)
    counts = {result: sum(line.result is result for line in lines) for result in Result}
    if as_json:
        output.print_list(operation.LINES, lines)
    else:
        title = ", ".join(f"{count} {result.value}" for result, count in counts.items())
        output.show_list(operation.LINES, lines, title=title)
        mending = [f"{line.target}, {line.check}: {line.next_step}" for line in lines if line.next_step is not None]
        if mending:
            output.hints(*mending, "and look again: batchctl doctor")
    if counts[Result.FAIL]:
        raise click.exceptions.Exit(FINDINGS)
