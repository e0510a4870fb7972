"""When another controller counts as dead. Decided by what is seen to change, never by a wall clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from batchctl.domain.rows import ControllerRow

NO_ROW = -1
"""Stands for the sign of life of a controller whose row somebody has deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """How often a controller gives a sign of life, and how long others wait for one."""

    heartbeat_interval: timedelta = timedelta(seconds=3)
    orphan_timeout: timedelta = timedelta(minutes=5)
    stop_grace: timedelta = timedelta(seconds=10)

    @property
    def lease(self) -> timedelta:
        """Return how long a controller may count itself as alive after a sign of life.

        A step that must not run beside its own repetition has to be stopped by the time others may repeat it.
        """
        needed = self.stop_grace + self.heartbeat_interval
        return self.orphan_timeout - max(self.orphan_timeout / 5, min(needed, self.orphan_timeout / 2))


@dataclass(frozen=True, slots=True)
class Sighting:
    """The last change of a controller's sign of life, and when it was first seen by this program's clock."""

    seq: int
    since: float


def seen(before: Sighting | None, row: ControllerRow | None, now: float) -> Sighting:
    """Return the sighting of a sign of life; of a missing row too: its controller may live, and enter itself anew."""
    seq = NO_ROW if row is None else row.heartbeat_seq
    return before if before is not None and before.seq == seq else Sighting(seq, now)


def is_overdue(sighting: Sighting, row: ControllerRow | None, now: float, rhythm: Rhythm) -> bool:
    """Say whether a controller has been silent for so long that others may look after its work."""
    return now - sighting.since >= patience(row, rhythm).total_seconds()


def patience(row: ControllerRow | None, rhythm: Rhythm) -> timedelta:
    """Return how long to wait for a controller's sign of life: its own setting, when that is longer than this one's."""
    relied_on = None if row is None else row.orphan_timeout
    return max(rhythm.orphan_timeout, relied_on or timedelta(0))
