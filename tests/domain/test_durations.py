"""Lengths in classes: few, near to each other, and to be added up whichever way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.durations import Class, Sum, Took, classes, up_to
from batchctl.domain.rows import BatchId

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
LENGTHS = st.integers(0, 10**10)


def took(milliseconds: int, start: datetime = NOON) -> Took:
    return Took(BatchId(1), 10, start, start + timedelta(milliseconds=milliseconds))


@pytest.mark.parametrize(
    ("length", "end"),
    [(0, 10), (10, 10), (11, 12), (82, 82), (83, 100), (100, 100), (101, 120), (999, 1000), (1001, 1200), (3_600_000, 3_900_000)],
)  # fmt: skip
def test_each_length_has_its_class(length: int, end: int) -> None:
    assert up_to(length) == end


@given(LENGTHS, LENGTHS)
def test_the_end_of_a_class_is_near_and_longer_ones_are_in_no_earlier_class(one: int, other: int) -> None:
    assert one <= up_to(one) <= max(10, one * 1.25)
    assert up_to(up_to(one)) == up_to(one)
    assert (up_to(one) <= up_to(other)) or one > other


@given(st.lists(LENGTHS, min_size=1), st.integers(0, 100))
def test_it_does_not_matter_in_how_many_parts_they_are_added_up(lengths: list[int], at: int) -> None:
    whole = classes(map(took, lengths))
    first, second = classes(map(took, lengths[:at])), classes(map(took, lengths[at:]))
    for key, one in second.items():
        first[key] = first[key] + one if key in first else one

    assert first == whole
    assert sum(one.runs for one in whole.values()) == len(lengths)
    assert sum(one.total for one in whole.values()) == sum(lengths)
    assert all(one.shortest <= one.mean / timedelta(milliseconds=1) + 1e-3 for one in whole.values())


def test_days_are_those_of_the_start_and_a_clock_that_was_set_back_makes_nothing_shorter_than_nothing() -> None:
    late = datetime(2026, 11, 22, 23, 59, 59, tzinfo=UTC)

    assert classes([took(5000, late), took(-5000)]) == {
        Class(BatchId(1), 10, "2026-11-22", 5600): Sum(1, 5000, 5000, 5000),
        Class(BatchId(1), 10, "2026-11-22", 10): Sum(1, 0, 0, 0),
    }
