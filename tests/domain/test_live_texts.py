"""What is kept of what a step has written so far, and how that goes on with what is recorded at its end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.live_texts import KEPT, newest, rest_of


@given(st.text(max_size=100), st.integers(min_value=1, max_value=2000))
def test_no_more_than_is_kept(text: str, times: int) -> None:
    kept = newest(text * times)

    assert len(kept.encode()) <= KEPT
    assert (text * times).endswith(kept)


def test_what_was_shown_is_not_shown_again() -> None:
    assert rest_of("one\ntwo\nthree\n", "one\ntwo\n") == "three\n"
    assert rest_of("one\n", "one\n") == ""
    assert rest_of("one\ntwo", "one\ntwo\n") == ""
    assert rest_of("one\ntwo", "one\n") == "two"
    assert rest_of("tick\ntick\ntick\n", "tick\n") == "tick\ntick\n"
    assert rest_of("one\n", "") == "one\n"
    assert rest_of("", "one\n") == ""


def test_what_cannot_be_found_again_is_shown_in_full() -> None:
    assert rest_of("the end", "wi") == "\n[... it has ended; all that is recorded follows ...]\nthe end"
