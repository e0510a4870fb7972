"""A duty of the leader: the business time zone stands where SQL can read it, as this node's configuration and rules say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from batchctl.domain.scheduling import zone_offsets as reckoned
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Change, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.scheduling import zone_offset_rows

EVERY = 3600.0
"""Seconds between two looks: the leader sees once an hour whether another node, with another zone, has written it."""
REST = 60.0
"""Seconds after which to try again where the database refused it."""

_BOUNDARIES = frozenset({Boundary.MIGRATION})


@dataclass(slots=True)
class ZoneKeeping:
    """Writes the offsets that the views show times with, when they are not those of the configured zone."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    zone: str
    _looks_at: float = -math.inf

    name: ClassVar[str] = "business time zone"
    is_busy: ClassVar[bool] = False

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Look once in a while; what it writes starts nothing."""
        now = self.clock.monotonic()
        if now >= self._looks_at:
            self._looks_at = now + REST
            self._keep()
            self._looks_at = now + EVERY
        return False

    def finish(self) -> bool:
        """Look at once."""
        self._keep()
        return False

    def _keep(self) -> None:
        offsets = reckoned.offsets(self.zone)
        with self.transactions.read() as connection:
            if zone_offset_rows.are_kept(connection, self.zone, offsets):
                return

        def write(connection: Connection) -> None:
            zone_offset_rows.keep(connection, self.zone, offsets, self.clock.now())

        self.transactions.run(_BOUNDARIES, write, nowait=True)
        self.listener(Event("zone.kept", {"ZoneName": self.zone}))
