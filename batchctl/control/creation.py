"""The seed's s_ProcessCreate and s_PopulateBatchControl: a `FileProcess` row becomes an instance of every batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Protocol
from zoneinfo import ZoneInfo

from batchctl.control.asked_rows import AskedRows, WantedCreation
from batchctl.control.intake_walk import IN_TURN, EntityLine, IntakeWalk, Walks
from batchctl.control.intake_writing import UNTAKEN, IntakeWriter, Made, is_still
from batchctl.domain.errors import BatchctlError, Conflict, NotFound, StatusChanged
from batchctl.domain.plugins import Plugins
from batchctl.domain.rows import MOST_TRIES, BatchDefinition, BatchId, IntakeId, IntakeRow
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import REASON_LIMIT, in_short, shorten, storable, visible
from batchctl.domain.untaken import meant_by
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, PopulatorRunner, Transactions
from batchctl.preparation import populate
from batchctl.store import Connection, instances
from batchctl.store.definitions import definitions
from batchctl.store.intake import file_watches, intake
from batchctl.store.maintenance import audit_entries

FEW = 2000
"""While no more rows are ready than these, all of them are looked at every time."""

TRIES = 2
"""How often a row is tried before an unforeseen error rejects it: somebody else may have been at the same row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationReport:
    """What one creation pass did."""

    created: int = 0
    duplicates: int = 0
    rejected: int = 0
    untaken: int = 0
    locked: tuple[tuple[IntakeId, str], ...] = ()
    """Rows of which nothing could be made because somebody keeps them, or their batches, locked, and who."""

    def __add__(self, other: CreationReport) -> CreationReport:
        """Add up two reports."""
        return CreationReport(
            created=self.created + other.created,
            duplicates=self.duplicates + other.duplicates,
            rejected=self.rejected + other.rejected,
            untaken=self.untaken + other.untaken,
            locked=self.locked + other.locked,
        )


@dataclass(frozen=True, slots=True)
class Creation:
    """What was created of one row in a transaction of the caller."""

    row: IntakeRow
    batches: Sequence[BatchDefinition]
    made: Made


class Together(Protocol):
    """Writes a creation in one transaction with what follows from it."""

    def __call__(self, transactions: Transactions, writer: IntakeWriter, wanted: WantedCreation) -> Made | None:
        """Return what was made; None when nothing was done, for any reason."""


