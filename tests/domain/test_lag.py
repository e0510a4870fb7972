"""The present lies not before what others have written, unless they cannot have written it by the same clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from batchctl.domain.moves import MOST_LAG, not_before

NOW, TICK = datetime(2026, 11, 22, 3, tzinfo=UTC), timedelta(milliseconds=1)


def test_it_is_what_ones_own_clock_shows_or_what_others_have_written_since() -> None:
    assert not_before(NOW) == NOW
    assert not_before(NOW, NOW - timedelta(days=1), NOW - TICK) == NOW
    assert not_before(NOW, NOW + TICK, NOW + 2 * TICK, NOW - TICK) == NOW + 2 * TICK


def test_what_lies_far_ahead_says_nothing() -> None:
    assert not_before(NOW, NOW + MOST_LAG) == NOW + MOST_LAG
    assert not_before(NOW, NOW + MOST_LAG + TICK, NOW + TICK) == NOW + TICK
