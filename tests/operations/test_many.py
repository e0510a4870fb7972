"""One act on all that a filter finds: in chunks, each with its audit row; what refuses it does not stop the others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import InstanceStatus
from batchctl.operations import many
from batchctl.operations.decisions import Action
from batchctl.operations.intervene import Operator
from batchctl.operations.many import CHUNK, InstanceFilter
from tests.control.world import BAD, OK, World
from tests.control_databases import ACTS

FAILED = InstanceFilter(status=InstanceStatus.FAILED)


@pytest.fixture
def failed(world: World) -> World:
    """Instances 1 to 3 of B and 4 of C have failed."""
    world.runner.script = lambda rendered: BAD
    for name, rows in (("B", 3), ("C", 1)):
        world.batch(name, steps=1, OnFailure="continue")
        for _ in range(rows):
            world.submit(name)
    world.create()
    world.process()
    return world


def rerun(operator: Operator, at: InstanceId) -> object:
    return operator.rerun(at, reason="the server is back")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (FAILED, [1, 2, 3, 4]),
        (InstanceFilter(status=InstanceStatus.FAILED, batch="B"), [1, 2, 3]),
        (InstanceFilter(status=InstanceStatus.READY), []),
    ],
)
def test_a_filter_finds_by_batch_and_status(failed: World, wanted: InstanceFilter, found: Sequence[int]) -> None:
    assert list(many.select(failed.transactions, Action.RERUN, wanted).ids) == found


def test_since_is_when_they_came_to_stand_so(failed: World) -> None:
    now = failed.clock.now()
    failed.sql("UPDATE BatchControl SET z_updated = '2020-01-01 00:00:00.000' WHERE BatchControl_id < 3")

    later = InstanceFilter(status=InstanceStatus.FAILED, since=now - timedelta(minutes=1))

    assert list(many.select(failed.transactions, Action.RERUN, later).ids) == [3, 4]


def test_a_batch_that_is_not_there_is_told_which_is_meant(failed: World) -> None:
    with pytest.raises(NotFound, match="Did you mean 'B'"):
        many.select(failed.transactions, Action.RERUN, InstanceFilter(status=InstanceStatus.FAILED, batch="b"))


def test_all_are_run_again_each_audited_and_one_that_refuses_stops_nobody(failed: World, operator: Operator) -> None:
    selection = many.select(failed.transactions, Action.RERUN, FAILED)
    assert selection.wording == "This will rerun 4 instances that are failed: 3 of batch B, 1 of batch C."
    with pytest.raises(Refused, match="This will rerun 4"):
        many.check_sure(selection, sure=False)
    failed.sql("UPDATE BatchControl SET Status = 'running' WHERE BatchControl_id = 2")

    done = many.act_on(operator, selection, rerun)

    assert list(done.done) == [1, 3, 4]
    ((refused, said),) = done.refused
    assert (refused, said.partition(":")[0]) == (2, "BatchControl 2 is running")
    assert failed.statuses() == ["ready", "running", "ready", "ready"]
    audited = failed.sql(f"SELECT Action, Target, Reason FROM AuditLog WHERE {ACTS} ORDER BY AuditLog_id")
    assert audited == [("rerun", f"BatchControl:{at}", "the server is back") for at in (1, 3, 4)]


def test_what_somebody_has_dealt_with_meanwhile_is_left_alone(failed: World, operator: Operator) -> None:
    selection = many.select(failed.transactions, Action.RERUN, FAILED)
    operator.cancel(InstanceId(1), reason="not that one")
    operator.rerun(InstanceId(4), reason="it is mended")
    failed.runner.script = lambda rendered: OK
    failed.process()

    done = many.act_on(operator, selection, lambda who, at: who.rerun(at, reason="all again", from_seq=10))

    assert list(done.done) == [2, 3]
    assert [said.partition("Next: ")[0] for _, said in done.refused] == [
        "BatchControl 1 is cancelled: only what is failed was meant. ",
        "BatchControl 4 is complete: only what is failed was meant. ",
    ]
    assert failed.statuses() == ["cancelled", "ready", "ready", "complete"]


def test_more_than_a_chunk_are_dealt_with(failed: World, operator: Operator) -> None:
    for _ in range(CHUNK):
        failed.submit("C")
    failed.create()
    failed.process()

    done = many.act_on(operator, many.select(failed.transactions, Action.RERUN, FAILED), rerun)
    failed.runner.script = lambda rendered: OK
    failed.process()

    assert len(done.done) == CHUNK + 4
    assert set(failed.statuses()) == {"complete"}
