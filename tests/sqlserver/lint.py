"""What SQL Server refuses although its parser takes it: errors that come with the binding of names, by their numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from tests.sqlserver.catalog import Catalog, Columns, called
from tests.sqlserver.clauses import misplaced
from tests.sqlserver.functions import AGGREGATES, misused
from tests.sqlserver.indexes import misindexed
from tests.sqlserver.names import CONFLICT, OF_WRITES, Names, Scope, columns_in, listed, operands, parts
from tests.sqlserver.parser import Tree, findings, tree_of
from tests.sqlserver.trees import QUERIES, children, everything, name_of, of_kind, of_one_query
from tests.sqlserver.variables import misnamed
from tests.sqlserver.writing import WRITES, Session, named_by, named_in, written_in

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
HELD = {
    "SelectScalarExpression": "Expression",
    "SelectSetVariable": "Expression",
    "AssignmentSetClause": "NewValue",
    "RowValue": "ColumnValues",
    "ExpressionGroupingSpecification": "Expression",
    "WhereClause": "SearchCondition",
    "HavingClause": "SearchCondition",
    "QualifiedJoin": "SearchCondition",
    "MergeSpecification": "SearchCondition",
    "MergeActionClause": "SearchCondition",
}
"""Where names mean columns of what a statement reads; ORDER BY apart."""
OF_THE_SERVER = frozenset({"sys", "information_schema", "msdb"})
"""The schemas and databases that each server has."""
READ_LIKE_TABLES = {
    "QueryDerivedTable": 8156,
    "CommonTableExpression": 8156,
    "CreateViewStatement": 4506,
    "CreateOrAlterViewStatement": 4506,
}
"""What is a table to who reads it, and the error of one with two columns of a name."""


def all_refused(tree: Tree, catalog: Catalog, *, by_any_client: bool = False, of_ours: bool = False) -> list[str]:
    """Return what SQL Server would refuse in a batch that its parser takes.

    Sessions of `any client`, such as sqlcmd and SQL Agent, have QUOTED_IDENTIFIER off. A batch `of ours` names no table but
    those of the catalog, and the server's own.
    """
    return refusals_of_session([tree], catalog, by_any_client=by_any_client, of_ours=of_ours)


def refusals_of_session(
    trees: Iterable[Tree], catalog: Catalog, *, by_any_client: bool = False, of_ours: bool = False
) -> list[str]:
    """Return the same of one batch after the other: what the first has set holds for the others."""
    linter = Linter(catalog, wrong={"QuotedIdentifier"} if by_any_client else set(), of_ours=of_ours)
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
    of_ours: bool = False

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
        for number, what, at in chain(
            misused(tree), misplaced(tree), misindexed(tree, self.catalog), session.refused(tree)
        ):
            self.say(number, what, at)
        self.wrong, self.by_hand = session.wrong, session.by_hand
        self.below(tree, Scope({}))
        for text, wrong, by_hand in session.executed:
            within = Linter(self.catalog, wrong, findings(text), by_hand, self.of_ours)
            if not within.found:
                within.batch(tree_of(text))
            self.found += within.found

    def below(self, tree: Tree, scope: Scope) -> None:
        """Look at the queries below a fragment, which see the names of a scope."""
        scope = self.names.with_ctes(tree, scope)
        if "TriggerObject" in tree:
            scope = self.of_trigger(tree)
        if tree["is"] in WRITES:
            self.written(tree, scope)
            scope = self.of_write(tree, scope)
        self.compared(tree, scope)
        self.used(tree, scope)
        self.named(tree, scope)
        self.twice(tree, scope)
        self.there(tree, scope)
        self.filtered(tree, scope)
        for child in children(tree):
            if child["is"] in QUERIES:
                self.query(child, scope)
            else:
                self.below(child, scope)

    def of_write(self, statement: Tree, scope: Scope) -> Scope:
        """Return the names that an INSERT, UPDATE, DELETE or MERGE can use."""
        if statement["is"] == "InsertSpecification":
            return scope
        merged, among = statement.get("TableReference"), statement.get("FromClause", {"is": ""})
        sources = dict(self.names.sources({"": merged} if merged else among, scope))
        target = name_of(statement["Target"].get("SchemaObject"))
        read = {name_of(one["SchemaObject"]) for one in of_kind(among, "NamedTableReference")}
        if target not in {*read, *sources}:
            sources[name_of(statement.get("TableAlias")) or target] = self.of_target(statement, scope)
        return Scope(sources, scope, scope.ctes)

    def of_trigger(self, trigger: Tree) -> Scope:
        """Return the names that a trigger can use."""
        columns = self.names.columns(name_of(trigger["TriggerObject"]["Name"]))
        return Scope({}, ctes=dict.fromkeys(OF_WRITES, columns))

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
        self.ordered(query, own)
        self.together(query, own)
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
        """205: branches of a UNION with different numbers of columns; 451: columns that are texts of different collations."""
        if query["is"] != "BinaryQueryExpression":
            return
        first, second = (
            self.names.shown(query[side], scope) for side in ("FirstQueryExpression", "SecondQueryExpression")
        )
        if first is None or second is None:
            return
        if len(first) != len(second):
            self.say(205, f"a UNION of {len(first)} columns and of {len(second)}", query)
        for at, ((_, one), (_, other)) in enumerate(zip(first, second, strict=False), start=1):
            if self.names.together((one, other)) == CONFLICT:
                self.say(451, f"column {at} of a UNION has texts of different collations", query)

    def named(self, tree: Tree, scope: Scope) -> None:
        """207, 209, 4104: a name that means no column, or that of several tables."""
        for expression in listed(tree.get(HELD.get(tree["is"], ""), [])):
            self.meant(expression, scope)

    def meant(self, expression: Tree, scope: Scope) -> None:
        """Look at the names in an expression."""
        for column in columns_in(expression):
            if missed := scope.missed(column):
                self.say(*missed, column)

    def ordered(self, query: Tree, scope: Scope) -> None:
        """Look at the names in ORDER BY, where columns are known by what the query calls them, too."""
        names = {called(element) for element in query["SelectElements"]} - {""}
        for one in query.get("OrderByClause", {}).get("OrderByElements", []):
            if not {tuple(parts(one["Expression"]))} & {(name,) for name in names}:
                self.meant(one["Expression"], scope)

    def written(self, statement: Tree, scope: Scope) -> None:
        """207: a column that is written, and that the table does not have."""
        known = self.of_target(statement, scope)
        for part in of_kind(statement, "InsertSpecification", "InsertMergeAction", "AssignmentSetClause"):
            for column in [*part.get("Columns", []), *listed(part.get("Column", []))]:
                if known is not None and written_in(column) not in known:
                    self.say(207, f"there is no column {written_in(column)} to be written", column)

    def of_target(self, statement: Tree, scope: Scope) -> Columns | None:
        """Return the columns of what a statement writes."""
        target = named_by(statement)
        return scope.cte(target) or self.names.columns(target)

    def twice(self, tree: Tree, scope: Scope) -> None:
        """8156, of a view 4506: two columns of one name in what is read like a table."""
        if "Columns" in tree or tree["is"] not in READ_LIKE_TABLES:
            return
        query = tree.get("QueryExpression") or tree["SelectStatement"]["QueryExpression"]
        within = scope if "QueryExpression" in tree else self.names.with_ctes(tree["SelectStatement"], scope)
        names = [name for name, _ in self.names.shown(query, within) or ()]
        for name in sorted({name for name in names if names.count(name) > 1}):
            self.say(READ_LIKE_TABLES[tree["is"]], f"two columns are called {name}", tree)

    def there(self, tree: Tree, scope: Scope) -> None:
        """208: a table that is not there."""
        if not self.of_ours or tree["is"] != "NamedTableReference":
            return
        *place, name = (str(one["Value"]).lower() for one in tree["SchemaObject"]["Identifiers"])
        is_known = scope.cte(name) or scope.sources.get(name) or self.names.columns(name)
        if not is_known and not {*place} & OF_THE_SERVER:
            self.say(208, f"there is no table {name}", tree)

    def filtered(self, tree: Tree, scope: Scope) -> None:
        """147: an aggregate in WHERE, of the rows that it chooses."""
        if tree["is"] != "WhereClause":
            return
        for call in filter(is_aggregate, of_one_query(tree, "FunctionCall")):
            if is_of(call, scope):
                self.say(147, "an aggregate in WHERE", call)

    def together(self, query: Tree, scope: Scope) -> None:
        """8120, in HAVING 8121, in ORDER BY 8127: a column that rows of one group have different values of."""
        shown = query["SelectElements"]
        having = listed(query.get("HavingClause", []))
        order = query.get("OrderByClause", {}).get("OrderByElements", [])
        grouping = of_one_query(query.get("GroupByClause", {"is": ""}), "ExpressionGroupingSpecification")
        calls = (call for part in (*shown, *having, *order) for call in of_one_query(part, "FunctionCall"))
        has_groups = "GroupByClause" in query or having or any(is_aggregate(one) and is_of(one, scope) for one in calls)
        if not has_groups:
            return
        groups = {said(one["Expression"], scope) for one in grouping}
        names = {(called(element),) for element in shown} - {("",)}
        sorted_by = [one for one in order if tuple(parts(one["Expression"])) not in names]
        for number, some in ((8120, shown), (8121, having), (8127, sorted_by)):
            for column in chain.from_iterable(ungrouped(one, groups, scope) for one in some):
                self.say(number, f"{'.'.join(parts(column))} is neither grouped nor in an aggregate", column)


def is_aggregate(tree: Tree) -> bool:
    """Say whether a fragment makes one value of the rows of a group."""
    return tree["is"] == "FunctionCall" and name_of(tree["FunctionName"]) in AGGREGATES and "OverClause" not in tree


def is_of(call: Tree, scope: Scope) -> bool:
    """Say whether an aggregate is one of the rows of a query itself, not of one around it."""
    columns = [*columns_in(call)]
    return not columns or any(scope.is_own(one) for one in columns)


def ungrouped(expression: Tree, groups: set[str], scope: Scope) -> Iterator[Tree]:
    """Yield the columns of a query itself that stand in an expression outside aggregates and what rows are grouped by."""
    if is_aggregate(expression) or said(expression, scope) in groups:
        return
    if expression["is"] == "ColumnReferenceExpression" and parts(expression) and scope.is_own(expression):
        yield expression
    for query in (child for child in children(expression) if child["is"] in QUERIES):
        yield from ungrouped_within(query, groups, scope)
    for operand in operands(expression):
        yield from ungrouped(operand, groups, scope)


def ungrouped_within(query: Tree, groups: set[str], scope: Scope) -> Iterator[Tree]:
    """Yield such columns of the query around another one that stand in that, where they are named with their table."""
    own = {name_of(one["Alias"]) for one in everything(query) if "Alias" in one} | named_in(query).keys()
    for column in outside_aggregates(query):
        *table, _ = parts(column) or [""]
        if table and table[-1] in scope.sources.keys() - own and said(column, scope) not in groups:
            yield column


def outside_aggregates(tree: Tree) -> Iterator[Tree]:
    """Yield a fragment and all below it but what aggregates are of."""
    if not is_aggregate(tree):
        yield tree
        for child in children(tree):
            yield from outside_aggregates(child)


def said(expression: Tree, scope: Scope) -> str:
    """Return an expression without its places, and with its columns as what they mean, for comparison."""
    return json.dumps(_without_lines(expression, scope)).lower()


def _without_lines(value: object, scope: Scope) -> object:
    if isinstance(value, dict):
        if value.get("is") == "ColumnReferenceExpression" and parts(value) and "Collation" not in value:
            return scope.meant(value)
        return {key: _without_lines(part, scope) for key, part in value.items() if key not in {"line", "QuoteType"}}
    return [_without_lines(part, scope) for part in value] if isinstance(value, list) else value
