"""Windows' rules, on every system: they are pure functions."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from step_handlers.shells import _windows_shell
from step_handlers.shells._windows_words import split_words
from tests.step_handlers.hostile import HOSTILE


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("   ", []),
        (r"C:\bin\load.exe a b", [r"C:\bin\load.exe", "a", "b"]),
        (r'"C:\Program Files\load.exe" "a b" c', [r"C:\Program Files\load.exe", "a b", "c"]),
        (r"load a\\b d\"e", ["load", r"a\\b", 'd"e']),
        (r'load "a b\\" c', ["load", "a b\\", "c"]),
        (r"load a\\\"b", ["load", r"a\"b"]),
        (r'load a\\\\"b c" d', ["load", r"a\\b c", "d"]),
        (r'load "a ""quoted"" word" b', ["load", 'a "quoted" word', "b"]),
        ('load ""', ["load", ""]),
        ('load a""b', ["load", "ab"]),
        ("load\ta\r\nb", ["load", "a", "b"]),
        ('load "{Data1} x"', ["load", "{Data1} x"]),
        ('"C:\\dir\\" x', ["C:\\dir\\", "x"]),
    ],
)
def test_a_command_is_split_as_windows_programs_split_it(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize("text", ['"load', 'load "a', 'load a\\\\"', 'load "a\\"'])
def test_a_quote_that_is_not_closed_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="No closing quotation"):
        split_words(text)


@given(st.lists(HOSTILE.filter(lambda word: not set("\r\n") & set(word))))
def test_what_is_written_by_the_rules_is_split_into_the_same_words(words: list[str]) -> None:
    assert split_words(subprocess.list2cmdline(["load", *words])) == ["load", *words]


@given(HOSTILE)
def test_a_word_for_powershell_is_visible_and_closes_its_quotes(word: str) -> None:
    quoted = _windows_shell.quote(word)

    assert quoted.isprintable()
    assert sum(quoted.count(quote) for quote in "'\u2018\u2019\u201a\u201b") % 2 == 0


def test_what_windows_cannot_pass_and_words_for_a_shell_are_told() -> None:
    assert _windows_shell.too_long(["load", "x"]) is None
    assert "Windows takes 32766" in (_windows_shell.too_long(["load", "x" * 32_770]) or "")
    assert _windows_shell.shell_words('load "a | b" > out') == {">"}
