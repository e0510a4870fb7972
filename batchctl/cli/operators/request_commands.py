"""`batchctl requests`: what people have asked for by rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from batchctl.cli.filtering import filters
from batchctl.cli.session import CliSession, as_rows, pass_session
from batchctl.domain.status import RequestStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from batchctl.cli.listing import Listing
    from batchctl.domain.operators.requests import Request


@click.command()
@click.option("--open", "only_open", is_flag=True, help="Only those that are not answered yet.")
@filters(RequestStatus, "was asked")
@as_rows
@pass_session
def requests(
    session: CliSession, only_open: bool, batch: str | None, status: str | None, since: datetime | None, as_json: bool
) -> None:
    """List what people have asked for by rows of OperatorRequest, newest first, with the answers."""
    from batchctl.cli import output
    from batchctl.operations import requested, shown_columns

    with session.app() as app:
        stands = None if status is None else RequestStatus(status)
        found = requested.requests(app.transactions, only_open=only_open, batch=batch, status=stands, since=since)
    if as_json:
        output.print_json([shown_columns.of(one) for one in found])
        return
    out = output.console()
    if found:
        output.section(out, _listing(found))
    else:
        out.print("OperatorRequest has no such row.")
    waiting = any(one.answered_at is None for one in found)
    output.hints(
        out, "batchctl run   (the leader answers; for one round: batchctl run --once)" if waiting else "batchctl status"
    )


def _listing(found: Sequence[Request]) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time, word

    rows = [
        (
            cell(one.request_id),
            cell(one.action),
            cell(one.of),
            cell(one.actor),
            time(one.asked_at),
            word(one.status.value),
            cell(one.answer),
            cell(one.reason),
        )
        for one in found
    ]
    return Listing("Requests", ["id", "action", "of", "who", "asked (UTC)", "", "answer", "reason"], rows)
