"""Connections of browsers and programs: how many there are at once, and how long one may wait before it asks for something."""

from __future__ import annotations

from typing import Any, cast

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10
"""Seconds within which a connection has to have sent the head of its next request."""
USUAL, KEPT_FREE = 1000, 64
"""How many connections there are at most, and how many files of this process are kept for all else."""


def most_of(files: int | None) -> int:
    """Return how many connections there may be where a process may open so many files."""
    return USUAL if files is None else max(1, min(USUAL, files - KEPT_FREE))


class BoundedConnection(H11Protocol):
    """A connection that is ended when it asks for nothing; where there are too many, the one that has waited longest."""

    most = USUAL
    cycle: Any
    since = 0.0
    """When it began to wait."""
    _deadline: Any = None

    def connection_made(self, transport: Any) -> None:
        """Wait for a request."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._watch()
        if len(self.connections) > self.most:
            others = (cast("BoundedConnection", one) for one in self.connections)
            # This one has sent nothing yet: where all others are at work it is the one that goes.
            min((one for one in others if not one.is_served), key=lambda one: one.since).give_up()

    def data_received(self, data: bytes) -> None:
        """Read what was sent."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for another request."""
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._rest()
        super().connection_lost(exc)

    @property
    def is_served(self) -> bool:
        """Say whether a request is under way that has come whole."""
        return not self._waits and not self.cycle.more_body

    @property
    def _waits(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def give_up(self) -> None:
        """End it at once."""
        self._rest()
        self.connections.discard(self)
        self.transport.abort()

    def _watch(self) -> None:
        if not self._waits:
            self._rest()
        elif self._deadline is None and not self.transport.is_closing():
            self.since = self.loop.time()
            self._deadline = self.loop.call_later(PATIENCE, self.give_up)

    def _rest(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
