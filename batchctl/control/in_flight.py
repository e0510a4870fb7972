"""The attempts that one controller has under way: started, watched, stopped, and ended until that is recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial

from batchctl.control.allotment import Allotment
from batchctl.control.attempts import Attempt, End, WrittenTurn, made_storable
from batchctl.control.contention import LOCKED_LOOK
from batchctl.control.drafts import late_result
from batchctl.domain.definitions import row_guard
from batchctl.domain.errors import Busy, Conflict, DatabaseRefused
from batchctl.domain.live_texts import SHOWN_EVERY
from batchctl.domain.outcomes import StepOutcome
from batchctl.domain.rows import HistoryEntry, HistoryId, InstanceId
from batchctl.domain.status import HistoryStatus, InstanceStatus, OnLost, StopReason
from batchctl.domain.text import in_short
from batchctl.logs import Event, EventValue, Listener
from batchctl.ports import Boundary, Clock, Finished, Notify, Report, Spawned, StepRunner, Transactions, Wrote
from batchctl.store import Connection, history, instances


@dataclass(slots=True)
class AttemptInFlight:
    """An attempt under way, as this controller knows it."""

    attempt: Attempt
    started: float
    alarmed: bool = False
    stop: StopReason | None = None
    begun: bool = True
    """False for what is recorded as begun and has not been started yet."""
    is_adopted: bool = False
    """True for what another controller has begun."""
    is_gone: bool = False
    """True when its row is gone, as in an older database that was restored: its number will be given again."""
    wrote: bool = False
    """True once anything of what it writes was reported, so that rows may tell of it."""

    @property
    def is_lease_bound(self) -> bool:
        """Say whether others may repeat it, or ask whether it was done, once they take this controller for dead."""
        return self.attempt.step.on_lost is not OnLost.HOLD


class InFlight:
    """All of them, by the number of their row in the history."""

    def __init__(self, runner: StepRunner, clock: Clock, listener: Listener, is_trusted: Callable[[], bool]) -> None:
        """Start with no attempts. `is_trusted` says whether no other controller can take this one for dead."""
        self._runner = runner
        self._clock = clock
        self._listener = listener
        self._is_trusted = is_trusted
        self._in_flight: dict[HistoryId, AttemptInFlight] = {}
        self._spawned: list[Spawned] = []
        self._written: list[Wrote] = []
        self._asked_at = -math.inf
        """When the runner was last asked for what steps have written."""
        self._given_up: dict[HistoryId, AttemptInFlight] = {}
        self._late: list[tuple[Finished, int]] = []
        self.ended: list[End] = []
        """What waits to be recorded."""
        self._waiting = 0
        """How many of these wait for a locked row."""
        self.has_more_to_begin = False
        """True when not all could be started in the time of a turn."""
        self._left: set[HistoryId] = set()
        """Attempts that go on without this controller."""

    def __len__(self) -> int:
        """Count those under way."""
        return len(self._in_flight)

    def __contains__(self, key: object) -> bool:
        """Say whether an attempt is under way, here or without this controller."""
        return key in self._in_flight or key in self._left

    def knows(self, key: HistoryId) -> bool:
        """Say whether an attempt is under way, here or without this controller, or waits to be recorded."""
        return key in self or any(end.attempt.history_id == key for end in self.ended)

    def carries(self, instance_id: InstanceId) -> bool:
        """Say whether any attempt of an instance is under way or waits to be recorded, whatever its row says by now."""
        return instance_id in self.under_way or any(
            end.attempt.instance.instance_id == instance_id for end in self.ended
        )

    @property
    def only_waits(self) -> bool:
        """Say whether all ends that are left wait for a locked row; one that came since then has not been tried."""
        return 0 < self._waiting == len(self.ended)

    def recorded(self, written: WrittenTurn) -> None:
        """Keep the ends that a transaction did not record, and let the runner forget the others."""
        known = {told.attempt.history_id for told in written.announced if told.attempt}
        known |= {end.attempt.history_id for end in written.waiting}
        # The look inside the transaction may have ended what was not begun yet, and what ended meanwhile may be recorded.
        new = [end for end in self.ended if end.attempt.history_id not in known]
        self.ended, self._waiting = [*written.waiting, *new], len(written.waiting)
        self._runner.recorded(
            [told.attempt.history_id for told in written.announced if told.is_recorded and told.attempt]
        )

    @property
    def under_way(self) -> set[InstanceId]:
        """Return the instances of which an attempt is under way, whatever their rows say by now."""
        return {in_flight.attempt.instance.instance_id for in_flight in self._in_flight.values()}

    @property
    def may_meet_others(self) -> bool:
        """Say whether what is begun now may get the number of an attempt that is under way still."""
        return any(in_flight.is_gone for in_flight in self._in_flight.values())

    def add(self, attempts: Iterable[Attempt]) -> None:
        """Take up attempts that are recorded as begun."""
        now = self._clock.monotonic()
        for attempt in attempts:
            self._in_flight[attempt.history_id] = AttemptInFlight(attempt, now, begun=False)

    def begin(self) -> None:
        """Start those that have not been started yet, and let brief ones finish before anything else is done.

        Plugins are asked about each: what takes too long in all is left to the next turn, but for one of them.
        """
        allotment, self.has_more_to_begin = Allotment(self._clock), False
        for key, in_flight in self._in_flight.items():
            # A controller that was frozen meanwhile first looks whether it still owns what it is about to start.
            if not in_flight.begun and self._is_trusted():
                if not allotment.is_left:
                    self.has_more_to_begin = True
                    break
                allotment.spend(partial(self._begin, key, in_flight))
        self._take_in(self._runner.hasten())

    def take_over(self, attempt: Attempt, entry: HistoryEntry) -> None:
        """Go on with an attempt that a dead controller has begun."""
        ready = attempt.prepared
        if ready.handler is None or ready.rendered is None:
            raise ValueError(attempt)
        elapsed = max(timedelta(0), self._clock.now() - attempt.started_at).total_seconds()
        in_flight = AttemptInFlight(attempt, self._clock.monotonic() - elapsed, is_adopted=True)
        self._in_flight[attempt.history_id] = in_flight
        self._runner.adopt(
            attempt.history_id, ready.handler, ready.rendered, entry, lease_bound=in_flight.is_lease_bound
        )

    def collect(self, wait: timedelta, notify: Notify | None) -> None:
        """Wait for what happens, no longer than until the next time limit."""
        now = self._clock.monotonic()
        for in_flight in self._in_flight.values():
            limit = in_flight.attempt.step.max_duration
            if limit is not None and in_flight.stop is None:
                wait = min(wait, limit - timedelta(seconds=now - in_flight.started))
        if self._in_flight and now - self._asked_at >= SHOWN_EVERY.total_seconds():
            self._asked_at = now
            if self._runner.ask_for_output():
                wait = min(wait, SHOWN_EVERY)
        self._take_in(self._runner.collect(max(wait, timedelta(0)), notify))

    def overhear(self) -> Sequence[End]:
        """Return what has ended since the last look; waits for nothing."""
        known = len(self.ended)
        self._take_in(self._runner.overhear())
        return self.ended[known:]

    def _take_in(self, reports: Iterable[Report]) -> None:
        for report in reports:
            found = self._in_flight.get(report.key)
            if found is None:
                self._tell_late(report)
            elif isinstance(report, Spawned):
                self._spawned.append(report)
            elif isinstance(report, Wrote):
                found.wrote = True
                self._written.append(report)
            else:
                del self._in_flight[report.key]
                self.ended.append(_end(found, report))
                if report.may_go_on or report.may_end_later:
                    self._given_up[report.key] = found

    def _tell_late(self, report: Report) -> None:
        """Announce how an attempt that was given up has ended at last: what its instance does now is up to a person."""
        in_flight = self._given_up.get(report.key)
        if in_flight is not None and isinstance(report, Finished):
            del self._given_up[report.key]
            status = HistoryStatus.SUCCESS if report.outcome.succeeded else HistoryStatus.FAILED
            self._tell("step.ended_late", in_flight, Status=status.value, Message=report.outcome.message or "")
            self._late.append((report, in_flight.attempt.instance.claim_token))

    def watch(self) -> None:
        """Stop what takes too long, or must not go on; announce what takes longer than it should."""
        is_trusted = self._is_trusted()
        for key, in_flight in list(self._in_flight.items()):
            step = in_flight.attempt.step
            running = timedelta(seconds=self._clock.monotonic() - in_flight.started)
            if step.max_duration is not None and running >= step.max_duration:
                self._stop(key, in_flight, StopReason.TIMEOUT)
            if in_flight.is_lease_bound and in_flight.begun and not is_trusted:
                self._stop(key, in_flight, StopReason.LEASE)
            if step.alarm_duration is not None and running >= step.alarm_duration and not in_flight.alarmed:
                in_flight.alarmed = True
                self._tell("step.alarm", in_flight, Seconds=int(running.total_seconds()))

    def look_after(self, connection: Connection) -> None:
        """Stop those whose instance a person cancels, or that are not this controller's any more."""
        for key, in_flight in list(self._in_flight.items()):
            ours = in_flight.attempt.instance
            row = instances.load(connection, ours.instance_id)
            if row is not None and row.status.is_claimed and row.claim_token == ours.claim_token:
                if row.status is InstanceStatus.CANCELLING:
                    self._stop(key, in_flight, StopReason.CANCEL)
                continue
            entry = history.load(connection, key)
            if entry is not None and _goes_on(entry, in_flight) and self._runner.let_go(key):
                # Another controller took this one for dead and goes on with the step: it must not be stopped.
                del self._in_flight[key]
                self._tell("step.taken_over", in_flight, ClaimedBy=(row and row.claimed_by) or "")
            else:
                in_flight.is_gone = entry is None
                self._stop(key, in_flight, StopReason.FENCED)

    def leave(self) -> None:
        """Let what can go on without this controller do so, and stop the rest."""
        for key, in_flight in list(self._in_flight.items()):
            if not in_flight.begun or (in_flight.stop is None and self._runner.let_go(key)):
                del self._in_flight[key]
                self._left.add(key)
                self._tell("step.left", in_flight)
            else:
                self._stop(key, in_flight, StopReason.SHUTDOWN)

    def take_spawned(self) -> list[tuple[Spawned, int]]:
        """Return what has become known of processes of attempts under way, each with its claim token; only once."""
        spawned, self._spawned = self._spawned, []
        under_way = [report for report in spawned if report.key in self._in_flight]
        return [(report, self._in_flight[report.key].attempt.instance.claim_token) for report in under_way]

    def is_under_way(self, key: HistoryId) -> bool:
        """Say whether this controller carries an attempt out whose end it has not heard of."""
        return key in self._in_flight

    def take_written(self) -> list[tuple[Wrote, int]]:
        """Return what attempts under way have written, each with its claim token; only once."""
        written, self._written = self._written, []
        under_way = [report for report in written if report.key in self._in_flight]
        return [(report, self._in_flight[report.key].attempt.instance.claim_token) for report in under_way]

    def take_late(self) -> list[tuple[Finished, int]]:
        """Return how attempts that were given up have ended, once that is recorded, each with its claim token."""
        recorded = [late for late in self._late if not self.knows(late[0].key)]
        self._late = [late for late in self._late if late not in recorded]
        return recorded

    def _begin(self, key: HistoryId, in_flight: AttemptInFlight) -> None:
        in_flight.begun, in_flight.started = True, self._clock.monotonic()
        ready = in_flight.attempt.prepared
        if ready.handler is None or ready.rendered is None:
            self._runner.refuse(key, ready.refused or "", put_back=ready.put_back)
        else:
            self._runner.start(key, ready.handler, ready.rendered, lease_bound=in_flight.is_lease_bound)

    def _stop(self, key: HistoryId, in_flight: AttemptInFlight, why: StopReason) -> None:
        if in_flight.stop is not None:
            return
        in_flight.stop = why
        self._tell("step.stopping", in_flight, Reason=why.value)
        if in_flight.begun:
            self._runner.stop(key)
            return
        del self._in_flight[key]
        if why is not StopReason.FENCED:
            outcome = StepOutcome(succeeded=False, stopped=True, message="it was stopped before it was started")
            self.ended.append(End(attempt=in_flight.attempt, outcome=outcome, stop=why))

    def _tell(self, name: str, in_flight: AttemptInFlight, **fields: EventValue) -> None:
        self._listener(Event(name, {**in_flight.attempt.fields, **fields}))


