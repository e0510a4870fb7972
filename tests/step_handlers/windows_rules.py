"""The rules of Windows, written from their documentation and independently of the product, for tests of command texts."""

from __future__ import annotations

import re

LITERAL = re.compile(r"'((?:[^'\u2018-\u201b]|'')*)'|\[char\]::ConvertFromUtf32\(([0-9]+)\)")


def command_line_to_argv(line: str) -> list[str]:
    """Arguments (behind the program) as CommandLineToArgvW and the C runtime see them."""
    arguments: list[str] = []
    current, begun, quoted, slashes = "", False, False, 0
    position = 0
    while position < len(line):
        character = line[position]
        if character == "\\":
            slashes, begun = slashes + 1, True
        elif character == '"':
            current, begun = current + "\\" * (slashes // 2), True
            if slashes % 2:
                current += '"'
            elif quoted and line[position + 1 : position + 2] == '"':
                current += '"'
                position += 1
            else:
                quoted = not quoted
            slashes = 0
        else:
            current, slashes = current + "\\" * slashes, 0
            if character in " \t" and not quoted:
                if begun:
                    arguments.append(current)
                current, begun = "", False
            else:
                current, begun = current + character, True
        position += 1
    return [*arguments, current + "\\" * slashes] if begun else arguments


def dtexec_arguments(line: str) -> list[str]:
    """Arguments by the syntax rules of dtexec alone: quotes enclose, doubled quotes are one, backslashes mean nothing."""
    # Blank and tab alone separate: a no-break space is a character like others.
    words = re.findall(r'(?:[^ \t"]|"(?:[^"]|"")*")+', line)
    return [re.sub(r'"((?:[^"]|"")*)"', lambda found: found[1].replace('""', '"'), word) for word in words]


def cmd_to_program(line: str) -> str:
    """What cmd hands on of a line typed at its prompt; fails where cmd would do something else with a character."""
    handed, quoted, position = "", False, 0
    while position < len(line):
        character = line[position]
        if character == "%":
            raise AssertionError("cmd would replace a variable")
        if quoted:
            quoted = character != '"'
            handed += character
        elif character == "^":
            position += 1
            handed += line[position]
        elif character in "&|<>()\r\n":
            raise AssertionError(f"cmd would act on {character!r}")
        else:
            quoted = character == '"'
            handed += character
        position += 1
    return handed


def powershell_text(expression: str) -> str:
    """The text that an expression of literals and code points means in PowerShell."""
    inner = expression[1:-1] if expression.startswith("(") else expression
    pieces, position = [], 0
    while position < len(inner):
        found = LITERAL.match(inner, position)
        assert found, inner[position:]
        pieces.append(chr(int(found[2])) if found[2] else re.sub("''", "'", found[1]))
        position = found.end()
        if position < len(inner):
            assert inner.startswith(" + ", position), inner[position:]
            position += 3
    return "".join(pieces)
