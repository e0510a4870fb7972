"""Saying the constraints of SQLite's tables otherwise, for migrations: what they let through stays the same.

Making the tables anew would take as long as there is history, and lose the triggers and indexes of others. So it is
written into what SQLite keeps of them, as it advises for changes that leave the rows as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import cast

from alembic import context, op

from batchctl.domain.errors import DatabaseUnusable

_CHANGE = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name IN ({})"

Rewording = tuple[str, str]
"""How it is said before and after."""


def reword(tables: Iterable[str], rewordings: Sequence[Rewording]) -> None:
    """Reword the definitions of some tables, or the script that is printed instead."""
    if context.is_offline_mode():
        _in_what_is_printed(rewordings)
    else:
        _in_what_is_made(tables, rewordings)


def _in_what_is_made(tables: Iterable[str], rewordings: Sequence[Rewording]) -> None:
    connection = op.get_bind()
    listed = ", ".join(f"'{table}'" for table in tables)
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    try:
        if not connection.exec_driver_sql("PRAGMA writable_schema").scalar_one():
            message = (
                "The SQLite library of this Python lets nobody write sqlite_master, not even to upgrade a database."
            )
            raise DatabaseUnusable(message, next_step="batchctl db upgrade with another Python, such as python.org's")
        connection.exec_driver_sql(_CHANGE.format(listed), list(rewordings))
        version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
        # Tells all connections to read the definitions again.
        connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    finally:
        # Forgets the definitions this connection has read, too.
        connection.exec_driver_sql("PRAGMA writable_schema = RESET")


def _in_what_is_printed(rewordings: Sequence[Rewording]) -> None:
    """Say in another way what the script, which makes everything from nothing, has said already.

    SQLite's own shell lets nobody write sqlite_master since 3.42.
    """
    printed = cast("StringIO", context.config.output_buffer)
    script = printed.getvalue()
    for before, after in rewordings:
        script = script.replace(before, after)
    printed.seek(0)
    printed.truncate()
    printed.write(script)
