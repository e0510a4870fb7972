"""What past nights say: runs as they came to by themselves, drawn by night where there is one, and longer than what runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.dependencies.night_walk import replay
from batchctl.domain.dependencies.odds import NEARLY, at_rank
from batchctl.domain.dependencies.past_nights import PastAttempt, PastNights, past_nights
from batchctl.domain.dependencies.virtual_night import UNKNOWN, Tries, VirtualInstance, VirtualNight
from batchctl.domain.rows import BatchDefinition, BatchId, Dependency, InstanceId, Step
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.domain.status import Cause, HistoryStatus

A, B, C = BatchId(1), BatchId(2), BatchId(3)
SATURDAY = 5
FIRST = datetime(2026, 11, 1, 2, tzinfo=UTC)
CLOCK = clock_of("Europe/Amsterdam")
OK, BAD = HistoryStatus.SUCCESS, HistoryStatus.FAILED


def attempt(
    instance: int, seconds: float, status: HistoryStatus = OK, batch: BatchId = A, cause: Cause = Cause.AUTO
) -> PastAttempt:
    """Return an attempt at step 10 of an instance; each came a day after the one before."""
    came = FIRST + timedelta(days=instance)
    return PastAttempt(
        batch_id=batch,
        instance_id=InstanceId(10 * instance + batch),
        cycle_key=f"{came:%Y-%m-%d}",
        came=came,
        seq=10,
        cause=cause,
        status=status,
        started_at=came,
        ended_at=came + timedelta(seconds=seconds),
    )


def known(attempts: Sequence[PastAttempt], *batches: BatchDefinition) -> PastNights:
    came: dict[BatchId, dict[str, datetime]] = {}
    for one in attempts:
        came.setdefault(one.batch_id, {})[one.cycle_key or ""] = one.came
    return past_nights(attempts, batches, came)


def test_a_run_is_what_it_came_to_before_a_person_acted() -> None:
    found = known(
        [
            attempt(1, 5, BAD),
            attempt(1, 6, cause=Cause.RETRY),
            attempt(2, 7, BAD),
            attempt(2, 8, cause=Cause.MANUAL),
            attempt(3, 9, HistoryStatus.CANCELLED),
        ]
    )
    assert found.runs[A, 10].tries == [Tries((5000, 6000)), Tries((7000,), succeeds=False)]


def test_a_replay_is_one_night_for_all_that_stand_in_it() -> None:
    found = known([*(attempt(at, at) for at in range(1, 9)), *(attempt(at, 100 + at, batch=B) for at in range(1, 9))])
    for number in range(20):
        take = found.lengths(number)
        (mine,), (other,) = take(A, 10, 0, 0).lengths, take(B, 10, 0, 0).lengths
        assert other - mine == 100_000


def test_several_instances_of_a_night_are_drawn_in_their_order() -> None:
    each = [
        replace(attempt(night, seconds), instance_id=InstanceId(10 * night + at))
        for night in range(1, 9)
        for at, seconds in enumerate((night, 20, 60))
    ]
    found = known(each)
    for number in range(16):
        take = found.lengths(number)
        ((first,), *others) = (take(A, 10, 0, 0).lengths for _ in range(4))
        assert first <= 8000
        assert others == [(20_000,), (60_000,), (first,)], "and then the same ones again"
    take = found.lengths(0)
    # What has run for half a minute already is the longest one, and those behind it are not.
    assert [take(A, 10, elapsed, 0).lengths for elapsed in (30_000, 0, 0)] == [(60_000,), (8000,), (20_000,)]


def test_a_night_is_a_key_of_many_batches_whatever_keys_one_batch_has() -> None:
    of_both = [*(attempt(at, at) for at in range(1, 9)), *(attempt(at, 9, batch=B) for at in range(1, 9))]
    keys = [of_both[at].cycle_key for at in range(7, -1, -1)]
    files = [replace(attempt(100 + at, 1, batch=C), cycle_key=f"file-{at}") for at in range(60)]
    assert [*known(of_both).nights] == keys
    assert [*known([*of_both, *files]).nights] == keys
    assert len(known(files).nights) == 60
    # What failed at its first batch is a night as the others are.
    assert [*known([*of_both[:-2], *files]).nights] == keys
    # Of more keys than are replayed those stay in which most stand, and of these the newest.
    shared = [
        replace(each, instance_id=InstanceId(10_000 + 10 * at + each.batch_id), cycle_key=f"shared-{at}")
        for at in range(60)
        for each in (attempt(1, 1), attempt(1, 1, batch=B))
    ]
    third = [replace(one, batch_id=C) for one in of_both[:8]]
    assert [*known([*of_both, *third, *shared]).nights] == [*(f"shared-{at}" for at in range(59, 7, -1)), *keys]


def test_what_runs_already_takes_longer_than_it_has() -> None:
    found = known([attempt(at, at) for at in range(1, 9)])
    assert {found.lengths(number)(A, 10, 6500, 0).lengths for number in range(30)} == {(7000,), (8000,)}
    assert [found.outrun((A, 10), elapsed, 0) for elapsed in (0, 7999, 8000, 60_000)] == [None, None, 8000, 8000]
    assert found.lengths(0)(A, 10, 60_000, 0).lengths == (UNKNOWN,), "it has run longer than ever before"


def test_of_what_failed_tonight_only_the_attempts_to_come_are_drawn() -> None:
    twice = [one for at in range(1, 4) for one in (attempt(at, 5, BAD), attempt(at, at, cause=Cause.RETRY))]
    found = known([*twice, *(attempt(at, 100 + at) for at in range(4, 9))])
    takes = [found.lengths(number) for number in range(30)]
    assert {take(A, 10, 0, 1).lengths for take in takes} == {(5000, 1000), (5000, 2000), (5000, 3000)}
    assert {take(A, 10, 2500, 1).lengths for take in takes} == {(5000, 3000)}
    # Two have failed as never before: the last attempts say how long the next takes.
    assert {take(A, 10, 104_500, 2).lengths for take in takes} == {(105_000,), (106_000,), (107_000,), (108_000,)}
    assert {len(take(A, 10, 0, 2).lengths) for take in takes} == {1, 2}


def test_a_step_that_never_ran_takes_what_is_expected() -> None:
    step = Step(batch_id=B, seq=10, name="s", process_type="sql", expected_duration=timedelta(seconds=60))
    found = known([], BatchDefinition(batch_id=B, name="B", entity="B", steps=(step,)))
    assert found.lengths(0)(B, 10, 0, 0).lengths == (60_000,)
    assert found.lengths(0)(A, 10, 0, 0).lengths == found.lengths(0)(A, 10, 5, 0).lengths == (0,)
    assert found.lengths(0)(B, 10, 60_000, 0).lengths == (UNKNOWN,)
    assert (found.outrun((B, 10), 60_000, 0), found.outrun((A, 10), 5, 0)) == (60_000, None)


def test_work_comes_when_it_came_before_and_tomorrow_where_it_is_here() -> None:
    found = known([attempt(at, 1) for at in range(1, 9)])
    before = datetime(2026, 11, 12, 1, tzinfo=UTC)
    two = datetime(2026, 11, 12, 2, tzinfo=UTC)
    assert expected(found, before) == (two, "2026-11-12")
    # It came every day at two, and has not come yet: it is expected at any moment.
    late = datetime(2026, 11, 12, 4, tzinfo=UTC)
    assert expected(found, late) == (late, "2026-11-12")
    here = datetime(2026, 11, 9, 4, tzinfo=UTC)
    assert expected(found, here) == (datetime(2026, 11, 10, 2, tzinfo=UTC), "2026-11-10")
    assert found.arrival(0, B, CLOCK, here) is None


def test_what_is_late_since_yesterday_is_expected_at_any_moment_for_its_own_day() -> None:
    found = known([attempt(at, 1) for at in range(1, 9)])
    last = datetime(2026, 11, 9, 2, tzinfo=UTC)
    late = last + timedelta(days=1, hours=23)
    assert expected(found, late) == (late, "2026-11-10")
    # For more than a day it is not late but left out.
    later = last + timedelta(days=2, hours=1)
    assert expected(found, later) == (later, "2026-11-11")


def test_once_weekdays_are_known_nothing_is_expected_on_others() -> None:
    friday = datetime(2026, 11, 27, 2, tzinfo=UTC)
    days = (friday - timedelta(days=ago) for ago in range(25))
    found = past_nights([attempt(1, 1)], [], {A: {f"{day:%Y-%m-%d}": day for day in days if day.weekday() < SATURDAY}})
    assert found.arrival(0, A, CLOCK, friday + timedelta(hours=5)) is None
    sunday = friday + timedelta(days=2, hours=5)
    assert expected(found, sunday) == (friday + timedelta(days=3), "2026-11-30")


def test_what_comes_around_midnight_is_of_one_day() -> None:
    nights = [FIRST.replace(hour=23, minute=0) + timedelta(days=at, minutes=(at * 37) % 60 - 10) for at in range(12)]
    keys = [f"{(at + timedelta(hours=3)):%Y-%m-%d}" for at in nights]
    found = past_nights([attempt(1, 1)], [], {A: dict(zip(keys, nights, strict=True))})
    now = nights[-1] + timedelta(minutes=1)
    assert {CLOCK.day_of(one) - one.date() for one in nights} == {timedelta(0), timedelta(days=1)}
    comes = [found.arrival(number, A, CLOCK, now) for number in range(30)]
    assert all(one is not None and one.at - nights[-1] > timedelta(hours=23) for one in comes)
    assert expected(found, now)[1] == f"{(nights[-1] + timedelta(days=1, hours=3)):%Y-%m-%d}"
    assert expected(found, now + timedelta(hours=20))[1] == expected(found, now)[1]


def expected(found: PastNights, now: datetime) -> tuple[datetime, str | None]:
    """Return when the next instance comes, and for which CycleKey."""
    arrival, arrivals = found.arrival(0, A, CLOCK, now), found.arrivals(A, CLOCK)
    assert arrival is not None
    assert arrivals is not None
    return arrival.at, arrivals.key_of(arrival.day)


@given(st.lists(st.integers(1, 1000), min_size=20, max_size=30), st.integers(0, 29), st.integers(0, 1000))
def test_without_limits_a_longer_run_makes_no_night_shorter(lengths: list[int], at: int, more: int) -> None:
    longer = [*lengths]
    longer[at % len(longer)] += more
    assert _nearly(lengths) <= _nearly(longer)


def _nearly(lengths: Sequence[int]) -> int:
    """Return p90 of two batches, one of which waits for the other, of which only the first varies."""
    steps = {each: (Step(batch_id=each, seq=10, name="s", process_type="sql"),) for each in (A, B)}
    waits = (Dependency(row_id=1, depends_on=A, deadline=timedelta(hours=1)),)
    batches = {
        A: BatchDefinition(batch_id=A, name="A", entity="A", steps=steps[A], dependents=(B,)),
        B: BatchDefinition(batch_id=B, name="B", entity="B", steps=steps[B], dependencies=waits),
    }
    past = known(
        [
            *(attempt(at, seconds) for at, seconds in enumerate(lengths)),
            *(attempt(at, 10, batch=B) for at in range(len(lengths))),
        ]
    )
    night = VirtualNight(batches=batches, instances=[VirtualInstance(batch_id=A, cycle_key="tonight")])
    found = at_rank([replay(night, past.lengths(number)).ends[1] for number in range(60)], NEARLY)
    assert found is not None
    return found
