"""`vLate`: what takes, or waits, for too long."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import Connection, bindparam, column, select, table

from batchctl.domain.rows import InstanceId
from batchctl.domain.values import named_value
from batchctl.store.columns import UtcTime, readable, unquoted
from batchctl.store.statements import RowSelect

_COLUMNS = ("What", "Name", "ProcessBatchName", "BatchControl_id", "ExpectedTime", "LateSeconds", "Reason", "NextSql")
_LATE = table(
    unquoted("vLate"), *(column(unquoted(name), UtcTime() if name == "ExpectedTime" else None) for name in _COLUMNS)
)
WORST = RowSelect(select(_LATE).order_by(_LATE.c.LateSeconds.desc()).limit(bindparam("most")))


@named_value
class LateRow:
    """What is late, and since when."""

    what: str
    name: str
    batch: Annotated[str | None, "ProcessBatchName"]
    instance_id: Annotated[InstanceId | None, "BatchControl_id"]
    expected_at: Annotated[datetime | None, "ExpectedTime"]
    seconds: Annotated[float | None, "LateSeconds"]
    reason: str | None
    next_sql: str | None


def worst(connection: Connection, most: int) -> list[LateRow]:
    """Return what is late, that which is so for longest first."""
    return readable(WORST(connection, most=most), _late)


def _late(row: Any) -> LateRow:
    what, name, batch, instance_id, expected, seconds, reason, statement = row
    of = None if instance_id is None else InstanceId(instance_id)
    late = None if seconds is None else float(seconds)
    return LateRow(
        what=what,
        name=name,
        batch=batch,
        instance_id=of,
        expected_at=expected,
        seconds=late,
        reason=reason,
        next_sql=statement,
    )
