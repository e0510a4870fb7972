"""SQL is written in one text, in which the parsers of the tests find it; what is joined where it is sent, they do not see."""

from __future__ import annotations

import ast

from tests.house.source import place, product_files
from tests.sqlserver.source_texts import OF_OTHERS

SENDS = {"execute", "exec_driver_sql", "executemany", "text", "DDL"}


def put_together(source: str) -> list[int]:
    """Return the lines in which something is sent that was joined, or added up, in the call itself."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and node.args and _name(node.func) in SENDS and _is_put_together(node.args[0])
    ]


def _name(function: ast.expr) -> str:
    match function:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _is_put_together(argument: ast.expr) -> bool:
    match argument:
        case ast.BinOp(op=ast.Add() | ast.Mod()):
            return True
        case ast.Call(func=ast.Attribute(attr="join")):
            return True
        case _:
            return False


def test_no_statement_is_put_together_where_it_is_sent() -> None:
    found = [
        f"{place(path)}:{line}"
        for path in product_files()
        if not OF_OTHERS.fullmatch(place(path))
        for line in put_together(path.read_text(encoding="utf-8"))
    ]

    assert found == []


def test_every_way_to_put_one_together_is_noticed() -> None:
    source = """
session.execute(" ".join(("DELETE", "FROM", table)))
session.execute("DELETE FROM " + table)
connection.exec_driver_sql("DELETE FROM %s" % table)
connection.execute(text("DELETE FROM " + table))
session.execute(f"DELETE FROM {table}")
session.execute("DELETE FROM {}".format(table))
"""

    assert put_together(source) == [2, 3, 4, 5]
