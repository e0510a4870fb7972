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
OF_DATES = frozenset({"dateadd", "datediff", "datediff_big", "datepart", "datename", "datetrunc"})
CASTS = frozenset({"CastCall", "ConvertCall", "TryCastCall", "TryConvertCall"})
OF_WRITES = frozenset({"inserted", "deleted"})
"""How OUTPUT and triggers call what is written."""
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

    def missed(self, column: Tree) -> tuple[int, str] | None:
        """Return why a name means no column: 207, 209, 4104; None where it means one, or may do so."""
        *table, name = parts(column)
        said = ".".join(parts(column))
        if table and table[-1] in self.sources:
            columns = self.sources[table[-1]]
            return (207, f"there is no column {said}") if columns is not None and name not in columns else None
        if not table:
            having = [source for source, columns in self.sources.items() if columns is None or name in columns]
            if None in self.sources.values() or len(having) == 1:
                return None
            if having:
                return 209, f"{said} may be of {' or '.join(having)}"
        if self.outer is not None:
            return self.outer.missed(column)
        if table:
            return None if table[-1] in OF_WRITES else (4104, f"{said} is of no table here")
        return 207, f"there is no column {said}"

    def cte(self, name: str) -> Columns | None:
        """Return the columns of a common table expression."""
        return self.ctes.get(name) or (None if self.outer is None else self.outer.cte(name))

    def of_star(self, star: Tree) -> list[Columns | None]:
        """Return the columns that a star stands for, table by table."""
        qualifier = name_of(star.get("Qualifier"))
        return [columns for source, columns in self.sources.items() if qualifier in {"", source}]

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
    of_views: dict[str, Columns | None] = field(default_factory=dict)

    def columns(self, name: str) -> Columns | None:
        """Return the columns of a table or view; None of one that is not known."""
        view = None if name in self.of_views else self.catalog.view(name)
        if view is not None:
            scope = self.with_ctes(view["SelectStatement"], Scope({}))
            self.of_views[name] = self.named_by(view, view["SelectStatement"]["QueryExpression"], scope)
        return self.of_views.get(name) or self.catalog.tables.get(name)

    def with_ctes(self, tree: Tree, scope: Scope) -> Scope:
        """Return the scope with the common table expressions of a statement."""
        named = tree.get("WithCtesAndXmlNamespaces", {}).get("CommonTableExpressions", [])
        ctes: dict[str, Columns | None] = {}
        for one in named:
            scope = Scope(scope.sources, scope.outer, {**scope.ctes, **ctes})
            ctes[name_of(one["ExpressionName"])] = self.named_by(one, one["QueryExpression"], scope)
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
                found[name_of(one.get("Alias"))] = self.named_by(one, one["QueryExpression"], scope)
            elif one["is"] == "InlineDerivedTable":
                found[name_of(one.get("Alias"))] = {name_of(column): None for column in one.get("Columns", [])}
            else:
                found[name_of(one.get("Alias")) or one["is"]] = None
        return found

    def named_by(self, tree: Tree, query: Tree, scope: Scope) -> Columns | None:
        """Return the columns of a query as a fragment names them that makes a table of it; None where they are not known."""
        shown = self.shown(query, scope)
        asked = [name_of(column) for column in tree.get("Columns", [])]
        if shown is None:
            return dict.fromkeys(asked) if asked else None
        return dict(zip(asked, (collation for _, collation in shown), strict=True)) if asked else dict(shown)

    def shown(self, query: Tree, scope: Scope) -> list[tuple[str, str | None]] | None:
        """Return the columns of a query in their order with their collations; None where a star shows what is not known."""
        one = first_specification(query)
        own = Scope(self.sources(one.get("FromClause"), scope), scope, scope.ctes)
        found: list[tuple[str, str | None]] = []
        for at, element in enumerate(one["SelectElements"]):
            if element["is"] == "SelectStarExpression":
                for columns in own.of_star(element):
                    if columns is None:
                        return None
                    found += columns.items()
            elif "Expression" in element:
                collation = self.collation_of(element["Expression"], own, plain=True)
                found.append((called(element) or f"column {at}", collation))
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
                shown = self.shown(expression["QueryExpression"], scope)
                return shown[0][1] if shown else None
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
    """Yield the columns of an expression."""
    if expression["is"] == "ColumnReferenceExpression" and parts(expression):
        yield expression
    for child in operands(expression):
        yield from columns_in(child)


def operands(expression: Tree) -> Iterator[Tree]:
    """Yield what an expression is made of, without queries; the part of a date that a function is told looks like a column."""
    is_about_dates = expression["is"] == "FunctionCall" and name_of(expression["FunctionName"]) in OF_DATES
    for child in expression["Parameters"][1:] if is_about_dates else children(expression):
        if child["is"] not in QUERIES:
            yield child


def listed(value: Tree | list[Tree]) -> list[Tree]:
    """Return a fragment, or a list of them, as a list."""
    return value if isinstance(value, list) else [value]
