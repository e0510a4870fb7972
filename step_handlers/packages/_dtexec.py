r"""The command line of `dtexec`, by its documented grammar, and what its exit codes mean.

An option takes the next argument; in it a name is followed by `;` and the value. What that grammar leaves open (quotes
inside a value, further semicolons, a backslash at the end, empty text) is refused: nothing a value holds can become
another option, and nothing arrives changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from batchctl.plugin_api import CommandEnd, StepOutcome, visible
from step_handlers._checks import short, what_outlived
from step_handlers.packages._ssis_parameters import Value

PROGRAM = "dtexec"

_MEANINGS = {
    1: "the package failed",
    3: "the package was cancelled by a user",
    4: "the package was not found; correct Data1 and Data2, or deploy it",
    5: "the package could not be loaded; deploy it again, or look at its protection level and its version",
    6: "dtexec did not accept the command line; run it by hand (CommandText) to see which part",
}
_FATAL = frozenset({4, 5, 6})
_DESCRIPTION = re.compile(r"^\s*Description:\s*(\S.*?)\s*$", re.MULTILINE)
_INSTALL = (
    ". Install Integration Services on this host, put the folder of dtexec into PATH, "
    "or name a connection of the configuration in Data4"
)
_CATALOG_WAY = "name a connection of the configuration in Data4, then the value is bound"


def on_server(path: str, server: str, values: Sequence[Value]) -> list[str]:
    """Run a package that is deployed to the catalog of a server, and wait for its end."""
    argv = [PROGRAM, "/ISSERVER", path, "/SERVER", server]
    for value in values:
        kind = "" if value.type == "String" else f"({value.type})"
        argv += ["/Par", f"{value.scope}::{value.name}{kind};{value.text}"]
    return [*argv, "/Par", "$ServerOption::SYNCHRONIZED(Boolean);True"]


def of_file(path: str, values: Sequence[Value]) -> list[str]:
    """Run a package file."""
    return [PROGRAM, "/FILE", path, *_set(values, of_parameter=".Value")]


def of_project(project: str, package: str, values: Sequence[Value]) -> list[str]:
    """Run a package of a project file."""
    return [PROGRAM, "/PROJECT", project, "/PACKAGE", package, *_set(values, of_parameter="")]


def _set(values: Sequence[Value], *, of_parameter: str) -> list[str]:
    argv = []
    for value in values:
        behind = ".Value" if value.scope == "User" else of_parameter
        argv += ["/SET", f"\\Package.Variables[{value.scope}::{value.name}]{behind};{value.text}"]
    return argv


def why_unfit(text: str) -> str | None:
    """Return why a value cannot be written on the command line; None when it can."""
    if not text:
        return f"dtexec documents no way to pass empty text; leave the parameter out, or {_CATALOG_WAY}"
    if visible(text) != text:
        return f"a line break or another invisible character cannot stand on dtexec's command line; {_CATALOG_WAY}"
    for character, role in (('"', "quotes arguments"), (";", "separates a name from its value")):
        if character in text:
            return f"'{character}' {role} on dtexec's command line and cannot be part of a value; {_CATALOG_WAY}"
    if text != text.strip():
        return f"dtexec does not say whether it keeps blanks at the ends of a value; {_CATALOG_WAY}"
    if text.endswith("\\"):
        return f"a backslash at the end of a value can escape the quote behind it; leave it off, or {_CATALOG_WAY}"
    return None


def outcome(end: CommandEnd, *, in_catalog: bool) -> StepOutcome:
    """Return what the end of the command means for the step."""
    said = [] if end.exit_code == 0 and not end.stopped else [_how(end)]
    if end.stopped and in_catalog and end.not_started is None:
        said.append(
            "the catalog's execution may go on: stop it in SSMS (Active Operations); with the name of a connection in "
            "Data4 batchctl stops it itself"
        )
    said += what_outlived(end)
    return StepOutcome(
        succeeded=end.exit_code == 0 and not end.stopped,
        message="; ".join(said) or None,
        return_code=end.exit_code,
        output=end.output or None,
        stopped=end.stopped,
        fatal=not end.stopped and (end.exit_code in _FATAL or _is_missing(end)),
    )


def _is_missing(end: CommandEnd) -> bool:
    return (end.not_started or "").startswith(f"command '{PROGRAM}' not found")


def _how(end: CommandEnd) -> str:
    if end.stopped:
        return "was told to stop"
    if end.signal_name is not None:
        return f"dtexec was ended by signal {end.signal_name}"
    if end.exit_code is None:
        return f"not started: {end.not_started}{_INSTALL if _is_missing(end) else ''}"
    meaning = _MEANINGS.get(end.exit_code, "dtexec does not document this code")
    first = _DESCRIPTION.search(end.output)
    return f"dtexec exited with {end.exit_code}: {meaning}{_quoted(first)}"


def _quoted(first: re.Match[str] | None) -> str:
    return "" if first is None else f": {short(first.group(1), 300)}"
