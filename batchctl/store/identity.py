"""Which control database this is."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, literal_column, select, update

from batchctl.domain.errors import DatabaseRefused
from batchctl.store.tables import setting

DATABASE_ID = "DatabaseId"
"""The `Setting` that tells this database from every other."""

_FIND = select(setting.c.Value).where(setting.c.Name == DATABASE_ID)
_AT_RANDOM = {
    "sqlite": "lower(hex(randomblob(16)))",
    "postgresql": "gen_random_uuid()::text",
    "mssql": "CONVERT(nvarchar(36), NEWID())",
}
_INSERT = "INSERT INTO Setting (Name, Value) VALUES ('DatabaseId', {});"
_UPDATE = "UPDATE Setting SET Value = {} WHERE Name = 'DatabaseId';"
_LOST = (
    "The control database has lost its name, row DatabaseId of Setting:"
    " where two such databases work in one place, they take each other's steps for their own."
)


def database_id(connection: Connection) -> str:
    """Return the name that no other control database has, or nothing when somebody has deleted it."""
    return _found(connection) or ""


def rename(connection: Connection, now: datetime) -> None:
    """Give the database another name that no other has."""
    made: ColumnElement[str] = literal_column(_AT_RANDOM[connection.dialect.name])
    connection.execute(update(setting).where(setting.c.Name == DATABASE_ID).values(Value=made, z_updated=now))


def lost_name(connection: Connection) -> DatabaseRefused | None:
    """Say that the database has lost its name, and what to type; None when it has one."""
    found = _found(connection)
    if found:
        return None
    statement = (_INSERT if found is None else _UPDATE).format(_AT_RANDOM[connection.dialect.name])
    return DatabaseRefused(_LOST, next_step=f"give it back its name from a backup, or a new one: {statement}")


def verify(connection: Connection) -> None:
    """Refuse a database without a name."""
    lost = lost_name(connection)
    if lost is not None:
        raise lost


def _found(connection: Connection) -> str | None:
    found: str | None = connection.execute(_FIND).scalar_one_or_none()
    return found if found is None else found.strip()
