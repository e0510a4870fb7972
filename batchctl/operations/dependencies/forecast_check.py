"""What came of kept forecasts: the read model behind `forecast --check`."""

from __future__ import annotations

from collections.abc import Callable

from batchctl.domain.dependencies.forecast_scores import FORECASTS, ForecastScores, scores_of
from batchctl.domain.dependencies.odds import Score
from batchctl.operations import unknown
from batchctl.operations.column_lists import Column, ColumnList
from batchctl.ports import Transactions
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import kept_forecasts

_MINUTE = 60


def _share(of: Callable[[ForecastScores], Score | None]) -> Callable[[ForecastScores], float | None]:
    return lambda one: None if (found := of(one)) is None else round(found.coverage, 3)


def _minutes(of: Callable[[ForecastScores], Score | None]) -> Callable[[ForecastScores], float | None]:
    return lambda one: None if (found := of(one)) is None else round(found.loss / _MINUTE, 2)


def _percent(share: float | None) -> str | None:
    return None if share is None else f"{share:.0%}"


CHECKED = ColumnList[ForecastScores](
    "What came of forecasts",
    {
        "ProcessBatchName": lambda one: one.batch,
        "Came": lambda one: 0 if one.median is None else one.median.many,
        "P50Covers": Column(_share(lambda one: one.median)),
        "P90Covers": Column(_share(lambda one: one.nearly)),
        "P50LossMinutes": Column(_minutes(lambda one: one.median)),
        "P90LossMinutes": Column(_minutes(lambda one: one.nearly)),
        "MedianLossMinutes": Column(_minutes(lambda one: one.plain_median)),
        "MeanSigmaLossMinutes": Column(_minutes(lambda one: one.plain_nearly)),
    },
    {
        "batch": "ProcessBatchName",
        "came#": "Came",
        "p50 covers#": lambda one: _percent(_share(lambda each: each.median)(one)),
        "p90 covers#": lambda one: _percent(_share(lambda each: each.nearly)(one)),
        "p50 loss (min)#": "P50LossMinutes",
        "p90 loss (min)#": "P90LossMinutes",
        "median's (min)#": "MedianLossMinutes",
        "mean + 1.28 sigma's (min)#": "MeanSigmaLossMinutes",
    },
)


def checked(transactions: Transactions, name: str | None) -> tuple[ForecastScores, ...]:
    """Return how the forecasts of a batch have done, or of each of which any came."""
    with transactions.read() as connection:
        batches = definitions.all_batches(connection)
        if name is not None:
            batches = (unknown.named(connection, batches, name),)
        found = [scores_of(batch.name, kept_forecasts.came(connection, batch.batch_id, FORECASTS)) for batch in batches]
    return tuple(one for one in found if one.median is not None or name is not None)
