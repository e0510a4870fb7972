"""Which control database this is."""

from __future__ import annotations

from sqlalchemy import Connection, select

from batchctl.store.tables import setting

_DATABASE_ID = select(setting.c.Value).where(setting.c.Name == "DatabaseId")


def database_id(connection: Connection) -> str:
    """Return the name that no other control database has, or nothing when somebody has deleted it."""
    return str(connection.execute(_DATABASE_ID).scalar_one_or_none() or "")
