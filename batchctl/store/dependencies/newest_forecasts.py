"""The newest forecast of each batch, as the leader has written it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from sqlalchemy import Connection, bindparam, case, select, text

from batchctl.domain.rows import BatchId
from batchctl.domain.values import named_value
from batchctl.store.columns import readable
from batchctl.store.comparison import exactly
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowSelect
from batchctl.store.tables import NEWEST_FORECAST, kept_forecast, process_batch

_k, _b = kept_forecast.c, process_batch.c
_NEWEST = (
    select(_k.ProcessBatch_id, _b.ProcessBatchName, _k.CycleKey, _k.P50, _k.P90, _k.FinishBy, _k.Chance)
    .add_columns(_k.NeedsPerson, _k.Nights, _k.Decides, _k.Helps, _k.MadeOn)
    .join_from(kept_forecast, process_batch, _k.ProcessBatch_id == _b.ProcessBatch_id)
    .where(text(f"KeptForecast.{NEWEST_FORECAST}"))
    .order_by(case((_k.FinishBy.is_(None), 1), else_=0), _k.FinishBy, _k.P50, _k.ProcessBatch_id)
    .limit(bindparam("most"))
)
FIRST = RowSelect(_NEWEST)
"""Of all batches, those first that have to be ready first."""
OF_BATCH = RowSelect(_NEWEST.where(exactly(_b.ProcessBatchName, bindparam("name", type_=_b.ProcessBatchName.type))))


@named_value
class NewestForecast:
    """When a batch will be ready, as it was said last."""

    batch_id: BatchId
    batch: Annotated[str, "ProcessBatchName"]
    cycle_key: str | None
    median: Annotated[datetime | None, "P50"]
    nearly: Annotated[datetime | None, "P90"]
    finish_by: datetime | None
    chance: int | None
    """Percent, of being ready by then."""
    needs_person: int
    """In how many percent of the nights."""
    nights: int
    decides: str | None
    helps: str | None
    made_on: datetime


_read = Reader(NewestForecast)


def first(connection: Connection, most: int) -> list[NewestForecast]:
    """Return the newest forecasts, those of batches first that have to be ready first."""
    return readable(FIRST(connection, most=most), _read)


def of_batch(connection: Connection, name: str) -> list[NewestForecast]:
    """Return the newest forecast of a batch, if there is one."""
    return readable(OF_BATCH(connection, name=name, most=1), _read)
