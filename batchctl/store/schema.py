"""The schema's version: where the migrations are, upgrading, verifying, printing."""

from __future__ import annotations

import io
from importlib.resources import files
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from batchctl.domain.errors import DatabaseUnusable, SchemaMismatch

DIALECTS = ("sqlite",)


def migrations_path() -> Path:
    """Return where the migrations lie: inside the installed package, or beside it in a checkout."""
    package = Path(str(files("batchctl")))
    shipped = package / "migrations"
    if shipped.is_dir():
        return shipped
    checkout = package.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / "migrations").is_dir():
        return checkout / "migrations"
    message = "The migrations are missing from this installation."
    raise DatabaseUnusable(message, next_step="install batchctl again")


def newest_revision() -> str:
    """Return the revision this version of batchctl works with."""
    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def revision_of(connection: Connection) -> str | None:
    """Return the revision a database is at; None when it was never prepared."""
    return MigrationContext.configure(connection).get_current_revision()


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Bring a database to a revision, inside the caller's transaction."""
    command.upgrade(_config(connection), revision)


def downgrade(connection: Connection, revision: str) -> None:
    """Take a database back to a revision, inside the caller's transaction."""
    command.downgrade(_config(connection), revision)


def script(dialect: str) -> str:
    """Return the SQL that builds the newest schema from nothing."""
    printed = io.StringIO()
    config = _config()
    config.attributes["dialect"] = dialect
    config.output_buffer = printed
    command.upgrade(config, "head", sql=True)
    return printed.getvalue()


def verify(connection: Connection) -> None:
    """Refuse a database whose schema this version does not work with."""
    found, needed = revision_of(connection), newest_revision()
    if found == needed:
        return
    if found is None:
        message = f"The control database holds no batchctl tables; this version needs schema {needed}."
        raise SchemaMismatch(message, next_step="batchctl db upgrade")
    known = {revision.revision for revision in ScriptDirectory.from_config(_config()).walk_revisions()}
    if found in known:
        message = f"The control database has schema {found}; this version needs {needed}."
        raise SchemaMismatch(message, next_step="batchctl db upgrade, or give a DBA the text of: batchctl db script")
    message = f"The control database has schema {found}, which is newer than this version of batchctl ({needed})."
    raise SchemaMismatch(message, next_step="install the version of batchctl that made it")


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations_path()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
