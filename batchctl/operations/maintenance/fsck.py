"""Every law of the engine, asked of the tables themselves: the read model behind `fsck`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Annotated

from batchctl.operations.column_lists import ColumnList, record
from batchctl.ports import Clock, Transactions
from batchctl.store import dead_end_rows, invariants
from batchctl.store.definitions import definitions
from batchctl.store.dialects import dialect_of

SETTLED_AFTER = timedelta(minutes=10)
"""How long an intake row may wait for its instances before that is worth telling."""
READABLE = "I90"
NAMED = "I91"
_CAN_BE_READ = "what people define can be read by the engine, column by column"
_HAS_ITS_ROW = "every name that is locked has its row, which is made anew when it is needed"
MOST = 20
"""How many rows are named for each law."""


@dataclass(frozen=True, slots=True)
class LawFinding:
    """A row that breaks a law: which law, and what a person does about it."""

    code: Annotated[str, "Law"]
    law: Annotated[str, "Message"]
    table: str
    row_id: Annotated[int, "Row"]
    next_step: Annotated[str, "Next"]


LAW_FINDINGS = ColumnList[LawFinding](
    "Against the laws",
    record(LawFinding),
    {"law": "Law", "table": "Table", "row": "Row", "what should be so": "Message"},
)


def examine(
    transactions: Transactions, clock: Clock, *, settled_after: timedelta = SETTLED_AFTER
) -> tuple[LawFinding, ...]:
    """Return the rows that break a law; what came in within `settled_after` may still wait."""
    with transactions.read() as connection:
        with dialect_of(connection).long_read(connection):
            found = list(invariants.broken(connection, clock.now() - settled_after, MOST))
        unread = (*definitions.read(connection).unreadable, *dead_end_rows.unreadable(connection))
        nameless = dialect_of(connection).missing_names(connection)
    return (
        *(
            LawFinding(
                one.invariant.code,
                one.invariant.law,
                one.invariant.table,
                one.row_id,
                one.invariant.mend.format(id=one.row_id),
            )
            for one in found
        ),
        *(
            LawFinding(READABLE, f"{_CAN_BE_READ} ({row.wording})", row.table, row.row_id, row.mend)
            for row in unread[:MOST]
        ),
        *(LawFinding(NAMED, _HAS_ITS_ROW, "NamedLock", slot, mend) for slot, mend in islice(nameless.items(), MOST)),
    )


def laws() -> int:
    """Return how many laws are asked."""
    return len(invariants.INVARIANTS) + 2
