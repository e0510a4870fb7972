"""All tables with their keys, constraints, indexes and first rows, as `tables/` has them for each kind of database.

It replaces all revisions before it, and takes a database of the last of them, 0045 to 0050. What is new there is added, and
no row is moved: on SQLite the definitions of tables are written anew where they stand, in the order in which rows have their
columns; on the servers `tables/<database>_since_<revision>.sql` say what changes in the tables that there were. Views, triggers
and functions are no migration: `db upgrade` makes them anew. The first revision of all was called 0001, so that this one is
not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa
from alembic import context, op

revision = "0051"
down_revision = None
branch_labels = None
depends_on = None

_SINCE = ("0047", "0048", "0049", "0050")
"""The revisions after which tables were changed: each has a script of that, which takes databases up to it."""
_MADE = re.compile(r'CREATE (TABLE|(?:UNIQUE )?INDEX) ["\[]?(\w+)["\]]?(?: ON (\w+))?')
_ALTERED = re.compile(r"ALTER TABLE (\w+)")
_PART = re.compile(r",\n {4}(?! )")
"""The separator of columns, and of other parts of a table."""
_CONSTRAINT = re.compile(r"UNIQUE|CHECK")
"""What a part begins with that is no column."""
_DEFINED = sa.text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
_COLUMNS = sa.text("SELECT name FROM pragma_table_info(:table) ORDER BY cid")
_REDEFINE = sa.text("UPDATE sqlite_master SET sql = :sql WHERE type = 'table' AND name = :name")


def upgrade() -> None:
    """Make everything from nothing, or what is missing in a database of revision 0045 to 0050."""
    dialect = op.get_context().dialect.name
    former = context.config.attributes.get("former")
    if former is None:
        # That script also takes a database that there is: each statement of it first looks what it finds.
        takes_former = dialect == "mssql" and context.is_offline_mode()
        since = [*_since(dialect, _SINCE[0])] if takes_former else []
        _make(one for one in _statements(f"{dialect}.sql") if one not in since)
        _make(iter(since))
        return
    there = set(sa.inspect(op.get_bind()).get_table_names())
    known = {name.lower() for name in there}
    _make(one for one in _statements(f"{dialect}.sql") if _is_new(one, known))
    if dialect == "sqlite":
        _redefine(op.get_bind())
    else:
        _make(one for one in _since(dialect, former) if not _is_of_new(one, known))


def _make(statements: Iterator[str]) -> None:
    for statement in statements:
        op.execute(sa.DDL(statement.replace("%", "%%")))


def _statements(file: str) -> Iterator[str]:
    script = (Path(__file__).with_name("tables") / file).read_text(encoding="utf-8")
    yield from (statement.strip() for statement in script.split(";\n") if statement.strip())


def _since(dialect: str, former: str) -> Iterator[str]:
    for revision in _SINCE:
        if former <= revision:
            yield from _statements(f"{dialect}_since_{revision}.sql")


def _uncommented(statement: str) -> str:
    return "\n".join(line for line in statement.splitlines() if not line.startswith("--"))


def _is_new(statement: str, tables: set[str]) -> bool:
    """Say whether a statement makes a table that is not there, or an index of one."""
    made = _MADE.match(_uncommented(statement))
    return made is not None and (made[3] or made[2]).lower() not in tables


def _is_of_new(statement: str, tables: set[str]) -> bool:
    """Say whether a statement alters a table that was not there: it was made just now, with what is new in it."""
    altered = _ALTERED.match(_uncommented(statement))
    return altered is not None and altered[1].lower() not in tables


def _redefine(connection: sa.Connection) -> None:
    """Write the definitions of tables anew; each has its columns in the order in which its rows have them."""
    found = {row.name: row.sql for row in connection.execute(_DEFINED)}
    indexes = []
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    for statement in _statements("sqlite.sql"):
        text = _uncommented(statement)
        made = _MADE.match(text)
        if made is None:
            continue
        kind, name = made[1], made[2]
        if kind == "TABLE" and name in found:
            order = list(connection.execute(_COLUMNS, {"table": name}).scalars())
            connection.execute(_REDEFINE, {"name": name, "sql": _in_order(text, order)})
        elif kind != "TABLE" and found.get(name) != text:
            indexes.append((name, text))
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
    for name, text in indexes:
        connection.exec_driver_sql(f'DROP INDEX IF EXISTS "{name}"')
        connection.exec_driver_sql(text)


def _in_order(table: str, columns: list[str]) -> str:
    """Return a definition with its columns in another order, and those behind them that rows do not have yet."""
    begin, _, rest = table.partition("(\n    ")
    body, _, end = rest.rpartition("\n)")
    parts = _PART.split(body)
    of_columns = {part.split(" ", 1)[0]: part for part in parts if not _CONSTRAINT.match(part)}
    ordered = [of_columns.pop(column) for column in columns]
    others = [part for part in parts if _CONSTRAINT.match(part)]
    return f"{begin}(\n    {f',{chr(10)}    '.join([*ordered, *of_columns.values(), *others])}\n){end}"


def downgrade() -> None:
    """Refuse: what people have defined and what was done would be gone."""
    message = "there is no way back to no tables: drop the database"
    raise NotImplementedError(message)
