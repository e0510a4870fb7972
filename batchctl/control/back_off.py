"""How long a control database is left alone that cannot be used, and what may have been committed there unseen."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from batchctl.control.attempts import Mark, WrittenTurn
from batchctl.domain.errors import BatchctlError, OutcomeUnknown

SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(seconds=30)
"""How long to leave a database alone that cannot be used: at first, and at most after pauses that double."""


@dataclass(slots=True)
class BackOff:
    """The pauses in which one controller leaves the database alone."""

    failure: BatchctlError | None = None
    """Why the database could not be read or written in the last turn, if it could not."""
    rest: timedelta = SHORTEST
    """What is left of the pause."""
    _pause: timedelta = SHORTEST

    def begin(self, error: BatchctlError) -> bool:
        """Begin a pause; return whether its reason is another one than that of the pause before."""
        self._pause = SHORTEST if self.failure is None else min(2 * self._pause, LONGEST)
        self.rest = self._pause
        is_known = self.failure is not None and self.failure.message == error.message
        self.failure = error
        return not is_known

    def goes_on(self, after: timedelta) -> bool:
        """Let some time pass; return whether the pause goes on."""
        if self.failure is None or after >= self.rest:
            return False
        self.rest -= after
        return True

    def end(self) -> bool:
        """Use the database as usual; return whether it could not be used before."""
        failure, self.failure = self.failure, None
        return failure is not None


@dataclass(slots=True)
class Doubt:
    """Whether the last transaction was committed: unknown after a lost answer, until the next one that is."""

    is_open: bool = False
    marks: set[Mark] = field(default_factory=set)
    """What was begun by the transactions of which that is unknown."""

    def note(self, written: WrittenTurn) -> WrittenTurn:
        """Keep the marks of what a transaction is about to begin; return what it writes."""
        self.marks.update(attempt.mark for begun in written.begun for attempt in begun.attempts)
        return written

    def meet(self, error: BatchctlError) -> None:
        """Take note of an error."""
        self.is_open |= isinstance(error, OutcomeUnknown)
