"""Opening the control database."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, make_url
from sqlalchemy.exc import ArgumentError

from batchctl.domain.errors import ConfigurationError
from batchctl.store.dialects import sqlite


def open_engine(url: str, directory: Path, *, may_create: bool = False) -> Engine:
    """Return an engine for the control database; a missing one is made only if `may_create`."""
    try:
        if "\x00" in url:
            raise ArgumentError
        parsed = make_url(url)
    except ArgumentError:
        message = "The setting database_url is not a database URL; write one such as sqlite:///batchctl.db."
        raise ConfigurationError(message) from None
    if parsed.get_backend_name() != "sqlite":
        message = f"This version keeps its tables in SQLite; database_url names {parsed.get_backend_name()}."
        raise ConfigurationError(message, next_step="set database_url to a URL such as sqlite:///batchctl.db")
    return sqlite.create(parsed, directory, may_create=may_create)


def lock_path(url: str, directory: Path) -> Path:
    """Return the file whose lock says that a controller works on the database."""
    database = sqlite.database_path(make_url(url), directory)
    return database.with_name(f"{database.name}.controller")
