"""The leader's duty that starts work because rows wait in staging tables: a round over all triggers at every look."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from batchctl.domain.errors import BatchctlError
from batchctl.domain.intake import triggers
from batchctl.domain.intake.triggers import Blocker, Counted, TriggerVerdict
from batchctl.domain.rows import DataTrigger, InstanceId, IntakeId, LogEntry
from batchctl.domain.status import SchedulerEvent
from batchctl.domain.text import in_short, storable
from batchctl.logs import Event, EventValue, Listener
from batchctl.ports import Answer, Boundary, Change, Clock, Inquiries, Transactions
from batchctl.store import Connection, scheduler_log
from batchctl.store.intake import data_triggers, intake

Counting = Callable[[DataTrigger, timedelta | None], Counted]
"""Counts what waits in a trigger's staging table, apart from rows that came after it fired some time ago.

Any thread may call it; it takes its time, and raises whatever went wrong.
"""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A trigger as it was when its round began, and when its table was asked about."""

    trigger: DataTrigger
    at: datetime

    @property
    def passes_failed(self) -> bool:
        """Say whether work that has failed may be passed over."""
        return triggers.passes_failed(self.trigger, triggers.fired_ago(self.trigger, self.at))


COUNTS_AGAIN = "its rows can be counted again"
_Key = tuple[SchedulerEvent, str | IntakeId]


@dataclass(frozen=True, slots=True)
class _Silence:
    """Why a trigger did not fire though it might have."""

    event: SchedulerEvent
    message: str
    intake_id: IntakeId | None = None
    instance_id: InstanceId | None = None
    rows_queued: int | None = None

    @property
    def key(self) -> _Key:
        """Return what is not repeated: an error by its words, what blocks by the row it was made of."""
        return self.event, self.message if self.intake_id is None else self.intake_id

    def is_as(self, entry: LogEntry) -> bool:
        """Say whether a row of the log says the same."""
        if self.event is not entry.event:
            return False
        return entry.message == self.message if self.intake_id is None else entry.intake_id == self.intake_id


