"""What a purge would delete, in rows: the read model behind `purge --dry-run`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, TypeVar

from batchctl.domain.maintenance.retention import Keep, Rules, SettingFinding
from batchctl.domain.rows import BatchId, InstanceId, IntakeId
from batchctl.domain.status import InstanceStatus
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.maintenance import finished_instances, purging
from batchctl.store.maintenance.purging import Aging, PurgePage

AT_ONCE = 1000
"""How many rows are looked at by one statement."""

Each = TypeVar("Each")


@dataclass(slots=True, kw_only=True)
class Going:
    """How many rows of a table would go; of instances, of which batch and outcome."""

    table: str
    batch: Annotated[str | None, "ProcessBatchName"] = None
    outcome: Annotated[InstanceStatus | None, "Status"] = None
    rows: int = 0
    oldest: datetime | None = None

    def add(self, rows: int, oldest: datetime | None) -> None:
        """Count more rows."""
        if rows:
            self.rows += rows
            self.oldest = min((each for each in (self.oldest, oldest) if each is not None), default=None)


@dataclass(frozen=True, slots=True)
class Disposal:
    """Everything that would go, and what keeps some of it from that."""

    going: tuple[Going, ...]
    known: int
    """Of how many FileProcess rows the Data would be known no more: sent again, they would be no duplicates."""
    findings: tuple[SettingFinding, ...]


def plan(transactions: Transactions, clock: Clock) -> Disposal:
    """Look through all that is old enough, page by page, and delete nothing."""
    with transactions.read() as connection:
        rules = purging.rules(connection)
        names = {batch.batch_id: batch.name for batch in definitions.all_batches(connection)}
    looking = _Looking(transactions, clock.now(), rules, names)
    looking.look()
    return Disposal(tuple(one for one in looking.going if one.rows), looking.known, rules.findings)


@dataclass(slots=True)
class _Looking:
    """One walk through the tables."""

    transactions: Transactions
    now: datetime
    rules: Rules
    names: dict[BatchId, str]
    going: list[Going] = field(default_factory=list)
    known: int = 0
    _instances: set[InstanceId] = field(default_factory=set)
    _rows: set[IntakeId] = field(default_factory=set)
    _requests: set[int] = field(default_factory=set)

    def look(self) -> None:
        for kind in purging.AGING:
            self._by_age(kind)
        for (batch_id, outcome), keep in self.rules.instances.items():
            self._of_batch(batch_id, outcome, keep)
        self._belongings()

    def _by_age(self, kind: Aging) -> None:
        age = kind.age(self.rules)
        found, after, is_last = Going(table=kind.table), 0, age is None
        while age is not None and not is_last:
            with self.transactions.read() as connection:
                page = kind.page(connection, after, self.now - age, AT_ONCE)
                found.add(self._count(kind, connection, page, self.now - age), page.oldest)
            after, is_last = page.up_to, page.is_last
        self.going.append(found)

    def _count(self, kind: Aging, connection: Connection, page: PurgePage, before: datetime) -> int:
        if kind is purging.ACTS:
            # Requests go first, and their acts with them.
            return purging.count_acts(connection, page, before, self._requests)
        if kind is purging.REQUESTS:
            self._requests.update(row.Number for row in page.old)
        return kind.count(connection, page, before)

    def _of_batch(self, batch_id: BatchId, outcome: InstanceStatus, keep: Keep) -> None:
        after, is_last = 0, False
        while not is_last:
            with self.transactions.read() as connection:
                found = finished_instances.candidates(
                    connection, batch_id, outcome, keep, self.now, after=after, most=AT_ONCE
                )
                leaving = finished_instances.leaving(connection, found.intake_ids, self.rules, self.now, locked=False)
            after, is_last = found.up_to, found.is_last
            for one in leaving.instances:
                # A row with instances of several batches is come upon by way of each.
                if one.instance_id not in self._instances:
                    self._instances.add(one.instance_id)
                    self._rows.add(one.intake_id)
                    self._line(one.batch_id, one.status).add(1, one.changed_at)

    def _line(self, batch_id: BatchId, outcome: InstanceStatus) -> Going:
        name = self.names.get(batch_id, str(batch_id))
        for one in self.going:
            if (one.table, one.batch, one.outcome) == ("BatchControl", name, outcome):
                return one
        made = Going(table="BatchControl", batch=name, outcome=outcome)
        self.going.append(made)
        return made

    def _belongings(self) -> None:
        """Count what goes with the instances."""
        found = {table: Going(table=table) for table in ("BatchProcessHistory", "BatchCompletion", "FileProcess")}
        for some in _in_pages(sorted(self._instances)):
            with self.transactions.read() as connection:
                for table, rows in finished_instances.count(connection, some).items():
                    found[table].add(rows, None)
                self._rows |= set(finished_instances.started_by(connection, some))
        for rows_of_page in _in_pages(sorted(self._rows)):
            with self.transactions.read() as connection:
                held = finished_instances.rows_held(connection, rows_of_page)
            bare = [row for row in held if row.held_by <= self._instances]
            found["FileProcess"].add(len(bare), None)
            self.known += sum(row.has_data for row in bare)
        self.going += found.values()


def _in_pages(ids: Sequence[Each]) -> Iterator[Sequence[Each]]:
    return (ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE))
