"""Which instance of those that have failed is to be looked at first."""

from __future__ import annotations

from collections.abc import Iterable

from batchctl.domain.rows import InstanceId
from batchctl.domain.status import FINAL, STOPPED
from batchctl.ports import Transactions
from batchctl.store import instances


def first(transactions: Transactions, failed: Iterable[InstanceId]) -> InstanceId | None:
    """Return the first that stands failed or held, else the first that still goes on; None when all are settled."""
    with transactions.read() as connection:
        found = [instances.load(connection, each) for each in failed]
    left = [at for at in found if at is not None and at.status not in FINAL]
    needy = [at for at in left if at.status in STOPPED]
    return next((at.instance_id for at in [*needy, *left]), None)
