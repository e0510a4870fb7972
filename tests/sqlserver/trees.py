"""Walking the trees of `parser`: fragments are dictionaries, their kind stands under "is"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.sqlserver.parser import Tree

QUERIES = ("QuerySpecification", "BinaryQueryExpression", "QueryParenthesisExpression")


def children(value: Any) -> Iterator[Tree]:
    """Yield the fragments right below a fragment, or below a list of them."""
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict):
            yield part
        elif isinstance(part, list):
            yield from (each for each in part if isinstance(each, dict))


def everything(tree: Tree) -> Iterator[Tree]:
    """Yield a fragment and all below it, in the order of the text; trees are deep, and a call for each level is slow."""
    left = [tree]
    while left:
        one = left.pop()
        yield one
        left.extend([*children(one)][::-1])


def of_kind(tree: Tree, *kinds: str) -> Iterator[Tree]:
    """Yield the fragments of some kinds, the tree itself included."""
    return (one for one in everything(tree) if one["is"] in kinds)


def of_one_query(tree: Tree, *kinds: str) -> Iterator[Tree]:
    """Yield the fragments of some kinds that belong to a query itself, not to one within it."""
    if tree["is"] in kinds:
        yield tree
    for child in children(tree):
        if child["is"] not in QUERIES:
            yield from of_one_query(child, *kinds)


def name_of(tree: Tree | None) -> str:
    """Return the last part of a name, in lower case as the server compares it."""
    if tree is None:
        return ""
    identifiers = tree.get("Identifiers")
    return str((identifiers[-1] if identifiers else tree)["Value"]).lower()


def first_specification(query: Tree) -> Tree:
    """Return the SELECT that names the columns of a query."""
    while query["is"] != "QuerySpecification":
        query = query["FirstQueryExpression" if query["is"] == "BinaryQueryExpression" else "QueryExpression"]
    return query


def texts_executed(tree: Tree) -> Iterator[str]:
    """Yield the T-SQL that a batch hands to EXEC or sp_executesql as a text."""
    for execution in of_kind(tree, "ExecuteSpecification"):
        entity = execution["ExecutableEntity"]
        if entity["is"] == "ExecutableStringList":
            if all(part["is"] == "StringLiteral" for part in entity["Strings"]):
                yield "".join(part["Value"] for part in entity["Strings"])
        elif _is_sp_executesql(entity) and entity["Parameters"][0]["ParameterValue"]["is"] == "StringLiteral":
            yield entity["Parameters"][0]["ParameterValue"]["Value"]


def parameters_executed(tree: Tree) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each text that a batch hands to sp_executesql, its parameters as they are declared, and as they are given."""
    for entity in of_kind(tree, "ExecutableProcedureReference"):
        values = [one["ParameterValue"] for one in entity.get("Parameters", [])[:2]]
        if _is_sp_executesql(entity) and [one["is"] for one in values] == ["StringLiteral", "StringLiteral"]:
            given = [one["Variable"]["Name"] for one in entity["Parameters"][2:] if "Variable" in one]
            yield values[0]["Value"], values[1]["Value"], given


def _is_sp_executesql(entity: Tree) -> bool:
    return "sp_executesql" in str(entity.get("ProcedureReference")).lower()
