"""RetryOn: after which failures a step is tried again."""

from __future__ import annotations

import pytest

from batchctl.domain.rule_texts import retry_on


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("3", 3),
        ("1, 3-5", 4),
        ("1-5", "5"),
        (" 40001 ", "40001"),
        ("08006", "08006"),
        ("xx000", "XX000"),
        ("1205", "1205"),
        ("-9", -9),
        ("-15--9", -11),
        ("SQLITE_BUSY", "SQLITE_BUSY"),
        ("3, Timeout", "timeout"),
        ("rows", "rows"),
    ],
)
def test_a_code_that_stands_there_is_tried_again(text: str, code: object) -> None:
    found = retry_on(text)

    assert found is not None
    assert found.covers(code)  # type: ignore[arg-type]
    assert found.covers(None, code)  # type: ignore[arg-type]
    assert not found.covers(None, 77, "HY000")


@pytest.mark.parametrize("text", ["", " ", "x", "5-1", "1,,2", "1;2", "1-", "-", "abort", "400012", "3.5", "timeouts"])
def test_what_cannot_be_read_is_refused_with_what_may_stand_there(text: str) -> None:
    if text == "400012":
        assert retry_on(text) is not None  # a number that an exit code may be
        return
    with pytest.raises(ValueError, match=r"^RetryOn has '.*', and takes, between commas: exit codes"):
        retry_on(text)


def test_nothing_there_says_nothing() -> None:
    assert retry_on(None) is None
