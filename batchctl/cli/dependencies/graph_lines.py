"""The batches beside each other with lines between them, in characters, where a terminal has room for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from batchctl.cli import output
from batchctl.domain.dependencies.layout import LINE, Layout, Slot, layout
from batchctl.domain.rows import BatchId
from batchctl.domain.text import visible
from batchctl.operations.dependencies.graph_drawing import levels_of, ways_between
from batchctl.operations.dependencies.graph_words import MARKS
from batchctl.operations.dependencies.picture import GraphNode

MOST = 40
"""With more batches than this a drawing in characters is not readable any more."""
LONGEST_NAME = 28
MARGIN = 2

_N, _E, _S, _W = 1, 2, 4, 8
_GLYPHS = " │─└││┌├─┘─┴┐┤┬┼"
"""The sign of what goes on from a place to each sum of these directions."""
_IN_ASCII = {"│": "|", "─": "-", "▶": ">"}

Place = tuple[int, int]
"""A row and a column of characters."""


def lines(nodes: Sequence[GraphNode], width: int, *, ascii_only: bool) -> list[Text] | None:
    """Return the drawing line by line; None when there is no room for it, or when it has no direction."""
    if not nodes or len(nodes) > MOST or any(node.in_cycle for node in nodes):
        return None
    drawing = _Drawing(nodes, layout(levels_of(nodes), ways_between(nodes)), ascii_only=ascii_only)
    return drawing.texts() if drawing.width <= width else None


@dataclass(slots=True)
class _Channel:
    """The room between two columns of batches, and the lines that cross it."""

    ends: dict[Slot, tuple[int, list[int]]] = field(default_factory=dict)
    """For each line the row it comes from, and those it goes to."""
    tracks: dict[Slot, int] = field(default_factory=dict)

    def lay(self) -> None:
        """Give each line a track to go up and down in: with others that go to the same, or are out of its way."""
        alike: dict[tuple[int, ...], list[Slot]] = {}
        for slot, (begin, goals) in sorted(self.ends.items(), key=lambda each: each[1]):
            if goals != [begin]:  # else it goes straight on
                alike.setdefault(tuple(sorted(goals)), []).append(slot)
        taken: list[list[tuple[int, int]]] = []
        for reached, slots in alike.items():
            rows = [*reached, *(self.ends[slot][0] for slot in slots)]
            top, bottom = min(rows), max(rows)
            free = (
                at for at, spans in enumerate(taken) if all(bottom < high - 1 or low + 1 < top for high, low in spans)
            )
            track = next(free, len(taken))
            taken += [[]] if track == len(taken) else []
            taken[track].append((top, bottom))
            self.tracks |= dict.fromkeys(slots, track)

    @property
    def width(self) -> int:
        """Return how many characters it takes."""
        return 2 * max(self.tracks.values(), default=0) + 5


class _Drawing:
    """Where everything stands, and what is drawn at each place."""

    def __init__(self, nodes: Sequence[GraphNode], laid_out: Layout, *, ascii_only: bool) -> None:
        self.ascii_only = ascii_only
        self.layout = laid_out
        self.nodes = {node.batch.batch_id: node for node in nodes}
        self.column_of = {one: at for at, column in enumerate(laid_out.columns) for one in column}
        self.rows = self._rows()
        self.channels = self._channels()
        self.wide = [max(self._width(one) for one in column) for column in laid_out.columns]
        self.lefts = [MARGIN]
        for wide, channel in zip(self.wide, self.channels, strict=False):
            self.lefts.append(self.lefts[-1] + wide + channel.width)
        self.width = self.lefts[-1] + self.wide[-1]
        self.upright: dict[Place, tuple[frozenset[Slot], int]] = {}
        self.level: dict[Place, tuple[frozenset[Slot], int]] = {}
        """The lines at each place, and where they go on from there."""
        self.heads: set[Place] = set()

    def texts(self) -> list[Text]:
        """Return the lines of the drawing."""
        for slot in self.rows:
            if self.column_of[slot[0]] != slot[1]:
                self._pass(slot)
        for at, channel in enumerate(self.channels):
            self._connect(at, channel)
        signs = self._signs()
        height = max(row for row in self.rows.values()) + 2
        return [self._line(row, signs) for row in range(height)]

    def _rows(self) -> dict[Slot, int]:
        """Return the row of every batch, and of each line that passes a column.

        Lines reach a batch at its first row, leave it at its second, and pass at the third of each three, those that
        touch each other at different ones: so no line ever covers another.
        """
        rows: dict[Slot, int] = {}
        for at, column in enumerate(self.layout.columns):
            free = 0
            for one in column:
                third = max(free, round(self.layout.tops[one]))
                rows[one, at] = 3 * third
                free = third + 1
        return rows | self._lanes()

    def _lanes(self) -> dict[Slot, int]:
        """Return the row of each line that passes columns: the same in all, as near as may be to where it was laid out."""
        passed: dict[BatchId, dict[int, float]] = {}
        for (one, _), bends in self.layout.bends.items():
            if bends:
                passed.setdefault(one, {}).update(bends)
        rows: dict[Slot, int] = {}
        taken = set[Place]()
        for one, middles in passed.items():
            near = round(fmean(middles.values()) - LINE / 2)
            touched = range(min(middles) - 1, max(middles) + 2)
            thirds = sorted(range(near + len(passed) + 1), key=lambda third: abs(third - near))
            lane = next(third for third in thirds if not any((third, at) in taken for at in touched))
            taken |= {(lane, at) for at in middles}
            rows |= {(one, at): 3 * lane + 2 for at in middles}
        return rows

    def _leaves(self, slot: Slot) -> int:
        """Return the row at which a line leaves a column."""
        return self.rows[slot] + (self.column_of[slot[0]] == slot[1])

    def _channels(self) -> list[_Channel]:
        made = [_Channel() for _ in self.layout.columns[1:]]
        for (one, other), bends in self.layout.bends.items():
            path = [(one, self.column_of[one]), *((one, at) for at, _ in bends), (other, self.column_of[other])]
            for slot, following in pairwise(path):
                goals = made[slot[1]].ends.setdefault(slot, (self._leaves(slot), []))[1]
                if self.rows[following] not in goals:
                    goals.append(self.rows[following])
        for channel in made:
            channel.lay()
        return made

    def _width(self, one: BatchId) -> int:
        name, state = self._words(one)
        return max(cell_len(name), cell_len(state)) + 1

    def _words(self, one: BatchId) -> tuple[str, str]:
        node = self.nodes[one]
        name = visible(node.batch.name)
        if cell_len(name) > LONGEST_NAME:
            dots = ".." if self.ascii_only else "…"
            name = set_cell_size(name, LONGEST_NAME - len(dots)) + dots
        state = ", ".join([node.state, *node.closed])
        return name, f"{MARKS[node.state][self.ascii_only]} {state}"

    def _pass(self, slot: Slot) -> None:
        """Let a line pass a column."""
        left = self.lefts[slot[1]]
        self._across(self.rows[slot], left, left + self.wide[slot[1]] - 1, {slot})

    def _connect(self, at: int, channel: _Channel) -> None:
        begin, end = self.lefts[at] + self.wide[at], self.lefts[at + 1] - 1
        to: dict[int, set[Slot]] = {}
        for slot, (row, goals) in channel.ends.items():
            if slot not in channel.tracks:
                self._across(row, begin, end, {slot})
                continue
            track = begin + 1 + 2 * channel.tracks[slot]
            first = begin
            if self.column_of[slot[0]] == at:
                first = self.lefts[at] + cell_len(self._words(slot[0])[1]) + 1
            self._across(row, first, track - 1, {slot})
            self._join(self.level, (row, track), {slot}, _W)
            for goal in goals:
                to.setdefault(goal, set()).add(slot)
            top, bottom = min(row, *goals), max(row, *goals)
            for here in range(top, bottom + 1):
                bits = (_N if here > top else 0) | (_S if here < bottom else 0)
                self._join(self.upright, (here, track), {slot}, bits)
        heads = {self.rows[one, at + 1] for one in self.layout.columns[at + 1]}
        for goal, slots in to.items():
            first = min(begin + 1 + 2 * channel.tracks[slot] for slot in slots)
            self._join(self.level, (goal, first), slots, _E)
            self._across(goal, first + 1, end, slots)
            if goal in heads:
                self.heads.add((goal, end - 1))
                del self.level[goal, end]

    def _across(self, row: int, first: int, last: int, lines: set[Slot]) -> None:
        for x in range(first, last + 1):
            self._join(self.level, (row, x), lines, _E | _W)

    @staticmethod
    def _join(there: dict[Place, tuple[frozenset[Slot], int]], place: Place, lines: set[Slot], bits: int) -> None:
        before, already = there.get(place, (frozenset(), 0))
        there[place] = before | lines, already | bits

    def _signs(self) -> Mapping[Place, str]:
        found: dict[Place, str] = {}
        for place in {*self.upright, *self.level}:
            climbing, up = self.upright.get(place, (frozenset(), 0))
            level, along = self.level.get(place, (frozenset(), 0))
            # A line that has nothing to do with one that goes up or down passes behind it.
            bits = up | along if not climbing or climbing & level else up
            found[place] = _GLYPHS[bits]
        found |= dict.fromkeys(self.heads, "▶")
        return {place: _IN_ASCII.get(sign, "+") for place, sign in found.items()} if self.ascii_only else found

    def _line(self, row: int, signs: Mapping[Place, str]) -> Text:
        made = Text(no_wrap=True)
        ahead = {x: Text(sign, style="dim") for (at, x), sign in signs.items() if at == row}
        for one, column in self.column_of.items():
            top = self.rows[one, column]
            if row in {top, top + 1}:
                state = self.nodes[one].state
                style = "bold" if row == top else output.word(state).style
                ahead[self.lefts[column]] = Text(self._words(one)[row - top], style=style)
        for x in sorted(ahead):
            made.append(" " * (x - made.cell_len))
            made.append_text(ahead[x])
        return made
