"""Blotting out secrets wherever they come back, in every form they are likely to be written in."""

from __future__ import annotations

import base64
import json
import re
import urllib.parse
from collections.abc import Iterable, Iterator
from functools import lru_cache

from batchctl.domain.text import visible

MASK = "***"
_LEAST = 4
"""Fewer characters of a secret, at a place where output was cut, tell nothing and may be anything."""

_CUT = re.compile(r"\n\[\.\.\. \d+ [^\n]*left out \.\.\.\]\n")


def masked(text: str, secrets: Iterable[str]) -> str:
    """Return a text without the secrets, also where a cut has left only a part of one."""
    forms = sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)
    for form in forms:
        text = text.replace(form, MASK)
    return _without_halves(text, forms) if forms else text


def telling(secrets: Iterable[str]) -> list[str]:
    """Return those that are long enough not to stand in any text by chance."""
    return [secret for secret in secrets if len(secret) >= _LEAST]


@lru_cache(maxsize=64)
def _forms(secret: str) -> set[str]:
    raw = secret.encode()
    forms = {
        secret,
        visible(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        secret.replace("'", "''"),
        raw.hex(),
        raw.hex().upper(),
        *_in_base64(raw),
        urllib.parse.quote(secret),
        urllib.parse.quote_plus(secret),
    }
    return forms - {""}


def _in_base64(raw: bytes) -> Iterator[str]:
    """Yield how a secret looks in base64, alone and with other bytes before and after it, but for what these have a part in."""
    yield base64.b64encode(raw).decode("ascii")
    for before in range(3):
        whole = base64.b64encode(bytes(before) + raw)
        of_it = whole[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6].decode("ascii")
        if len(of_it) >= _LEAST:
            yield from (of_it, of_it.replace("+", "-").replace("/", "_"))


def _without_halves(text: str, forms: list[str]) -> str:
    cut = _CUT.search(text)
    if cut is None:
        return text
    head, tail = text[: cut.start()], text[cut.end() :]
    for form in forms:
        for length in range(len(form) - 1, _LEAST - 1, -1):
            if head.endswith(form[:length]):
                head = head[:-length] + MASK
            if tail.startswith(form[-length:]):
                tail = MASK + tail[length:]
    return f"{head}{cut.group()}{tail}"
