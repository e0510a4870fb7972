"""What becomes of one row, written inside the caller's transaction: its instances, and the message on the row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard
from zoneinfo import ZoneInfo

from batchctl.control.asked_rows import WantedCreation
from batchctl.domain.errors import Conflict
from batchctl.domain.rows import MOST_TRIES, BatchId, InstanceId, IntakeId, IntakeRow, Populated
from batchctl.domain.scheduling.wall_clock import WallClock
from batchctl.domain.status import IntakeStatus
from batchctl.domain.text import visible
from batchctl.ports import Clock
from batchctl.store import Connection, instances
from batchctl.store.intake import intake
from batchctl.store.statements import PendingAnswer

UNTAKEN = "no batch takes entity"
"""How a message begins that no longer holds once a batch takes the row."""


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one row for each of its batches."""

    created: Mapping[BatchId, InstanceId] = field(default_factory=dict)
    repeats: Mapping[str, IntakeId] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    """What took too long; it may answer another time."""
    blocker: str | None = None
    """Who keeps the row or one of its batches locked, so that nothing was done yet."""


@dataclass(frozen=True, slots=True)
class SentCreation:
    """The instances of one row that the database was sent."""

    row: IntakeRow
    locked: PendingAnswer[tuple[IntakeRow | None, frozenset[BatchId]]]
    """The row as it stands, locked, and the batches that have their instance of it."""
    added: Mapping[BatchId, PendingAnswer[InstanceId]]


@dataclass(frozen=True, slots=True)
class IntakeWriter:
    """Writes what becomes of a row."""

    clock: Clock
    zone: ZoneInfo

    def send(self, wanted: WantedCreation, connection: Connection) -> SentCreation | Made:
        """Send all statements at once where nothing has to be looked at first; else write, and return the outcome."""
        row = wanted.row
        values = {key: each for key, each in wanted.populated.items() if not isinstance(each, str)}
        if wanted.compares or len(values) < len(wanted.batches) or wanted.tries != row.tries:
            return self.write(wanted, connection)
        if intake.is_locked(connection, row, wanted.batch_ids, compares=False):
            return Made(blocker=instances.blocker(connection))
        locked = intake.ask_locked(connection, row.intake_id)
        added = {
            batch.batch_id: instances.ask_to_add(
                connection, row, batch, values[batch.batch_id], self._cycle_key(row, values[batch.batch_id])
            )
            for batch in wanted.batches
        }
        return SentCreation(row, locked, added)

    def settle(self, sent: SentCreation | Made, connection: Connection) -> Made:
        """Return the outcome of what was sent; raises `Conflict` when the row is not as it was read."""
        if isinstance(sent, Made):
            return sent
        row, (found, _) = sent.row, sent.locked.take()
        if not is_still(found, row) or found.tries != row.tries:
            message = f"FileProcess {row.intake_id} is not as it was read."
            raise Conflict(message)
        made = Made({key: instance_id.take() for key, instance_id in sent.added.items()})
        self._conclude(connection, found, made, self.clock.now(), taken=True)
        return made

    def write(self, wanted: WantedCreation, connection: Connection) -> Made:
        """Write what was wanted of a row, and the outcome on the row itself; wait for locks on it."""
        now, row = self.clock.now(), wanted.row
        if intake.is_locked(connection, row, wanted.batch_ids, compares=wanted.compares):
            return Made(blocker=instances.blocker(connection))
        found, have_theirs = intake.load_locked(connection, row.intake_id)
        if not is_still(found, row):
            # What its populators made is not of this row: if it is ready still, it misses its instances still.
            return Made()
        created: dict[BatchId, InstanceId] = {}
        repeats: dict[str, IntakeId] = {}
        reasons: list[str] = []
        late: list[str] = []
        for batch in wanted.batches:
            if batch.batch_id in have_theirs:
                continue
            values = wanted.populated[batch.batch_id]
            if batch.batch_id in wanted.hung:
                late.append(f"batch {visible(batch.name)}: {values}")
                continue
            if isinstance(values, str):
                reasons.append(f"batch {visible(batch.name)}: {values}")
                continue
            first = intake.first_with_same_data(connection, row, batch.batch_id) if batch.duplicate_check else None
            if first is not None:
                repeats[batch.name] = first
            else:
                added = instances.add(connection, row, batch, values, self._cycle_key(row, values))
                created[batch.batch_id] = added
        made = Made(created, repeats, tuple(reasons), late=tuple(late))
        self._conclude(connection, found, made, now, taken=bool(created or have_theirs or late or wanted.awaits))
        # What others have created meanwhile is awaited no more.
        tries = wanted.tries if late or wanted.awaits - have_theirs else 0
        if tries != found.tries:
            intake.await_populator(connection, row.intake_id, tries, now)
        if found.tries and not tries:
            # Those made before may all be done.
            intake.complete_if_done(connection, row.intake_id, now)
        return made

    def _conclude(self, connection: Connection, row: IntakeRow, made: Made, now: Any, *, taken: bool) -> None:
        """Write on the row itself what became of it."""
        said = [f"batch {visible(name)}: same Data as FileProcess {first}" for name, first in made.repeats.items()]
        late = "; ".join(made.late)
        if made.late and row.tries + 1 >= MOST_TRIES:
            late += f". That was the {MOST_TRIES}rd time: it waits now (batchctl why file:{row.intake_id})"
        reason = "; ".join([*made.reasons, *said, *([late] if late else [])]) or None
        if made.reasons:
            intake.set_status(connection, row, IntakeStatus.REJECTED, reason, now)
        elif made.repeats and not taken:
            intake.set_status(connection, row, IntakeStatus.DUPLICATE, reason, now)
        elif reason != row.message and (reason is not None or _is_untaken(row.message)):
            # Otherwise the message belongs to its sender, or to a trigger.
            intake.say(connection, row.intake_id, reason, now)

    def _cycle_key(self, row: IntakeRow, values: Populated) -> str:
        return row.cycle_key or values.cycle_key or WallClock(self.zone).day_of(row.inserted_at).isoformat()


def is_still(found: IntakeRow | None, row: IntakeRow) -> TypeGuard[IntakeRow]:
    """Say whether a row is as it was read, apart from its message."""
    return found is not None and replace(found, message=row.message, tries=row.tries) == row


def _is_untaken(message: str | None) -> bool:
    return message is not None and message.startswith(UNTAKEN)
