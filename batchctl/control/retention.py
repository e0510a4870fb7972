"""A duty of the leader: what is over goes, as `Setting` says; it follows everything else, and nothing waits for it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from batchctl.domain.errors import BatchctlError, Conflict
from batchctl.domain.retention import Rules, rules_of
from batchctl.domain.text import storable, visible
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import audit, purging
from batchctl.store.columns import NAME_LENGTH
from batchctl.store.purging import Page

EVERY = timedelta(hours=1)
"""How long after a pass the next one begins."""
FEWEST, MOST = 20, 1000
"""Rows of a page."""
AIM = 0.05
"""Seconds that a page should take: whatever is under way waits for so long."""
REST = 3
"""How many times as long as a page took nothing is purged after it."""
LIMIT = timedelta(seconds=10)
"""For how long a single round of the controller purges; the next one goes on."""
PATIENCE = 10
"""How often a page is tried of which somebody keeps a row locked; then the next pass does it."""

_BOUNDARIES = frozenset({Boundary.PURGE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Rows that go by their age: how to read a page of them, and to delete what may go of it."""

    table: str
    before: datetime
    read: Callable[[Any, int, datetime, int], Page]
    delete: Callable[[Any, Page, datetime], int]


@dataclass(slots=True)
class Retention:
    """Looks once in a while for what is old enough, and deletes it page by page, each in a transaction of its own."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    actor: str
    host: str
    interval: timedelta = EVERY
    _pages: Iterator[int] | None = None
    """The pass under way; it yields after each page how many rows are gone."""
    _most: int = FEWEST
    _next: float = -math.inf
    """When, by one's own clock, there is something to do again."""
    _known: set[str] = field(default_factory=set)
    _met: set[str] = field(default_factory=set)
    """The troubles of the pass before, which have been told, and of this one."""

    name: ClassVar[str] = "retention"
    is_busy: ClassVar[bool] = False

    def look(self) -> bool:
        """Purge one page, if it is time."""
        before = self.clock.monotonic()
        if before >= self._next and not self._step():
            took = self.clock.monotonic() - before
            self._next = self.clock.monotonic() + REST * took
        return False

    def finish(self) -> bool:
        """Purge all that there is, or for as long as a single round may take."""
        until = self.clock.monotonic() + LIMIT.total_seconds()
        while not self._step() and self.clock.monotonic() < until:
            pass
        return False

    def _step(self) -> bool:
        """Purge one page; true when nothing more is to be done for a while."""
        if self._pages is None:
            self._pages = self._pass()
        if next(self._pages, None) is not None:
            return False
        self._pages = None
        self._next = self.clock.monotonic() + self.interval.total_seconds()
        return True

    def _pass(self) -> Iterator[int]:
        self._known, self._met = self._met, set()
        try:
            with self.transactions.read() as connection:
                rules = rules_of(purging.settings(connection))
        except BatchctlError as error:
            self._tell("Setting", error.message)
            return
        for mistake in rules.mistakes:
            self._tell(f"Setting {visible(mistake.name)}", mistake.message)
        for kind in self._kinds(rules):
            yield from self._purge(kind)

    def _kinds(self, rules: Rules) -> Iterator[Kind]:
        now = self.clock.now()
        if rules.scheduler_log is not None:
            before = now - rules.scheduler_log
            yield Kind(table="SchedulerLog", before=before, read=purging.log_page, delete=purging.delete_log)
        if rules.audit_log is not None:
            before = now - rules.audit_log
            yield Kind(table="AuditLog", before=before, read=purging.audit_page, delete=self._delete_audit)

    def _purge(self, kind: Kind) -> Iterator[int]:
        """Purge the rows of one kind; whatever keeps them from that keeps no other."""
        after, gone, patience = 0, 0, PATIENCE
        while True:
            began = self.clock.monotonic()
            try:
                page, deleted = self._page(kind, after)
            except Conflict:
                patience -= 1
                if not patience:
                    break
                yield 0
                continue
            except Exception as error:  # noqa: BLE001 - the boundary between one table and the next
                said = error.message if isinstance(error, BatchctlError) else f"{type(error).__name__}: {error}"
                self._tell(kind.table, said)
                break
            self._keep_pace(self.clock.monotonic() - began)
            gone, after = gone + deleted, page.up_to
            yield deleted
            if page.is_last:
                break
        if gone:
            self.listener(Event("retention.purged", {"Table": kind.table, "Rows": gone}))

    def _page(self, kind: Kind, after: int) -> tuple[Page, int]:
        with self.transactions.read() as connection:
            page = kind.read(connection, after, kind.before, self._most)
        if not page.old:
            return page, 0
        # Whoever waited for a lock would keep the steps waiting.
        delete = self.transactions.run(
            _BOUNDARIES, lambda connection: kind.delete(connection, page, kind.before), hurried=True
        )
        return page, delete

    def _delete_audit(self, connection: Any, page: Page, before: datetime) -> int:
        """Delete with a trace: how many acts are gone is an act of its own."""
        gone = purging.delete_audit(connection, page, before)
        if gone:
            audit.add(
                connection,
                actor=self.actor,
                host=self.host,
                action="purge",
                target="AuditLog",
                reason=None,
                before=json.dumps({"Rows": gone, "AuditLog_id": page.up_to}),
                after=None,
                now=self.clock.now(),
            )
        return gone

    def _keep_pace(self, took: float) -> None:
        if took > AIM:
            self._most = max(FEWEST, self._most // 2)
        elif took < AIM / 4:
            self._most = min(MOST, self._most * 2)

    def _tell(self, what: str, message: str) -> None:
        """Tell what cannot be purged, once, until it was possible again or something else is the matter."""
        said = storable(f"{what}: {message}")
        self._met.add(said)
        if said not in self._known:
            self.listener(Event("retention.trouble", {"Table": what[:NAME_LENGTH], "Message": said}))
