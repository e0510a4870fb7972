"""Where the batches stand in a drawing: in columns from left to right, with few crossings and lines that bend round them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from batchctl.domain.rows import BatchId

Slot = tuple[BatchId, int]
"""A place in a column: of a batch, or of the line that comes from it and goes on to a later column."""
Way = tuple[BatchId, BatchId]
"""A line from one batch to one that waits for it."""

SWEEPS = 4
MOST_BENDS = 5_000
"""Beyond so many bends the lines go straight: they could not be followed anyway."""
LINE = 0.5
"""How much of a batch's room a line takes that passes a column."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Heights of the batches in their columns, in rows; and of the bends of each line, by their columns."""

    columns: tuple[tuple[BatchId, ...], ...]
    tops: Mapping[BatchId, float]
    bends: Mapping[Way, tuple[tuple[int, float], ...]]
    height: float


def layout(levels: Sequence[Sequence[BatchId]], ways: Iterable[Way]) -> Layout:
    """Lay out batches in levels with the lines between them; lines within a level need no place."""
    level_of = {one: at for at, level in enumerate(levels) for one in level}
    forward = [(one, other) for one, other in ways if level_of[one] < level_of[other]]
    lines = _lines(level_of, forward)
    columns = [[(one, at) for one in level] for at, level in enumerate(levels)]
    for one, upto in lines.items():
        for at in range(level_of[one] + 1, upto):
            columns[at].append((one, at))
    before: dict[Slot, list[Slot]] = {}
    for one, other in forward:
        last = level_of[other] - 1 if one in lines else level_of[one]
        before.setdefault((other, level_of[other]), []).append((one, last))
    for one, upto in lines.items():
        before |= {(one, at): [(one, at - 1)] for at in range(level_of[one] + 1, upto)}
    after = _turned(before)
    for _ in range(SWEEPS):
        _put_in_order(columns, before)
        _put_in_order(columns[::-1], after)
    tops = _heights(columns, level_of, before, after)
    return Layout(
        columns=tuple(tuple(one for one, at in column if level_of[one] == at) for column in columns),
        tops={one: tops[one, at] for one, at in level_of.items()},
        bends={
            (one, other): tuple(
                (at, tops[one, at] + LINE / 2) for at in range(level_of[one] + 1, level_of[other]) if (one, at) in tops
            )
            for one, other in forward
        },
        height=max((top + _room(slot, level_of) for slot, top in tops.items()), default=0.0),
    )


def _lines(level_of: Mapping[BatchId, int], forward: Iterable[Way]) -> dict[BatchId, int]:
    """Return the last column of the line of each batch: one for all that wait for it, which branches where they are."""
    found: dict[BatchId, int] = {}
    for one, other in forward:
        found[one] = max(found.get(one, 0), level_of[other])
    bends = sum(upto - level_of[one] - 1 for one, upto in found.items())
    return found if bends <= MOST_BENDS else {}


def _turned(before: Mapping[Slot, Sequence[Slot]]) -> dict[Slot, list[Slot]]:
    turned: dict[Slot, list[Slot]] = {}
    for slot, others in before.items():
        for other in others:
            turned.setdefault(other, []).append(slot)
    return turned


def _put_in_order(columns: Sequence[list[Slot]], neighbours: Mapping[Slot, Sequence[Slot]]) -> None:
    """Put each slot near the middle of its neighbours in the columns before, which stand in order already."""
    places: dict[Slot, float] = {}
    for column in columns:
        own = {slot: at / len(column) for at, slot in enumerate(column)}
        wanted = {
            slot: fmean(places[other] for other in neighbours[slot]) if slot in neighbours else own[slot]
            for slot in column
        }
        column.sort(key=lambda slot: (wanted[slot], own[slot]))
        places |= {slot: at / len(column) for at, slot in enumerate(column)}


def _heights(
    columns: Sequence[Sequence[Slot]],
    level_of: Mapping[BatchId, int],
    before: Mapping[Slot, Sequence[Slot]],
    after: Mapping[Slot, Sequence[Slot]],
) -> dict[Slot, float]:
    """Return how high each slot stands: near its neighbours, and below what stands above it."""
    tops: dict[Slot, float] = {}
    for column in columns:
        top = 0.0
        for slot in column:
            tops[slot] = top
            top += _room(slot, level_of)
    for _ in range(SWEEPS):
        for neighbours, towards in ((before, columns), (after, columns[::-1])):
            for column in towards:
                tops |= _settled(column, level_of, neighbours, tops)
    highest = min(tops.values(), default=0.0)
    return {slot: top - highest for slot, top in tops.items()}


def _settled(
    column: Sequence[Slot],
    level_of: Mapping[BatchId, int],
    neighbours: Mapping[Slot, Sequence[Slot]],
    tops: Mapping[Slot, float],
) -> dict[Slot, float]:
    """Move the slots of a column towards their neighbours, and none over another.

    In one pass slots give way downwards, in another upwards; the middle between the two leaves them their room.
    """
    wanted = {
        slot: fmean(tops[other] for other in neighbours[slot]) if slot in neighbours else tops[slot] for slot in column
    }
    down, up = dict[Slot, float](), dict[Slot, float]()
    free = float("-inf")
    for slot in column:
        down[slot] = max(wanted[slot], free)
        free = down[slot] + _room(slot, level_of)
    free = float("inf")
    for slot in reversed(column):
        up[slot] = free = min(wanted[slot], free - _room(slot, level_of))
    return {slot: (down[slot] + up[slot]) / 2 for slot in column}


def _room(slot: Slot, level_of: Mapping[BatchId, int]) -> float:
    return 1.0 if level_of[slot[0]] == slot[1] else LINE
