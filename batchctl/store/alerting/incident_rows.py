"""`Incident`: the problems that people have to know of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, case, func, select, text

from batchctl.domain.alerting.incidents import Incident, IncidentSign
from batchctl.domain.errors import Conflict
from batchctl.domain.rows import LARGEST_ID, BatchId, IncidentId, InstanceId
from batchctl.domain.status import IncidentStatus
from batchctl.domain.text import NAME_LIMIT, shorten, storable
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store.columns import readable
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import OWED_RECOVERY, STANDING_INCIDENT, incident
from batchctl.store.unreadable_columns import ask_unfit, unfit

_i = incident.c
_incident = Reader(Incident)

_ADD = RowInsert(incident)
_CHANGE = RowUpdate(incident, _i.Incident_id == bindparam("incident_id"))
_CHANGE_STANDING = RowUpdate(incident, _i.Incident_id == bindparam("incident_id"), text(STANDING_INCIDENT))
_LOAD = RowSelect(select(incident).where(_i.Incident_id == bindparam("incident_id")))
_IS_STANDING = text(f"Incident.{STANDING_INCIDENT}")
_STANDING = select(incident).where(_IS_STANDING).order_by(_i.Incident_id)
_KEYS_STANDING = RowSelect(select(_i.IncidentKey).where(_IS_STANDING))
_ALL_STANDING = RowSelect(_STANDING)
_FIRST_STANDING = RowSelect(_STANDING.limit(bindparam("most")))
_IS_ACKNOWLEDGED = case((_i.Status == IncidentStatus.ACKNOWLEDGED.value, 1), else_=0)
PRESSING = RowSelect(
    select(incident).where(_IS_STANDING).order_by(_IS_ACKNOWLEDGED, _i.Incident_id.desc()).limit(bindparam("most"))
)
_COUNTS = func.count().label("Standing"), func.sum(_IS_ACKNOWLEDGED).label("Acknowledged")
COUNT_STANDING = RowSelect(select(*_COUNTS).where(_IS_STANDING))
_TO_RECOVER = RowSelect(select(incident).where(text(OWED_RECOVERY)).order_by(_i.Incident_id).limit(bindparam("most")))
_NEWEST = (
    select(incident)
    .where(_i.Incident_id < bindparam("before"))
    .order_by(_i.Incident_id.desc())
    .limit(bindparam("most"))
)
_OF_INSTANCE = RowSelect(
    select(incident).where(_i.BatchControl_id == bindparam("instance_id"), _IS_STANDING).order_by(_i.Incident_id)
)


def wait_for_others(connection: Connection) -> None:
    """Keep others from reviewing incidents until the end of the transaction."""
    if not dialect_of(connection).lock_name(connection, "incidents"):
        message = "somebody else reviews the incidents"
        raise Conflict(message)


def standing(connection: Connection) -> list[Incident]:
    """Return all incidents that are not over, oldest first: a caller that knew only some would open others again."""
    return readable(_ALL_STANDING(connection), _incident)


def keys_standing(connection: Connection) -> frozenset[str]:
    """Return the keys of the incidents that are not over, also of those that cannot be read: no other may have these."""
    return frozenset(key for (key,) in _KEYS_STANDING(connection))


def unreadable(connection: Connection) -> list[UnreadableRow]:
    """Return the first of the incidents that are not over and cannot be read."""
    return unfit(connection, incident, _IS_STANDING)


def ask_unreadable(connection: Connection) -> None:
    """Ask ahead for them."""
    ask_unfit(connection, incident, _IS_STANDING)


def first_standing(connection: Connection, most: int) -> list[Incident]:
    """Return the oldest of the incidents that are not over."""
    return readable(_FIRST_STANDING(connection, most=most), _incident)


def most_pressing(connection: Connection, most: int) -> list[Incident]:
    """Return the incidents that are not over, unacknowledged ones first, then newest first."""
    return readable(PRESSING(connection, most=most), _incident)


def count_standing(connection: Connection) -> tuple[int, int]:
    """Count the incidents that are not over, and those of them that somebody has acknowledged."""
    ((standing, acknowledged),) = COUNT_STANDING(connection)
    return int(standing), int(acknowledged or 0)


def owing_recovery(connection: Connection, most: int) -> list[Incident]:
    """Return incidents that are over, and whose recovery was not yet announced."""
    return readable(_TO_RECOVER(connection, most=most), _incident)


def newest(
    connection: Connection,
    most: int,
    *,
    before: int = LARGEST_ID,
    only_standing: bool = False,
    batch_id: BatchId | None = None,
    status: IncidentStatus | None = None,
    since: datetime | None = None,
) -> list[Incident]:
    """Return the newest incidents before one that fit, newest first."""
    wanted = _NEWEST.where(_IS_STANDING) if only_standing else _NEWEST
    wanted = wanted if batch_id is None else wanted.where(_i.ProcessBatch_id == batch_id)
    wanted = wanted if status is None else wanted.where(_i.Status == status.value)
    wanted = wanted if since is None else wanted.where(_i.OpenedTime >= since)
    return readable(connection.execute(wanted, {"before": before, "most": most}), _incident)


def load_locked(connection: Connection, incident_id: IncidentId) -> Incident | None:
    """Return an incident that no other connection can change until the end of the transaction."""
    dialect_of(connection).lock_row(connection, "Incident", incident_id)
    return load(connection, incident_id)


def load(connection: Connection, incident_id: IncidentId) -> Incident | None:
    """Return an incident."""
    return next(iter(readable(_LOAD(connection, incident_id=incident_id), _incident)), None)


def of_instance(connection: Connection, instance_id: InstanceId) -> list[Incident]:
    """Return the incidents about an instance that are not over."""
    return readable(_OF_INSTANCE(connection, instance_id=instance_id), _incident)


def add(connection: Connection, sign: IncidentSign, now: datetime) -> IncidentId:
    """Open an incident."""
    values = _wording(sign) | {
        "Kind": sign.kind.value,
        "IncidentKey": _name(sign.key),
        "Status": IncidentStatus.OPEN.value,
        "Subject": _name(sign.subject),
        "ProcessBatch_id": sign.batch_id,
        "ProcessControlSeq": sign.seq,
        "Evidence": sign.evidence,
        "OpenedTime": sign.since,
        "LastSeen": now,
        "RecoveryTime": now if sign.is_over else None,
        "z_inserted": now,
        "z_updated": now,
    }
    return IncidentId(_ADD(connection, values))


def see_again(connection: Connection, found: Incident, sign: IncidentSign, now: datetime) -> bool:
    """Write that an incident has happened once more, or what is newly known of it."""
    is_more = sign.evidence > found.evidence
    values = _wording(sign) | {
        "Evidence": max(sign.evidence, found.evidence),
        "Occurrences": found.occurrences + is_more,
        "LastSeen": now,
        "z_updated": now,
    }
    return _CHANGE_STANDING(connection, values, incident_id=found.incident_id)


def resolve(connection: Connection, found: Incident, now: datetime, *, is_announced: bool) -> bool:
    """Write that an incident is over; `is_announced` when no message about its recovery is to follow."""
    values: dict[str, object] = {"Status": IncidentStatus.RESOLVED.value, "ResolvedTime": now, "z_updated": now}
    if is_announced or found.alerts == 0:
        values["RecoveryTime"] = found.recovery_at or now
    return _CHANGE_STANDING(connection, values, incident_id=found.incident_id)


def note_alert(
    connection: Connection, found: Incident, next_alert: datetime, now: datetime, *, is_escalated: bool
) -> None:
    """Write that a message was made about an incident that stands."""
    values: dict[str, object] = {"AlertsMade": found.alerts + 1, "NextAlertTime": next_alert, "z_updated": now}
    if is_escalated:
        values["EscalatedTime"] = now
    _CHANGE_STANDING(connection, values, incident_id=found.incident_id)


def note_recovery(connection: Connection, found: Incident, now: datetime) -> None:
    """Write that the recovery of an incident was announced."""
    _CHANGE(connection, {"RecoveryTime": now, "z_updated": now}, incident_id=found.incident_id)


def acknowledge(connection: Connection, found: Incident, by: str, now: datetime) -> bool:
    """Write who takes care of an incident; false when it is over."""
    values = {
        "Status": IncidentStatus.ACKNOWLEDGED.value,
        "AcknowledgedBy": by,
        "AcknowledgedTime": now,
        "SnoozedUntil": None,
        "z_updated": now,
    }
    return _CHANGE_STANDING(connection, values, incident_id=found.incident_id)


def snooze(connection: Connection, found: Incident, until: datetime, now: datetime) -> bool:
    """Write until when no reminder of an incident is to be sent; false when it is over."""
    values = {"Status": IncidentStatus.OPEN.value, "SnoozedUntil": until, "NextAlertTime": until, "z_updated": now}
    return _CHANGE_STANDING(connection, values, incident_id=found.incident_id)


def _wording(sign: IncidentSign) -> dict[str, object]:
    return {
        "Severity": sign.severity.value,
        "Message": storable(sign.message),
        "Detail": None if sign.detail is None else storable(sign.detail),
        "NextStep": None if sign.next_step is None else storable(sign.next_step),
        "BatchControl_id": sign.instance_id,
    }


def _name(wording: str) -> str:
    return shorten(storable(wording), NAME_LIMIT)


def these(connection: Connection, incident_ids: Sequence[IncidentId]) -> list[Incident]:
    """Return some incidents."""
    return [found for each in incident_ids if (found := load(connection, each)) is not None]
