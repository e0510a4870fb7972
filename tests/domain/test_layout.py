"""A drawing in which nothing lies over anything else, however many batches there are."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.dependencies import graph
from batchctl.domain.dependencies.layout import LINE, MOST_BENDS, Layout, layout
from batchctl.domain.rows import BatchId
from tests.domain.test_graph import GRAPHS, Edges, batches


def lay_out(edges: Edges) -> Layout:
    every = batches(edges)
    known = {batch.batch_id for batch in every}
    ways = [(other, batch.batch_id) for batch in every for other in graph.needs(batch) if other in known]
    return layout(graph.levels(every), ways)


@given(GRAPHS | st.integers(1, 40).map(lambda count: {at: [at - 1, 1] if at > 1 else [] for at in range(1, count + 1)}))
def test_every_batch_and_every_passing_line_has_a_place_of_its_own(edges: Edges) -> None:
    drawn = lay_out(edges)
    taken: dict[int, list[tuple[float, float]]] = {}
    for at, column in enumerate(drawn.columns):
        for one in column:
            taken.setdefault(at, []).append((drawn.tops[one], drawn.tops[one] + 1))
    passing = {(one, bend) for (one, _), bends in drawn.bends.items() for bend in bends}
    for _, (at, middle) in passing:
        taken[at].append((middle - LINE / 2, middle + LINE / 2))

    assert sorted(one for column in drawn.columns for one in column) == sorted(edges)
    for places in taken.values():
        places.sort()
        for (_, bottom), (top, _) in pairwise(places):
            assert bottom <= top + 1e-9
    assert all(0 <= top and bottom <= drawn.height + 1e-9 for places in taken.values() for top, bottom in places)


def test_a_line_over_several_columns_bends_in_each_between() -> None:
    drawn = lay_out({1: [], 2: [1], 3: [2], 4: [3, 1]})

    assert [at for at, _ in drawn.bends[BatchId(1), BatchId(4)]] == [1, 2]


def test_two_chains_do_not_cross() -> None:
    drawn = lay_out({1: [], 2: [], 3: [2], 4: [1], 5: [3], 6: [4]})

    assert drawn.columns == ((1, 2), (4, 3), (6, 5))


def test_lines_go_straight_where_there_would_be_more_bends_than_anybody_could_follow() -> None:
    count = 150
    drawn = lay_out({at: range(1, at) for at in range(1, count + 1)})

    assert (count - 1) * (count - 2) / 2 > MOST_BENDS
    assert not any(drawn.bends.values())


def test_nothing_has_no_height() -> None:
    assert lay_out({}) == Layout((), {}, {}, 0.0)
