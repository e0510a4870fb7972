"""The Windows twin imports everywhere; what is pure in it works everywhere."""

from __future__ import annotations

import importlib
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.system.host.windows import start_time_text

ARGUMENTS = st.lists(st.text(alphabet='ab \t"\\é/;', max_size=8), min_size=1, max_size=5)


def split_command_line(line: str) -> list[str]:
    """Split a command line into arguments as CommandLineToArgvW and the C runtime do.

    2n backslashes before a quote are n backslashes and the quote opens or closes; 2n+1 are n backslashes and a quote
    that stands for itself; elsewhere backslashes stand for themselves; `""` inside quotes is one quote.
    """
    arguments: list[str] = []
    rest = line.lstrip(" \t")
    while rest:
        argument, rest = _first_argument(rest)
        arguments.append(argument)
        rest = rest.lstrip(" \t")
    return arguments


def _first_argument(line: str) -> tuple[str, str]:
    taken: list[str] = []
    quoted = False
    at = 0
    while at < len(line) and (quoted or line[at] not in " \t"):
        run = len(line) - at - len(line[at:].lstrip("\\"))
        if run and line[at + run : at + run + 1] == '"':
            taken.append("\\" * (run // 2))
            at += run
            if run % 2:
                taken.append('"')
                at += 1
        elif run:
            taken.append("\\" * run)
            at += run
        elif line[at] == '"' and quoted and line[at + 1 : at + 2] == '"':
            taken.append('"')
            at += 2
        elif line[at] == '"':
            quoted = not quoted
            at += 1
        else:
            taken.append(line[at])
            at += 1
    return "".join(taken), line[at:]


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
