"""What stands in a control database on SQL Server, read out of the script that makes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from batchctl.store.maintenance import roles, schema
from tests.sqlserver.parser import Tree, tree_of
from tests.sqlserver.trees import name_of, of_kind, texts_executed

GO = re.compile(r"^GO$", re.MULTILINE)
IN_TEXT = ("char", "nchar", "varchar", "nvarchar", "sysname")
MAKES_VIEW = re.compile(r"CREATE OR ALTER VIEW (?:\w+\.)?(\w+) ")
BODIES = frozenset({"Constraints", "DefaultConstraint", "Predicate", "StatementList", "TableConstraints"})
"""What takes most of the time to make a tree of, and says nothing of what there is."""
Columns = Mapping[str, str | None]
"""Of each column the collation, None for one that holds no text."""


@dataclass
class Catalog:
    """Tables and views with their columns, and what makes a statement upon them refused; all names in lower case."""

    tables: dict[str, dict[str, str | None]] = field(default_factory=dict)
    views: dict[str, str] = field(default_factory=dict)
    """The newest text of each view; it is parsed when somebody asks for it."""
    triggers: dict[str, set[str]] = field(default_factory=dict)
    """Of each table and view: the actions that a trigger hears of."""
    strict: set[str] = field(default_factory=set)
    """The tables with a filtered index, or one upon a computed column: not every session may write them (error 1934)."""
    computed: dict[str, set[str]] = field(default_factory=dict)
    """Of each table: its computed columns."""
    identity: dict[str, str] = field(default_factory=dict)
    """Of each table: the column that numbers its rows."""
    long: dict[str, set[str]] = field(default_factory=dict)
    """Of each table: the columns that are too long for the key of an index."""

    def view(self, name: str) -> Tree | None:
        """Return the statement that makes a view; None of one that is not known."""
        return _view(self.views[name]) if name in self.views else None

    def read(self, batch: str, without: frozenset[str] = BODIES) -> None:
        """Take in what a batch makes, and what the texts make that it hands to the server."""
        if view := MAKES_VIEW.match(batch):
            self.views[view[1].lower()] = batch
            return
        tree = tree_of(batch, without)
        self.learn(tree)
        for text in texts_executed(tree):
            self.read(text, without)

    def learn(self, tree: Tree) -> None:
        """Take in the tables, triggers and indexes that a batch itself makes."""
        for one in of_kind(tree, "CreateTableStatement", "AlterTableAddTableElementStatement"):
            table = name_of(one["SchemaObjectName"])
            known = self.tables.setdefault(table, {})
            for column in one["Definition"].get("ColumnDefinitions", []):
                is_text = name_of(column.get("DataType", {}).get("Name")) in IN_TEXT
                default = "the database's" if is_text else None
                known[name_of(column["ColumnIdentifier"])] = name_of(column.get("Collation")) or default
                if any(one["is"] == "MaxLiteral" for one in column.get("DataType", {}).get("Parameters", [])):
                    self.long.setdefault(table, set()).add(name_of(column["ColumnIdentifier"]))
                if "IdentityOptions" in column:
                    self.identity[table] = name_of(column["ColumnIdentifier"])
                if "ComputedColumnExpression" in column:
                    self.computed.setdefault(table, set()).add(name_of(column["ColumnIdentifier"]))
        for one in of_kind(tree, "CreateTriggerStatement", "CreateOrAlterTriggerStatement"):
            heard = {action["TriggerActionType"].lower() for action in one["TriggerActions"]}
            self.triggers.setdefault(name_of(one["TriggerObject"]["Name"]), set()).update(heard)
        for one in of_kind(tree, "CreateIndexStatement"):
            table = name_of(one["OnName"])
            indexed = {name_of(column["Column"]["MultiPartIdentifier"]) for column in one["Columns"]}
            if "FilterPredicate" in one or indexed & self.computed.get(table, set()):
                self.strict.add(table)


@cache
def _view(text: str) -> Tree:
    (made,) = of_kind(tree_of(text), "CreateViewStatement", "CreateOrAlterViewStatement")
    return made


def called(element: Tree) -> str:
    """Return what a column of a query is called."""
    if "ColumnName" in element:
        return str(element["ColumnName"].get("Value") or element["ColumnName"]["ValueExpression"]["Value"]).lower()
    if element.get("Expression", {}).get("is") == "ColumnReferenceExpression":
        return name_of(element["Expression"]["MultiPartIdentifier"])
    return ""


def batches(script: str) -> list[str]:
    """Split a script at its GOs."""
    return [batch.strip() for batch in GO.split(script) if batch.strip()]


def with_trees(batch: str) -> Iterator[tuple[str, Tree | None]]:
    """Yield a batch and every text that it hands to the server to be executed, each with its tree; of a view without."""
    tree = None if MAKES_VIEW.match(batch) else tree_of(batch)
    yield batch, tree
    for text in texts_executed(tree) if tree else ():
        yield from with_trees(text)


@cache
def control_database() -> Catalog:
    """Return what the newest schema has, and the views of the roles."""
    texts = [text for batch in batches(roles.script("mssql", None, {})) for text, _ in with_trees(batch)]
    return made_by([*batches(schema.script("mssql")), *filter(MAKES_VIEW.match, texts)])


def made_by(script: list[str], without: frozenset[str] = BODIES) -> Catalog:
    """Return what batches make one after the other."""
    made = Catalog()
    for batch in dict.fromkeys(script):
        made.read(batch, without)
    return made
