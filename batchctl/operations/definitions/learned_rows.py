"""Which steps have learned too little of their number of rows to say anything."""

from __future__ import annotations

from batchctl.domain.definitions.row_guard import days_like, expected, usual
from batchctl.domain.text import visible
from batchctl.ports import Clock, Transactions
from batchctl.store import row_counts
from batchctl.store.definitions import definitions


def silent(transactions: Transactions, clock: Clock) -> list[str]:
    """Return a message about each step that has to learn how many rows it should have, and knows too few of such a day."""
    days, found = days_like(None, clock.now()), list[str]()
    with transactions.read() as connection:
        for batch in definitions.all_batches(connection):
            for step in (one for one in batch.steps if one.learns_rows):
                counts = row_counts.of_step(connection, step, days)
                if usual(counts.rows) is None:
                    where = f"batch {visible(batch.name)}, step {step.seq} '{visible(step.name)}'"
                    found.append(f"{where} does not look at its number of rows: {expected(step, counts)}.")
    return found
