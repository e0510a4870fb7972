"""A duty of the leader: reporting waits that take too long, and starting what another definition has made whole."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from batchctl.domain.dependencies.waits import Wait
from batchctl.domain.errors import BatchctlError
from batchctl.domain.status import InstanceStatus, SchedulerEvent
from batchctl.domain.text import in_short, storable, visible
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Change, Clock, Transactions
from batchctl.store import Connection, instances, scheduler_log
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import completions, dependencies
from batchctl.store.scheduler_log import LogSource

MOST = 1000
"""How many waits are looked at at once."""

UNSEEN = timedelta(minutes=1)
"""For how long after a dependency was registered to look for completions that did not see it yet."""

_BOUNDARIES = frozenset({Boundary.INTAKE})


@dataclass(slots=True)
class DependencyWatch:
    """Looks at batches that wait for others. The completion of the last of a set starts it; this is for the rest."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    interval: timedelta
    _looked_at: float | None = None
    _at: int = 0
    """Behind which completion the next look begins."""

    name: ClassVar[str] = "dependencies"
    is_busy: ClassVar[bool] = False

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Look once in a while, at some of what waits; the next time at what follows."""
        now = self.clock.monotonic()
        if self._looked_at is not None and now - self._looked_at < self.interval.total_seconds():
            return False
        self._looked_at = now
        return self._offer_missed() | self._look_on()

    def finish(self) -> bool:
        """Look at all of it at once."""
        self._at = 0
        started = self._offer_missed() | self._look_on()
        while self._at:
            started |= self._look_on()
        return started

    def _offer_missed(self) -> bool:
        """Offer what completed while the dependency on it was being registered: its completion did not see that."""
        with self.transactions.read() as connection:
            missed = completions.missed(connection, self.clock.now() - UNSEEN, MOST)
            batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)} if missed else {}

        def offer(connection: Connection) -> bool:
            now, found = self.clock.now(), [instances.load(connection, each) for each in missed]
            completed = [one for one in found if one is not None and one.status is InstanceStatus.COMPLETE]
            return bool(dependencies.offer_singly(connection, completed, batches, now))

        return bool(missed) and self.transactions.run(_BOUNDARIES, offer, nowait=True)

    def _look_on(self) -> bool:
        with self.transactions.read() as connection:
            found = completions.waiting(connection, MOST, self._at)
            self._at = found[-1].first if len(found) == MOST else 0
            if not found:
                return False
            batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
            waits = dependencies.reasons_of(connection, batches, found, self.clock.now())
            ready = [wait for wait in waits if dependencies.is_ready(connection, wait.batch, wait.cycle_key)]
        for wait in waits:
            if wait.announced is None and wait not in ready and wait.is_overdue(self.clock.now()):
                self._tell(wait)
        started = [self._start(wait, batches) for wait in ready]
        return any(started)

    def _start(self, wait: Wait, batches: dependencies.Batches) -> bool:
        """Start what is whole; an error of one keeps no other from being started."""

        def start(connection: Connection) -> bool:
            return bool(dependencies.start(connection, wait.batch, wait.cycle_key, batches, self.clock.now()))

        try:
            return self.transactions.run(_BOUNDARIES, start, nowait=True)
        except BatchctlError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one batch and the next
            said = storable(f"{_named(wait)} cannot be started, and is tried again: {in_short(error)}")
            self.listener(Event("dependency.trouble", {"ProcessBatchName": wait.batch.name, "Message": said}))
            return False

    def _tell(self, wait: Wait) -> None:
        """Report once that a batch waits for too long; it still starts when what is missing comes after all."""
        said = f"{_named(wait)} has waited since {wait.since:%Y-%m-%d %H:%M} UTC: {wait.reason}"

        def note(connection: Connection) -> bool:
            now = self.clock.now()
            is_first = completions.set_overdue(connection, wait.first, now)
            if is_first:
                about = LogSource(dependencies.SOURCE, wait.batch.entity)
                batch_id = wait.batch.batch_id
                scheduler_log.add(connection, SchedulerEvent.ERROR, about, now, said, batch_id=batch_id)
            return is_first

        if self.transactions.run(_BOUNDARIES, note, nowait=True):
            self.listener(Event("dependency.overdue", {"ProcessBatchName": wait.batch.name, "Message": said}))


def _named(wait: Wait) -> str:
    cycle = "without CycleKey" if wait.cycle_key is None else f"for {visible(wait.cycle_key)}"
    return f"{visible(wait.batch.name)} {cycle}"
