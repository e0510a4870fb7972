"""The schema's version: where the migrations are, upgrading, verifying, printing."""

from __future__ import annotations

import io
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from sqlalchemy import Connection, create_engine, inspect, text

from batchctl.domain.errors import DatabaseRefused, SchemaMismatch
from batchctl.store import views
from batchctl.store.dialects import NAMES, dialect_of
from batchctl.store.maintenance import former_tables
from batchctl.store.maintenance.sql_script import headed
from batchctl.store.maintenance.tsql_script import with_guards
from batchctl.store.tables import metadata

if TYPE_CHECKING:
    from alembic.config import Config

DIALECTS = NAMES

_REVISION = text("SELECT version_num FROM alembic_version")
_FORGET_REVISION = text("DELETE FROM alembic_version")


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
    raise DatabaseRefused(message, next_step="install batchctl again")


def revisions() -> list[str]:
    """Return the revisions of databases that this version of batchctl takes, oldest first; the last is what it works with."""
    return [*former_tables.REVISIONS, *_own_revisions()]


def newest_revision() -> str:
    """Return the revision this version of batchctl works with."""
    return _own_revisions()[-1]


def _own_revisions() -> list[str]:
    """Return the numbers that the names of the migrations' files begin with."""
    paths = (migrations_path() / "versions").glob("[0-9]*_*.py")
    return sorted(path.name.partition("_")[0] for path in paths)


def revision_of(connection: Connection) -> str | None:
    """Return the revision a database is at; None when it was never prepared."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = [str(each) for each in connection.execute(_REVISION).scalars()]
    if len(found) > 1:
        message = f"The control database says of itself that it has several schemas: {', '.join(sorted(found))}."
        next_step = "restore a backup: a script that makes the tables was run where there were some"
        raise SchemaMismatch(message, next_step=next_step)
    return found[0] if found else None


def check_upgradable(connection: Connection) -> None:
    """Refuse a database that a newer version made, or where a table or view of others has a name of batchctl's."""
    found = revision_of(connection)
    if found is not None and found not in revisions():
        raise _unknown(found)
    if found == newest_revision():
        return
    if found in former_tables.REVISIONS and (changed := _changed_tables(connection, found)):
        message = f"Somebody has changed tables that schema {found} made: {', '.join(changed)}."
        as_before = "make them as they were (batchctl db verify, of the version before), or restore a backup"
        next_step = f"{as_before}; then: batchctl db upgrade"
        raise SchemaMismatch(message, next_step=next_step)
    taken = {name.lower() for name in _tables_and_views(connection)} - _made_until(found)
    ours = sorted(name for name in (*metadata.tables, *views.NAMES) if name.lower() in taken)
    if ours and found is None:
        message = f"The database already has tables or views that batchctl did not make here: {', '.join(ours)}."
        raise SchemaMismatch(message, next_step="name another database in database_url")
    if ours:
        message = f"Somebody has made tables or views that the upgrade needs the names of: {', '.join(ours)}."
        raise SchemaMismatch(message, next_step="rename them, or drop them, then: batchctl db upgrade")


def _changed_tables(connection: Connection, revision: str) -> list[str]:
    """Return what of the tables of a former revision is not as that made it; on servers the newest differs by what is new."""
    if connection.dialect.name == "sqlite":
        return former_tables.changed(connection, revision)
    try:
        missing, changed = _differing(connection)
    except Exception as error:
        if dialect_of(connection).is_lost(error) or not dialect_of(connection).is_about_the_database(error):
            raise
        return []  # A user who may not make a schema to compare with may not upgrade either; the upgrade says so.
    repeatable = _repeatable().names(connection.dialect.name)
    folder, dialect = migrations_path() / "versions" / "tables", connection.dialect.name
    scripts = [folder / f"{dialect}_since_{each}.sql" for each in former_tables.SINCE if revision <= each]
    since = "".join(each.read_text(encoding="utf-8") for each in scripts)
    is_new = former_tables.new_since(since, [*metadata.tables], revision)
    return sorted(name for name in {*missing, *changed} - repeatable if not is_new(name))


