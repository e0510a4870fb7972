"""Requests are read with forgiveness for letters, and refused with all that whoever asks needs to know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from batchctl.domain.errors import Refused
from batchctl.domain.operators.request_verbs import (
    OfBackfill,
    OfBatch,
    OfIncident,
    OfInstance,
    OfPast,
    OfSchedule,
    Verb,
    Wish,
)
from batchctl.domain.operators.requests import Request, RequestId, wish_of
from batchctl.domain.rows import InstanceId
from batchctl.domain.scheduling.schedules import BackfillId
from batchctl.domain.status import InstanceStatus, RequestStatus


def request(**given: Any) -> Request:
    usual: dict[str, Any] = {"action": "rerun", "instance_id": 7, "batch": None, "arguments": None, "reason": "fixed"}
    asked = datetime(2026, 11, 22, tzinfo=UTC)
    fixed = {"request_id": RequestId(1), "actor": "anna", "status": RequestStatus.REQUESTED, "asked_at": asked}
    return Request(**{**fixed, **usual, **given})


@pytest.mark.parametrize("action", ["rerun", "Rerun", " RERUN "])
def test_what_is_done_to_an_instance(action: str) -> None:
    found = wish_of(request(action=action, arguments='{"From": 20, "data3": "x", "Data4": null}'))

    assert found == OfInstance(
        verb=Verb.RERUN,
        instance_id=InstanceId(7),
        reason="fixed",
        from_seq=20,
        corrections={"Data3": "x", "Data4": None},
    )


@pytest.mark.parametrize("action", ["enable", "disable"])
def test_what_is_done_to_a_batch_needs_no_reason(action: str) -> None:
    found = wish_of(request(action=action, instance_id=None, batch="Load", reason=None, arguments="  "))

    assert found == OfBatch(verb=Verb(action), batch="Load", reason=None)


def test_what_is_done_only_to_what_stands_still_as_it_stood() -> None:
    found = wish_of(request(action="pause", reason=None, arguments='{"status": " Ready "}'))

    assert isinstance(found, OfInstance)
    assert found.status is InstanceStatus.READY


def test_what_is_started_by_a_schedule() -> None:
    def asked(action: str, arguments: str) -> Wish:
        return wish_of(request(action=action, instance_id=None, arguments=arguments))

    assert asked("run", '{"schedule": "n"}') == OfSchedule(schedule="n", reason="fixed")
    assert asked("cancel", '{"backfill": 2}') == OfBackfill(backfill_id=BackfillId(2), reason="fixed")
    past = '{"schedule": "n", "from": "2026-11-01", "to": "2026-11-03 06:00", "most_open": 3, "missed": true}'
    assert asked("backfill", past) == OfPast(
        schedule="n",
        first="2026-11-01",
        last="2026-11-03 06:00",
        most_open=3,
        missed=True,
        sure=False,
        reason="fixed",
    )


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"action": "pauze"}, "Action 'pauze' is none of rerun, skip, pause, .* Did you mean 'pause'"),
    ({"action": "\x1b[2J"}, r"Action '\\x1b\[2J' is none of"),
    ({"reason": None}, "'rerun' needs a Reason"),
    ({"reason": "  "}, "'rerun' needs a Reason"),
    ({"instance_id": None}, "'rerun' is done to an instance: BatchControl_id says to which"),
    ({"batch": "Load"}, "'rerun' is done to an instance: BatchControl_id says to which, and nothing else"),
    ({"action": "enable"}, "'enable' is done to a batch: ProcessBatchName says to which"),
    ({"action": "disable", "batch": "Load"}, "'disable' is done to a batch: .* and nothing else"),
    ({"action": "disable", "arguments": "{}"}, "'disable' takes no Arguments"),
    (
        {"action": "cancel", "arguments": '{"backfill": 2}'},
        "'cancel' of a backfill: Arguments name it, and nothing else",
    ),
    ({"action": "skip", "arguments": '{"status": "broken"}'}, "status 'broken' is none of ready, "),
    ({"action": "run", "arguments": '{"schedule": "nightly"}'}, "'run' is done to a schedule: Arguments name it"),
    ({"action": "run", "instance_id": None}, "'run' is done to a schedule: Arguments name it"),
    ({"action": "backfill", "instance_id": None, "arguments": '{"schedule": "n"}'}, "needs to know from when to when"),
    (
        {"action": "backfill", "instance_id": None, "arguments": '{"schedule": "n", "from": 20}'},
        "'from' has to be a text in quotes",
    ),
    (
        {"action": "backfill", "instance_id": None, "arguments": '{"schedule": "n", "sure": 1}'},
        "'sure' has to be true or false",
    ),
    ({"arguments": "from=20"}, "Arguments 'from=20' is no JSON object"),
    ({"arguments": "[20]"}, "is no JSON object"),
    ({"arguments": "[" * 100_000}, "is no JSON object"),
    ({"arguments": '{"from": 20, "From": 10}'}, "'from' stands there twice"),
    ({"arguments": '{"Data3": "x", "Data3": "y"}'}, "'data3' stands there twice"),
    ({"arguments": f'{{"from": {2**63}}}'}, "'from' has to be a whole number without quotes, that a row has"),
    ({"action": "thaw", "instance_id": None, "arguments": f'{{"id": {2**63}}}'}, "'id' has to be a whole number"),
    (
        {"action": "enable", "instance_id": None, "batch": "B", "arguments": '{"throttle": 10001}'},
        "'throttle' has to be a whole number without quotes, 10000 at most",
    ),
    ({"arguments": '{"step": 20}'}, "'step' is none of \"from\" with the number of a step, Data1 to Data6"),
    ({"arguments": '{"from": true}'}, "'from' has to be a whole number"),
    ({"arguments": '{"from": "20"}'}, "'from' has to be a whole number without quotes"),
    ({"arguments": '{"Data3": 7}'}, "'Data3' has to be a text in quotes, or null"),
    ({"arguments": '{"Data7": "x"}'}, "'Data7' is none of"),
]


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said) as refused:
        wish_of(request(**given))

    assert str(refused.value.next_step).startswith("insert another row that says it")
    assert len(refused.value.in_full) < 500


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"arguments": '{"Incident": 7}', "instance_id": None}, (7, None)),
        ({"arguments": None, "instance_id": 42}, (None, 42)),
    ],
)
def test_what_is_done_to_an_incident(given: dict[str, Any], found: tuple[int | None, int | None]) -> None:
    wish = wish_of(request(action="Acknowledge", reason="mine", **given))

    assert isinstance(wish, OfIncident)
    assert (wish.verb, wish.incident_id, wish.instance_id, wish.length) == (Verb.ACKNOWLEDGE, *found, None)


def test_what_is_snoozed_is_so_for_a_while() -> None:
    wish = wish_of(request(action="snooze", instance_id=None, reason="later", arguments='{"incident": 7, "for": "2h"}'))

    assert isinstance(wish, OfIncident)
    assert wish.length == timedelta(hours=2)


NO_INCIDENT: list[tuple[dict[str, Any], str]] = [
    ({"arguments": '{"incident": 7}'}, "Arguments name it, or BatchControl_id the instance"),
    ({"instance_id": None}, "Arguments name it, or BatchControl_id the instance"),
    ({"instance_id": None, "arguments": "7"}, "is no JSON object"),
    ({"instance_id": None, "arguments": '{"incident": true}'}, "'incident' has to be a whole number"),
    ({"instance_id": None, "arguments": '{"incident": "7"}'}, "'incident' has to be a whole number without quotes"),
    ({"arguments": '{"for": "2h"}'}, 'is none of "incident" with its number'),
    ({"batch": "Load"}, "is done to an incident"),
    ({"reason": " "}, "'acknowledge' needs a Reason"),
    ({"action": "snooze"}, "'snooze' needs a length of time"),
    ({"action": "snooze", "arguments": '{"for": "tomorrow"}'}, "'snooze' needs a length of time"),
]


@pytest.mark.parametrize(("given", "said"), NO_INCIDENT)
def test_what_cannot_be_meant_of_an_incident_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        wish_of(request(**{"action": "acknowledge", **given}))
