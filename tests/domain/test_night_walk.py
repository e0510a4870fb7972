"""A replay begins with what is so now: a retry that waits stops what a failure stops."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import timedelta
from types import FrameType
from typing import Any

import pytest

from batchctl.domain.dependencies.night_walk import replay
from batchctl.domain.dependencies.virtual_night import UNKNOWN, Reason, StartCause, Tries, VirtualInstance, VirtualNight
from batchctl.domain.operators.pools import Pool, PoolId, Pools
from batchctl.domain.rows import BatchDefinition, BatchId, Dependency, Need, ResourceId, Step
from batchctl.domain.status import OnFailure

A, B, C, D = map(BatchId, (1, 2, 3, 4))
TEN = 10_000


def batch(batch_id: BatchId, on_failure: OnFailure, pool: str | None = None, most: int = 1) -> BatchDefinition:
    """Return a batch of one step."""
    step = Step(batch_id=batch_id, seq=10, name="s", process_type="sql", pool=pool)
    name = f"B{batch_id}"
    return BatchDefinition(
        batch_id=batch_id,
        name=name,
        entity=name,
        steps=(step,),
        on_failure=on_failure,
        retry_count=1,
        max_concurrent=most,
    )


def ten_seconds(batch_id: BatchId, seq: int, elapsed: int, tried: int) -> Tries:
    """Say that every step takes ten seconds."""
    del batch_id, seq, elapsed, tried
    return Tries((TEN,))


def starts(night: VirtualNight) -> list[int | None]:
    """Return when each instance starts; every step takes ten seconds."""
    return [*replay(night, lambda batch_id, seq, elapsed, tried: Tries((TEN,))).starts]


@pytest.mark.parametrize(("policy", "other"), [(OnFailure.STOP_ALL, 6 * TEN), (OnFailure.HOLD_BATCH, 0)])
def test_a_retry_that_waits_stops_everything_where_a_failure_does(policy: OnFailure, other: int) -> None:
    failed = VirtualInstance(batch_id=A, failures=1, is_retry=True, not_before=6 * TEN)
    night = VirtualNight(
        batches={A: batch(A, policy), B: batch(B, OnFailure.HOLD_BATCH)},
        instances=[failed, VirtualInstance(batch_id=B)],
    )
    assert starts(night) == [6 * TEN, other]


@pytest.mark.parametrize(("policy", "third"), [(OnFailure.CONTINUE, 0), (OnFailure.HOLD_BATCH, TEN)])
def test_behind_a_retry_whose_pool_is_full_all_wait_unless_a_failure_holds_nothing_back(
    policy: OnFailure, third: int
) -> None:
    waits = batch(A, policy, pool="ftp", most=3)
    other = Step(batch_id=A, seq=20, name="t", process_type="sql")
    waits = replace(waits, steps=(*waits.steps, other))
    night = VirtualNight(
        batches={A: waits, B: batch(B, OnFailure.CONTINUE, pool="ftp")},
        instances=[
            VirtualInstance(batch_id=B, under_way=10),
            VirtualInstance(batch_id=A, failures=1, is_retry=True),
            VirtualInstance(batch_id=A, last_seq=10),
        ],
        pools=Pools({"ftp": Pool(pool_id=PoolId(1), name="ftp", max_concurrent=1)}),
    )
    assert starts(night) == [0, TEN, third]


@pytest.mark.parametrize("policy", OnFailure)
@pytest.mark.parametrize("under_way", [None, 10])
def test_what_is_paused_is_passed_over_whatever_failures_do(policy: OnFailure, under_way: int | None) -> None:
    steps = (*batch(A, policy).steps, Step(batch_id=A, seq=20, name="t", process_type="sql"))
    paused = VirtualInstance(batch_id=A, stands=True, is_passed_over=True, under_way=under_way)
    night = VirtualNight(
        batches={A: replace(batch(A, policy), steps=steps), B: batch(B, OnFailure.HOLD_BATCH)},
        instances=[paused, VirtualInstance(batch_id=A), VirtualInstance(batch_id=B)],
    )
    behind = 0 if under_way is None else TEN
    found = replay(night, lambda batch_id, seq, elapsed, tried: Tries((TEN,)))
    assert ([*found.starts[1:]], found.ends[0]) == ([behind, 0], None)


def test_a_pause_that_is_asked_for_does_not_hide_the_failure_of_what_is_under_way() -> None:
    paused = VirtualInstance(batch_id=A, stands=True, is_passed_over=True, under_way=10, failures=1)
    night = VirtualNight(batches={A: batch(A, OnFailure.HOLD_BATCH)}, instances=[paused, VirtualInstance(batch_id=A)])
    found = replay(night, lambda batch_id, seq, elapsed, tried: Tries((TEN,), succeeds=False))
    assert [*found.starts] == [0, None]


def test_where_one_slot_keeps_many_waiting_none_is_looked_at_again_and_again() -> None:
    batches = {BatchId(at): batch(BatchId(at), OnFailure.HOLD_BATCH) for at in range(1, 301)}
    night = VirtualNight(batches=batches, instances=[VirtualInstance(batch_id=each) for each in batches])
    free, narrow = calls(night), calls(replace(night, slots=1))

    assert narrow < 2 * free


def test_what_waits_in_a_line_that_goes_on_is_looked_at_when_its_time_comes() -> None:
    late = [VirtualInstance(batch_id=A, not_before=90 * TEN, stands=at % 2 == 0) for at in range(300)]
    due = [VirtualInstance(batch_id=A) for _ in range(10)]
    night = VirtualNight(batches={A: batch(A, OnFailure.CONTINUE)}, instances=[*late, *due], slots=1)

    found = starts(night)
    assert found[-10:] == [at * TEN for at in range(10)]
    assert [at for at in found[:300] if at is not None] == [(90 + at) * TEN for at in range(150)]


def test_what_kept_it_from_starting_is_the_slots_unless_its_batch_was_full_too() -> None:
    night = VirtualNight(
        batches={A: batch(A, OnFailure.CONTINUE), B: batch(B, OnFailure.CONTINUE)},
        instances=[VirtualInstance(batch_id=each) for each in (A, A, B)],
        slots=1,
    )
    found = replay(night, lambda batch_id, seq, elapsed, tried: Tries((TEN,)))

    assert found.starts == [0, 2 * TEN, TEN]
    assert [one.cause for one in found.reasons] == [StartCause.COMES, StartCause.SLOTS, StartCause.SLOTS]
    one_after_the_other = replay(replace(night, instances=night.instances[:2]), lambda *_: Tries((TEN,)))
    assert one_after_the_other.reasons[1] == Reason(StartCause.CONCURRENT, "B1", 0)


def test_what_is_kept_of_a_replay_says_the_same_of_what_is_kept() -> None:
    after = Dependency(row_id=0, depends_on=A, deadline=timedelta(hours=1))
    report = replace(batch(B, OnFailure.CONTINUE), dependencies=(after,))
    first = replace(batch(A, OnFailure.CONTINUE), dependents=(B,))
    late = [VirtualInstance(batch_id=A, cycle_key=f"K{at}", not_before=TEN * at) for at in range(9, 3, -1)]
    whole = replay(VirtualNight(batches={A: first, B: report}, instances=late), lambda *_: Tries((TEN,)))
    number = next(at for at, one in enumerate(whole.instances) if one.batch_id == B and one.cycle_key == "K5")
    some = whole.only([number])

    (kept,) = some.of_batch[B]
    assert len(some.instances) < len(whole.instances)
    assert some.ends[kept] == whole.ends[number] == 7 * TEN
    way = [(whole.instances[at].batch_id, whole.instances[at].cycle_key) for at in whole.way_to(number)]
    assert way == [(some.instances[at].batch_id, some.instances[at].cycle_key) for at in some.way_to(kept)]
    assert some.instances[some.first_of(kept)].cycle_key == "K5"


def calls(night: VirtualNight) -> int:
    """Return how many functions a replay calls."""
    many = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal many
        many += event == "call"

    sys.setprofile(count)
    try:
        starts(night)
    finally:
        sys.setprofile(None)
    return many


def test_what_waits_for_what_has_run_longer_than_ever_is_ready_at_no_known_time_and_no_person_is_needed() -> None:
    first = replace(batch(A, OnFailure.HOLD_BATCH), dependents=(B,))
    waits = replace(
        batch(B, OnFailure.HOLD_BATCH), dependencies=(Dependency(row_id=1, depends_on=A, deadline=timedelta(hours=1)),)
    )
    night = VirtualNight(
        batches={A: first, B: waits},
        instances=[VirtualInstance(batch_id=A, under_way=10, elapsed=TEN), VirtualInstance(batch_id=A)],
    )
    lengths = {A: Tries((UNKNOWN,)), B: Tries((TEN,), succeeds=False)}
    found = replay(night, lambda batch_id, seq, elapsed, tried: lengths[batch_id])
    assert ([*found.starts], [*found.ends]) == ([0, None, None, None], [None] * 4)
    assert found.unknown == {0, 1}, "what fails then needs a person"


SERVER = Need(resource_id=ResourceId(1), name="server", capacity=1, units=1, exclusive=False)
FTP = Pools({"ftp": Pool(pool_id=PoolId(1), name="ftp", max_concurrent=1)})


@pytest.mark.parametrize("bystander_first", [True, False])
@pytest.mark.parametrize(
    ("holds", "limit", "reason"),
    [
        ({"needs": (SERVER,)}, {}, Reason(StartCause.RESOURCE, "server", 0)),
        ({"pool": "ftp"}, {"pools": FTP}, Reason(StartCause.POOL, "ftp", 0)),
    ],
)
def test_what_decides_is_who_held_what_was_lacking_and_no_bystander(
    holds: dict[str, Any], limit: dict[str, Any], reason: Reason, bystander_first: bool
) -> None:
    plain = {each: batch(each, OnFailure.HOLD_BATCH) for each in (A, B, C)}
    night = VirtualNight(
        batches={
            A: replace(plain[A], **holds),
            B: replace(plain[B], seq=1 if bystander_first else 900),
            C: replace(plain[C], **holds),
        },
        instances=[VirtualInstance(batch_id=A), VirtualInstance(batch_id=B), VirtualInstance(batch_id=C)],
        **limit,
    )
    found = replay(night, ten_seconds)
    assert ([*found.starts], found.reasons[2]) == ([0, 0, TEN], reason)


def test_behind_one_of_its_batch_that_one_decides_and_no_bystander() -> None:
    night = VirtualNight(
        batches={each: batch(each, OnFailure.CONTINUE) for each in (A, B)},
        instances=[VirtualInstance(batch_id=A), VirtualInstance(batch_id=B), VirtualInstance(batch_id=A)],
    )
    assert replay(night, ten_seconds).reasons[2] == Reason(StartCause.CONCURRENT, "B1", 0)


def test_what_a_time_decides_nothing_else_does() -> None:
    minute, paced = 6 * TEN, replace(batch(A, OnFailure.HOLD_BATCH, most=5), max_per_minute=1)
    long = VirtualInstance(batch_id=B, under_way=10)
    waits = VirtualInstance(batch_id=C, is_retry=True, failures=1, not_before=minute)
    night = VirtualNight(
        batches={
            A: paced,
            B: batch(B, OnFailure.HOLD_BATCH),
            C: batch(C, OnFailure.HOLD_BATCH, most=2),
            D: replace(paced, batch_id=D),
        },
        instances=[
            *(long, VirtualInstance(batch_id=A), VirtualInstance(batch_id=A)),
            *(waits, VirtualInstance(batch_id=C), VirtualInstance(batch_id=D)),
        ],
        opens={D: minute},
    )
    found = replay(night, lambda batch_id, seq, elapsed, tried: Tries((minute if batch_id == B else TEN,)))
    assert [*found.starts] == [0, 0, minute, minute, minute, minute]
    assert found.ends[0] == minute, "it ends when the others begin"
    assert [*found.reasons[2:]] == [
        Reason(StartCause.PACE, "B1"),
        Reason(StartCause.RETRY),
        Reason(StartCause.LINE, None, 3),
        Reason(StartCause.OPENS),
    ]
