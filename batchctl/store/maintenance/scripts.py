"""The worked example in its databases: its scripts, carried out as the database's own shell would, and what they need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from batchctl.store.dialects import dialect_of
from batchctl.store.engine import open_engine
from batchctl.store.maintenance import examination
from batchctl.store.tables import metadata

_MAKES = re.compile(r"^CREATE (?:TABLE|VIEW|PROCEDURE) (\w+)", re.MULTILINE)
_TAKEN = """
SELECT nspname || '.' || name
FROM (
    SELECT relnamespace, relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
    UNION
    SELECT pronamespace, proname FROM pg_proc
) AS made (schema, name)
JOIN pg_namespace n ON n.oid = schema
WHERE name = ANY(%s) AND nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY 1
"""
_READER = "SELECT quote_ident(current_user), pg_has_role('pg_read_server_files', 'USAGE')"


@dataclass(frozen=True, slots=True)
class Ground:
    """A database of a server as it is before anything is set up in it."""

    place: str
    taken: tuple[str, ...]
    """What it holds already of what would be made."""
    role: str
    """As SQL names it."""
    may_read_files: bool


def run(url: str, directory: Path, script: str, *, may_create: bool = False) -> None:
    """Carry out every statement of a script, which says by itself where its transactions begin and end."""
    with _connection(url, directory, may_create=may_create) as connection:
        raw = _driver(connection)
        (raw.executescript if hasattr(raw, "executescript") else raw.execute)(script)


def query(url: str, directory: Path, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with _connection(url, directory) as connection:
        return [tuple(row) for row in _driver(connection).execute(statement).fetchall()]


def look(url: str, directory: Path, script: str) -> Ground:
    """Look at a PostgreSQL database in which a script and batchctl would make their tables; nothing is written."""
    names = [*metadata.tables, "alembic_version", *_MAKES.findall(script)]
    with _connection(url, directory) as connection:
        raw = _driver(connection)
        taken = tuple(row[0] for row in raw.execute(_TAKEN, ([name.lower() for name in names],)))
        if not taken:
            examination.check_may_make_tables(connection)
        role, may_read_files = raw.execute(_READER).fetchone()
        return Ground(examination.place_of(connection.engine), taken, role, may_read_files)


def why_unreadable(url: str, directory: Path, file: Path) -> str | None:
    """Return what a PostgreSQL server says when it cannot read a file; nothing of the attempt stays."""
    with _connection(url, directory) as connection:
        raw = _driver(connection)
        raw.execute("BEGIN")
        try:
            raw.execute("CREATE TABLE batchctl_reads (Line text)")
            raw.execute(
                f"COPY batchctl_reads FROM {_literal(file)} WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')"
            )
        except raw.Error as error:
            return str(error).partition("\n")[0]
        finally:
            raw.execute("ROLLBACK")
    return None


def _literal(file: Path) -> str:
    return "'" + str(file).replace("'", "''") + "'"


@contextmanager
def _connection(url: str, directory: Path, *, may_create: bool = False) -> Iterator[Connection]:
    """Lend a connection; explain errors that concern the database as a whole."""
    opened = open_engine(url, directory, may_create=may_create)
    dialect = dialect_of(opened)
    try:
        with opened.connect() as connection:
            yield connection
    except Exception as error:
        if dialect.is_about_the_database(error):
            raise dialect.database_refused(error, dialect.place_of(opened)) from error
        raise


def _driver(connection: Connection) -> Any:
    return connection.connection.dbapi_connection
