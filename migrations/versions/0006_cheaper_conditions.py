"""Say the conditions of SQLite's tables and partial indexes so that they cost less; what they let through stays the same.

The other databases have nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import context, op

from batchctl.domain.errors import DatabaseUnusable
from batchctl.store.columns import unquoted

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES = (
    *("FileProcess", "ProcessBatch", "ProcessControl", "BatchControl", "BatchProcessHistory"),
    *("AuditLog", "Setting", "Controller", "Resource", "BatchResource"),
)
WORDS = (
    ("Status", "ready paused complete rejected duplicate"),
    ("OnFailure", "hold_batch stop_all continue"),
    ("DependencyMode", "all any"),
    ("OnLost", "hold rerun verify"),
    ("Status", "ready running retry failed held pausing paused cancelling cancelled complete"),
    ("Cause", "auto retry manual verify"),
    ("Status", "running success failed timeout cancelled lost fenced skipped"),
    ("Status", "running stopped lost"),
)
TIMES = "z_inserted z_updated NextRunTime StartTime EndTime Spawned NextRunTimeAfter Heartbeat"
ENDED_OR_LIVE = "({0} = 'running' AND EndTime IS NULL) OR ({0} <> 'running' AND EndTime IS NOT NULL)"
YEAR = "{0} GLOB '[0-9][0-9][0-9][0-9]-*'"
TIME = (
    "date(substr({0}, 1, 10), '+0 days') IS substr({0}, 1, 10) AND substr({0}, 12, 2) < '24'"
    " AND substr(strftime('%Y-%m-%d %H:%M:%S', {0}), 1, length({0})) IS substr({0}, 1, 19)"
    " AND substr({0}, 20) NOT GLOB '*[^.0-9]*'"
)
IN_FULL = "strftime('%Y-%m-%d %H:%M:%f', {0}, '+0 days') IS {0}"

INDEXES = (
    (
        "IX_BatchControl_Open",
        ("ProcessBatch_id", "BatchControl_id"),
        ("ready", "running", "retry", "failed", "held", "pausing", "paused", "cancelling"),
        "",
    ),
    ("IX_BatchControl_Claimed", ("ProcessBatch_id",), ("running", "pausing", "cancelling"), ""),
    ("IX_BatchControl_Standing", ("BatchControl_id",), ("retry", "failed", "held"), ""),
    (
        "IX_BatchControl_Due",
        ("NextRunTime",),
        ("ready", "retry"),
        " AND NextRunTime > '1900-01-01 00:00:00.000'",
    ),
)

CHANGE = "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table' AND name IN ({})"


def upgrade() -> None:
    """Compare words one by one, and take a time that is written in full for good at once."""
    if op.get_context().dialect.name == "sqlite":
        _say(_conditions(), one_by_one=True)


def downgrade() -> None:
    """Say all of it as before."""
    if op.get_context().dialect.name == "sqlite":
        _say([(after, before) for before, after in _conditions()], one_by_one=False)


def _conditions() -> list[tuple[str, str]]:
    words = [(_in_list(f"lower({at})", known.split()), _one_by_one(at, known.split())) for at, known in WORDS]
    ends = (ENDED_OR_LIVE.format("lower(Status)"), ENDED_OR_LIVE.format("Status"))
    before, after = f"{YEAR} AND {TIME}", f"{YEAR} AND ({IN_FULL} OR ({TIME}))"
    return [*words, ends, *((before.format(at), after.format(at)) for at in TIMES.split())]


def _say(conditions: list[tuple[str, str]], *, one_by_one: bool) -> None:
    for name, *_ in INDEXES:
        op.drop_index(name, unquoted("BatchControl"))
    if context.is_offline_mode():
        _in_what_is_printed(conditions)
    else:
        _in_what_is_made(conditions)
    for name, columns, words, more in INDEXES:
        where = f"({_one_by_one('Status', words)})" if one_by_one else _in_list("Status", words)
        indexed = [unquoted(column) for column in columns]
        op.create_index(name, unquoted("BatchControl"), indexed, sqlite_where=sa.text(where + more))


def _in_what_is_made(conditions: list[tuple[str, str]]) -> None:
    """Write what SQLite keeps of the tables, as it advises for changes that leave the rows as they are.

    Making the tables anew would take as long as there is history, and lose the triggers and indexes of others. That the
    indexes are made anew tells all connections to read the tables' definitions again.
    """
    connection = op.get_bind()
    listed = ", ".join(f"'{table}'" for table in TABLES)
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    try:
        if not connection.exec_driver_sql("PRAGMA writable_schema").scalar_one():
            message = (
                "The SQLite library of this Python lets nobody write sqlite_master, not even to upgrade a database."
            )
            raise DatabaseUnusable(message, next_step="batchctl db upgrade with another Python, such as python.org's")
        connection.exec_driver_sql(CHANGE.format(listed), conditions)
    finally:
        # Forgets the definitions this connection has read, too.
        connection.exec_driver_sql("PRAGMA writable_schema = RESET")


def _in_what_is_printed(conditions: list[tuple[str, str]]) -> None:
    """Put otherwise what the script, which makes everything from nothing, has said already.

    SQLite's own shell lets nobody write sqlite_master since 3.42.
    """
    printed = context.config.output_buffer
    script = printed.getvalue()
    for before, after in conditions:
        script = script.replace(before, after)
    printed.seek(0)
    printed.truncate()
    printed.write(script)


def _in_list(column: str, words: Sequence[str]) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{column} IN ({listed})"


def _one_by_one(column: str, words: Sequence[str]) -> str:
    return " OR ".join(f"{column} = '{word}'" for word in words)
