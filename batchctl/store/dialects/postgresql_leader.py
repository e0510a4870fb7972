"""The leader's lock on PostgreSQL: an advisory lock of a session, which bears the controller's name."""

from __future__ import annotations

from sqlalchemy import Connection, text

_CONTROLLER = "batchctl controller "
_NAME_SESSION = text("SELECT set_config('application_name', :name, false)")
_LOCK = "1650553955, hashtext(current_schema())"
_TRY_LOCK = text(f"SELECT pg_try_advisory_lock({_LOCK})")
_OF_LEADER = """
FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND l.classid::bigint = 1650553955 AND l.objid::bigint = hashtext(current_schema())::bigint & 4294967295
"""
_LOCK_HOLDER = text(f"SELECT coalesce(a.application_name, 'process ' || l.pid) {_OF_LEADER}")
_END_LEADER = text(f"SELECT pg_terminate_backend(l.pid) {_OF_LEADER} AND a.application_name = :name")


def try_lock(connection: Connection, controller: str) -> bool:
    """Take the leader's lock for the session, under the controller's name; false when another session has it."""
    connection.execute(_NAME_SESSION, {"name": f"{_CONTROLLER}{controller}"})
    return bool(connection.execute(_TRY_LOCK).scalar_one())


def lock_holder(connection: Connection) -> str | None:
    """Name the controller whose session has the lock."""
    found = connection.execute(_LOCK_HOLDER).scalars().first()
    return None if found is None else str(found).removeprefix(_CONTROLLER)


def end_leader(connection: Connection, holder: str) -> None:
    """End the session that has the leader's lock under this name."""
    connection.execute(_END_LEADER, {"name": f"{_CONTROLLER}{holder}"})
