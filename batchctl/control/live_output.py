"""What steps under way have written so far, kept in the control database so that it can be seen from any host."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from batchctl.control.in_flight import InFlight
from batchctl.domain.errors import BatchctlError, Busy, Conflict
from batchctl.domain.live_texts import KEPT, SHOWN_EVERY, newest
from batchctl.domain.rows import HistoryId
from batchctl.domain.text import in_short, storable
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import Connection, history, step_outputs
from batchctl.store.step_outputs import WrittenPart


@dataclass(slots=True)
class _Shown:
    """What stands in the table of one attempt."""

    parts: deque[tuple[int, int]] = field(default_factory=deque)
    """The number of each part, and how many bytes it has."""

    def after(self, number: int, size: int) -> deque[tuple[int, int]]:
        """Return the parts that are kept with one more."""
        parts, room = deque([(number, size)]), KEPT - size
        for at, length in reversed(self.parts):
            room -= length
            if room < 0:
                break
            parts.appendleft((at, length))
        return parts


@dataclass(slots=True)
class LiveOutput:
    """Writes for one controller, all attempts at once and every now and then."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    _unwritten: dict[HistoryId, tuple[str, int]] = field(default_factory=dict)
    """What is not written yet of each attempt, with its claim token."""
    _shown: dict[HistoryId, _Shown] = field(default_factory=dict)
    _written_at: float = -math.inf

    def write(self, flights: InFlight) -> None:
        """Write what is new of attempts under way; what has ended is recorded in full instead."""
        for report, token in flights.take_written():
            before, _ = self._unwritten.get(report.key, ("", token))
            self._unwritten[report.key] = newest(before + storable(report.text)), token
        self._unwritten = {key: one for key, one in self._unwritten.items() if flights.is_under_way(key)}
        self._shown = {key: one for key, one in self._shown.items() if flights.is_under_way(key)}
        now = self.clock.monotonic()
        if not self._unwritten or now - self._written_at < SHOWN_EVERY.total_seconds():
            return
        self._written_at = now
        try:
            self._shown |= self.transactions.run(frozenset({Boundary.SPAWNED}), self._write, nowait=True)
        except Conflict:
            return  # Somebody locks the table or a row: the same is tried again with what comes.
        except Busy:
            raise
        except BatchctlError as error:
            # What people may look at meanwhile must not keep the ends of steps from being recorded.
            self.listener(Event("controller.trouble", {"Message": error.in_full}))
        except Exception as error:  # noqa: BLE001 - nothing of this may end the controller
            self.listener(Event("controller.trouble", {"Message": in_short(error)}))
        self._unwritten = {}

    def _write(self, connection: Connection) -> dict[HistoryId, _Shown]:
        """Write of those that still are under way under their claim: their rows stay locked, so none ends meanwhile."""
        shown = {}
        for key in history.free(connection, list(self._unwritten)):
            attempt = HistoryId(key)
            text, token = self._unwritten[attempt]
            if not history.is_live(connection, attempt, token):
                continue
            known = self._shown.get(attempt, _Shown())
            last = known.parts[-1][0] if known.parts else step_outputs.last_number(connection, attempt)
            kept = known.after(last + 1, len(text.encode()))
            step_outputs.add(connection, attempt, WrittenPart(last + 1, text), first=kept[0][0])
            shown[attempt] = _Shown(kept)
        return shown
