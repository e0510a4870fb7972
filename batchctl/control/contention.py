"""What others keep locked: tried again soon, and announced once it lasts."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from batchctl.control.attempts import WrittenTurn
from batchctl.domain.rows import InstanceId
from batchctl.logs import Event, EventValue, Listener
from batchctl.ports import Clock, Transactions
from batchctl.store import instances

LOCKED_LOOK = timedelta(seconds=1)
"""How soon something that somebody else keeps locked is tried again, and for how long the lock is not announced."""


@dataclass(slots=True)
class Locks:
    """What others keep locked: since when, and whether that was announced. Any key may stand for what is locked."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    _since: dict[Hashable, float] = field(default_factory=dict)
    announced: dict[Hashable, str] = field(default_factory=dict)
    """What was announced of those that last."""

    def __bool__(self) -> bool:
        """Say whether anything was locked when it was last met."""
        return bool(self._since)

    def __contains__(self, what: Hashable) -> bool:
        """Say whether something was locked when it was last met."""
        return what in self._since

    def has_announced(self, what: Hashable) -> bool:
        """Say whether it was announced that something is locked."""
        return what in self.announced

    def meet(self, what: Hashable, since: float | None = None) -> bool:
        """Take note that something is locked, now or since then; true once, when it lasts and is to be announced."""
        now = self.clock.monotonic()
        lasts = now - self._since.setdefault(what, now if since is None else since) >= LOCKED_LOOK.total_seconds()
        if not lasts or what in self.announced:
            return False
        self.announced[what] = ""
        return True

    def lasts(self, what: Hashable, length: timedelta) -> bool:
        """Say whether something has been locked for so long."""
        now = self.clock.monotonic()
        return now - self._since.get(what, now) >= length.total_seconds()

    def free(self, *these: Hashable) -> bool:
        """Take note of what is free; true when it was announced of any of it that it is locked."""
        if not self._since:
            return False
        was_told = not self.announced.keys().isdisjoint(these)
        for what in these:
            self.announced.pop(what, None)
            self._since.pop(what, None)
        return was_told

    def keep(self, still_locked: Collection[Hashable]) -> None:
        """Take note that everything else is free."""
        self.free(*(self._since.keys() - set(still_locked)))

    def tell(self, what: Hashable, event: str, fields: Mapping[str, EventValue], named: str) -> None:
        """Announce what is locked, and by whom."""
        self.say(what, Event(event, {**fields, "Message": self.by_whom(named)}))

    def by_whom(self, named: str) -> str:
        """Return a sentence that names what is locked and who locks it."""
        with self.transactions.read() as connection:
            return f"{named} is locked by {instances.blocker(connection)}"

    def say(self, what: Hashable, event: Event) -> None:
        """Announce an event about something that is locked, and remember it for as long as the lock lasts."""
        self.announced[what] = str(event.fields["Message"])
        self.listener(event)


@dataclass(slots=True)
class Contention:
    """The locks of others that one controller has met as it moved instances."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    are_new: bool = False
    """True while any has not lasted long enough to be announced: most are another controller's, gone in a moment."""
    is_wary: bool = False
    """True while it is known that others keep rows locked: transactions look for locks first."""
    _instances: Locks = field(init=False)
    """Instances whose rows are locked."""
    _batches: Locks = field(init=False)
    """Batches from which nothing can be claimed."""

    def __post_init__(self) -> None:
        """Know of no locks yet."""
        self._instances = Locks(self.transactions, self.clock, self.listener)
        self._batches = Locks(self.transactions, self.clock, self.listener)

    @property
    def locked(self) -> dict[str, str]:
        """Return what was announced of those that last, by the name of what is locked."""
        batches = {f"batch {name}": said for name, said in self._batches.announced.items()}
        return batches | {f"BatchControl {number}": said for number, said in self._instances.announced.items()}

    def take_note(self, written: WrittenTurn) -> bool:
        """Take note of the locks that a transaction has met, and announce those that last; true when there were any."""
        if not (self._instances or self._batches or written.locked or written.contended):
            self.are_new = False
            return False
        moved = [attempt.instance for attempt in written.starts] + [told.instance for told in written.announced]
        self._instances.free(*(instance.instance_id for instance in moved))
        locked = dict(written.locked)
        self._tell_locked(locked)
        self._tell_contended(written.contended)
        self.are_new = not (
            all(map(self._instances.has_announced, locked)) and all(map(self._batches.has_announced, written.contended))
        )
        return bool(locked or written.contended)

    def _tell_locked(self, locked: Mapping[InstanceId, str]) -> None:
        for instance_id, message in locked.items():
            if self._instances.meet(instance_id):
                fields: Mapping[str, EventValue] = {"BatchControl_id": instance_id, "Message": message}
                self._instances.say(instance_id, Event("instance.locked", fields))

    def _tell_contended(self, names: frozenset[str]) -> None:
        self._batches.keep(names)
        for name in sorted(names):
            if self._batches.meet(name):
                what = "nothing of it can be claimed: the row of the batch, or of what limits it,"
                self._batches.tell(name, "batch.locked", {"ProcessBatchName": name}, what)
