"""Windows command lines: splitting and joining words by the rules of CommandLineToArgvW, and what cmd makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from batchctl.plugin_api import visible

_BLANK = " \t\r\n"
_ACTS_IN_CMD = re.compile(r'["%!^&|<>()\r\n]')
_SPLITS_IN_CMD = re.compile("[,;=]")
_NEEDS_QUOTES = re.compile(r"[ \t]|\A\Z")
_SLASHES_BEFORE_QUOTE = re.compile(r'(\\*)(["]|\Z)')
_PIECE = re.compile(r'(\\*)"|\\+|[^\\"]')


def split_words(text: str) -> list[str]:
    """Split a command as Windows programs do; raises `ValueError` when a quote is not closed.

    The first word, the program, knows no backslash escapes: it may end with one. In the others 2n backslashes before
    a quote are n backslashes, and one more makes the quote stand for itself; `""` inside quotes is a quote.
    """
    text = text.strip(_BLANK)
    if not text:
        return []
    program, at = _program(text)
    words = [program]
    while (at := _behind_blanks(text, at)) < len(text):
        word, at = _word(text, at)
        words.append(word)
    return words


def _program(text: str) -> tuple[str, int]:
    if text.startswith('"'):
        end = text.find('"', 1)
        if end < 0:
            raise ValueError("No closing quotation")
        return text[1:end], end + 1
    end = next((at for at, character in enumerate(text) if character in _BLANK), len(text))
    return text[:end], end


def _behind_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _word(text: str, at: int) -> tuple[str, int]:
    word: list[str] = []
    quoted = False
    while at < len(text) and (quoted or text[at] not in _BLANK):
        piece = _PIECE.match(text, at)
        if piece is None:
            raise ValueError("No closing quotation")
        at = piece.end()
        slashes = piece.group(1)
        if slashes is None:
            word.append(piece.group())
            continue
        word.append(slashes[: len(slashes) // 2])
        if len(slashes) % 2:
            word.append('"')
        elif quoted and text[at : at + 1] == '"':
            word.append('"')
            at += 1
        else:
            quoted = not quoted
    if quoted:
        raise ValueError("No closing quotation")
    return "".join(word), at


def join_words(words: Iterable[str]) -> str:
    """Write words as one command line, as the standard library does when it starts a process."""
    return " ".join(_joined(word) for word in words)


def _joined(word: str) -> str:
    is_quoted = _NEEDS_QUOTES.search(word) is not None

    def doubled(found: re.Match[str]) -> str:
        slashes, quote = found.groups()
        if quote:
            return f'{slashes * 2}\\"'
        return slashes * 2 if is_quoted else slashes

    written = _SLASHES_BEFORE_QUOTE.sub(doubled, word)
    return f'"{written}"' if is_quoted else written


def acts_in_cmd(text: str) -> str | None:
    """Return the first character that cmd would interpret in a batch file's argument, to be shown; None if none."""
    return _first(_ACTS_IN_CMD, text)


def changes_in_cmd(value: str) -> str | None:
    """Return the first character for which a value would not reach a batch file as one argument; None without one."""
    return _first(_ACTS_IN_CMD, value) or _first(_SPLITS_IN_CMD, value)


def is_doubled_for_cmd(argument: str) -> bool:
    """Say whether a batch file would get a backslash too many: programs undo one before a closing quote, cmd not."""
    return argument.endswith("\\") and _NEEDS_QUOTES.search(argument) is not None


def _first(pattern: re.Pattern[str], text: str) -> str | None:
    found = pattern.search(text)
    return None if found is None else visible(found.group())
