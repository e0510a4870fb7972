"""When batches will be ready, as the leader has said last: the read model of pages, which replay no night themselves."""

from __future__ import annotations

from datetime import datetime

from batchctl.operations.column_lists import Alarming, ColumnList, record
from batchctl.ports import Transactions
from batchctl.store.dependencies import newest_forecasts
from batchctl.store.dependencies.newest_forecasts import NewestForecast
from batchctl.store.one_look import ask_ahead

MOST = 20
EVEN = 50
"""Percent: with a smaller chance a batch will rather be late."""


def _chance(one: NewestForecast) -> object:
    if one.chance is None:
        return None
    return Alarming(f"{one.chance} %") if one.chance < EVEN else f"{one.chance} %"


READY_TIMES = ColumnList[NewestForecast](
    "Ready by",
    record(NewestForecast),
    {
        "batch": "ProcessBatchName",
        "CycleKey": "CycleKey",
        "p50 (UTC)": "P50",
        "p90 (UTC)": "P90",
        "by (UTC)": "FinishBy",
        "chance#": _chance,
        "decides": "Decides",
        "would help": "Helps",
        "said (UTC)": "MadeOn",
    },
)


def ask_ready_times(transactions: Transactions, name: str | None = None) -> None:
    """Ask ahead for when batches will be ready, or one."""
    with transactions.read() as connection:
        if name is None:
            ask_ahead(connection, (newest_forecasts.FIRST, {"most": MOST}))
        else:
            ask_ahead(connection, (newest_forecasts.OF_BATCH, {"name": name, "most": 1}))


def ready_times(transactions: Transactions, now: datetime) -> list[NewestForecast]:
    """Return when batches will be ready that are not, those first that have to be so first."""
    with transactions.read() as connection:
        return [one for one in newest_forecasts.first(connection, MOST) if one.median is None or one.median > now]


def ready_time(transactions: Transactions, name: str) -> list[NewestForecast]:
    """Return when a batch will be ready, where anything is said of that."""
    with transactions.read() as connection:
        return newest_forecasts.of_batch(connection, name)
