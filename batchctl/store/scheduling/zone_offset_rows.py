"""`ZoneOffset`: the business time zone, where SQL can read it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from batchctl.domain.scheduling.zone_offsets import ZoneOffset
from batchctl.store.tables import zone_offset

_o = zone_offset.c

_ALL = select(_o.ZoneName, _o.FromTime, _o.UntilTime, _o.OffsetSeconds).order_by(_o.FromTime)
_EMPTY = delete(zone_offset)
_ADD = insert(zone_offset)


def are_kept(connection: Connection, zone: str, offsets: Sequence[ZoneOffset]) -> bool:
    """Say whether the table holds these offsets and no others."""
    found = [tuple(row) for row in connection.execute(_ALL)]
    return found == [(zone, at.begins, at.ends, at.seconds) for at in offsets]


def keep(connection: Connection, zone: str, offsets: Sequence[ZoneOffset], now: datetime) -> None:
    """Put these offsets in the place of what the table holds."""
    connection.execute(_EMPTY)
    rows = [
        {"ZoneName": zone, "FromTime": at.begins, "UntilTime": at.ends, "OffsetSeconds": at.seconds, "z_inserted": now}
        for at in offsets
    ]
    connection.execute(_ADD, rows)
