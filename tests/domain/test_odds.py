"""What many nights say together: ranks, chances, and how forecasts are scored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.dependencies.odds import MEDIAN, NEARLY, at_rank, pinball, score, share_by

ENDS = st.lists(st.none() | st.integers(0, 10**6), min_size=1, max_size=60)


def test_the_rank_leaves_room_for_the_night_to_come() -> None:
    assert at_rank([*range(1, 20)], MEDIAN) == 10
    assert at_rank([*range(1, 20)], NEARLY) == 18
    assert at_rank([*range(1, 9)], NEARLY) is None
    assert at_rank([7, None, 3], MEDIAN) == 7
    assert at_rank([7, None, None], MEDIAN) is None
    assert at_rank([], MEDIAN) is None


def test_nights_that_need_a_person_are_never_in_time() -> None:
    assert share_by([10, 20, None, 40], 20) == 0.5
    assert share_by([], 20) is None


@given(ENDS, st.integers(0, 59), st.integers(0, 10**6), st.sampled_from([MEDIAN, NEARLY]))
def test_a_night_that_takes_longer_makes_no_level_earlier(
    ends: list[int | None], at: int, more: int, level: float
) -> None:
    longer = [*ends]
    end = longer[at % len(longer)]
    longer[at % len(longer)] = None if end is None else end + more
    before, after = at_rank(ends, level), at_rank(longer, level)
    assert after is None or (before is not None and before <= after)


def test_what_came_is_scored_by_what_was_said() -> None:
    assert pinball(0.9, 100, 110) == pytest.approx(9)
    assert pinball(0.9, 100, 90) == pytest.approx(1)
    found = score(0.9, [(100, 110), (100, 90)])
    assert found is not None
    assert (found.many, found.covered, found.coverage) == (2, 1, 0.5)
    assert found.loss == pytest.approx(5)
    assert score(0.9, []) is None
