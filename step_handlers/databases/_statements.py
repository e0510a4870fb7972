"""SQL text as tokens: enough to split it into statements and to know what stands in quotes or comments.

A `Grammar` says how one kind of database reads SQL; here is SQLite's. Bound values are tokens of their own, so no value
ever passes through here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, takewhile
from typing import NamedTuple

from batchctl.plugin_api import visible

HOLE = "\x00"
"""Encloses the number of a placeholder while a text is read: no fit text holds it."""


class TokenKind(StrEnum):
    """What a token is."""

    SPACE = "space"
    COMMENT = "comment"
    TEXT = "text"
    NAME = "name"
    HOLE = "hole"
    VARIABLE = "variable"
    WORD = "word"
    END = "end"
    OPEN = "open"
    OTHER = "other"


_SQLITE = re.compile(
    r"""
      (?P<space>[ \t\r\n\f]+)
    | (?P<comment>--[^\n]* | /\*.*?\*/)
    | (?P<text>'(?:[^']|'')*+')
    | (?P<name>"(?:[^"]|"")*+" | `(?:[^`]|``)*+` | \[[^\]]*\])
    | (?P<hole>\x00[0-9]+\x00)
    | (?P<variable>\?[0-9]* | [:@$][A-Za-z0-9_$\x80-\U0010FFFF]+)
    | (?P<word>[A-Za-z0-9_\x80-\U0010FFFF][A-Za-z0-9_$\x80-\U0010FFFF]*)
    | (?P<end>;)
    | (?P<open>['"`\[] | /\*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TRIGGER = re.compile(r"CREATE (TEMP |TEMPORARY )?TRIGGER\b")
_CLOSE = {"'": "'", '"': '"', "`": "`", "[": "]", "/*": "*/"}
_NESTING = re.compile(r"/\*|\*/")
_HOLE = re.compile(f"{HOLE}([0-9]+){HOLE}")
_GLUED = frozenset({TokenKind.TEXT, TokenKind.NAME, TokenKind.HOLE, TokenKind.VARIABLE, TokenKind.WORD})
_KINDS = {kind.value: kind for kind in TokenKind}
_UNSAID = frozenset({TokenKind.SPACE, TokenKind.COMMENT})


class MalformedSql(ValueError):
    """A text that cannot be carried out as SQL; the message gives the reason."""


class Token(NamedTuple):
    """A piece of SQL. `text` is what the author wrote; for a hole it is the name of the bound value."""

    kind: TokenKind
    text: str

    @property
    def shown(self) -> str:
        """Return it as it may stand in a text for a terminal, which would act on tabs and lone carriage returns."""
        match self.kind:
            case TokenKind.SPACE:
                return re.sub(r"[\t\r\f\v]", " ", self.text.replace("\r\n", "\n"))
            case TokenKind.COMMENT:
                return "\n".join(visible(line.rstrip("\r")) for line in self.text.split("\n"))
            case _:
                return self.text

    def written(self, value: Callable[[str], str], text: Callable[[str], str]) -> str:
        """Return it for a terminal: a bound value by its name, and a text that a terminal would act on, otherwise."""
        match self.kind:
            case TokenKind.HOLE:
                return value(self.text)
            case TokenKind.TEXT if visible(shown := self.text.replace("\n", "")) != shown:
                return text(self.text)
            case _:
                return self.shown


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, without the semicolon, without blanks around it."""

    tokens: tuple[Token, ...]
    line: int = 1
    """On which line of the author's text it begins, with its comments."""

    @property
    def words(self) -> list[str]:
        """Return what the statement begins with: at most four words, in capitals."""
        return first_words(self.tokens)

    @property
    def stated_at(self) -> int:
        """Return on which line its first word stands."""
        return self.line + _lines(takewhile(_is_unsaid, self.tokens))

    @property
    def names(self) -> list[str]:
        """Return the names of the bound values, each once."""
        return list(dict.fromkeys(token.text for token in self.tokens if token.kind is TokenKind.HOLE))

    @property
    def sql(self) -> str:
        """Return the text with every bound value as a `:name`."""
        return "".join(f":{token.text}" if token.kind is TokenKind.HOLE else token.text for token in self.tokens)


@dataclass(frozen=True, slots=True)
class Grammar:
    """How one kind of database reads SQL."""

    token: re.Pattern[str]
    """One token; its groups are named like the kinds."""
    split: Callable[[Iterable[Token]], Iterator[list[Token]]]
    """Cut tokens into statements; raises `MalformedSql` when the last one is not complete."""
    nests_comments: bool = True


def name_parts(name: str, part: re.Pattern[str], most: int) -> list[re.Match[str]]:
    """Read a name of one or more parts, each with the `dot` behind it; none when it is no such name."""
    found = []
    at = 0
    while read := part.match(name, at):
        found.append(read)
        at = read.end()
        if not read["dot"]:
            return found if len(found) <= most else []
    return []


def with_holes(pieces: Sequence[str | int]) -> str:
    """Join literal texts and the numbers of placeholders."""
    return "".join(piece if isinstance(piece, str) else f"{HOLE}{piece}{HOLE}" for piece in pieces)


def statements(text: str, names: Sequence[str], grammar: Grammar | None = None) -> list[Statement]:
    """Split a text; hole number n becomes the bound value `names[n]`. Raises `MalformedSql`."""
    reads = grammar or SQLITE
    found: list[Statement] = []
    line = 1
    for present in reads.split(_named(_tokens(text.removeprefix("\ufeff"), reads), names)):
        found += _stripped(present, line)
        line += _lines(present)
    if not found:
        raise MalformedSql("there is no SQL statement")
    return found


def _sqlite_statements(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    present: list[Token] = []
    for token in tokens:
        if token.kind is not TokenKind.END:
            present.append(token)
        elif _is_complete(present):
            yield present
            present = []
        else:
            present.append(Token(TokenKind.OTHER, token.text))
    if not _is_complete(present):
        raise MalformedSql("the last statement is not complete; a CREATE TRIGGER ends with END")
    yield present


SQLITE = Grammar(_SQLITE, _sqlite_statements, nests_comments=False)


def bind(statement: Statement, values: Mapping[str, str]) -> Statement:
    """Turn the author's own `:name` into bound values; `values` maps names in lower case to those of the values."""
    return Statement(
        tuple(
            Token(TokenKind.HOLE, values[token.text[1:].lower()]) if token.kind is TokenKind.VARIABLE else token
            for token in statement.tokens
        ),
        statement.line,
    )


def variables(found: Sequence[Statement]) -> list[str]:
    """Return the author's own parameters, such as `:name` and `?`, each once."""
    return list(
        dict.fromkeys(
            token.text for statement in found for token in statement.tokens if token.kind is TokenKind.VARIABLE
        )
    )


def _tokens(text: str, grammar: Grammar) -> list[Token]:
    found = []
    at = 0
    while match := grammar.token.match(text, at):
        kind = _KINDS[match.lastgroup or "other"]
        at = match.end()
        if grammar.nests_comments and match.group().startswith("/*"):
            kind, at = TokenKind.COMMENT, _end_of_comment(text, match.start())
        if kind is TokenKind.OPEN:
            raise MalformedSql(f"a {match.group()} is never closed with {_CLOSE.get(match.group(), match.group())}")
        found.append(Token(kind, text[match.start() : at]))
    return found


def _end_of_comment(text: str, start: int) -> int:
    depth = 0
    for mark in _NESTING.finditer(text, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    raise MalformedSql("a /* is never closed with */")


def _named(tokens: Sequence[Token], names: Sequence[str]) -> Iterator[Token]:
    for at, token in enumerate(tokens):
        _look_at(token, names)
        if token.kind in {TokenKind.HOLE, TokenKind.VARIABLE}:
            _must_stand_alone(tokens, at, names)
        yield Token(TokenKind.HOLE, names[_number(token)]) if token.kind is TokenKind.HOLE else token


def _look_at(token: Token, names: Sequence[str]) -> None:
    match token.kind:
        case TokenKind.TEXT | TokenKind.NAME | TokenKind.COMMENT if hole := _HOLE.search(token.text):
            where = "a comment" if token.kind is TokenKind.COMMENT else "quotes"
            advice = (
                "take it out"
                if token.kind is TokenKind.COMMENT
                else "remove the quotes: placeholders are bound as values"
            )
            raise MalformedSql(f"{{{names[int(hole.group(1))]}}} stands in {where}; {advice}")
        case TokenKind.NAME | TokenKind.WORD | TokenKind.OTHER if (
            visible(token.text) != token.text or "\xa0" in token.text
        ):
            shown = visible(token.text).replace("\xa0", r"\xa0")
            raise MalformedSql(f"there is an invisible character in '{shown[:60]}'; type that place again")
        case _:
            pass


def _must_stand_alone(tokens: Sequence[Token], at: int, names: Sequence[str]) -> None:
    before = tokens[at - 1] if at else None
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    glued_before = before is not None and (before.kind in _GLUED or before.text in {":", "@", "$", "#"})
    glued_after = after is not None and (after.kind in _GLUED or after.text in {":", "(", "@", "$", "#"})
    if glued_before or glued_after:
        token = tokens[at]
        name = f"{{{names[_number(token)]}}}" if token.kind is TokenKind.HOLE else token.text
        raise MalformedSql(f"{name} touches what stands beside it; it is a value, never a part of a name: set it apart")


def _number(token: Token) -> int:
    return int(token.text.strip(HOLE))


def _is_complete(tokens: Sequence[Token]) -> bool:
    """Say whether a semicolon here ends the statement: inside CREATE TRIGGER only the one behind `; END` does."""
    if not tokens or not _TRIGGER.match(" ".join(first_words(tokens))):
        return True
    meant = (token.text.upper() for token in reversed(tokens) if token.kind not in _UNSAID)
    return [next(meant, None), next(meant, None)] == ["END", ";"]


def first_words(tokens: Iterable[Token]) -> list[str]:
    """Return what tokens begin with: at most four words, in capitals."""
    return list(islice((token.text.upper() for token in tokens if token.kind not in _UNSAID), 4))


def _stripped(tokens: Sequence[Token], line: int) -> list[Statement]:
    """Return the statement that begins on a line as a list of one; an empty list for only blanks and comments."""
    start = next((at for at, token in enumerate(tokens) if token.kind is not TokenKind.SPACE), len(tokens))
    end = next((at for at in range(len(tokens), start, -1) if tokens[at - 1].kind is not TokenKind.SPACE), start)
    if all(map(_is_unsaid, tokens)):
        return []
    return [Statement(tuple(tokens[start:end]), line + _lines(tokens[:start]))]


def _is_unsaid(token: Token) -> bool:
    return token.kind in _UNSAID


def _lines(tokens: Iterable[Token]) -> int:
    return sum(token.text.count("\n") for token in tokens)
