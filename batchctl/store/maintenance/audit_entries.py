"""`AuditLog`: what people did."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Row, String, bindparam, cast, func, literal, or_, select

from batchctl.domain.rows import AuditEntry, AuditFilter, InstanceId, IntakeId
from batchctl.domain.text import fitting
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect
from batchctl.store.tables import audit_log

ACCEPT = "accept"
"""Of an intake row: a person has taken it in on purpose, whatever it repeats."""
RUN_NOW = "schedule run"
"""Of a schedule: a person has started its work outside of its due times; ValuesAfter names the intake row."""
ROW_UPDATE = "row update"
"""What the database itself writes down of a row that somebody has changed; the migration of the audit says so, too."""

Values = Mapping[str, object] | None
"""The columns that an act concerns."""
Acted = tuple[str, str, Values, Values]
"""An action, its target, and what it changed: before and after."""


class By(NamedTuple):
    """Who acts, and when."""

    actor: str
    host: str
    now: datetime


_a = audit_log.c
_entry = Reader(AuditEntry)
_ADD = RowInsert(audit_log)
_COLUMNS = ("z_inserted", "Actor", "Host", "Action", "Target", "Reason", "ValuesBefore", "ValuesAfter")
_NEWEST = select(audit_log).order_by(_a.AuditLog_id.desc()).limit(bindparam("most"))
OF = RowSelect(select(audit_log).where(_a.Target == bindparam("target")).order_by(_a.AuditLog_id))
_OF_HOST = (
    select(audit_log).where(_a.Host == bindparam("host"), _a.AuditLog_id > bindparam("after")).order_by(_a.AuditLog_id)
)
_OF_MANY = select(audit_log).order_by(_a.AuditLog_id)
_COUNT = select(func.count()).where(_a.Target == bindparam("target"), _a.Action == bindparam("action"))


def add(
    connection: Connection, by: By, action: str, target: str, reason: str | None, before: Values, after: Values
) -> None:
    """Record one act."""
    _ADD(connection, dict(zip(_COLUMNS, _row(by, (action, target, before, after), reason), strict=True)))


def add_all(connection: Connection, by: By, acts: Iterable[Acted], reason: str | None) -> None:
    """Record acts of one person at once."""
    _ADD.rows(connection, _COLUMNS, [_row(by, act, reason) for act in acts]).insert(connection)


def _row(by: By, act: Acted, reason: str | None) -> tuple[object, ...]:
    action, target, *changed = act
    names = fitting(by.actor), fitting(by.host), action, fitting(target)
    return by.now, *names, reason, *(None if each is None else json.dumps(dict(each)) for each in changed)


def instance_target(instance_id: InstanceId) -> str:
    """Return how the audit log names an instance."""
    return f"BatchControl:{instance_id}"


def intake_target(intake_id: IntakeId) -> str:
    """Return how the audit log names an intake row."""
    return f"FileProcess:{intake_id}"


def target_of(row_id: ColumnElement[int]) -> ColumnElement[str]:
    """Return how the audit log names the row of a key, for statements about many rows."""
    table = str(row_id.key).removesuffix("_id")
    return literal(f"{table}:") + cast(row_id, String(20))


def count(connection: Connection, target: str, action: str) -> int:
    """Return how often something was done to one row."""
    return int(connection.execute(_COUNT, {"target": target, "action": action}).scalar_one())


def of_target(connection: Connection, target: str) -> list[AuditEntry]:
    """Return the acts on one row, oldest first."""
    return entries(OF(connection, target=target))


def of_host(connection: Connection, host: str, after: int) -> list[AuditEntry]:
    """Return what was done from a host since an act, oldest first."""
    return entries(connection.execute(_OF_HOST, {"host": host, "after": after}))


def of_targets(connection: Connection, targets: Sequence[str], actions: Sequence[str]) -> list[AuditEntry]:
    """Return acts of some kinds on some rows, oldest first."""
    if not targets:
        return []
    wanted = _OF_MANY.where(_a.Target.in_(targets), _a.Action.in_(actions))
    return entries(connection.execute(wanted))


def newest(connection: Connection, most: int) -> list[AuditEntry]:
    """Return the newest acts, newest first."""
    return entries(connection.execute(_NEWEST, {"most": most}))


def page(
    connection: Connection, wanted: AuditFilter, most: int, targets: Sequence[str], beginnings: Sequence[str]
) -> list[AuditEntry]:
    """Return the newest acts, newest first; those on some rows, or on rows whose names begin in some way."""
    found = _NEWEST
    if targets or beginnings:
        alike = (func.substring(_a.Target, 1, len(each)) == each for each in beginnings)
        found = found.where(or_(_a.Target.in_(targets), *alike))
    if wanted.actor is not None:
        found = found.where(_a.Actor == wanted.actor)
    if wanted.action is not None:
        found = found.where(_a.Action == wanted.action)
    if wanted.since is not None:
        found = found.where(_a.z_inserted >= wanted.since)
    if wanted.before is not None:
        found = found.where(_a.AuditLog_id < wanted.before)
    return entries(connection.execute(found, {"most": most}))


def entries(rows: Iterable[Row[Any]]) -> list[AuditEntry]:
    """Return acts as they stand in rows."""
    return [_entry(row) for row in rows]
