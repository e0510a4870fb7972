"""What every drawing of the batches says about one of them."""

from __future__ import annotations

from collections.abc import Mapping

from batchctl.domain.text import visible
from batchctl.operations.column_lists import ColumnList, StatusWord
from batchctl.operations.dependencies.picture import IDLE, WAITS, GraphNode, KeyWait, Picture

MARKS = {
    "failed": ("✗", "x"),
    "held": ("?", "?"),
    "retry": ("↻", "r"),
    "running": ("▶", ">"),
    "cancelling": ("▶", ">"),
    "pausing": ("▶", ">"),
    "paused": ("‖", "="),
    "ready": ("○", "o"),
    WAITS: ("…", "~"),
    "complete": ("✓", "+"),
    "cancelled": ("-", "-"),
    IDLE: ("·", "."),
}
"""A sign for each state, and the same where a terminal has only ASCII."""

MEANINGS = {
    "failed": "a step failed and no retry is left",
    "held": "it is not known how a step ended",
    "retry": "it is tried again by itself",
    "running": "a step is running",
    "cancelling": "it is being cancelled",
    "pausing": "it pauses when its step ends",
    "paused": "somebody paused it, or it waits for the answer of a person",
    "ready": "it starts when it may",
    WAITS: "some of what it needs is complete, some not",
    "complete": "the newest one is complete",
    "cancelled": "the newest one was cancelled",
    IDLE: "nothing has happened lately, or for another CycleKey only",
}


def about(node: GraphNode) -> list[str]:
    """Return what there is to say besides the state, the most telling first."""
    said = [_waits(node.waits[0])] if node.state == WAITS else []
    said += node.closed
    said += ["in a cycle, so no dependency ever starts it"] if node.in_cycle else []
    if node.stand is not None:
        said.append(f"BatchControl {node.stand.instance_id}" + _of_key(node.stand.cycle_key))
        said += [", ".join(f"{many} {status}" for status, many in node.counts.items())] if len(node.counts) > 1 else []
        said += [f"{node.stand.how_many} such"] if len(node.counts) == 1 and node.stand.how_many > 1 else []
    if node.waits and node.state != WAITS:
        said.append(f"the next waits {_waits(node.waits[0])}")
    said += [f"{len(node.waits) - 1} more that wait"] if len(node.waits) > 1 else []
    return said


def in_words(node: GraphNode) -> str:
    """Return the state and what there is to say besides, on one line."""
    return f"{node.state}{' ' if node.state == WAITS else ', '}{', '.join(about(node))}".rstrip(" ,")


def summary(picture: Picture) -> str:
    """Say what is drawn and how it stands."""
    found: dict[str, int] = {}
    for node in picture.nodes:
        found[node.state] = found.get(node.state, 0) + 1
    what = f"{len(picture.nodes)} {'batch' if len(picture.nodes) == 1 else 'batches'}"
    of = "" if picture.cycle_key is None else f", CycleKey {visible(picture.cycle_key)}"
    nothing = ", of which nothing is known" if picture.is_of_unknown_key else ""
    return f"{what} at {picture.now:%Y-%m-%d %H:%M:%S} UTC{of}{nothing}: {counted(found)}"


def counted(states: Mapping[str, int]) -> str:
    """Say how many batches are in which state, the worst first."""
    return ", ".join(f"{states[state]} {state}" for state in MARKS if state in states) or "none"


def heading(picture: Picture) -> str:
    """Say of what it is a drawing."""
    if picture.target is None:
        return "Batches and what they wait for"
    return f"Batch {visible(picture.target.name)} and what it waits for"


def _waits(wait: KeyWait) -> str:
    late = ", longer than it should" if wait.is_overdue else ""
    lacks = ", ".join(visible(name) for name in wait.lacks)
    return f"for {lacks}{_of_key(wait.cycle_key)} since {wait.since:%Y-%m-%d %H:%M} UTC{late}"


def _of_key(cycle_key: str | None) -> str:
    return "" if cycle_key is None else f" of {visible(cycle_key)}"


def _needs(node: GraphNode) -> list[str]:
    return [wait for each in node.waits for wait in each.lacks]


NODES = ColumnList[GraphNode](
    "Batches",
    {
        "ProcessBatch_id": lambda node: node.batch.batch_id,
        "ProcessBatchName": lambda node: node.batch.name,
        "Entity": lambda node: node.batch.entity,
        "Enabled": lambda node: node.batch.enabled,
        "Frozen": lambda node: node.is_frozen,
        "DependencyMode": lambda node: node.batch.dependency_mode,
        "Level": lambda node: node.level,
        "InCycle": lambda node: node.in_cycle,
        "State": lambda node: node.state,
        "BatchControl_id": lambda node: None if node.stand is None else node.stand.instance_id,
        "CycleKey": lambda node: None if node.stand is None else node.stand.cycle_key,
        "Missing": _needs,
    },
    {
        "batch": "ProcessBatchName",
        "state": lambda node: StatusWord(node.state),
        "besides": lambda node: ", ".join(about(node)) or None,
        "id#": "BatchControl_id",
        "CycleKey": "CycleKey",
        "waits still for": lambda node: ", ".join(_needs(node)) or None,
    },
)
"""The drawing as a table."""
