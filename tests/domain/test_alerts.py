"""When people are told: at once, again, others too, once that it is over; and when there is too much, in one message."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.domain.alerting.alerts import Audience, Owed, audience, owed, parcels, wait_after
from batchctl.domain.alerting.incidents import Policy
from batchctl.domain.rows import IncidentId
from batchctl.domain.status import DeliveryKind, IncidentStatus, Severity
from tests.domain.incident_values import NOW, an_incident

POLICY = Policy(escalate_after=2, digest_over=3)
K = DeliveryKind
LATER, BEFORE = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({}, K.ALERT),
        ({"alerts": 1, "next_alert": LATER}, None),
        ({"alerts": 1, "next_alert": NOW}, K.REPEAT),
        ({"alerts": 2, "next_alert": BEFORE}, K.REPEAT),
        ({"alerts": 3, "next_alert": BEFORE}, K.ESCALATION),
        ({"alerts": 4, "next_alert": BEFORE, "escalated_at": BEFORE}, K.REPEAT),
        ({"alerts": 1, "next_alert": BEFORE, "status": IncidentStatus.ACKNOWLEDGED}, None),
        ({"alerts": 1, "next_alert": BEFORE, "snoozed_until": LATER}, None),
        ({"alerts": 1, "next_alert": BEFORE, "snoozed_until": BEFORE}, K.REPEAT),
        ({"snoozed_until": LATER}, None),
        ({"resolved_at": NOW}, None),
        ({"alerts": 1, "resolved_at": NOW}, K.RECOVERY),
        ({"alerts": 1, "resolved_at": NOW, "status": IncidentStatus.RESOLVED, "snoozed_until": LATER}, K.RECOVERY),
        ({"alerts": 1, "resolved_at": NOW, "recovery_at": NOW}, None),
    ],
)
def test_what_is_due(given: dict[str, object], kind: DeliveryKind | None) -> None:
    due = owed([an_incident(**given)], POLICY, NOW)

    assert [one.kind for one in due] == ([] if kind is None else [kind])


def test_without_escalation_it_is_repeated_for_ever() -> None:
    given = an_incident(alerts=99, next_alert=NOW)

    assert [one.kind for one in owed([given], Policy(escalate_after=0), NOW)] == [K.REPEAT]


def test_while_somebody_runs_it_again_nobody_is_reminded() -> None:
    assert owed([an_incident()], POLICY, NOW, quiet=[IncidentId(7)]) == []


def due(many: int) -> list[Owed]:
    return [Owed(K.ALERT, an_incident(incident_id=IncidentId(at))) for at in range(many)]


def test_too_much_goes_into_one_message_and_nothing_is_left_out() -> None:
    assert [len(one.owed) for one in parcels(due(3), [], POLICY, NOW)] == [1, 1, 1]
    (digest,) = parcels(due(4), [], POLICY, NOW)
    assert (digest.kind, len(digest.owed)) == (K.DIGEST, 4)


def test_what_was_sent_before_counts_while_the_window_lasts() -> None:
    lately = [(NOW - timedelta(minutes=9), False)] * 2
    long_ago = [(NOW - timedelta(minutes=10), False)] * 2

    assert [one.kind for one in parcels(due(2), lately, POLICY, NOW)] == [K.DIGEST]
    assert [one.kind for one in parcels(due(2), long_ago, POLICY, NOW)] == [K.ALERT, K.ALERT]


def test_after_a_digest_all_waits_for_the_next() -> None:
    just_now = [(NOW - timedelta(minutes=9), True)]

    assert parcels(due(1), just_now, POLICY, NOW) == []
    assert len(parcels(due(9), [(NOW - timedelta(minutes=10), True)], POLICY, NOW)) == 1


CHANNELS = [
    Audience(name="mail"),
    Audience(name="boss", only_escalations=True),
    Audience(name="page", least=Severity.ERROR),
]


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        (K.ALERT, {}, ["mail", "page"]),
        (K.ALERT, {"severity": Severity.WARNING}, ["mail"]),
        (K.ESCALATION, {}, ["mail", "boss", "page"]),
        (K.REPEAT, {"escalated_at": NOW}, ["mail", "boss", "page"]),
        (K.RECOVERY, {"escalated_at": NOW}, ["mail", "boss", "page"]),
    ],
)
def test_who_is_told(kind: DeliveryKind, given: dict[str, object], told: list[str]) -> None:
    (parcel,) = parcels([Owed(kind, an_incident(**given))], [], POLICY, NOW)

    assert audience(parcel, CHANNELS) == told
    assert audience(parcel, CHANNELS, not_through="mail") == [name for name in told if name != "mail"]


def test_it_is_tried_again_after_longer_and_longer_but_within_the_hour() -> None:
    assert [wait_after(times).total_seconds() for times in (1, 2, 3, 6, 7, 1000)] == [60, 120, 240, 1920, 3600, 3600]
