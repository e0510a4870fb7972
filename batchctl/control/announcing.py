"""What one controller tells of its work, and counts."""

from __future__ import annotations

from batchctl.control.attempts import Tally, WrittenTurn
from batchctl.logs import Event, EventValue, Listener, silent


class Announcer:
    """Announces what was committed, after the steps that were recorded are started: they need not wait for that."""

    def __init__(self, listener: Listener) -> None:
        """Store who listens."""
        self._listener = listener
        self._owed: WrittenTurn | None = None
        self.tally = Tally()

    def tell(self, name: str, **fields: EventValue) -> None:
        """Announce an event."""
        self._listener(Event(name, fields))

    def announce(self, written: WrittenTurn) -> None:
        """Announce what a transaction wrote."""
        self.tally.count(written)
        if self._listener is not silent:
            for event in written.events():
                self._listener(event)

    def owe(self, written: WrittenTurn) -> None:
        """Keep what is to be announced once what it follows from is."""
        self._owed = written

    def take_owed(self) -> WrittenTurn | None:
        """Return what is still to be announced, only once."""
        owed, self._owed = self._owed, None
        return owed
