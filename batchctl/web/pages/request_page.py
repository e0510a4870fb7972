"""What somebody has asked for by a row, and what has become of it."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from batchctl.app import App
from batchctl.domain.operators.requests import Request, RequestId
from batchctl.domain.status import RequestStatus
from batchctl.operations.operators import request_book
from batchctl.web.asked_acts import looked_at
from batchctl.web.page import Page, PageRequest, row_number


def request(app: App, asked: PageRequest) -> Page:
    """Show a request; while no controller has answered it, the page comes back by itself."""
    found, leader = looked_at(app, RequestId(row_number(asked.path, "OperatorRequest")))
    waits = found.status is RequestStatus.REQUESTED
    return Page(
        f"Request {found.request_id}",
        "request.html",
        [(request_book.REQUESTS, [found])],
        {"request": found, "waits": waits, "leader": leader, "where": _where(found)},
        comes_back=waits,
        narrowed={"request": str(found.request_id)},
    )


def _where(found: Request) -> str:
    """Return where what was asked for can be seen."""
    if found.instance_id is not None:
        return f"/instances/{found.instance_id}"
    if found.batch is not None:
        return f"/batch?{urlencode({'name': found.batch}, quote_via=quote)}"
    return "/"
