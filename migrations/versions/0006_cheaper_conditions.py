"""Say the conditions of SQLite's tables and partial indexes so that they cost less; what they let through stays the same.

The other databases have nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from batchctl.store.columns import unquoted
from batchctl.store.rewording import reword

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
    reword(TABLES, conditions)
    for name, columns, words, more in INDEXES:
        where = f"({_one_by_one('Status', words)})" if one_by_one else _in_list("Status", words)
        indexed = [unquoted(column) for column in columns]
        op.create_index(name, unquoted("BatchControl"), indexed, sqlite_where=sa.text(where + more))


def _in_list(column: str, words: Sequence[str]) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"{column} IN ({listed})"


def _one_by_one(column: str, words: Sequence[str]) -> str:
    return " OR ".join(f"{column} = '{word}'" for word in words)
