"""What may start a batch: switching disables, in the same transaction, what the new mode has no use for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from batchctl import misread
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.rows import BatchDefinition, DataTrigger, MissingPlugin
from batchctl.domain.scheduling.modes import is_scheduled, is_triggered, lets_schedules, lets_triggers, takers_of
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.status import ProcessingMode
from batchctl.operations import unknown
from batchctl.operations.intervene import batch_target
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.scheduling import arming, timetable
from batchctl.operations.scheduling.schedule_findings import ScheduleContext, schedule_findings
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.intake import data_triggers
from batchctl.store.scheduling import schedule_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeSwitch:
    """What was done to a batch, or would be."""

    batch: str
    before: ProcessingMode | None
    after: ProcessingMode | None
    disabled: tuple[str, ...]
    """Schedules and triggers that no batch of the entity has a use for any more, as Source names them."""
    left: tuple[str, ...]
    """Those that stay because another batch of the entity is started by them."""
    others: tuple[str, ...]
    """Those of the entity that are disabled, that the new mode would let, and that can be enabled as they are."""
    dry_run: bool
    missing: tuple[MissingPlugin, ...] = ()
    """What the batch and its steps name, and no controller has."""
    misread: tuple[IncidentSign, ...] = ()
    """What else in the batch's rows cannot be meant so."""


def switch_mode(actor: Actor, name: str, mode: ProcessingMode | None, *, zone: str, reason: str | None) -> ModeSwitch:
    """Say what may start a batch; `zone` is the business time zone. Raises `NotFound`."""
    reason = checked_reason(reason)

    def act(connection: Connection) -> ModeSwitch:
        context = timetable.schedule_context(connection, zone, actor.clock.now())
        batch = unknown.named(connection, context.batches, name)
        was_let = lets_schedules(takers_of(batch.entity, context.batches))
        batches = [replace(one, mode=mode if one.name == name else one.mode) for one in context.batches]
        context, takers = replace(context, batches=batches), takers_of(batch.entity, batches)
        timed = [one for one in schedule_rows.everything(connection)[0] if one.entity == batch.entity]
        triggers = [one for one in data_triggers.everything(connection)[0] if one.entity == batch.entity]
        idle = _Idle(
            [] if lets_schedules(takers) else [one for one in timed if one.enabled],
            [] if lets_triggers(takers) else [one for one in triggers if one.enabled],
        )
        done = ModeSwitch(
            batch=batch.name,
            before=batch.mode,
            after=mode,
            disabled=idle.sources,
            left=_left(mode, timed, triggers, takers),
            others=_others(mode, timed, triggers, context),
            dry_run=actor.dry_run,
            missing=batch.missing_plugins,
            misread=misread.of_batch(connection, batch, batch.missing_plugins, actor.clock.now()),
        )
        if not actor.dry_run:
            _write(actor, connection, batch, mode, idle, reason)
            for schedule in timed if lets_schedules(takers) else ():
                arming.arm(connection, schedule.schedule_id, context, anew=not was_let)
        return done

    return actor.act(act)


@dataclass(frozen=True, slots=True)
class _Idle:
    """What is enabled and starts nothing any more."""

    schedules: Sequence[Schedule]
    triggers: Sequence[DataTrigger]

    @property
    def sources(self) -> tuple[str, ...]:
        return *(one.source for one in self.schedules), *(one.source for one in self.triggers)


def _write(
    actor: Actor,
    connection: Connection,
    batch: BatchDefinition,
    mode: ProcessingMode | None,
    idle: _Idle,
    reason: str | None,
) -> None:
    now = actor.clock.now()
    if batch.mode is not mode:
        definitions.set_mode(connection, batch.batch_id, mode, now)
        before, after = {"ProcessingMode": _word(batch.mode)}, {"ProcessingMode": _word(mode)}
        actor.note(connection, "mode", batch_target(batch.name), reason, before, after)
    for schedule in idle.schedules:
        schedule_rows.disable(connection, schedule.schedule_id, now)
        _note_disabled(actor, connection, f"Schedule:{schedule.name}", reason)
    for trigger in idle.triggers:
        data_triggers.disable(connection, trigger, now)
        _note_disabled(actor, connection, f"DataTrigger:{trigger.name}", reason)


def _note_disabled(actor: Actor, connection: Connection, target: str, reason: str | None) -> None:
    actor.note(connection, "disable", target, reason, {"Enabled": 1}, {"Enabled": 0})


def _left(
    mode: ProcessingMode | None,
    timed: Sequence[Schedule],
    triggers: Sequence[DataTrigger],
    takers: Sequence[BatchDefinition],
) -> tuple[str, ...]:
    """Name what goes on starting the batch too, because its entity is another's as well."""
    found = list[str]()
    if not is_scheduled(mode) and lets_schedules(takers):
        found += [one.source for one in timed if one.enabled]
    if not is_triggered(mode) and lets_triggers(takers):
        found += [one.source for one in triggers if one.enabled]
    return tuple(found)


def _others(
    mode: ProcessingMode | None, timed: Sequence[Schedule], triggers: Sequence[DataTrigger], context: ScheduleContext
) -> tuple[str, ...]:
    found = list[str]()
    if is_scheduled(mode):
        found += [one.source for one in timed if not one.enabled and _can_be_enabled(one, context)]
    if is_triggered(mode):
        found += [one.source for one in triggers if not one.enabled]
    return tuple(found)


def _can_be_enabled(schedule: Schedule, context: ScheduleContext) -> bool:
    return not any(schedule_findings(replace(schedule, enabled=True, decided_until=None), context))


def _word(mode: ProcessingMode | None) -> str | None:
    return None if mode is None else mode.value
