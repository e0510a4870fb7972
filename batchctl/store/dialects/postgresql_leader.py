"""The leader's lock on PostgreSQL: an advisory lock of a session, which bears the controller's label."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, text
from sqlalchemy.exc import DBAPIError

from batchctl.domain.errors import Refused
from batchctl.domain.leader import Holder, label_of
from batchctl.domain.text import visible

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
_LOCK_HOLDER = text(f"SELECT coalesce(a.application_name, 'process ' || l.pid), l.pid {_OF_LEADER}")
_THIS_ONE = "AND l.pid = :session AND a.application_name = :name"
_END_LEADER = text(f"SELECT pg_terminate_backend(l.pid) {_OF_LEADER} {_THIS_ONE}")
_ROLES = text(f"""
SELECT quote_ident(a.usename) AS leaders, quote_ident(current_user) AS own,
       (SELECT rolsuper FROM pg_roles WHERE oid = a.usesysid) AS is_superuser {_OF_LEADER} {_THIS_ONE}
""")  # noqa: S608 - all of it is ours
_OUT_OF_REACH = text(f"""
SELECT leaders, own, is_superuser FROM (
    SELECT a.usesysid, quote_ident(a.usename) AS leaders, quote_ident(current_user) AS own,
           (SELECT rolsuper FROM pg_roles WHERE oid = a.usesysid) AS is_superuser,
           (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS may_anything {_OF_LEADER}
) AS roles WHERE NOT may_anything
AND (is_superuser OR NOT (pg_has_role(usesysid, 'USAGE') OR pg_has_role('pg_signal_backend', 'USAGE')))
""")  # noqa: S608 - all of it is ours
_NO_RIGHT = "42501"


def try_lock(connection: Connection, controller: str) -> bool:
    """Take the leader's lock for the session, under the controller's label; false when another session has it."""
    connection.execute(_NAME_SESSION, {"name": f"{_CONTROLLER}{label_of(controller)}"})
    return bool(connection.execute(_TRY_LOCK).scalar_one())


def lock_holder(connection: Connection) -> Holder | None:
    """Return the controller whose session has the lock, and the server's process for that session."""
    found = connection.execute(_LOCK_HOLDER).first()
    return None if found is None else Holder(str(found[0]).removeprefix(_CONTROLLER), found[1])


def end_leader(connection: Connection, holder: Holder) -> bool:
    """End the holder's session if it still has the lock under this name: its process may be another's by now."""
    session = {"session": holder.session, "name": f"{_CONTROLLER}{holder.name}"}
    try:
        return bool(connection.execute(_END_LEADER, session).scalar())
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) != _NO_RIGHT:
            raise
        roles = connection.execute(_ROLES, session).first()
        if roles is None:
            return False
        raise _refused(holder, roles) from error


def out_of_reach(connection: Connection) -> Row[Any] | None:
    """Return the leader's role and one's own, if this role may not end the leader's session."""
    return connection.execute(_OUT_OF_REACH).first()


def _refused(holder: Holder, roles: Row[Any]) -> Refused:
    message = f"session {holder.session} of role {roles.leaders} has its lock, and role {roles.own} may not end it"
    end = f"SELECT pg_terminate_backend({holder.session});"
    if roles.is_superuser:
        return Refused(visible(message), next_step=f"let a superuser: {end}")
    grant = f"GRANT pg_signal_backend TO {roles.own};"
    return Refused(visible(message), next_step=visible(f"let a DBA: {grant} or, this session alone: {end}"))
