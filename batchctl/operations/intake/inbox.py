"""The rows that asked for work and did not become work, and why: the read model behind `inbox`.

It decides nothing: what a file system shows here need not be what the controller's host sees.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated

from batchctl.domain import gates
from batchctl.domain.plugins import Plugins
from batchctl.domain.records import Apart, Kept
from batchctl.domain.rows import (
    LARGEST_ID,
    MOST_TRIES,
    AuditEntry,
    BatchDefinition,
    BatchId,
    BatchInstance,
    ControllerRow,
    IntakeId,
    IntakeRow,
)
from batchctl.domain.status import InboxState, IntakeStatus
from batchctl.domain.text import visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import files_taken_again, remedies, unknown
from batchctl.operations.column_lists import ColumnList, record
from batchctl.ports import Glance, Transactions
from batchctl.store import Connection, reports
from batchctl.store.definitions import definitions
from batchctl.store.definitions.definitions import Definitions
from batchctl.store.intake import intake
from batchctl.store.intake.file_watches import TakenFile
from batchctl.store.maintenance import audit_entries
from batchctl.store.unreadable_columns import for_any_client

LOOKS = 100
"""How many thousands of ready rows are looked through at once: most are under way, and reading all takes too long."""

_SET_ASIDE = {
    IntakeStatus.PAUSED: InboxState.PAUSED,
    IntakeStatus.REJECTED: InboxState.REJECTED,
    IntakeStatus.DUPLICATE: InboxState.DUPLICATE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A row that has not become work, why, and what to do about it."""

    row: IntakeRow
    state: InboxState
    because: str
    is_file_missing: Annotated[bool, "FileMissing", Kept()] = False
    """True when nothing of the name FileName is on this host."""
    clear: Annotated[str, "Next"]
    is_stuck: Apart[bool] = False
    """True for what is new to a controller that makes nothing of it before a person has acted."""

    @property
    def reason(self) -> str:
        """Say why, and that its file is not here."""
        return f"{self.because} (no such file on this host)" if self.is_file_missing else self.because


