"""What the statements of a step returned: drained to the end, the first rows kept to be shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field

from batchctl.plugin_api import visible

ROWS_SHOWN = 20
_WIDTH = 200
_BATCH = 1000
_LONGEST = 64 * 1024


@dataclass(slots=True)
class Results:
    """Collects results while the statements run."""

    masked: Callable[[str], str]
    affected: int = 0
    value: str | int | float | None = None
    lines: list[str] = field(default_factory=list)

    def drain(self, cursor: sqlite3.Cursor) -> None:
        """Read every row of a statement; the first value of the last statement with rows is what it answered."""
        if cursor.description is None:
            return
        first = cursor.fetchmany(ROWS_SHOWN)
        count = len(first)
        while rows := cursor.fetchmany(_BATCH):
            count += len(rows)
        self.value = _plain(first[0][0]) if first else None
        self.lines.append(" | ".join(visible(str(column[0])) for column in cursor.description))
        self.lines += [" | ".join(self._shown(value) for value in row) for row in first]
        left_out = count - len(first)
        self.lines.append(f"({count} rows, {left_out} of them not shown)" if left_out else f"({_rows(count)})")

    def _shown(self, value: object) -> str:
        if value is None:
            return "NULL"
        text = self.masked(value[:_LONGEST].hex() if isinstance(value, bytes) else str(value))
        return visible(text) if len(text) <= _WIDTH else f"{visible(text[:_WIDTH])}…"

    def text(self) -> str | None:
        """Return what is shown of all rows; None when there were no results."""
        text = "\n".join(self.lines)
        if len(text) <= _LONGEST:
            return text or None
        half = _LONGEST // 2
        return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _plain(value: object) -> str | int | float | None:
    match value:
        case None | str() | int() | float():
            return value
        case bytes():
            return value.hex()
        case _:
            return str(value)
