"""What stands in a control database on SQL Server, read out of the script that makes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from batchctl.store import schema
from tests.sqlserver.parser import Tree, tree_of
from tests.sqlserver.trees import first_specification, name_of, of_kind, texts_executed

GO = re.compile(r"^GO$", re.MULTILINE)
IN_TEXT = ("char", "nchar", "varchar", "nvarchar", "sysname")
MAKES_VIEW = re.compile(r"CREATE OR ALTER VIEW\b")
MADE_BY = {"CreateViewStatement", "CreateOrAlterViewStatement"}


@dataclass
class Catalog:
    """Tables and views with their columns, and what makes a statement upon them refused; all names in lower case."""

    columns: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """Of each table: the collation of each column, None for one that holds no text. Views are added as they are read."""
    triggers: dict[str, set[str]] = field(default_factory=dict)
    """Of each table and view: the actions that a trigger hears of."""
    strict: set[str] = field(default_factory=set)
    """The tables with a filtered index, or one upon a computed column: not every session may write them (error 1934)."""
    computed: dict[str, set[str]] = field(default_factory=dict)
    """Of each table: its computed columns."""

    def learn(self, tree: Tree) -> None:
        """Take in what a batch makes; what only a view says is not known here."""
        for one in of_kind(tree, "CreateTableStatement", "AlterTableAddTableElementStatement"):
            known = self.columns.setdefault(name_of(one["SchemaObjectName"]), {})
            for column in one["Definition"].get("ColumnDefinitions", []):
                is_text = name_of(column.get("DataType", {}).get("Name")) in IN_TEXT
                default = "the database's" if is_text else None
                known[name_of(column["ColumnIdentifier"])] = name_of(column.get("Collation")) or default
                if "ComputedColumnExpression" in column:
                    table = name_of(one["SchemaObjectName"])
                    self.computed.setdefault(table, set()).add(name_of(column["ColumnIdentifier"]))
        for one in of_kind(tree, "CreateTriggerStatement"):
            heard = {action["TriggerActionType"].lower() for action in one["TriggerActions"]}
            self.triggers.setdefault(name_of(one["TriggerObject"]["Name"]), set()).update(heard)
        for one in of_kind(tree, "CreateIndexStatement"):
            table = name_of(one["OnName"])
            indexed = {name_of(column["Column"]["MultiPartIdentifier"]) for column in one["Columns"]}
            if "FilterPredicate" in one or indexed & self.computed.get(table, set()):
                self.strict.add(table)
        for one in of_kind(tree, *MADE_BY):
            named = first_specification(one["SelectStatement"]["QueryExpression"])["SelectElements"]
            self.columns[name_of(one["SchemaObjectName"])] = {called(element): None for element in named}


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
def _read() -> tuple[tuple[str, ...], Catalog]:
    # Making trees takes seconds, and they are too large to keep; of a view only the newest text counts.
    texts, made, views = [], Catalog(), dict[str, str]()
    for batch in batches(schema.script("mssql")):
        for text, tree in with_trees(batch):
            texts.append(text)
            if tree is None:
                views[text.split(" AS ", 1)[0]] = text
            else:
                made.learn(tree)
    for view in views.values():
        made.learn(tree_of(view))
    return tuple(texts), made


def script_texts() -> tuple[str, ...]:
    """Return the batches of the script that makes everything, and the texts within."""
    return _read()[0]


def control_database() -> Catalog:
    """Return what the newest schema has."""
    return _read()[1]
