"""When batches will be ready, as the leader has said last: the read model of pages, which replay no night themselves."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from batchctl.domain.dependencies.forecast_record import EVEN, KeptForecast
from batchctl.operations.column_lists import Alarming, ColumnList, record
from batchctl.ports import Transactions
from batchctl.store.dependencies import kept_forecasts
from batchctl.store.dependencies.kept_forecasts import NamedForecast
from batchctl.store.one_look import ask_ahead

MOST = 20


def _chance(one: NamedForecast) -> object:
    if one.forecast.chance is None:
        return None
    return Alarming(f"{one.forecast.chance} %") if one.forecast.chance < EVEN else f"{one.forecast.chance} %"


def _minute(moment: Callable[[KeptForecast], datetime | None]) -> Callable[[NamedForecast], object]:
    """Return what shows a moment to the minute, on two lines where there is little room."""
    return lambda one: None if (at := moment(one.forecast)) is None else f"{at:%Y-%m-%d %H:%M}"


READY_TIMES = ColumnList[NamedForecast](
    "Ready by",
    {"ProcessBatchName": lambda one: one.batch, **record(KeptForecast, lambda one: one.forecast)},
    {
        "batch": "ProcessBatchName",
        "chance#": _chance,
        "CycleKey": "CycleKey",
        "p50 (UTC)": _minute(lambda one: one.median),
        "p90 (UTC)": _minute(lambda one: one.nearly),
        "by (UTC)": _minute(lambda one: one.finish_by),
        "needs a person#": lambda one: f"{one.forecast.needs_person} %" if one.forecast.needs_person else None,
        "said (UTC)": _minute(lambda one: one.made_on),
        "decides": "Decides",
        "would help": "Helps",
    },
)


def ask_ready_times(transactions: Transactions, name: str | None = None) -> None:
    """Ask ahead for when batches will be ready, or one."""
    with transactions.read() as connection:
        if name is None:
            ask_ahead(connection, (kept_forecasts.FIRST, {"most": MOST}))
        else:
            ask_ahead(connection, (kept_forecasts.OF_BATCH, {"name": name, "most": 1}))


def ready_times(transactions: Transactions, now: datetime) -> list[NamedForecast]:
    """Return when batches will be ready that are not, those first that have to be so first."""
    with transactions.read() as connection:
        return [
            one
            for one in kept_forecasts.first(connection, MOST)
            if one.forecast.median is None or one.forecast.median > now
        ]


def helps(transactions: Transactions, name: str, cycle_key: str | None) -> str | None:
    """Return what would help a batch to be ready in time, if anything was found that does."""
    found = (one.forecast for one in ready_time(transactions, name))
    return next((one.helps for one in found if one.cycle_key == cycle_key), None)


def ready_time(transactions: Transactions, name: str) -> list[NamedForecast]:
    """Return when a batch will be ready, where anything is said of that."""
    with transactions.read() as connection:
        return kept_forecasts.of_batch(connection, name)
