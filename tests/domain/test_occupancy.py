"""How much more may be claimed, reckoned from what is claimed."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.occupancy import Occupancy
from batchctl.domain.rows import BatchDefinition, BatchId, Need, ResourceId


def need(units: int = 1, *, of: int = 4, exclusive: bool = False, resource: int = 1) -> Need:
    return Need(resource_id=ResourceId(resource), name=f"r{resource}", capacity=of, units=units, exclusive=exclusive)


def batch(number: int, *needs: Need, most: int = 10) -> BatchDefinition:
    return BatchDefinition(
        batch_id=BatchId(number), name=f"b{number}", entity="e", max_concurrent=most, needs=tuple(needs)
    )


def places(claimed: Mapping[int, int], *batches: BatchDefinition, limit: int | None = None) -> int:
    """Return how many more of the first batch may be claimed."""
    known = {one.batch_id: one for one in batches}
    counted = {BatchId(key): count for key, count in claimed.items()}
    return Occupancy(counted, known, limit).places(batches[0])


@pytest.mark.parametrize(("claimed", "expected"), [(0, 3), (2, 1), (3, 0)])
def test_a_batch_has_as_many_places_as_it_says(claimed: int, expected: int) -> None:
    assert places({1: claimed}, batch(1, most=3)) == expected


def test_what_is_claimed_beyond_a_lowered_limit_leaves_no_place() -> None:
    assert places({1: 5}, batch(1, most=3)) <= 0
    assert places({1: 1, 2: 9}, batch(1), batch(2), limit=4) <= 0
    assert places({2: 9}, batch(1, need(of=4)), batch(2, need(of=4))) == 0


@pytest.mark.parametrize(("limit", "expected"), [(None, 10), (20, 10), (5, 2), (3, 0), (0, -3)])
def test_all_batches_together_have_as_many_as_the_setting_says(limit: int | None, expected: int) -> None:
    assert places({2: 2, 3: 1}, batch(1), batch(2), limit=limit) == expected, "a batch that is gone counts too"


@pytest.mark.parametrize(
    ("units", "held", "expected"), [(1, 0, 4), (1, 3, 1), (2, 1, 1), (3, 1, 1), (3, 2, 0), (5, 0, 0)]
)
def test_units_are_shared_by_all_who_need_them(units: int, held: int, expected: int) -> None:
    assert places({2: held}, batch(1, need(units)), batch(2, need(1))) == expected


def test_who_needs_it_alone_waits_for_all_others_and_they_for_it() -> None:
    alone, shared = batch(1, need(exclusive=True)), batch(2, need())

    assert places({}, alone, shared) == 1
    assert places({2: 1}, alone, shared) == 0
    assert places({1: 1}, alone, shared) == 0, "also for one of its own kind"
    assert places({1: 1}, shared, alone) == 0
    assert places({}, batch(1, need(5, exclusive=True))) == 0, "there are not so many units"


def test_the_scarcest_of_several_decides() -> None:
    wanted = batch(1, need(1, of=4), need(1, of=2, resource=2), most=3)

    assert places({}, wanted) == 2
    assert places({2: 2}, wanted, batch(2, need(1, of=2, resource=2))) == 0
    assert places({2: 2}, wanted, batch(2, need(1, resource=3))) == 2


@given(
    st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.integers(0, 4)), min_size=1, max_size=4),
    st.integers(0, 6) | st.none(),
)
def test_claiming_what_there_is_room_for_never_exceeds_anything(
    kinds: list[tuple[int, bool, int]], limit: int | None
) -> None:
    known = {
        BatchId(key): batch(key, need(units, exclusive=exclusive), most=most)
        for key, (units, exclusive, most) in enumerate(kinds)
    }
    claimed: dict[BatchId, int] = {}
    for key in [*known, *known]:
        claimed[key] = claimed.get(key, 0) + max(0, Occupancy(claimed, known, limit).places(known[key]))
    held = [(known[key].needs[0], count) for key, count in claimed.items() if count]

    assert sum(one.units * count for one, count in held) <= 4
    assert sum(count for _, count in held) == 1 or not any(one.exclusive for one, _ in held)
    assert all(count <= known[key].max_concurrent for key, count in claimed.items())
    assert limit is None or sum(claimed.values()) <= limit
