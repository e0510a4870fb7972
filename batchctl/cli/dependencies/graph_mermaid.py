"""The batches as a Mermaid flowchart, for a wiki or a README."""

from __future__ import annotations

from collections.abc import Iterator

from batchctl.domain.dependencies import graph
from batchctl.domain.text import shorten, visible
from batchctl.operations.dependencies.graph_words import counted, in_words
from batchctl.operations.dependencies.picture import GraphNode, Picture

LONGEST = 60
_COLOURS = {
    "failed": "fill:#ffd7d7,stroke:#b00020",
    "held": "fill:#f3d9fa,stroke:#7b1fa2",
    "retry": "fill:#fff3c4,stroke:#9a6700",
    "running": "fill:#d0ebff,stroke:#1864ab",
    "waits": "fill:#fff3c4,stroke:#9a6700",
    "complete": "fill:#d3f9d8,stroke:#2b8a3e",
}


def mermaid(picture: Picture) -> str:
    """Return the flowchart."""
    return "\n".join(_lines(picture)) + "\n"


def _lines(picture: Picture) -> Iterator[str]:
    drawn = (*picture.linked, *picture.alone)
    yield "flowchart LR"
    for node in drawn:
        yield f"    {_id(node)}[{_label(node)}]{_class(node)}"
    if picture.left_out:
        yield f'    more["{quoted(f"{sum(picture.left_out.values())} more: {counted(picture.left_out)}")}"]'
    there = {node.batch.batch_id: node for node in drawn}
    for node in drawn:
        lacks = {name for wait in node.waits for name in wait.lacks}
        for other in graph.needs(node.batch):
            if other in there:
                arrow = "-.->" if there[other].batch.name in lacks else "-->"
                yield f"    {_id(there[other])} {arrow} {_id(node)}"
    for state, colours in _COLOURS.items():
        yield f"    classDef {state} {colours},color:#000"
    yield "    classDef disabled stroke-dasharray:4"


def _id(node: GraphNode) -> str:
    return f"b{node.batch.batch_id}"


def _label(node: GraphNode) -> str:
    lines = [shorten(visible(node.batch.name), LONGEST), in_words(node)]
    return '"' + "<br>".join(quoted(line) for line in lines) + '"'


def _class(node: GraphNode) -> str:
    if node.closed:
        return ":::disabled"
    return f":::{node.state}" if node.state in _COLOURS else ""


def quoted(text: str) -> str:
    """Write everything but letters, digits and plain marks by its number, so that none of it means anything to Mermaid."""
    return "".join(at if at.isalnum() or at in " .,_-" else f"#{ord(at)};" for at in text)