@dataclass(frozen=True, slots=True)
class Creator:
    """Creates instances; an error of one row concerns that row alone."""

    transactions: Transactions
    clock: Clock
    populators: PopulatorRunner
    zone: ZoneInfo
    listener: Listener
    _locked: dict[IntakeId, str] = field(default_factory=dict)
    """Rows of which it was announced that somebody keeps them locked, and who."""
    _walks: Walks = field(default_factory=Walks)
    _complete: set[IntakeId] = field(default_factory=set)
    """Rows that came with their instances."""
    _repeating: dict[IntakeId, tuple[IntakeRow, frozenset[BatchId]]] = field(default_factory=dict)
    """Rows that are work, or may become it, for some of their batches, and the batches for which they repeat others."""
    gives_up: bool = False
    """True for a caller that does not ask populators again about what others have asked about in vain."""
    plugins: Plugins | None = None
    """What is installed here; None where it is not known."""
    _asked: AskedRows = field(init=False)
    _writer: IntakeWriter = field(init=False)

    @property
    def locked(self) -> dict[str, str]:
        """Return what was announced of the rows that others keep locked, by the name of what is locked."""
        return {f"FileProcess {intake_id}": said for intake_id, said in self._locked.items()}

    def __post_init__(self) -> None:
        """Ask for nothing yet."""
        object.__setattr__(self, "_writer", IntakeWriter(self.clock, self.zone))
        object.__setattr__(self, "_asked", AskedRows(self.populators, self.gives_up))

    def create_within(
        self, connection: Connection, intake_id: IntakeId, batches: Sequence[BatchDefinition]
    ) -> Creation | None:
        """Create the instances of a new row in the very transaction that inserts it; its populators must be harmless.

        None when they are better created as those of any other row: afterwards.
        """
        row = intake.load(connection, intake_id)
        if row is None or not batches:
            return None
        made = self._write_and_tell(self._populated(row, batches), connection)
        return Creation(row, batches, made)

    def created_within(self, creation: Creation) -> CreationReport:
        """Announce what `create_within` created, once it is committed."""
        if len(creation.made.created) == len(creation.batches):
            if len(self._complete) >= FEW:
                # A controller that does not lead never looks for rows at all.
                self._complete.clear()
            self._complete.add(creation.row.intake_id)
        return self._report(creation.row, creation.batches, creation.made)

    @property
    def is_waiting(self) -> bool:
        """Say whether any populator has not answered yet."""
        return bool(self._asked)

    @property
    def is_ready(self) -> bool:
        """Say whether anything can be created because a populator has answered, or takes long."""
        return self._asked.are_ready

    def forget_answers(self) -> None:
        """Leave to another what populators were asked about."""
        self._asked.forget()

    def create_instances(self) -> CreationReport:
        """Create every instance that is missing, and wait for the populators; running it twice creates nothing twice."""
        report = sum(self.one_by_one(), CreationReport())
        while self.is_waiting:
            self.populators.wait()
            report += sum(self.one_by_one(self._walks.known), CreationReport())
        return report

    def one_by_one(
        self,
        known: Mapping[BatchId, BatchDefinition] | None = None,
        together: Together | None = None,
        *,
        anew: bool = True,
    ) -> Iterator[CreationReport]:
        """Create every instance that can be created now, a row at a time: the caller may do other work between rows.

        The definitions are read, unless they are `known` to be as they were. The first row is written `together` with
        what follows from it, if that can be done. While many rows wait that have all their instances, those that have
        not been looked at come first, and the others follow only where they are to be looked at `anew`: sooner or
        later they must be, for one of them may have been committed late, or made ready again. What a populator is asked
        about aside is created by a later call, or by this one if the answer comes meanwhile.
        """
        if known is None:
            with self.transactions.read() as connection:
                known = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        if self.plugins is not None:
            # Their rows wait until a controller leads that has their populators.
            known = {batch_id: batch for batch_id, batch in known.items() if self.plugins.can_populate(batch)}
        walks = self._walks
        if known == walks.known and not self._locked:
            together = yield from self._go_ahead(known, together)
        if known != walks.known or (walks.first.looked <= FEW and not walks.first.lines):
            if known != walks.known:
                self._repeating.clear()
            walks.known, walks.first, walks.again = known, IntakeWalk(), None
        elif anew and walks.again is None:
            walks.again = IntakeWalk()
        yield from self._go_on(walks.first, known, together)
        if walks.again is not None and (yield from self._go_on(walks.again, known, None, until=walks.first.at)):
            walks.first.looked, walks.again = walks.again.looked, None

    def _go_ahead(
        self, known: Mapping[BatchId, BatchDefinition], together: Together | None
    ) -> Generator[CreationReport, None, Together | None]:
        """Create what rows want that have come since the last look: they wait for no other to be looked at again."""
        with self.transactions.read() as connection:
            rows = intake.newer(connection, self._walks.newest)
        if len(rows) == intake.LOOKED_AT_ONCE:
            return together  # Of so many, the entities take turns.
        for row in rows:
            self._walks.newest = row.intake_id
            if row.intake_id in self._complete:
                self._complete.discard(row.intake_id)
            elif row.entity not in self._walks.first.lines:
                takers = [batch for batch in known.values() if batch.entity == row.entity]
                if takers and self._asked.may_ask(takers):
                    yield self._create_alone(row, takers, together)
                    together = None
        return together

    def _go_on(
        self,
        walk: IntakeWalk,
        known: Mapping[BatchId, BatchDefinition],
        together: Together | None,
        until: float = math.inf,
    ) -> Generator[CreationReport, None, bool]:
        """Look through the rows that follow on a walk, some at a time, and create what is missing of them.

        Returns whether nothing is left: some may wait for room to ask a populator about them.
        """
        is_last, moves = False, True
        while moves or not is_last:
            moves = False
            for wanted in self._asked.ready():
                moves = True
                yield self._settle(wanted)
            if not is_last:
                untaken, is_last = self._look(walk, until)
                # A caller that stops here goes on behind these rows.
                yield self._name_untaken(untaken, known)
            for line in walk.turns():
                # First find out for which entities there are rows at all.
                for missing in self._turn(walk, line, known, IN_TURN if is_last else 1):
                    moves = True
                    yield self._create_alone(*missing, together)
                    together = None
        return not walk.lines

    def _look(self, walk: IntakeWalk, until: float) -> tuple[list[IntakeRow], bool]:
        """Look at the next rows: return those that no batch takes, and whether no more follow."""
        before = walk.at
        with self.transactions.read() as connection:
            found = intake.look(connection, before)
        walk.take_in(found, self._asked)
        self._walks.newest = max(self._walks.newest, found.up_to)
        reach = math.inf if found.is_last else found.up_to
        missed = {missing.intake_id for missing in found.missing if missing.batch_ids}
        for each in {each for each in self._locked if before < each <= reach} - missed:
            del self._locked[each]
        untaken = [each.row for each in found.missing if each.row is not None and not each.batch_ids]
        return untaken, found.is_last or walk.at >= until

    def _turn(
        self, walk: IntakeWalk, line: EntityLine, known: Mapping[BatchId, BatchDefinition], most: int
    ) -> Iterator[tuple[IntakeRow, Sequence[BatchDefinition]]]:
        """Yield the rows of an entity whose turn it is, as long as there is room to ask about them."""
        if line.is_cut and not line.rows:
            with self.transactions.read() as connection:
                walk.refill(connection, line, self._asked)
        for row, batch_ids in islice(tuple(line.rows), most):
            settled = self._repeats(row)
            lacking = [known[batch_id] for batch_id in batch_ids if batch_id in known and batch_id not in settled]
            takers = self._asked.left(row, lacking)
            if not self._asked.may_ask(takers):
                return
            line.rows.popleft()
            if takers:
                yield row, takers

    def _repeats(self, row: IntakeRow) -> frozenset[BatchId]:
        """Return the batches for which a row, as it stands, was found to repeat another: of these it gets no instance."""
        before, batch_ids = self._repeating.get(row.intake_id, (None, frozenset()))
        return batch_ids if is_still(before, row) else frozenset()

    def accept(self, intake_id: IntakeId, *, actor: str, host: str, reason: str) -> CreationReport:
        """Take in a row on purpose that is rejected, a duplicate, or asked about in vain: an audited act of a person.

        It makes the row no duplicate.
        """
        with self.transactions.read() as connection:
            row = intake.load(connection, intake_id)
            every = definitions.all_batches(connection)
        if row is None:
            message = f"There is no FileProcess {intake_id}."
            raise NotFound(message, next_step="batchctl status")
        if row.status not in {IntakeStatus.REJECTED, IntakeStatus.DUPLICATE} and row.tries < MOST_TRIES:
            raise StatusChanged(
                f"FileProcess {intake_id}", row.status, "accept", next_step=f"batchctl why file:{intake_id}"
            )
        accepted = replace(row, status=IntakeStatus.READY, message=None)
        wanted = self._populated(accepted, [batch for batch in every if batch.entity == row.entity])

        def record(connection: Connection) -> Made:
            now = self.clock.now()
            if not intake.set_status(connection, row, IntakeStatus.READY, None, now):
                raise StatusChanged(f"FileProcess {intake_id}", "not as it was", "accept", next_step="batchctl status")
            file_watches.expect_renamed(connection, row)
            by, target = audit_entries.By(actor, host, now), audit_entries.intake_target(intake_id)
            before, after = {"Status": row.status, "Message": row.message}, {"Status": IntakeStatus.READY}
            audit_entries.add(connection, by, audit_entries.ACCEPT, target, reason, before, after)
            # Between the two a controller could take it in, and the caller would not learn what came of it.
            made = self._write_and_tell(wanted, connection)
            if made.blocker is not None:
                message = f"FileProcess {intake_id}, or its batch, is locked by {made.blocker}."
                raise Conflict(message)
            return made

        made = self.transactions.run(frozenset({Boundary.OPERATOR, Boundary.POPULATE}), record)
        return self._report(accepted, wanted.batches, made)

    def _create_alone(
        self, row: IntakeRow, batches: Sequence[BatchDefinition], together: Together | None
    ) -> CreationReport:
        """Create one row's instances, or ask for what they are to hold."""
        return self._surely(row, partial(self._create_for, row, batches, together))

    def _settle(self, wanted: WantedCreation) -> CreationReport:
        """Create what populators have answered."""

        def create() -> CreationReport:
            return self._report(wanted.row, wanted.batches, self._run(partial(self._write_and_tell, wanted)))

        report = self._surely(wanted.row, create)
        self._asked.take_note(wanted)
        return report

    def _surely(self, row: IntakeRow, create: Callable[[], CreationReport]) -> CreationReport:
        """Create; an unforeseen error rejects the row instead of stopping the others."""
        reason = ""
        for _ in range(TRIES):
            try:
                return create()
            except BatchctlError:
                raise
            except Exception as error:  # noqa: BLE001 - the boundary between one row and the next
                reason = storable(shorten(in_short(error), REASON_LIMIT))

        def reject(connection: Connection) -> bool:
            return intake.set_status(connection, row, IntakeStatus.REJECTED, reason, self.clock.now())

        is_rejected = self.transactions.run(frozenset({Boundary.POPULATE}), reject)
        return self._report(row, (), Made(reasons=(reason,))) if is_rejected else CreationReport()

    def _create_for(
        self, row: IntakeRow, batches: Sequence[BatchDefinition], together: Together | None = None
    ) -> CreationReport:
        wanted = self._asked.ask(row, batches)
        if wanted is None:
            return CreationReport()
        made = None
        if together is not None and not self._locked:
            made = together(self.transactions, self._writer, wanted)
        if made is None:
            made = self._run(partial(self._write_and_tell, wanted))
        return self._report(row, wanted.batches, made)

    def _populated(self, row: IntakeRow, batches: Sequence[BatchDefinition]) -> WantedCreation:
        return WantedCreation(
            row, batches, {batch.batch_id: populate(self.populators, row, batch) for batch in batches}
        )

    def _write_and_tell(self, wanted: WantedCreation, connection: Connection) -> Made:
        made = self._writer.write(wanted, connection)
        if made.created:
            instances.tell(connection)
        return made

    def _run(self, write: Callable[[Connection], Made]) -> Made:
        """Run a transaction without looking for locks first, unless one is in the way."""
        boundaries = frozenset({Boundary.POPULATE})
        if not self._locked:
            with suppress(Conflict):
                return self.transactions.run(boundaries, write, nowait=True)
        return self.transactions.run(boundaries, write)

    def _report(self, row: IntakeRow, batches: Sequence[BatchDefinition], made: Made) -> CreationReport:
        for batch in batches:
            if instance_id := made.created.get(batch.batch_id):
                self._tell("instance.created", row, ProcessBatchName=batch.name, BatchControl_id=instance_id)
        for reason in made.reasons:
            self._tell("intake.rejected", row, Message=reason)
        for reason in made.late:
            self._tell("intake.hung", row, Message=reason)
        if made.blocker is None:
            self._locked.pop(row.intake_id, None)
        elif row.intake_id not in self._locked:
            self._locked[row.intake_id] = said = f"the row, or its batch, is locked by {made.blocker}"
            self._tell("intake.locked", row, Message=said)
        duplicate = bool(made.repeats) and not made.created and not made.reasons
        if duplicate:
            self._tell("intake.duplicate", row, Message=f"same Data as FileProcess {min(made.repeats.values())}")
            if len(self._repeating) >= FEW:
                self._repeating.clear()
            repeats = {batch.batch_id for batch in batches if batch.name in made.repeats}
            self._repeating[row.intake_id] = row, self._repeats(row) | repeats
        return CreationReport(
            created=len(made.created),
            duplicates=int(duplicate),
            rejected=int(bool(made.reasons)),
            locked=() if made.blocker is None else ((row.intake_id, self._locked[row.intake_id]),),
        )

    def _name_untaken(self, rows: Sequence[IntakeRow], batches: Mapping[BatchId, BatchDefinition]) -> CreationReport:
        """Write on ready rows that no batch takes their entity; a batch registered later takes them."""
        known = tuple(batches.values())
        said = {row: storable(f"{UNTAKEN} '{visible(row.entity)}'.{meant_by(row.entity, known)}") for row in rows}
        self._say({row: text for row, text in said.items() if row.message != text})
        return CreationReport(untaken=len(rows))

    def _say(self, news: Mapping[IntakeRow, str]) -> None:
        if not news:
            return

        def write(connection: Connection) -> None:
            for row, text in news.items():
                intake.say(connection, row.intake_id, text, self.clock.now())

        self.transactions.run(frozenset({Boundary.POPULATE}), write)
        for row, text in news.items():
            self._tell("intake.untaken", row, Message=text)

    def _tell(self, name: str, row: IntakeRow, **fields: str | int) -> None:
        self.listener(Event(name, {"FileProcess_id": row.intake_id, "Entity": row.entity, **fields}))
