"""The batches and what they wait for, as a graph.

networkx is imported by what needs it, where it is needed: that takes a tenth of a second, which the controller and
`status` do not have. What the controller asks does without.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.domain.status import DependencyMode

MOST_CYCLES = 20
"""Among batches with more cycles than these, one stands for all."""

Ways = Mapping[BatchId, Collection[BatchId]]
"""The batches that each batch leads to."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """Batches of which each waits for the next, and the last for the first."""

    names: tuple[str, ...]
    stands_for_more: bool = False
    """True when the same batches wait for each other in more ways than a person can read."""


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


def cycles(batches: Sequence[BatchDefinition]) -> tuple[Cycle, ...]:
    """Return every cycle, those of one batch first; each begins with the batch that stands first in `batches`."""
    caught = in_cycle(batches)
    if not caught:
        return ()
    import networkx as nx  # noqa: PLC0415 - without a cycle it is not needed

    listed = [batch for batch in batches if batch.batch_id in caught]
    places = {batch.batch_id: at for at, batch in enumerate(listed)}
    whole = nx.DiGraph()
    whole.add_nodes_from(range(len(listed)))
    whole.add_edges_from(
        (places[one], places[other])
        for one, others in waits_for(listed).items()
        for other in others
        if one != other and other in places
    )
    found = [(Cycle((batch.name,)), [at]) for at, batch in enumerate(listed) if batch.batch_id in needs(batch)]
    for knot in nx.strongly_connected_components(whole):
        if len(knot) > 1:
            ways, all_of_them = _detours(whole.subgraph(sorted(knot)))
            found += [(Cycle(tuple(listed[at].name for at in way), not all_of_them), way) for way in ways]
    return tuple(cycle for cycle, way in sorted(found, key=lambda each: (len(each[1]) > 1, each[1])))


def _detours(knot: Any) -> tuple[list[list[int]], bool]:
    """Return every cycle of batches that wait for each other, or a short one for all of them."""
    import networkx as nx  # noqa: PLC0415 - see `cycles`

    ways = list(islice(nx.simple_cycles(knot), MOST_CYCLES + 1))
    if len(ways) <= MOST_CYCLES:
        return [_from_its_first(way) for way in ways], True
    first = min(knot)
    paths = nx.single_source_shortest_path(knot, first)
    return [min((paths[last] for last in knot.predecessors(first)), key=lambda way: (len(way), way))], False


def _from_its_first(way: list[int]) -> list[int]:
    at = way.index(min(way))
    return way[at:] + way[:at]


def upstream(batches: Iterable[BatchDefinition], batch_id: BatchId) -> frozenset[BatchId]:
    """Return everything a batch waits for, however far away; in a cycle that is also the batch itself."""
    return _far(waits_for(batches), batch_id)


def downstream(batches: Iterable[BatchDefinition], batch_id: BatchId) -> frozenset[BatchId]:
    """Return everything that waits for a batch, however far away; in a cycle that is also the batch itself."""
    return _far(_turned(waits_for(batches)), batch_id)


def held_back(batches: Sequence[BatchDefinition], failed: BatchId) -> dict[BatchId, tuple[BatchId, ...]]:
    """Return the batches that nothing can start while one does not complete, each with the way that leads to it.

    With DependencyMode `any` all upstreams have to fail; one that is disabled or does not exist never completes.
    The nearest come first, and the ways begin with `failed`.
    """
    known = {batch.batch_id: batch for batch in batches}
    ways: dict[BatchId, tuple[BatchId, ...]] = {failed: (failed,)}
    after = _turned(waits_for(batches))
    reached = [failed]
    for here in reached:
        for one in after.get(here, ()):
            if one not in ways and one in known and _is_stuck(known[one], known, ways):
                ways[one] = (*ways[here], one)
                reached.append(one)
    del ways[failed]
    return ways


def _is_stuck(batch: BatchDefinition, known: Mapping[BatchId, BatchDefinition], stuck: Collection[BatchId]) -> bool:
    if batch.dependency_mode is DependencyMode.ALL:
        return True
    return all(one in stuck or one not in known or not known[one].enabled for one in needs(batch))


def levels(batches: Sequence[BatchDefinition]) -> tuple[tuple[BatchId, ...], ...]:
    """Return the batches in levels: each stands behind all it waits for, those of one cycle side by side."""
    import networkx as nx  # noqa: PLC0415 - see `cycles`

    known = {batch.batch_id: at for at, batch in enumerate(batches)}
    whole = nx.DiGraph()
    whole.add_nodes_from(known)
    ways = waits_for(batches)
    whole.add_edges_from((other, one) for one, others in ways.items() for other in others if other in known)
    knots = nx.condensation(whole)
    return tuple(
        tuple(sorted((one for knot in level for one in knots.nodes[knot]["members"]), key=known.__getitem__))
        for level in nx.topological_generations(knots)
    )


def needs(batch: BatchDefinition) -> list[BatchId]:
    """Return the batches that a batch depends on itself."""
    return [at.depends_on for at in batch.dependencies]


def _far(ways: Ways, start: BatchId) -> frozenset[BatchId]:
    seen = set[BatchId]()
    for one in ways.get(start, ()):
        _reached(one, ways, seen)
    return frozenset(seen)


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
    """Return what is reached and was not `seen` before, each behind what is reached through it."""
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
