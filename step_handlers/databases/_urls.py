"""The URLs of target databases: read without ever showing a password."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from batchctl.plugin_api import Connection, is_password, passwords_in, redacted, reference, visible

_ODBC_PART = re.compile(r"([^;=]+)=(\{(?:[^}]|\}\})*+\}|[^;]*)")

_PASSWORD_KEYS = {"password", "pwd"}


class MalformedUrl(ValueError):
    """A URL that cannot be read; the message names the connection and never the URL, which may hold a password."""


def url_of(connection: Connection) -> URL:
    """Parse the URL of a connection, whose kind gets the name it has in SQLAlchemy; raises `MalformedUrl`."""
    try:
        url = make_url(connection.url)
    except (ArgumentError, ValueError):
        raise MalformedUrl(f"the url of connection '{visible(connection.name)}' cannot be read") from None
    _, plus, driver = url.drivername.partition("+")
    return url.set(drivername=f"{connection.dialect}{plus}{driver}")


def without_passwords(connection: Connection, text: str) -> str:
    """Blot out every password of a connection's URL wherever it stands in a text."""
    return redacted(text, passwords_in(connection.url))


def password_source(connection: Connection, sources: Mapping[str, str]) -> tuple[str, str] | None:
    """Return where a connection's password comes from: `env` or `file`, and its place.

    `url` and the connection's name, when it is written out there; None, when there is no password.
    """
    written = next(filter(None, _passwords(url_of(connection))), None)
    if written is None:
        return None
    # ODBC's braces may stand around those of a reference.
    name = reference(written) or reference(written[1:-1]) or ""
    kind, _, place = sources.get(name, f"url:{connection.name}").partition(":")
    return kind, place


def _passwords(url: URL) -> Iterator[str]:
    yield url.password or ""
    for key, values in url.normalized_query.items():
        for value in values:
            if key.lower() in _PASSWORD_KEYS:
                yield value
            elif key.lower() == "odbc_connect":
                yield from (
                    raw.strip() for part, raw in _ODBC_PART.findall(value) if part.strip().lower() in _PASSWORD_KEYS
                )


def odbc_parts(text: str) -> Iterator[tuple[str, str]]:
    """Return the keys and values of an ODBC connection string."""
    for match in _ODBC_PART.finditer(text):
        value = match.group(2).strip()
        if value.startswith("{"):
            value = value[1:-1].replace("}}", "}")
        yield match.group(1).strip(), value


def query_without_passwords(url: URL) -> dict[str, str]:
    """Return the query part of a URL, as text, without passwords."""
    return {
        key: ",".join(value)
        for key, value in url.normalized_query.items()
        if not is_password(key) and key.lower() != "odbc_connect"
    }
