"""How a table is written for SQLite: a column's conditions stand beside it without a name, so that errors show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Column, Table, UniqueConstraint
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateTable

from batchctl.store.conditions import holds_no_nul, is_audited, is_often_written, is_text, is_time, requirements

_WIDTH = 125
"""Characters after which a column goes on in another line."""
_IN_A_LINE = 10
"""How many texts one line forbids to hold a NUL."""
_ON = "\n        "


@compiles(CreateTable, "sqlite")
def _create_table(element: CreateTable, compiler: Any, **options: Any) -> str:
    table = element.element
    if not table.dialect_options["sqlite"]["strict"]:
        return str(compiler.visit_create_table(element, **options))  # It is Alembic's.
    parts = ",\n".join(f"    {part}" for part in _parts(table, compiler))
    return f"\nCREATE TABLE {table.name} (\n{parts}\n) STRICT"


def _parts(table: Table, compiler: Any) -> Iterator[str]:
    unique = [[column.name for column in made.columns] for made in _unique(table)]
    conditions: dict[str, list[str]] = {}
    # When a row is changed, SQLite looks at the conditions of the columns that change, and at no others.
    texts = [str(column.name) for column in table.c if is_text(column)]
    often = is_often_written(table) or len(texts) == 1
    for name, condition in requirements(table, "sqlite"):
        is_by_trigger = is_audited(table) and condition == is_time(name)
        if not is_by_trigger and (often or condition != holds_no_nul(name)):
            conditions.setdefault(name, []).append(condition)
    for column in table.c:
        said = _column(column, compiler)
        if [column.name] in unique:
            said += " UNIQUE"
        for key in column.foreign_keys:
            said += f" REFERENCES {key.column.table.name}"
        for condition in sorted(conditions.get(column.name, ()), key=len):
            long = len(said.rpartition("\n")[2]) + len(condition) > _WIDTH
            said += f"{_ON if long else ' '}CHECK ({condition})"
        yield said
    yield from (f"UNIQUE ({', '.join(several)})" for several in unique if len(several) > 1)
    if texts and not often:
        lines = (",".join(texts[at : at + _IN_A_LINE]) for at in range(0, len(texts), _IN_A_LINE))
        # JSON shows the character so, and each backslash as two.
        yield f"CHECK (NOT instr(replace(json_array({f',{_ON}'.join(lines)}),'\\\\',''),'\\u0000'))"


def _unique(table: Table) -> list[UniqueConstraint]:
    order = list(table.c.keys())
    found = (made for made in table.constraints if isinstance(made, UniqueConstraint))
    return sorted(found, key=lambda made: [order.index(column.name) for column in made.columns])


def _column(column: Column[Any], compiler: Any) -> str:
    if column.primary_key:
        return f"{column.name} INTEGER PRIMARY KEY AUTOINCREMENT"
    kind = str(compiler.dialect.type_compiler_instance.process(column.type)).replace('"', "")
    default = compiler.get_column_default_string(column)
    return " ".join(
        [
            str(column.name),
            kind,
            *([] if column.nullable else ["NOT NULL"]),
            *([] if default is None else [f"DEFAULT {default}"]),
        ]
    )
