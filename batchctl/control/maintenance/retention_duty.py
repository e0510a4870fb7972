"""A duty of the leader: what is over goes, as `Setting` says; it follows everything else, and nothing waits for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar

from batchctl.control.maintenance.purge import FEWEST, Purge
from batchctl.domain.errors import DatabaseUnreachable
from batchctl.domain.text import visible
from batchctl.logs import Event, Listener
from batchctl.ports import Change, Clock, Transactions

EVERY = timedelta(hours=1)
"""How long after a pass the next one begins."""
REST = 3
"""After a page, rest for so many times as long as the page took."""
LIMIT = timedelta(seconds=10)
"""For how long a single round of the controller purges; the next one goes on."""


@dataclass(slots=True)
class Retention:
    """Looks once in a while for what is old enough, and deletes a page of it at each look."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    actor: str
    host: str
    interval: timedelta = EVERY
    _purge: Purge | None = None
    _pages: Iterator[Mapping[str, int]] | None = None
    """The pass under way."""
    _most: int = FEWEST
    _next: float = -math.inf
    """When, by this program's clock, there is something to do again."""
    _known: set[tuple[str, str]] = field(default_factory=set)
    """What could not be purged in the pass before, and was reported."""

    name: ClassVar[str] = "retention"
    is_busy: ClassVar[bool] = False

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Purge one page, if it is time."""
        before = self.clock.monotonic()
        if before >= self._next and not self._step():
            after = self.clock.monotonic()
            self._next = after + REST * (after - before)
        return False

    def finish(self) -> bool:
        """Purge all that there is, or for as long as a single round may take."""
        until = self.clock.monotonic() + LIMIT.total_seconds()
        while not self._step() and self.clock.monotonic() < until:
            pass
        return False

    def _step(self) -> bool:
        """Purge one page; true when nothing more is to be done for a while."""
        if self._purge is None or self._pages is None:
            self._purge = Purge(
                transactions=self.transactions, clock=self.clock, actor=self.actor, host=self.host, most=self._most
            )
            self._pages = self._purge.pages()
        try:
            if next(self._pages, None) is not None:
                return False
        except DatabaseUnreachable:
            # Where the connection to the database is lost, no table is at fault: the next look begins anew.
            self._purge = self._pages = None
            raise
        self._tell(self._purge)
        self._most, self._purge, self._pages = self._purge.most, None, None
        self._next = self.clock.monotonic() + self.interval.total_seconds()
        return True

    def _tell(self, purge: Purge) -> None:
        """Report what has gone, and what could not: once, until it was possible again or the reason changes."""
        if purge.gone.total():
            self.listener(Event("retention.purged", dict(purge.gone)))
        for what, said in purge.failures:
            if (what, said) not in self._known:
                self.listener(Event("retention.trouble", {"Message": f"{visible(what)}: {said}"}))
        self._known = set(purge.failures)
