"""Leading: a lease in a row that every controller can see, renewed with each sign of life, and a fence for all writes."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from batchctl.control.contention import Locks
from batchctl.domain.errors import Conflict, NotLeading
from batchctl.domain.leader import Lead, lease_of
from batchctl.domain.liveness import Rhythm
from batchctl.domain.locked_rows import LEAD
from batchctl.domain.status import ControllerStatus
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Change, Clock, Notify, Transactions
from batchctl.store import Connection, controllers, leading

Result = TypeVar("Result")


@dataclass(slots=True)
class Leadership:
    """One controller's part in it."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    name: str
    rhythm: Rhythm
    _fence: int | None = None
    _until: float = -math.inf
    """Until when, by this program's clock, no other controller can lead."""
    _tried_at: float = -math.inf
    _led_at: float = math.inf
    """When, by this program's clock, any controller was last seen leading."""
    _locks: Locks = field(init=False)
    """Whether somebody keeps the leader's row locked."""

    def __post_init__(self) -> None:
        """Start without knowing of any lock."""
        self._locks = Locks(self.transactions, self.clock, self.listener)

    @property
    def locked(self) -> dict[str, str]:
        """Return what was announced of the lock that keeps this controller from leading."""
        return {str(what): said for what, said in self._locks.announced.items()}

    def meet_lock(self) -> None:
        """Take note that somebody keeps the row locked; announce once that it lasts."""
        if self._locks.meet(LEAD):
            self._locks.tell(
                LEAD, "controller.locked", {"ClaimedBy": self.name}, "no controller can lead: row 1 of table Leader"
            )

    @property
    def holds(self) -> bool:
        """Say whether this controller leads, and no other can."""
        return self._fence is not None and self.clock.monotonic() < self._until

    @property
    def is_to_be_kept(self) -> bool:
        """Say whether each sign of life renews the lease."""
        return self._fence is not None

    @property
    def is_vacant(self) -> bool:
        """Say whether no controller has led for longer than a lease, although this one would."""
        return self.clock.monotonic() - self._led_at > lease_of(self.rhythm.heartbeat_interval).total_seconds()

    def seek(self) -> bool:
        """Lead, if no other controller does; tried once in a while."""
        if self.holds:
            return True
        self._fence = None
        sent = self.clock.monotonic()
        if sent - self._tried_at < self.rhythm.heartbeat_interval.total_seconds():
            return False
        self._tried_at = sent
        self._led_at = min(self._led_at, sent)
        with self.transactions.read() as connection:
            if not self._is_free(connection, leading.load(connection)):
                self._led_at = sent
                self._locks.free(LEAD)
                return False
        try:
            found = self.transactions.run(frozenset({Boundary.HEARTBEAT}), self._take, nowait=True)
        except Conflict:
            self.meet_lock()
            return False
        self._locks.free(LEAD)
        if found is None:
            return False
        before, self._fence = found
        self._until = sent + lease_of(self.rhythm.heartbeat_interval).total_seconds()
        self._led_at = math.inf
        if before.controller is not None:
            self.listener(Event("controller.deposed", {"ClaimedBy": before.controller}))
        return True

    def renew(self, connection: Connection) -> bool:
        """Lead for longer if this controller leads, in the transaction of its sign of life; say whether it does."""
        if self._fence is None:
            return False
        now = self.clock.now()
        return leading.keep(connection, self.name, self._fence, now + lease_of(self.rhythm.heartbeat_interval), now)

    def renewed(self, sent: float, *, kept: bool) -> None:
        """Take note of the outcome of that, once it is committed."""
        if kept:
            self._locks.free(LEAD)
            self._until = sent + lease_of(self.rhythm.heartbeat_interval).total_seconds()
        else:
            self._fence = None

    def release(self) -> None:
        """Let another lead at once; wait no longer than a moment for locks."""
        fence, self._fence = self._fence, None
        if fence is not None:
            leave = partial(self._leave, fence)
            self.transactions.run(frozenset({Boundary.HEARTBEAT}), leave, nowait=True)

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Connection], Result], *, nowait: bool) -> Result:
        """Run a transaction of which nothing is committed when another controller leads by then."""

        def guarded(connection: Connection) -> Result:
            asked = leading.ask_fence(connection)
            result = work(connection)
            self._check(asked.take())
            return result

        return self.transactions.run(boundaries, guarded, nowait=nowait)

    def _check(self, fence: int | None) -> None:
        if self._fence is None or fence != self._fence:
            self._fence = None
            message = (
                f"Controller {self.name} does not lead any more: what it was about to write as leader is not written."
            )
            raise NotLeading(message, next_step="batchctl controllers")

    def _take(self, connection: Connection) -> tuple[Lead, int] | None:
        found, now = leading.load_or_make(connection), self.clock.now()
        if not self._is_free(connection, found):
            return None
        fence = leading.take(connection, found, self.name, now + lease_of(self.rhythm.heartbeat_interval), now)
        return None if fence is None else (found, fence)

    def _is_free(self, connection: Connection, found: Lead) -> bool:
        """Say whether the lead may be taken: the lease is over, or its leader ended, was written off, or never was."""
        leader = found.leads(self.clock.now())
        if leader is None or leader == self.name:
            return True
        row = controllers.load(connection, leader)
        return row is None or row.status is not ControllerStatus.RUNNING

    def _leave(self, fence: int, connection: Connection) -> None:
        leading.leave(connection, self.name, fence, self.clock.now())


@dataclass(frozen=True, slots=True)
class LeadersTransactions:
    """The `Transactions` of what only the leader does: nothing of it is written once another one leads."""

    transactions: Transactions
    leadership: Leadership

    def read(self) -> AbstractContextManager[Any]:
        """Lend a connection for reading."""
        return self.transactions.read()

    def run(
        self, boundaries: frozenset[Boundary], work: Callable[[Connection], Result], *, nowait: bool = False
    ) -> Result:
        """Run `work` in one write transaction and commit it, if this controller leads still."""
        return self.leadership.run(boundaries, work, nowait=nowait)

    def changed(self) -> Change:
        """Say what anybody else may have written since this was last asked."""
        return self.transactions.changed()

    def notify(self) -> Notify | None:
        """Return what notifies when `changed` would be true."""
        return self.transactions.notify()