def _made_until(revision: str | None) -> set[str]:
    """Return the names of the tables and views that there are at a revision, in small letters."""
    if revision is None:
        return set()
    # They are the same on all databases.
    with create_engine("sqlite://", isolation_level="AUTOCOMMIT").connect() as scratch:
        upgrade(scratch)
        made = {name.lower() for name in _tables_and_views(scratch)}
    if revision not in former_tables.REVISIONS:
        return made
    return made - {name.lower() for name in former_tables.new_tables([*metadata.tables], revision)}


def _tables_and_views(connection: Connection) -> list[str]:
    found = inspect(connection)
    return [*found.get_table_names(), *found.get_view_names()]


def tables_of_others(connection: Connection) -> list[str]:
    """Return the tables of a database that was never prepared: batchctl will not be alone in it."""
    return [] if revision_of(connection) is not None else sorted(inspect(connection).get_table_names())


class SchemaStanding(StrEnum):
    """What an upgrade would find."""

    CURRENT = "current"
    STALE = "stale"
    NOT_COMPARED = "not compared"
    """All is there; how it is defined, only a user who may make a schema, and forget it, can compare."""


def standing(connection: Connection) -> SchemaStanding:
    """Say whether an upgrade would change anything."""
    if revision_of(connection) != newest_revision():
        return SchemaStanding.STALE
    dialect = dialect_of(connection)
    try:
        missing, changed = _differing(connection)
    except Exception as error:
        if dialect.is_lost(error) or not dialect.is_about_the_database(error):
            raise
        return SchemaStanding.STALE if dropped(connection) else SchemaStanding.NOT_COMPARED
    made = _repeatable().names(connection.dialect.name)
    return SchemaStanding.CURRENT if made.isdisjoint({*missing, *changed}) else SchemaStanding.STALE


def dropped(connection: Connection) -> list[str]:
    """Return the names of views, triggers and functions that are not there; how they are defined takes longer to compare."""
    there = dialect_of(connection).definitions(connection)
    return sorted(_repeatable().names(connection.dialect.name) - there.keys())


def lacking(connection: Connection) -> list[str]:
    """Name the tables, and the columns of the others, that are not there; what else differs takes longer to compare."""
    found = {
        name.lower(): {str(column["name"]).lower() for column in columns}
        for (_, name), columns in inspect(connection).get_multi_columns().items()
    }
    tables = [f"table {name}" for name in metadata.tables if name.lower() not in found]
    columns = [
        f"column {column}"
        for table in metadata.tables.values()
        for column in table.columns
        if column.name.lower() not in found.get(table.name.lower(), {column.name.lower()})
    ]
    return [*tables, *columns]


def lacks_only_what_is_repeatable(connection: Connection) -> bool:
    """Say whether an upgrade makes anew all that differs."""
    missing, changed = _differing(connection)
    return bool(_repeatable().names(connection.dialect.name).issuperset({*missing, *changed}))


def differences(connection: Connection) -> list[str]:
    """Return how the definitions in a database differ from what this version makes."""
    missing, changed = _differing(connection)
    return [f"{name} is missing" for name in missing] + [f"{name} is not as it was made" for name in changed]


def _differing(connection: Connection) -> tuple[list[str], list[str]]:
    """Return the names of what is missing in a database, and of what is defined otherwise than this version defines it."""
    dialect = dialect_of(connection)
    wanted = dialect.wanted_definitions(connection, upgrade)
    found = dialect.definitions(connection)
    missing = [name for name in wanted if name not in found]
    changed = [name for name in wanted if found.get(name, wanted[name]) != wanted[name]]
    if changed:
        # What a dump has brought back is written otherwise than it was made, and means the same.
        restored = dialect.restored_definitions(connection, upgrade)
        changed = [name for name in changed if found[name] != restored.get(name)]
    return missing, changed


def upgrade(connection: Connection) -> None:
    """Bring a database to the newest revision, inside the caller's transaction; views and triggers are made anew."""
    from batchctl.store.repeatable.remaking import remake  # noqa: PLC0415 - as in `_repeatable`

    # Where everything is made in another schema, only to be compared, there is nothing yet.
    is_model = "schema_translate_map" in connection.get_execution_options()
    former = None if is_model else revision_of(connection)
    config, is_former = _config(connection), former in former_tables.REVISIONS
    if is_former:
        # Alembic knows only the newest revision, which makes these tables its own.
        config.attributes["former"] = former
        connection.execute(_FORGET_REVISION)
    _command().upgrade(config, "head")
    remake(connection)
    dialect_of(connection).end_migration(connection)
    if is_former:
        _refuse_unfit_rows(connection)


