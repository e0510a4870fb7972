"""`batchctl requests`: what people have asked for by rows."""

from __future__ import annotations

from datetime import datetime

import click

from batchctl.cli import output
from batchctl.cli.filtering import filters
from batchctl.cli.session import CliSession, reads_rows
from batchctl.domain.status import RequestStatus
from batchctl.operations.operators import request_book


@click.command()
@click.option("--open", "only_open", is_flag=True, help="Only those that are not answered yet.")
@filters(RequestStatus, "was asked")
@reads_rows
def requests(
    session: CliSession, only_open: bool, batch: str | None, status: str | None, since: datetime | None, as_json: bool
) -> None:
    """List what people have asked for by rows of OperatorRequest, newest first, with the answers."""
    app = session.app
    stands = None if status is None else RequestStatus(status)
    found = request_book.requests(app.transactions, only_open=only_open, batch=batch, status=stands, since=since)
    if as_json:
        output.print_list(request_book.REQUESTS, found)
        return
    output.show_list(request_book.REQUESTS, found, if_any=True)
    if not found:
        output.line("OperatorRequest has no such row.")
    waiting = any(one.answered_at is None for one in found)
    output.hints(
        "batchctl run   (the leader answers; for one round: batchctl run --once)" if waiting else "batchctl status"
    )
