"""What of a command a list of several shows."""

from __future__ import annotations

import pytest

from batchctl.cli import command_texts


def shown(
    capsys: pytest.CaptureFixture[str], text: str, whole: str | None = "the whole: batchctl history 1 --full"
) -> str:
    command_texts.show(text, whole=whole)
    return capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "load 'x'", "\n".join(["SELECT 1;"] * 20), "x" * 1000])
def test_a_short_command_stays_as_it_is(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert shown(capsys, text) == f"{text}\n"


def test_what_is_shortened_says_so_and_no_line_of_it_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "\n".join(f"DELETE FROM t{at};" for at in range(23))).splitlines()

    assert lines[0] == "│ DELETE FROM t0;"
    assert lines[19] == "│ DELETE FROM t19;"
    assert lines[20:] == ["│ (shortened, 3 lines left out; the whole: batchctl history 1 --full)"]


def test_a_long_line_is_shortened_too(capsys: pytest.CaptureFixture[str]) -> None:
    first, last = shown(capsys, "x" * 1001).splitlines()

    assert first == f"│ {'x' * 999}…"
    assert last == "│ (shortened; the whole: batchctl history 1 --full)"


def test_where_the_whole_is_asked_for_nothing_is_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n".join(["SELECT 1;"] * 50)

    assert shown(capsys, text, None) == f"{text}\n"
