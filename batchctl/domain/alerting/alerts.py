"""Which messages are due about incidents: at once, again until it is acknowledged, then to others, and at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from batchctl.domain.alerting.incident_causes import Norms
from batchctl.domain.alerting.incidents import Incident, Policy
from batchctl.domain.rows import IncidentId
from batchctl.domain.status import DeliveryKind, IncidentStatus, Severity
from batchctl.domain.values import named_value, value

FIRST_WAIT = timedelta(minutes=1)
LONGEST_WAIT = timedelta(hours=1)
GIVEN_UP_AFTER = timedelta(days=1)
"""For how long delivery of a message is tried."""
TOO_OFTEN = 3
"""Attempts after which a channel that delivers nothing is an incident of its own."""
ANNOUNCED_WHILE_IT_STANDS = frozenset({DeliveryKind.ALERT, DeliveryKind.REPEAT, DeliveryKind.ESCALATION})
IS_OVER = "it was over before it was sent"
TAKEN_CARE_OF = "somebody takes care of it"


@value
class Owed:
    """A message that is due about an incident."""

    kind: DeliveryKind
    incident: Incident


@named_value
class Parcel:
    """One message: about one incident, or a digest about many."""

    kind: DeliveryKind
    owed: Sequence[Owed]

    @property
    def first(self) -> Incident:
        """Return the incident under whose number it is sent."""
        return self.owed[0].incident

    @property
    def number(self) -> int:
        """Return how many messages there were about that one before."""
        return self.first.alerts

    @property
    def severity(self) -> Severity:
        """Return the gravest severity in it."""
        grave = any(one.incident.severity is Severity.ERROR for one in self.owed)
        return Severity.ERROR if grave else Severity.WARNING

    @property
    def is_escalated(self) -> bool:
        """Say whether others are to be told too."""
        return any(one.kind is DeliveryKind.ESCALATION or one.incident.escalated_at is not None for one in self.owed)


def owed(
    incidents: Iterable[Incident], policy: Policy, now: datetime, *, quiet: Iterable[IncidentId] = ()
) -> list[Owed]:
    """Return the messages that are due; no reminders about incidents that are `quiet`."""
    hushed = set(quiet)
    found = []
    for incident in incidents:
        kind = _kind(incident, policy, now)
        if kind is not None and (kind is DeliveryKind.RECOVERY or incident.incident_id not in hushed):
            found.append(Owed(kind, incident))
    return found


def _kind(incident: Incident, policy: Policy, now: datetime) -> DeliveryKind | None:
    if not incident.is_standing:
        is_owed = incident.alerts > 0 and incident.recovery_at is None
        return DeliveryKind.RECOVERY if is_owed else None
    if incident.status is IncidentStatus.ACKNOWLEDGED:
        return None
    if incident.snoozed_until is not None and incident.snoozed_until > now:
        return None
    if incident.alerts == 0:
        return DeliveryKind.ALERT
    if incident.next_alert is None or incident.next_alert > now:
        return None
    is_time = policy.escalate_after and incident.alerts > policy.escalate_after
    return DeliveryKind.ESCALATION if is_time and incident.escalated_at is None else DeliveryKind.REPEAT


def parcels(due: Sequence[Owed], made: Sequence[tuple[datetime, bool]], policy: Policy, now: datetime) -> list[Parcel]:
    """Make messages of what is due. `made` holds when each of the last ones was made, and whether it was a digest.

    When there are too many, all of it goes into one; what comes after that waits for the next. Nothing is left out.
    """
    since = now - policy.digest_window
    lately = [is_digest for at, is_digest in made if at > since]
    if len(due) <= 1 and not lately:
        return _one_by_one(due)
    if True in lately:
        return []
    if len(due) + len(lately) <= policy.digest_over:
        return _one_by_one(due)
    return [Parcel(kind=DeliveryKind.DIGEST, owed=due)] if len(due) > 1 else _one_by_one(due)


def _one_by_one(due: Sequence[Owed]) -> list[Parcel]:
    return [Parcel(kind=one.kind, owed=[one]) for one in due]


@named_value
class Audience:
    """A channel, as far as it decides which messages go through it."""

    name: str
    only_escalations: bool = False
    least: Severity = Severity.WARNING


def audience(parcel: Parcel, channels: Iterable[Audience], *, not_through: str | None = None) -> list[str]:
    """Return the channels that a message goes to; never the channel that the message itself is about."""
    return [
        one.name
        for one in channels
        if one.name != not_through
        and (parcel.is_escalated or not one.only_escalations)
        and (one.least is Severity.WARNING or parcel.severity is Severity.ERROR)
    ]


def taken_back(kind: DeliveryKind, incident: Incident, now: datetime) -> str | None:
    """Return why a message that could not be sent so far is not to be sent any more; None while it is."""
    if kind not in ANNOUNCED_WHILE_IT_STANDS or incident.is_announced_afterwards:
        return None
    if not incident.is_standing:
        return IS_OVER
    is_snoozed = incident.snoozed_until is not None and incident.snoozed_until > now
    return TAKEN_CARE_OF if is_snoozed or incident.status is IncidentStatus.ACKNOWLEDGED else None


def wait_after(attempts: int) -> timedelta:
    """Return how long to wait after so many attempts in vain."""
    return min(FIRST_WAIT * (1 << min(attempts - 1, 10)), LONGEST_WAIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRules:
    """What decides which people are told of what, and when."""

    policy: Policy = field(default_factory=Policy)
    norms: Norms = field(default_factory=Norms)
    channels: Sequence[Audience] = ()
    zone: str = "UTC"
    """The time zone by whose clocks work is expected."""
    no_worker_after: timedelta = timedelta(minutes=10)
    lease: timedelta = timedelta(seconds=30)
    """For how long there may be no leader."""
    unserved_after: timedelta = timedelta(seconds=300)
    """For how long instances may wait for a pool that no controller serves, or that has no agent for them."""
    learns_arrivals: bool = True
    arrival_margin: timedelta = timedelta(minutes=30)
    forecast_interval: timedelta = timedelta(minutes=10)
    """How long after a forecast the next is made; nothing is for never."""
    forecast_hours: Sequence[int] = (18 * 60, 0, 3 * 60)
    """At which times of day forecasts are kept, in minutes after midnight."""
