"""C10: what is decided about a schedule's due times is written in one transaction, with the work that it starts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, count
from typing import Any, TypeVar

from batchctl.control.creation import Creation, Creator
from batchctl.domain.errors import BatchctlError
from batchctl.domain.rows import BatchDefinition, InstanceId, IntakeId
from batchctl.domain.scheduling import catch_up
from batchctl.domain.scheduling.catch_up import DISARMED, Fire, ScheduleFinding, ScheduleStanding, Skip
from batchctl.domain.scheduling.due import Instant, Plan
from batchctl.domain.scheduling.schedules import BackfillId, Calendar, Schedule, ScheduleId
from batchctl.domain.scheduling.undecided import Undecided
from batchctl.domain.status import FireOutcome, Overlap, SchedulerEvent, ScheduleType
from batchctl.domain.text import storable
from batchctl.domain.values import value
from batchctl.logs import Event, EventValue
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import Connection, instances, scheduler_log
from batchctl.store.intake import data_triggers, intake
from batchctl.store.scheduling import calendars, schedule_fires, schedule_rows

BOUNDARIES = frozenset({Boundary.SCHEDULE})

Written = TypeVar("Written")


@value
class Known:
    """A schedule as it was read, and what follows from it."""

    schedule: Schedule
    plan: Plan | None
    """None where its timing cannot be understood."""
    timing_hash: str
    calendar: Calendar | None
    takers: Sequence[BatchDefinition]
    """The batches that take its entity."""
    wakes_at: datetime | None = None
    """When there is something to decide."""
    is_missed: bool = False
    """True for one whose only time was over when it was armed."""


@value
class Decided:
    """What was written."""

    schedule: Schedule
    """As it is now."""
    events: list[Event]
    creations: list[Creation]

    @property
    def has_fired(self) -> bool:
        """Say whether it has started work."""
        return any(event.name == "schedule.fired" for event in self.events)


@dataclass(frozen=True, slots=True)
class Deciding:
    """Writes what is decided; decides nothing by a schedule that somebody has changed since it was read."""

    clock: Clock
    creator: Creator
    is_harmless: Callable[[BatchDefinition], bool]
    """Says whether a batch's populator may be called while a transaction is open."""
    grace: timedelta
    zone_rules: str | None

    def run(self, transactions: Transactions, write: Callable[[Deciding, Any], Written]) -> Written:
        """Write in one transaction; if an instance is refused, write without it: its row reports that as any other."""
        try:
            return transactions.run(BOUNDARIES, partial(write, self), nowait=True)
        except BatchctlError:
            raise
        except Exception:  # noqa: BLE001 - constraints and triggers of others refuse with whatever they please
            return transactions.run(BOUNDARIES, partial(write, replace(self, is_harmless=_never)), nowait=True)

    def write(
        self, connection: Connection, known: Known, plan: Plan, failure: ScheduleFinding | None = None
    ) -> Decided | None:
        """Decide what is due by now and write it, unless the schedule or its calendar is not as it was read."""
        schedule = schedule_rows.load_locked(connection, known.schedule.schedule_id)
        if schedule is None or schedule != known.schedule or not _has_its_calendar(connection, known):
            return None
        now, decided = self.clock.now(), Decided(schedule, [], [])
        undecided = schedule_fires.undecided(connection, schedule.schedule_id, plan)
        decision = catch_up.decide(schedule, undecided, now, self.grace, failure)
        for one in decision.in_order:
            if isinstance(one, Skip):
                self._skip(connection, decided, one, now)
            else:
                self._fire(connection, known, plan, decided, one, now)
        next_run = catch_up.next_run(schedule, undecided, decision.decided_until, now)
        standing = ScheduleStanding(next_run, decision.decided_until, known.timing_hash)
        is_over = schedule.timing.schedule_type is ScheduleType.ONCE and next_run is None
        standing = DISARMED if is_over else standing
        schedule_rows.stand(connection, schedule.schedule_id, standing, now, disable=is_over)
        self.tell_passed(connection, decided, undecided, now)
        return Decided(standing.of(replace(schedule, enabled=not is_over)), decided.events, decided.creations)

    def tell_passed(self, connection: Connection, decided: Decided, undecided: Undecided, now: datetime) -> None:
        """Log the next due times that were decided as those of other moments, before timing or calendar were changed."""
        for said, intake_id in schedule_fires.unlogged(connection, decided.schedule, undecided):
            self._log(connection, decided, SchedulerEvent.SKIPPED, said, now, intake_id)

    def _fire(
        self, connection: Connection, known: Known, plan: Plan, decided: Decided, fire: Fire, now: datetime
    ) -> None:
        schedule, instant = decided.schedule, fire.instant
        blocker = data_triggers.blocker(connection, schedule.entity) if schedule.overlap is Overlap.SKIP else None
        if blocker is not None:
            said = f"Overlap is skip, and {blocker}"
            skip = Skip(instant.key, fire.due, None, 1, said)
            self._skip(connection, decided, skip, now, blocker.intake_id, blocker.instance_id)
            return
        said = storable(f"{plan.words}; {fire.wording}")
        reason = said if fire.late or instant.reason else None
        self.start(connection, decided, known.takers, instant, said, now, reason=reason)

    def start(
        self,
        connection: Connection,
        decided: Decided,
        takers: Sequence[BatchDefinition],
        instant: Instant,
        wording: str,
        now: datetime,
        *,
        reason: str | None,
        backfill_id: BackfillId | None = None,
    ) -> None:
        """Insert the row that asks for the work of a due time, its instances where they can be made at once, and its fire."""
        schedule = decided.schedule
        intake_id = intake.add(
            connection,
            entity=schedule.entity,
            cycle_key=instant.business_date.isoformat(),
            source=schedule.source,
            message=wording,
        )
        if all(self.is_harmless(batch) for batch in takers):
            creation = self.creator.create_within(connection, intake_id, takers)
            decided.creations.extend([] if creation is None else [creation])
        # Otherwise the leader creates them, which need not be the controller that fires.
        instances.tell(connection)
        schedule_fires.add(
            connection,
            schedule.schedule_id,
            instant.key,
            FireOutcome.FIRED,
            catch_up.due_of(instant),
            now,
            reason=reason,
            intake_id=intake_id,
            backfill_id=backfill_id,
            zone_rules=self.zone_rules,
        )
        self._log(connection, decided, SchedulerEvent.FIRED, wording, now, intake_id)

    def _skip(
        self,
        connection: Connection,
        decided: Decided,
        skip: Skip,
        now: datetime,
        intake_id: IntakeId | None = None,
        instance_id: InstanceId | None = None,
    ) -> None:
        reason, schedule_id = storable(skip.reason), decided.schedule.schedule_id
        schedule_fires.add(
            connection,
            schedule_id,
            _free_key(connection, schedule_id, skip),
            FireOutcome.SKIPPED,
            skip.due,
            now,
            due_until=skip.due_until,
            instants=skip.instants,
            reason=reason,
            zone_rules=self.zone_rules,
        )
        said = f"due {skip.shown}: {reason}"
        self._log(connection, decided, SchedulerEvent.SKIPPED, said, now, intake_id, instance_id)

    def _log(
        self,
        connection: Connection,
        decided: Decided,
        event: SchedulerEvent,
        wording: str,
        now: datetime,
        intake_id: IntakeId | None = None,
        instance_id: InstanceId | None = None,
    ) -> None:
        schedule = decided.schedule
        scheduler_log.add(connection, event, schedule, now, wording, intake_id=intake_id, instance_id=instance_id)
        about = {"ScheduleName": schedule.name, "Entity": schedule.entity, "Message": wording}
        fields: dict[str, EventValue] = {**about} if intake_id is None else {**about, "FileProcess_id": intake_id}
        decided.events.append(Event(f"schedule.{event}", fields))


def _never(_: BatchDefinition) -> bool:
    return False


def _has_its_calendar(connection: Connection, known: Known) -> bool:
    timing = known.schedule.timing
    return timing.calendar_name is None or calendars.of(connection, timing) == known.calendar


def _free_key(connection: Connection, schedule_id: ScheduleId, skip: Skip) -> str:
    """Return the key of what is skipped; that of a stretch may be taken, if a clock that was set back repeats it."""
    if skip.due_until is None:
        return skip.key
    keys = chain([skip.key], (f"{skip.key}#{number}" for number in count(2)))
    return next(key for key in keys if not schedule_fires.decided(connection, schedule_id, [key]))
