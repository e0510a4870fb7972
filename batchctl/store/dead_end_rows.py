"""The triggers, watches and schedules that are dead ends at present, and the entities for which work can start."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import Connection

from batchctl.domain.dead_ends import DeadEnd, Start
from batchctl.domain.errors import next_step_in
from batchctl.domain.rows import DataTrigger, FileWatchRow
from batchctl.domain.scheduling.schedules import Schedule
from batchctl.domain.status import SchedulerEvent
from batchctl.domain.text import typed
from batchctl.domain.unreadable import UnreadableRow
from batchctl.store import scheduler_log
from batchctl.store.intake import data_triggers, file_watches
from batchctl.store.one_look import one_look
from batchctl.store.scheduling import schedule_rows


def dead_end_starts(connection: Connection) -> tuple[DeadEnd, ...]:
    """Return enabled triggers and schedules last logged with an error, and watches whose folder cannot be listed."""
    triggers = data_triggers.enabled(connection)
    watches = [one for one in file_watches.everyone(connection) if one.enabled and one.unreachable_since is not None]
    # A schedule that a controller could make sense of has a next time, or is over.
    every = schedule_rows.everything(connection)[0]
    schedules = [one for one in every if one.enabled and one.next_run_time is None]
    with one_look():
        scheduler_log.ask_last_of(connection, (*triggers, *watches, *schedules))
        found = (
            *(of_trigger(connection, one) for one in triggers),
            *(_of_watch(connection, one) for one in watches),
            *(_of_schedule(connection, one) for one in schedules),
        )
        return tuple(one for one in found if one is not None)


def unreadable(connection: Connection) -> tuple[UnreadableRow, ...]:
    """Return the rows of what starts work that hold nonsense."""
    return (
        *schedule_rows.everything(connection)[1],
        *data_triggers.everything(connection)[1],
        *file_watches.unreadable(connection),
    )


def starts(connection: Connection) -> Iterator[Start]:
    """Yield all that is enabled and starts work for an entity."""
    timed, triggers = schedule_rows.everything(connection)[0], data_triggers.everything(connection)[0]
    yield from (Start(source=one.source, entity=one.entity) for one in timed if one.enabled)
    yield from (Start(source=one.source, entity=one.entity) for one in triggers if one.enabled)
    watched = file_watches.everyone(connection)
    yield from (Start(source=one.source, entity=one.entity) for one in watched if one.enabled)


def of_trigger(connection: Connection, trigger: DataTrigger) -> DeadEnd | None:
    """Return the error that a controller logged last about a trigger; None when its last log entry is no error."""
    last = scheduler_log.last_of(connection, trigger)
    if last is None or last.event is not SchedulerEvent.ERROR:
        return None
    said = last.message or ""
    return _of(trigger.source, last.at, said, next_step_in(said), f"batchctl trigger test {typed(trigger.name)}")


def _of(source: str, since: datetime, wording: str, mend: str | None, test: str) -> DeadEnd:
    """Return a dead end; the next step is what its message names, if anything: a test would only refuse and name it."""
    return DeadEnd(source, since, wording, test if not mend else f"{mend}   (then: {test})")


def _of_watch(connection: Connection, watch: FileWatchRow) -> DeadEnd | None:
    if watch.unreachable_since is None:
        return None
    last = scheduler_log.last_of(connection, watch)
    said = (last and last.message) or "the folder cannot be listed"
    mend = said.rpartition("; ")[2] if "; " in said else None
    return _of(watch.source, watch.unreachable_since, said, mend, f"batchctl watch test {typed(watch.name)}")


def _of_schedule(connection: Connection, schedule: Schedule) -> DeadEnd | None:
    last = scheduler_log.last_of(connection, schedule)
    if last is None or last.event is not SchedulerEvent.ERROR:
        return None
    said = last.message or ""
    return _of(schedule.source, last.at, said, next_step_in(said), f"batchctl schedule test {typed(schedule.name)}")
