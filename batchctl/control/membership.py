"""Being one of several controllers: the row that says so, its sign of life, and how far the controller may trust it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from batchctl.control.contention import LOCKED_LOOK, Locks
from batchctl.control.leadership import Leadership
from batchctl.domain.commands import Identity
from batchctl.domain.errors import Conflict
from batchctl.domain.liveness import Rhythm
from batchctl.domain.plugins import Plugins
from batchctl.domain.rows import DEFAULT_POOL
from batchctl.domain.status import ControllerStatus
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, PoolOfAgents, Transactions
from batchctl.store import Connection, controllers, pool_rows

REMEMBERED = timedelta(days=7)
"""How long a controller that has ended stays listed."""

TRIES = 20
"""How often to try to begin with nowait, whatever the clock says, before waiting for locks."""


@dataclass(slots=True)
class Membership:
    """One controller's row."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    name: str
    host: str
    process: Identity
    slots: int
    version: str
    rhythm: Rhythm
    scheduler_zone: str | None
    """By which time zone it fires schedules that name none of their own; None when it fires none."""
    left_out: str | None = None
    """The message about plugin modules that it works without; None when it has them all."""
    plugins: Plugins | None = None
    """What it has installed; None where no other controller is to rely on that."""
    pools: frozenset[str] = frozenset({DEFAULT_POOL})
    """The pools that it serves."""
    agents: Mapping[str, PoolOfAgents] = field(default_factory=dict)
    """Those of them whose steps agents carry."""
    lease_until: float = 0.0
    """Until when, by this program's clock, no other controller can have taken this one for dead."""
    _seq: int = 0
    _due_at: float = 0.0
    """When, by this program's clock, the next sign of life is to be given."""
    _written: Mapping[str, str] = field(default_factory=dict)
    """By pool, what was written last of its agents."""
    _locks: Locks = field(init=False)
    """Whether somebody keeps this controller's row locked."""

    def __post_init__(self) -> None:
        """Start without knowing of any lock."""
        self._locks = Locks(self.transactions, self.clock, self.listener)

    def begin(self) -> None:
        """Enter the controller before anything is claimed, and forget those that ended long ago.

        Wait for locks of others; announce a lasting lock before the long wait.
        """
        began = self.clock.monotonic()
        for _ in range(TRIES):
            if self._begin(nowait=True):
                return
            if self._locks.meet(self.name, began):
                what = "this controller cannot begin: table Controller, or a row of it,"
                self._locks.tell(self.name, "controller.locked", {"ClaimedBy": self.name}, what)
                break
        self._begin(nowait=False)

    def _begin(self, *, nowait: bool) -> bool:
        def enter(connection: Connection) -> None:
            now = self.clock.now()
            controllers.forget(connection, now - REMEMBERED)
            self._enter(connection, seen)

        sent, seen = self.clock.monotonic(), self._seen()
        try:
            self.transactions.run(frozenset({Boundary.HEARTBEAT}), enter, nowait=nowait)
        except Conflict:
            return False
        self._written = seen
        self._arrived(sent)
        return True

    @property
    def is_due(self) -> bool:
        """Say whether it is time for a sign of life."""
        return self.due_in is None

    @property
    def due_in(self) -> timedelta | None:
        """Return how long there is nothing to do here; None when a sign of life is due."""
        left = self._due_at - self.clock.monotonic()
        return timedelta(seconds=left) if left > 0 else None

    def beat(self, leadership: Leadership | None = None, *, failure: str | None = None) -> bool:
        """Give a sign of life; true when the last one is so old that others may have taken over.

        It renews the lease if this controller leads, says what keeps it from its work, and what is new of its agents.

        When somebody keeps the row locked, wait for a moment only, and be due again a little later.
        """
        sent = self.clock.monotonic()
        was_trusted = self.is_trusted()
        # A number that may have been written already is no sign of life.
        self._seq += 1
        seen = self._seen()
        changed = {name: one for name, one in seen.items() if one != self._written.get(name)}

        def beat(connection: Connection) -> tuple[bool, bool]:
            kept = leadership is not None and leadership.renew(connection)
            found = controllers.load(connection, self.name)
            if found is None or not controllers.beat(connection, self.name, self._seq, self.clock.now(), failure):
                self._enter(connection, seen, self._seq)
            else:
                pool_rows.write_agents(connection, found.row_id, changed)
            return found is None or found.status is not ControllerStatus.RUNNING, kept

        try:
            was_given_up, kept = self.transactions.run(frozenset({Boundary.HEARTBEAT}), beat, nowait=True)
        except Conflict:
            if leadership is not None and leadership.is_to_be_kept:
                return self._beat_alone(leadership, failure)
            self._meet_lock()
            return False
        self._written = seen
        self._arrived(sent)
        if leadership is not None:
            leadership.renewed(sent, kept=kept)
        if was_given_up:
            self.listener(Event("controller.fenced", {"ClaimedBy": self.name}))
        return was_given_up or not was_trusted

    def _beat_alone(self, leadership: Leadership, failure: str | None) -> bool:
        """Give a sign of life without renewing the lead, which may be what somebody keeps locked; try both soon."""
        is_old = self.beat(failure=failure)
        if self.name not in self._locks:
            leadership.meet_lock()
            self._due_at = self.clock.monotonic() + self._soon
        return is_old

    def is_trusted(self) -> bool:
        """Say whether no other controller can have taken this one for dead."""
        return self.clock.monotonic() < self.lease_until

    def end(self) -> None:
        """Write that this controller has ended by itself; a `Conflict` when somebody's lock is in the way.

        No lock keeps a controller from ending: the others find out by themselves.
        """

        def leave(connection: Connection) -> None:
            controllers.set_status(connection, self.name, ControllerStatus.STOPPED, self.clock.now())

        self.transactions.run(frozenset({Boundary.HEARTBEAT}), leave, nowait=True)

    def _arrived(self, sent: float) -> None:
        self.lease_until = sent + self.rhythm.lease.total_seconds()
        self._due_at = sent + self.rhythm.heartbeat_interval.total_seconds()
        if self._locks.free(self.name):
            self.listener(Event("controller.resumed"))

    def _meet_lock(self) -> None:
        """Try again a little later; announce once that the lock lasts."""
        self._due_at = self.clock.monotonic() + self._soon
        if self._locks.meet(self.name):
            what = "no sign of life can be given: the row of this controller"
            self._locks.tell(self.name, "controller.locked", {"ClaimedBy": self.name}, what)

    @property
    def _soon(self) -> float:
        """Return in how many seconds a sign of life that met a lock is given again."""
        return min(LOCKED_LOOK, self.rhythm.heartbeat_interval / 10).total_seconds()

    def _seen(self) -> Mapping[str, str]:
        """Return by pool what is known of its agents, as it is written."""
        return {name: pool.seen().text for name, pool in self.agents.items()}

    def _enter(self, connection: Connection, seen: Mapping[str, str], seq: int = 0) -> None:
        controllers.add(
            connection,
            name=self.name,
            host=self.host,
            process=self.process,
            slots=self.slots,
            version=self.version,
            orphan_timeout=self.rhythm.orphan_timeout,
            scheduler_zone=self.scheduler_zone,
            left_out=self.left_out,
            plugins=self.plugins,
            pools=self.pools,
            agents=seen,
            seq=seq,
            now=self.clock.now(),
        )
