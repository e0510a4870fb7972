"""The batches and what they wait for, as a graph.

networkx is imported by what needs it, where it is needed: that takes a tenth of a second, which the controller and
`status` do not have. What the controller asks does without.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from batchctl.domain.rows import BatchDefinition, BatchId

Ways = Mapping[BatchId, Collection[BatchId]]
"""Where one gets to from each batch."""


def waits_for(batches: Iterable[BatchDefinition]) -> dict[BatchId, tuple[BatchId, ...]]:
    """Return what each batch depends on; batches that depend on nothing are left out."""
    return {
        batch.batch_id: tuple(dict.fromkeys(at.depends_on for at in batch.dependencies))
        for batch in batches
        if batch.dependencies
    }


def in_cycle(batches: Iterable[BatchDefinition]) -> frozenset[BatchId]:
    """Return the batches that are part of a cycle, those that depend on themselves among them.

    None of them can ever be started by what it depends on: each would have to complete before itself.
    """
    ways = waits_for(batches)
    knots = _knots(ways)
    return frozenset(one for knot in knots for one in knot if len(knot) > 1 or one in ways.get(one, ()))


def _knots(ways: Ways) -> list[list[BatchId]]:
    """Return the batches in groups that can all be reached from each other; most groups are of one."""
    seen = set[BatchId]()
    ended = [one for start in ways for one in _reached(start, ways, seen)]
    back = _turned(ways)
    # What ended last leads to all others, so against the arrows it leads only to what leads back to it.
    seen = set()
    groups = (_reached(start, back, seen) for start in reversed(ended))
    return [group for group in groups if group]


def _reached(start: BatchId, ways: Ways, seen: set[BatchId]) -> list[BatchId]:
    """Return what is reached and was not `seen` before, each behind what is reached by way of it."""
    if start in seen:
        return []
    seen.add(start)
    ended: list[BatchId] = []
    path = [(start, iter(ways.get(start, ())))]
    while path:
        here, ahead = path[-1]
        following = next((one for one in ahead if one not in seen), None)
        if following is None:
            path.pop()
            ended.append(here)
        else:
            seen.add(following)
            path.append((following, iter(ways.get(following, ()))))
    return ended


def _turned(ways: Ways) -> dict[BatchId, list[BatchId]]:
    """Return the same ways in the other direction."""
    turned: dict[BatchId, list[BatchId]] = {}
    for start, ends in ways.items():
        for end in ends:
            turned.setdefault(end, []).append(start)
    return turned
