"""The instances of a batch in line, in order of creation: those that may start, or keep later ones from starting.

They are read page by page. What is asked about a batch goes out together, where the database takes it so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from heapq import merge
from operator import attrgetter

from sqlalchemy import Connection

from batchctl.domain.operators.pools import Pools
from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance, InstanceId
from batchctl.domain.status import OnFailure
from batchctl.domain.values import value
from batchctl.store import instances, limits
from batchctl.store.limits import Room

FIRST_PAGE = 2
"""How many instances in line are read at least while looking for those that may start; each page is twice the last."""

MANY_DEFERRED = 100
"""When so many instances have waited for their time, the next one is first looked for near the head of its batch."""
NEAR = 500
"""How many instances in line are looked at there.

After an outage nearly all of thousands are due: so each claim finds the next without reading the numbers of all.
"""
MOST_NUMBERED = 10_000
"""While fewer than this have waited for their time, the order of creation is made here, out of their numbers.

One number costs about half a microsecond, and one instance that is read over a tenth.
"""

_BY_CREATION = attrgetter("instance_id")


@value
class Claimable:
    """What is seen of a batch that no other controller claims from until the end of the transaction."""

    room: Room
    line: Line


def lock_and_look(
    connection: Connection,
    batch: BatchDefinition,
    batches: Mapping[BatchId, BatchDefinition],
    limit: int | None,
    now: datetime,
    page: int,
    pools: Pools,
) -> Claimable | None:
    """Lock a batch as `limits.lock` does and look what may be claimed of it then; None when another controller does."""
    is_locked = limits.ask_to_lock(connection, batch, limit, pools)
    room, line = limits.ask_room(connection, batches, limit, now, pools), Line(connection, batch, now, page)
    line.ask()
    return Claimable(room(), line) if is_locked() else None


@dataclass(slots=True)
class Line:
    """The line of one batch at one moment; a walk along it reads no more than it needs."""

    connection: Connection
    batch: BatchDefinition
    now: datetime
    page: int = FIRST_PAGE
    """How many instances are wanted at least."""
    _asked: Callable[[], Iterator[BatchInstance]] | None = field(default=None, init=False)

    def ask(self) -> None:
        """Send the first questions along with what was asked before."""
        self._asked = self._ask()

    def __iter__(self) -> Iterator[BatchInstance]:
        """Walk along the line from its head."""
        asked, self._asked = self._asked or self._ask(), None
        return asked()

    def _ask(self) -> Callable[[], Iterator[BatchInstance]]:
        if self.batch.on_failure is not OnFailure.CONTINUE:
            return self._ask_pages(instances.ask_in_line)
        # Where failures hold back no later instance, any number of them, and of retries not due, may stand in front.
        deferred = self._ask_deferred(MANY_DEFERRED)
        return partial(self._of_those_due, self._ask_at_once(), deferred)

    def _of_those_due(
        self, at_once: Callable[[], Iterator[BatchInstance]], deferred: Callable[[], list[InstanceId]]
    ) -> Iterator[BatchInstance]:
        """Return those that wait for no time and those whose time has come."""
        if len(numbers := deferred()) == MANY_DEFERRED:
            return self._of_many_due()
        return self._merged(at_once, numbers)

    def _of_many_due(self) -> Iterator[BatchInstance]:
        """Yield the same where many have waited for their time: first those near the head, then by number.

        An index has them in order of that time, so that all the numbers are needed to tell who was created first. Where
        these are too many, whatever stands in front is read too.
        """
        last = 0
        for one in self._ask_pages(partial(instances.ask_near, now=self.now, among=NEAR))():
            last = one.instance_id
            yield one
        numbers = self._ask_deferred(MOST_NUMBERED)()
        if len(numbers) < MOST_NUMBERED:
            behind = [number for number in numbers if number > last]
            yield from self._merged(self._ask_at_once(last), behind)
        else:
            yield from self._ask_pages(partial(instances.ask_due, now=self.now), last)()

    def _merged(
        self, at_once: Callable[[], Iterator[BatchInstance]], numbers: Sequence[InstanceId]
    ) -> Iterator[BatchInstance]:
        """Merge the instances that wait for no time with those of the numbers, in order of creation."""
        return merge(at_once(), self._load(sorted(numbers)), key=_BY_CREATION) if numbers else at_once()

    def _load(self, numbers: Sequence[InstanceId]) -> Iterator[BatchInstance]:
        """Load instances by their numbers as they are wanted, in pages of which each is twice as long as the last."""
        start, most = 0, max(self.page, FIRST_PAGE)
        while page := numbers[start : start + min(most, instances.MOST_LOADED)]:
            yield from instances.these(self.connection, page)
            start, most = start + len(page), most * 2

    def _ask_deferred(self, most: int) -> Callable[[], list[InstanceId]]:
        return instances.ask_deferred(self.connection, self.batch.batch_id, most, self.now)

    def _ask_at_once(self, after: int = 0) -> Callable[[], Iterator[BatchInstance]]:
        return self._ask_pages(instances.ask_at_once, after)

    def _ask_pages(
        self, ask: Callable[..., Callable[[], list[BatchInstance]]], after: int = 0
    ) -> Callable[[], Iterator[BatchInstance]]:
        """Ask for the first page; those that follow, each twice as long, are asked for when they are wanted."""
        ask = partial(ask, self.connection, self.batch.batch_id)
        first = ask(after=after, most=max(self.page, FIRST_PAGE))

        def answer() -> Iterator[BatchInstance]:
            asked, most = first, max(self.page, FIRST_PAGE)
            while found := asked():
                yield from found
                most *= 2
                asked = ask(after=found[-1].instance_id, most=most)

        return answer