def _refuse_unfit_rows(connection: Connection) -> None:
    """Refuse an upgrade where rows hold, past the constraints, what the tables cannot hold any more."""
    found = dialect_of(connection).constraint_findings(connection, at_length=False)
    if found:
        message = f"Rows of the control database hold what schema {newest_revision()} does not take: {found[0]}."
        next_step = "correct them in an SQL client (batchctl check, of the version before, names them), then: batchctl db upgrade"
        raise SchemaMismatch(message, next_step=next_step)


def script(dialect: str) -> str:
    """Return the SQL that builds the newest schema from nothing."""
    printed = io.StringIO()
    config = _config()
    config.attributes["dialect"] = dialect
    config.attributes["repeatable"] = _repeatable().statements(dialect)
    config.output_buffer = printed
    _command().upgrade(config, "head", sql=True)
    # Where a driver takes values by percent signs, as PostgreSQL's does, one in a view is printed as two.
    text, newest = printed.getvalue().replace("%%", "%"), newest_revision()
    return with_guards(text, revisions()) if dialect == "mssql" else headed(text, dialect, newest)


def verify(connection: Connection) -> None:
    """Refuse a database whose schema this version does not work with."""
    found, needed = revision_of(connection), newest_revision()
    if found == needed:
        return
    if found is None:
        _refuse_other_schema(connection)
        message = f"The control database holds no batchctl tables; this version needs schema {needed}."
        raise SchemaMismatch(message, next_step="batchctl db upgrade")
    if found in revisions():
        message = f"The control database has schema {found}; this version needs {needed}."
        # Only the script for SQL Server brings up to date what is there; the others make everything from nothing.
        script = ", or give a DBA the text of: batchctl db script" if connection.dialect.name == "mssql" else ""
        raise SchemaMismatch(message, next_step=f"batchctl db upgrade{script}")
    raise _unknown(found)


def refuse_upgraded(connection: Connection, revision: str) -> None:
    """Refuse a database that was brought to another revision while a program has worked with one."""
    found = [str(each) for each in connection.execute(_REVISION).scalars()]
    if found != [revision]:
        message = (
            f"The control database was brought to schema {', '.join(found) or 'none'} while this program was running,"
            f" which began with {revision}."
        )
        raise SchemaMismatch(message, next_step="start it again, with the version of batchctl that has done that")


def _refuse_other_schema(connection: Connection) -> None:
    """Refuse a login that looks for the tables where they are not."""
    other = dialect_of(connection).other_schema(connection)
    if other is not None:
        place, mend = other
        message = (
            f"The batchctl tables of this database stand in schema {place}, where this login does not look for them."
        )
        raise SchemaMismatch(message, next_step=f"{mend}; or, for tables of its own: batchctl db upgrade")


def _unknown(found: str) -> SchemaMismatch:
    oldest, newest = revisions()[0], newest_revision()
    if found < oldest:
        message = f"The control database has schema {found}; this version of batchctl knows none older than {oldest}."
        next_step = (
            f"bring it to {oldest} with the version of batchctl that made it, or a later one that still can; or begin a new"
            " database with the definitions that batchctl export writes there"
        )
        return SchemaMismatch(message, next_step=next_step)
    message = f"The control database has schema {found}, which this version of batchctl ({newest}) does not know."
    return SchemaMismatch(message, next_step="install the version of batchctl that made it; it is probably newer")


def _config(connection: Connection | None = None) -> Config:
    # Alembic takes a tenth of a second to import, which every command that only reads would pay.
    from alembic.config import Config  # noqa: PLC0415 - see above

    config = Config()
    config.set_main_option("script_location", str(migrations_path()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _command() -> ModuleType:
    from alembic import command  # noqa: PLC0415 - see `_config`

    return command


def _repeatable() -> ModuleType:
    # The texts of all triggers and functions are long, and a command that only reads makes none.
    from batchctl.store import repeatable  # noqa: PLC0415 - see above

    return repeatable
