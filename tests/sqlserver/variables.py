"""How variables are called: no two alike, and each in one way."""

from __future__ import annotations

from collections.abc import Iterator

from tests.sqlserver.parser import Tree, tree_of
from tests.sqlserver.trees import children, of_kind, parameters_executed

_DECLARING = ("DeclareVariableElement", "DeclareTableVariableBody", "ProcedureParameter")


def misnamed(tree: Tree) -> Iterator[tuple[int, str]]:
    """134: declared twice, the drivers' own names for values among them; 137 on servers that tell letter cases apart."""
    yield from _misnamed(declared(tree), used(tree))
    for text, parameters, given in parameters_executed(tree):
        within, asked = tree_of(text), declared(tree_of(f"DECLARE {parameters}"))
        yield from _misnamed([*asked, *declared(within)], [*used(within), *given])


def declared(tree: Tree) -> list[str]:
    """Return the variables that a batch declares; a mark for a value is declared by the driver."""
    marks = [f"@P{number}" for number in range(1, tree.get("marks", 0) + 1)]
    return marks + [str(one["VariableName"]["Value"]) for one in of_kind(tree, *_DECLARING)]


def used(tree: Tree) -> list[str]:
    """Return the variables that a batch uses; what it calls the parameters of a procedure are none."""
    if tree["is"] == "VariableReference":
        return [str(tree["Name"])]
    apart = tree.get("Variable") if tree["is"] == "ExecuteParameter" else None
    return [name for child in children(tree) if child is not apart for name in used(child)]


def _misnamed(declared: list[str], used: list[str]) -> Iterator[tuple[int, str]]:
    for name in sorted({one.lower() for one in (*declared, *used)}):
        if sum(one.lower() == name for one in declared) > 1:
            yield 134, f"{name} is declared twice"
        elif len({one for one in (*declared, *used) if one.lower() == name}) > 1:
            yield 137, f"{name} is written in several letter cases"
