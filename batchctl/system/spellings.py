"""The forms in which programs write a secret."""

from __future__ import annotations

import base64
import html
import itertools
import json
import re
import shlex
import urllib.parse
from collections.abc import Iterator
from functools import lru_cache

from batchctl.domain.text import visible

LEAST = 4
"""Fewer characters of a secret, where output was cut, reveal nothing and may be anything."""

_LEAST_OF_A_LINE = 8
"""A line of a secret with fewer characters, blanks not counted, may be anything."""

_PEM_BOUNDARY = "-----"
_QUOTES = ("'", "&#x27;", "&#39;", "&apos;")
_DOUBLE_QUOTES = ('"', "&quot;", "&#34;")


@lru_cache(maxsize=64)
def spellings(secret: str) -> frozenset[str]:
    """Return every form of a secret, and of each of its lines that would reveal something alone."""
    return frozenset(form for part in (secret, *_lines(secret)) for form in _forms(part) if form)


def _lines(secret: str) -> Iterator[str]:
    lines = secret.splitlines()
    if len(lines) < 2:
        return
    for line in lines:
        if len("".join(line.split())) >= _LEAST_OF_A_LINE and not line.startswith(_PEM_BOUNDARY):
            yield line.strip()


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode()
    yield from (secret, visible(secret))
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield secret.replace("'", "''")
    yield from (raw.hex(), raw.hex().upper())
    yield from _in_base64(raw)
    yield from (urllib.parse.quote(secret), urllib.parse.quote_plus(secret))
    yield from _in_shell(secret)
    yield from _in_python(secret)
    yield from _in_markup(secret)


def _in_base64(raw: bytes) -> Iterator[str]:
    """Yield how a secret looks in base64, alone and amid other bytes, without the characters that these share."""
    yield base64.b64encode(raw).decode("ascii")
    for before in range(3):
        whole = base64.b64encode(bytes(before) + raw)
        of_it = whole[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6].decode("ascii")
        if len(of_it) >= LEAST:
            yield from (of_it, of_it.replace("+", "-").replace("/", "_"))


def _in_shell(secret: str) -> Iterator[str]:
    """Yield what stands between the outer quotes, as `set -x`, `shlex.quote`, `declare -p` and `printf %q` write it."""
    yield secret.replace("'", "'\\''")
    yield shlex.quote(f" {secret}")[2:-1]
    yield re.sub(r'(["$`\\])', r"\\\1", secret)
    yield re.sub(r"([^\w%+./:=@-])", r"\\\1", secret)


def _in_python(secret: str) -> Iterator[str]:
    """Yield what stands between the quotes of a text and of its UTF-8 bytes, with `'` as it is and escaped."""
    # A double quote before it makes Python take single quotes, and escape those of the secret.
    for form in (repr(f'"{secret}')[2:-1], ascii(f'"{secret}')[2:-1], repr(b'"' + secret.encode())[3:-1]):
        yield from (form, form.replace("\\'", "'"))


def _in_markup(secret: str) -> Iterator[str]:
    """Yield how HTML and XML write it, with quotes as they are and as any of their entities."""
    text = html.escape(secret, quote=False)
    for quote, double in itertools.product(_QUOTES, _DOUBLE_QUOTES):
        form = text.replace("'", quote).replace('"', double)
        yield from (form, form.encode("ascii", "xmlcharrefreplace").decode("ascii"))
