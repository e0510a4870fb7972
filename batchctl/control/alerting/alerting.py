"""A duty of the leader: people are told of incidents, in good time and not too often. It follows everything else."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from batchctl.control.alerting.incident_watch import IncidentWatch
from batchctl.control.alerting.outbox import Outbox
from batchctl.domain.errors import BatchctlError, Conflict
from batchctl.ports import Change, Clock

EVERY = timedelta(seconds=5)
"""How often incidents are reviewed."""
OFTEN = timedelta(seconds=1)
"""How often the outbox is looked at for messages to send, and how often to look while the past is being read."""


@dataclass(slots=True)
class Alerting:
    """Reviews the incidents, and sends what is due."""

    clock: Clock
    watch: IncidentWatch
    outbox: Outbox
    _reviewed_at: float = -math.inf
    _sent_at: float = -math.inf

    name: ClassVar[str] = "alerts"

    def begin(self) -> None:
        """Note what waits before anything is done; where that cannot be read, it becomes known later, or never."""
        with suppress(BatchctlError):
            self.watch.begin()

    @property
    def is_busy(self) -> bool:
        """Say whether a message is under way."""
        return self.outbox.is_busy

    @property
    def locked(self) -> dict[str, str]:
        """Return what keeps incidents from being reviewed, and who: by the name of what is locked."""
        return self.watch.locked

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Review incidents once in a while, and send messages; do not wait for a row that somebody keeps locked."""
        now = self.clock.monotonic()
        try:
            if now - self._reviewed_at >= self._pause.total_seconds():
                self._reviewed_at = now
                if self.watch.look():
                    self._sent_at = -math.inf
            if self.outbox.is_busy or now - self._sent_at >= OFTEN.total_seconds():
                self._sent_at = now
                self.outbox.look()
        except Conflict:
            pass
        self.watch.check_written()
        return False

    def review(self) -> None:
        """Review incidents at once."""
        self.watch.look()

    def finish(self) -> bool:
        """Do all of it at once, and wait until what is due is sent, or cannot be."""
        self.watch.learn()
        self.watch.look(nowait=False)
        self.outbox.finish()
        self.watch.check_written()
        return False

    def settle(self) -> None:
        """Leave nothing half done, as far as that takes a moment only."""
        with suppress(BatchctlError):
            self.outbox.settle()

    @property
    def _pause(self) -> timedelta:
        return OFTEN if self.watch.findings.is_behind else EVERY