@dataclass(slots=True)
class Triggering:
    """Evaluates the enabled triggers; an error of one concerns that one alone."""

    transactions: Transactions
    clock: Clock
    inquiries: Inquiries
    count: Counting
    listener: Listener
    poll_interval: timedelta
    name: str = "triggers"
    _began_at: float = -math.inf
    _has_looked: bool = False
    """True once a whole round has been taken in."""
    _asked: dict[int, _Asked] = field(default_factory=dict)
    _announced: dict[int, _Key] = field(default_factory=dict)
    """What was last announced of each trigger."""
    _logged: dict[int, _Key | None] = field(default_factory=dict)
    """What was last logged of each; None once there was nothing to log any more."""

    @property
    def is_busy(self) -> bool:
        """Say whether the first round is under way: to look again, whenever it is time, is no work yet."""
        return not self._has_looked and self.inquiries.is_busy

    def look(self, noticed: Change = Change.NOTHING) -> bool:  # noqa: ARG002 - it looks by the clock
        """Begin a round if one is due, and take in what was counted."""
        if self.clock.monotonic() - self._began_at >= self.poll_interval.total_seconds():
            self._begin()
        return self._take_in()

    def finish(self) -> bool:
        """Do a whole round now."""
        self._begin()
        has_fired = self._take_in()
        while self.inquiries.is_busy:
            self.inquiries.wait()
            has_fired |= self._take_in()
        return has_fired

    def _begin(self) -> None:
        """Ask about every trigger as it stands now: what is changed meanwhile counts from the next round on."""
        self._began_at = self.clock.monotonic()
        with self.transactions.read() as connection:
            found = data_triggers.enabled(connection)
        for trigger in found:
            now = self.clock.now()
            question = partial(self.count, trigger, triggers.fired_ago(trigger, now))
            if self.inquiries.ask(trigger.row_id, question):
                self._asked[trigger.row_id] = _Asked(trigger, now)

    def _take_in(self) -> bool:
        has_fired = False
        for answer in self.inquiries.answers():
            asked = self._asked.pop(answer.key)
            try:
                has_fired |= self._act(asked, answer)
            except Exception as error:  # noqa: BLE001 - whatever one trigger meets, the others go on
                # It is looked at again in the next round, whatever of this could be written.
                self._tell("trigger.error", asked.trigger, Message=_wording(error))
        self._has_looked = self._has_looked or not self.inquiries.is_busy
        return has_fired

    def _act(self, asked: _Asked, answer: Answer) -> bool:
        trigger = asked.trigger
        if answer.error is not None:
            self._say(trigger, _Silence(SchedulerEvent.ERROR, _wording(answer.error)))
            return False
        verdict = triggers.decide(trigger, answer.found, triggers.fired_ago(trigger, asked.at))
        if not verdict.fires:
            self._recover(trigger)
            self._forget(trigger)
            return False
        found = self.transactions.run(frozenset({Boundary.INTAKE}), partial(self._fire, asked, verdict))
        if isinstance(found, Blocker):
            said, queued = f"{verdict.reason}, but {found}", verdict.counted.pending
            self._say(trigger, _Silence(SchedulerEvent.SKIPPED, said, found.intake_id, found.instance_id, queued))
            return False
        if found is not None:
            self._forget(trigger)
            self._tell("trigger.fired", trigger, FileProcess_id=found, Message=verdict.reason)
        return found is not None

    def _fire(self, asked: _Asked, verdict: TriggerVerdict, connection: Connection) -> IntakeId | Blocker | None:
        """Start work; None when another leader has done so, or what blocks: work of the entity that is not done yet."""
        trigger, now = asked.trigger, self.clock.now()
        found = data_triggers.blocker(connection, trigger.entity, passes_failed=asked.passes_failed)
        if found is not None:
            return found
        # What came after the trigger was asked about has not been counted, and still is to be.
        if not data_triggers.mark_fired(connection, trigger, asked.at, now):
            return None
        intake_id = intake.add(
            connection,
            entity=trigger.entity,
            file_name=None,
            data=None,
            cycle_key=None,
            source=trigger.source,
            message=verdict.reason,
        )
        said, queued = verdict.reason, verdict.counted.pending
        scheduler_log.add(connection, SchedulerEvent.FIRED, trigger, now, said, intake_id=intake_id, rows_queued=queued)
        return intake_id

    def _say(self, trigger: DataTrigger, silence: _Silence) -> None:
        """Announce and log why a trigger did not fire: once while that stays the same; the log outlasts restarts."""
        if self._announced.get(trigger.row_id) != silence.key:
            self._announced[trigger.row_id] = silence.key
            self._tell(f"trigger.{silence.event}", trigger, Message=silence.message)
        if self._logged.get(trigger.row_id) != silence.key:
            self.transactions.run(frozenset({Boundary.INTAKE}), partial(self._log, trigger, silence))
            self._logged[trigger.row_id] = silence.key

    def _log(self, trigger: DataTrigger, silence: _Silence, connection: Connection) -> None:
        if trigger.row_id not in self._logged:
            last = scheduler_log.last_of(connection, trigger)
            if last is not None and silence.is_as(last):
                return
        scheduler_log.add(
            connection,
            silence.event,
            trigger,
            self.clock.now(),
            silence.message,
            intake_id=silence.intake_id,
            instance_id=silence.instance_id,
            rows_queued=silence.rows_queued,
        )

    def _recover(self, trigger: DataTrigger) -> None:
        """Log that a trigger can count again whose last entry is an error: until then it counts as a dead end."""
        known = self._logged.get(trigger.row_id)
        if trigger.row_id in self._logged and (known is None or known[0] is not SchedulerEvent.ERROR):
            return

        with self.transactions.read() as connection:
            last = scheduler_log.last_of(connection, trigger)
        # A failure of the work that it started is not the trigger's own.
        if last is not None and last.event is SchedulerEvent.ERROR and last.intake_id is None:
            self._say(trigger, _Silence(SchedulerEvent.RESCUED, COUNTS_AGAIN))

    def _forget(self, trigger: DataTrigger) -> None:
        """Announce the next reason not to fire, whatever it is."""
        self._announced.pop(trigger.row_id, None)
        self._logged[trigger.row_id] = None

    def _tell(self, name: str, trigger: DataTrigger, **fields: EventValue) -> None:
        self.listener(Event(name, {"TriggerName": trigger.name, "Entity": trigger.entity, **fields}))


def _wording(error: Exception) -> str:
    said = error.in_full if isinstance(error, BatchctlError) else in_short(error)
    return storable(said)
