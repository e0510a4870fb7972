"""PowerShell, from 5.1 on: the Windows twin of `_posix_shell`, for command texts that a person can paste.

The call operator `&` is not used: before PowerShell 7.3 it loses quotes inside an argument and empty arguments, and it
is a setting of the session even there. The text starts the process as the controller does, with the one command line
that Windows knows. Where cmd can be trusted with it, a comment says the same for cmd.
"""

from __future__ import annotations

import ntpath
import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from batchctl.plugin_api import visible
from step_handlers.shells._windows_words import join_words, split_words

__all__ = ["COMMENT", "command_line", "located", "shell_values", "shell_words", "split_words", "too_long"]

COMMENT = "# "
LONGEST_COMMAND = 32_766
"""UTF-16 units that Windows takes as one command line."""

_QUOTES = re.compile("(['\N{LEFT SINGLE QUOTATION MARK}-\N{SINGLE HIGH-REVERSED-9 QUOTATION MARK}])")
_LONGEST_LINE = 8191
"""UTF-16 units that the prompt of cmd takes as one line."""
_FOR_CMD = re.compile(r'[()^"<>&|]')
_BEYOND_CMD = re.compile("[%!]")


def shell_words(text: str) -> frozenset[str]:
    """Return the words outside quotes that only a shell would understand, such as `|`."""
    return frozenset({"|", "||", "&&", "&", "<", ">", ">>", "2>&1"}).intersection(
        re.sub(r'"[^"]*"?', '""', text).split()
    )


def shell_values(text: str) -> frozenset[str]:  # noqa: ARG001 - the twin of POSIX needs it
    """Return nothing: a percent sign is also part of how dates are written, such as %Y%m%d."""
    return frozenset()


def too_long(argv: Sequence[str]) -> str | None:
    """Say why the arguments cannot be passed to a program; None when they can."""
    size = _units(join_words(argv))
    if size <= LONGEST_COMMAND:
        return None
    return f"the command has {size} characters; Windows takes {LONGEST_COMMAND}. Pass long values in a file"


def located(program: str, directory: str) -> str:
    """Return a program's path from its working directory; Windows would begin in the controller's own."""
    return ntpath.join(directory, program) if ntpath.dirname(program) else program


def command_line(
    argv: Sequence[str], *, directory: str, environment: Mapping[str, str], secrets: Mapping[str, str]
) -> str:
    """Write a command for PowerShell. `secrets` maps environment variables to where their values come from."""
    program, *arguments = argv
    steps = [
        "$ErrorActionPreference = 'Stop'",
        f"$start = [Diagnostics.ProcessStartInfo]::new({quote(program)}, {quote(join_words(arguments))})",
        f"$start.WorkingDirectory = {quote(directory)}",
        *(f"$start.EnvironmentVariables[{quote(name)}] = {quote(value)}" for name, value in environment.items()),
        *(step for name, source in secrets.items() for step in _revealed(name, source)),
        "$start.UseShellExecute = $false",
        "$start.RedirectStandardInput = $true",
        "$process = [Diagnostics.Process]::Start($start)",
        "$process.StandardInput.Close()",
        "$process.WaitForExit()",
        "$global:LASTEXITCODE = $process.ExitCode",
    ]
    same = None if environment or secrets else cmd_line(argv, directory)
    comment = "" if same is None else f"{COMMENT}in cmd.exe: {same}\n"
    return f"{comment}& {{ {'; '.join(steps)} }}"


def cmd_line(argv: Sequence[str], directory: str) -> str | None:
    """Write a command for the prompt of cmd; None when cmd would change it or start something else even in quotes."""
    program, *arguments = argv
    whole = "".join([*argv, directory])
    if _BEYOND_CMD.search(whole) or visible(whole) != whole or '"' in program or '"' in directory:
        return None
    if not _is_found_alike(program) or _is_on_a_share(directory):
        return None
    # A caret before every quote keeps cmd from quoting by rules that are not the program's.
    escaped = _FOR_CMD.sub(lambda found: f"^{found.group()}", join_words(arguments))
    called = f'"{program}" {escaped}' if arguments else f'"{program}"'
    line = f'cd /d "{directory}" && {called} <nul'
    return line if _units(line) <= _LONGEST_LINE else None


def _is_found_alike(program: str) -> bool:
    """Say whether cmd finds the same file: it seeks a bare name in the working directory and other endings first."""
    return bool(ntpath.dirname(program) and ntpath.splitext(program)[1])


def _is_on_a_share(directory: str) -> bool:
    """Say whether a directory is on a share: the current directory of cmd needs a drive letter."""
    return directory.startswith(("\\\\", "//", "\\/", "/\\"))


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "replace")) // 2


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


def _revealed(name: str, source: str) -> list[str]:
    """Write how a secret gets into its variable: as the controller reads it, with one line end less at its end."""
    kind, _, place = source.partition(":")
    variable = f"$start.EnvironmentVariables[{quote(name)}]"
    if kind != "env":
        content = f"[Text.UTF8Encoding]::new($false, $true).GetString([IO.File]::ReadAllBytes({quote(place)}))"
        return [f"{variable} = {content} -replace '\\n\\z', ''"]
    return [
        f"$secret = [Environment]::GetEnvironmentVariable({quote(place)})",
        f"if ($null -eq $secret) {{ throw {quote(f'environment variable {place} is not set')} }}",
        f"{variable} = $secret",
    ]
