"""`DurationHistory`: how long steps took whose history was purged."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, case, func, select, update

from batchctl.domain.durations import Class, Sum
from batchctl.domain.rows import BatchId
from batchctl.store.statements import RowInsert
from batchctl.store.tables import duration_history, process_control

_d, _p, _last = duration_history.c, process_control.c, duration_history.alias("last").c

_ADD_UP = (
    update(duration_history)
    .where(
        _d.ProcessBatch_id == bindparam("batch_id"),
        _d.ProcessControlSeq == bindparam("seq"),
        _d.Day == bindparam("on_day"),
        _d.UpToMs == bindparam("class"),
    )
    .values(
        Runs=_d.Runs + bindparam("more"),
        TotalMs=_d.TotalMs + bindparam("took"),
        MinMs=case((_d.MinMs > bindparam("shortest"), bindparam("shortest")), else_=_d.MinMs),
        MaxMs=case((_d.MaxMs < bindparam("longest"), bindparam("longest")), else_=_d.MaxMs),
        z_updated=bindparam("now"),
    )
)
_ADD = RowInsert(duration_history)
_LAST_DAY = (
    select(func.max(_last.Day))
    .where(_last.ProcessBatch_id == _p.ProcessBatch_id, _last.ProcessControlSeq == _p.ProcessControlSeq)
    .scalar_subquery()
)
_NEWEST = (
    select(_d.ProcessBatch_id, _d.ProcessControlSeq, _d.Runs, _d.TotalMs)
    .select_from(process_control)
    .join(
        duration_history,
        (_d.ProcessBatch_id == _p.ProcessBatch_id)
        & (_d.ProcessControlSeq == _p.ProcessControlSeq)
        & (_d.Day == _LAST_DAY),
    )
    .order_by(_d.ProcessBatch_id, _d.ProcessControlSeq, _d.UpToMs)
)


def add_up(connection: Connection, found: Mapping[Class, Sum], now: datetime) -> None:
    """Add classes to those that there are."""
    for key, one in sorted(found.items()):
        values = {"batch_id": key.batch_id, "seq": key.seq, "on_day": key.day, "class": key.up_to}
        values |= {"more": one.runs, "took": one.total, "shortest": one.shortest, "longest": one.longest, "now": now}
        if not connection.execute(_ADD_UP, values).rowcount:
            _ADD(connection, _row(key, one, now))


def _row(key: Class, one: Sum, now: datetime) -> dict[str, object]:
    return {
        "ProcessBatch_id": key.batch_id,
        "ProcessControlSeq": key.seq,
        "Day": key.day,
        "UpToMs": key.up_to,
        "Runs": one.runs,
        "TotalMs": one.total,
        "MinMs": one.shortest,
        "MaxMs": one.longest,
        "z_inserted": now,
        "z_updated": now,
    }


def lengths(connection: Connection, most: int) -> dict[tuple[BatchId, int], list[timedelta]]:
    """Return how long each step took on the last day that is known of it: at most `most` means of its classes."""
    found: dict[tuple[BatchId, int], list[tuple[int, timedelta]]] = {}
    for batch_id, seq, runs, total in connection.execute(_NEWEST):
        found.setdefault((batch_id, seq), []).append((runs, Sum(runs, total, 0, 0).mean))
    return {step: _some(of_step, most) for step, of_step in found.items()}


def _some(of_step: list[tuple[int, timedelta]], most: int) -> list[timedelta]:
    """Return as many lengths as are wanted, of those of a whole day, evenly from the shortest to the longest."""
    runs = sum(many for many, _ in of_step)
    wanted = min(runs, most)
    places = [(2 * at + 1) * runs // (2 * wanted) for at in range(wanted)]
    found, behind = list[timedelta](), 0
    for many, mean in of_step:
        found += [mean for place in places if behind <= place < behind + many]
        behind += many
    return found
