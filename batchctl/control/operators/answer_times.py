"""Ending questions whose time is over, and those that no instance waits with any more."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from batchctl.domain.errors import Conflict, NotFound, Refused
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Change, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.operators import confirmation_rows

PAGE = 20
EVERY = 1.0
"""Seconds between two looks: no notify says that a time has come."""

_BOUNDARIES = frozenset({Boundary.STEP_SUCCEEDED, Boundary.STEP_FAILED, Boundary.INSTANCE_DONE})


@dataclass(slots=True)
class AnswerTimes:
    """Ends each such question in a transaction of its own, in which it is looked at once more."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    end: Callable[[Any, Confirmation], bool]
    """Ends a question within a transaction; false when it was answered meanwhile."""
    acted: Callable[[], None] = lambda: None
    """Called once an instance may go on: no notify reports a program's own changes to it."""
    name: ClassVar[str] = "answer times"
    _looked_at: float = -math.inf
    _left: int = 0
    """How many could not be ended at the last look: they must not keep others from being looked at."""

    @property
    def is_busy(self) -> bool:
        """Say that nothing is left to be done at once."""
        return False

    def look(self, noticed: Change = Change.NOTHING) -> bool:
        """End what is due."""
        del noticed
        if self.clock.monotonic() - self._looked_at < EVERY:
            return False
        return self.finish()

    def finish(self) -> bool:
        """End all that is due."""
        self._looked_at = self.clock.monotonic()
        ended = [self._end(question) for question in self._due()]
        self._left = ended.count(False)
        if any(ended):
            self.acted()
        return False

    def _due(self) -> list[Confirmation]:
        with self.transactions.read() as connection:
            due = confirmation_rows.due(connection, self.clock.now(), PAGE + self._left)
            return [*due, *confirmation_rows.stray(connection, PAGE)]

    def _end(self, question: Confirmation) -> bool:
        def work(connection: Connection) -> bool:
            return self.end(connection, question)

        try:
            ended = self.transactions.run(_BOUNDARIES, work, nowait=True)
        except (Conflict, NotFound, Refused):
            # Somebody keeps a row locked, for a moment; or the rows of its batch cannot be read, which is told elsewhere.
            return False
        if ended:
            self.listener(Event("question.ended", {"BatchControl_id": question.instance_id}))
        return ended
