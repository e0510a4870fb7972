"""Small conditions on each of which a law rests: asked alone, because what stands around them hides that one is missing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from batchctl.control.controller_watch import ControllerWatch
from batchctl.control.operators.answering import Answering
from batchctl.domain import moves
from batchctl.domain.alerting.alert_text import Message
from batchctl.domain.rows import BatchId, IncidentId, InstanceId
from batchctl.domain.status import DeliveryKind, InstanceStatus
from batchctl.operations.requested import Proxy
from batchctl.store import instances
from batchctl.store.alerting import alert_deliveries
from batchctl.store.maintenance import finished_instances
from tests.control.world import ZONE, World
from tests.control_databases import ACTS

LONG = timedelta(hours=1)


@pytest.mark.parametrize("other", [-1, 1])
def test_an_instance_is_not_moved_under_another_token_older_or_newer(world: World, other: int) -> None:
    world.running()

    def move(connection: Any) -> bool:
        found = instances.load(connection, InstanceId(1))
        assert found is not None
        claimed = replace(found, claim_token=found.claim_token + other)
        return instances.move(connection, claimed, moves.moved(claimed, moves.released(claimed)), world.clock.now())

    assert not world.transactions.run(frozenset(), move)
    assert world.statuses() == ["running"]


def test_of_two_who_take_a_message_one_gets_it(world: World) -> None:
    world.sql(
        "INSERT INTO Incident (Kind, IncidentKey, Severity, Subject, Message)"
        " VALUES ('no_worker', 'no_worker', 'error', 's', 'm')"
    )
    now = world.clock.now()

    def add(connection: Any) -> None:
        message = Message(title="t", body="b")
        alert_deliveries.add(connection, IncidentId(1), "mail", DeliveryKind.ALERT, 1, message, now)

    world.transactions.run(frozenset(), add)
    with world.transactions.read() as connection:
        (seen,) = alert_deliveries.waiting_of(connection, "mail", 10)

    def take(by: str) -> bool:
        def claim(connection: Any) -> bool:
            return alert_deliveries.claim(connection, seen, by, world.clock.now())

        return bool(world.transactions.run(frozenset(), claim))

    assert (take("c1"), take("c2")) == (True, False)
    assert world.one("SELECT ClaimedBy FROM AlertDelivery") == "c1"


@pytest.mark.parametrize(("last", "oldest"), [(1, 5), (2, 4), (3, 3), (5, 1), (6, None)])
def test_as_many_of_the_last_ones_are_kept_as_the_rule_says(world: World, last: int, oldest: int | None) -> None:
    world.batch()
    for _ in range(5):
        world.submit()
    world.create()
    world.process()

    with world.transactions.read() as connection:
        found = finished_instances.oldest_kept(connection, BatchId(1), InstanceStatus.COMPLETE, last)

    assert found == oldest


def test_a_request_that_was_answered_meanwhile_is_not_carried_out(world: World) -> None:
    world.batch()
    world._insert("OperatorRequest", {"Action": "enable", "ProcessBatchName": "B", "Reason": "because"})

    def answering(controller: str) -> Answering:
        proxy = Proxy(world.clock, world.recorder().preparer, ZONE)
        return Answering(world.transactions, world.clock, world.events.append, proxy.carry_out, controller)

    late = answering("c2")
    (read,) = late._waiting(0)
    assert answering("c1").look()
    # Who was frozen has read it before that.
    assert not late._answer(read)

    assert world.sql("SELECT Status, AnsweredBy FROM OperatorRequest") == [("done", "c1")]
    assert world.one(f"SELECT count(*) FROM AuditLog WHERE {ACTS}") == 1


def test_nobody_counts_himself_among_the_dead(world: World) -> None:
    world.membership("c1").begin()
    world.running()
    watch = ControllerWatch(world.transactions, world.clock, world.runner, "c1", world.membership("c1").rhythm)
    world.runner.gone = lambda row: True
    assert watch.dead() == {}
    world.clock.advance(LONG)

    assert watch.dead() == {}
