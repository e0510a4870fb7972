"""Lengths of time as people write them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.domain.maintenance.lengths import length_of


@pytest.mark.parametrize(
    ("written", "seconds"), [("90s", 90), ("30m", 1800), (" 2H ", 7200), ("1 d", 86400), ("366d", 366 * 86400)]
)
def test_what_is_a_length(written: str, seconds: int) -> None:
    assert length_of(written) == timedelta(seconds=seconds)


@pytest.mark.parametrize("written", ["", "30", "m", "-1m", "0s", "1.5h", "367d", "9999999s", "1w", "٣m"])
def test_what_is_none(written: str) -> None:
    assert length_of(written) is None
