"""What PostgreSQL's errors mean to the store, and what a person does about them."""

from __future__ import annotations

import re

TRANSIENT = frozenset({"40001", "40P01", "55P03"})
STALE = "0A000"
"""What a prepared statement fails with once somebody has altered its table: the session has to be made anew."""
LOST = ("08", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "26000", STALE)
LAST_WORDS = frozenset({"FATAL", "PANIC"})
"""Severities after which a session is gone, whatever the code."""

DOCTOR = "batchctl doctor"
VERIFY = "batchctl db verify"
_LOGIN = "refused the login"
_AWAY = "cannot be reached"
_FULL = "has no connection left"
_RIGHTS = "does not give this role the rights that batchctl needs"
_DAMAGED = "is damaged: restore it from a backup, do not write to it"
_UNWRITTEN = "cannot be read or written: the disk reports an error"
_MORE_ROOM = "let a DBA end idle sessions (pg_stat_activity), or raise max_connections"

_BY_STATE = {
    STALE: ("has had a table altered", "nothing: the session is made anew"),
    "28": (_LOGIN, "see user and password in database_url"),
    "3D000": ("does not exist", "correct the database in database_url, or let a DBA create it"),
    "3F000": ("has no schema to work in", DOCTOR),
    "42501": (_RIGHTS, DOCTOR),
    **dict.fromkeys(("42P01", "42703"), ("lacks a table or a column of batchctl", VERIFY)),
    "53100": ("cannot grow: the disk is full", "let a DBA make room; the controller goes on by itself"),
    "53300": (_FULL, _MORE_ROOM),
    "53": ("is short of resources", "let a DBA look at the server's memory, disks and limits"),
    "25006": ("is read-only: it may have become a standby", "name the primary server in database_url"),
    "57014": ("took too long over a statement", "try again; if it lasts, let a DBA look at pg_stat_activity"),
    "58": (_UNWRITTEN, "let a DBA look at the server's log and disks; the controller goes on by itself"),
    "XX001": (_DAMAGED, "let a DBA look at the server's log"),
    "XX002": (_DAMAGED, "let a DBA look at the server's log"),
}

_OF_ITS_FILES = re.compile(r"could not \w+ (?:\w+ )?file")
"""A limit or a quota has no SQLSTATE: the server calls it an internal error, as it calls anything that it did not foresee."""

_BY_WORDS = (
    (_OF_ITS_FILES.pattern, _UNWRITTEN, "let a DBA make room, or raise the limit; the controller goes on by itself"),
    (
        r'password authentication failed for user "(.*?)"',
        _LOGIN,
        r"check the password of role \1, in database_url, its secret or PGPASSWORD, and that there is such a role",
    ),
    (r"no password supplied", _LOGIN, "write {secret:NAME} for the password in database_url, or set PGPASSWORD"),
    (
        r'role "(.*?)" does not exist',
        _LOGIN,
        r'correct the user in database_url, or let a DBA: CREATE ROLE "\1" LOGIN PASSWORD ...',
    ),
    (r'role "(.*?)" is not permitted to log in', _LOGIN, r'let a DBA: ALTER ROLE "\1" LOGIN;'),
    (
        r'database "(.*?)" does not exist',
        "does not exist",
        r'correct the database in database_url, or let a DBA: CREATE DATABASE "\1";',
    ),
    (
        r'permission denied for database "(.*?)"',
        _LOGIN,
        r'let its owner grant it to the role in database_url: GRANT CONNECT ON DATABASE "\1" TO ...',
    ),
    (
        r"permission denied for database (\S+)",
        _RIGHTS,
        r"only db verify needs this, for a schema that it forgets at once: GRANT CREATE ON DATABASE \1 TO ...",
    ),
    (
        r"permission denied for (?:table|sequence|view) ",
        _RIGHTS,
        "batchctl doctor, for one that has to have them; any other asks by a row: INSERT INTO OperatorRequest (docs/requests.md)",
    ),
    (r"pg_hba\.conf", _LOGIN, "let a DBA allow this host, user and database in pg_hba.conf, and reload it"),
    (r"too many (?:connections|clients)|connection slots", _FULL, _MORE_ROOM),
    (r"is starting up|is shutting down|not yet accepting", "is not ready", "wait until the server has started"),
    (r"^connection .*FATAL: ", _LOGIN, "see user, password and database in database_url"),
    (r"^connection .*(?:SSL|certificate)", _AWAY, "correct sslmode, or the certificates, in database_url"),
    (r"resolve host|translate host", _AWAY, "correct the host in database_url"),
    (r'on socket "(.*?)" failed', _AWAY, r"see that a server listens on \1; host and port in database_url say where"),
    (
        r'server at "(.*?)"(?: \(.*?\))?, port (\d+)',
        _AWAY,
        r"see that a server listens at \1, port \2, and that host and port in database_url are right",
    ),
    (r"connection option|invalid \S+ value", "cannot be opened", "correct what stands behind the '?' in database_url"),
)
"""How a login or an attempt to connect fails: libpq gives no SQLSTATE for these."""
_ELSE = (_AWAY, "see that the server is there, and host and port in database_url")


def is_about_the_database(wording: str, state: str) -> bool:
    """Say whether an error concerns the database as a whole, or the way to it."""
    if state == "XX000":
        return _OF_ITS_FILES.search(wording) is not None
    return state.startswith(tuple(_BY_STATE)) if state else "invalid connection option" in wording


def meaning(wording: str, state: str) -> tuple[str, str]:
    """Return what the database does or is, and what to do next."""
    by_state = next((found for code, found in _BY_STATE.items() if state and state.startswith(code)), None)
    if by_state is not None and by_state[1] != DOCTOR:
        return by_state
    for pattern, what, next_step in _BY_WORDS:
        if found := re.search(pattern, wording):
            return what, found.expand(next_step)
    return by_state or _ELSE
