"""What people have asked for by rows, and what has become of it: the read model behind `requests`."""

from __future__ import annotations

from batchctl.domain.requests import Request
from batchctl.ports import Transactions
from batchctl.store import operator_requests

MOST = 1000
"""How many requests are listed at most."""


def requests(transactions: Transactions, *, only_open: bool = False) -> tuple[Request, ...]:
    """Return the newest requests, newest first."""
    with transactions.read() as connection:
        return tuple(operator_requests.newest(connection, MOST, only_open=only_open))
