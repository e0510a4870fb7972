"""Where bars stand on a line of time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from batchctl.web.strips import LEAST, ChartSpan, columns_of

START = datetime(2026, 11, 28, 20, 30, tzinfo=UTC)
SPAN = ChartSpan(START, START + timedelta(hours=10))


def test_a_bar_stands_where_its_time_is_and_is_cut_at_the_ends() -> None:
    (inside,) = SPAN.bar(START + timedelta(hours=1), START + timedelta(hours=3), "success", "x")
    (early,) = SPAN.bar(START - timedelta(hours=5), START + timedelta(hours=1), "success", "x")
    (late,) = SPAN.bar(START + timedelta(hours=9), START + timedelta(hours=30), "success", "x")

    assert [(bar.x, bar.width) for bar in (inside, early, late)] == [(10, 20), (0, 10), (90, 10)]
    assert not [*SPAN.bar(START - timedelta(hours=2), START - timedelta(hours=1), "success", "x")]
    assert not [*SPAN.mark(START - timedelta(hours=2), "due", "x")]


def test_what_takes_no_time_is_seen_all_the_same() -> None:
    (bar,) = SPAN.bar(SPAN.end - timedelta(seconds=1), SPAN.end - timedelta(seconds=1), "failed", "x")
    (mark,) = SPAN.mark(SPAN.end, "now", "")

    assert (bar.width, mark.width) == (LEAST, LEAST)
    assert mark.x + mark.width <= 100


def test_hours_are_shown_so_far_apart_and_not_beyond_the_ends() -> None:
    day = ChartSpan(START - timedelta(minutes=45), START + timedelta(hours=22, minutes=15))

    assert [one.text for one in SPAN.hours(3)] == ["21:00", "00:00", "03:00", "06:00"]
    assert [one.text for one in day.hours(3)] == ["21:00", "00:00", "03:00", "06:00", "09:00", "12:00", "15:00"]
    assert [one.text for one in day.hours(3) if not one.only_wide] == ["00:00", "06:00", "12:00"]


def test_the_longest_is_as_high_as_there_is_room() -> None:
    found = columns_of([timedelta(seconds=at) for at in (1, 4, 2)])

    assert [bar.height for bar in found] == [25, 100, 50]
    assert columns_of([]) == ()
