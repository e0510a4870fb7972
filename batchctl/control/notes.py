"""What becomes known of attempts besides their ends, until it is written: a lock on a row delays only its own note."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from batchctl.control.contention import LOCKED_LOOK
from batchctl.control.drafts import late_result
from batchctl.control.in_flight import InFlight
from batchctl.domain.errors import Busy, Conflict, DatabaseRefused
from batchctl.domain.text import in_short
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, Finished, Report, Transactions
from batchctl.store import history

SHORT = 0.1
"""Seconds within which many attempts end: what has not run for longer needs no transaction for its process alone."""


@dataclass(slots=True)
class Notes:
    """What one controller has to write of the processes of its attempts, and of the late ends of those it gave up."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    _unwritten: list[tuple[Report, int]] = field(default_factory=list)
    """What is not written yet, each with its claim token."""
    _since: float = math.inf
    """Since when there is something to write."""
    _met_lock: bool = False
    _tried_at: float = -math.inf
    """When it was last tried to write what met a lock."""

    def write(self, flights: InFlight) -> None:
        """Write what is new of attempts under way, unless they may end at once, and once in a while what met a lock.

        An attempt that has ended needs no note of its process: its end says the same.
        """
        late = flights.take_late()
        known = (*self._unwritten, *flights.take_spawned(), *late)
        notes = [note for note in known if isinstance(note[0], Finished) or note[0].key in flights]
        self._unwritten = notes
        now = self.clock.monotonic()
        self._since = min(self._since, now) if notes else math.inf
        if (now - self._since < SHORT and not late) or (self._met_lock and not self._is_time):
            return
        self._tried_at = now
        try:
            self._unwritten = self.transactions.run(frozenset({Boundary.SPAWNED}), self._write, nowait=True)
            self._met_lock = bool(self._unwritten)
            self._since = now if self._unwritten else math.inf
        except Conflict:
            self._met_lock = True
        except (Busy, DatabaseRefused):
            raise
        except Exception as error:  # noqa: BLE001 - a note about a process must not end the controller
            self._unwritten = []
            self.listener(Event("controller.trouble", {"Message": in_short(error)}))

    @property
    def _is_time(self) -> bool:
        return self.clock.monotonic() - self._tried_at >= LOCKED_LOOK.total_seconds()

    def _write(self, connection: Any) -> list[tuple[Report, int]]:
        """Write all, or once a lock was met those that are free; return the rest."""
        keys = [report.key for report, _ in self._unwritten]
        free = history.free(connection, keys) if self._met_lock else keys
        for report, token in self._unwritten:
            if report.key not in free:
                continue
            if isinstance(report, Finished):
                now = self.clock.now()
                history.note_late(connection, report.key, token, late_result(report, now), now)
            else:
                history.record_spawned(connection, report.key, token, report.identity)
        return [note for note in self._unwritten if note[0].key not in free]
