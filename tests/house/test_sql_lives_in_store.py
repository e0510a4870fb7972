"""SQL text stands in the store, in migrations and in the handlers that carry out a team's own SQL; nowhere else."""

from __future__ import annotations

import ast
import re

from tests.house.source import ROOT, place, product_files, strings

STATEMENT = re.compile(
    r"""\s*(
        SELECT\s.+\sFROM\s | SELECT\s+\S+\s*;?\s*$ | INSERT\s+INTO\s | UPDATE\s+\S+\s+SET\s | DELETE\s+FROM\s |
        MERGE\s+INTO\s |
        (CREATE|DROP|ALTER)\s+(TABLE|VIEW|(UNIQUE\s+)?INDEX|TRIGGER|PROCEDURE)\s |
        BEGIN\s+(IMMEDIATE|EXCLUSIVE|TRAN) | PRAGMA\s+\w+ | WITH\s+\w+\s+AS\s*\( | EXEC(UTE)?\s+\w+
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def sql_in(source: str) -> list[tuple[int, str]]:
    """Every statement with its line; one that ends in dots is a hint for a person, not a statement."""
    found = [(line, text) for line, text in strings(ast.parse(source)) if STATEMENT.match(text)]
    return [(line, text[:60]) for line, text in found if not text.endswith("...")]


def test_no_sql_stands_outside_the_store() -> None:
    found = [
        f"{place(path)}:{line}: {text!r}"
        for path in product_files()
        if path.is_relative_to(ROOT / "batchctl") and not path.is_relative_to(ROOT / "batchctl" / "store")
        for line, text in sql_in(path.read_text(encoding="utf-8"))
    ]

    assert found == [], "SQL belongs into a named function of batchctl/store:\n" + "\n".join(found)


def test_sql_in_plain_strings_and_f_strings_is_noticed_and_prose_is_not() -> None:
    source = '''
"""SELECT in a docstring FROM nowhere is prose."""
plain = "select Status from BatchControl where BatchControl_id = 1"
built = f"UPDATE {table} SET Status = 'ready'"
SELECT = run(f"SELECT {', '.join(names)} FROM {table}")
deep = run("INSERT INTO FileProcess (Entity) VALUES (?)")
lock = "BEGIN IMMEDIATE"
prose = "Select a batch, or insert a row"
hint = "INSERT INTO ProcessControl ..."
'''

    assert [line for line, _ in sql_in(source)] == [3, 4, 5, 6, 7]


def test_control_and_operations_only_hand_a_connection_on() -> None:
    found = [
        f"{place(path)}:{node.lineno}: connection.{node.attr}"
        for path in product_files()
        if path.relative_to(ROOT).parts[1] in {"control", "operations"}
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "connection"
    ]

    assert found == [], "Only the store knows what a connection can do:\n" + "\n".join(found)