def _goes_on(entry: HistoryEntry, in_flight: AttemptInFlight) -> bool:
    """Say whether an attempt goes on under another claim."""
    return entry.status is HistoryStatus.RUNNING and entry.claim_token != in_flight.attempt.instance.claim_token


def _end(in_flight: AttemptInFlight, report: Finished) -> End:
    outcome = row_guard.counted(made_storable(report.outcome))
    if in_flight.is_adopted:
        outcome = _by_adopter(in_flight.attempt, outcome)
    never_ran = report.never_ran or outcome.never_ran
    return End(
        in_flight.attempt,
        outcome,
        report.identity,
        report.ended_at,
        in_flight.stop,
        never_ran,
        may_go_on=report.may_go_on,
        wrote=in_flight.wrote or in_flight.is_adopted,
    )


def _by_adopter(attempt: Attempt, outcome: StepOutcome) -> StepOutcome:
    """Write into the message who saw the end: the row names only the controller that began the attempt."""
    how = outcome.message or ("it succeeded" if outcome.succeeded else "it failed")
    return replace(outcome, message=f"{how}; seen to its end by {attempt.instance.claimed_by}, which took it over")


SHORT = 0.1
"""Seconds within which many attempts end: what has not run for longer needs no transaction for its process alone."""


@dataclass(slots=True)
class Notes:
    """What one controller has to write of the processes of its attempts, and of the late ends of those it gave up."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    _unwritten: list[tuple[Spawned | Finished, int]] = field(default_factory=list)
    """What is not written yet, each with its claim token."""
    _since: float = math.inf
    """Since when there is something to write."""
    _met_lock: bool = False
    _tried_at: float = -math.inf
    """When it was last tried to write what met a lock."""

    def write(self, flights: InFlight) -> None:
        """Write what is new of attempts under way, unless they may end at once, and once in a while what met a lock.

        An attempt that has ended needs no note of its process: its end says the same.
        """
        late = flights.take_late()
        known = (*self._unwritten, *flights.take_spawned(), *late)
        notes = [note for note in known if isinstance(note[0], Finished) or note[0].key in flights]
        self._unwritten = notes
        now = self.clock.monotonic()
        self._since = min(self._since, now) if notes else math.inf
        if (now - self._since < SHORT and not late) or (self._met_lock and not self._is_time):
            return
        self._tried_at = now
        try:
            self._unwritten = self.transactions.run(frozenset({Boundary.SPAWNED}), self._write, nowait=True)
            self._met_lock = bool(self._unwritten)
            self._since = now if self._unwritten else math.inf
        except Conflict:
            self._met_lock = True
        except (Busy, DatabaseRefused):
            raise
        except Exception as error:  # noqa: BLE001 - a note about a process must not end the controller
            self._unwritten = []
            self.listener(Event("controller.trouble", {"Message": in_short(error)}))

    @property
    def _is_time(self) -> bool:
        return self.clock.monotonic() - self._tried_at >= LOCKED_LOOK.total_seconds()

    def _write(self, connection: Connection) -> list[tuple[Spawned | Finished, int]]:
        """Write all, or once a lock was met those that are free; return the rest."""
        keys = [report.key for report, _ in self._unwritten]
        free = history.free(connection, keys) if self._met_lock else keys
        for report, token in self._unwritten:
            if report.key not in free:
                continue
            if isinstance(report, Finished):
                now = self.clock.now()
                history.note_late(connection, report.key, token, late_result(report, now), now)
            else:
                history.record_spawned(connection, report.key, token, report.identity)
        return [note for note in self._unwritten if note[0].key not in free]
