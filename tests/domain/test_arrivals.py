"""Which files count, when one is complete, and by what it is known again."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchctl.domain.arrivals import (
    IN_PROGRESS,
    FileNames,
    FolderListing,
    FoundFile,
    Memory,
    Sight,
    duplicate_key,
    file_name,
    is_complete,
    path_key,
    seen,
)
from batchctl.domain.status import DuplicateKey

NAMES = st.text(st.characters(codec=None, exclude_characters="/\x00"), min_size=1, max_size=255)
STATES = st.tuples(st.integers(0, 3), st.integers(-1, 2), st.sampled_from([None, 1, 2]))


def file(size: int = 1, modified_ns: int = 5, number: int | None = 7, path: str = "f") -> FoundFile:
    return FoundFile(path, size, modified_ns, number)


@given(NAMES)
def test_any_name_counts_unless_it_looks_unfinished(name: str) -> None:
    unfinished = name.startswith(".") or name.lower().endswith(IN_PROGRESS)

    assert (FileNames("*").why_not(name) is None) is not unfinished
    assert FileNames("*").marker_of(name) is None


@pytest.mark.parametrize(
    ("pattern", "name", "counts"),
    [
        ("*.csv", "a.csv", True),
        ("*.csv", "a.CSV", False),
        ("*.csv", "a\n.csv", True),
        ("*.csv", "a.csv ", False),
        ("*.csv", "a.csv\n", False),
        ("a?", "a\udcff", True),
        ("*", "-rf", True),
        ("*", ".hidden", False),
        (".*", ".hidden", True),
        ("*", "a.PART", False),
        ("*.part", "a.part", True),
        ("*.part", "a.tmp", False),
        ("*.TMP", "a.TMP", True),
        ("[", "[", True),
        ("x/*.csv", "a.csv", False),
    ],
)
def test_the_pattern_means_the_name_as_it_is_written(pattern: str, name: str, counts: bool) -> None:
    assert (FileNames(pattern).why_not(name) is None) is counts


def test_a_marker_is_never_work() -> None:
    names = FileNames("*", ".done")

    assert names.why_not("a.csv.done") == "it is a marker itself"
    assert names.why_not("a.csv") is None
    assert names.marker_of("a.csv") == "a.csv.done"


@given(st.lists(st.tuples(STATES, st.floats(0, 10)), min_size=1), st.floats(0.1, 30))
def test_complete_is_what_has_stayed_as_it_is_for_long_enough_and_in_two_walks(
    walks: list[tuple[tuple[int, int, int | None], float]], settle: float
) -> None:
    sight: Sight | None = None
    same_since, first_walk, state, now = 0.0, 0, None, 0.0
    for number, (found, later) in enumerate(walks):
        now += later
        listing = FolderListing(number, begun=now, ended=now)
        sight = seen(sight, file(*found), listing)
        if state is None or not file(*found).is_as(file(*state)):
            same_since, first_walk, state = now, number, found

        assert is_complete(sight, listing, settle) is (number > first_walk and now - same_since >= settle)
        assert sight.last_walk == number


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0.001, 1e6))
def test_how_long_a_walk_takes_never_makes_a_file_older(at: float, took: float) -> None:
    first = seen(None, file(), FolderListing(1, at, at + took))
    early = FolderListing(2, at + took, math.inf)

    assert not is_complete(first, early, settle_seconds=0.0005)


@given(st.integers(-(2**63), 2**63 - 1))
def test_no_time_that_is_written_on_a_file_makes_it_older_or_younger(modified_ns: int) -> None:
    sight = seen(None, file(modified_ns=modified_ns), FolderListing(1, 0, 0))

    assert not is_complete(sight, FolderListing(2, 9, 9), 10)
    assert is_complete(sight, FolderListing(2, 10, 10), 10)


def test_at_once_is_at_the_first_walk() -> None:
    listing = FolderListing(1, 0, 0)

    assert is_complete(seen(None, file(), listing), listing, 0)
    assert not is_complete(seen(None, file(), listing), listing, 1)


def test_a_number_tells_only_where_both_have_one() -> None:
    assert not file(number=1).is_as(file(number=2))
    assert file(number=1).is_as(file(number=None))
    assert file(number=None).is_as(file(number=2))
    assert not file(size=1).is_as(file(size=2, number=None))


@given(NAMES, NAMES, st.sampled_from([DuplicateKey.NAME, DuplicateKey.NAME_SIZE_TIME]), STATES, STATES)
def test_a_duplicate_key_is_that_of_the_same_thing_only(
    one: str,
    other: str,
    kind: DuplicateKey,
    state: tuple[int, int, int | None],
    other_state: tuple[int, int, int | None],
) -> None:
    keys = [
        duplicate_key(kind, file(*state, path=one), None),
        duplicate_key(kind, file(*other_state, path=other), None),
    ]
    same = one == other and (kind is DuplicateKey.NAME or state[:2] == other_state[:2])

    assert (keys[0] == keys[1]) is same
    assert all(key.startswith(f"{kind}:") for key in keys)


def test_content_is_known_by_its_digest_alone() -> None:
    assert duplicate_key(DuplicateKey.CONTENT, file(), "ab12") == "content:sha256:ab12"


@given(NAMES, NAMES)
def test_a_path_has_a_key_of_its_own_whatever_it_holds(one: str, other: str) -> None:
    assert (path_key(one) == path_key(other)) is (one == other)
    assert len(path_key(one)) == 32


def test_a_file_has_a_whole_path() -> None:
    assert file_name("/in", file(path="-rf\n")) == "/in/-rf\n"
    assert file_name("/in/", file(path="x/y z ")) == "/in/x/y z "


def test_memory_knows_a_file_as_it_was_taken_and_forgets_what_it_is_told() -> None:
    memory = Memory()
    for row_id, path in enumerate("abc", start=1):
        memory.put(path_key(path), row_id, file(path=path))
    memory.missing[2] = datetime(2026, 11, 21, tzinfo=UTC)

    assert memory.row_of(file(path="b")) == 2
    assert memory.row_of(file(path="b", size=2)) is None
    assert memory.row_of(file(path="d")) is None
    assert memory.rows_without({1}) == {2, 3}
    memory.forget([2])
    assert memory.row_of(file(path="b")) is None
    assert memory.missing == {}
    assert memory.rows_without(()) == {1, 3}