ITEMS = ColumnList[Item](
    "Rows that are not work",
    record(Item),
    {
        "FileProcess#": "FileProcess_id",
        "entity": "Entity",
        "state": "State",
        "arrived (UTC)": "z_inserted",
        "file": "FileName",
        "because": lambda item: item.reason,
        "next": "Next",
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """The newest of the rows, and where those before them begin, if there may be any."""

    items: tuple[Item, ...]
    leader: str | None
    before: int | None
    unreadable: tuple[UnreadableRow, ...] = ()
    """Rows whose state cannot be read: on the first page, whatever state is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownIntake:
    """Everything about one row; without `item` it became work."""

    row: IntakeRow
    item: Item | None
    takers: tuple[BatchDefinition, ...]
    unreadable: tuple[UnreadableRow, ...]
    """What cannot be read of other batches that take it."""
    instances: tuple[BatchInstance, ...]
    audit: tuple[AuditEntry, ...]
    leader: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxReader:
    """Reads the inbox.

    `leader` says who leads, and so makes instances of what is new; `living` which controllers say what is locked.
    """

    transactions: Transactions
    leader: Callable[[], str | None]
    living: Callable[[Connection], Sequence[ControllerRow]]
    glance: Glance

    def newest(
        self,
        *,
        states: Collection[InboxState] = tuple(InboxState),
        entity: str | None = None,
        since: datetime | None = None,
        before: int | None = None,
        most: int = 50,
    ) -> Inbox:
        """Return the newest rows, or those before one."""
        leader = self.leader()
        start = LARGEST_ID if before is None else before
        with self.transactions.read() as connection:
            defined = definitions.read(connection)
            statuses = [status for status, state in _SET_ASIDE.items() if state in states]
            aside = intake.with_corrections(
                connection, intake.set_aside(connection, statuses, start, most + 1, entity, since)
            )
            again = files_taken_again.find(connection, aside)
            ready, reached = list[Item](), None
            if not set(states) <= set(_SET_ASIDE.values()):
                found, reached = _ready(connection, defined, start, most, _Wanted(states, entity, since, leader))
                living = self.living(connection)
                ready = [_unless_locked(item, living) for item in found]
            strange = reports.unreadable_intake(connection) if before is None else []
        items = sorted(
            [*(_aside(row, defined, again.get(row.intake_id)) for row in aside), *ready], key=_number, reverse=True
        )
        return Inbox(
            items=tuple(self._seen(items[:most])),
            leader=leader,
            before=items[most - 1].row.intake_id if len(items) > most else reached,
            unreadable=tuple(row for row in strange if entity in {None, row.entity}),
        )

    def show(self, intake_id: IntakeId) -> ShownIntake:
        """Return everything about one row, whatever became of it."""
        leader = self.leader()
        with self.transactions.read() as connection:
            row = intake.load(connection, intake_id)
            if row is None:
                raise unknown.intake_row(connection, intake_id)
            defined = definitions.read(connection)
            made = reports.instances_of_intake(connection, intake_id)
            acts = audit_entries.of_target(connection, audit_entries.intake_target(intake_id))
            again = files_taken_again.find(connection, [row]).get(intake_id)
            (row,) = intake.with_corrections(connection, [row])
            living = self.living(connection)
        takers = tuple(batch for batch in defined.batches if batch.entity == row.entity)
        have_theirs = {instance.batch_id for instance in made}
        lacking = [each for each in _takers(row, defined) if each not in have_theirs]
        item = _item(row, lacking, defined, leader, again)
        is_work = row.status is IntakeStatus.COMPLETE or (row.status is IntakeStatus.READY and made and not lacking)
        return ShownIntake(
            row=row,
            item=None if is_work else next(self._seen([_unless_locked(item, living)])),
            takers=takers,
            unreadable=defined.unreadable_of(row.entity),
            instances=tuple(made),
            audit=tuple(acts),
            leader=leader,
        )

    def _seen(self, items: Sequence[Item]) -> Iterator[Item]:
        missing = self.glance({item.row.file_name for item in items if item.row.file_name})
        with self.transactions.read() as connection:
            for item in items:
                clear = for_any_client(connection, item.clear)
                yield replace(item, is_file_missing=item.row.file_name in missing, clear=clear)


def stuck(transactions: Transactions, plugins: Plugins, most: int = 50) -> list[Item]:
    """Return the newest rows that are new and of which no pass with some plugins makes anything before a person has acted."""
    with transactions.read() as connection:
        defined = definitions.read(connection)
        batches = tuple(replace(one, missing_plugins=plugins.missing_for(one)) for one in defined.batches)
        return stuck_rows(connection, replace(defined, batches=batches), most)


def stuck_rows(
    connection: Connection, defined: Definitions, most: int, living: Sequence[ControllerRow] = ()
) -> list[Item]:
    """Return the newest of these rows where the batches are so defined, and those that somebody keeps locked."""
    wanted = _Wanted({InboxState.NEW, InboxState.PARTIAL}, None, None, None)
    found, _ = _ready(connection, defined, LARGEST_ID, most, wanted)
    return [item for item in (_unless_locked(item, living) for item in found) if item.is_stuck]


def _unless_locked(item: Item, living: Sequence[ControllerRow]) -> Item:
    """Return an item, or one that says who keeps its row locked."""
    locked = gates.locks(living, [f"FileProcess {item.row.intake_id}"])
    if item.is_stuck or item.state not in {InboxState.NEW, InboxState.PARTIAL} or locked.blocked is None:
        return item
    return replace(item, because=locked.blocked, clear=locked.clear or item.clear, is_stuck=True)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What of the ready rows is wanted, and who would make instances of them."""

    states: Collection[InboxState]
    entity: str | None
    since: datetime | None
    leader: str | None

    def has(self, row: IntakeRow) -> bool:
        """Say whether a row is of the entity, and not older."""
        return self.entity in {None, row.entity} and (self.since is None or row.inserted_at >= self.since)


def _ready(
    connection: Connection, defined: Definitions, before: int, most: int, wanted: _Wanted
) -> tuple[list[Item], int | None]:
    """Return ready rows that lack an instance, and how far they were looked for if older ones were not looked at."""
    found, at = list[Item](), before
    for _ in range(LOOKS):
        looked = intake.look_back(connection, at)
        at = looked.up_to
        for missing in looked.missing:
            if missing.row is not None and wanted.has(missing.row):
                item = _item(missing.row, missing.batch_ids, defined, wanted.leader)
                found += [item] if item.state in wanted.states else []
        if looked.is_last:
            return found, None
        if len(found) >= most:
            break
    return found, at


def _takers(row: IntakeRow, defined: Definitions) -> Iterator[BatchId]:
    """Yield the batches that take a row, whether they can be read or not."""
    yield from (batch.batch_id for batch in defined.batches if batch.entity == row.entity)
    yield from (one.batch_id for one in defined.unreadable_of(row.entity) if one.batch_id is not None)


def _item(
    row: IntakeRow, lacking: Sequence[BatchId], defined: Definitions, leader: str | None, again: TakenFile | None = None
) -> Item:
    """Say why a row is not work, or not all of it; `lacking` are the batches that take it and have no instance."""
    if row.status in _SET_ASIDE:
        return _aside(row, defined, again)
    if not lacking:
        because, clear = remedies.untaken(row, defined.batches)
        return Item(row=row, state=InboxState.UNTAKEN, because=because, clear=clear)
    is_partial = bool({*_takers(row, defined)} - {*lacking})
    for one in defined.unreadable:
        if one.batch_id in lacking:
            state = InboxState.PARTIAL if is_partial else InboxState.NEW
            return Item(row=row, state=state, because=one.message, clear=one.mend, is_stuck=True)
    for batch in defined.batches:
        missing = gates.populator(batch)
        if batch.batch_id in lacking and missing.blocked is not None and missing.clear is not None:
            state = InboxState.PARTIAL if is_partial else InboxState.NEW
            return Item(row=row, state=state, because=missing.blocked, clear=missing.clear, is_stuck=True)
    if row.tries >= MOST_TRIES:
        state = InboxState.PARTIAL if is_partial else InboxState.NEW
        because = remedies.unanswered(row)
        clear = remedies.to_ask_again(row, defined.batches)
        return Item(row=row, state=state, because=because, clear=clear, is_stuck=True)
    names = ", ".join(visible(batch.name) for batch in defined.batches if batch.batch_id in lacking)
    if is_partial:
        because = visible(row.message) if row.message else f"batch {names} has no instance of it yet"
        return Item(row=row, state=InboxState.PARTIAL, because=because, clear=f"batchctl why file:{row.intake_id}")
    because, clear = _not_looked_at(row, leader)
    return Item(row=row, state=InboxState.NEW, because=because, clear=clear)


def _not_looked_at(row: IntakeRow, leader: str | None) -> tuple[str, str]:
    because = "no controller has made its instances yet"
    if leader is None:
        return f"{because}, and none leads", "batchctl run   (or, for one pass: batchctl create)"
    said = (
        f"nothing: controller {visible(leader)} takes it in by itself; if it lasts: batchctl why file:{row.intake_id}"
    )
    return because, said


def _aside(row: IntakeRow, defined: Definitions, again: TakenFile | None) -> Item:
    state = _SET_ASIDE[row.status]
    because = remedies.because(row, defined)
    return Item(row=row, state=state, because=because, clear=remedies.to_take_in(row, defined.batches, again))


def _number(item: Item) -> int:
    return item.row.intake_id
