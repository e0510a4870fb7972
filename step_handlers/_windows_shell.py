"""PowerShell 7.3 and later: the Windows twin of `_posix_shell`, for command texts that a person can paste."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from batchctl.plugin_api import visible
from step_handlers._windows_words import split_words

__all__ = ["COMMENT", "command_line", "shell_words", "split_words", "too_long"]

COMMENT = "# "
LONGEST_COMMAND = 32_766
"""UTF-16 units that Windows takes as one command line."""

_QUOTES = re.compile("(['\N{LEFT SINGLE QUOTATION MARK}-\N{SINGLE HIGH-REVERSED-9 QUOTATION MARK}])")


def shell_words(text: str) -> frozenset[str]:
    """Return the words outside quotes that only a shell would understand, such as `|`."""
    return frozenset({"|", "||", "&&", "&", "<", ">", ">>", "2>&1"}).intersection(
        re.sub(r'"[^"]*"?', '""', text).split()
    )


def too_long(argv: Sequence[str]) -> str | None:
    """Say why the arguments cannot be passed to a program; None when they can."""
    size = sum(len(argument.encode("utf-16-le", "replace")) // 2 + 3 for argument in argv)
    if size <= LONGEST_COMMAND:
        return None
    return f"the command has {size} characters; Windows takes {LONGEST_COMMAND}. Pass long values in a file"


def command_line(
    argv: Sequence[str], *, directory: str, environment: Mapping[str, str], secrets: Mapping[str, str]
) -> str:
    """Write a command for PowerShell. `secrets` maps environment variables to where their values come from."""
    settings = [f"$env:{name} = {quote(value)}; " for name, value in environment.items()]
    settings += [f"$env:{name} = {_source(source)}; " for name, source in secrets.items()]
    call = " ".join(quote(argument) for argument in argv)
    return f"Push-Location -LiteralPath {quote(directory)}; {''.join(settings)}$null | & {call}; Pop-Location"


def quote(word: str) -> str:
    """Write a word so that PowerShell takes it as it is, with everything invisible as a number."""
    if _is_plain(word):
        return _literal(word)
    pieces = (
        _literal("".join(group)) if shown else " + ".join(f"[char]::ConvertFromUtf32({ord(at)})" for at in group)
        for shown, group in groupby(word, _is_plain)
    )
    return f"('' + {' + '.join(pieces)})"


def _is_plain(word: str) -> bool:
    return word.isprintable() and visible(word) == word


def _literal(word: str) -> str:
    return f"'{_QUOTES.sub(lambda found: found.group() * 2, word)}'"


def _source(source: str) -> str:
    kind, _, place = source.partition(":")
    if kind == "env":
        return f"[Environment]::GetEnvironmentVariable({quote(place)})"
    return f"(Get-Content -Raw -LiteralPath {quote(place)}).TrimEnd([char]10)"
