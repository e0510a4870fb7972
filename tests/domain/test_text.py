"""What is suggested for a word nobody knows, and what is said of an error."""

from __future__ import annotations

import pytest

from batchctl.domain.text import REASON_LIMIT, did_you_mean, in_short


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


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("one\n\n  two\tthree "), "ValueError: one two three"),
        (ValueError("no\n[SQL: SELECT 1]\n(Background on this error at: https://x)"), "ValueError: no"),
        (ValueError("x" * 9000), f"ValueError: {'x' * (REASON_LIMIT - 1)}…"),
        (ValueError(), "ValueError"),
    ],
)
def test_all_lines_of_an_error_are_said_in_one_but_those_of_the_statement(error: Exception, said: str) -> None:
    assert in_short(error) == said
