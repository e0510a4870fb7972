"""What a running command has written is shown piece by piece: without secrets, and at a cost that has a bound."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from batchctl.system.commands.kept_output import OUTPUT_CAP, Output
from batchctl.system.commands.shown_output import ShownOutput

SECRET = "s3cr3t-ab-s3cr3t"
"""It begins as it ends, so that a cut may go through two of them."""


class CountedOutput:
    """An output that counts how much of it is read."""

    def __init__(self) -> None:
        self.kept, self.read = Output(), 0

    @property
    def total(self) -> int:
        return self.kept.total

    def since(self, position: int) -> tuple[int, bytes]:
        begins, newest = self.kept.since(position)
        self.read += len(newest)
        return begins, newest


def shown(pieces: list[bytes], *secrets: str, cap: int = OUTPUT_CAP) -> str:
    output = Output(cap)
    showing = ShownOutput(output, secrets)
    text = ""
    for piece in pieces:
        output.feed(piece)
        text += showing.take()
    return text


def cut(whole: bytes, at: list[int]) -> list[bytes]:
    edges = [0, *sorted(one % (len(whole) + 1) for one in at), len(whole)]
    return [whole[begin:end] for begin, end in pairwise(edges)]


@given(st.lists(st.integers(min_value=0), max_size=12))
def test_a_secret_cut_in_pieces_is_never_shown(at: list[int]) -> None:
    whole = f"one {SECRET} two {SECRET}{SECRET} s3cr3 {SECRET[:-1]}\n".encode()

    text = shown(cut(whole, at), SECRET)

    assert text == f"one *** two ****** s3cr3 {SECRET[:-1]}\n"


@given(st.lists(st.integers(min_value=0), max_size=12))
def test_of_two_secrets_that_begin_alike_the_longer_is_not_shown_either(at: list[int]) -> None:
    text = shown(cut(b"x abcdefgh y abcd z abcdefg\n", at), "abcd", "abcdefgh")

    assert text == "x *** y *** z ***efg\n"


@given(st.lists(st.integers(min_value=0), max_size=12))
def test_half_a_character_waits_for_the_other_half(at: list[int]) -> None:
    assert shown(cut("für Zoë: 100 €, 🎉!\n".encode(), at)) == "für Zoë: 100 €, 🎉!\n"


def test_what_is_not_text_is_shown_as_escapes() -> None:
    assert shown([b"a\x00b\xff\xfec\x1b[31m\n"]) == "a\\x00b\\xff\\xfec\x1b[31m\n"


@given(st.lists(st.binary(max_size=60), max_size=12), st.integers(min_value=2, max_value=80))
def test_anything_can_be_shown_of_any_bytes(pieces: list[bytes], cap: int) -> None:
    text = shown(pieces, SECRET, cap=cap)

    assert "\x00" not in text
    assert text.encode().decode() == text


def test_of_much_only_the_newest_is_read() -> None:
    output = Output()
    showing = ShownOutput(output, [SECRET])
    for number in range(100):
        output.feed(f"{number:08} ".encode() * 4000)

    text = showing.take()

    assert text.startswith("\n[... ")
    assert text.endswith("00000099 " * 1000)
    assert len(text) <= OUTPUT_CAP + 100


def test_a_half_secret_at_a_gap_is_not_shown() -> None:
    output = Output(64)
    showing = ShownOutput(output, [SECRET])
    output.feed(b"." * 500 + SECRET.encode() + b"+" * (64 - len(SECRET) + 6))

    assert SECRET[6:] not in showing.take()


def test_how_much_a_step_writes_makes_no_difference_to_what_is_read() -> None:
    """100 MB are read as often, and as much of them, as what is kept: the loop has no more to do."""
    counted = CountedOutput()
    showing = ShownOutput(counted, [SECRET])
    for _ in range(50):
        for _ in range(32):
            counted.kept.feed(b"x" * 65_536)
        showing.take()

    assert counted.total == 50 * 32 * 65_536
    assert counted.read <= 50 * OUTPUT_CAP
