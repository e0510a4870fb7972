"""Opening the control database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, event, make_url
from sqlalchemy.exc import ArgumentError

from batchctl.domain import urls
from batchctl.domain.errors import ConfigurationError, DatabaseRefused
from batchctl.domain.text import visible
from batchctl.store.dialects import NAMES, dialect_named, sqlite


def open_engine(url: str | Callable[[], str], directory: Path, *, may_create: bool = False) -> Engine:
    """Return an engine for the control database; a missing one is made only if `may_create`.

    A callable `url` is called again at every connect, so that a password that was changed is taken up.
    """
    way = _Way(url if callable(url) else lambda: url)
    parsed = way.url()
    name = parsed.get_backend_name()
    dialect = dialect_named(name)
    if dialect is None:
        message = f"The setting database_url names {visible(name)}; batchctl keeps its tables in {', '.join(NAMES)}."
        such_as = "postgresql://, not postgres://" if name == "postgres" else "sqlite:///batchctl.db"
        raise ConfigurationError(message, next_step=f"set database_url to a URL such as {such_as}")
    made = dialect.create(parsed, directory, may_create=may_create, renewed=way.renewed)
    return discreet(made, lambda: way.passwords)


class _Way:
    """The URL of the control database: asked for anew, and remembered by its passwords alone."""

    def __init__(self, ask: Callable[[], str]) -> None:
        self._ask = ask
        self.passwords: tuple[str, ...] = ()
        """Of the URL as it was asked for last, and of the one before."""
        self._newest: tuple[str, ...] = ()

    def url(self) -> URL:
        """Return the URL as it is now."""
        text = self._ask()
        before, self._newest = self._newest, urls.passwords_in(text)
        self.passwords = tuple(dict.fromkeys(self._newest + before))
        try:
            if "\x00" in text:
                raise ArgumentError
            return make_url(text)
        except (ArgumentError, ValueError):
            message = "The setting database_url is not a database URL; write one such as sqlite:///batchctl.db."
            next_step = (
                "correct it in batchctl.toml, or BATCHCTL_DATABASE_URL (on a server: postgresql://user@host/database)"
            )
            raise ConfigurationError(message, next_step=next_step) from None

    def renewed(self) -> URL:
        """Return the URL for one more connection; a secret that is away for a while is no reason to end a controller."""
        try:
            return self.url()
        except ConfigurationError as error:
            message = f"The control database cannot be connected to: {error.message}"
            raise DatabaseRefused(message, next_step=error.next_step or "batchctl doctor") from error


def discreet(engine: Engine, passwords: Callable[[], tuple[str, ...]]) -> Engine:
    """Keep the passwords of a URL out of what an engine shows of itself and out of the errors of its driver."""

    def connect(dialect: Any, record: Any, arguments: list[Any], named: dict[str, Any]) -> Any:  # noqa: ARG001 - SQLAlchemy's hook
        try:
            return dialect.connect(*arguments, **named)
        except Exception as error:
            _redact(error, passwords())
            raise

    # The driver's arguments have been made already: from here on the URL is only shown.
    engine.url = _without_passwords(engine.url, passwords())
    event.listen(engine, "do_connect", connect)
    return engine


def _redact(error: BaseException, passwords: tuple[str, ...]) -> None:
    error.args = tuple(urls.redacted(said, passwords) if isinstance(said, str) else said for said in error.args)
    for name, said in getattr(error, "__dict__", {}).items():
        if isinstance(said, str):
            setattr(error, name, urls.redacted(said, passwords))
    for other in (error.__cause__, error.__context__):
        if other is not None:
            _redact(other, passwords)


def _without_passwords(url: URL, passwords: tuple[str, ...]) -> URL:
    query = {
        key: urls.redacted(urls.odbc_without_passwords(",".join(value)), passwords)
        if key.lower() == "odbc_connect"
        else url.query[key]
        for key, value in url.normalized_query.items()
        if not urls.is_password(key)
    }
    # What stands behind an unquoted `@` of a password is taken for the host.
    host = None if url.host is None else urls.redacted(url.host, passwords)
    return URL.create(url.drivername, url.username, None, host, url.port, url.database, query)


def file_of(url: str, directory: Path) -> Path | None:
    """Return the file of a SQLite control database."""
    parsed = _Way(lambda: url).url()
    return sqlite.database_path(parsed, directory) if parsed.get_backend_name() == "sqlite" else None
