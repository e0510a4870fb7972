"""Ways through the ready rows: in order of arrival within an entity, and the entities take turns."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from batchctl.domain.rows import BatchId, IntakeId, IntakeRow
from batchctl.store import Connection
from batchctl.store.intake import intake
from batchctl.store.intake.intake import Looked

KEPT = 200
"""How many rows of one entity wait in memory for their turn; those behind them are read when it comes."""

IN_TURN = 5
"""How many rows of an entity are created before it is another one's turn."""

Lacking = tuple[IntakeRow, Sequence[BatchId]]
"""A row, and the batches that have no instance of it."""


@dataclass(slots=True)
class EntityLine:
    """The next rows of one entity that miss instances, in order of arrival."""

    entity: str
    rows: deque[Lacking] = field(default_factory=deque)
    is_cut: bool = False
    """True when more rows were met than are kept."""
    at: int = 0
    """Behind which row the rows follow that are not kept."""

    def add(self, lacking: Lacking) -> None:
        """Let a row wait for its turn."""
        if self.is_cut or len(self.rows) >= KEPT:
            self.is_cut = True
        else:
            self.rows.append(lacking)
            self.at = lacking[0].intake_id


@dataclass(slots=True)
class IntakeWalk:
    """A way through the ready rows."""

    at: int = 0
    """The last row that was looked at."""
    looked: int = 0
    """How many rows were looked at."""
    lines: dict[str, EntityLine] = field(default_factory=dict)
    """What was met and is not created yet, by entity."""

    def take_in(self, found: Looked, asked: Container[IntakeId]) -> None:
        """Go on behind what was looked at; what has takers waits for its turn, unless it is asked about already."""
        self.at, self.looked = found.up_to, self.looked + found.rows
        for row, batch_ids in _lacking(found, asked):
            self.lines.setdefault(row.entity, EntityLine(row.entity)).add((row, batch_ids))

    def refill(self, connection: Connection, line: EntityLine, asked: Container[IntakeId]) -> None:
        """Read on the rows of an entity that were met and not kept."""
        found = intake.look_on(connection, line.entity, line.at, self.at, KEPT)
        line.rows.extend(_lacking(found, asked))
        line.at, line.is_cut = found.up_to, not found.is_last

    def turns(self) -> Iterator[EntityLine]:
        """Yield the lines, one after the other."""
        for entity, line in [*self.lines.items()]:
            yield line
            if not line.rows and not line.is_cut:
                del self.lines[entity]


@dataclass(slots=True)
class Walks:
    """How far the ready rows have been looked through."""

    known: Any = None
    """The definitions by which the rows were looked at."""
    first: IntakeWalk = field(default_factory=IntakeWalk)
    """What follows behind this walk has never been looked at by these definitions."""
    newest: int = 0
    """The last row that was ever looked at."""
    again: IntakeWalk | None = None
    """The walk through what others changed behind the first: rows committed late, or made ready again."""


def _lacking(found: Looked, asked: Container[IntakeId]) -> Iterator[Lacking]:
    for missing in found.missing:
        if missing.row is not None and missing.batch_ids and missing.intake_id not in asked:
            yield missing.row, missing.batch_ids
