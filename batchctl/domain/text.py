"""What text may hold, and how to show text that may hold anything."""

from __future__ import annotations

import difflib
import shlex
import unicodedata
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

NAME_LIMIT = 200
"""How many characters a column of names takes."""
REASON_LIMIT = 4000
"""How many characters of a reason are kept."""
_LEFT_OUT = "[SQL: ", "(Background on this error at: "
"""How a line begins that says nothing of an error itself."""
MOST_KNOWN = 8
"""How many known words are listed where none is near."""


def unfit(value: str) -> str | None:
    """Return why a text cannot be stored, passed or shown everywhere; None when it can."""
    if "\x00" in value:
        return "it contains a NUL character"
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        return "it contains bytes that are not valid UTF-8"
    return None


def storable(value: str) -> str:
    """Write what no table can hold as an escape."""
    if unfit(value) is None:
        return value
    return "".join(_escape(at) if at == "\x00" or "\ud800" <= at <= "\udfff" else at for at in value)


def is_invisible(character: str) -> bool:
    """Say whether a character acts on a terminal or on its neighbours instead of being seen."""
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(value: str) -> str:
    """Write a text on one line, with everything invisible as an escape."""
    if value.isascii() and value.isprintable():
        return value
    return "".join(_escape(character) if is_invisible(character) else character for character in value)


def typed(name: str) -> str:
    """Write a name as one word of a command that people copy."""
    return shlex.quote(visible(name))


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def shorten(value: str, limit: int) -> str:
    """Cut a text for display, with a note of the cut."""
    return value if len(value) <= limit else f"{value[: limit - 1]}…"


def capitalized(text: str) -> str:
    """Return a text that begins a sentence."""
    return text[:1].upper() + text[1:]


def fitting(name: str) -> str:
    """Return a name as a column of names takes it."""
    return shorten(storable(name), NAME_LIMIT)


def nearest(unknown: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like a mistyped one, if any is near."""
    folded = {word.lower(): word for word in sorted(known)}
    near = difflib.get_close_matches(unknown.lower(), folded, n=1)
    return folded[near[0]] if near else None


def did_you_mean(unknown: str, known: Iterable[str]) -> str:
    """Return ` Did you mean 'x'?`, or the first known words when nothing is near, or nothing."""
    words = sorted(known)
    near = nearest(unknown, words)
    if near is not None:
        return f" Did you mean '{near}'?"
    if len(words) > MOST_KNOWN:
        return f" Known: {', '.join(words[:MOST_KNOWN])}, ... ({len(words)} in all)."
    return f" Known: {', '.join(words)}." if words else ""


_SAYS_THE_ROW = {"23502", "23514"}
"""PostgreSQL's errors of a column that is empty, and of a CHECK."""


def message_of(error: BaseException) -> str:
    """Return on one line the message of an error, or of the driver's error that it comes from: never the statement."""
    origin = getattr(error, "orig", None) or error
    diagnosis = getattr(origin, "diag", None)
    said = _diagnosed(diagnosis) if getattr(diagnosis, "sqlstate", None) else _without_statement(str(origin))
    return shorten(visible(" ".join(said.split())), REASON_LIMIT)


def _diagnosed(diagnosis: Any) -> str:
    """Return the message of a PostgreSQL error, without its place in a function."""
    # Its detail is then the whole row, with a number that differs each time it is tried.
    detail = None if diagnosis.sqlstate in _SAYS_THE_ROW else diagnosis.message_detail
    said = (diagnosis.message_primary, detail, diagnosis.message_hint)
    return "\n".join(filter(None, said)) or f"SQLSTATE {diagnosis.sqlstate}"


def _without_statement(wording: str) -> str:
    """Return SQLAlchemy's message without the statement, its values and an address of its own."""
    return "\n".join(takewhile(lambda line: not line.startswith(_LEFT_OUT), wording.splitlines()))


def in_short(error: Exception) -> str:
    """Return on one line the class of an error, and its message."""
    return f"{type(error).__name__}: {message_of(error)}".removesuffix(": ")
