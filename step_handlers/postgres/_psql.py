"""SQL as a person can paste it into `psql`: values in their place, nothing that acts on a terminal or on psql itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from batchctl.plugin_api import JsonValue, visible
from step_handlers.databases._database import Bound
from step_handlers.databases._statements import Grammar, MalformedSql, Token, TokenKind, first_words, name_parts

SETTINGS = {
    "DateStyle": "'ISO, YMD'",
    "IntervalStyle": "'postgres'",
    "TimeZone": "'UTC'",
    "standard_conforming_strings": "on",
    "bytea_output": "'hex'",
    "extra_float_digits": "1",
    "default_transaction_isolation": "'read committed'",
    "client_min_messages": "'notice'",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}
"""What a role or a database may have set otherwise, and what the meaning of a value or a step's end depends on."""

NO_TRANSACTION_TIMEOUT = (
    "SELECT count(CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL "
    "THEN set_config('transaction_timeout', '0', false) END) AS timeouts"
)
"""The same for a setting that exists only since PostgreSQL 17."""

_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n\f\v]+)
    | (?P<comment>--[^\r\n]* | /\*.*?\*/)
    | (?P<text>
          [eE]'(?:[^'\\]|''|\\.)*+'
        | (?:[bBxXnN]|[uU]&)?'(?:[^']|'')*+'
        | (?P<tag>\$(?:[A-Za-z_\x80-\U0010FFFF][A-Za-z0-9_\x80-\U0010FFFF]*)?\$).*?(?P=tag)
      )
    | (?P<name>(?:[uU]&)?"(?:[^"]|"")*+")
    | (?P<hole>\x00[0-9]+\x00)
    | ::|:=
    | (?P<variable>\$[0-9]+ | :'[^']*' | :"[^"]*" | :[A-Za-z0-9_\x80-\U0010FFFF]+ | :\{)
    | (?P<word>[A-Za-z0-9_\x80-\U0010FFFF][A-Za-z0-9_$\x80-\U0010FFFF]*)
    | (?P<end>;)
    | (?P<open>['"] | /\* | \$(?:[A-Za-z_\x80-\U0010FFFF][A-Za-z0-9_\x80-\U0010FFFF]*)?\$)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ROUTINES = {"FUNCTION", "PROCEDURE"}
_PLAIN_TEXT = re.compile(r"'(.*)'\Z", re.DOTALL)
_DOLLAR_TEXT = re.compile(r"(\$[^$]*\$)(.*)\1\Z", re.DOTALL)
_ESCAPED = re.compile(r"\\.|.", re.DOTALL)
_PART = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([A-Za-z_\x80-\U0010FFFF][A-Za-z0-9_$\x80-\U0010FFFF]*))\s*(?P<dot>\.|\Z)')
_NAMED_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\b": r"\b", "\f": r"\f"}


def _split(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Cut at semicolons as psql does: not inside parentheses, nor inside BEGIN ATOMIC of a routine."""
    present: list[Token] = []
    brackets = blocks = 0
    for token in tokens:
        if token.kind is TokenKind.END and not brackets and not blocks:
            yield present
            present = []
            continue
        word = token.text.upper()
        if word == "(":
            brackets += 1
        elif word == ")":
            brackets = max(0, brackets - 1)
        elif token.kind is TokenKind.WORD:
            blocks = _blocks(word, blocks, present)
        present.append(Token(TokenKind.OTHER, token.text) if token.kind is TokenKind.END else token)
    if brackets or blocks:
        raise MalformedSql(
            f"the last statement is not complete; a {'(' if brackets else 'BEGIN ATOMIC'} is never closed"
        )
    yield present


def _blocks(word: str, blocks: int, present: Sequence[Token]) -> int:
    if word == "END":
        return max(0, blocks - 1)
    opens = (word == "CASE" and blocks) or (word in {"BEGIN", "CASE"} and _makes_a_routine(present) and word == "BEGIN")
    return blocks + 1 if opens else blocks


def _makes_a_routine(present: Sequence[Token]) -> bool:
    words = first_words(present)
    return words[:1] == ["CREATE"] and bool(_ROUTINES & {*words[1:2], *words[3:4]})


GRAMMAR = Grammar(_TOKEN, _split)
"""How PostgreSQL reads SQL."""


def identifiers(name: str) -> list[str]:
    """Read a name of one or two parts as SQL does, folded to lower case unless in double quotes; empty for no name."""
    return [
        _folded(part[2]) if part[1] is None else part[1].replace('""', '"') for part in name_parts(name, _PART, most=2)
    ]


def _folded(name: str) -> str:
    return "".join(character.lower() if character.isascii() else character for character in name)


def identifier(name: str) -> str:
    """Quote a name, written as SQL would read it without quotes."""
    return '"' + name.replace('"', '""') + '"'


def parameter(name: str) -> str:
    """Quote the name of a parameter, folded as SQL folds it."""
    return identifier(_folded(name))


def literal(value: JsonValue) -> str:
    """Write a value as SQL whose type PostgreSQL infers as it does for a bound value."""
    match value:
        case None:
            return "NULL"
        case str():
            return _text(value)
        case int() if value == -(2**63):
            return f"({value})::bigint"
        case int() | float():
            return f"({value!r})" if str(value).startswith("-") else repr(value)
        case _:
            raise TypeError(value)


def _text(value: str) -> str:
    if visible(value) == value and "\\" not in value:
        return "'" + value.replace("'", "''") + "'"
    return "E'" + "".join(map(escape, value)) + "'"


def escape(character: str) -> str:
    """Write a character for between the quotes of E'...', and of an argument of psql's commands."""
    if character in "\\'":
        return character * 2
    return _escape_invisible(character)


def _escape_invisible(character: str) -> str:
    if visible(character) == character:
        return character
    if character in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[character]
    return f"\\u{ord(character):04x}" if character <= "\uffff" else f"\\U{ord(character):08x}"


def statement(bound: Bound) -> str:
    """Write a statement with its values in place, and its semicolon."""

    def value(name: str) -> str:
        given = bound.values[name]
        return f":'{name}'" if isinstance(given, dict) else literal(given)

    tokens = bound.statement.tokens
    text = "".join(token.written(value, _author_text) for token in tokens)
    return f"{text}\n;" if tokens[-1].text.startswith("--") else f"{text};"


def _author_text(text: str) -> str:
    """Write a text of the author's that holds what a terminal or psql would act on."""
    if text[0] in "eE":
        return "E" + "".join(_escape_invisible_pair(pair) for pair in _ESCAPED.findall(text[1:]))
    if dollar := _DOLLAR_TEXT.match(text):
        return _lines(dollar.group(2))
    plain = _PLAIN_TEXT.match(text)
    return _lines(plain.group(1).replace("''", "'")) if plain else text


def _lines(value: str) -> str:
    return "E'" + "".join("\n" if character == "\n" else escape(character) for character in value) + "'"


def _escape_invisible_pair(pair: str) -> str:
    if pair in {"\n", "\\\n"}:
        return pair
    return pair if visible(pair[-1]) == pair[-1] else _escape_invisible(pair[-1])
