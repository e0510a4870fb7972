"""Who waits for whom, against reachability reckoned by hand."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.dependencies import graph
from batchctl.domain.rows import BatchDefinition, BatchId, Dependency
from batchctl.domain.status import DependencyMode

Edges = Mapping[int, Sequence[int]]


def batches(edges: Edges, *, any_of: Sequence[int] = (), off: Sequence[int] = ()) -> list[BatchDefinition]:
    """Return batches by their numbers, and what each depends on."""
    return [
        BatchDefinition(
            batch_id=BatchId(number),
            name=f"b{number}",
            entity=f"b{number}",
            enabled=number not in off,
            dependency_mode=DependencyMode.ANY if number in any_of else DependencyMode.ALL,
            dependencies=tuple(
                Dependency(row_id=at, depends_on=BatchId(other), deadline=timedelta(days=1))
                for at, other in enumerate(others, start=1)
            ),
        )
        for number, others in edges.items()
    ]


def reach(edges: Edges) -> dict[int, set[int]]:
    """Reckon what each gets to in one step or more, by adding until nothing is new."""
    found = {one: set(others) for one, others in edges.items()}
    while True:
        more = {
            one: others | {far for other in others for far in found.get(other, ())} for one, others in found.items()
        }
        if more == found:
            return found
        found = more


GRAPHS = st.integers(1, 7).flatmap(
    lambda count: st.fixed_dictionaries(
        {number: st.lists(st.integers(1, count + 1), unique=True, max_size=4) for number in range(1, count + 1)}
    )
)
"""What each of a few batches depends on; one of the numbers is of no batch."""


@given(GRAPHS)
def test_in_a_cycle_is_who_gets_back_to_itself(edges: Edges) -> None:
    assert graph.in_cycle(batches(edges)) == {one for one, others in reach(edges).items() if one in others}


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({}, set()),
        ({1: [], 2: []}, set()),
        ({1: [1]}, {1}),
        ({1: [2], 2: [1], 3: [1], 4: []}, {1, 2}),
        ({1: [2], 2: [1], 3: [2], 4: [3, 5], 5: [4]}, {1, 2, 4, 5}),
        ({1: [9]}, set()),
    ],
)
def test_the_cycles_of_a_few(edges: Edges, expected: set[int]) -> None:
    assert graph.in_cycle(batches(edges)) == expected


def test_ten_thousand_in_a_row_and_in_a_ring_are_no_recursion() -> None:
    row = {number: [number + 1] for number in range(1, 10_000)} | {10_000: []}

    assert graph.in_cycle(batches(row)) == frozenset()
    assert len(graph.in_cycle(batches(row | {10_000: [1]}))) == 10_000


def test_a_thousand_that_one_waits_for() -> None:
    fan: dict[int, Sequence[int]] = {1: range(2, 1_002), **{number: [] for number in range(2, 1_002)}}

    assert graph.in_cycle(batches(fan)) == frozenset()
    assert graph.in_cycle(batches(fan | {500: [1]})) == {1, 500}


def test_what_the_controller_asks_takes_no_networkx() -> None:
    asked = (
        "import sys, datetime; from batchctl.domain import rows; from batchctl.domain.dependencies import graph\n"
        "again = rows.Dependency(row_id=1, depends_on=1, deadline=datetime.timedelta())\n"
        "batch = rows.BatchDefinition(batch_id=1, name='b', entity='b', dependencies=(again,))\n"
        "assert graph.in_cycle([batch]) == {1} and 'networkx' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", asked], check=True)


def ways_around(edges: Edges) -> set[tuple[int, ...]]:
    """Find every cycle by trying every path, each beginning with its smallest number."""
    found = set[tuple[int, ...]]()

    def go(path: tuple[int, ...]) -> None:
        for other in edges.get(path[-1], ()):
            if other == path[0]:
                found.add(path)
            elif other > path[0] and other not in path:
                go((*path, other))

    for number in edges:
        go((number,))
    return found


@given(GRAPHS)
def test_every_cycle_is_named_whole_or_one_stands_for_those_among_the_same(edges: Edges) -> None:
    edges = dict(sorted(edges.items()))
    found = graph.cycles(batches(edges))
    named = {tuple(int(name[1:]) for name in cycle.names): cycle.stands_for_more for cycle in found}
    every, far = ways_around(edges), reach(edges)

    assert {*named} <= every
    assert len(named) == len(found)
    for way in every - {*named}:
        assert len(way) > 1
        assert any(more and at[0] in far[way[0]] and way[0] in far[at[0]] for at, more in named.items())


def test_cycles_begin_with_the_batch_that_comes_first_and_go_on_with_what_it_waits_for() -> None:
    found = graph.cycles(batches({5: [4], 1: [2], 2: [3, 2], 3: [1], 4: [5]}))

    assert [cycle.names for cycle in found] == [("b2",), ("b5", "b4"), ("b1", "b2", "b3")]
    assert not any(cycle.stands_for_more for cycle in found)


def test_of_very_many_cycles_one_of_the_shortest_through_the_first_batch_stands_for_all() -> None:
    all_of_all = {number: [other for other in range(1, 61) if other != number] for number in range(1, 61)}

    assert graph.cycles(batches(all_of_all)) == (graph.Cycle(("b1", "b2"), stands_for_more=True),)


@given(GRAPHS)
def test_upstream_and_downstream_are_what_is_reached_in_either_direction(edges: Edges) -> None:
    far = reach(edges)

    for number in edges:
        assert graph.upstream(batches(edges), BatchId(number)) == far[number]
        assert graph.downstream(batches(edges), BatchId(number)) == {one for one in edges if number in far[one]}


@given(GRAPHS, st.lists(st.integers(1, 7), unique=True), st.lists(st.integers(1, 7), unique=True))
def test_held_back_is_what_nothing_else_can_start(edges: Edges, any_of: list[int], off: list[int]) -> None:
    failed = min(edges)
    held, grown = {failed}, True
    while grown:
        grown = False
        for one, others in edges.items():
            hopeless = {*held, *off} | {other for other in others if other not in edges}
            stuck = bool(held & {*others}) and (one not in any_of or hopeless >= {*others})
            grown = grown or (stuck and one not in held)
            held |= {one} if stuck else set()
    found = graph.held_back(batches(edges, any_of=any_of, off=off), BatchId(failed))

    assert {*found} == held - {failed}
    for one, way in found.items():
        assert (way[0], way[-1]) == (failed, one)
        assert all(before in edges[after] for before, after in pairwise(way))
        assert len(way) <= len(edges)


def test_any_of_several_is_held_back_only_by_all_of_them() -> None:
    diamond = {1: [], 2: [1], 3: [], 4: [2, 3], 5: [4]}

    assert graph.held_back(batches(diamond), BatchId(1)) == {2: (1, 2), 4: (1, 2, 4), 5: (1, 2, 4, 5)}
    assert graph.held_back(batches(diamond, any_of=[4]), BatchId(1)) == {2: (1, 2)}
    assert {*graph.held_back(batches(diamond, any_of=[4], off=[3]), BatchId(1))} == {2, 4, 5}
    assert {*graph.held_back(batches({**diamond, 3: [1]}, any_of=[4]), BatchId(1))} == {2, 3, 4, 5}


@given(GRAPHS)
def test_levels_hold_every_batch_once_behind_all_it_waits_for(edges: Edges) -> None:
    levels = graph.levels(batches(edges))
    level_of = {int(one): at for at, level in enumerate(levels) for one in level}
    far = reach(edges)

    assert sorted(one for level in levels for one in level) == sorted(edges)
    for one, others in edges.items():
        for other in others:
            if other in edges:
                context = one in far[other]
                assert level_of[other] == level_of[one] if context else level_of[other] < level_of[one]
