"""Which controller leads: one at a time, for as long as its lease lasts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated

from batchctl.domain.rows import LONG_AGO
from batchctl.domain.values import named_value

BEATS = 10
"""For how many signs of life one lease of the lead lasts."""
HIGHEST_FENCE = 2_000_000_000
"""After it comes 1 again: a fence only has to differ from the one before."""


@named_value
class Lead:
    """The `Leader` row."""

    controller: Annotated[str | None, "ControllerName"]
    fence: int
    """A new number with every controller that takes the lead: what is written under an older one is refused."""
    until: Annotated[datetime, "LeaseUntil"]
    """When the lease ends, by the database's clock."""
    place: str | None
    """Where the database was when somebody last let controllers work on it."""

    def leads(self, now: datetime) -> str | None:
        """Return the controller that leads now."""
        return self.controller if self.until > now else None


NO_LEAD = Lead(controller=None, fence=0, until=LONG_AGO, place=None)


def lease_of(heartbeat_interval: timedelta) -> timedelta:
    """Return how long a lease lasts after a sign of life."""
    return BEATS * heartbeat_interval
