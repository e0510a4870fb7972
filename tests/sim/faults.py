"""Where faults strike: every commit, and every call of the runner, of every program."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, NoReturn

from batchctl.ports import Boundary
from tests.sim.script import Fault, Kind

if TYPE_CHECKING:
    from tests.sim.clock import HostClock
    from tests.sim.world import World


class Crashed(BaseException):
    """The program's process has died here."""


class ConnectionLost(sqlite3.OperationalError):
    """The connection to the database is gone."""


def _busy() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorname = "SQLITE_BUSY"
    return error


class Actor:
    """Whoever uses the database: a worker, or a person."""

    clock: HostClock

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.dead = False
        self.session = 0
        self.commits = 0
        self.armed: list[Fault] = []
        self._fault: Fault | None = None
        """What is in store for the transaction under way."""
        self._boundaries: Collection[str] = ()
        self._stays_locked = 0
        """How often the transaction still finds the database locked."""

    def arrive(self, boundaries: Collection[str]) -> None:
        """Come to a transaction."""
        self.stay_alive()
        fault = self._next_at(boundaries)
        self._freeze_or_crash(fault, Kind.FREEZE_BEFORE, Kind.CRASH_BEFORE)
        self._fault, self._boundaries = fault, boundaries
        self._stays_locked = 1000 if self._meets(Kind.LOCKED) else 0

    def leave(self) -> None:
        """Have committed, and learned it."""
        fault, self._fault = self._fault, None
        self._freeze_or_crash(fault, Kind.FREEZE_AFTER, Kind.CRASH_AFTER)

    def begin(self) -> None:
        """Ask the database to begin."""
        self.stay_alive()
        if self._stays_locked > 0:
            self._stays_locked -= 1
            self._keep_out()
        if self._meets(Kind.LOST):
            self.lose_connection()

    def commit(self, raw: Any) -> None:
        """Ask the database to commit; what is lost meanwhile was committed or was not."""
        if self._meets(Kind.BUSY):
            # Another was faster: all of it has to be done again.
            self._fault = None
            self._keep_out()
        if self._meets(Kind.UNKNOWN_NOT_MADE):
            raw.execute("ROLLBACK")
            self.lose_connection()
        self.world.time.seconds += self.world.options.commit_takes
        raw.execute("COMMIT")
        self.commits += 1
        self.world.committed(self, self._boundaries)
        if self._meets(Kind.UNKNOWN_MADE):
            self.lose_connection()

    def _keep_out(self) -> NoReturn:
        """Let another be in the way; who fires schedules may go by the moment at which that began."""
        if Boundary.SCHEDULE in self._boundaries:
            self.world.kept_out[self.name].append(self.clock.now())
        raise _busy()

    def _meets(self, kind: Kind) -> bool:
        return self._fault is not None and self._fault.kind is kind

    def reach_database(self) -> None:
        """Have a connection, unless the database is away."""
        self.stay_alive()
        if self.world.time.seconds < self.world.away_until:
            self.lose_connection()

    def lose_connection(self) -> None:
        """Lose the connection."""
        self.session += 1
        raise ConnectionLost("the connection is gone")

    def call(self, port: str) -> None:
        """Come to a call of a port."""
        self.stay_alive()
        self._freeze_or_crash(self._next_at((port,)), Kind.FREEZE_BEFORE, Kind.CRASH_BEFORE)

    def stay_alive(self) -> None:
        """Do nothing more when dead, whatever `finally` blocks would like."""
        if self.dead:
            raise Crashed

    def _next_at(self, places: Collection[str]) -> Fault | None:
        for armed in (self.armed, self.world.armed_for(self)):
            for fault in armed:
                if fault.at in places:
                    armed.remove(fault)
                    self.world.happened[f"{fault.kind}"] += 1
                    return fault
        return None

    def _freeze_or_crash(self, fault: Fault | None, freeze: Kind, crash: Kind) -> None:
        if fault is None:
            return
        if fault.kind is crash:
            raise Crashed
        if fault.kind is freeze:
            self.world.play(fault.meanwhile, frozen=self)
            self.stay_alive()
