"""Let SQLite look once at a time that stands in several columns of a row, and at a word only for what it says.

What the constraints let through stays the same but for times that the engine could not read: with a blank or a point at
their end, with a NUL, or of the year 0. The other databases have nothing to do.
"""

from __future__ import annotations

from alembic import op

from batchctl.store.rewording import Rewording, reword

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TIMES = {
    "FileProcess": "z_inserted z_updated",
    "ProcessBatch": "z_inserted z_updated",
    "ProcessControl": "z_inserted z_updated",
    "BatchControl": "NextRunTime z_inserted z_updated",
    "BatchProcessHistory": "StartTime EndTime Spawned NextRunTimeAfter z_inserted z_updated",
    "AuditLog": "z_inserted",
    "Setting": "z_inserted z_updated",
    "Controller": "Heartbeat z_inserted z_updated",
    "Resource": "z_inserted z_updated",
    "BatchResource": "z_inserted z_updated",
}
MAY_BE_NULL = {"EndTime", "Spawned", "NextRunTimeAfter"}
WORDS = ("Status", "OnFailure", "DependencyMode", "OnLost", "Cause")

YEAR = "{0} GLOB '[0-9][0-9][0-9][0-9]-*'"
IN_FULL = "strftime('%Y-%m-%d %H:%M:%f', {0}, '+0 days') IS {0}"
IN_SHORT = (
    "date(substr({0}, 1, 10), '+0 days') IS substr({0}, 1, 10) AND substr({0}, 12, 2) < '24'"
    " AND substr(strftime('%Y-%m-%d %H:%M:%S', {0}), 1, length({0})) IS substr({0}, 1, 19)"
    " AND substr({0}, 20) NOT GLOB '*[^.0-9]*'"
)
BEFORE = f"{YEAR} AND ({IN_FULL} OR ({IN_SHORT}))"
LEGIBLE = "{0} GLOB '*[0-9]' AND instr({0}, char(0)) = 0"
AFTER = f"({{0}} >= '0001' AND {{0}} < ':' AND {IN_FULL}) OR ({{0}} >= '0001' AND {YEAR} AND {IN_SHORT} AND {LEGIBLE})"
TEXT = "typeof({0}) = 'text'"
OF_TWENTY = f"{TEXT} AND instr({{0}}, char(0)) = 0 AND length({{0}}) <= 20"


def upgrade() -> None:
    """Compare with the other times of the row first, and leave the words to the constraint that names them."""
    if op.get_context().dialect.name == "sqlite":
        reword(TIMES, _rewordings())


def downgrade() -> None:
    """Say all of it as before."""
    if op.get_context().dialect.name == "sqlite":
        reword(TIMES, [(after, before) for before, after in _rewordings()])


def _rewordings() -> list[Rewording]:
    times = [_of_time(table, at) for table, columns in TIMES.items() for at in columns.split()]
    return [*((OF_TWENTY.format(at), TEXT.format(at)) for at in WORDS), *times]


def _of_time(table: str, at: str) -> Rewording:
    earlier = TIMES[table].split()[: TIMES[table].split().index(at)]
    others = "".join(f"{at} IS {other} OR " for other in earlier if at.startswith("z_"))
    said = f'CONSTRAINT "CK_{table}_{at}_Type" CHECK ({{}})'.format
    before, after = BEFORE.format(at), others + AFTER.format(at)
    if at in MAY_BE_NULL:
        before, after = (f"{at} IS NULL OR ({condition})" for condition in (before, after))
    return said(before), said(after)
