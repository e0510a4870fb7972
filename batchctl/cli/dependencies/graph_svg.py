"""The batches as one SVG file that needs nothing else: for a mail, a wiki, a browser."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from batchctl.operations.dependencies.graph_drawing import EDGE, HIGH, WIDE, GraphBox, GraphDrawing, GraphLine
from batchctl.operations.dependencies.graph_drawing import short as _n
from batchctl.operations.dependencies.graph_words import heading, summary
from batchctl.operations.dependencies.picture import Picture

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
    return "\n".join(_lines(GraphDrawing(picture))) + "\n"


def _lines(drawing: GraphDrawing) -> Iterator[str]:
    picture, width, height = drawing.picture, drawing.width, drawing.height
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}"'
        f' height="{_n(height)}" role="img" aria-labelledby="title desc">'
    )
    yield f'<title id="title">{escape(heading(picture))}</title>'
    yield f'<desc id="desc">{escape(". ".join([summary(picture), *drawing.sentences]))}</desc>'
    yield f"<style>{_STYLE}</style>"
    yield (
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7"'
        ' orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
    )
    yield '<rect width="100%" height="100%" fill="#fff"/>'
    yield _text(EDGE, 30, heading(picture), "head")
    yield _text(EDGE, 52, summary(picture), "small")
    yield from map(_line, drawing.lines)
    if picture.alone:
        yield _text(EDGE, drawing.below + 12, "They wait for nothing, and nothing waits for them:", "small")
    yield from map(_box, drawing.boxes)
    if drawing.left_out is not None:
        yield _text(EDGE, height - 10, drawing.left_out, "small")
    yield "</svg>"


def _line(one: GraphLine) -> str:
    return f'<path class="{f"line {one.kind}".rstrip()}" d="{one.path}" marker-end="url(#arrow)"/>'


def _box(one: GraphBox) -> str:
    fill, stroke = _COLOURS[one.node.state]
    return (
        f'<g class="{"off" if one.node.closed else "on"}"><title>{escape(one.whole)}</title>'
        f'<rect x="{_n(one.x)}" y="{_n(one.top)}" width="{WIDE}" height="{HIGH}" rx="6" fill="{fill}" stroke="{stroke}"'
        f' stroke-width="1.5"/>'
        + _text(one.x + 10, one.top + 19, one.name, "name")
        + _text(one.x + 10, one.top + 36, one.words, "small")
        + "</g>"
    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" class="{kind}">{escape(text)}</text>'
