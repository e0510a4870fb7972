"""A duty of every node that fires: starts work for past due times that a person asks for, each once, few at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from typing import ClassVar

from batchctl.control.alerting.row_warnings import Row, RowWarnings
from batchctl.control.scheduling.deciding import Decided, Deciding
from batchctl.control.worker import SLICE
from batchctl.domain.errors import BatchctlError, Conflict
from batchctl.domain.scheduling.backfill_turns import BackfillTurn, begin_of, is_own, next_turn, reach_of
from batchctl.domain.scheduling.due import Instant, Plan, UnfitTiming, plan_of
from batchctl.domain.scheduling.schedules import Backfill, Schedule
from batchctl.domain.status import BackfillStatus
from batchctl.domain.text import in_short, storable
from batchctl.domain.values import value
from batchctl.logs import Event, Listener
from batchctl.ports import Change, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.scheduler_log import LogSource
from batchctl.store.scheduling import backfills, calendars, schedule_fires, schedule_rows

PAGE = 500
"""How many due times are looked at in one transaction."""
AT_ONCE = 20
"""For how many of them one transaction starts work."""
EVERY = 1.0
"""Seconds between two looks while a backfill runs: when its work is done, the next may start."""


@value
class _Done:
    """What one transaction has done for a backfill."""

    decided: Decided | None = None
    is_over: bool = False
    is_orphan: bool = False
    """True when its schedule no longer exists, and it was cancelled for that."""
    has_more: bool = False
    """True when more can be done at once."""

    @property
    def has_fired(self) -> bool:
        """Say whether it has started work."""
        return self.decided is not None and self.decided.has_fired


@dataclass(slots=True)
class Backfilling:
    """Fires what backfills ask for, oldest first; an error of one concerns that one alone.

    All is decided in the transaction that writes it, by the schedule as it stands then: a leader that woke up late meets
    rows that are decided already, and the database refuses to have a due time decided twice.
    """

    transactions: Transactions
    clock: Clock
    deciding: Deciding
    listener: Listener
    poll_interval: float
    default_zone: str
    wake: Callable[[], None]
    """Lets the controller come back without waiting."""
    name: ClassVar[str] = "backfills"
    _looked_at: float = -math.inf
    _is_running: bool = False
    _is_behind: bool = False
    _row_warnings: RowWarnings = field(init=False)

    def __post_init__(self) -> None:
        """Start without having reported anything."""
        self._row_warnings = RowWarnings(self.transactions, self.clock, self.listener)

    @property
    def is_busy(self) -> bool:
        """Say whether more can be fired at once."""
        return self._is_behind

    def look(self, noticed: Change = Change.NOTHING) -> bool:
        """Fire what there is room for, for a while."""
        now = self.clock.monotonic()
        is_wanted = self._is_running or noticed is not Change.NOTHING
        if not self._is_behind and now - self._looked_at < (EVERY if is_wanted else self.poll_interval):
            return False
        return self._go_on(now + SLICE)

    def finish(self) -> bool:
        """Fire all that there is room for."""
        return self._go_on(math.inf)

    def _go_on(self, until: float) -> bool:
        self._looked_at = self.clock.monotonic()
        with self.transactions.read() as connection:
            running, broken = backfills.running(connection)
            found = [backfill for backfill in running if self._may_go_on(connection, backfill)]
        for unreadable in broken:
            self._tell(unreadable.row_id, f"the row cannot be read: {storable(unreadable.wording)}")
        self._is_running, self._is_behind = bool(running), False
        has_fired = False
        for backfill in found:
            done = self._advance(backfill)
            has_fired |= done.has_fired
            while done.has_more and self.clock.monotonic() < until:
                done = self._advance(backfill)
                has_fired |= done.has_fired
            self._is_behind |= done.has_more
        if self._is_behind:
            self.wake()
        return has_fired

    def _may_go_on(self, connection: Connection, backfill: Backfill) -> bool:
        """Say whether there is anything to write: one that only waits, for a weekend or a year, locks nothing."""
        try:
            schedule = schedule_rows.load(connection, backfill.schedule_id)
            if schedule is None:
                return True
            plan = plan_of(schedule.timing, self.default_zone, calendars.of(connection, schedule.timing))
            turn = _turn(connection, backfill, schedule, plan, self.clock.now())
        except Exception:  # noqa: BLE001 - `_advance` meets it again, and reports it
            return True
        return _is_news(backfill, turn)

    def _advance(self, backfill: Backfill) -> _Done:
        """Do the next piece of a backfill, and report it."""
        try:
            done = self.deciding.run(self.transactions, partial(self._write, backfill))
        except Conflict:
            # Somebody keeps a row locked, for a moment.
            return _Done()
        except BatchctlError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary between one backfill and the next
            self._tell(backfill.backfill_id, _wording(error))
            return _Done()
        self._row_warnings.forget(_row(backfill.backfill_id))
        if done.decided is not None:
            for event in done.decided.events:
                self.listener(event)
            for creation in done.decided.creations:
                self.deciding.creator.created_within(creation)
        if done.is_orphan:
            said = "its schedule was deleted"
            self.listener(Event("backfill.cancelled", {"ScheduleBackfill_id": backfill.backfill_id, "Message": said}))
        if done.is_over:
            self.listener(Event("backfill.complete", {"ScheduleBackfill_id": backfill.backfill_id}))
        return done

    def _write(self, found: Backfill, deciding: Deciding, connection: Connection) -> _Done:
        # A schedule is removed by locking it first, and then its backfills and fires.
        schedule = schedule_rows.load_locked(connection, found.schedule_id)
        backfill = backfills.load_locked(connection, found.backfill_id)
        if backfill is None or backfill.status is not BackfillStatus.RUNNING:
            return _Done()
        if schedule is None:
            # Foreign keys were switched off: it is unknown what was due.
            now = self.clock.now()
            backfills.change(
                connection, backfill.backfill_id, {"Status": BackfillStatus.CANCELLED.value, "z_updated": now}
            )
            return _Done(is_orphan=True)
        plan = plan_of(schedule.timing, self.default_zone, calendars.of(connection, schedule.timing))
        now, decided = self.clock.now(), Decided(schedule, [], [])
        turn = _turn(connection, backfill, schedule, plan, now)
        takers = [batch for batch in definitions.all_batches(connection) if batch.entity == schedule.entity]
        for instant in turn.fires:
            said = storable(_words(backfill, plan, instant))
            backfill_id = backfill.backfill_id
            deciding.start(connection, decided, takers, instant, said, now, reason=said, backfill_id=backfill_id)
        if _is_news(backfill, turn):
            _keep(connection, backfill, turn, now)
        return _Done(decided, is_over=turn.is_complete, has_more=turn.has_room)

    def _tell(self, backfill_id: int, message: str) -> None:
        """Report what is wrong with a backfill under its own name: the name of its schedule may be unreadable."""
        said = f"{message.removesuffix('.')}; until that is corrected it starts nothing"
        event = Event("backfill.error", {"ScheduleBackfill_id": backfill_id})
        self._row_warnings.tell(_row(backfill_id), event, said, LogSource(f"backfill {backfill_id}"))


def _row(backfill_id: int) -> Row:
    return ("ScheduleBackfill", backfill_id)


def _turn(connection: Connection, backfill: Backfill, schedule: Schedule, plan: Plan, now: datetime) -> BackfillTurn:
    """Choose what to do next, from what is decided already and from how much is open.

    A due time to come, or one that the schedule has yet to decide by itself, is never a backfill's: it waits there.
    """
    done_until = begin_of(backfill)
    until = max(done_until, min(backfill.last, reach_of(schedule, now)))
    schedule_id = backfill.schedule_id
    every = schedule_fires.undecided(connection, schedule_id, plan).looked_up(done_until, until)
    page = list(islice(every, PAGE + 1))
    return next_turn(
        page[:PAGE],
        backfills.stretches(connection, schedule_id, backfill.first, backfill.last),
        missed=backfill.missed,
        room=max(0, backfill.most_open - backfills.count_open(connection, backfill.backfill_id)),
        at_once=AT_ONCE,
        done_until=done_until,
        until=until,
        more_follow=len(page) > PAGE,
        is_end=not is_own(schedule, plan, backfill.last, now),
    )


def _is_news(backfill: Backfill, turn: BackfillTurn) -> bool:
    return bool(turn.fires) or turn.is_complete or turn.done_until != backfill.done_until


def _keep(connection: Connection, backfill: Backfill, turn: BackfillTurn, now: datetime) -> None:
    columns: dict[str, object] = {"DoneUntil": turn.done_until, "z_updated": now}
    if turn.fires:
        columns["Fired"] = backfill.fired + len(turn.fires)
    if turn.is_complete:
        columns["Status"] = BackfillStatus.COMPLETE.value
    backfills.change(connection, backfill.backfill_id, columns)


def _words(backfill: Backfill, plan: Plan, instant: Instant) -> str:
    moved = f" ({instant.reason})" if instant.reason else ""
    return f"{plan.words}; due {instant.local}{moved}; backfill {backfill.backfill_id} by {backfill.actor}"


def _wording(error: Exception) -> str:
    if isinstance(error, UnfitTiming):
        return storable(f"{error.column}: {error.message}")
    return storable(in_short(error))
