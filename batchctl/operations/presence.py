"""Which controllers work on the database, as far as anybody can tell who only looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from batchctl.domain.liveness import Rhythm
from batchctl.domain.rows import ControllerRow
from batchctl.domain.status import ControllerStatus
from batchctl.store import controllers

BEATS = 5
"""How many signs of life a controller may be late before it is not taken for present any more."""


@dataclass(frozen=True, slots=True)
class Presence:
    """Looks for controllers. `is_gone` says of one whether this host can prove that it is dead."""

    rhythm: Rhythm
    is_gone: Callable[[ControllerRow], bool]

    def living(self, connection: Any, now: datetime) -> Sequence[ControllerRow]:
        """Return the controllers that have given a sign of life lately, in order of their start."""
        return [
            row
            for row in controllers.everyone(connection)
            if row.status is ControllerStatus.RUNNING
            and now - row.heartbeat < BEATS * self.rhythm.heartbeat_interval
            and not self.is_gone(row)
        ]
