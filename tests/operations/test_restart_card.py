"""The card of a rerun: what it rests on, what it passes over, and what blocks it all the same."""

from __future__ import annotations

import pytest

from batchctl.domain.errors import Refused
from batchctl.domain.operators.freezes import Scope
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import InstanceId
from batchctl.operations.intervene import AsShown, Operator
from batchctl.operations.operators.freezing import Freezer
from batchctl.operations.restart_card import Card
from batchctl.ports import Finished
from tests.control.world import BAD, NO_WAIT, OK, World

FIRST = InstanceId(1)
EVERYTHING = Scope()


@pytest.fixture
def stuck(world: World) -> World:
    """Instance 1 of three steps has failed at the second and waits for its retry; another waits behind it."""
    world.runner.script = lambda rendered: OK if (rendered.spec or {})["seq"] == 10 else BAD
    world.batch(steps=3, RetryCount=2)
    for _ in range(2):
        world.submit()
    world.create()
    world.process()
    return world


def card_of(operator: Operator, **given: object) -> Card:
    card = operator.rerun(FIRST, reason="x", **given).card  # type: ignore[arg-type] # as the test says
    assert card is not None
    return card


def test_it_says_which_steps_count_as_done_and_what_is_passed_over(stuck: World, dry_operator: Operator) -> None:
    card = card_of(dry_operator)

    ((seq, status),) = [(one.seq, one.status) for one in card.assumed]
    assert (seq, status) == (10, "success")
    assert card.assumed[0].wording.startswith(f"succeeded at {stuck.clock.now():%Y-%m-%d}")
    waits, retries = card.bypassed
    assert waits.startswith("it does not wait until ")
    assert retries == "RetryCount is set from 1 to 2"
    assert card.blocking == ()


def test_from_an_earlier_step_what_is_done_is_run_again_and_from_a_later_one_it_is_not_known(
    stuck: World, dry_operator: Operator
) -> None:
    earlier, later = card_of(dry_operator, from_seq=10), card_of(dry_operator, from_seq=30)

    assert earlier.assumed == ()
    assert "steps are run again that are done: 10 'step 10'" in earlier.bypassed
    assert [one.wording.partition(" at ")[0] for one in later.assumed] == ["succeeded", "nothing says that it was done"]


def test_it_says_what_blocks_all_the_same(stuck: World, operator: Operator, dry_operator: Operator) -> None:
    Freezer(operator).freeze(EVERYTHING, reason="disks")
    operator.set_enabled("B", enabled=False, reason="maintenance")

    card = card_of(dry_operator)

    assert [gate.name for gate in card.blocking] == ["enabled", "freeze"]
    assert [one["Gate"] for one in card.columns()["Blocking"]] == ["enabled", "freeze"]  # type: ignore[union-attr, index, call-overload] # JSON


def test_its_own_failure_is_not_in_its_way(stuck: World, dry_operator: Operator) -> None:
    stuck.sql("UPDATE ProcessBatch SET OnFailure = 'stop_all'")
    stuck.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = 1")

    assert card_of(dry_operator).blocking == ()


def test_the_corrected_values_are_in_the_commands_and_in_the_difference(stuck: World, dry_operator: Operator) -> None:
    done = dry_operator.rerun(FIRST, reason="x", corrections={"Data1": "other"})

    assert [one.text for one in done.commands] == ["step 20 of 1 with other", "step 30 of 1 with other"]
    shown = done.columns()
    assert (shown["Before"]["Data1"], shown["After"]["Data1"]) == ("f", "other")  # type: ignore[index, call-overload] # JSON
    assert stuck.one("SELECT Data1 FROM BatchControl WHERE BatchControl_id = 1") == "f"


def test_what_has_changed_since_it_was_shown_is_not_run_again(
    stuck: World, operator: Operator, dry_operator: Operator
) -> None:
    seen = dry_operator.rerun(FIRST, reason="x").before
    stuck.sql("UPDATE BatchControl SET Data3 = 'new' WHERE BatchControl_id = 1")

    with pytest.raises(Refused, match="has changed since it was shown"):
        operator.rerun(FIRST, reason="x", seen=AsShown(mark=seen.mark))

    assert stuck.statuses()[0] == "retry"


AT_WORK = "an attempt was lost: look whether anything of it is at work still"


def test_what_was_given_up_and_cancelled_is_said_to_be_at_work_perhaps(
    world: World, operator: Operator, dry_operator: Operator
) -> None:
    controller = world.running()
    (key,) = world.runner.started
    deaf = StepOutcome(succeeded=False, lost=True, message="deaf")
    world.runner.reports.append(Finished(key, deaf, None, may_go_on=True))
    controller.turn(NO_WAIT)
    controller.turn(NO_WAIT)
    assert world.statuses() == ["held"]
    held = dry_operator.rerun(FIRST, reason="x")
    operator.cancel(FIRST, reason="x")
    cancelled = dry_operator.rerun(FIRST, reason="x")

    assert held.card is not None
    assert held.card.bypassed[0].startswith("it is held: it is not known how its last attempt ended")
    assert cancelled.card is not None
    where = f"{AT_WORK} (on host1)"
    assert where in cancelled.card.bypassed
    assert where in held.card.bypassed
    assert held.at_work_still == where
    assert operator.rerun(FIRST, reason="x").at_work_still == where


def test_of_what_was_put_back_before_it_ran_nothing_is_at_work(stuck: World, dry_operator: Operator) -> None:
    stuck.sql("UPDATE BatchProcessHistory SET Status = 'lost', Spawned = NULL WHERE ProcessControlSeq = 20")

    done = dry_operator.rerun(FIRST, reason="x")

    assert done.at_work_still is None
    assert AT_WORK not in " ".join(card_of(dry_operator).bypassed)
