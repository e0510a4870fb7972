"""SQL as a person can paste it into the `sqlite3` shell: every value in its place, nothing that acts on a terminal."""

from __future__ import annotations

import math
import os.path
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby, pairwise
from urllib.parse import quote

from batchctl.plugin_api import JsonValue, visible
from step_handlers.databases._statements import Statement, Token, TokenKind

COMMENT = "-- "
_DIGITS = 53
_WHOLE = 1 << _DIGITS
"""Below it, each whole number is a float."""
_POWER = 1 << 62
_PIECE = 60
"""Characters that one call of char() may name: the shell allows 100 arguments."""


def uri(path: str) -> str:
    """Name a database file so that it is opened for writing and never created."""
    if path[1:2] == ":":
        return f"file:///{quote(path.replace(chr(92), '/'), safe='/:')}?mode=rw"
    return f"file:{quote(path)}?mode=rw"


def in_directory(directory: str) -> list[str]:
    """Write where relative names of files begin; only a dot command can tell the shell."""
    quoted = "".join(chr(byte) if _is_simple(byte) else f"\\{byte:03o}" for byte in directory.encode())
    return [
        "-- has dot commands, which a terminal's bracketed paste spoils: save it as a file, and end that command with < file",
        ".bail on",
        f'.cd "{quoted}"',
    ]


def only_in(path: str) -> str:
    """Write what fails in any database but one; an old shell names a file by links that lead to it."""
    written = os.path.abspath(path)  # noqa: PTH100 - Path would change what was written
    known = ", ".join(dict.fromkeys(literal(name) for name in (os.path.realpath(path), written)))
    guard = _failing("this is another database; nothing was done")
    where = f"FROM pragma_database_list WHERE name = 'main' AND file NOT IN ({known})"
    return f"; {guard} {where} -- fails on purpose in every other database"


def refuse_without(parameter: str, secret: str) -> str:
    """Write what fails while a parameter has no value."""
    guard = _failing(f"the secret {visible(secret)} is not set; nothing was done")
    return f"; {guard} WHERE :{parameter} IS NULL -- fails on purpose while it has no value"


def _failing(message: str) -> str:
    """Write a query that fails for each row that it has: no function of SQLite's has that as its purpose."""
    return f"SELECT json_extract('{{}}', {_quoted(message)})"


def _is_simple(byte: int) -> bool:
    return 32 <= byte < 127 and byte not in b'"\\'


def literal(value: JsonValue) -> str:
    """Write a value as SQL that has its type and no affinity."""
    match value:
        case None:
            return "NULL"
        case str():
            return _text(value)
        case float():
            return _float(value)
        case int() if value < 0:
            return f"({value})"
        case _:
            return str(value)


def _float(value: float) -> str:
    written = repr(value)
    if _is_read_exactly(written):
        # Two minus signs, also that of -0.0, would begin a comment.
        return f"({written})" if written.startswith("-") else written
    top, bottom = value.as_integer_ratio()
    if abs(top) < _WHOLE and bottom < _POWER:
        return f"({top} * 1.0 / {bottom})"
    part, power = math.frexp(value)
    scale = " / " if power < _DIGITS else " * "
    many, left = divmod(abs(power - _DIGITS), _POWER.bit_length() - 1)
    return f"({int(part * _WHOLE)} * 1.0{f'{scale}{_POWER}' * many}{scale}{1 << left})"


def _is_read_exactly(written: str) -> bool:
    """Say whether every SQLite reads a number as it is meant.

    It rounds twice, to 64 and to 53 bits: nothing is lost of whole numbers below 2^53, and of few decimals.
    """
    digits, exponent = Decimal(written).as_tuple()[1:]
    return isinstance(exponent, int) and exponent >= -4 and len(digits) + max(0, exponent) <= 15


def _text(value: str) -> str:
    if visible(value) == value:
        return _quoted(value)
    pieces = list(_pieces(value))
    return f"({_joined(pieces if value[0] == visible(value[0]) else ['', *pieces])})"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _pieces(value: str) -> Iterator[str]:
    for shown, group in groupby(value, lambda at: visible(at) == at):
        run = "".join(group)
        if shown:
            yield _quoted(run)
        else:
            for at in range(0, len(run), _PIECE):
                yield f"char({','.join(str(ord(character)) for character in run[at : at + _PIECE])})"


def _joined(pieces: Sequence[str]) -> str:
    """Join pieces by `||`, as a shallow tree: the shell refuses an expression that is 1,000 deep."""
    pieces = [piece for piece in pieces if piece]
    if len(pieces) <= 100:
        return "||".join(pieces)
    middle = len(pieces) // 2
    return f"({_joined(pieces[:middle])})||({_joined(pieces[middle:])})"


def statement(written: Statement, values: Mapping[str, JsonValue]) -> str:
    """Write the comments before a statement, a semicolon, and the statement with its values in place."""
    tokens = written.tokens
    start = next(at for at, token in enumerate(tokens) if token.kind not in {TokenKind.SPACE, TokenKind.COMMENT})
    comments = "".join(token.shown + "\n" for token in tokens[:start] if token.kind is TokenKind.COMMENT)

    def value(name: str) -> str:
        given = values[name]
        return f":{name}" if isinstance(given, dict) else literal(given)

    def write(token: Token, before: str = "") -> str:
        if "\n" in before and token.kind is not TokenKind.HOLE and token.text.lower() in {"/", "go"}:
            # Alone on its line either word would end the statement in the sqlite3 shell.
            return f"/**/{token.text}"
        # A text of the author's that the shell would change is written as a value.
        return token.written(value, lambda text: _text(text[1:-1].replace("''", "'")))

    text = "".join(write(token, before.text) for before, token in pairwise(tokens[start:]))
    return f"{comments}; {write(tokens[start])}{text}"
