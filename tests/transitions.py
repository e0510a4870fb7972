"""What the table of transitions says, put in other ways."""

from __future__ import annotations

from batchctl.domain.status import TRANSITIONS, InstanceStatus, InstanceVerb


def sources(verb: InstanceVerb) -> frozenset[InstanceStatus]:
    """Return the statuses in which the verb is allowed."""
    return frozenset(TRANSITIONS[verb])


def mermaid() -> str:
    """Draw the instance state machine as a Mermaid diagram, for docs/instances.md and its test."""
    arrows: dict[tuple[InstanceStatus, InstanceStatus], list[str]] = {}
    for verb, moves in TRANSITIONS.items():
        for source, target in moves.items():
            arrows.setdefault((source, target), []).append(verb.value)
    lines = ["stateDiagram-v2", "    [*] --> ready: create"]
    lines += [f"    {source} --> {target}: {', '.join(verbs)}" for (source, target), verbs in arrows.items()]
    lines += [f"    {status} --> [*]" for status in InstanceStatus if status.is_final]
    return "\n".join(lines)
