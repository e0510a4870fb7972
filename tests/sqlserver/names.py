"""What the names in a query mean, and the collations of what is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.sqlserver.catalog import IN_TEXT, Catalog, Columns, called
from tests.sqlserver.parser import Tree
from tests.sqlserver.trees import QUERIES, children, first_specification, name_of

OF_ONE_TEXT = frozenset(
    {"lower", "upper", "trim", "ltrim", "rtrim", "substring", "replicate", "left", "right", "reverse"}
)
OF_TEXTS = frozenset(
    {"concat", "concat_ws", "replace", "translate", "coalesce", "nullif", "isnull", "min", "max", "stuff"}
)
OF_DATES = frozenset({"dateadd", "datediff", "datediff_big", "datepart", "datename"})
CASTS = frozenset({"CastCall", "ConvertCall", "TryCastCall", "TryConvertCall"})
CONFLICT = "a conflict"
"""The collation of what is made of texts with different ones."""


@dataclass(frozen=True)
class Scope:
    """The tables that names of a query may mean, innermost first; None for the columns of one that is not known."""

    sources: Mapping[str, Columns | None]
    outer: Scope | None = None
    ctes: Mapping[str, Columns | None] = field(default_factory=dict)

    def is_own(self, column: Tree) -> bool:
        """Say whether a column belongs to the query itself, not to one around it."""
        *table, name = parts(column)
        if table:
            return table[-1] in self.sources or self.outer is None
        if any(columns is None or name in columns for columns in self.sources.values()):
            return True
        return self.outer is None or not self.outer.knows(name)

    def knows(self, name: str) -> bool:
        """Say whether a column of that name is to be had here or further out."""
        return any(columns is not None and name in columns for columns in self.sources.values()) or (
            self.outer is not None and self.outer.knows(name)
        )

    def collation(self, column: Tree) -> str | None:
        """Return the collation of a column; None where it holds no text, or is not known."""
        *table, name = parts(column)
        for source, columns in self.sources.items():
            if columns is not None and name in columns and (not table or table[-1] == source):
                return columns[name]
        return None if self.outer is None else self.outer.collation(column)

    def cte(self, name: str) -> Columns | None:
        """Return the columns of a common table expression."""
        return self.ctes.get(name) or (None if self.outer is None else self.outer.cte(name))

    def meant(self, column: Tree) -> tuple[str, str]:
        """Return the table, as the query calls it, and the column that a name means."""
        *table, name = parts(column)
        having = [source for source, columns in self.sources.items() if columns is None or name in columns]
        return (table[-1] if table else having[0] if len(having) == 1 else "", name)


def parts(column: Tree) -> list[str]:
    """Return a column's name with what stands before it."""
    return [str(one["Value"]).lower() for one in column.get("MultiPartIdentifier", {}).get("Identifiers", [])]


