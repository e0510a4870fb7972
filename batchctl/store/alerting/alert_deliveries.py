"""`AlertDelivery`: the messages about incidents, one row for each channel. The sender claims its row first."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, NewType

from sqlalchemy import Connection, bindparam, or_, select, text

from batchctl.domain.alerting.alert_text import Message
from batchctl.domain.alerting.alerts import ANNOUNCED_WHILE_IT_STANDS
from batchctl.domain.records import Hidden
from batchctl.domain.rows import IncidentId
from batchctl.domain.status import DeliveryKind, DeliveryStatus
from batchctl.domain.text import NAME_LIMIT, storable
from batchctl.domain.values import named_value
from batchctl.store.columns import readable
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import TO_SEND, alert_delivery

DeliveryId = NewType("DeliveryId", int)

TRIED = DeliveryStatus.SENT, DeliveryStatus.FAILED
"""The final statuses that show whether a channel delivers."""

_a = alert_delivery.c

_ADD = RowInsert(alert_delivery)
_WAITING_OF = RowSelect(
    select(alert_delivery)
    .where(text(f"AlertDelivery.{TO_SEND}"), _a.Channel == bindparam("channel"))
    .order_by(_a.AlertDelivery_id)
    .limit(bindparam("most"))
)
_NEWEST = RowSelect(select(alert_delivery).order_by(_a.AlertDelivery_id.desc()).limit(bindparam("most")))
_OF_INCIDENT = RowSelect(
    select(alert_delivery).where(_a.Incident_id == bindparam("incident_id")).order_by(_a.AlertDelivery_id)
)
_LAST_OF = RowSelect(
    select(alert_delivery)
    .where(_a.Channel == bindparam("channel"))
    .order_by(_a.AlertDelivery_id.desc())
    .limit(bindparam("most"))
)
_LAST_WORD = RowSelect(
    select(alert_delivery)
    .where(_a.Channel == bindparam("channel"), or_(*(_a.Status == each.value for each in TRIED)))
    .order_by(_a.AlertDelivery_id.desc())
    .limit(bindparam("most"))
)
_TAKE = RowUpdate(
    alert_delivery, _a.AlertDelivery_id == bindparam("delivery_id"), _a.Attempts == bindparam("tried"), text(TO_SEND)
)
_MINE = RowUpdate(
    alert_delivery,
    _a.AlertDelivery_id == bindparam("delivery_id"),
    _a.Attempts == bindparam("tried"),
    _a.ClaimedBy == bindparam("claimed_by"),
    text(TO_SEND),
)


@named_value
class Delivery:
    """An `AlertDelivery` row."""

    delivery_id: Annotated[DeliveryId, "AlertDelivery_id"]
    incident_id: Annotated[IncidentId, "Incident_id"]
    channel: str
    kind: DeliveryKind
    number: Hidden[int]
    status: DeliveryStatus
    message: Message
    attempts: int
    next_attempt: Annotated[datetime, "NextAttemptTime"]
    claimed_by: Hidden[str | None]
    claimed_at: Hidden[Annotated[datetime | None, "ClaimedTime"]]
    sent_at: Annotated[datetime | None, "SentTime"]
    wording: Annotated[str | None, "Message"]
    """Why the last attempt failed."""
    made_at: Annotated[datetime, "z_inserted"]


_delivery = Reader(Delivery)


def add(
    connection: Connection,
    incident_id: IncidentId,
    channel: str,
    kind: DeliveryKind,
    number: int,
    message: Message,
    now: datetime,
) -> None:
    """Make a message for a channel."""
    values = {
        "Incident_id": incident_id,
        "Channel": channel[:NAME_LIMIT],
        "Kind": kind.value,
        "Number": number,
        "Title": storable(message.title)[:NAME_LIMIT],
        "Body": storable(message.body),
        "NextAttemptTime": now,
        "z_inserted": now,
        "z_updated": now,
    }
    _ADD(connection, values)


def waiting_of(connection: Connection, channel: str, most: int) -> list[Delivery]:
    """Return the messages that are to be sent through a channel, oldest first."""
    return readable(_WAITING_OF(connection, channel=channel[:NAME_LIMIT], most=most), _delivery)


def newest(connection: Connection, most: int) -> list[Delivery]:
    """Return the newest messages, newest first."""
    return readable(_NEWEST(connection, most=most), _delivery)


def of_incident(connection: Connection, incident_id: IncidentId) -> list[Delivery]:
    """Return the messages about an incident, oldest first."""
    return readable(_OF_INCIDENT(connection, incident_id=incident_id), _delivery)


def last_of(connection: Connection, channel: str, most: int) -> list[Delivery]:
    """Return the newest messages of a channel, newest first."""
    return readable(_LAST_OF(connection, channel=channel[:NAME_LIMIT], most=most), _delivery)


def last_word(connection: Connection, channel: str) -> Delivery | None:
    """Return the newest message of a channel that was sent or given up."""
    found = readable(_LAST_WORD(connection, channel=channel[:NAME_LIMIT], most=1), _delivery)
    return next(iter(found), None)


def claim(connection: Connection, one: Delivery, by: str, now: datetime) -> bool:
    """Take a message to send it; false when another sender has tried that meanwhile."""
    changes = {"ClaimedBy": by, "ClaimedTime": now, "Attempts": one.attempts + 1, "z_updated": now}
    return _TAKE(connection, changes, delivery_id=one.delivery_id, tried=one.attempts)


def set_sent(connection: Connection, one: Delivery, by: str, now: datetime) -> bool:
    """Write that a claimed message was sent; false when another sender has claimed it since."""
    changes = {"Status": DeliveryStatus.SENT.value, "SentTime": now, "Message": None, "z_updated": now}
    return _MINE(connection, changes, delivery_id=one.delivery_id, tried=one.attempts + 1, claimed_by=by)


def put_back(
    connection: Connection, one: Delivery, by: str, wording: str, next_attempt: datetime | None, now: datetime
) -> bool:
    """Write why a message could not be sent, and when it is tried again; None when it is given up."""
    changes: dict[str, object] = {"ClaimedBy": None, "Message": storable(wording), "z_updated": now}
    if next_attempt is None:
        changes["Status"] = DeliveryStatus.FAILED.value
    else:
        changes["NextAttemptTime"] = next_attempt
    return _MINE(connection, changes, delivery_id=one.delivery_id, tried=one.attempts + 1, claimed_by=by)


def withdraw(connection: Connection, incident_id: IncidentId, why: str, stale: datetime, now: datetime) -> None:
    """Withdraw an incident's waiting messages that no sender holds; a claim from before `stale` no longer counts."""
    changes = {"Status": DeliveryStatus.WITHDRAWN.value, "Message": why, "z_updated": now}
    for one in of_incident(connection, incident_id):
        is_free = one.claimed_by is None or one.claimed_at is None or one.claimed_at < stale
        if one.status is DeliveryStatus.WAITING and one.kind in ANNOUNCED_WHILE_IT_STANDS and is_free:
            _TAKE(connection, changes, delivery_id=one.delivery_id, tried=one.attempts)
