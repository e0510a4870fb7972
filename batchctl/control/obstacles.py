"""What others keep locked: soon tried again, and told once it lasts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from batchctl.control.attempts import Written
from batchctl.domain.rows import InstanceId
from batchctl.logs import Event, Listener
from batchctl.ports import Clock, Transactions
from batchctl.store import instances

LOCKED_LOOK = timedelta(seconds=1)
"""How soon is tried again what somebody else keeps locked, and for how long that is not worth telling."""


@dataclass(slots=True)
class Obstacles:
    """The locks of others that one controller has met."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    are_new: bool = False
    """True while any has not lasted long enough to be told: most are another controller's, and gone in a moment."""
    _instances: dict[InstanceId, float] = field(default_factory=dict)
    """Instances whose rows are locked, and since when."""
    _batches: dict[str, float] = field(default_factory=dict)
    """Batches from which nothing can be claimed, and since when."""
    _told: set[InstanceId | str] = field(default_factory=set)

    def take_note(self, written: Written) -> bool:
        """Take note of the locks that a transaction has met, and tell those that last; true when there were any."""
        moved = [attempt.instance for attempt in written.starts] + [told.instance for told in written.told]
        for instance in moved:
            self._instances.pop(instance.instance_id, None)
            self._told.discard(instance.instance_id)
        self._tell_locked(dict(written.locked))
        self._tell_contended(written.contended)
        met = {instance_id for instance_id, _ in written.locked} | written.contended
        self.are_new = bool(met - self._told)
        return bool(met)

    def _tell_locked(self, locked: Mapping[InstanceId, str]) -> None:
        for instance_id, message in locked.items():
            since = self._instances.setdefault(instance_id, self.clock.monotonic())
            if self._lasts(since) and instance_id not in self._told:
                self._told.add(instance_id)
                self.listener(Event("instance.locked", {"BatchControl_id": instance_id, "Message": message}))

    def _tell_contended(self, names: frozenset[str]) -> None:
        now = self.clock.monotonic()
        self._told -= self._batches.keys() - names
        self._batches = {name: self._batches.get(name, now) for name in names}
        for name in sorted(names - self._told):
            if self._lasts(self._batches[name]):
                self._told.add(name)
                with self.transactions.read() as connection:
                    blocker = instances.blocker(connection)
                message = (
                    f"nothing of it can be claimed: the row of the batch, or of what limits it, is locked by {blocker}"
                )
                self.listener(Event("batch.locked", {"ProcessBatchName": name, "Message": message}))

    def _lasts(self, since: float) -> bool:
        return self.clock.monotonic() - since >= LOCKED_LOOK.total_seconds()


@dataclass(slots=True)
class Locks:
    """The locks of others that were met in one look at several rows."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    _since: dict[Hashable, float] = field(default_factory=dict)
    """Which of them are met, and since when."""
    _met: set[Hashable] = field(default_factory=set)
    """Those of this look."""
    _told: set[Hashable] = field(default_factory=set)

    def __len__(self) -> int:
        """Count those of this look."""
        return len(self._met)

    def __contains__(self, column_and_value: Hashable) -> bool:
        """Say whether a row was locked at the last look."""
        return column_and_value in self._since

    def begin(self) -> None:
        """Begin a look: what the one before has not met is free."""
        self._since = {row: since for row, since in self._since.items() if row in self._met}
        self._told &= self._met
        self._met = set()

    def meet(self, event: str, column: str, value: int | str, what: str) -> None:
        """Take note of a row that is locked, and tell once that it lasts."""
        row, now = (column, value), self.clock.monotonic()
        self._met.add(row)
        since = self._since.setdefault(row, now)
        if now - since >= LOCKED_LOOK.total_seconds() and row not in self._told:
            self._told.add(row)
            with self.transactions.read() as connection:
                blocker = instances.blocker(connection)
            self.listener(
                Event(event, {column: value, "Message": f"{what}: its row, or one of its, is locked by {blocker}"})
            )
