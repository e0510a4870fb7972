"""Opening, keeping and closing incidents, and making the messages about them: all of a look in one transaction.

Reads first to find what to write; before writing it reads all of it once more, because the program may have slept.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from batchctl.control.alerting.incident_search import LOCKED, IncidentSearch
from batchctl.control.contention import Locks
from batchctl.domain.alerting.alert_text import message_of
from batchctl.domain.alerting.alerts import IS_OVER, AlertRules, Parcel, audience, owed, parcels
from batchctl.domain.alerting.incidents import OF_AN_INSTANCE, Incident, IncidentSign, Review, review
from batchctl.domain.errors import Busy, Conflict, Refused
from batchctl.domain.operators.freezes import holding
from batchctl.domain.rows import BatchId, IncidentId, InstanceId
from batchctl.domain.status import DeliveryKind, DeliveryStatus, IncidentKind
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.alerting import alert_deliveries, evidence, incident_rows
from batchctl.store.alerting.alert_deliveries import Delivery
from batchctl.store.definitions import definitions
from batchctl.store.operators import freeze_rows
from batchctl.store.transactions import left_out_if_refused

MOST = 1000
"""How many incidents are announced as over at one look."""
STALE = timedelta(minutes=5)
"""After how long a message that was claimed and not sent may be sent by somebody else."""

_BOUNDARIES = frozenset({Boundary.ALERT})
_ALL = "incidents"
"""What is locked while somebody reviews them."""


@dataclass(slots=True)
class IncidentWatch:
    """Reviews the incidents. Two who do so at the same time do it one after the other."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    rules: AlertRules
    findings: IncidentSearch
    _refused: list[str] = field(default_factory=list)
    """What the database refused to write at the last look, and why."""

    _locks: Locks = field(init=False)

    def __post_init__(self) -> None:
        """Start without knowing of any lock."""
        self._locks = Locks(self.transactions, self.clock, self.listener)

    def begin(self) -> None:
        """Note what waits for a controller, before this one begins to work."""
        with self.transactions.read() as connection:
            self.findings.look_back(connection, self.clock.now())

    def look(self, *, nowait: bool = True) -> bool:
        """Look at what is wrong, and write what is new; true when something is wrong.

        Without nowait, wait for the locks of others.
        """
        with self.transactions.read() as connection:
            if not self._is_anything(connection, self.clock.now()):
                self._refused.clear()
                self.findings.settle()
                return False
        for event in self._run(nowait=nowait):
            self.listener(event)
        self.findings.settle()
        return True

    def look_at(self, instance_id: InstanceId) -> None:
        """Open the incident about a standing instance if it is not open yet: somebody asks before the next look."""
        with self.transactions.read() as connection:
            if incident_rows.of_instance(connection, instance_id):
                return

        def write(connection: Connection) -> list[Event]:
            incident_rows.wait_for_others(connection)
            now, known = self.clock.now(), incident_rows.keys_standing(connection)
            signs = [one for one in self.findings.signs(connection, now) if one.instance_id == instance_id]
            opened = (one for one in signs if one.kind in OF_AN_INSTANCE and one.key not in known)
            return [_event("incident.opened", incident_rows.add(connection, one, now), one) for one in opened]

        for event in self.transactions.run(_BOUNDARIES, write):
            self.listener(event)

    def _run(self, *, nowait: bool) -> list[Event]:
        """Write while no other connection reviews incidents; write all the same if somebody keeps that locked for long.

        Without nowait, wait for the lock once, then write all the same: the caller may not come again.
        Two that review at the same time then open no incident twice: an index sees to that.
        """
        try:
            events = self.transactions.run(_BOUNDARIES, self._write_alone, nowait=nowait)
        except (Conflict, Busy):
            if self._locks.meet(_ALL):
                self._locks.announced[_ALL] = self._locks.by_whom("they cannot be reviewed: a row that stands for them")
            if nowait and not self._locks.lasts(_ALL, LOCKED):
                raise
            return self.transactions.run(_BOUNDARIES, self._write, nowait=nowait)
        self._locks.free(_ALL)
        return events

    @property
    def locked(self) -> dict[str, str]:
        """Return what keeps incidents from being reviewed, and who."""
        return {str(what): said for what, said in self._locks.announced.items()}

    def check_written(self) -> None:
        """Raise `Refused` where the database refused some of what was to be written at the last look."""
        if self._refused:
            message = f"Messages about some incidents cannot be written: {'; '.join(self._refused)}."
            raise Refused(message, next_step="batchctl status   (names rows that cannot be read, and what mends them)")

    def learn(self) -> None:
        """Read at once what is else read bit by bit, before a single look."""
        self.findings.read_anew()
        with self.transactions.read() as connection:
            self.findings.learn(connection)

    def _is_anything(self, connection: Connection, now: datetime) -> bool:
        seen = self._review(connection, incident_rows.standing(connection), now)
        if seen.opened or seen.changed or seen.resolved or seen.superseded:
            return True
        return bool(self._parcels(connection, seen, now))

    def _review(self, connection: Connection, standing: list[Incident], now: datetime) -> Review:
        unread = incident_rows.keys_standing(connection).difference(one.key for one in standing)
        signs = [one for one in self.findings.signs(connection, now) if one.key not in unread]
        found = {sign.key for sign in signs}
        others = {one.incident_id: self.findings.failed_with(one) for one in standing if one.key not in found}
        about = [one.instance_id for one in standing if one.instance_id is not None]
        stand = evidence.under_way(connection, chain(about, *others.values()))
        return review(signs, standing, stand, self.findings.idle, others=others, is_partial=self.findings.is_partial)

    def _parcels(self, connection: Connection, seen: Review, now: datetime) -> list[Parcel]:
        """Return the messages that are due; none while there is no channel to send them through."""
        if not self.rules.channels:
            return []
        all_of_them = [*incident_rows.standing(connection), *incident_rows.owing_recovery(connection, MOST)]
        due = owed(all_of_them, self.rules.policy, now, quiet=seen.quiet)
        if not due:
            return []
        frozen = FrozenWork.read(connection, now)
        due = [one for one in due if not frozen.holds(one.incident)]
        many = (self.rules.policy.digest_over + 1) * len(self.rules.channels)
        return parcels(due, _made(alert_deliveries.newest(connection, many)), self.rules.policy, now)

    def _write_alone(self, connection: Connection) -> list[Event]:
        incident_rows.wait_for_others(connection)
        return self._write(connection)

    def _write(self, connection: Connection) -> list[Event]:
        now = self.clock.now()
        self.findings.read_anew()
        seen = self._review(connection, incident_rows.standing(connection), now)
        events = list[Event]()
        self._refused.clear()
        for one, sign in seen.changed:
            with self._apart(connection, one):
                incident_rows.see_again(connection, one, sign, now)
        for one in (*seen.resolved, *seen.superseded):
            with self._apart(connection, one):
                incident_rows.resolve(connection, one, now, is_announced=one in seen.superseded)
                if not one.is_announced_afterwards:
                    alert_deliveries.withdraw(connection, one.incident_id, IS_OVER, now - STALE, now)
                events.append(_event("incident.resolved", one.incident_id, one))
        for sign in seen.opened:
            with self._apart(connection, sign):
                events.append(_event("incident.opened", incident_rows.add(connection, sign, now), sign))
        for parcel in self._parcels(connection, seen, now):
            with self._apart(connection, parcel.first):
                self._post(connection, parcel, now)
        return events

    def _apart(self, connection: Connection, about: IncidentSign | Incident) -> AbstractContextManager[None]:
        """Write what concerns one incident, or leave it out: what the database refuses of one leaves others alone."""
        named = f"Incident {about.incident_id}" if isinstance(about, Incident) else about.message
        return left_out_if_refused(connection, lambda wording: self._refused.append(f"{named}: {wording}"))

    def _post(self, connection: Connection, parcel: Parcel, now: datetime) -> None:
        """Make one message for each channel that it goes to, and note on its incidents that it was made."""
        first, message = parcel.first, message_of(parcel, now, self.rules.zone)
        kept_from = _own_channel(first) if len(parcel.owed) == 1 else None
        before = alert_deliveries.of_incident(connection, first.incident_id)
        for channel in audience(parcel, self.rules.channels, not_through=kept_from):
            if _is_wanted(parcel, [one for one in before if one.channel == channel]):
                alert_deliveries.add(connection, first.incident_id, channel, parcel.kind, parcel.number, message, now)
        for one in parcel.owed:
            if one.kind is DeliveryKind.RECOVERY:
                incident_rows.note_recovery(connection, one.incident, now)
            else:
                following = now + self.rules.policy.interval(one.incident.severity)
                escalated = one.kind is DeliveryKind.ESCALATION
                incident_rows.note_alert(connection, one.incident, following, now, is_escalated=escalated)


