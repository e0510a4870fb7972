"""The seed's s_ProcessCreate and s_PopulateBatchControl: a `FileProcess` row becomes an instance of every batch."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeGuard
from zoneinfo import ZoneInfo

from batchctl.domain.errors import BatchctlError, Conflict, NotFound, StatusChanged
from batchctl.domain.rows import BatchDefinition, BatchId, InstanceId, IntakeId, IntakeRow, Populated
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import did_you_mean, shorten, storable, visible
from batchctl.domain.wall_clock import WallClock
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, PopulatorRunner, Transactions
from batchctl.preparation import REASON_LIMIT, populate
from batchctl.store import audit, definitions, instances, intake

FEW = 2000
"""While no more rows are ready than these, all of them are looked at every time."""

UNTAKEN = "no batch takes entity"
"""How a message begins that is no longer so once a batch takes the row."""

TRIES = 2
"""How often a row is tried before what nobody foresaw rejects it: somebody else may have been at the same row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationReport:
    """What one creation pass did."""

    created: int = 0
    duplicates: int = 0
    rejected: int = 0
    untaken: int = 0

    def __add__(self, other: CreationReport) -> CreationReport:
        """Add up two reports."""
        return CreationReport(
            created=self.created + other.created,
            duplicates=self.duplicates + other.duplicates,
            rejected=self.rejected + other.rejected,
            untaken=self.untaken + other.untaken,
        )


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be created of one row, as its populators filled it before any transaction."""

    row: IntakeRow
    batches: Sequence[BatchDefinition]
    populated: Mapping[BatchId, Populated | str]

    @property
    def compares(self) -> bool:
        """Say whether the row may be a duplicate for any of its batches."""
        return self.row.data is not None and any(batch.duplicate_check for batch in self.batches)

    @property
    def batch_ids(self) -> list[BatchId]:
        """Return the batches that are to get their instance."""
        return [batch.batch_id for batch in self.batches]


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one row for each of its batches."""

    created: Mapping[BatchId, InstanceId] = field(default_factory=dict)
    repeats: Mapping[str, IntakeId] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    blocker: str | None = None
    """Who keeps the row or one of its batches locked, so that nothing was done yet."""


@dataclass(frozen=True, slots=True)
class Creation:
    """What was created of one row in the transaction of somebody else."""

    row: IntakeRow
    batches: Sequence[BatchDefinition]
    made: Made


class Together(Protocol):
    """Whoever writes a creation along with what follows from it; None when nothing was done, whatever was in the way."""

    def __call__(
        self,
        create: Callable[[Any], Callable[[], Made]],
        tell: Callable[[Made], CreationReport],
        likely: frozenset[BatchId],
    ) -> CreationReport | None:
        """Write in one transaction, then tell. What came of it is to be called for; `likely` for these batches."""
        ...


@dataclass(slots=True)
class _Walk:
    """A way through the ready rows, in order of arrival."""

    at: int = 0
    """The last row that was looked at."""
    looked: int = 0
    """How many there were."""


@dataclass(slots=True)
class _Walks:
    """How far the ready rows have been looked through."""

    known: Mapping[BatchId, BatchDefinition] | None = None
    """The definitions that they were looked at by."""
    first: _Walk = field(default_factory=_Walk)
    """What follows behind it has never been looked at by these definitions."""
    newest: int = 0
    """The last row that was ever looked at."""
    again: _Walk | None = None
    """What others did behind the back of the first: rows committed late, or made ready again."""


