"""What is suggested for a word nobody knows."""

from __future__ import annotations

import pytest

from batchctl.domain.text import did_you_mean


@pytest.mark.parametrize(
    ("unknown", "known", "said"),
    [
        ("statsu", ["status", "show"], " Did you mean 'status'?"),
        ("B", ["a", "c"], " Known: a, c."),
        ("x", [], ""),
        ("zzz", [f"batch{at}" for at in range(8)], f" Known: {', '.join(f'batch{at}' for at in range(8))}."),
        (
            "zzz",
            [f"batch{at:03}" for at in range(300)],
            f" Known: {', '.join(f'batch{at:03}' for at in range(8))}, ... (300 in all).",
        ),
    ],
)
def test_a_near_word_is_suggested_or_the_first_known_ones_are_named(unknown: str, known: list[str], said: str) -> None:
    assert did_you_mean(unknown, known) == said
