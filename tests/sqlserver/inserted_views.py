"""Which columns an INSERT into a view has to name where a trigger stands in its place: all that SQL Server reckons NOT NULL.

What it says of functions is that they may be NULL; of those that are not, `CONCAT` and `ISNULL`, it says nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from batchctl.store.tables import metadata
from tests.sqlserver.catalog import Catalog, called
from tests.sqlserver.names import parts
from tests.sqlserver.parser import Tree
from tests.sqlserver.trees import children, first_specification, name_of, of_kind

_NEVER_NULL = frozenset({"concat", "concat_ws", "count", "count_big", "isnull"})
_MAY_LACK = {
    "LeftOuter": {"SecondTableReference"},
    "RightOuter": {"FirstTableReference"},
    "FullOuter": {"FirstTableReference", "SecondTableReference"},
}
"""The sides of a join that a row may have nothing of."""
REQUIRED = {
    table.name.lower(): {column.name.lower() for column in table.columns if not column.nullable}
    for table in metadata.tables.values()
}
"""Of each table: its columns that are NOT NULL."""
Sources = Mapping[str, set[str]]
"""Of each table that a query reads, as it calls it: the columns that are NOT NULL there."""


def filled_by_triggers(catalog: Catalog) -> list[str]:
    """Return the views for which a trigger carries out what is inserted."""
    return [name for name in catalog.views if "insert" in catalog.triggers.get(name, ())]


def asked_for(view: Tree) -> list[str]:
    """Return the columns of a view that an INSERT has to name."""
    query = first_specification(view["SelectStatement"]["QueryExpression"])
    sources = dict(_sources(query["FromClause"]))
    return [called(one) for one in query["SelectElements"] if not _may_be_null(one["Expression"], sources)]


def _sources(clause: Tree) -> Iterator[tuple[str, set[str]]]:
    for one in children(clause):
        if one["is"] == "NamedTableReference":
            table = name_of(one["SchemaObject"])
            yield name_of(one.get("Alias")) or table, REQUIRED[table]
        for side in ("FirstTableReference", "SecondTableReference"):
            may_lack = side in _MAY_LACK.get(one.get("QualifiedJoinType", ""), ())
            for called_so, required in _sources({"": one[side]} if side in one else {}):
                yield called_so, set() if may_lack else required


def _may_be_null(expression: Tree, sources: Sources) -> bool:
    match expression["is"]:
        case "ColumnReferenceExpression":
            *table, name = parts(expression)
            return all(name not in required for source, required in sources.items() if source in (table or sources))
        case "NullIfExpression" | "ScalarSubquery":
            return True
        case "CoalesceExpression":
            return any(_may_be_null(one, sources) for one in expression["Expressions"])
        case "SearchedCaseExpression" | "SimpleCaseExpression":
            results = [one["ThenExpression"] for one in expression["WhenClauses"]]
            is_open = "ElseExpression" not in expression
            return is_open or any(_may_be_null(one, sources) for one in [*results, expression["ElseExpression"]])
        case "FunctionCall":
            return name_of(expression["FunctionName"]) not in _NEVER_NULL and any(
                _may_be_null(one, sources) for one in expression["Parameters"]
            )
        case _:
            return any(True for _ in of_kind(expression, "NullLiteral"))
