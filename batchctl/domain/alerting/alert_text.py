"""The words of a message: what, since when, the last lines of the error, what to type, and the same in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from batchctl.domain.alerting.alerts import Owed, Parcel
from batchctl.domain.alerting.incidents import OF_AN_INSTANCE, Incident
from batchctl.domain.records import Hidden
from batchctl.domain.status import DeliveryKind, IncidentStatus
from batchctl.domain.text import shorten, visible
from batchctl.domain.values import named_value

TITLE = 150
"""Characters of a title."""
LISTED = 50
"""Incidents of which a digest gives the titles."""


@named_value
class Message:
    """What is sent: no character of it acts on a terminal or another display."""

    title: str
    body: Hidden[str]


@named_value
class Notification:
    """A message on its way."""

    origin: str
    """The control database that it comes from."""
    number: int
    """The number of this notification, unique within its control database; the same when it is sent again."""
    incident_id: int
    kind: DeliveryKind
    message: Message
    name: str | None = None
    """What it is called where it has no number; the same when it is sent again."""
    html: str | None = None
    """The message as a page, for channels that can show one."""

    @property
    def key(self) -> str:
        """Return what identifies it among the notifications of all control databases."""
        return f"batchctl-{self.origin}-{self.number if self.name is None else self.name}"


_BY_SQLCMD = "   -- in sqlcmd: -I"
"""Without -I SQL Server refuses the statement; it may be pasted into any other client as well."""


def message_of(parcel: Parcel, now: datetime, zone: str) -> Message:
    """Write a message."""
    if parcel.kind is DeliveryKind.DIGEST:
        return _digest(parcel.owed, now, zone)
    incident = parcel.first
    lines = [_line(incident.message), "", *_times(parcel.kind, incident, now, zone)]
    if incident.detail and parcel.kind is not DeliveryKind.RECOVERY:
        lines += ["", "The last lines of the error:", *(f"  {_line(each)}" for each in incident.detail.split("\n"))]
    lines += ["", *_what_to_do(parcel.kind, incident)]
    return Message(title=title_of(parcel.kind, incident), body="\n".join(lines))


def title_of(kind: DeliveryKind, incident: Incident) -> str:
    """Return a line that sums everything up."""
    word = _WORDS.get(kind) or incident.severity.value.upper()
    return shorten(f"[{word}] {visible(incident.subject)}: {visible(incident.message)}", TITLE)


_WORDS = {DeliveryKind.REPEAT: "STILL", DeliveryKind.ESCALATION: "ESCALATED", DeliveryKind.RECOVERY: "OVER"}


def _digest(due: Sequence[Owed], now: datetime, zone: str) -> Message:
    over = sum(one.kind is DeliveryKind.RECOVERY for one in due)
    stand = len(due) - over
    title = f"[DIGEST] {stand} {'incident stands' if stand == 1 else 'incidents stand'}, {over} over"
    lines = [f"Too many messages for one each, at {_time(now, zone)}:", ""]
    lines += [f"{one.incident.incident_id}  {title_of(one.kind, one.incident)}" for one in due[:LISTED]]
    lines += [f"... and {len(due) - LISTED} more."] if len(due) > LISTED else []
    return Message(title=title, body="\n".join([*lines, "", "To see them:  batchctl incidents"]))


def _times(kind: DeliveryKind, incident: Incident, now: datetime, zone: str) -> list[str]:
    if kind is DeliveryKind.RECOVERY:
        over = incident.resolved_at or now
        return [f"It began at {_time(incident.opened_at, zone)} and was over at {_time(over, zone)}."]
    many = "" if incident.occurrences == 1 else f", {incident.occurrences} times"
    lines = [f"Since {_time(incident.opened_at, zone)}{many}; seen last at {_time(incident.last_seen, zone)}."]
    if kind is not DeliveryKind.ALERT:
        lines.append(f"It is not acknowledged so far; this is message {incident.alerts + 1} about it.")
    return lines


def _what_to_do(kind: DeliveryKind, incident: Incident) -> list[str]:
    at = incident.incident_id
    if kind is DeliveryKind.RECOVERY:
        return [f"Incident {at} is over; nothing needs to be done."]
    lines = [f"What to do:      {_line(incident.next_step or 'batchctl status')}"]
    if incident.kind in OF_AN_INSTANCE and incident.instance_id is not None:
        of_instance = f"VALUES ('rerun', {incident.instance_id}, 'why')"
        lines.append(
            f"The same in SQL: INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) {of_instance};{_BY_SQLCMD}"
        )
    if incident.status is IncidentStatus.OPEN:
        asked = f"VALUES ('acknowledge', '{{\"incident\": {at}}}', 'I am on it')"
        lines += [
            f"Acknowledge it:  batchctl acknowledge {at} --reason ...",
            f"The same in SQL: INSERT INTO OperatorRequest (Action, Arguments, Reason) {asked};{_BY_SQLCMD}",
        ]
    return lines


def _line(text: str) -> str:
    return visible(text)


def _time(at: datetime, zone: str) -> str:
    there = at.astimezone(ZoneInfo(zone))
    return f"{at:%Y-%m-%d %H:%M:%S} UTC" + ("" if zone == "UTC" else f" ({there:%a %H:%M} in {zone})")
