"""POSIX shells: splitting a command into words, and writing one that bash and dash carry out byte for byte.

What is written stays one visible line: whatever acts on a terminal stands in it as an octal escape, so that it can be
pasted into an interactive shell, where a raw TAB completes names and a raw ESC starts a key sequence.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from batchctl.plugin_api import visible

COMMENT = "# "
LONGEST_ARGUMENT = 131_071
"""Bytes that Linux takes as one argument."""


def split_words(text: str) -> list[str]:
    """Split a command as a POSIX shell would, without expanding anything; raises `ValueError`."""
    return shlex.split(text)


def shell_words(text: str) -> frozenset[str]:
    """Return what stands outside quotes and only a shell would understand, such as `|` or `*.csv`."""
    words = _outside_quotes(text).split()
    return _OPERATORS.intersection(words).union(part for word in words for part in _BETWEEN.split(word) if "*" in part)


def shell_values(text: str) -> frozenset[str]:
    """Return what stands outside quotes and only a shell would fill in, such as `$HOME` or `~/`."""
    return frozenset(part for word in _outside_quotes(text).split() for part in _VALUE.findall(word))


def _outside_quotes(text: str) -> str:
    """Return a command with a mark in place of what is quoted; nothing of one whose quotes do not end."""
    outside = _QUOTED.sub("_", text)
    return "" if "'" in outside or '"' in outside else outside


_QUOTED = re.compile(r"\\.|'[^']*+'" r'|"(?:\\.|[^"\\])*+"', re.DOTALL)
_BETWEEN = re.compile(r"[\s=:,/]")
_VALUE = re.compile(r"\A~/|\A~\Z|(?<![A-Za-z0-9])\$(?:[A-Za-z_]\w*|\()|`")
"""A letter before the dollar is part of a name, as in v$session."""
_OPERATORS = frozenset({"|", "||", "&&", "&", ";", "<", ">", ">>", "2>", "2>>", "2>&1", "&>"})


def too_long(argv: Sequence[str]) -> str | None:
    """Say why the arguments cannot be passed to a program; None when they can."""
    for at, argument in enumerate(argv):
        size = len(argument) if argument.isascii() else len(argument.encode())
        if size > LONGEST_ARGUMENT:
            return f"argument {at} has {size} bytes; the system takes {LONGEST_ARGUMENT}. Pass it in a file"
    return None


def located(program: str, directory: str) -> str:  # noqa: ARG001 - the twin of Windows needs it
    """Return a program as it is: its parent process is already in its working directory."""
    return program


def command_line(
    argv: Sequence[str], *, directory: str, environment: Mapping[str, str], secrets: Mapping[str, str]
) -> str:
    """Write a command for a shell. `secrets` maps environment variables to where their values come from."""
    names = Names()
    words = [names.quote(argument) for argument in argv]
    place = names.quote(directory)
    revealed = [part for name, source in secrets.items() for part in _revealed(name, source, names)]
    # Plain variables go through `env`: a shell would act on some of them itself, such as UID and PATH.
    plain = [names.quote(f"{name}={value}") for name, value in environment.items()]
    program = ["env", "--", *plain, *words] if plain else words
    steps = [*names.assignments, f"cd -P {place}", *revealed, f"exec {' '.join(program)} </dev/null"]
    return f"({' && '.join(steps)})"


class Names:
    """Quotes words; those that need escapes are kept in numbered variables."""

    def __init__(self) -> None:
        """Begin without variables."""
        self.assignments: list[str] = []
        self._known: dict[str, str] = {}

    def quote(self, word: str) -> str:
        """Write a word so that the shell takes it as it is."""
        if _is_plain(word):
            return shlex.quote(word)
        if word in self._known:
            return self._known[word]
        name = f"batchctl_{len(self.assignments) + 1}"
        # A command substitution loses line ends at its end; the point keeps them and is taken off again.
        self.assignments.append(f"{name}=$(printf %b '{''.join(_escaped(word))}.')")
        self._known[word] = f'"${{{name}%.}}"'
        return self._known[word]


def _is_plain(word: str) -> bool:
    # isprintable() also knows the blanks that only look like the one of the keyboard.
    return word.isprintable() and visible(word) == word


def _escaped(word: str) -> Iterator[str]:
    for character in word:
        if character in "\\'" or not _is_plain(character):
            yield "".join(f"\\0{byte:03o}" for byte in character.encode())
        else:
            yield character


def _revealed(name: str, source: str, names: Names) -> list[str]:
    """Write how a secret gets into its variable: as the controller reads it, with one line end less at its end."""
    kind, _, place = source.partition(":")
    reader = f"printenv {names.quote(place)}" if kind == "env" else f"cat {names.quote(place)}"
    line_end = names.quote("\n")
    kept = f"{name}=$({reader} && printf .)"
    if kind == "env":
        unset = names.quote(f"environment variable {place} is not set")
        kept = f"{kept} || {{ echo {unset} >&2; false; }}"
    return [kept, f"{name}=${{{name}%.}}", f"{name}=${{{name}%{line_end}}}", f"export {name}"]
