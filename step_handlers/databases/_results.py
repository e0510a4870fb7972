"""What the statements of a step returned: drained to the end, the first rows kept to be shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from batchctl.plugin_api import Execution, visible

ROWS_SHOWN = 20
_WIDTH = 200
_BATCH = 1000
_LONGEST = 64 * 1024


class Cursor(Protocol):
    """What a DB-API driver returns its results through."""

    @property
    def description(self) -> Sequence[Sequence[Any]] | None:
        """The columns; None when there are no rows to read."""

    def fetchmany(self, size: int = ..., /) -> Sequence[Any]:
        """Return the next rows; none at the end."""


@dataclass(slots=True)
class ShownLines:
    """Lines of which beginning and end are kept, however many there are."""

    _head: list[str] = field(default_factory=list)
    _tail: deque[str] = field(default_factory=deque)
    _head_length: int = 0
    _tail_length: int = 0
    _length: int = -1

    def add(self, line: str) -> None:
        """Keep a line, and drop what lies too far from both ends."""
        self._length += len(line) + 1
        if self._head_length <= _LONGEST:
            self._head.append(line)
            self._head_length += len(line) + 1
            return
        self._tail.append(line)
        self._tail_length += len(line) + 1
        while self._tail_length - len(self._tail[0]) - 1 > _LONGEST:
            self._tail_length -= len(self._tail.popleft()) + 1

    def text(self) -> str | None:
        """Return the lines, the middle left out where they are too long; None when there is nothing."""
        kept = "\n".join([*self._head, *self._tail])
        if self._length <= _LONGEST:
            return kept or None
        half = _LONGEST // 2
        return f"{kept[:half]}\n[... {self._length - 2 * half} characters left out ...]\n{kept[-half:]}"


@dataclass(slots=True)
class Results:
    """Collects results while the statements run."""

    execution: Execution
    affected: int = 0
    value: str | int | float | None = None
    shown: ShownLines = field(default_factory=ShownLines)

    def drain(self, cursor: Cursor) -> None:
        """Read every row of a statement; the first value of the last statement with rows is the answer."""
        if cursor.description is not None:
            self.show([str(column[0]) for column in cursor.description], _all_rows(cursor))

    def show(self, names: Iterable[str], rows: Iterable[Sequence[object]]) -> None:
        """Read every row, as `drain` does."""
        reading = iter(rows)
        first = list(islice(reading, ROWS_SHOWN))
        left_out = sum(1 for _ in reading)
        count = len(first) + left_out
        self.value = plain(first[0][0]) if first and first[0] else None
        self._add(" | ".join(visible(name) for name in names))
        for row in first:
            self._add(" | ".join(self._cell(value) for value in row))
        self._add(f"({count} rows, {left_out} of them not shown)" if left_out else f"({_rows(count)})")

    def say(self, text: str) -> None:
        """Add messages of the server: notices, printed messages, values of output parameters."""
        for line in self.execution.masked(text[:_LONGEST]).splitlines() or [""]:
            self._add(visible(line))

    def _add(self, line: str) -> None:
        self.shown.add(line)
        self.execution.show(line)

    def _cell(self, value: object) -> str:
        if value is None:
            return "NULL"
        text = self.execution.masked(value[:_LONGEST].hex() if isinstance(value, bytes) else str(value))
        return visible(text) if len(text) <= _WIDTH else f"{visible(text[:_WIDTH])}…"

    def text(self) -> str | None:
        """Return what is shown of all rows; None when there were no results."""
        return self.shown.text()


def _all_rows(cursor: Cursor) -> Iterator[Sequence[object]]:
    yield from cursor.fetchmany(ROWS_SHOWN)
    while rows := cursor.fetchmany(_BATCH):
        yield from rows


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def plain(value: object) -> str | int | float | None:
    """Return a value as the history can keep it."""
    match value:
        case None | str() | int() | float():
            return value
        case bytes():
            return value.hex()
        case _:
            return str(value)
