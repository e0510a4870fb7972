"""What others keep locked: soon tried again, and told once it lasts."""

from __future__ import annotations

from collections.abc import Mapping
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
