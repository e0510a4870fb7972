"""The populators of one program: one that answers at once, and one that is asked aside and takes its time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from batchctl.domain.rows import BatchDefinition, IntakeRow, Populated
from batchctl.ports import Populating
from tests.sim.laws import Broken

if TYPE_CHECKING:
    from tests.sim.programs import Program

ASIDE = "poisoned"
"""The populator that breaks on poison, and takes its time over everything."""
LIMIT = 30.0
"""Seconds after which one that hangs is stopped."""
STUCK = 1.0
ROOM = 3


class Populators:
    """Populators that take the file's name. No turn waits for one that is asked aside."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._asked: deque[tuple[float, float, Populating]] = deque()
        """When it is begun to answer, when the answer comes, and the answer."""

    def populate(self, populator: str, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Return the values of an instance at once."""
        del batch
        if populator == ASIDE:
            raise Broken("turn", f"a turn waits for a populator over FileProcess {row.intake_id}")
        return Populated(data=(row.file_name or "", None, None, None, None, None))

    def ask(self, row: IntakeRow, batch: BatchDefinition) -> Populated | None:
        """Answer at once, or later."""
        if batch.populator != ASIDE:
            return self.populate(batch.populator, row, batch)
        if (row.file_name or "").startswith("surprise"):
            raise RuntimeError("nobody foresaw this")
        hangs = row.intake_id % 7 == 3 or (row.intake_id % 5 == 2 and row.tries < 2)
        begins = max(self._now, self._asked[-1][1] if self._asked else 0.0)
        ends = begins + (LIMIT if hangs else row.intake_id % 3)
        values = "it took too long" if hangs else self._values(row)
        self._program.world.happened["Hung"] += hangs
        self._asked.append((begins, ends, Populating(row, batch.batch_id, values, hung=hangs)))
        return None

    def has_room(self, batch: BatchDefinition) -> bool:
        """Say whether it is asked about few rows."""
        return batch.populator != ASIDE or len(self._asked) < ROOM

    def is_stuck(self, batch: BatchDefinition) -> bool:
        """Say whether it takes long over the row that it was asked about first."""
        if batch.populator != ASIDE or not self._asked:
            return False
        begins, ends, _ = self._asked[0]
        return begins + STUCK <= self._now < ends

    def answers(self) -> Sequence[Populating]:
        """Return what has come."""
        found = []
        while self.has_answers:
            found.append(self._asked.popleft()[2])
        return found

    @property
    def has_answers(self) -> bool:
        """Say whether anything has come."""
        return bool(self._asked) and self._asked[0][1] <= self._now

    @property
    def next_answer(self) -> float | None:
        """Return when the next answer comes."""
        return self._asked[0][1] if self._asked else None

    def wait(self) -> None:
        """Never be called."""
        raise Broken("turn", "a turn waits for a populator")

    def close(self) -> None:
        """Nothing to end."""

    @property
    def _now(self) -> float:
        return self._program.world.time.seconds

    @staticmethod
    def _values(row: IntakeRow) -> Populated | str:
        name = row.file_name or ""
        if name.startswith("poison"):
            return "poison"
        return Populated(data=(name, None, None, None, None, None))
