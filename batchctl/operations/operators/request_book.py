"""What people have asked for by rows, and what has become of it: the read model behind `requests`."""

from __future__ import annotations

from datetime import datetime

from batchctl.domain.operators.requests import Request
from batchctl.domain.rows import LARGEST_ID
from batchctl.domain.status import RequestStatus
from batchctl.operations.column_lists import ColumnList, record
from batchctl.ports import Transactions
from batchctl.store.operators import operator_requests

MOST = 10_000
"""How many requests are listed at most."""

REQUESTS = ColumnList[Request](
    "Requests",
    record(Request),
    {
        "id": "OperatorRequest_id",
        "action": "Action",
        "of": lambda one: one.of,
        "who": "Actor",
        "asked (UTC)": "z_inserted",
        "": "Status",
        "answer": "Answer",
        "reason": "Reason",
    },
)


def requests(
    transactions: Transactions,
    *,
    only_open: bool = False,
    batch: str | None = None,
    status: RequestStatus | None = None,
    since: datetime | None = None,
    before: int | None = None,
    most: int = MOST,
) -> tuple[Request, ...]:
    """Return the newest requests before one that fit, newest first."""
    start = LARGEST_ID if before is None else before
    with transactions.read() as connection:
        found = operator_requests.newest(
            connection, most, before=start, only_open=only_open, batch=batch, status=status, since=since
        )
    return tuple(found)
