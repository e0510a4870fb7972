"""`KeptForecast`: when batches will be ready, as the leader has reckoned it, and when they were."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import Connection, bindparam, case, delete, func, select, text

from batchctl.domain.dependencies.forecast_record import KeptForecast
from batchctl.domain.rows import BatchId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.values import value
from batchctl.store.columns import readable, unquoted
from batchctl.store.comparison import exactly
from batchctl.store.conditions import one_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import (
    KEPT_FORECAST,
    NEWEST_FORECAST,
    OVER_INSTANCE,
    batch_control,
    kept_forecast,
    process_batch,
)

NEWEST_COMPLETE = 500
"""How many of a batch's newest complete instances are looked at for what came of a forecast without a CycleKey."""

NEWEST_KEPT = 5_000
"""How many of the newest rows are looked at for those of some hours."""

_k, _c, _b = kept_forecast.c, batch_control.c, process_batch.c
_IS_NEWEST, _IS_KEPT = text(f"KeptForecast.{NEWEST_FORECAST}"), text(f"KeptForecast.{KEPT_FORECAST}")
_FORGET_NEWEST = delete(kept_forecast).where(text(NEWEST_FORECAST))
_ADD = RowInsert(kept_forecast)
_LAST = select(func.max(_k.MadeOn).label("MadeOn"), func.max(_k.KeptFor).label("KeptFor"))
_NEWEST = RowSelect(select(kept_forecast).where(_IS_NEWEST).order_by(_k.ProcessBatch_id))
_NAMED = (
    select(kept_forecast, _b.ProcessBatchName)
    .join_from(kept_forecast, process_batch, _k.ProcessBatch_id == _b.ProcessBatch_id)
    .where(_IS_NEWEST)
    .order_by(case((_k.FinishBy.is_(None), 1), else_=0), _k.FinishBy, _k.P50, _k.ProcessBatch_id)
    .limit(bindparam("most"))
)
FIRST = RowSelect(_NAMED)
"""Of all batches, those first that have to be ready first."""
OF_BATCH = RowSelect(_NAMED.where(exactly(_b.ProcessBatchName, bindparam("name", type_=_b.ProcessBatchName.type))))
_AWAITED = RowSelect(
    select(_k.KeptForecast_id, _k.ProcessBatch_id, _k.CycleKey, _k.MadeOn)
    .where(
        _IS_KEPT,
        _k.ReadyOn.is_(None),
        _k.KeptForecast_id > bindparam("after"),
        _k.KeptFor > bindparam("since"),
    )
    .order_by(_k.KeptForecast_id)
    .limit(bindparam("most"))
)
_NEAR = select(kept_forecast).order_by(_k.KeptForecast_id.desc()).limit(bindparam("near")).subquery(unquoted("Near")).c
_OF_HOURS = RowSelect(
    select(*_NEAR)
    .where(_NEAR.KeptFor >= bindparam("since"), _NEAR.KeptFor <= bindparam("until"))
    .order_by(_NEAR.KeptFor, _NEAR.KeptForecast_id)
)
_OF_HOUR = select(_k.ProcessBatch_id).where(_IS_KEPT, _k.KeptFor == bindparam("hour", type_=_k.KeptFor.type))
_COMPLETE = (
    select(_c.z_updated)
    .where(_c.ProcessBatch_id == bindparam("batch_id"), _c.Status == InstanceStatus.COMPLETE.value)
    .order_by(_c.BatchControl_id.desc())
    .limit(bindparam("most"))
)
_COMPLETE_OF_KEY = RowSelect(_COMPLETE.where(exactly(_c.CycleKey, bindparam("cycle_key", type_=_c.CycleKey.type))))
_LAST_COMPLETE = RowSelect(_COMPLETE.where(one_of("BatchControl.Status", OVER_INSTANCE)))
_SET_READY = RowUpdate(kept_forecast, _k.KeptForecast_id == bindparam("forecast_id"))
_CAME = RowSelect(
    select(kept_forecast)
    .where(_k.ProcessBatch_id == bindparam("batch_id"), _IS_KEPT, _k.ReadyOn.is_not(None), _k.P50.is_not(None))
    .order_by(_k.KeptFor.desc())
    .limit(bindparam("most"))
)


_NUMBERED = (
    select(
        _k.ProcessBatch_id,
        case((_k.ReadyOn <= _k.P90, 1), else_=0).label("Covered"),
        func.row_number().over(partition_by=_k.ProcessBatch_id, order_by=_k.KeptFor.desc()).label("Number"),
    )
    .where(_IS_KEPT, _k.KeptFor > bindparam("since"), _k.ReadyOn.is_not(None), _k.P90.is_not(None))
    .subquery(unquoted("Numbered"))
    .c
)
_COVERED = RowSelect(
    select(_NUMBERED.ProcessBatch_id, func.count().label("Many"), func.sum(_NUMBERED.Covered).label("Covered"))
    .where(_NUMBERED.Number <= bindparam("most"))
    .group_by(_NUMBERED.ProcessBatch_id)
    .order_by(_NUMBERED.ProcessBatch_id)
)


