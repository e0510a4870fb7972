"""What is late: steps, instances, schedules, dependencies, and what has not arrived, begun or ended by its time."""

from __future__ import annotations

from datetime import timedelta

from batchctl.operations.column_lists import Alarming, ColumnList, record
from batchctl.ports import Transactions
from batchctl.store.alerting import late_rows
from batchctl.store.alerting.late_rows import LateRow
from batchctl.store.one_look import ask_ahead

LATE = ColumnList[LateRow](
    "Late",
    record(LateRow),
    {
        "what": "What",
        "name": "Name",
        "batch": "ProcessBatchName",
        "id#": "BatchControl_id",
        "by (UTC)": "ExpectedTime",
        "late by#": lambda one: None if one.seconds is None else timedelta(seconds=round(one.seconds)),
        "because": lambda one: None if one.reason is None else Alarming(one.reason),
    },
)


def ask_late(transactions: Transactions, most: int) -> None:
    """Ask ahead for what is late."""
    with transactions.read() as connection:
        ask_ahead(connection, (late_rows.WORST, {"most": most}))


def late(transactions: Transactions, most: int) -> list[LateRow]:
    """Return what is late, that which is so for longest first."""
    with transactions.read() as connection:
        return late_rows.worst(connection, most)
