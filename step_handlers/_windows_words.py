"""Windows command lines: splitting a command into words by the rules of CommandLineToArgvW."""

from __future__ import annotations

import re

_BLANK = " \t\r\n"
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
