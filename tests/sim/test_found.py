"""What the simulation has found, each as small as it could be made."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.sim.hosts import Luck
from tests.sim.playing import play
from tests.sim.script import (
    AgentPlan,
    Backfill,
    BatchPlan,
    DependentPlan,
    Fault,
    Kill,
    KillSupervisor,
    Kind,
    Operate,
    Options,
    PoolPlan,
    Run,
    SchedulePlan,
    Script,
    SetClock,
    Stall,
    StepPlan,
    Submit,
    Terminate,
    Turn,
    Wait,
    Wake,
)

PATIENCE = 20.0
LONG = next(seed for seed in range(1, 1000) if Luck(seed, PATIENCE).of(1, 10, 1)[0] == 2.5 * PATIENCE)
"""Luck with which the first attempt of the first instance takes long."""


def script(*events: object, luck: int = LONG, places: tuple[int, ...] = (0, 1), **step: object) -> Script:
    batch = BatchPlan((StepPlan(**step),), retry_count=1, retry_wait=0)  # type: ignore[arg-type]
    options = Options(luck, (batch,), places, ahead=(0.0, 0.0), orphan_timeout=PATIENCE)
    return Script(options, (Submit("B0", "file"), *events))  # type: ignore[arg-type]


def test_whether_a_step_was_done_is_not_asked_while_it_goes_on_on_another_host() -> None:
    silent = script(Turn(1), Turn(0), Turn(0), Kill(0), Stall(0), Run(40.0), on_lost="verify")

    assert play(silent).message == ""


def test_an_adoption_whose_commit_nobody_saw_is_gone_on_with_although_the_first_owner_is_back() -> None:
    doubtful = script(
        Turn(1),
        Turn(0),
        Turn(0),
        Stall(0),
        Fault(1, "C12", Kind.UNKNOWN_MADE),
        Run(32.0),
        Wake(0),
        Run(3.0),
        places=(0, 0),
    )

    assert play(doubtful).message == ""


def test_a_check_that_was_never_begun_is_made_again() -> None:
    unasked = script(
        Turn(0),
        Turn(0),
        KillSupervisor(0),
        Fault(0, "start", Kind.CRASH_BEFORE),
        Run(2.0),
        places=(0,),
        on_lost="verify",
    )

    assert play(unasked).message == ""


@pytest.mark.parametrize("on_lost", ["hold", "rerun", "verify"])
@pytest.mark.parametrize("is_command", [True, False])
def test_what_was_frozen_before_a_start_does_not_start_once_others_have_taken_over(
    on_lost: str, *, is_command: bool
) -> None:
    meanwhile = (Run(60.0), Operate("rerun", 0), Run(5.0))
    late = script(
        Turn(1),
        Fault(0, "start", Kind.FREEZE_BEFORE, meanwhile),
        Turn(0),
        Turn(0),
        luck=0,
        on_lost=on_lost,
        is_command=is_command,
    )

    assert play(late).message == ""


def test_what_is_cancelled_before_it_is_begun_is_cancelled_also_when_that_is_seen_while_ends_are_recorded() -> None:
    batches = (
        BatchPlan((StepPlan("rerun"),), retry_wait=0, on_failure="continue"),
        BatchPlan((StepPlan(),), retry_count=2, retry_wait=0, on_failure="continue", max_concurrent=3),
    )
    seen_late = Script(
        Options(batches=batches, places=(1, 1), slots=3, ahead=(0.0, 0.0)),
        (
            Submit("B1", "file1"),
            Submit("B0", "file2"),
            Fault(None, "start", Kind.FREEZE_BEFORE, (Run(480.0),)),
            Run(1.0),
            Operate("cancel", 2),
        ),
    )

    assert play(seen_late).message == ""


def test_what_was_left_to_its_supervisor_is_not_begun_again_after_a_commit_in_doubt() -> None:
    ended = next(seed for seed in range(1, 10_000) if _lasts(seed, 1, 1.0) and _lasts(seed, 2, 5.0))
    batch = BatchPlan((StepPlan("rerun"),), on_failure="continue", max_concurrent=2)
    left = Script(
        Options(ended, (batch,), slots=2, orphan_timeout=PATIENCE),
        (
            Submit("B0", "first"),
            Submit("B0", "second"),
            Turn(0),
            Turn(0),
            Fault(0, "C8", Kind.UNKNOWN_NOT_MADE),
            Run(1.0),
            Terminate(0),
        ),
    )

    assert play(left).message == ""


def test_the_late_end_of_an_old_attempt_does_not_touch_the_new_one_that_was_adopted() -> None:
    batch = BatchPlan((StepPlan("rerun"),), retry_count=2, retry_wait=0, max_concurrent=2)
    late = Script(
        Options(292660, (batch,), places=(0, 0), slots=2, orphan_timeout=PATIENCE),
        (
            Submit("B0", "surprise3"),
            Submit("B0", "file4"),
            Submit("B0", "file5"),
            Run(1.0),
            Stall(1),
            Run(32.0),
            Wake(1),
            Fault(None, "C9", Kind.FREEZE_BEFORE, (Run(32.0),)),
            Run(5.0),
            Terminate(1),
        ),
    )

    assert play(late).message == ""


def _lasts(seed: int, instance: int, seconds: float) -> bool:
    lasts, outcome, _ = Luck(seed, PATIENCE).of(instance, 10, 1)
    return lasts == seconds and outcome.succeeded


def test_what_was_taken_over_from_its_beginner_and_back_again_is_watched_over() -> None:
    batch = BatchPlan((StepPlan(is_command=False), StepPlan()), on_failure="continue", max_concurrent=3)
    events = (Submit("B0", "file"), Run(1.0), Run(1.0), Stall(0), Run(32.0), Wake(0))
    unseen = (Fault(None, "C12", Kind.UNKNOWN_MADE), Run(1.0), Stall(1), Run(32.0))
    options = Options(879117, (batch,), (1, 1, 1), ahead=(0.0, 0.0), limit=2, orphan_timeout=PATIENCE)

    assert play(Script(options, (*events, *unseen))).message == ""


def test_what_ended_meanwhile_is_not_begun_again_after_a_commit_in_doubt() -> None:
    batch = BatchPlan((StepPlan("rerun"),), retry_count=1, retry_wait=0, max_concurrent=2)
    begun = (Submit("B0", "file1"), Submit("B0", "file4"), Turn(0), Turn(0), Turn(0))
    doubtful = (
        Fault(None, "C3", Kind.UNKNOWN_MADE),
        Operate("pause", 3),
        Stall(0),
        Run(180.0),
        Turn(0),
        KillSupervisor(0),
    )
    options = Options(340017, (batch,), (1,), slots=3, ahead=(0.0, 0.0))

    assert play(Script(options, (*begun, *doubtful))).message == ""


def test_who_freezes_while_it_adopts_does_no_harm_to_the_next_one() -> None:
    batch = BatchPlan((StepPlan(),), retry_count=2, retry_wait=0)
    luck = next(seed for seed in range(1, 1000) if Luck(seed, 300.0).of(1, 10, 1)[0] == 750.0)
    frozen = Fault(None, "adopt", Kind.FREEZE_BEFORE, (Run(480.0),))
    options = Options(luck, (batch,), (0, 0, 0))

    assert play(Script(options, (Submit("B0", "file"), Run(1.0), frozen, Kill(0), Turn(0)))).message == ""


TIMED_BATCH = BatchPlan((StepPlan("rerun"),), on_failure="continue", max_concurrent=3)
BY_THE_MINUTE = Options(batches=(TIMED_BATCH,), schedules=(SchedulePlan(),))
"""One node, and a schedule of every minute that makes up for nothing."""


@pytest.mark.parametrize("seconds", [1.0, 400.0])
def test_what_was_on_time_when_a_lock_began_fires_however_long_it_lasts(seconds: float) -> None:
    locked = Fault(None, "C10", Kind.LOCKED), Run(40.0), Wait(seconds), Run(20.0)
    played = play(Script(BY_THE_MINUTE, (Run(20.0), Run(20.0), *locked)))

    assert played.message == ""
    (first, *_) = played.world.rows("SELECT FireKey, Outcome FROM ScheduleFire ORDER BY ScheduleFire_id")
    assert first == ("2026-11-21T03:01", "fired")


def test_a_clock_that_was_set_back_comes_again_to_what_has_fired_and_it_is_not_decided_anew() -> None:
    ahead = Script(BY_THE_MINUTE, (Run(61.0), Run(70.0), Run(20.0), SetClock(-130.0)))

    assert play(ahead).message == ""


def test_a_backfill_that_waits_for_a_person_is_at_rest_and_goes_on_afterwards() -> None:
    fails = next(seed for seed in range(1, 10_000) if not Luck(seed, 300.0).of(1, 10, 1)[1].succeeded)
    asked = Backfill(0, -9, -3), Run(20.0), Run(20.0), Run(400.0)
    played = play(Script(replace(BY_THE_MINUTE, luck=fails), asked))

    assert played.message == ""
    assert played.world.rows("SELECT Status, Fired FROM ScheduleBackfill") == [("complete", 7)]


def test_what_agents_carry_is_not_begun_again_by_a_controller_that_does_not_serve_their_pool() -> None:
    options = Options(
        # Steps of agents take half as long again.
        luck=LONG,
        batches=(BatchPlan((StepPlan("rerun"),), pool="burst"),),
        places=(0, 0),
        ahead=(0.0, 0.0),
        orphan_timeout=PATIENCE,
        pools=(PoolPlan("default"), PoolPlan("burst", kind="dask")),
        serves=(("default", "burst"), ("default",)),
        agents=(AgentPlan(1, 2),),
    )
    dies = (Turn(0), Turn(1), Run(2.0), Submit("B0", "far"), Run(3.0), Run(3.0), Run(3.0), Kill(0), Stall(0))
    goes_on = (
        Wait(3.1),
        Turn(1),
        Turn(1),
        Wake(0),
        Turn(0),
        Wait(0.5),
        Turn(0),
        Wait(0.5),
        Turn(0),
        Wait(0.5),
        Turn(0),
        Run(1.0),
    )

    assert play(Script(options, (*dies, *goes_on))).message == ""


def with_agents(*batches: BatchPlan, **options: object) -> Options:
    """Return options with a pool of agents, which the first controller serves, and the second where that is said."""
    pools = (PoolPlan("default"), PoolPlan("burst", kind="dask"))
    known: dict[str, object] = {
        "pools": pools,
        "agent_lease": 5.0,
        "serves": (("default", "burst"), ("default", "burst")),
    }
    return Options(batches=batches, **{**known, **options})  # type: ignore[arg-type]


def test_a_controller_that_comes_back_begins_nothing_before_what_it_still_stops_and_others_retry() -> None:
    gpu = StepPlan("rerun", is_command=False, needs="GPU=1")
    options = with_agents(
        BatchPlan((StepPlan(),), retry_count=2, max_concurrent=3, pool="burst"),
        BatchPlan((StepPlan("verify", pool="default"), gpu), retry_count=2, pool="burst"),
        places=(2, 1),
        slots=3,
        ahead=(0.0, 0.0, 0.0, 0.0),
        orphan_timeout=20.0,
        dependents=(DependentPlan((0, 1)),),
        serves=(("default", "burst"), ("default",)),
        agents=(AgentPlan(3, 2, gpus=1), AgentPlan(3, 2)),
    )
    arrive = (Submit("B0", "poison1"), Submit("B0", "file2"), Submit("B1", "file3"), Submit("B1", "file4"))

    assert play(Script(options, (*arrive, Run(1.0), Run(32.0), Stall(0), Run(34.0)))).message == ""


def test_a_controller_that_comes_back_takes_over_at_an_agent_nothing_that_another_has_taken_over_meanwhile() -> None:
    options = with_agents(
        BatchPlan((StepPlan(needs="GPU=1"),), retry_count=2, on_failure="continue", max_concurrent=3, pool="burst"),
        BatchPlan((StepPlan(),), retry_wait=0, units=2, pool="burst"),
        places=(0, 0),
        ahead=(0.0, 0.0, 0.0),
        orphan_timeout=30.0,
        agents=(AgentPlan(2, 3, gpus=1),),
    )
    freezes = Fault(None, "C8", Kind.FREEZE_AFTER, (Run(48.0), Run(48.0)))
    events = (Submit("B1", "file2"), freezes, Run(12.5), Submit("B0", "far303771"), Run(2.0), Kill(0), Run(51.0))

    assert play(Script(options, events)).message == ""
