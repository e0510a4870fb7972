"""Which triggers, watches and schedules start nothing at present because of some trouble: for `status`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from batchctl.domain.status import SchedulerEvent
from batchctl.domain.text import typed
from batchctl.operations.columns import Columns, moment
from batchctl.store import data_triggers, file_watches, scheduler_log, schedules


@dataclass(frozen=True, slots=True)
class Ailing:
    """What should start work and cannot, since when, why, and what to type."""

    source: str
    since: datetime
    message: str
    next_step: str

    @property
    def columns(self) -> Columns:
        """Return it under the names of columns."""
        return {
            "Source": self.source,
            "EventTime": moment(self.since),
            "Message": self.message,
            "Next": self.next_step,
        }


def ailing(connection: Any) -> tuple[Ailing, ...]:
    """Return the enabled triggers and schedules whose last word was an error, and the watches whose folder cannot be listed."""
    return *_triggers(connection), *_watches(connection), *_schedules(connection)


def _triggers(connection: Any) -> Iterator[Ailing]:
    for trigger in data_triggers.enabled(connection):
        last = scheduler_log.last_of(connection, trigger.entity, trigger.source)
        if last is not None and last.event is SchedulerEvent.ERROR:
            yield Ailing(trigger.source, last.at, last.message or "", f"batchctl trigger test {typed(trigger.name)}")


def _watches(connection: Any) -> Iterator[Ailing]:
    for watch in file_watches.everyone(connection):
        if watch.enabled and watch.unreachable_since is not None:
            last = scheduler_log.last_of(connection, watch.entity, watch.source)
            said = (last and last.message) or "the folder cannot be listed"
            yield Ailing(watch.source, watch.unreachable_since, said, f"batchctl watch test {typed(watch.name)}")


def _schedules(connection: Any) -> Iterator[Ailing]:
    for schedule in schedules.everything(connection)[0]:
        # What a controller could make sense of has a next time, or is over.
        if schedule.enabled and schedule.next_run_time is None:
            last = scheduler_log.last_of(connection, schedule.entity, schedule.source)
            if last is not None and last.event is SchedulerEvent.ERROR:
                next_step = f"batchctl schedule test {typed(schedule.name)}"
                yield Ailing(schedule.source, last.at, last.message or "", next_step)