@dataclass(frozen=True)
class Names:
    """Finds what names mean in the tables and views of a catalog."""

    catalog: Catalog
    of_views: dict[str, Columns] = field(default_factory=dict)

    def columns(self, name: str) -> Columns | None:
        """Return the columns of a table or view; None of one that is not known."""
        view = None if name in self.of_views else self.catalog.view(name)
        if view is not None:
            asked = [name_of(column) for column in view.get("Columns", [])]
            scope = self.with_ctes(view["SelectStatement"], Scope({}))
            columns = self.columns_of(view["SelectStatement"]["QueryExpression"], scope)
            self.of_views[name] = dict(zip(asked, columns.values(), strict=True)) if asked else columns
        return self.of_views.get(name) or self.catalog.tables.get(name)

    def with_ctes(self, tree: Tree, scope: Scope) -> Scope:
        """Return the scope with the common table expressions of a statement."""
        named = tree.get("WithCtesAndXmlNamespaces", {}).get("CommonTableExpressions", [])
        ctes: dict[str, Columns | None] = {}
        for one in named:
            scope = Scope(scope.sources, scope.outer, {**scope.ctes, **ctes})
            columns = self.columns_of(one["QueryExpression"], scope)
            asked = [name_of(column) for column in one.get("Columns", [])]
            ctes[name_of(one["ExpressionName"])] = dict(zip(asked, columns.values(), strict=True)) if asked else columns
        return Scope(scope.sources, scope.outer, {**scope.ctes, **ctes})

    def sources(self, clause: Tree | None, scope: Scope) -> dict[str, Columns | None]:
        """Return the tables of a FROM clause by what they are called."""
        found: dict[str, Columns | None] = {}
        for one in children(clause or {}):
            if one["is"] in {"QualifiedJoin", "UnqualifiedJoin", "JoinParenthesisTableReference"}:
                below = {key: part for key, part in one.items() if "TableReference" in key or key == "Join"}
                found |= self.sources(below, scope)
            elif one["is"] == "NamedTableReference":
                table = name_of(one["SchemaObject"])
                columns = scope.cte(table) or self.columns(table)
                found[name_of(one.get("Alias")) or table] = columns
            elif one["is"] == "QueryDerivedTable":
                columns = self.columns_of(one["QueryExpression"], scope)
                found[name_of(one.get("Alias"))] = columns
            elif one["is"] == "InlineDerivedTable":
                found[name_of(one.get("Alias"))] = {name_of(column): None for column in one.get("Columns", [])}
            elif "Alias" in one:
                found[name_of(one["Alias"])] = None
        return found

    def columns_of(self, query: Tree, scope: Scope) -> dict[str, str | None]:
        """Return the columns of a query with their collations."""
        one = first_specification(query)
        own = Scope(self.sources(one.get("FromClause"), scope), scope, scope.ctes)
        found: dict[str, str | None] = {}
        for at, element in enumerate(one["SelectElements"]):
            if element["is"] == "SelectStarExpression":
                for columns in own.sources.values():
                    found |= columns or {}
            elif "Expression" in element:
                found[called(element) or f"column {at}"] = self.collation_of(element["Expression"], own, plain=True)
        return found

    def collation_of(self, expression: Tree, scope: Scope, *, plain: bool = False) -> str | None:
        """Return the collation of an expression: None where any other wins; with "!" before it where COLLATE says so."""
        collation = self._collation_of(expression, scope)
        return collation.removeprefix("!") if plain and collation else collation

    def _collation_of(self, expression: Tree, scope: Scope) -> str | None:
        if "Collation" in expression:
            return f"!{name_of(expression['Collation'])}"
        match expression["is"]:
            case "ColumnReferenceExpression":
                return scope.collation(expression) if parts(expression) else None
            case "ParenthesisExpression":
                return self._collation_of(expression["Expression"], scope)
            case "CoalesceExpression":
                return self.of_all(expression["Expressions"], scope)
            case "NullIfExpression":
                return self._collation_of(expression["FirstExpression"], scope)
            case "IIfCall":
                return self.of_all([expression["ThenExpression"], expression["ElseExpression"]], scope)
            case kind if kind in CASTS:
                # Whatever its length becomes, a text keeps its collation; what was none gets that of the database.
                is_text = name_of(expression["DataType"].get("Name")) in IN_TEXT
                return self._collation_of(expression["Parameter"], scope) if is_text else None
            case "SearchedCaseExpression" | "SimpleCaseExpression":
                results = [one["ThenExpression"] for one in expression["WhenClauses"]]
                return self.of_all([*results, *listed(expression.get("ElseExpression", []))], scope)
            case "BinaryExpression":
                return self.of_all([expression["FirstExpression"], expression["SecondExpression"]], scope)
            case "LeftFunctionCall" | "RightFunctionCall":
                return self._collation_of(expression["Parameters"][0], scope)
            case "FunctionCall":
                return self._collation_of_call(expression, scope)
            case "ScalarSubquery":
                return next(iter(self.columns_of(expression["QueryExpression"], scope).values()), None)
            case _:
                return None

    def _collation_of_call(self, call: Tree, scope: Scope) -> str | None:
        name = name_of(call["FunctionName"])
        if name in OF_ONE_TEXT:
            return self._collation_of(call["Parameters"][0], scope)
        return self.of_all(call["Parameters"], scope) if name in OF_TEXTS else None

    def of_all(self, expressions: list[Tree], scope: Scope) -> str | None:
        """Return the collation of what is made of several expressions."""
        return self.together([self._collation_of(one, scope) for one in expressions])

    def together(self, collations: list[str | None] | tuple[str | None, ...]) -> str | None:
        """Return the collation that wins: one that COLLATE names over that of a column."""
        named = {one for one in collations if one is not None and one.startswith("!")}
        of_columns = {one for one in collations if one is not None}
        winning = named or of_columns
        return CONFLICT if len(winning) > 1 else next(iter(winning), None)


def columns_in(expression: Tree) -> Iterator[Tree]:
    """Yield the columns of an expression; the part of a date that a function is told looks like one."""
    if expression["is"] == "ColumnReferenceExpression" and parts(expression):
        yield expression
    is_about_dates = expression["is"] == "FunctionCall" and name_of(expression["FunctionName"]) in OF_DATES
    below = expression["Parameters"][1:] if is_about_dates else children(expression)
    for child in below:
        if child["is"] not in QUERIES:
            yield from columns_in(child)


def listed(value: Tree | list[Tree]) -> list[Tree]:
    """Return a fragment, or a list of them, as a list."""
    return value if isinstance(value, list) else [value]
