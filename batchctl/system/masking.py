"""Blotting out secrets wherever they come back, in every form they are likely to be written in."""

from __future__ import annotations

import re
from collections.abc import Iterable

from batchctl.system.spellings import LEAST, spellings

MASK = "***"

_CUT = re.compile(r"\n\[\.\.\. \d+ [^\n]*left out \.\.\.\]\n")


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return a text without the secrets, also where a cut has left only a part of one."""
    forms = sorted({form for secret in secrets for form in spellings(secret)}, key=len, reverse=True)
    for form in forms:
        text = text.replace(form, MASK)
    return _without_halves(text, forms) if forms else text


def left_open(text: str, forms: Iterable[str]) -> int:
    """Return where the end of a text begins that may prove to be the beginning of one of these forms."""
    known = tuple(forms)
    at = min((_begun(text, form) for form in known), default=len(text))
    while (before := min((_across(text, form, at) for form in known), default=at)) < at:
        at = before
    return at


def _begun(text: str, form: str) -> int:
    for length in range(min(len(form) - 1, len(text)), 0, -1):
        if text.endswith(form[:length]):
            return len(text) - length
    return len(text)


def _across(text: str, form: str, at: int) -> int:
    """Return where a form begins that a cut would go through; else the cut itself."""
    found = text.find(form, max(0, at - len(form) + 1), at + len(form) - 1)
    return found if 0 <= found < at else at


def telling(secrets: Iterable[str]) -> list[str]:
    """Return those that are long enough not to stand in any text by chance."""
    return [secret for secret in secrets if len(secret) >= LEAST]


def _without_halves(text: str, forms: list[str]) -> str:
    cut = _CUT.search(text)
    if cut is None:
        return text
    head, tail = text[: cut.start()], text[cut.end() :]
    for form in forms:
        for length in range(len(form) - 1, LEAST - 1, -1):
            if head.endswith(form[:length]):
                head = head[:-length] + MASK
            if tail.startswith(form[-length:]):
                tail = MASK + tail[length:]
    return f"{head}{cut.group()}{tail}"
