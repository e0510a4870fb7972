"""The rows about which populators are asked aside, without waiting for the answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from batchctl.domain.rows import MOST_TRIES, BatchDefinition, BatchId, IntakeId, IntakeRow, Populated
from batchctl.ports import PopulatorRunner
from batchctl.preparation import ask_populator


@dataclass(frozen=True, slots=True)
class WantedCreation:
    """What is to be created of one row, as its populators filled it before any transaction."""

    row: IntakeRow
    batches: Sequence[BatchDefinition]
    populated: Mapping[BatchId, Populated | str]
    hung: frozenset[BatchId] = frozenset()
    """The batches whose populators took too long; for these the reason is known."""
    awaits: frozenset[BatchId] = frozenset()
    """The batches beside these that await an answer."""

    @property
    def compares(self) -> bool:
        """Say whether the row may be a duplicate for any of its batches."""
        return self.row.data is not None and any(batch.duplicate_check for batch in self.batches)

    @property
    def batch_ids(self) -> list[BatchId]:
        """Return the batches that are to get their instance."""
        return [batch.batch_id for batch in self.batches]

    @property
    def tries(self) -> int:
        """Return how often populators were asked about the row in vain."""
        if self.hung:
            return self.row.tries + 1
        return max(self.row.tries, 1) if self.awaits else 0


@dataclass(slots=True)
class _Asked:
    """A row of which not all answers have come."""

    row: IntakeRow
    batches: list[BatchDefinition]
    populated: dict[BatchId, Populated | str]
    hung: set[BatchId] = field(default_factory=set)
    lacks: frozenset[BatchId] = frozenset()
    """The batches for which there was no room to ask."""

    @property
    def awaited(self) -> list[BatchDefinition]:
        return [batch for batch in self.batches if batch.batch_id not in self.populated]

    @property
    def known(self) -> list[BatchDefinition]:
        """Return the batches that can have their instances; a rejection ends the row, so it waits for all answers."""
        return [batch for batch in self.batches if isinstance(self.populated.get(batch.batch_id), Populated)]


@dataclass(slots=True)
class AskedRows:
    """Asks, and hands out each row as soon as something can be created of it."""

    populators: PopulatorRunner
    gives_up: bool = False
    """True for a caller that does not ask again about what others have asked about in vain."""
    _asked: dict[IntakeId, _Asked] = field(default_factory=dict)
    _given_up: dict[IntakeId, tuple[BatchDefinition, ...]] = field(default_factory=dict)
    """Rows that are asked about no more, each with the definitions by which they were asked about."""

    def __bool__(self) -> bool:
        """Say whether any answer is awaited."""
        return bool(self._asked)

    def __contains__(self, intake_id: object) -> bool:
        """Say whether an answer about a row is awaited."""
        return intake_id in self._asked

    @property
    def are_ready(self) -> bool:
        """Say whether there is anything to hand out, as far as is known without looking at each row."""
        return bool(self._asked) and (self.populators.has_answers or any(map(self._is_split, self._asked.values())))

    def left(self, row: IntakeRow, batches: Sequence[BatchDefinition]) -> Sequence[BatchDefinition]:
        """Return the batches without those whose populators, as they are defined, were asked in vain too often."""
        if row.tries < MOST_TRIES:
            return batches
        by = self._given_up.get(row.intake_id)
        if by is None:
            return () if self.gives_up else batches
        return [batch for batch in batches if batch not in by]

    def may_ask(self, batches: Collection[BatchDefinition]) -> bool:
        """Say whether there is room to ask about another row, or no use in waiting for it."""
        if all(map(self.populators.has_room, batches)):
            return True
        # The others are not kept waiting for the one.
        return any(map(self.populators.is_stuck, batches)) and not all(map(self.populators.is_stuck, batches))

    def ask(self, row: IntakeRow, batches: Sequence[BatchDefinition]) -> WantedCreation | None:
        """Return all that is wanted of a row if that is known at once; else ask, and it is handed out later."""
        room = [batch for batch in batches if self.populators.has_room(batch)]
        found = {batch.batch_id: ask_populator(self.populators, row, batch) for batch in room}
        values = {batch_id: each for batch_id, each in found.items() if each is not None}
        lacks = frozenset(batch.batch_id for batch in batches if batch not in room)
        if len(values) == len(room):
            return WantedCreation(row, room, values, awaits=lacks)
        self._asked[row.intake_id] = _Asked(row, room, values, lacks=lacks)
        return None

    def ready(self) -> Iterator[WantedCreation]:
        """Yield what can be created, in the order in which it was asked for."""
        for answer in self.populators.answers():
            asked = self._asked.get(answer.row.intake_id)
            # What was asked before the answers were forgotten may concern an earlier state of the row.
            if asked is not None and asked.row is answer.row:
                asked.populated[answer.batch_id] = answer.values
                asked.hung.update({answer.batch_id} if answer.hung else ())
        for asked in [*self._asked.values()]:
            if not asked.awaited:
                del self._asked[asked.row.intake_id]
                yield WantedCreation(
                    asked.row, asked.batches, asked.populated, frozenset(asked.hung), awaits=asked.lacks
                )
            elif self._is_split(asked):
                known = asked.known
                asked.batches = [batch for batch in asked.batches if batch not in known]
                awaits = asked.lacks.union(batch.batch_id for batch in asked.batches)
                yield WantedCreation(asked.row, known, asked.populated, awaits=awaits)

    def take_note(self, wanted: WantedCreation) -> None:
        """Take note that what was handed out is written: what took too long is asked for again, or given up."""
        if not wanted.hung:
            return
        row = replace(wanted.row, tries=wanted.tries)
        hung = tuple(batch for batch in wanted.batches if batch.batch_id in wanted.hung)
        if row.tries >= MOST_TRIES:
            self._given_up[row.intake_id] = (*self._given_up.get(row.intake_id, ()), *hung)
        else:
            self.ask(row, hung)

    def forget(self) -> None:
        """Want no answer any more."""
        self._asked.clear()

    def _is_split(self, asked: _Asked) -> bool:
        """Say whether the batches of which the values are known wait for one that takes long."""
        return bool(asked.known) and any(map(self.populators.is_stuck, asked.awaited))
