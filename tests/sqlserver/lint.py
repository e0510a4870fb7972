"""What SQL Server refuses although its parser takes it: errors that come with the binding of names, by their numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.sqlserver.catalog import Catalog, Columns, called
from tests.sqlserver.parser import Tree
from tests.sqlserver.trees import QUERIES, children, everything, first_specification, name_of, of_kind, of_one_query

AGGREGATES = frozenset({"min", "max", "sum", "avg", "count", "count_big", "string_agg", "stdev", "var"})
OF_ONE_TEXT = frozenset(
    {"lower", "upper", "trim", "ltrim", "rtrim", "substring", "replicate", "left", "right", "reverse"}
)
OF_TEXTS = frozenset(
    {"concat", "concat_ws", "replace", "translate", "coalesce", "nullif", "isnull", "min", "max", "stuff"}
)
OF_DATES = frozenset({"dateadd", "datediff", "datediff_big", "datepart", "datename"})
SETTINGS = frozenset(
    {"QuotedIdentifier", "AnsiNulls", "AnsiPadding", "AnsiWarnings", "ConcatNullYieldsNull", "ArithAbort"}
)
KNOWN = SETTINGS | {"NumericRoundAbort"}
"""What has to be on in a session that writes a table with such an index; NumericRoundAbort has to be off."""
WRITES = {"InsertSpecification": "insert", "UpdateSpecification": "update", "DeleteSpecification": "delete"}
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


def parts(column: Tree) -> list[str]:
    """Return a column's name with what stands before it."""
    return [str(one["Value"]).lower() for one in column.get("MultiPartIdentifier", {}).get("Identifiers", [])]


def refusals(tree: Tree, catalog: Catalog, *, by_any_client: bool = False) -> list[str]:
    """Return what SQL Server would refuse in a batch that its parser takes.

    Sessions of `any client`, such as sqlcmd and SQL Agent, have QUOTED_IDENTIFIER off.
    """
    return refusals_of_session([tree], catalog, by_any_client=by_any_client)


def refusals_of_session(trees: Iterable[Tree], catalog: Catalog, *, by_any_client: bool = False) -> list[str]:
    """Return the same of one batch after the other: what the first has set holds for the others."""
    linter = Linter(catalog, wrong={"QuotedIdentifier"} if by_any_client else set())
    for tree in trees:
        linter.batch(tree)
    return linter.found


