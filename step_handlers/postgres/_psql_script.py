"""A script for `psql`: it connects, fetches the secrets, carries out a step and disturbs nothing else."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from sqlalchemy import URL

from batchctl.plugin_api import Connection, JsonValue, StepContext, StepRequest, visible
from step_handlers.databases._database import secret_source
from step_handlers.databases._urls import password_source, query_without_passwords, url_of
from step_handlers.postgres._psql import NO_TRANSACTION_TIMEOUT, SETTINGS, escape

_THEIRS = "batchctl_pgpassword"
_OURS = "batchctl_password"
"""Variables of psql: the password it had in its environment, and the connection's."""


_CONNECTS = "by its application_name is told below whether it is connected"
_PSQL = (
    r"\set ON_ERROR_STOP on \set ON_ERROR_ROLLBACK off \set AUTOCOMMIT on \set SINGLELINE off \set QUIET on"
    r" \pset pager off"
)
_CONNECTED = (
    "SELECT ours AS connected, CASE WHEN ours THEN 'connected' ELSE 'not connected; nothing was done' END AS connection"
    r" FROM (SELECT current_setting('application_name') = '{name}' AS ours) AS name"
    r" \gset \encoding UTF8 \echo :connection \if :connected"
)


def command(text: str, why: str | None = None) -> str:
    """Write a command of psql, with its end, and why: a terminal's bracketed paste hands over all lines as one."""
    return rf"{text} \\" if why is None else rf"{text} \\ -- {why}"


def connected(request: StepRequest, connection: Connection, lines: Sequence[str]) -> str:
    """Put lines between connecting to the database, without showing a password, and the end."""
    name = f"batchctl {request.instance.instance_id}"
    settings = " ".join(f"SET {setting} = {value};" for setting, value in SETTINGS.items())
    connect = rf"\connect '{_uri(url_of(connection), name)}'"
    return "\n".join(
        [
            command(_PSQL, "stops at the first error; what is not between BEGIN and COMMIT is committed at once"),
            *_with_password(request.context, connection, connect),
            command(
                _CONNECTED.format(name=name), "a psql that could not connect is where it was: nothing below is done"
            ),
            command(
                rf"{settings} {NO_TRANSACTION_TIMEOUT} \gset \set QUIET off",
                "what a role or a database may have set otherwise",
            ),
            *lines,
            # Without \else: psql reports each line that it skips behind one.
            command(r"\endif", "what a psql that is not connected passes over ends here"),
        ]
    )


def _uri(url: URL, name: str) -> str:
    host = url.host or ""
    place = f"[{quote(host, safe=':')}]" if ":" in host else quote(host, safe="")
    asked = {**query_without_passwords(url), "application_name": name}
    return "".join(
        (
            "postgresql://",
            f"{quote(url.username, safe='')}@" if url.username else "",
            place,
            f":{url.port}" if url.port else "",
            f"/{quote(url.database or '', safe='')}",
            "?" + "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in asked.items()),
        )
    )


def secrets(context: StepContext, every: Iterable[Mapping[str, JsonValue]]) -> list[str]:
    """Write how psql gets the secrets from where the configuration says they are."""
    lines = {
        _secret(context, name, value): None
        for values in every
        for name, value in values.items()
        if isinstance(value, dict)
    }
    return list(lines)


def _secret(context: StepContext, name: str, value: Mapping[str, JsonValue]) -> str:
    kind, place = secret_source(context, value)
    path = _path(context, place)
    if kind == "file" and not _is_writable(path):
        return f"-- before you paste this, set the secret: \\set {name} to what {visible(path)} holds"
    # A value that another text has left under the name must not be taken for this secret.
    return "\n".join([command(rf"\unset {name}"), _fetched(name, kind, place, path)])


def _with_password(context: StepContext, connection: Connection, connect: str) -> list[str]:
    """Write how psql gets the password to connect: if it asked, it would drop what is pasted behind."""
    found = password_source(connection, context.secrets)
    if found is None:
        return [command(connect, _CONNECTS)]
    kind, place = found
    path = _path(context, place)
    if kind == "url" or (kind == "file" and not _is_writable(path)):
        holder = f"[connections.{visible(place)}]" if kind == "url" else visible(path)
        return [command(connect, f"before you start psql, set PGPASSWORD or .pgpass: the password is that of {holder}")]
    said = f"environment variable {visible(place)}" if kind == "env" else f"file {visible(path)}"
    return [
        f"-- the password to connect with comes from {said}",
        command(rf"\set {_THEIRS} ''"),
        command(rf"\getenv {_THEIRS} PGPASSWORD"),
        command(rf"\set {_OURS} ''"),
        _fetched(_OURS, kind, place, path),
        command(rf"\setenv PGPASSWORD :{_OURS}"),
        command(connect, _CONNECTS),
        command(rf"\setenv PGPASSWORD :{_THEIRS}"),
        command(rf"\unset {_OURS}"),
    ]


def _fetched(name: str, kind: str, place: str, path: str) -> str:
    if kind == "env":
        return command(rf"\getenv {name} '{_argument(place)}'")
    return command(rf"\set {name} `cat {shlex.quote(path)}`")


def _path(context: StepContext, place: str) -> str:
    return str(PurePath(context.directory, place))


def _is_writable(path: str) -> bool:
    """Say whether a path can stand between backticks."""
    return visible(path) == path and "`" not in path


def _argument(text: str) -> str:
    return "".join(map(escape, text))
