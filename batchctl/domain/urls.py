"""The URLs of databases: the secrets they refer to, and the passwords in them, which are never shown."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import parse_qsl, quote, quote_plus, unquote, unquote_plus

from batchctl.domain.text import visible

MASK = "***"
"""Stands where a password stood."""

_REFERENCE = re.compile(r"(?:\{|%7B)secret(?::|%3A)(?P<name>[^{}%&;@/?]+)(?:\}|%7D)", re.IGNORECASE)
_BEGUN = re.compile(r"(?:\{|%7B)secret", re.IGNORECASE)
_UNQUOTED = re.compile(r"\w[\w+]*://[^:/]*:[^@]*@.*@", re.DOTALL)
_BEFORE_A_PASSWORD = re.compile(r"\w[\w+]*://[^:/@]*:[^@/?]*|[^?]*\?.*", re.DOTALL)
_WITH_USER = re.compile(r"[^:]*://[^:/]*:(?P<rest>.*)\Z", re.DOTALL)
_IN_ODBC = re.compile(r"[?&]odbc_connect=[^&]*\Z", re.IGNORECASE)
_ODBC_PART = re.compile(r"(?P<key>[^;=]+)=(?P<value>\s*\{(?:[^}]|\}\})*+(?:\}|\Z)[^;]*|[^;]*)")
_NEEDS_BRACES = frozenset("[]{}(),;?*=!@")
_SECRET_KEY = re.compile(r"pwd|pass(?!file)|secret|token", re.IGNORECASE)


def references(url: str) -> tuple[str, ...]:
    """Return the names of the secrets that a URL refers to as `{secret:NAME}`."""
    return tuple(match["name"] for match in _REFERENCE.finditer(url))


def unquoted_password(url: str) -> str | None:
    """Return what is wrong with a URL whose password ends too early, at an `@` of its own; None when nothing is."""
    if _UNQUOTED.match(url) is None:
        return None
    return (
        "percent-encode @ / : # ? in the password (@ is %40), or write {secret:NAME}; an @ behind the host is %40, too"
    )


def reference(text: str) -> str | None:
    """Return the name of the secret that a text refers to; None when it holds anything else."""
    found = _REFERENCE.fullmatch(text)
    return found and found["name"]


def misplaced_reference(url: str) -> str | None:
    """Return what is wrong with how a URL refers to secrets; None when nothing is."""
    if len(_BEGUN.findall(url)) != len(references(url)):
        return "write a reference to a secret as {secret:NAME}"
    if all(_BEFORE_A_PASSWORD.fullmatch(url[: match.start()]) for match in _REFERENCE.finditer(url)):
        return None
    return (
        "a secret may stand for the password or for a value behind the '?'; a whole URL may come from the environment,"
        " as BATCHCTL_DATABASE_URL or BATCHCTL_CONNECTIONS__NAME__URL"
    )


def with_secrets(url: str, secret: Callable[[str], str]) -> str:
    """Return a URL with the values of the secrets that it refers to, quoted as their places need it."""

    def written(match: re.Match[str]) -> str:
        before = url[: match.start()]
        value = secret(match["name"])
        if _IN_ODBC.search(before):
            value = _odbc_value(value, in_braces=unquote(before).endswith("{"))
        return quote(value, safe="", errors="replace")

    return _REFERENCE.sub(written, url)


def passwords_in(url: str) -> tuple[str, ...]:
    """Return the passwords that are written out in a URL; a reference to a secret is none."""
    written_out = _REFERENCE.sub("", url)
    found = [*_behind_the_user(written_out), *_behind_the_question_mark(written_out)]
    return tuple(dict.fromkeys(password for password in found if password))


def redacted(text: str, passwords: Iterable[str]) -> str:
    """Return a text without the passwords, in whatever form they are likely to have been written."""
    forms = {form for password in passwords for form in _forms(password) if form.strip("*")}
    if not forms:
        return text
    pattern = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)), re.IGNORECASE)
    # What stood around a password may be one together with the mask.
    while (cleaned := pattern.sub(MASK, text)) != text:
        text = cleaned
    return text


def is_password(key: str) -> bool:
    """Say whether a key of a URL or of an ODBC connection string holds a password."""
    return _SECRET_KEY.search(key) is not None


def odbc_without_passwords(text: str) -> str:
    """Return an ODBC connection string with a mask for every password."""
    return _ODBC_PART.sub(lambda match: f"{match['key']}={MASK}" if is_password(match["key"]) else match.group(), text)


def _odbc_value(value: str, *, in_braces: bool) -> str:
    doubled = value.replace("}", "}}")
    if in_braces:
        return doubled
    return f"{{{doubled}}}" if not _NEEDS_BRACES.isdisjoint(value) or value != value.strip() else value


def _behind_the_user(url: str) -> Iterator[str]:
    found = _WITH_USER.match(url)
    if found is None or "@" not in found["rest"]:
        return
    # A password with an unquoted `@` is cut there, and what follows is taken for the host: each piece may come back.
    written = found["rest"].rpartition("@")[0]
    yield written
    yield from written.split("@")


def _behind_the_question_mark(url: str) -> Iterator[str]:
    for key, value in parse_qsl(url.partition("?")[2]):
        if key.lower() == "odbc_connect":
            # SQLAlchemy undoes the quoting once more than the rest of the URL has it.
            for plain in sorted(_decoded(value), key=len):
                yield from _in_odbc(plain)
        elif is_password(key):
            yield value


def _in_odbc(text: str) -> Iterator[str]:
    for match in _ODBC_PART.finditer(text):
        if not is_password(match["key"]):
            continue
        value = match["value"].strip()
        inner = value[1:].removesuffix("}") if value.startswith("{") else value
        if inner:
            yield value
            yield inner
            yield inner.replace("}}", "}")


def _decoded(password: str) -> set[str]:
    """Return a password as it stands and with its quoting undone, as often as it may have been quoted."""
    found = {password}
    while more := {undone for plain in found for undone in (unquote(plain), unquote_plus(plain))} - found:
        found |= more
    return found


def _forms(password: str) -> Iterator[str]:
    for plain in _decoded(password):
        yield plain
        yield visible(plain)
        yield repr(plain)[1:-1]
        yield json.dumps(plain)[1:-1]
        yield plain.replace("}", "}}")
        yield plain.replace("'", "''")
        yield plain.replace("\\", "\\\\").replace("'", "\\'")
        yield quote(plain, errors="replace")
        yield quote(plain, safe="", errors="replace")
        yield quote_plus(plain, errors="replace")
        yield quote_plus(plain.replace("}", "}}"), errors="replace")
