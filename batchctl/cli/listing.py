"""Lists of rows: a table where there is room for one, else a block of lines for each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from batchctl.domain.text import visible

ROOMY = 100
"""Below this width a message or a command has no room beside other columns."""
FOLDED = 40
"""A column that may be folded keeps this much, unless it needs less."""

_COMMANDS = {"next", "to clear it"}
"""Columns of commands, which have to be copied in one piece."""
_MESSAGES = {"message", "because", "reason", "what is wrong", "but", "before", "after", "why", "what changed"}
_MAY_FOLD = _MESSAGES | {
    "batch",
    "step",
    "when",
    "name",
    "entity",
    "steps",
    "instances",
    "file",
    "row",
    "for batch",
    "who",
}
_NAMES = {"id", "FileProcess", "Seq", "seq", "table", "row", "batch", "entity", "step", "name", "gate", "at (UTC)"}
_HEAD = _NAMES | {"", "column", "status", "state", "who", "action", "target", "check", "event", "source"}
"""Columns that say which row it is and how it stands: the first line of its block."""

_NOTHING = {"", "-"}
"""How a cell without a value looks."""
_GAP = 3


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows under headings; one that ends with `#` is of numbers. Nothing is ever cut."""

    title: str | None
    headings: Sequence[str]
    rows: Sequence[Sequence[Text]]

    def parts(self, width: int) -> Iterator[tuple[RenderableType, bool]]:
        """Yield what to print one after the other, and whether the terminal shall break its lines by itself."""
        if self.title is not None:
            yield Text(visible(self.title), style="bold"), True
        if self._has_room(width):
            yield self._table(), False
            return
        for row in self.rows:
            yield from self._block(row)

    @property
    def _names(self) -> list[str]:
        return [heading.removesuffix("#") for heading in self.headings]

    def _has_room(self, width: int) -> bool:
        names = self._names
        said = {name for at, name in enumerate(names) if any(row[at].plain not in _NOTHING for row in self.rows)}
        if width < ROOMY and not (_MESSAGES | _COMMANDS).isdisjoint(said):
            return False
        return sum(self._needs(at, name) + _GAP for at, name in enumerate(names)) - _GAP <= width

    def _needs(self, at: int, name: str) -> int:
        natural = max([len(name), *(row[at].cell_len for row in self.rows)])
        return min(natural, FOLDED) if name in _MAY_FOLD else natural

    def _table(self) -> Table:
        made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for heading, name in zip(self.headings, self._names, strict=True):
            made.add_column(
                name,
                justify="right" if heading.endswith("#") else "left",
                overflow="fold",
                no_wrap=name not in _MAY_FOLD,
            )
        for row in self.rows:
            made.add_row(*row)
        return made

    def _block(self, row: Sequence[Text]) -> Iterator[tuple[RenderableType, bool]]:
        cells = [(name, cell) for name, cell in zip(self._names, row, strict=True) if cell.plain not in _NOTHING]
        head = [(name, cell) for name, cell in cells if name in _HEAD] or cells[:1]
        named = {name for name, _ in head}
        # An entity is often called as what starts it, or as what takes it.
        said = (Text.assemble(("entity: ", "dim"), cell) if name == "entity" else cell for name, cell in head[1:])
        yield Text("  ").join([*(cell for _, cell in head[:1]), *said]), True
        long = _MESSAGES | _COMMANDS
        short = [Text.assemble((f"{name}: ", "dim"), cell) for name, cell in cells if name not in named | long]
        if short:
            yield _indented(Text(", ").join(short)), False
        for name, cell in cells:
            if name in named:
                continue
            if name in _COMMANDS:
                yield Text.assemble((f"    {name}: ", "dim"), cell), True
            elif name in long:
                yield _indented(Text.assemble((f"{name}: ", "dim"), cell)), False


def _indented(text: Text) -> Padding:
    text.overflow = "fold"
    return Padding(text, (0, 0, 0, 4))
