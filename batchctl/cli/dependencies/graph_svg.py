"""The batches as one SVG file that needs nothing else: for a mail, a wiki, a browser."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from batchctl.cli.dependencies.graph_lines import levels_of, ways_between
from batchctl.cli.dependencies.graph_words import MARKS, MEANINGS, counted, heading, in_words, summary
from batchctl.domain.dependencies import graph
from batchctl.domain.dependencies.layout import Way, layout
from batchctl.domain.text import shorten, visible
from batchctl.operations.dependencies.picture import GraphNode, Picture

WIDE, HIGH = 260, 46
GAP, ROW = 90, 66
EDGE = 24
HEAD = 64
NAME_FITS, WORDS_FIT = 28, 38
ALONE_IN_A_ROW = 4

_COLOURS = {
    "failed": ("#ffd7d7", "#b00020"),
    "held": ("#f3d9fa", "#7b1fa2"),
    "retry": ("#fff3c4", "#9a6700"),
    "running": ("#d0ebff", "#1864ab"),
    "cancelling": ("#d0ebff", "#1864ab"),
    "pausing": ("#d0ebff", "#1864ab"),
    "paused": ("#fff3c4", "#9a6700"),
    "ready": ("#e7f5ff", "#4263eb"),
    "waits": ("#fff3c4", "#9a6700"),
    "complete": ("#d3f9d8", "#2b8a3e"),
    "cancelled": ("#f1f3f5", "#868e96"),
    "idle": ("#ffffff", "#868e96"),
}
_STYLE = (
    "text{font-family:system-ui,-apple-system,'Segoe UI',sans-serif;fill:#1a1a1a}"
    ".head{font-size:18px;font-weight:600}.small{font-size:12px;fill:#444}.name{font-size:14px;font-weight:600}"
    ".line{fill:none;stroke:#777;stroke-width:1.5}.lacks{stroke:#9a6700;stroke-dasharray:5 4}.has{stroke:#2b8a3e}"
    ".cycle{stroke:#b00020;stroke-width:2}.off rect{stroke-dasharray:5 4}"
)


def svg(picture: Picture) -> str:
    """Return the drawing."""
    return "\n".join(_Drawing(picture).lines()) + "\n"


class _Drawing:
    """A picture with the place of everything in it."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.linked = {node.batch.batch_id: node for node in picture.linked}
        self.ways = ways_between(picture.linked)
        self.layout = layout(levels_of(picture.linked), self.ways)
        self.places = {
            one: (EDGE + at * (WIDE + GAP), HEAD + EDGE + self.layout.tops[one] * ROW)
            for at, column in enumerate(self.layout.columns)
            for one in column
        }
        self.below = HEAD + EDGE + self.layout.height * ROW + (EDGE if self.linked else 0)
        self.in_a_row = max(ALONE_IN_A_ROW, len(self.layout.columns))
        for at, node in enumerate(picture.alone):
            row, column = divmod(at, self.in_a_row)
            self.places[node.batch.batch_id] = (EDGE + column * (WIDE + GAP), self.below + EDGE + row * ROW)

    def lines(self) -> Iterator[str]:
        """Yield it line by line."""
        columns = max(len(self.layout.columns), min(len(self.picture.alone), self.in_a_row), 2)
        width = 2 * EDGE + columns * (WIDE + GAP) - GAP
        height = max([self.below, *(top + ROW for _, top in self.places.values())]) + EDGE
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}"'
            f' height="{_n(height)}" role="img" aria-labelledby="title desc">'
        )
        yield f'<title id="title">{escape(heading(self.picture))}</title>'
        yield f'<desc id="desc">{escape(". ".join([summary(self.picture), *self._sentences()]))}</desc>'
        yield f"<style>{_STYLE}</style>"
        yield (
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7"'
            ' orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
        )
        yield '<rect width="100%" height="100%" fill="#fff"/>'
        yield _text(EDGE, 30, heading(self.picture), "head")
        yield _text(EDGE, 52, summary(self.picture), "small")
        for way in self.ways:
            yield self._line(way)
        if self.picture.alone:
            yield _text(EDGE, self.below + 12, "They wait for nothing, and nothing waits for them:", "small")
        for node in (*self.picture.linked, *self.picture.alone):
            yield self._box(node)
        if self.picture.left_out:
            said = f"{sum(self.picture.left_out.values())} more without dependencies: {counted(self.picture.left_out)}"
            yield _text(EDGE, height - 10, said, "small")
        yield "</svg>"

    def _sentences(self) -> Iterator[str]:
        """Yield each line of the drawing in words, for screen readers."""
        for one, node in self.linked.items():
            needs = [visible(self.linked[at].batch.name) for at in graph.needs(node.batch) if at in self.linked]
            if needs:
                yield f"{visible(self.linked[one].batch.name)} waits for {', '.join(needs)}"

    def _line(self, way: Way) -> str:
        one, other = way
        (x, top), (goal, goal_top) = self.places[one], self.places[other]
        node = self.linked[other]
        kind = "line" + self._kind(node, self.linked[one])
        begin, end = (x + WIDE, top + HIGH / 2), (goal, goal_top + HIGH / 2)
        if x >= goal:
            # Both stand in one column, so they wait for each other: the line goes out and comes back.
            out = x + WIDE + GAP / 2
            path = f"M{_at(begin)}C{_n(out)} {_n(begin[1] - 30)} {_n(out)} {_n(end[1] + 30)} {_at((goal + WIDE, end[1] + 6))}"
        else:
            path = f"M{_at(begin)}" + "".join(self._curves(begin, end, way))
        return f'<path class="{kind}" d="{path}" marker-end="url(#arrow)"/>'

    def _kind(self, node: GraphNode, other: GraphNode) -> str:
        if node.in_cycle and other.in_cycle and node.level == other.level:
            return " cycle"
        for wait in node.waits[:1]:
            return " lacks" if other.batch.name in wait.lacks else " has"
        return ""

    def _curves(self, begin: tuple[float, float], end: tuple[float, float], way: Way) -> Iterator[str]:
        here = begin
        for column, row in self.layout.bends.get(way, ()):
            left = EDGE + column * (WIDE + GAP)
            level = HEAD + EDGE + row * ROW
            yield _curve(here, (left, level))
            yield f"L{_at((left + WIDE, level))}"
            here = (left + WIDE, level)
        yield _curve(here, end)

    def _box(self, node: GraphNode) -> str:
        x, top = self.places[node.batch.batch_id]
        fill, stroke = _COLOURS[node.state]
        name = visible(node.batch.name)
        whole = "\n".join([name, in_words(node), f"{node.state}: {MEANINGS[node.state]}"])
        kind = "off" if node.closed else "on"
        return (
            f'<g class="{kind}"><title>{escape(whole)}</title>'
            f'<rect x="{_n(x)}" y="{_n(top)}" width="{WIDE}" height="{HIGH}" rx="6" fill="{fill}" stroke="{stroke}"'
            f' stroke-width="1.5"/>'
            + _text(x + 10, top + 19, shorten(name, NAME_FITS), "name")
            + _text(x + 10, top + 36, shorten(f"{MARKS[node.state][0]} {in_words(node)}", WORDS_FIT), "small")
            + "</g>"
        )


def _curve(begin: tuple[float, float], end: tuple[float, float]) -> str:
    half = (begin[0] + end[0]) / 2
    return f"C{_n(half)} {_n(begin[1])} {_n(half)} {_n(end[1])} {_at(end)}"


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" class="{kind}">{escape(text)}</text>'


def _at(point: tuple[float, float]) -> str:
    return f"{_n(point[0])} {_n(point[1])}"


def _n(number: float) -> str:
    """Write a number shortly."""
    return f"{number:.1f}".removesuffix(".0")
