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
