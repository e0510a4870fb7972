"""Where the boxes and lines of a drawing of the batches stand, and what they say: for a file and for a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from batchctl.domain.dependencies import graph
from batchctl.domain.dependencies.layout import Way, layout
from batchctl.domain.rows import BatchId
from batchctl.domain.text import shorten, visible
from batchctl.operations.dependencies.graph_words import MARKS, MEANINGS, counted, in_words
from batchctl.operations.dependencies.picture import GraphNode, Picture

WIDE, HIGH = 260, 46
"""How large the box of a batch is."""
GAP, ROW = 90, 66
EDGE = 24
HEAD = 64
NAME_FITS, WORDS_FIT = 28, 38
ALONE_IN_A_ROW = 4


@dataclass(frozen=True, slots=True)
class GraphBox:
    """A batch: where its box stands, and what stands in it."""

    node: GraphNode
    x: float
    top: float

    @property
    def name(self) -> str:
        """Return the name of the batch, as far as there is room for it."""
        return shorten(visible(self.node.batch.name), NAME_FITS)

    @property
    def words(self) -> str:
        """Return how it stands, as far as there is room for it."""
        return shorten(f"{MARKS[self.node.state][0]} {in_words(self.node)}", WORDS_FIT)

    @property
    def whole(self) -> str:
        """Return all that there is to say of it."""
        state = self.node.state
        return "\n".join([visible(self.node.batch.name), in_words(self.node), f"{state}: {MEANINGS[state]}"])


@dataclass(frozen=True, slots=True)
class GraphLine:
    """A line from a batch to one that waits for it."""

    path: str
    kind: str
    """`has` and `lacks` where something waits, `cycle`, or nothing."""


def levels_of(nodes: Iterable[GraphNode]) -> list[list[BatchId]]:
    """Return the batches of each level that has any."""
    levels: dict[int, list[BatchId]] = {}
    for node in nodes:
        levels.setdefault(node.level, []).append(node.batch.batch_id)
    return [levels[at] for at in sorted(levels)]


def ways_between(nodes: Iterable[GraphNode]) -> list[Way]:
    """Return the lines between batches that are drawn."""
    there = {node.batch.batch_id: node for node in nodes}
    return [(other, one) for one, node in there.items() for other in graph.needs(node.batch) if other in there]


class GraphDrawing:
    """A picture with the place of everything in it."""

    def __init__(self, picture: Picture) -> None:
        """Lay everything out."""
        self.picture = picture
        self._linked = {node.batch.batch_id: node for node in picture.linked}
        self._ways = ways_between(picture.linked)
        self._layout = layout(levels_of(picture.linked), self._ways)
        self._places = {
            one: (EDGE + at * (WIDE + GAP), HEAD + EDGE + self._layout.tops[one] * ROW)
            for at, column in enumerate(self._layout.columns)
            for one in column
        }
        self.below = HEAD + EDGE + self._layout.height * ROW + (EDGE if self._linked else 0)
        """Where those begin that wait for nothing."""
        in_a_row = max(ALONE_IN_A_ROW, len(self._layout.columns))
        for at, node in enumerate(picture.alone):
            row, column = divmod(at, in_a_row)
            self._places[node.batch.batch_id] = (EDGE + column * (WIDE + GAP), self.below + EDGE + row * ROW)
        columns = max(len(self._layout.columns), min(len(picture.alone), in_a_row), 2)
        self.width = 2 * EDGE + columns * (WIDE + GAP) - GAP
        self.height = max([self.below, *(top + ROW for _, top in self._places.values())]) + EDGE

    @property
    def boxes(self) -> Iterator[GraphBox]:
        """Yield the batches."""
        for node in (*self.picture.linked, *self.picture.alone):
            yield GraphBox(node, *self._places[node.batch.batch_id])

    @property
    def lines(self) -> Iterator[GraphLine]:
        """Yield the lines between them."""
        return map(self._line, self._ways)

    @property
    def left_out(self) -> str | None:
        """Say what is not drawn."""
        left_out = self.picture.left_out
        return f"{sum(left_out.values())} more without dependencies: {counted(left_out)}" if left_out else None

    @property
    def sentences(self) -> Iterator[str]:
        """Yield each line of the drawing in words, for screen readers."""
        for one, node in self._linked.items():
            needs = [visible(self._linked[at].batch.name) for at in graph.needs(node.batch) if at in self._linked]
            if needs:
                yield f"{visible(self._linked[one].batch.name)} waits for {', '.join(needs)}"

    def _line(self, way: Way) -> GraphLine:
        one, other = way
        (x, top), (goal, goal_top) = self._places[one], self._places[other]
        begin, end = (x + WIDE, top + HIGH / 2), (goal, goal_top + HIGH / 2)
        if x >= goal:
            # Both stand in one column, so they wait for each other: the line goes out and comes back.
            out = short(x + WIDE + GAP / 2)
            bend = f"C{out} {short(begin[1] - 30)} {out} {short(end[1] + 30)} {_at((goal + WIDE, end[1] + 6))}"
        else:
            bend = "".join(self._curves(begin, end, way))
        return GraphLine(f"M{_at(begin)}{bend}", self._kind(self._linked[other], self._linked[one]))

    def _kind(self, node: GraphNode, other: GraphNode) -> str:
        if node.in_cycle and other.in_cycle and node.level == other.level:
            return "cycle"
        for wait in node.waits[:1]:
            return "lacks" if other.batch.name in wait.lacks else "has"
        return ""

    def _curves(self, begin: tuple[float, float], end: tuple[float, float], way: Way) -> Iterator[str]:
        here = begin
        for column, row in self._layout.bends.get(way, ()):
            left = EDGE + column * (WIDE + GAP)
            level = HEAD + EDGE + row * ROW
            yield _curve(here, (left, level))
            yield f"L{_at((left + WIDE, level))}"
            here = (left + WIDE, level)
        yield _curve(here, end)


def short(number: float) -> str:
    """Write a number shortly."""
    return f"{number:.1f}".removesuffix(".0")


def _curve(begin: tuple[float, float], end: tuple[float, float]) -> str:
    half = (begin[0] + end[0]) / 2
    return f"C{short(half)} {short(begin[1])} {short(half)} {short(end[1])} {_at(end)}"


def _at(point: tuple[float, float]) -> str:
    return f"{short(point[0])} {short(point[1])}"
