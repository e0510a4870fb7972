"""`AuditSeal`: the chain of the audit log. Rows are sealed in the order in which they are found, not in that of their numbers.

A row with a lower number may be committed later than one with a higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, func, select

from batchctl.domain.maintenance.audit_chain import BEGINNING, LOG, PURGE, Seal, digest_of
from batchctl.domain.records import values_of
from batchctl.domain.rows import AuditEntry
from batchctl.domain.values import value
from batchctl.store.maintenance import audit_entries
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert
from batchctl.store.tables import audit_log, audit_seal

_a, _s = audit_log.c, audit_seal.c
_OF_ROW = _s.AuditLog_id == _a.AuditLog_id

_ADD = RowInsert(audit_seal)
_LAST = select(audit_seal).order_by(_s.SealNo.desc()).limit(1)
_seal = Reader(Seal)
_NEWEST = select(func.max(_s.AuditLog_id))
_IDS = (
    select(_a.AuditLog_id, _s.SealNo)
    .join_from(audit_log, audit_seal, _OF_ROW, isouter=True)
    .where(_a.AuditLog_id > bindparam("after"))
    .order_by(_a.AuditLog_id)
    .limit(bindparam("most"))
)
_ROWS = select(audit_log).where(_a.AuditLog_id.in_(bindparam("ids", expanding=True))).order_by(_a.AuditLog_id)
_SEALS = select(audit_seal).where(_s.SealNo > bindparam("after")).order_by(_s.SealNo).limit(bindparam("most"))
_UNSEALED = (
    select(func.count()).select_from(audit_log).join(audit_seal, _OF_ROW, isouter=True).where(_s.AuditSeal_id.is_(None))
)
_PURGES = (
    select(audit_log)
    .where(_a.Target == LOG, _a.Action == PURGE, _a.AuditLog_id > bindparam("after"))
    .order_by(_a.AuditLog_id)
    .limit(bindparam("most"))
)


@value
class SealPage:
    """Some rows of the log that follow each other, of which some have no seal yet."""

    open: list[int]
    up_to: int
    is_last: bool


def page(connection: Connection, after: int, most: int) -> SealPage:
    """Return which of the next rows have no seal."""
    rows = connection.execute(_IDS, {"after": after, "most": most}).all()
    open_ids = [row_id for row_id, seal_no in rows if seal_no is None]
    return SealPage(open_ids, int(rows[-1][0]) if rows else after, len(rows) < most)


def seal(connection: Connection, audit_ids: Sequence[int], now: datetime) -> None:
    """Seal rows behind all others.

    Of two that do so at once the second fails, because no two seals have the same number.
    """
    last = head(connection)
    number, digest = (last.number, last.digest) if last else (0, BEGINNING)
    for entry in audit_entries.entries(connection.execute(_ROWS, {"ids": list(audit_ids)})):
        number, previous = number + 1, digest
        digest = digest_of(number, previous, entry)
        _ADD(connection, values_of(Seal(number, entry.audit_id, previous, digest, now)))


def head(connection: Connection) -> Seal | None:
    """Return the last seal."""
    return next((_seal(row) for row in connection.execute(_LAST)), None)


def newest_sealed(connection: Connection) -> int:
    """Return the highest number of a sealed row."""
    return int(connection.execute(_NEWEST).scalar_one() or 0)


def unsealed(connection: Connection) -> int:
    """Count the rows without a seal."""
    return int(connection.execute(_UNSEALED).scalar_one())


def following(connection: Connection, after: int, most: int) -> list[tuple[Seal, AuditEntry | None]]:
    """Return the next seals by their numbers, each with its row if that is there."""
    seals = [_seal(row) for row in connection.execute(_SEALS, {"after": after, "most": most})]
    ids = [each.audit_id for each in seals]
    found = audit_entries.entries(connection.execute(_ROWS, {"ids": ids})) if ids else []
    by_id = {entry.audit_id: entry for entry in found}
    return [(each, by_id.get(each.audit_id)) for each in seals]


def purges(connection: Connection, after: int, most: int) -> list[AuditEntry]:
    """Return the next acts that purged rows of the log."""
    return audit_entries.entries(connection.execute(_PURGES, {"after": after, "most": most}))
