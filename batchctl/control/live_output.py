"""What steps under way have written so far, kept in the control database so that it can be seen from any host."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from batchctl.control.in_flight import InFlight
from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseUnreachable
from batchctl.domain.live_texts import KEPT, SHOWN_EVERY, newest
from batchctl.domain.rows import HistoryId
from batchctl.domain.text import in_short, storable
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import Connection, history, step_outputs
from batchctl.store.step_outputs import WrittenPart


@dataclass(slots=True)
class _Live:
    """What one attempt has written: in the table, on its way there, and still to be sent."""

    token: int
    parts: deque[tuple[int, int]] = field(default_factory=deque)
    """The number of each part in the table, and how many bytes it has."""
    last: int = 0
    """The number of the part that was made last; where something was left out before the next, a number is, too."""
    sent: WrittenPart | None = None
    """The part of which it is not known yet that it is in the table; it is sent again as it is."""
    waiting: str = ""
    is_cut: bool = False
    """True when the beginning of what waits was left out."""

    def take(self, text: str) -> None:
        """Let a text wait; of much, the newest."""
        whole = self.waiting + storable(text)
        self.waiting = newest(whole)
        self.is_cut |= len(self.waiting) < len(whole)

    def next_part(self) -> WrittenPart | None:
        """Return what is to be sent: once more what is not known to be there, else what waits, if anything does."""
        if self.sent is None and self.waiting:
            self.last += 2 if self.is_cut else 1
            self.sent = WrittenPart(self.last, self.waiting)
            self.waiting, self.is_cut = "", False
        return self.sent

    def kept_with(self, part: WrittenPart) -> deque[tuple[int, int]]:
        """Return the parts that are kept with one more: the newest, and none from before a gap."""
        size = len(part.text.encode())
        kept, room = deque([(part.number, size)]), KEPT - size
        for number, length in reversed(self.parts):
            room -= length
            if room < 0 or number < kept[0][0] - 1:
                break
            kept.appendleft((number, length))
        return kept

    def settle(self) -> None:
        """Take note that what was sent is in the table."""
        if self.sent is not None:
            self.parts, self.sent = self.kept_with(self.sent), None


@dataclass(slots=True)
class LiveOutput:
    """Writes for one controller, all attempts at once and every now and then."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    _attempts: dict[HistoryId, _Live] = field(default_factory=dict)
    _tried_at: float = -math.inf
    """When it was last written, or tried to be."""

    def write(self, flights: InFlight) -> None:
        """Write what is new of attempts under way; what has ended is recorded in full instead."""
        for report, token in flights.take_written():
            self._attempts.setdefault(report.key, _Live(token)).take(report.text)
        self._attempts = {key: one for key, one in self._attempts.items() if flights.is_under_way(key)}
        if self.clock.monotonic() - self._tried_at < SHOWN_EVERY.total_seconds():
            return
        parts = {key: part for key, one in self._attempts.items() if (part := one.next_part()) is not None}
        if parts:
            self._send(parts)

    def _send(self, parts: dict[HistoryId, WrittenPart]) -> None:
        try:
            written = self.transactions.run(
                frozenset({Boundary.SPAWNED}), lambda connection: self._write(connection, parts), nowait=True
            )
            self._settle(written)
        except Conflict:
            pass  # Somebody locks the table or a row: the same is sent again.
        except Busy:
            raise
        except DatabaseUnreachable as error:
            # It may be there all the same: the same is sent again, and written only where it is not.
            self._tell(error.in_full)
        except BatchctlError as error:
            self._give_up(parts, error.in_full)
        except Exception as error:  # noqa: BLE001 - nothing of this may end the controller
            self._give_up(parts, in_short(error))
        finally:
            self._tried_at = self.clock.monotonic()

    def _write(self, connection: Connection, parts: dict[HistoryId, WrittenPart]) -> list[HistoryId]:
        """Write of those that still are under way under their claim: their rows stay locked, so none ends meanwhile."""
        written = []
        for key in map(HistoryId, history.free(connection, list(parts))):
            one, part = self._attempts[key], parts[key]
            if not history.is_live(connection, key, one.token):
                continue
            if step_outputs.last_number(connection, key) < part.number:
                step_outputs.add(connection, key, part, first=one.kept_with(part)[0][0])
            written.append(key)
        return written

    def _settle(self, written: Iterable[HistoryId]) -> None:
        for key in written:
            self._attempts[key].settle()

    def _give_up(self, parts: Iterable[HistoryId], message: str) -> None:
        """Leave out what the database does not take: it must not keep the ends of steps from being recorded."""
        for key in parts:
            self._attempts[key].sent = None
        self._tell(message)

    def _tell(self, message: str) -> None:
        self.listener(Event("controller.trouble", {"Message": message}))
