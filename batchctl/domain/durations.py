"""How long steps took whose history is gone: by step and day, in classes of length that can be added up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from batchctl.domain.rows import BatchId

_SERIES = (10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82)
"""Each a fifth more than the one before it, in every decade, as resistors are made."""


@dataclass(frozen=True, slots=True, order=True)
class Class:
    """The attempts at one step that were begun on one day, by UTC, and took about as long."""

    batch_id: BatchId
    seq: int
    day: str
    up_to: int
    """The longest that belongs to it, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Sum:
    """How many there were, and how long they took, in milliseconds."""

    runs: int
    total: int
    shortest: int
    longest: int

    def __add__(self, other: Sum) -> Sum:
        """Return both together."""
        return Sum(
            self.runs + other.runs,
            self.total + other.total,
            min(self.shortest, other.shortest),
            max(self.longest, other.longest),
        )

    @property
    def mean(self) -> timedelta:
        """Return how long one of them took."""
        return timedelta(milliseconds=self.total / self.runs)


@dataclass(frozen=True, slots=True)
class Took:
    """One attempt that was a success."""

    batch_id: BatchId
    seq: int
    start: Annotated[datetime, "StartTime"]
    end: Annotated[datetime, "EndTime"]


def up_to(milliseconds: int) -> int:
    """Return the upper end of the class that a length belongs to."""
    decade = 1
    while milliseconds > 100 * decade:
        decade *= 10
    return next((each * decade for each in _SERIES if milliseconds <= each * decade), 100 * decade)


def classes(attempts: Iterable[Took]) -> dict[Class, Sum]:
    """Add attempts up, class by class."""
    found: dict[Class, Sum] = {}
    for one in attempts:
        took = max((one.end - one.start) // timedelta(milliseconds=1), 0)
        key = Class(one.batch_id, one.seq, one.start.date().isoformat(), up_to(took))
        each = Sum(1, took, took, took)
        found[key] = found[key] + each if key in found else each
    return found
