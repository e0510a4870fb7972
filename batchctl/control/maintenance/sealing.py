"""A duty of the leader: seal audit rows soon after they are written, and report once a day how far the chain goes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import ClassVar

from batchctl.domain.errors import Conflict
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Change, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.maintenance import audit_seals
from batchctl.store.transactions import left_out_if_refused

EVERY = timedelta(seconds=5)
ANCHORED = timedelta(days=1)
"""How often it is reported how far the chain reaches."""
ALL = timedelta(hours=1)
"""How often all rows are looked through, and not only the newest."""
MOST = 200
"""Rows of a page, which one look goes through."""
BACK = 1000
"""How many numbers before the newest sealed one are looked through for rows committed late."""

_BOUNDARIES = frozenset({Boundary.SEAL})


@dataclass(slots=True)
class Sealing:
    """Looks through the log a page at a time. Two leaders at once do no harm: no two seals have the same number."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    _after: int = 0
    """Up to which row the pass under way has looked."""
    _next: float = -math.inf
    """When, by this program's clock, there is something to do again."""
    _next_all: float | None = None
    """When the next pass through all rows begins; the first one does at once."""
    _announced: float = -math.inf

    name: ClassVar[str] = "audit"
    is_busy: ClassVar[bool] = False

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Seal what is open of one page, if it is time."""
        if self.clock.monotonic() >= self._next:
            self._step()
        return False

    def finish(self) -> bool:
        """Seal all that there is."""
        while not self._step():
            pass
        return False

    def _step(self) -> bool:
        """Seal what is open of the next page; true when that was the last one for a while."""
        with self.transactions.read() as connection:
            page = audit_seals.page(connection, self._after, MOST)
        if page.open:
            try:
                self.transactions.run(_BOUNDARIES, partial(self._seal, page.open), nowait=True)
            except Conflict:
                # Somebody else seals at the same moment, or keeps rows locked.
                self._wait()
                return True
        self._after = page.up_to
        if page.is_last:
            self._wait()
            self._tell()
        return page.is_last

    def _seal(self, open_ids: list[int], connection: Connection) -> None:
        with left_out_if_refused(connection):  # Somebody else has sealed them.
            audit_seals.seal(connection, open_ids, self.clock.now())

    def _wait(self) -> None:
        now = self.clock.monotonic()
        self._next = now + EVERY.total_seconds()
        if self._next_all is None:
            self._next_all = now + ALL.total_seconds()
        elif now >= self._next_all:
            self._after, self._next_all = 0, now + ALL.total_seconds()
            return
        with self.transactions.read() as connection:
            self._after = max(0, audit_seals.newest_sealed(connection) - BACK)

    def _tell(self) -> None:
        """Report once a day how far the chain reaches: a copy of that elsewhere cannot be changed from here."""
        now = self.clock.monotonic()
        if now - self._announced < ANCHORED.total_seconds():
            return
        with self.transactions.read() as connection:
            last = audit_seals.head(connection)
        if last is not None:
            self._announced = now
            self.listener(Event("audit.anchor", {"SealNo": last.number, "RecordHash": last.digest}))
