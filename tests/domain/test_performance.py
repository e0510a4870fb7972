"""How long something takes is told by the middle and the slow ones; a drift is told by the last runs against those before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.alerting.performance import Drift, LikeRuns, performance, quantile, spark

START = datetime(2026, 11, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def runs(*seconds: float) -> list[LikeRuns]:
    """Return one run a day."""
    return [LikeRuns(START + at * DAY, timedelta(seconds=each)) for at, each in enumerate(seconds)]


def seconds_of(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()


def test_what_took_long_once_does_not_change_the_middle() -> None:
    found = performance(runs(*[10] * 19, 900))

    assert found is not None
    assert (found.many, seconds_of(found.median), seconds_of(found.p95)) == (20, 10, 10)
    assert (seconds_of(found.longest), seconds_of(found.last)) == (900, 900)
    assert performance([]) is None


@pytest.mark.parametrize(
    ("before", "after", "drift"),
    [
        ([10] * 10, [15] * 20, Drift.SLOWER),
        ([10] * 10, [14] * 20, None),
        ([15] * 10, [10] * 20, Drift.FASTER),
        ([0.1] * 10, [0.9] * 20, None),
        ([10] * 9, [100] * 20, None),
        ([10] * 10, [100] * 4, None),
    ],
)
def test_a_drift_is_half_as_long_again_for_enough_runs(
    before: list[float], after: list[float], drift: Drift | None
) -> None:
    found = performance(runs(*before, *after))

    assert found is not None
    assert found.drift is drift


@given(st.lists(st.tuples(st.integers(0, 9999), st.integers(1, 5)), min_size=1), st.sampled_from([0.5, 0.95]))
def test_runs_that_were_added_up_count_as_often_as_they_were(found: list[tuple[int, int]], share: float) -> None:
    together = [LikeRuns(START, timedelta(milliseconds=took), many) for took, many in found]
    singly = sorted(took for took, many in found for _ in range(many))

    length = quantile(together, share)

    at_most = sum(timedelta(milliseconds=took) <= length for took in singly)
    below = sum(timedelta(milliseconds=took) < length for took in singly)
    assert below < share * len(singly) <= at_most


def test_each_day_is_a_point_of_the_line() -> None:
    twice = [*runs(1, 1, 4, 8), LikeRuns(START + 3 * DAY + DAY / 2, timedelta(seconds=8))]
    found = performance(twice)

    assert found is not None
    assert [seconds_of(day) for day in found.days] == [1, 1, 4, 8]
    assert spark(found.days, ascii_only=False) == "▂▂▅█"
    assert spark(found.days, ascii_only=True) == "..=#"
    assert spark([timedelta(0)] * 2, ascii_only=True) == "__"
    assert spark([], ascii_only=True) == ""