@dataclass
class Linter:
    """Goes through a batch, and keeps what it finds."""

    catalog: Catalog
    wrong: set[str] = field(default_factory=set)
    """The settings that are not as a table with a filtered index wants them."""
    found: list[str] = field(default_factory=list)

    def say(self, number: int, what: str, at: Tree) -> None:
        """Keep one finding."""
        self.found.append(f"line {at['line']}: {what} ({number})")

    def batch(self, tree: Tree) -> None:
        """Look at everything in a batch."""
        self.variables(tree)
        for one in everything(tree):
            if one["is"] == "PredicateSetStatement":
                named = {*one["Options"].split(", ")}
                strange = {name for name in named if one["IsOn"] is not (name in SETTINGS)} & KNOWN
                self.wrong = self.wrong - named | strange
            elif one["is"] in WRITES:
                self.written(one, self.wrong)
        self.below(tree, Scope({}))

    def variables(self, tree: Tree) -> None:
        """134: declared twice; 137 on servers that tell letter cases apart: written in two ways."""
        declared = [
            str(one["VariableName"]["Value"])
            for one in everything(tree)
            if one["is"] in {"DeclareVariableElement", "DeclareTableVariableBody"}
        ]
        used = [str(one["Name"]) for one in of_kind(tree, "VariableReference")]
        for name in sorted({one.lower() for one in (*declared, *used)}):
            if sum(one.lower() == name for one in declared) > 1:
                self.say(134, f"{name} is declared twice", tree)
            elif len({one for one in (*declared, *used) if one.lower() == name}) > 1:
                self.say(137, f"{name} is written in several letter cases", tree)

    def written(self, statement: Tree, wrong: set[str]) -> None:
        """334: OUTPUT without INTO, where a trigger hears of it; 1934: by a session whose settings are wrong."""
        target = name_of(statement["Target"].get("SchemaObject"))
        aliases = {
            name_of(one.get("Alias")): name_of(one["SchemaObject"]) for one in of_kind(statement, "NamedTableReference")
        }
        heard = self.catalog.triggers.get(aliases.get(target, target), set())
        if wrong and aliases.get(target, target) in self.catalog.strict:
            self.say(
                1934, f"{target} is written while {', '.join(sorted(wrong))} is not as its indexes want", statement
            )
        if "OutputClause" in statement and WRITES[statement["is"]] in heard:
            self.say(334, f"OUTPUT without INTO on {target}, of which a trigger hears", statement)

    def below(self, tree: Tree, scope: Scope) -> None:
        """Look at the queries below a fragment, which see the names of a scope."""
        scope = self.with_ctes(tree, scope)
        if tree["is"] in WRITES:
            scope = self.of_write(tree, scope)
        self.compared(tree, scope)
        for child in children(tree):
            if child["is"] in QUERIES:
                self.query(child, scope)
            else:
                self.below(child, scope)

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

    def of_write(self, statement: Tree, scope: Scope) -> Scope:
        """Return the names that an UPDATE, DELETE or INSERT can use."""
        sources = dict(self.sources(statement.get("FromClause"), scope))
        if not sources:
            target = name_of(statement["Target"].get("SchemaObject"))
            sources[target] = self.catalog.columns(target)
        return Scope(sources, scope, scope.ctes)

    def query(self, query: Tree, scope: Scope) -> None:
        """Look at a query and all within."""
        if query["is"] == "QuerySpecification":
            self.specification(query, scope)
        else:
            self.joined(query, scope)
            for child in children(query):
                if child["is"] in QUERIES:
                    self.query(child, scope)
                else:
                    self.below(child, scope)

    def specification(self, query: Tree, scope: Scope) -> None:
        """Look at one SELECT."""
        sources = self.sources(query.get("FromClause"), scope)
        own = Scope(sources, scope, scope.ctes)
        for element in query["SelectElements"]:
            expression = element.get("Expression")
            if expression is not None and self.collation_of(expression, own) == CONFLICT:
                self.say(451, f"column {called(element) or '?'} is made of texts of different collations", element)
        self.aggregates(query, own)
        self.grouped(query, own)
        self.distinct(query)
        for child in children(query):
            self.below(child, own)

    def aggregates(self, query: Tree, scope: Scope) -> None:
        """8124: columns of this query and of one around it in one aggregate; 130: an aggregate or a query within one."""
        for call in of_one_query(query, "FunctionCall"):
            if name_of(call["FunctionName"]) not in AGGREGATES or "OverClause" in call:
                continue
            within = call.get("Parameters", [])
            if any(is_aggregate_or_query(one) for part in within for one in everything(part)):
                self.say(130, "an aggregate of an aggregate or a subquery", call)
            columns = [one for part in within for one in columns_in(part)]
            names = {tuple(parts(one)) for one in columns}
            if len(names) > 1 and not all(scope.is_own(one) for one in columns):
                said = ", ".join(sorted(".".join(name) for name in names))
                self.say(8124, f"an aggregate of columns here and further out: {said}", call)

    def grouped(self, query: Tree, scope: Scope) -> None:
        """144: an aggregate or a query in GROUP BY; 164: something there without a column of this query."""
        for one in query.get("GroupByClause", {}).get("GroupingSpecifications", []):
            expression = one.get("Expression")
            if expression is None:
                continue
            if any(is_aggregate_or_query(part) for part in everything(expression)):
                self.say(144, "GROUP BY an aggregate or a subquery", one)
            elif not any(scope.is_own(column) for column in columns_in(expression)):
                self.say(164, "GROUP BY something without a column of this query", one)

    def distinct(self, query: Tree) -> None:
        """145: ORDER BY what SELECT DISTINCT does not show."""
        if query.get("UniqueRowFilter") != "Distinct":
            return
        shown = {said(element["Expression"]) for element in query["SelectElements"] if "Expression" in element}
        names = {called(element) for element in query["SelectElements"]}
        for one in query.get("OrderByClause", {}).get("OrderByElements", []):
            expression = one["Expression"]
            if said(expression) not in shown and (parts(expression) or [""])[-1] not in names:
                self.say(145, "ORDER BY what SELECT DISTINCT does not show", one)

    def compared(self, tree: Tree, scope: Scope) -> None:
        """468: a comparison of texts that have different collations."""
        compared = {
            "BooleanComparisonExpression": ("FirstExpression", "SecondExpression"),
            "LikePredicate": ("FirstExpression", "SecondExpression"),
            "InPredicate": ("Expression", "Values"),
        }.get(tree["is"], ())
        sides = [one for name in compared for one in _listed(tree.get(name, []))]
        if tree["is"] == "FunctionCall" and name_of(tree["FunctionName"]) in {"charindex", "patindex"}:
            sides = tree["Parameters"][:2]
        if sides and self.together([self.collation_of(side, scope) for side in sides]) == CONFLICT:
            self.say(468, "texts of different collations are compared", tree)

    def joined(self, query: Tree, scope: Scope) -> None:
        """451: columns of a UNION that are texts of different collations."""
        if query["is"] != "BinaryQueryExpression":
            return
        first, second = (
            list(self.columns_of(query[side], scope).values())
            for side in ("FirstQueryExpression", "SecondQueryExpression")
        )
        for at, both in enumerate(zip(first, second, strict=False), start=1):
            if self.together(both) == CONFLICT:
                self.say(451, f"column {at} of a UNION has texts of different collations", query)

    def sources(self, clause: Tree | None, scope: Scope) -> dict[str, Columns | None]:
        """Return the tables of a FROM clause by what they are called."""
        found: dict[str, Columns | None] = {}
        for one in children(clause or {}):
            if one["is"] in {"QualifiedJoin", "UnqualifiedJoin", "JoinParenthesisTableReference"}:
                below = {key: part for key, part in one.items() if "TableReference" in key or key == "Join"}
                found |= self.sources(below, scope)
            elif one["is"] == "NamedTableReference":
                table = name_of(one["SchemaObject"])
                columns = scope.cte(table) or self.catalog.columns(table)
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
                return scope.collation(expression)
            case "ParenthesisExpression":
                return self._collation_of(expression["Expression"], scope)
            case "CoalesceExpression":
                return self.of_all(expression["Expressions"], scope)
            case "NullIfExpression":
                return self._collation_of(expression["FirstExpression"], scope)
            case "SearchedCaseExpression" | "SimpleCaseExpression":
                results = [one["ThenExpression"] for one in expression["WhenClauses"]]
                return self.of_all([*results, *_listed(expression.get("ElseExpression", []))], scope)
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


def is_aggregate_or_query(tree: Tree) -> bool:
    """Say whether a fragment is what no aggregate may hold."""
    return tree["is"] in QUERIES or (
        tree["is"] == "FunctionCall" and name_of(tree["FunctionName"]) in AGGREGATES and "OverClause" not in tree
    )


def columns_in(expression: Tree) -> Iterator[Tree]:
    """Yield the columns of an expression; the part of a date that a function is told looks like one."""
    if expression["is"] == "ColumnReferenceExpression" and parts(expression):
        yield expression
    is_about_dates = expression["is"] == "FunctionCall" and name_of(expression["FunctionName"]) in OF_DATES
    below = expression["Parameters"][1:] if is_about_dates else children(expression)
    for child in below:
        if child["is"] not in QUERIES:
            yield from columns_in(child)


def said(expression: Tree) -> str:
    """Return an expression without its places, for comparison."""
    return json.dumps(_without_lines(expression)).lower()


def _without_lines(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_lines(part) for key, part in value.items() if key not in {"line", "QuoteType"}}
    return [_without_lines(part) for part in value] if isinstance(value, list) else value


def _listed(value: Tree | list[Tree]) -> list[Tree]:
    return value if isinstance(value, list) else [value]
