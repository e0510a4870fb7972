"""What is refused because of the table that is written: its triggers, indexes and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.sqlserver.catalog import Catalog, called
from tests.sqlserver.names import parts
from tests.sqlserver.parser import Tree
from tests.sqlserver.trees import everything, first_specification, name_of, of_kind, texts_executed

WRITES = {
    "InsertSpecification": "insert",
    "UpdateSpecification": "update",
    "DeleteSpecification": "delete",
    "MergeSpecification": "",
}
_ACTIONS = {"InsertMergeAction": "insert", "UpdateMergeAction": "update", "DeleteMergeAction": "delete"}
_DEFAULTS = frozenset({"QuotedIdentifier", "AnsiNulls", "AnsiPadding", "AnsiWarnings"})
"""What ANSI_DEFAULTS sets, of the settings that matter here."""
SETTINGS = _DEFAULTS | {"ConcatNullYieldsNull", "ArithAbort"}
KNOWN = SETTINGS | {"NumericRoundAbort"}
"""What has to be on in a session that writes a table with such an index; NumericRoundAbort has to be off."""
Refused = tuple[int, str, Tree]


@dataclass
class Session:
    """A session with its settings, in which one statement follows the other."""

    catalog: Catalog
    wrong: set[str]
    """The settings that are not as a table with a filtered index wants them."""
    by_hand: set[str] = field(default_factory=set)
    """The tables whose rows are numbered by who inserts them: IDENTITY_INSERT is on."""
    ctes: dict[str, Tree] = field(default_factory=dict)
    """The common table expressions of the statement that is looked at."""
    executed: list[tuple[str, set[str], set[str]]] = field(default_factory=list)
    """The texts that were executed, each with the settings that were wrong then, and what was numbered by hand."""

    def refused(self, tree: Tree) -> Iterator[Refused]:
        """Yield what is refused in a batch, and keep what it sets."""
        for one in everything(tree):
            if one["is"] == "PredicateSetStatement":
                self.heed(one)
            elif one["is"] == "SetIdentityInsertStatement":
                self.by_hand = {name_of(one["Table"])} if one["IsOn"] else self.by_hand - {name_of(one["Table"])}
            elif one["is"].endswith("Statement"):
                self.ctes = ctes_of(one)
            elif one["is"] in WRITES:
                yield from self.written(one)
            elif one["is"] == "ExecuteSpecification":
                self.executed += [(text, {*self.wrong}, {*self.by_hand}) for text in texts_executed(one)]

    def heed(self, statement: Tree) -> None:
        """Keep which settings are wrong from now on."""
        named = {*statement["Options"].split(", ")}
        named |= _DEFAULTS if "AnsiDefaults" in named else set()
        strange = {name for name in named if statement["IsOn"] is not (name in SETTINGS)} & KNOWN
        self.wrong = self.wrong - named | strange

    def written(self, statement: Tree) -> Iterator[Refused]:
        """334: OUTPUT without INTO, where a trigger hears of it; 1934: by a session whose settings are wrong."""
        tables = self.targets(statement)
        if self.wrong and tables & self.catalog.strict:
            strict = ", ".join(sorted(tables & self.catalog.strict))
            settings = ", ".join(sorted(self.wrong))
            yield 1934, f"{strict} is written while {settings} is not as its indexes want", statement
        heard = sorted(table for table in tables if acts_of(statement) & self.catalog.triggers.get(table, set()))
        if "OutputClause" in statement and heard:
            yield 334, f"OUTPUT without INTO on {', '.join(heard)}, of which a trigger hears", statement
        yield from self.kept_by_the_server(statement)

    def kept_by_the_server(self, statement: Tree) -> Iterator[Refused]:
        """271: a write to a computed column; 544, 8102: one to the column that numbers the rows."""
        inserting = [*of_kind(statement, "InsertSpecification", "InsertMergeAction")]
        inserted = self.written_by(statement, (column for one in inserting for column in one.get("Columns", [])))
        updated = self.written_by(statement, (one.get("Column") for one in of_kind(statement, "AssignmentSetClause")))
        for table, column in sorted(inserted | updated):
            if column in self.catalog.computed.get(table, ()):
                yield 271, f"{table}.{column} is computed", statement
        for table, column in sorted(inserted):
            if column == self.catalog.identity.get(table) and table not in self.by_hand:
                yield 544, f"{table}.{column} is inserted without IDENTITY_INSERT", statement
        for table, column in sorted(updated):
            if column == self.catalog.identity.get(table):
                yield 8102, f"{table}.{column} is updated, which numbers the rows", statement

    def written_by(self, statement: Tree, columns: Iterable[Tree | None]) -> set[tuple[str, str]]:
        """Return the columns of tables that are written where a statement writes some columns of what it names."""
        target = named_by(statement)
        if not self.catalog.triggers.get(target, set()).isdisjoint(acts_of(statement)) and target in self.catalog.views:
            return set()  # A trigger of a view stands in the statement's place.
        return {self.below(target, written_in(column)) for column in columns}

    def below(self, table: str, column: str) -> tuple[str, str]:
        """Return the table and column that lie below a column of a view or of a common table expression."""
        query = self.query_of(table)
        if query is None:
            return table, column
        query = first_specification(query)
        sources = named_in(query.get("FromClause", {"is": ""}))
        shown = {called(one): parts(one["Expression"]) for one in query["SelectElements"] if "Expression" in one}
        *source, name = shown.get(column) or [column]
        found = sources.get(source[-1]) if source else next(iter(sources.values()), None)
        return (table, column) if found in {None, table} else self.below(str(found), name)

    def targets(self, statement: Tree) -> set[str]:
        """Return what a statement writes: what it names, and the table that lies below a view or a common table expression."""
        named = [named_by(statement)]
        while (query := self.query_of(named[-1])) is not None:
            source = next(of_kind(first_specification(query)["FromClause"], "NamedTableReference"), None)
            if source is None or name_of(source["SchemaObject"]) in named:
                break
            named.append(name_of(source["SchemaObject"]))
        return {*named}

    def query_of(self, name: str) -> Any:
        """Return the query that a view or a common table expression stands for; None of a table."""
        view = self.catalog.view(name)
        if view is None or name in self.ctes:
            return self.ctes.get(name)
        self.ctes |= ctes_of(view["SelectStatement"])
        return view["SelectStatement"]["QueryExpression"]


def acts_of(statement: Tree) -> set[str]:
    """Return what a statement does, as triggers hear of it."""
    return {WRITES[statement["is"]], *(_ACTIONS[one["is"]] for one in of_kind(statement, *_ACTIONS))}


def named_by(statement: Tree) -> str:
    """Return what a statement names as the table that it writes, by its name where it says an alias."""
    target = name_of(statement["Target"].get("SchemaObject"))
    return named_in(statement).get(target, target)


def named_in(tree: Tree) -> dict[str, str]:
    """Return the tables that a fragment reads or writes, by what it calls them."""
    named = [(name_of(one.get("Alias")), name_of(one["SchemaObject"])) for one in of_kind(tree, "NamedTableReference")]
    return {table: table for _, table in named} | {alias: table for alias, table in named if alias}


def written_in(column: Tree | None) -> str:
    """Return the name of a column that is assigned to; none of a variable."""
    return name_of((column or {}).get("MultiPartIdentifier"))


def ctes_of(statement: Tree) -> dict[str, Tree]:
    """Return the common table expressions of a statement by their names."""
    named = statement.get("WithCtesAndXmlNamespaces", {}).get("CommonTableExpressions", [])
    return {name_of(cte["ExpressionName"]): cte["QueryExpression"] for cte in named}
