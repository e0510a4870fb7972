"""Which roles of the control database a user is a member of, and what the login of a session may do."""

from __future__ import annotations

from sqlalchemy import Connection, text

_POSTGRESQL = text(
    "SELECT r.oid FROM pg_roles r WHERE lower(r.rolname) = :role AND pg_has_role("
    "coalesce((SELECT u.oid FROM pg_roles u WHERE u.rolname = :asked_by), CASE WHEN :asked_by IS NULL THEN"
    " (SELECT c.oid FROM pg_roles c WHERE c.rolname = current_user) END), r.oid, 'MEMBER')"
)
_MSSQL = text(
    "SELECT 1 AS Found WHERE IS_ROLEMEMBER(:role) = 1 AND :asked_by IS NULL OR IS_ROLEMEMBER(:role, :asked_by) = 1"
)

_MAY_CHANGE = {
    "postgresql": text("SELECT CASE WHEN has_table_privilege('batchcontrol', 'UPDATE') THEN 1 ELSE 0 END"),
    "mssql": text("SELECT HAS_PERMS_BY_NAME('BatchControl', 'OBJECT', 'UPDATE')"),
}

_ASK = {"postgresql": _POSTGRESQL, "mssql": _MSSQL}


def are_known(connection: Connection) -> bool:
    """Say whether this kind of database has roles at all: SQLite has none."""
    return connection.dialect.name in _ASK


def is_member(connection: Connection, role: str, user: str | None) -> bool:
    """Say whether a user, or the one of the session, is a member of a role; SQLite knows neither."""
    asked = _ASK.get(connection.dialect.name)
    return asked is not None and connection.execute(asked, {"role": role, "asked_by": user}).first() is not None


def may_change_work(connection: Connection) -> bool:
    """Say whether the login of the session may change instances itself; on SQLite each may that can write at all."""
    asked = _MAY_CHANGE.get(connection.dialect.name)
    return asked is None or connection.execute(asked).scalar() == 1
