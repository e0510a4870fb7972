"""A stand-in for dtexec: reads its arguments by the documented grammar, says what it understood, ends as asked.

The package's name says how it ends. Whatever the documentation leaves open is refused with 6, as a command line error.
"""

from __future__ import annotations

import json
import re
import sys

OPTIONS = {
    "FILE": "F",
    "ISSERVER": "IS",
    "SERVER": "SER",
    "PARAMETER": "PAR",
    "PROJECT": "PROJ",
    "PACKAGE": "PACK",
    "SET": "SET",
    "REPORTING": "REP",
    "PASSWORD": "P",
    "CONNECTION": "CONN",
    "VALIDATE": "VA",
}
FLAGS = {"VALIDATE"}
SOURCES = {"FILE", "ISSERVER", "PROJECT"}
TYPE_CODES = re.compile("Boolean|S?Byte|DateTime|Decimal|Double|Int(16|32|64)|Single|String|UInt(32|64)", re.IGNORECASE)
PARAMETER = re.compile(
    r"(?:(\$Package|\$Project|\$ServerOption)::)?([^;()\"]+)(?:\((\w+)\))?;([^;\"]+)\Z", re.IGNORECASE
)
SETTING = re.compile(r"(\\Package\.Variables\[[^\]]+\](?:\.Value)?);([^;\"]+)\Z")
ENDINGS = {"Ok.dtsx": 0, "Fails.dtsx": 1, "Cancelled.dtsx": 3, "Missing.dtsx": 4, "Unloadable.dtsx": 5}


class CommandLineError(Exception):
    """What dtexec answers with 6."""


def option(word: str) -> str:
    """The option that a word names, in full or shortened."""
    if not word.startswith(("/", "-")):
        raise CommandLineError(f'Argument "{word}" is not an option.')
    written = word[1:].upper()
    found = [name for name, shortest in OPTIONS.items() if name.startswith(written) and len(written) >= len(shortest)]
    if not found:
        raise CommandLineError(f'Option "{word}" is not valid.')
    return min(found, key=lambda name: len(OPTIONS[name]) if OPTIONS[name] == written else 99)


def understood(arguments: list[str]) -> dict[str, list[str]]:
    """The options with their arguments, in order."""
    options: dict[str, list[str]] = {}
    words = iter(arguments)
    for word in words:
        name = option(word)
        if name in FLAGS:
            options.setdefault(name, [])
            continue
        argument = next(words, None)
        if argument is None:
            raise CommandLineError(f'Option "{word}" needs an argument.')
        options.setdefault(name, []).append(argument)
    judge(options)
    return options


def judge(options: dict[str, list[str]]) -> None:
    """Refuse what the documentation forbids."""
    if len(SOURCES & options.keys()) != 1:
        raise CommandLineError("Exactly one of /FILE, /ISSERVER and /PROJECT is wanted.")
    if "PARAMETER" in options and "ISSERVER" not in options:
        raise CommandLineError("/Parameter can only be used with /ISServer.")
    if ("ISSERVER" in options) != ("SERVER" in options) or ("PROJECT" in options) != ("PACKAGE" in options):
        raise CommandLineError("Options are missing.")
    for argument in options.get("PARAMETER", []):
        parameter = PARAMETER.match(argument)
        if parameter is None or not TYPE_CODES.fullmatch(parameter[3] or "String"):
            raise CommandLineError(f'Argument "{argument}" for option "parameter" is not valid.')
    for argument in options.get("SET", []):
        if not SETTING.match(argument):
            raise CommandLineError(f'Argument "{argument}" for option "set" is not valid.')


def main() -> int:
    """Say what was understood, and end as the package's name says."""
    print("Microsoft (R) SQL Server Execute Package Utility")
    try:
        options = understood(sys.argv[1:])
    except CommandLineError as error:
        print(error)
        return 6
    place = (options.get("PACKAGE") or options.get("ISSERVER") or options["FILE"])[0]
    code = ENDINGS[re.split(r"[\\/]", place)[-1]]
    print("Execution ID: 4711.")
    print(json.dumps(options))
    if code == 1:
        print(
            "Error: 2026-11-21 03:00:00.12\n   Code: 0xC0202009\n   Source: Load\n   Description: no such file\nEnd Error"
        )
    if code in {4, 5}:
        print(f'Could not load package "{place}" because of error 0x80070002.')
    print(f"DTExec: The package execution returned {'DTSER_SUCCESS (0)' if code == 0 else 'DTSER_FAILURE (1)'}.")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
