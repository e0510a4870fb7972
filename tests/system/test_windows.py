"""The Windows twin imports everywhere; what is pure in it works everywhere."""

from __future__ import annotations

import importlib
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.system.host.windows import split_command_line, start_time_text

ARGUMENTS = st.lists(st.text(alphabet='ab \t"\\é/;', max_size=8), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        # The table of the documentation of CommandLineToArgvW and of the C runtime.
        ('"a b c" d e', ["a b c", "d", "e"]),
        (r'"ab\"c" "\\" d', ['ab"c', "\\", "d"]),
        (r'a\\\b d"e f"g h', [r"a\\\b", "de fg", "h"]),
        (r"a\\\"b c d", [r"a\"b", "c", "d"]),
        (r'a\\\\"b c" d e', [r"a\\b c", "d", "e"]),
        ('a"b"" c d', ['ab" c d']),
        ("", []),
        ("  \t ", []),
        ('""', [""]),
        ("x\\", ["x\\"]),
    ],
)
def test_a_command_line_is_split_as_documented(line: str, arguments: list[str]) -> None:
    assert split_command_line(line) == arguments


@given(ARGUMENTS)
def test_what_python_joins_is_split_again(arguments: list[str]) -> None:
    assert split_command_line(subprocess.list2cmdline(arguments)) == arguments


def test_a_start_time_is_one_number() -> None:
    assert start_time_text(0xFFFFFFFF, 1) == str(0x1FFFFFFFF)


@pytest.mark.parametrize("name", ["posix", "windows", "platform"])
def test_both_twins_can_be_imported_here(name: str) -> None:
    assert importlib.import_module(f"batchctl.system.host.{name}").__doc__
