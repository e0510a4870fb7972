"""What waits for completions of others: the read model behind `waits`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from batchctl.domain.dependencies.waits import Wait
from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.operations import unknown
from batchctl.operations.column_lists import ColumnList, StatusWord
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
    def stand(self) -> str:
        """Say whether it takes too long."""
        return "overdue" if self.is_overdue else "waiting"


WAITS = ColumnList[Seen](
    "Waits for other batches",
    {
        "ProcessBatch_id": lambda one: one.wait.batch.batch_id,
        "ProcessBatchName": lambda one: one.wait.batch.name,
        "CycleKey": lambda one: one.wait.cycle_key,
        "Since": lambda one: one.wait.since,
        "Deadline": lambda one: one.wait.due,
        "Overdue": lambda one: one.is_overdue,
        "Reason": lambda one: one.wait.reason,
        "Lacking": lambda one: one.wait.lacking,
        "Next": lambda one: one.wait.next_step,
    },
    {
        "batch": "ProcessBatchName",
        "cycle": "CycleKey",
        "": lambda one: StatusWord(one.stand),
        "since (UTC)": "Since",
        "due (UTC)": "Deadline",
        "because": "Reason",
        "next": "Next",
    },
)


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
