"""SQLite's tables are STRICT, and told of times, lengths and words in few words; nothing changes elsewhere.

What stands in the file stays as it is: only how the tables are defined is written anew. A table to which somebody has
added a column, or from which one is gone, is left alone.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa
from alembic import context, op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

_DEFINED = "SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL AND type IN ('table', 'index')"
_COLUMNS = "SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info('{table}') ORDER BY cid)"


def upgrade() -> None:
    """Write the definitions anew; where revision 0044 has made them just now, they are so already."""
    if op.get_context().dialect.name == "sqlite" and not context.is_offline_mode():
        _on_sqlite(op.get_bind())


def _on_sqlite(connection: sa.Connection) -> None:
    wanted, columns = _as_made_anew()
    found = {name: sql for name, _, sql in connection.exec_driver_sql(_DEFINED)}
    tables = [
        name
        for name, made_of in columns.items()
        if found.get(name) != wanted[name]
        and connection.exec_driver_sql(_COLUMNS.format(table=name)).scalar_one() == made_of
    ]
    if tables:
        connection.exec_driver_sql("PRAGMA writable_schema = ON")
        for name in tables:
            connection.exec_driver_sql(
                "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?", (wanted[name], name)
            )
        version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
        connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
        connection.exec_driver_sql("PRAGMA writable_schema = RESET")
    for name in wanted.keys() - columns.keys():
        if found.get(name) != wanted[name]:
            connection.exec_driver_sql(f'DROP INDEX IF EXISTS "{name}"')
            connection.exec_driver_sql(wanted[name])


def _as_made_anew() -> tuple[dict[str, str], dict[str, str]]:
    """Return how revision 0044 defines tables and indexes, and the columns of each table."""
    script = Path(__file__).with_name("tables") / "sqlite.sql"
    with closing(sqlite3.connect(":memory:")) as scratch:
        scratch.executescript(script.read_text(encoding="utf-8"))
        defined = [row for row in scratch.execute(_DEFINED) if not row[0].startswith("sqlite_")]
        tables = [name for name, kind, _ in defined if kind == "table"]
        columns = {name: scratch.execute(_COLUMNS.format(table=name)).fetchone()[0] for name in tables}
        return {name: sql for name, _, sql in defined}, columns


def downgrade() -> None:
    """Refuse: revision 0044 makes them as they are now, too."""
    message = "there is no way back: restore a backup"
    raise NotImplementedError(message)
