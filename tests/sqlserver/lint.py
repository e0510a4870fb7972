"""What SQL Server refuses although its parser takes it: errors that come with the binding of names, by their numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from tests.sqlserver.catalog import Catalog, called
from tests.sqlserver.clauses import misplaced
from tests.sqlserver.functions import AGGREGATES, misused
from tests.sqlserver.names import CONFLICT, Names, Scope, columns_in, listed, parts
from tests.sqlserver.parser import Tree, problems, tree_of
from tests.sqlserver.trees import QUERIES, children, everything, name_of, of_one_query
from tests.sqlserver.variables import misnamed
from tests.sqlserver.writing import WRITES, Session

COMPARED = {
    "BooleanComparisonExpression": ("FirstExpression", "SecondExpression"),
    "BooleanTernaryExpression": ("FirstExpression", "SecondExpression", "ThirdExpression"),
    "LikePredicate": ("FirstExpression", "SecondExpression"),
    "InPredicate": ("Expression", "Values", "Subquery"),
    "SubqueryComparisonPredicate": ("Expression", "Subquery"),
    "NullIfExpression": ("FirstExpression", "SecondExpression"),
}
"""Where texts are compared."""
USED = {
    "AssignmentSetClause": "NewValue",
    "SetVariableStatement": "Expression",
    "SelectSetVariable": "Expression",
    "SelectScalarExpression": "Expression",
    "ExpressionWithSortOrder": "Expression",
    "ExpressionGroupingSpecification": "Expression",
}
"""Where a text has to have one collation: in what is shown, kept, sorted and grouped."""


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
    by_hand: set[str] = field(default_factory=set)
    """The tables whose rows are numbered by who inserts them."""

    def __post_init__(self) -> None:
        self.names = Names(self.catalog)

    def say(self, number: int, what: str, at: Tree) -> None:
        """Keep one finding."""
        self.found.append(f"line {at['line']}: {what} ({number})")

    def batch(self, tree: Tree) -> None:
        """Look at everything in a batch, and in the texts that it executes: what they set ends with them."""
        for number, what in misnamed(tree):
            self.say(number, what, tree)
        session = Session(self.catalog, self.wrong, self.by_hand)
        for number, what, at in chain(misused(tree), misplaced(tree), session.refused(tree)):
            self.say(number, what, at)
        self.wrong, self.by_hand = session.wrong, session.by_hand
        self.below(tree, Scope({}))
        for text, wrong, by_hand in session.executed:
            within = Linter(self.catalog, wrong, problems(text), by_hand)
            if not within.found:
                within.batch(tree_of(text))
            self.found += within.found

    def below(self, tree: Tree, scope: Scope) -> None:
        """Look at the queries below a fragment, which see the names of a scope."""
        scope = self.names.with_ctes(tree, scope)
        if tree["is"] in WRITES:
            scope = self.of_write(tree, scope)
        self.compared(tree, scope)
        self.used(tree, scope)
        for child in children(tree):
            if child["is"] in QUERIES:
                self.query(child, scope)
            else:
                self.below(child, scope)

    def of_write(self, statement: Tree, scope: Scope) -> Scope:
        """Return the names that an INSERT, UPDATE, DELETE or MERGE can use."""
        merged = statement.get("TableReference")
        sources = dict(self.names.sources({"": merged} if merged else statement.get("FromClause"), scope))
        if merged or not sources:
            target = name_of(statement["Target"].get("SchemaObject"))
            sources[name_of(statement.get("TableAlias")) or target] = self.names.columns(target)
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
        own = Scope(self.names.sources(query.get("FromClause"), scope), scope, scope.ctes)
        self.aggregates(query, own)
        self.grouped(query, own)
        self.distinct(query, own)
        for child in children(query):
            self.below(child, own)

    def aggregates(self, query: Tree, scope: Scope) -> None:
        """8124: columns of this query and of one around it in one aggregate; 130, 4109: what an aggregate may not hold.

        An aggregate over a window may hold one over a group, but no query, and none may hold one over a window.
        """
        for call in of_one_query(query, "FunctionCall"):
            if name_of(call["FunctionName"]) not in AGGREGATES:
                continue
            is_over_window = "OverClause" in call
            within = [one for part in call.get("Parameters", []) for one in everything(part)]
            if any(one["is"] in QUERIES or (is_aggregate(one) and not is_over_window) for one in within):
                self.say(130, "an aggregate of an aggregate or a subquery", call)
            if any("OverClause" in one for one in within):
                self.say(4109, "an aggregate of what is over a window", call)
            columns = [one for part in call.get("Parameters", []) for one in columns_in(part)]
            names = {tuple(parts(one)) for one in columns}
            if len(names) > 1 and not is_over_window and not all(scope.is_own(one) for one in columns):
                said = ", ".join(sorted(".".join(name) for name in names))
                self.say(8124, f"an aggregate of columns here and further out: {said}", call)

    def grouped(self, query: Tree, scope: Scope) -> None:
        """144: an aggregate or a query in GROUP BY; 164: something there without a column of this query."""
        for one in of_one_query(query.get("GroupByClause", {"is": ""}), "ExpressionGroupingSpecification"):
            expression = one["Expression"]
            if any(part["is"] in QUERIES or is_aggregate(part) for part in everything(expression)):
                self.say(144, "GROUP BY an aggregate or a subquery", one)
            elif not any(scope.is_own(column) for column in columns_in(expression)):
                self.say(164, "GROUP BY something without a column of this query", one)

    def distinct(self, query: Tree, scope: Scope) -> None:
        """145: ORDER BY what SELECT DISTINCT does not show."""
        elements = query["SelectElements"]
        if query.get("UniqueRowFilter") != "Distinct" or any(one["is"] == "SelectStarExpression" for one in elements):
            return
        expressions = [element["Expression"] for element in elements if "Expression" in element]
        shown = {said(one, scope) for one in expressions}
        names = {called(element) for element in elements} - {""}
        for one in query.get("OrderByClause", {}).get("OrderByElements", []):
            expression = one["Expression"]
            is_named = len(parts(expression)) == 1 and parts(expression)[0] in names
            if expression["is"] != "IntegerLiteral" and not is_named and said(expression, scope) not in shown:
                self.say(145, "ORDER BY what SELECT DISTINCT does not show", one)

    def compared(self, tree: Tree, scope: Scope) -> None:
        """468: a comparison of texts that have different collations."""
        sides = [one for name in COMPARED.get(tree["is"], ()) for one in listed(tree.get(name, []))]
        if tree["is"] == "FunctionCall" and name_of(tree["FunctionName"]) in {"charindex", "patindex"}:
            sides = tree["Parameters"][:2]
        elif tree["is"] == "SimpleCaseExpression":
            sides = [tree["InputExpression"], *(one["WhenExpression"] for one in tree["WhenClauses"])]
        if sides and self.names.of_all(sides, scope) == CONFLICT:
            self.say(468, "texts of different collations are compared", tree)

    def used(self, tree: Tree, scope: Scope) -> None:
        """451: a text that is made of texts of different collations has none."""
        expression = tree.get(USED.get(tree["is"], ""))
        if expression is not None and self.names.collation_of(expression, scope) == CONFLICT:
            what = f"column {called(tree) or '?'}" if tree["is"] == "SelectScalarExpression" else "a text"
            self.say(451, f"{what} is made of texts of different collations", tree)

    def joined(self, query: Tree, scope: Scope) -> None:
        """451: columns of a UNION that are texts of different collations."""
        if query["is"] != "BinaryQueryExpression":
            return
        first, second = (
            list(self.names.columns_of(query[side], scope).values())
            for side in ("FirstQueryExpression", "SecondQueryExpression")
        )
        for at, both in enumerate(zip(first, second, strict=False), start=1):
            if self.names.together(both) == CONFLICT:
                self.say(451, f"column {at} of a UNION has texts of different collations", query)


def is_aggregate(tree: Tree) -> bool:
    """Say whether a fragment makes one value of the rows of a group."""
    return tree["is"] == "FunctionCall" and name_of(tree["FunctionName"]) in AGGREGATES and "OverClause" not in tree


def said(expression: Tree, scope: Scope) -> str:
    """Return an expression without its places, and with its columns as what they mean, for comparison."""
    return json.dumps(_without_lines(expression, scope)).lower()


def _without_lines(value: object, scope: Scope) -> object:
    if isinstance(value, dict):
        if value.get("is") == "ColumnReferenceExpression" and parts(value) and "Collation" not in value:
            return scope.meant(value)
        return {key: _without_lines(part, scope) for key, part in value.items() if key not in {"line", "QuoteType"}}
    return [_without_lines(part, scope) for part in value] if isinstance(value, list) else value
