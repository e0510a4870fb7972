"""What waits for completions of others: the read model behind `waits`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from batchctl.domain.dependencies.waits import Wait
from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.operations import shown_columns, unknown
from batchctl.operations.shown_columns import Columns, moment
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import dependencies

MOST = 1000
"""How many waits are shown at most."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A wait, and whether it takes too long by now."""

    wait: Wait
    is_overdue: bool

    @property
    def columns(self) -> Columns:
        """Return it under the names of columns."""
        wait = self.wait
        return {
            "ProcessBatch_id": wait.batch.batch_id,
            "ProcessBatchName": wait.batch.name,
            "CycleKey": wait.cycle_key,
            "Since": moment(wait.since),
            "Deadline": moment(wait.due),
            "Overdue": self.is_overdue,
            "Reason": wait.reason,
            "Lacking": [shown_columns.of(one) for one in wait.lacking],
        }


def waits(transactions: Transactions, clock: Clock, batch: str | None = None) -> tuple[Seen, ...]:
    """Return every wait, or those of one batch; those that take too long first."""
    with transactions.read() as connection:
        batches = {one.batch_id: one for one in definitions.all_batches(connection)}
        of = None if batch is None else unknown.named(connection, batches.values(), batch).batch_id
        return seen(connection, batches, clock.now(), MOST, of)


def seen(
    connection: Connection,
    batches: Mapping[BatchId, BatchDefinition],
    now: datetime,
    most: int,
    of: BatchId | None = None,
) -> tuple[Seen, ...]:
    """Return up to so many waits, those that take too long first."""
    found = [Seen(wait, wait.is_overdue(now)) for wait in dependencies.waits(connection, batches, most, now, of=of)]
    return tuple(sorted(found, key=lambda one: (not one.is_overdue, one.wait.since)))
