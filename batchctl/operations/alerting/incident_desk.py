"""What people do about incidents, and what they see of them: acts in one transaction each, with a row in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from batchctl.domain.alerting.alerts import TAKEN_CARE_OF
from batchctl.domain.alerting.incidents import OF_AN_INSTANCE, Incident
from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.operators.notes import Note
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import LARGEST_ID, IncidentId, InstanceId
from batchctl.domain.status import STANDING_FAILURE, IncidentStatus
from batchctl.domain.text import fitting, visible
from batchctl.operations.column_lists import ColumnList, record
from batchctl.operations.inspection import batch_id_of
from batchctl.operations.operators import noting
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.ports import Transactions
from batchctl.store import Connection, instances
from batchctl.store.alerting import alert_deliveries, incident_rows
from batchctl.store.alerting.alert_deliveries import Delivery
from batchctl.store.maintenance import audit_entries
from batchctl.store.operators import note_rows

MOST = 10_000
"""How many incidents are listed at most."""
_ACTIONS = ("acknowledge", "snooze")
STALE = timedelta(minutes=5)
"""After how long a message that a controller has claimed may be taken back."""


def incidents_at(now: datetime) -> ColumnList[Incident]:
    """Return the column list of incidents, as they stand at a time."""
    return ColumnList(
        "Incidents",
        {**record(Incident), "Notes": lambda one: noting.in_json(one.notes)},
        {
            "id#": "Incident_id",
            "kind": lambda one: one.kind.value,
            "about": "Subject",
            "": lambda one: _stand(one, now),
            "since (UTC)": "OpenedTime",
            "times#": "Occurrences",
            "message": "Message",
            "next": lambda one: one.next_step if one.is_standing else None,
        },
    )


def _stand(one: Incident, now: datetime) -> tuple[object, ...]:
    """Return the status of an incident, who has acknowledged it or until when it is snoozed, and the reason."""
    if one.is_standing and one.acknowledged_by is not None:
        said: tuple[object, ...] = one.status, " by ", one.acknowledged_by
    elif one.is_standing and one.snoozed_until is not None and one.snoozed_until > now:
        said = one.status, ", snoozed until ", one.snoozed_until
    else:
        return (one.status,)
    return said if one.because is None else (*said, ": ", one.because)


@dataclass(frozen=True, slots=True, kw_only=True)
class Which:
    """An incident, or all that stand about an instance; exactly one of the two."""

    incident_id: IncidentId | None = None
    instance_id: InstanceId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedAfter:
    """An incident that was acknowledged or snoozed, or would be."""

    incident: Incident
    until: datetime | None
    """Until when no reminder of it is sent; None when none is sent any more."""
    dry_run: bool

    @property
    def wording(self) -> str:
        """Say what was done."""
        sent, comes = ("would be sent", "would come") if self.dry_run else ("is sent", "comes")
        rest = (
            f"no reminder of it {sent} any more"
            if self.until is None
            else f"the next reminder {comes} at {_at(self.until)}"
        )
        word = f"{'would be' if self.dry_run else 'is'} {'acknowledged' if self.until is None else 'snoozed'}"
        return f"Incident {self.incident.incident_id} ({visible(self.incident.subject)}) {word}; {rest}."


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentDesk(Actor):
    """Where people look after incidents."""

    notice: Callable[[InstanceId], None] = lambda _instance_id: None
    """Opens the incident about an instance that has just failed, before a person acknowledges or snoozes it."""

    def acknowledge(self, which: Which, *, reason: str | None) -> Sequence[LookedAfter]:
        """Note that a person takes care: no more reminders are sent; the message that it is over still is."""
        return self._each(which, "acknowledge", reason, None, _acknowledge)

    def snooze(self, which: Which, length: timedelta, *, reason: str | None) -> Sequence[LookedAfter]:
        """Send no reminders for a while."""
        return self._each(which, "snooze", reason, self.clock.now() + length, _snooze)

    def _each(
        self,
        which: Which,
        action: str,
        reason: str | None,
        until: datetime | None,
        write: Callable[[Any, Incident, str, datetime | None, datetime], bool],
    ) -> Sequence[LookedAfter]:
        reason = checked_reason(reason)
        if which.instance_id is not None and not self.dry_run:
            self.notice(which.instance_id)

        def act(connection: Connection) -> Sequence[LookedAfter]:
            found = _standing(connection, which, lock=not self.dry_run)
            for one in () if self.dry_run else found:
                if not write(connection, one, fitting(self.user), until, self.clock.now()):
                    raise _is_over(one)
                self.note(connection, action, _target(one), reason, _was(one), _became(until))
            return [LookedAfter(incident=one, until=until, dry_run=self.dry_run) for one in found]

        return self.act(act)


def _acknowledge(connection: Connection, one: Incident, by: str, until: datetime | None, now: datetime) -> bool:
    del until
    alert_deliveries.withdraw(connection, one.incident_id, TAKEN_CARE_OF, now - STALE, now)
    return incident_rows.acknowledge(connection, one, by, now)


def _snooze(connection: Connection, one: Incident, by: str, until: datetime | None, now: datetime) -> bool:
    del by
    return incident_rows.snooze(connection, one, until or now, now)


def _standing(connection: Connection, which: Which, *, lock: bool) -> list[Incident]:
    """Return the incidents that are meant; refuses where there is nothing to look after."""
    if which.incident_id is None:
        at = which.instance_id or InstanceId(0)
        found = incident_rows.of_instance(connection, at)
        if not found:
            message = f"No incident stands about BatchControl {at}."
            raise NotFound(message, next_step="batchctl incidents")
        return found
    load = incident_rows.load_locked if lock else incident_rows.load
    one = load(connection, which.incident_id)
    if one is None:
        message = f"There is no incident {which.incident_id}."
        raise NotFound(message, next_step="batchctl incidents --all")
    if not one.is_standing:
        raise _is_over(one)
    return [one]


def _is_over(one: Incident) -> Refused:
    return Refused(f"Incident {one.incident_id} is over.", next_step="batchctl incidents")


def _was(one: Incident) -> dict[str, JsonValue]:
    return {"Status": one.status.value, "SnoozedUntil": None if one.snoozed_until is None else _iso(one.snoozed_until)}


def _became(until: datetime | None) -> Mapping[str, JsonValue]:
    if until is None:
        return {"Status": IncidentStatus.ACKNOWLEDGED.value}
    return {"Status": IncidentStatus.OPEN.value, "SnoozedUntil": _iso(until)}


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _iso(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def listed(
    transactions: Transactions,
    *,
    everything: bool,
    batch: str | None = None,
    status: IncidentStatus | None = None,
    since: datetime | None = None,
) -> tuple[Incident, ...]:
    """Return the incidents that stand, oldest first; or all of them, newest first."""
    if everything:
        return page(transactions, MOST, everything=True, batch=batch, status=status, since=since)
    with transactions.read() as connection:
        found = incident_rows.first_standing(connection, MOST)
        batch_id = None if batch is None else batch_id_of(connection, batch)
        wanted = [
            one
            for one in found
            if (batch_id is None or one.batch_id == batch_id)
            and (status is None or one.status is status)
            and (since is None or one.opened_at >= since)
        ]
        return with_reasons(connection, wanted)


def page(
    transactions: Transactions,
    most: int,
    *,
    everything: bool,
    before: int | None = None,
    batch: str | None = None,
    status: IncidentStatus | None = None,
    since: datetime | None = None,
) -> tuple[Incident, ...]:
    """Return the newest incidents before one that fit, of those that stand or of all, newest first."""
    with transactions.read() as connection:
        found = incident_rows.newest(
            connection,
            most,
            before=LARGEST_ID if before is None else before,
            only_standing=not everything,
            batch_id=None if batch is None else batch_id_of(connection, batch),
            status=status,
            since=since,
        )
        return with_reasons(connection, found)


def with_reasons(connection: Connection, found: Sequence[Incident]) -> tuple[Incident, ...]:
    """Return incidents with the reason of the last `acknowledge` or `snooze` of each, what is to be done now, and notes."""
    looked_after = {
        _target(one): one for one in found if one.acknowledged_by is not None or one.snoozed_until is not None
    }
    said: dict[str, str | None] = {}
    # Oldest first: the last reason stays.
    for entry in audit_entries.of_targets(connection, [*looked_after], _ACTIONS):
        said[entry.target] = entry.reason
    dealt_with = _dealt_with(connection, found)
    noted: dict[IncidentId | None, list[Note]] = {}
    for note in note_rows.of(connection, incidents=[one.incident_id for one in found]):
        noted.setdefault(note.incident_id, []).append(note)
    return tuple(
        replace(
            one,
            because=said.get(_target(one)),
            next_step=dealt_with.get(one.incident_id, one.next_step),
            notes=(*noted.get(one.incident_id, ()),),
        )
        for one in found
    )


def _dealt_with(connection: Connection, found: Sequence[Incident]) -> dict[IncidentId, str]:
    """Return what is to be done about incidents whose instance has gone on, until a controller resolves them."""
    wanted = [one for one in found if one.is_standing and one.kind in OF_AN_INSTANCE and one.instance_id is not None]
    numbers = sorted({one.instance_id for one in wanted if one.instance_id is not None})
    pages = (numbers[at : at + instances.MOST_LOADED] for at in range(0, len(numbers), instances.MOST_LOADED))
    status = {one.instance_id: one.status for page in pages for one in instances.these(connection, page)}
    return {
        one.incident_id: f"nothing about BatchControl {one.instance_id}, which is {status[one.instance_id]} now; "
        "what else stands: batchctl status"
        for one in wanted
        if one.instance_id in status and status[one.instance_id] not in STANDING_FAILURE
    }


def _target(one: Incident) -> str:
    return f"Incident:{one.incident_id}"


def last_deliveries(transactions: Transactions, channels: Sequence[str]) -> dict[str, Delivery | None]:
    """Return the last message of each channel."""
    with transactions.read() as connection:
        return {name: next(iter(alert_deliveries.last_of(connection, name, 1)), None) for name in channels}
