"""What is kept of a process's output."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from batchctl.system.commands.kept_output import Output


def fed(chunks: list[bytes], cap: int) -> Output:
    output = Output(cap)
    for chunk in chunks:
        output.feed(chunk)
    return output


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(min_value=1, max_value=200))
def test_chunks_make_no_difference(chunks: list[bytes], cap: int) -> None:
    whole = b"".join(chunks)

    assert fed(chunks, cap).text() == fed([whole], cap).text()
    assert fed(chunks, cap).total == len(whole)


@given(st.text(max_size=200).filter(lambda text: "\x00" not in text))
def test_what_fits_is_kept_as_it_is(text: str) -> None:
    assert fed([text.encode()], 4 * 200).text() == text


@given(st.text(alphabet="aé€😀", min_size=1, max_size=300), st.integers(min_value=8, max_value=50))
def test_a_cut_keeps_beginning_and_end_and_says_how_much_is_missing(text: str, cap: int) -> None:
    whole = text.encode()

    kept = fed([whole], cap).text()

    if len(whole) <= cap:
        assert kept == text
    else:
        head, middle, tail = kept.split("\n")
        missing = len(whole) - len(head.encode()) - len(tail.encode())
        assert middle == f"[... {missing} of {len(whole)} bytes left out ...]"
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head.encode()) + len(tail.encode()) <= cap


def test_bytes_that_are_no_text_at_a_cut_are_kept() -> None:
    kept = fed([b"\xff" * 10 + b"x" * 100 + b"\x80" * 10], 10).text()

    assert kept.startswith("\\xff" * 5)
    assert "of 120 bytes left out" in kept
