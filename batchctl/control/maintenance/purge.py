"""One pass through everything that is over: page by page, each in a transaction of its own, table by table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from batchctl.domain.errors import BatchctlError, Conflict, DatabaseUnreachable
from batchctl.domain.maintenance.audit_chain import LOG, NUMBERS, PURGE, in_spans
from batchctl.domain.maintenance.retention import Rules
from batchctl.domain.rows import BatchId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.text import in_short, storable, visible
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Change, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.maintenance import audit_entries, finished_instances, purging
from batchctl.store.maintenance.purging import Aging, PurgePage

FEWEST, MOST = 20, 1000
"""Rows of a page."""
AIM = 0.05
"""Seconds that a page should take: whatever is under way waits for so long."""
PATIENCE = 10
"""How often to try a page of which somebody keeps a row locked; then leave it to the next pass."""

_BOUNDARIES = frozenset({Boundary.PURGE})


@dataclass(frozen=True, slots=True)
class Deleted:
    """The outcome of a page."""

    rows: Mapping[str, int]
    """How many rows are gone, by table."""
    up_to: int
    is_last: bool


@dataclass(slots=True, kw_only=True)
class Purge:
    """Deletes what is old enough. An error in one table, or one batch, keeps it from no other."""

    transactions: Transactions
    clock: Clock
    actor: str
    host: str
    patient: bool = False
    """True where the caller may wait for a locked row; the leader's steps may not."""
    most: int = FEWEST
    """Rows of a page at present."""
    failures: list[tuple[str, str]] = field(default_factory=list)
    """What could not be purged, and why."""
    gone: Counter[str] = field(default_factory=Counter)
    """How many rows, by table."""

    def everything(self, reason: str) -> None:
        """Do all of it, for a person, who says why."""
        with self.transactions.read() as connection:
            said = {"Setting": purging.settings(connection)}
        self._run(lambda connection: self._audit(connection, "Setting", reason, said, None))
        for _ in self.pages():
            pass
        done = dict(self.gone)
        self._run(lambda connection: self._audit(connection, "Setting", reason, None, done))

    def pages(self) -> Iterator[Mapping[str, int]]:
        """Delete page after page, and yield what has gone with each."""
        try:
            rules = self._rules()
            self.failures += [(f"Setting {visible(finding.name)}", finding.message) for finding in rules.findings]
            for kind in purging.AGING:
                if kind.age(rules) is not None:
                    yield from self._all(kind.table, partial(self._by_age, kind))
            for batch_id, outcome in rules.instances:
                what = f"instances of batch {batch_id}"
                yield from self._all(what, partial(self._of_batch, batch_id, outcome))
        except DatabaseUnreachable:
            raise
        except BatchctlError as error:
            # Where not even the rules can be read, nothing can be deleted.
            self.failures.append(("Setting", error.message))

    def _rules(self) -> Rules:
        """Read the rules, before each page anew: a change of them while a pass is under way takes effect."""
        with self.transactions.read() as connection:
            return purging.rules(connection)

    def _all(self, what: str, page: Callable[[Rules, int], Deleted]) -> Iterator[Mapping[str, int]]:
        after, patience = 0, PATIENCE
        while True:
            rules, began = self._rules(), self.clock.monotonic()
            try:
                done = page(rules, after)
            except Conflict:
                patience -= 1
                if not patience:
                    return
                yield {}
                continue
            except DatabaseUnreachable:
                raise
            except Exception as error:  # noqa: BLE001 - the boundary between one table and the next
                said = error.message if isinstance(error, BatchctlError) else in_short(error)
                self.failures.append((what, storable(said)))
                return
            self._keep_pace(self.clock.monotonic() - began)
            self.gone.update({table: rows for table, rows in done.rows.items() if rows})
            after = done.up_to
            yield done.rows
            if done.is_last:
                return

    def _by_age(self, kind: Aging, rules: Rules, after: int) -> Deleted:
        age = kind.age(rules)
        if age is None:
            return Deleted({}, after, is_last=True)
        before = self.clock.now() - age
        with self.transactions.read() as connection:
            page = kind.page(connection, after, before, self.most)
        delete = kind.delete or self._delete_acts
        gone = self._run(lambda connection: delete(connection, page, before)) if page.old else 0
        return Deleted({kind.table: gone}, page.up_to, page.is_last)

    def _of_batch(self, batch_id: BatchId, outcome: InstanceStatus, rules: Rules, after: int) -> Deleted:
        now = self.clock.now()
        keep = rules.instances.get((batch_id, outcome))
        if keep is None:
            return Deleted({}, after, is_last=True)
        with self.transactions.read() as connection:
            found = finished_instances.candidates(connection, batch_id, outcome, keep, now, after=after, most=self.most)
            likely = finished_instances.leaving(connection, found.intake_ids, rules, now, locked=False)

        def delete(connection: Connection) -> Mapping[str, int]:
            going = finished_instances.leaving(connection, likely.intake_ids, rules, now, locked=True)
            return finished_instances.remove(connection, going, now)

        gone = self._run(delete) if likely.intake_ids else {}
        return Deleted(gone, found.up_to, found.is_last)

    def _run(self, work: Callable[[Connection], Any]) -> Any:
        return self.transactions.run(_BOUNDARIES, work, nowait=not self.patient)

    def _delete_acts(self, connection: Connection, page: PurgePage, before: datetime) -> int:
        """Delete with a trace: write into the log first which of its rows are deleted."""
        going = purging.old_acts(connection, page, before)
        if going:
            self._audit(connection, LOG, None, {"Rows": len(going), NUMBERS: in_spans(going)}, None)
            purging.delete_acts(connection, going)
        return len(going)

    def _audit(
        self,
        connection: Connection,
        target: str,
        reason: str | None,
        before: Mapping[str, object] | None,
        after: Mapping[str, object] | None,
    ) -> None:
        by = audit_entries.By(self.actor, self.host, self.clock.now())
        audit_entries.add(connection, by, PURGE, target, reason, before, after)

    def _keep_pace(self, took: float) -> None:
        if took > AIM:
            self.most = max(FEWEST, self.most // 2)
        elif took < AIM / 4:
            self.most = min(MOST, self.most * 2)


EVERY = timedelta(hours=1)
"""How long after a pass the next one begins."""
REST = 3
"""After a page, rest for so many times as long as the page took."""
LIMIT = timedelta(seconds=10)
"""For how long a single round of the controller purges; the next one goes on."""


@dataclass(slots=True)
class Retention:
    """Looks once in a while for what is old enough, and deletes a page of it at each look."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    actor: str
    host: str
    interval: timedelta = EVERY
    _purge: Purge | None = None
    _pages: Iterator[Mapping[str, int]] | None = None
    """The pass under way."""
    _most: int = FEWEST
    _next: float = -math.inf
    """When, by this program's clock, there is something to do again."""
    _known: set[tuple[str, str]] = field(default_factory=set)
    """What could not be purged in the pass before, and was reported."""

    name: ClassVar[str] = "retention"
    is_busy: ClassVar[bool] = False

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Purge one page, if it is time."""
        before = self.clock.monotonic()
        if before >= self._next and not self._step():
            after = self.clock.monotonic()
            self._next = after + REST * (after - before)
        return False

    def finish(self) -> bool:
        """Purge all that there is, or for as long as a single round may take."""
        until = self.clock.monotonic() + LIMIT.total_seconds()
        while not self._step() and self.clock.monotonic() < until:
            pass
        return False

    def _step(self) -> bool:
        """Purge one page; true when nothing more is to be done for a while."""
        if self._purge is None or self._pages is None:
            self._purge = Purge(
                transactions=self.transactions, clock=self.clock, actor=self.actor, host=self.host, most=self._most
            )
            self._pages = self._purge.pages()
        try:
            if next(self._pages, None) is not None:
                return False
        except DatabaseUnreachable:
            # Where the connection to the database is lost, no table is at fault: the next look begins anew.
            self._purge = self._pages = None
            raise
        self._tell(self._purge)
        self._most, self._purge, self._pages = self._purge.most, None, None
        self._next = self.clock.monotonic() + self.interval.total_seconds()
        return True

    def _tell(self, purge: Purge) -> None:
        """Report what has gone, and what could not: once, until it was possible again or the reason changes."""
        if purge.gone.total():
            self.listener(Event("retention.purged", dict(purge.gone)))
        for what, said in purge.failures:
            if (what, said) not in self._known:
                self.listener(Event("retention.trouble", {"Message": f"{visible(what)}: {said}"}))
        self._known = set(purge.failures)
