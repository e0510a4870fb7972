"""SQL as a person can paste it into `psql`: values in their place, nothing that acts on a terminal or on psql itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from sqlalchemy import URL

from batchctl.plugin_api import JsonValue, StepRequest, Surroundings, visible
from step_handlers._database import Bound, secret_source
from step_handlers._statements import Grammar, Kind, MalformedSql, Token, first_words
from step_handlers._urls import query_without_passwords

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
"""What a role or a database may have set otherwise, and what the meaning of a value or a step's end would hang on."""

NO_TRANSACTION_TIMEOUT = (
    "SELECT count(CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL\n"
    "THEN set_config('transaction_timeout', '0', false) END) AS timeouts"
)
"""The same for a setting that there is only since PostgreSQL 17."""

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
_IDENTIFIER = re.compile(r'\s*(?:"((?:[^"]|"")+)"|([A-Za-z_\x80-\U0010FFFF][A-Za-z0-9_$\x80-\U0010FFFF]*))\s*(\.|\Z)')
_NAMED_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\b": r"\b", "\f": r"\f"}


def _split(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Cut at semicolons as psql does: not inside parentheses, nor inside BEGIN ATOMIC of a routine."""
    present: list[Token] = []
    brackets = blocks = 0
    for token in tokens:
        if token.kind is Kind.END and not brackets and not blocks:
            yield present
            present = []
            continue
        word = token.text.upper()
        if word == "(":
            brackets += 1
        elif word == ")":
            brackets = max(0, brackets - 1)
        elif token.kind is Kind.WORD:
            blocks = _blocks(word, blocks, present)
        present.append(Token(Kind.OTHER, token.text) if token.kind is Kind.END else token)
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


def identifiers(name: str) -> list[str] | None:
    """Read a name of one or two parts as SQL does: folded to lower case, unless it stands in double quotes."""
    found = []
    at = 0
    while part := _IDENTIFIER.match(name, at):
        quoted, plain, dot = part.groups()
        found.append(_folded(plain) if quoted is None else quoted.replace('""', '"'))
        at = part.end()
        if not dot:
            return found if len(found) <= 2 else None
    return None


def _folded(name: str) -> str:
    return "".join(character.lower() if character.isascii() else character for character in name)


def identifier(name: str) -> str:
    """Quote a name, written as SQL would read it without quotes."""
    return '"' + name.replace('"', '""') + '"'


def parameter(name: str) -> str:
    """Quote the name of a parameter, folded as SQL folds it."""
    return identifier(_folded(name))


def literal(value: JsonValue) -> str:
    """Write a value as SQL whose type PostgreSQL finds out as it does for a bound value."""
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
    return "E'" + "".join(map(_escape, value)) + "'"


def _escape(character: str) -> str:
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
    tokens = bound.statement.tokens
    text = "".join(_write(token, bound.values) for token in tokens)
    return f"{text}\n;" if tokens[-1].text.startswith("--") else f"{text};"


def _write(token: Token, values: Mapping[str, JsonValue]) -> str:
    match token.kind:
        case Kind.HOLE:
            value = values[token.text]
            return f":'{token.text}'" if isinstance(value, dict) else literal(value)
        case Kind.TEXT:
            return _author_text(token.text)
        case _:
            return token.shown


def _author_text(text: str) -> str:
    """Write a text of the author's: as it stands, unless it holds what a terminal or psql would act on."""
    if visible(text.replace("\n", "")) == text.replace("\n", ""):
        return text
    if text[0] in "eE":
        return "E" + "".join(_escape_invisible_pair(pair) for pair in _ESCAPED.findall(text[1:]))
    if dollar := _DOLLAR_TEXT.match(text):
        return _lines(dollar.group(2))
    plain = _PLAIN_TEXT.match(text)
    return _lines(plain.group(1).replace("''", "'")) if plain else text


def _lines(value: str) -> str:
    return "E'" + "".join("\n" if character == "\n" else _escape(character) for character in value) + "'"


def _escape_invisible_pair(pair: str) -> str:
    if pair in {"\n", "\\\n"}:
        return pair
    return pair if visible(pair[-1]) == pair[-1] else _escape_invisible(pair[-1])


def connected(request: StepRequest, url: URL, lines: Sequence[str]) -> str:
    """Put lines between connecting to the database, without a password, and the end."""
    name = f"batchctl {request.instance.instance_id}"
    settings = [f"SET {setting} = {value};" for setting, value in SETTINGS.items()]
    set_up = [" ".join(settings[at : at + 4]) for at in range(0, len(settings), 4)]
    return "\n".join(
        [
            r"\set ON_ERROR_STOP on",
            r"\set ON_ERROR_ROLLBACK off",
            r"\set AUTOCOMMIT on",
            r"\set SINGLELINE off",
            r"\set QUIET on",
            r"\pset pager off",
            rf"\connect '{_uri(url, name)}'",
            r"\encoding UTF8",
            # An interactive psql that cannot connect goes on with the connection it had.
            rf"SELECT current_setting('application_name') = '{name}' AS connected \gset",
            r"\if :connected",
            *set_up,
            rf"{NO_TRANSACTION_TIMEOUT} \gset",
            r"\set QUIET off",
            *lines,
            r"\else",
            r"\warn 'not connected; nothing was done'",
            r"\endif",
        ]
    )


def _uri(url: URL, name: str) -> str:
    host = url.host or ""
    place = f"[{quote(host, safe=':')}]" if ":" in host else quote(host, safe="")
    asked = {**query_without_passwords(url), "application_name": name}
    return "".join(
        (
            "postgresql://",
            f"{quote(url.username, safe='')}@" if url.username else "",
            place,
            f":{url.port}" if url.port else "",
            f"/{quote(url.database or '', safe='')}",
            "?" + "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in asked.items()),
        )
    )


def secrets(around: Surroundings, every: Iterable[Mapping[str, JsonValue]]) -> list[str]:
    """Write how psql gets the secrets from where the configuration says they are."""
    lines = {
        _secret(around, name, value): None
        for values in every
        for name, value in values.items()
        if isinstance(value, dict)
    }
    return list(lines)


def _secret(around: Surroundings, name: str, value: Mapping[str, JsonValue]) -> str:
    kind, place = secret_source(around, value)
    if kind == "env":
        return rf"\getenv {name} '{_argument(place)}'"
    path = str(PurePath(around.directory, place))
    if visible(path) != path or "`" in path:
        return f"-- before you go on, set the secret: \\set {name} to what {visible(path)} holds"
    return rf"\set {name} `cat {shlex.quote(path)}`"


def _argument(text: str) -> str:
    return "".join(map(_escape, text))
