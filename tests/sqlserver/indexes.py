"""What is refused of an index because of the columns that it is of."""

from __future__ import annotations

from collections.abc import Iterator

from tests.sqlserver.catalog import Catalog
from tests.sqlserver.names import columns_in
from tests.sqlserver.parser import Tree
from tests.sqlserver.trees import name_of, of_kind

Refused = tuple[int, str, Tree]


def misindexed(tree: Tree, catalog: Catalog) -> Iterator[Refused]:
    """Yield what is refused of the indexes that a batch makes, whatever they are called."""
    for one in of_kind(tree, "CreateIndexStatement"):
        table = name_of(one["OnName"])
        yield from _too_long(one, table, catalog)
        for column in columns_in(one.get("FilterPredicate", {"is": ""})):
            name = name_of(column["MultiPartIdentifier"])
            if name in catalog.computed.get(table, ()):
                yield 10609, f"an index is filtered by {table}.{name}, which is computed", one
    for made in of_kind(tree, "CreateTableStatement", "AlterTableAddTableElementStatement"):
        for one in of_kind(made["Definition"], "UniqueConstraintDefinition"):
            yield from _too_long(one, name_of(made["SchemaObjectName"]), catalog)


def _too_long(index: Tree, table: str, catalog: Catalog) -> Iterator[Refused]:
    """1919: a column in a key that may be longer than any key."""
    for column in index.get("Columns", []):
        name = name_of(column["Column"]["MultiPartIdentifier"])
        if name in catalog.long.get(table, ()):
            yield 1919, f"{table}.{name} is too long for the key of an index", index