@dataclass(frozen=True, slots=True)
class FrozenWork:
    """What is frozen: no messages about it are sent until it is thawed."""

    batches: frozenset[BatchId]
    is_everything: bool

    @classmethod
    def read(cls, connection: Connection, now: datetime) -> FrozenWork:
        """Read what is frozen at this moment."""
        found = frozenset(one.batch_id for one in definitions.all_batches(connection) if holding(one, now) is not None)
        standing = [one for one in freeze_rows.standing(connection) if one.holds(now)]
        return cls(found, any(one.batch is None and one.tag is None for one in standing))

    def holds(self, incident: Incident) -> bool:
        """Say whether an incident is about what is frozen."""
        return self.is_everything or incident.batch_id in self.batches


def _is_wanted(parcel: Parcel, before: Iterable[Delivery]) -> bool:
    """Say whether a channel needs a message: not while one about the same waits, nor that it is over when it said nothing."""
    if parcel.kind is DeliveryKind.DIGEST:
        return True
    if parcel.kind is DeliveryKind.RECOVERY:
        made = [one.status for one in before]
        return not made or any(status in {DeliveryStatus.SENT, DeliveryStatus.WAITING} for status in made)
    return all(one.status is not DeliveryStatus.WAITING for one in before)


def _own_channel(incident: Incident) -> str | None:
    """Return the channel that an incident is about."""
    is_own = incident.kind is IncidentKind.CHANNEL_FAILED
    return incident.subject.partition(" ")[2] if is_own else None


def _made(deliveries: Iterable[Delivery]) -> list[tuple[datetime, bool]]:
    """Return when each of the last messages was made, and whether it was a digest: one for all channels together."""
    each = {(one.incident_id, one.kind, one.number): one for one in deliveries}
    return [(one.made_at, one.kind is DeliveryKind.DIGEST) for one in each.values()]


def _event(name: str, incident_id: IncidentId, about: Any) -> Event:
    fields = {"Incident_id": incident_id, "Kind": about.kind.value, "Subject": about.subject, "Message": about.message}
    return Event(name, fields)
