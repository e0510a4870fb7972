"""What is refused because of where it stands in a query, whatever its names mean."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tests.sqlserver.catalog import called
from tests.sqlserver.functions import ORDERED
from tests.sqlserver.names import listed
from tests.sqlserver.parser import Tree
from tests.sqlserver.trees import everything, first_specification, name_of, of_one_query

_WITHOUT_WINDOWS = {
    "WhereClause": "SearchCondition",
    "HavingClause": "SearchCondition",
    "GroupByClause": "GroupingSpecifications",
    "QualifiedJoin": "SearchCondition",
    "MergeSpecification": "SearchCondition",
    "AssignmentSetClause": "NewValue",
}
"""Where no function over a window may stand."""
_VIEWS = frozenset({"CreateViewStatement", "CreateOrAlterViewStatement", "AlterViewStatement"})
Refused = tuple[int, str, Tree]


def misplaced(tree: Tree) -> Iterator[Refused]:
    """Yield what is refused anywhere in a batch."""
    for one in everything(tree):
        yield from _unnamed(one)
        yield from _over_window(one)
        yield from _limited(one)


def _unnamed(tree: Tree) -> Iterator[Refused]:
    """4511, 8155: a column without a name in a view, and in what a query reads like a table."""
    if "Columns" in tree:
        return
    if tree["is"] in _VIEWS:
        number, query = 4511, tree["SelectStatement"]["QueryExpression"]
    elif tree["is"] in {"QueryDerivedTable", "CommonTableExpression"}:
        number, query = 8155, tree["QueryExpression"]
    else:
        return
    for at, element in enumerate(first_specification(query)["SelectElements"], start=1):
        if element["is"] == "SelectScalarExpression" and not called(element):
            yield number, f"column {at} has no name", element


def _over_window(tree: Tree) -> Iterator[Refused]:
    """4108: a function over a window where none may stand; 4112, 10753: one without an order, or without a window."""
    parts = listed(tree.get(_WITHOUT_WINDOWS.get(tree["is"], ""), []))
    for call in chain.from_iterable(of_one_query(part, "FunctionCall") for part in parts):
        if "OverClause" in call:
            yield 4108, f"{name_of(call['FunctionName'])} over a window stands outside SELECT and ORDER BY", call
    if tree["is"] == "FunctionCall" and "CallTarget" not in tree and name_of(tree["FunctionName"]) in ORDERED:
        if "OverClause" not in tree:
            yield 10753, f"{name_of(tree['FunctionName'])} has no window", tree
        elif "OrderByClause" not in tree["OverClause"]:
            yield 4112, f"{name_of(tree['FunctionName'])} has a window without an order", tree


def _limited(tree: Tree) -> Iterator[Refused]:
    """10741: TOP and OFFSET in one query; 10744: FETCH of no row."""
    if "TopRowFilter" in tree and "OffsetClause" in tree:
        yield 10741, "TOP stands beside OFFSET", tree
    if tree["is"] == "OffsetClause" and tree.get("FetchExpression", {}).get("Value") == "0":
        yield 10744, "FETCH NEXT 0 ROWS", tree
