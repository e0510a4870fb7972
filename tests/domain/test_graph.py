"""Who waits for whom, against reachability reckoned by hand."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain import graph
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
        "import sys, datetime; from batchctl.domain import graph, rows\n"
        "again = rows.Dependency(row_id=1, depends_on=1, deadline=datetime.timedelta())\n"
        "batch = rows.BatchDefinition(batch_id=1, name='b', entity='b', dependencies=(again,))\n"
        "assert graph.in_cycle([batch]) == {1} and 'networkx' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", asked], check=True)
