"""All tables with their keys, constraints, indexes and first rows, as `tables/` has them for each kind of database.

It replaces all revisions before it. A database of the last of them, 0045 and 0046, has the same tables: on SQLite their
definitions are written anew where they stand, and no row is moved; on the servers nothing differs. Views, triggers and
functions are no migration: `db upgrade` makes them anew. The first revision of all was called 0001, so that this one
is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from alembic import context, op

revision = "0047"
down_revision = None
branch_labels = None
depends_on = None

_MADE = re.compile(r'CREATE (TABLE|(?:UNIQUE )?INDEX) "?(\w+)')
_PART = re.compile(r",\n {4}(?! )")
"""The separator of columns, and of other parts of a table."""
_DEFINED = sa.text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
_COLUMNS = sa.text("SELECT name FROM pragma_table_info(:table) ORDER BY cid")
_REDEFINE = sa.text("UPDATE sqlite_master SET sql = :sql WHERE type = 'table' AND name = :name")


def upgrade() -> None:
    """Make everything, from nothing, or from what revision 0045 or 0046 has made."""
    dialect = op.get_context().dialect.name
    if "former" not in context.config.attributes:
        for statement in _statements(dialect):
            op.execute(sa.DDL(statement.replace("%", "%%")))
    elif dialect == "sqlite":
        _redefine(op.get_bind())


def _statements(dialect: str) -> Iterator[str]:
    script = (Path(__file__).with_name("tables") / f"{dialect}.sql").read_text(encoding="utf-8")
    yield from (statement.strip() for statement in script.split(";\n") if statement.strip())


def _redefine(connection: sa.Connection) -> None:
    """Write the definitions of tables anew; each has its columns in the order in which its rows have them."""
    found = {row.name: row.sql for row in connection.execute(_DEFINED)}
    indexes = []
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    for statement in _statements("sqlite"):
        text = "\n".join(line for line in statement.splitlines() if not line.startswith("--"))
        made = _MADE.match(text)
        if made is None or made[2] not in found:
            continue
        kind, name = made.groups()
        if kind == "TABLE":
            order = list(connection.execute(_COLUMNS, {"table": name}).scalars())
            connection.execute(_REDEFINE, {"name": name, "sql": _in_order(text, order)})
        elif found[name] != text:
            indexes.append((name, text))
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
    for name, text in indexes:
        connection.exec_driver_sql(f'DROP INDEX "{name}"')
        connection.exec_driver_sql(text)


def _in_order(table: str, columns: list[str]) -> str:
    """Return a definition with its columns in another order."""
    begin, _, rest = table.partition("(\n    ")
    body, _, end = rest.rpartition("\n)")
    parts = _PART.split(body)
    of_columns = {part.split(" ", 1)[0]: part for part in parts[: len(columns)]}
    ordered = [of_columns[column] for column in columns] + parts[len(columns) :]
    return f"{begin}(\n    {f',{chr(10)}    '.join(ordered)}\n){end}"


def downgrade() -> None:
    """Refuse: what people have defined and what was done would be gone."""
    message = "there is no way back to no tables: drop the database"
    raise NotImplementedError(message)