@dataclass(frozen=True, slots=True)
class Creator:
    """Creates instances; one row's trouble is that row's alone."""

    transactions: Transactions
    clock: Clock
    populators: PopulatorRunner
    zone: ZoneInfo
    listener: Listener
    _locked: set[IntakeId] = field(default_factory=set)
    """Rows of which it was told that somebody keeps them locked."""
    _walks: _Walks = field(default_factory=_Walks)
    _complete: set[IntakeId] = field(default_factory=set)
    """Rows that came with their instances."""

    def create_within(
        self, connection: Any, intake_id: IntakeId, batches: Sequence[BatchDefinition]
    ) -> Creation | None:
        """Create the instances of a new row in the very transaction that inserts it; its populators must be harmless.

        None when they are better created as those of any other row: afterwards.
        """
        row = intake.load(connection, intake_id)
        if row is None or not batches:
            return None
        made = self._write_and_tell(self._wanted(row, batches), connection)
        return Creation(row, batches, made)

    def created_within(self, creation: Creation) -> CreationReport:
        """Tell of what was created so, once it is committed."""
        if len(creation.made.created) == len(creation.batches):
            if len(self._complete) >= FEW:
                # Who does not lead never looks for rows at all.
                self._complete.clear()
            self._complete.add(creation.row.intake_id)
        return self._report(creation.row, creation.batches, creation.made)

    def create_instances(self) -> CreationReport:
        """Create every instance that is missing; running it twice creates nothing twice."""
        return sum(self.one_by_one(), CreationReport())

    def one_by_one(
        self,
        known: Mapping[BatchId, BatchDefinition] | None = None,
        together: Together | None = None,
        *,
        anew: bool = True,
    ) -> Iterator[CreationReport]:
        """Create every instance that is missing, a row at a time: whoever has other duties may see to them between.

        The definitions are read, unless they are `known` to be as they were. The first row is written `together` with
        what follows from it, if that can be done. While many rows wait that have all their instances, those that have
        not been looked at come first, and the others follow only where they are to be looked at `anew`: sooner or
        later they must be, for one of them may have been committed late, or made ready again.
        """
        if known is None:
            with self.transactions.read() as connection:
                known = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        walks = self._walks
        if known == walks.known and not self._locked:
            together = yield from self._go_ahead(known, together)
        if known != walks.known or walks.first.looked <= FEW:
            walks.known, walks.first, walks.again = known, _Walk(), None
        elif anew and walks.again is None:
            walks.again = _Walk()
        yield from self._go_on(walks.first, known, together)
        if walks.again is not None:
            yield from self._go_on(walks.again, known, None, until=walks.first.at)
            walks.first.looked, walks.again = walks.again.looked, None

    def _go_ahead(
        self, known: Mapping[BatchId, BatchDefinition], together: Together | None
    ) -> Generator[CreationReport, None, Together | None]:
        """Create what rows want that have come since the last look: they wait for no other to be looked at again."""
        with self.transactions.read() as connection:
            rows = intake.newer(connection, self._walks.newest)
        for row in rows:
            self._walks.newest = row.intake_id
            if row.intake_id in self._complete:
                self._complete.discard(row.intake_id)
            elif takers := [batch for batch in known.values() if batch.entity == row.entity]:
                yield self._create_alone(row, takers, together)
                together = None
        return together

    def _go_on(
        self,
        walk: _Walk,
        known: Mapping[BatchId, BatchDefinition],
        together: Together | None,
        until: float = math.inf,
    ) -> Iterator[CreationReport]:
        """Look through the rows that follow on a walk, some at a time, and create what is missing of them."""
        is_last = False
        while not is_last and walk.at < until:
            with self.transactions.read() as connection:
                found = intake.look(connection, walk.at)
            is_last = found.is_last
            self._walks.newest = max(self._walks.newest, found.up_to)
            reach = math.inf if is_last else found.up_to
            missed = {missing.intake_id for missing in found.missing if missing.batch_ids}
            self._locked.difference_update({each for each in self._locked if walk.at < each <= reach} - missed)
            untaken = list[IntakeRow]()
            for missing in found.missing:
                if missing.row is not None and missing.batch_ids:
                    takers = [known[batch_id] for batch_id in missing.batch_ids if batch_id in known]
                    yield self._create_alone(missing.row, takers, together)
                    together = None
                elif missing.row is not None:
                    untaken.append(missing.row)
            named = self._name_untaken(untaken, known)
            # Whoever is called away now goes on behind these.
            walk.at, walk.looked = found.up_to, walk.looked + found.rows
            yield named

    def accept(self, intake_id: IntakeId, *, actor: str, host: str, reason: str) -> CreationReport:
        """Take in a rejected or duplicate row on purpose: an audited act of a person, which makes it no duplicate."""
        with self.transactions.read() as connection:
            row = intake.load(connection, intake_id)
            every = definitions.all_batches(connection)
        if row is None:
            message = f"There is no FileProcess {intake_id}."
            raise NotFound(message, next_step="batchctl status")
        if row.status not in {IntakeStatus.REJECTED, IntakeStatus.DUPLICATE}:
            raise StatusChanged(
                f"FileProcess {intake_id}", row.status, "accept", next_step=f"batchctl why file:{intake_id}"
            )
        accepted = replace(row, status=IntakeStatus.READY, message=None)
        wanted = self._wanted(accepted, [batch for batch in every if batch.entity == row.entity])

        def record(connection: Any) -> Made:
            now = self.clock.now()
            if not intake.set_status(connection, row, IntakeStatus.READY, None, now):
                raise StatusChanged(f"FileProcess {intake_id}", "not as it was", "accept", next_step="batchctl status")
            audit.add(
                connection,
                actor=actor,
                host=host,
                action=audit.ACCEPT,
                target=audit.intake_target(intake_id),
                reason=reason,
                before=json.dumps({"Status": row.status, "Message": row.message}),
                after=json.dumps({"Status": IntakeStatus.READY}),
                now=now,
            )
            # Between the two a controller could take it in, and nobody would be told what came of it.
            made = self._write_and_tell(wanted, connection)
            if made.blocker is not None:
                message = f"FileProcess {intake_id}, or its batch, is locked by {made.blocker}."
                raise Conflict(message)
            return made

        made = self.transactions.run(frozenset({Boundary.OPERATOR, Boundary.POPULATE}), record)
        return self._report(accepted, wanted.batches, made)

    def _create_alone(
        self, row: IntakeRow, batches: list[BatchDefinition], together: Together | None
    ) -> CreationReport:
        """Create one row's instances; what nobody foresaw rejects the row instead of stopping the others."""
        reason = ""
        for _ in range(TRIES):
            try:
                return self._create_for(row, batches, together)
            except BatchctlError:
                raise
            except Exception as error:  # noqa: BLE001 - the boundary between one row and the next
                reason = storable(shorten(f"{type(error).__name__}: {error}", REASON_LIMIT))

        def reject(connection: Any) -> bool:
            return intake.set_status(connection, row, IntakeStatus.REJECTED, reason, self.clock.now())

        is_rejected = self.transactions.run(frozenset({Boundary.POPULATE}), reject)
        return self._report(row, (), Made(reasons=(reason,))) if is_rejected else CreationReport()

    def _create_for(
        self,
        row: IntakeRow,
        batches: list[BatchDefinition],
        together: Together | None = None,
    ) -> CreationReport:
        wanted = self._wanted(row, batches)
        tell = partial(self._report, row, batches)
        if together is not None and not self._locked:
            report = together(partial(self._ask_to_write, wanted), tell, frozenset(wanted.batch_ids))
            if report is not None:
                return report
        return tell(self._run(partial(self._write_and_tell, wanted)))

    def _wanted(self, row: IntakeRow, batches: Sequence[BatchDefinition]) -> _Wanted:
        return _Wanted(row, batches, {batch.batch_id: populate(self.populators, row, batch) for batch in batches})

    def _write_and_tell(self, wanted: _Wanted, connection: Any) -> Made:
        made = self._write(wanted, connection)
        if made.created:
            instances.tell(connection)
        return made

    def _run(self, write: Callable[[Any], Made]) -> Made:
        """Run a transaction without looking for locks first, unless one is in the way."""
        boundaries = frozenset({Boundary.POPULATE})
        if not self._locked:
            with suppress(Conflict):
                return self.transactions.run(boundaries, write, hurried=True)
        return self.transactions.run(boundaries, write)

    def _ask_to_write(self, wanted: _Wanted, connection: Any) -> Callable[[], Made]:
        """Write all at once where nothing has to be looked at before; whoever calls for what was made finds out."""
        row = wanted.row
        values = {key: each for key, each in wanted.populated.items() if not isinstance(each, str)}
        if wanted.compares or len(values) < len(wanted.batches):
            made = self._write(wanted, connection)
            return lambda: made
        if intake.is_locked(connection, row, wanted.batch_ids, compares=False):
            return lambda: Made(blocker=instances.blocker(connection))
        locked = intake.ask_locked(connection, row.intake_id)
        added = {
            batch.batch_id: instances.ask_to_add(
                connection, row, batch, values[batch.batch_id], self._cycle_key(row, values[batch.batch_id])
            )
            for batch in wanted.batches
        }

        def answer() -> Made:
            found, _ = locked()
            if not _is_still(found, row):
                message = f"FileProcess {row.intake_id} is not as it was read."
                raise Conflict(message)
            made = Made({key: instance_id() for key, instance_id in added.items()})
            self._conclude(connection, found, made, self.clock.now(), taken=True)
            return made

        return answer

    def _write(self, wanted: _Wanted, connection: Any) -> Made:
        now, row = self.clock.now(), wanted.row
        if intake.is_locked(connection, row, wanted.batch_ids, compares=wanted.compares):
            return Made(blocker=instances.blocker(connection))
        found, have_theirs = intake.load_locked(connection, row.intake_id)
        if not _is_still(found, row):
            # What its populators made of it is not of this row: if it is ready still, it misses its instances still.
            return Made()
        created: dict[BatchId, InstanceId] = {}
        repeats: dict[str, IntakeId] = {}
        reasons: list[str] = []
        for batch in wanted.batches:
            if batch.batch_id in have_theirs:
                continue
            values = wanted.populated[batch.batch_id]
            if isinstance(values, str):
                reasons.append(f"batch {visible(batch.name)}: {values}")
                continue
            first = intake.first_with_same_data(connection, row, batch.batch_id) if batch.duplicate_check else None
            if first is not None:
                repeats[batch.name] = first
            else:
                added = instances.add(connection, row, batch, values, self._cycle_key(row, values))
                created[batch.batch_id] = added
        made = Made(created, repeats, tuple(reasons))
        self._conclude(connection, found, made, now, taken=bool(created or have_theirs))
        return made

    def _conclude(self, connection: Any, row: IntakeRow, made: Made, now: Any, *, taken: bool) -> None:
        """Say on the row itself what became of it."""
        said = [f"batch {visible(name)}: same Data as FileProcess {first}" for name, first in made.repeats.items()]
        reason = "; ".join([*made.reasons, *said]) or None
        if made.reasons:
            intake.set_status(connection, row, IntakeStatus.REJECTED, reason, now)
        elif made.repeats and not taken:
            intake.set_status(connection, row, IntakeStatus.DUPLICATE, reason, now)
        elif reason != row.message and (reason is not None or _is_untaken(row.message)):
            # Otherwise it is what its sender, or a trigger, has to say.
            intake.say(connection, row.intake_id, reason, now)

    def _cycle_key(self, row: IntakeRow, values: Populated) -> str:
        return row.cycle_key or values.cycle_key or WallClock(self.zone).day_of(row.inserted_at).isoformat()

    def _report(self, row: IntakeRow, batches: Sequence[BatchDefinition], made: Made) -> CreationReport:
        for batch in batches:
            if instance_id := made.created.get(batch.batch_id):
                self._tell("instance.created", row, ProcessBatchName=batch.name, BatchControl_id=instance_id)
        for reason in made.reasons:
            self._tell("intake.rejected", row, Message=reason)
        if made.blocker is None:
            self._locked.discard(row.intake_id)
        elif row.intake_id not in self._locked:
            self._locked.add(row.intake_id)
            self._tell("intake.locked", row, Message=f"the row, or its batch, is locked by {made.blocker}")
        duplicate = bool(made.repeats) and not made.created and not made.reasons
        if duplicate:
            self._tell("intake.duplicate", row, Message=f"same Data as FileProcess {min(made.repeats.values())}")
        return CreationReport(
            created=len(made.created),
            duplicates=int(duplicate),
            rejected=int(bool(made.reasons)),
        )

    def _name_untaken(self, rows: Sequence[IntakeRow], batches: Mapping[BatchId, BatchDefinition]) -> CreationReport:
        """Say on ready rows whose entity no batch takes that this is so; a batch registered later takes them."""
        entities = {batch.entity for batch in batches.values()} if rows else set()
        said = {
            row: storable(f"{UNTAKEN} '{visible(row.entity)}'.{did_you_mean(row.entity, entities)}") for row in rows
        }
        self._say({row: text for row, text in said.items() if row.message != text})
        return CreationReport(untaken=len(rows))

    def _say(self, news: Mapping[IntakeRow, str]) -> None:
        if not news:
            return

        def write(connection: Any) -> None:
            for row, text in news.items():
                intake.say(connection, row.intake_id, text, self.clock.now())

        self.transactions.run(frozenset({Boundary.POPULATE}), write)
        for row, text in news.items():
            self._tell("intake.untaken", row, Message=text)

    def _tell(self, name: str, row: IntakeRow, **fields: str | int) -> None:
        self.listener(Event(name, {"FileProcess_id": row.intake_id, "Entity": row.entity, **fields}))


def _is_still(found: IntakeRow | None, row: IntakeRow) -> TypeGuard[IntakeRow]:
    """Say whether a row is as it was read, but for what is said on it."""
    return found is not None and replace(found, message=row.message) == row


def _is_untaken(message: str | None) -> bool:
    return message is not None and message.startswith(UNTAKEN)