@value
class NamedForecast:
    """The newest forecast of a batch, with its name."""

    batch: str
    forecast: KeptForecast


@value
class CoveredForecasts:
    """How many of the last forecasts of a batch that came were covered by p90."""

    batch_id: BatchId
    many: int
    covered: int


@value
class AwaitedForecast:
    """A kept forecast of which it is not known yet what came."""

    forecast_id: Annotated[int, "KeptForecast_id"]
    batch_id: BatchId
    cycle_key: str | None
    made_on: datetime


_kept, _awaited, _covered = Reader(KeptForecast), Reader(AwaitedForecast), Reader(CoveredForecasts)


def last(connection: Connection) -> tuple[datetime | None, datetime | None]:
    """Return when a forecast was made last, and the last fixed hour for which one was kept."""
    row = connection.execute(_LAST).one()
    return row.MadeOn, row.KeptFor


def replace_newest(connection: Connection, made: Iterable[KeptForecast], now: datetime) -> None:
    """Let these be the newest forecasts, and no others."""
    connection.execute(_FORGET_NEWEST)
    for one in made:
        _ADD(connection, _row(replace(one, kept_for=None), now))


def keep(connection: Connection, made: Iterable[KeptForecast], hour: datetime, now: datetime) -> None:
    """Keep forecasts for a fixed hour, each where none of its batch is kept for that yet: another leader may have led."""
    known = {row.ProcessBatch_id for row in connection.execute(_OF_HOUR, {"hour": hour})}
    for one in made:
        if one.batch_id in known:
            continue
        _ADD(connection, _row(replace(one, kept_for=hour), now))


def _row(one: KeptForecast, now: datetime) -> dict[str, object]:
    return {
        "ProcessBatch_id": one.batch_id,
        "CycleKey": one.cycle_key,
        "MadeOn": one.made_on,
        "KeptFor": one.kept_for,
        "P50": one.median,
        "P90": one.nearly,
        "FinishBy": one.finish_by,
        "Chance": one.chance,
        "NeedsPerson": one.needs_person,
        "Nights": one.nights,
        "Decides": one.decides,
        "Helps": one.helps,
        "z_inserted": now,
        "z_updated": now,
    }


def newest(connection: Connection) -> list[KeptForecast]:
    """Return the newest forecast of each batch."""
    return readable(_NEWEST(connection), _kept)


def first(connection: Connection, most: int) -> list[NamedForecast]:
    """Return the newest forecasts, those of batches first that have to be ready first."""
    return readable(FIRST(connection, most=most), _named)


def of_batch(connection: Connection, name: str) -> list[NamedForecast]:
    """Return the newest forecast of a batch, if there is one."""
    return readable(OF_BATCH(connection, name=name, most=1), _named)


def _named(row: Any) -> NamedForecast:
    return NamedForecast(row.ProcessBatchName, _kept(row))


def of_hours(connection: Connection, since: datetime, until: datetime) -> list[KeptForecast]:
    """Return the forecasts that were kept for the hours between two moments, of the newest of all; the first hour first."""
    return readable(_OF_HOURS(connection, near=NEWEST_KEPT, since=since, until=until), _kept)


def awaited(connection: Connection, since: datetime, after: int, most: int) -> list[AwaitedForecast]:
    """Return forecasts kept for hours since a moment of which it is not known yet what came, behind a number."""
    return [_awaited(row) for row in _AWAITED(connection, after=after, since=since, most=most)]


def end_of(connection: Connection, batch_id: BatchId, cycle_key: str | None, since: datetime) -> datetime | None:
    """Return when an instance of a batch was complete first since a moment; of any CycleKey where that is None."""
    if cycle_key is None:
        rows = _LAST_COMPLETE(connection, batch_id=batch_id, most=NEWEST_COMPLETE)
    else:
        rows = _COMPLETE_OF_KEY(connection, batch_id=batch_id, cycle_key=cycle_key, most=NEWEST_COMPLETE)
    return min((row.z_updated for row in rows if row.z_updated > since), default=None)


def set_ready(connection: Connection, forecast_id: int, ready_on: datetime, now: datetime) -> None:
    """Write what came of a forecast."""
    _SET_READY(connection, {"ReadyOn": ready_on, "z_updated": now}, forecast_id=forecast_id)


def came(connection: Connection, batch_id: BatchId, most: int) -> list[KeptForecast]:
    """Return the last kept forecasts of a batch of which it is known what came, the newest first."""
    return readable(_CAME(connection, batch_id=batch_id, most=most), _kept)


def covered(connection: Connection, since: datetime, most: int) -> list[CoveredForecasts]:
    """Return how many of the last forecasts of each batch, kept since a moment, were covered by p90."""
    return [_covered(row) for row in _COVERED(connection, since=since, most=most)]
