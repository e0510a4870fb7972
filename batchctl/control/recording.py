"""What one turn writes: how attempts ended, which attempts begin. All of it inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import takewhile

from batchctl.control.allotment import Allotment
from batchctl.control.attempts import Attempt, Batches, Begun, End, InstanceMessage, Mark, PlannedAttempt, WrittenTurn
from batchctl.control.drafts import (
    AfterEnd,
    Draft,
    Writing,
    beginning,
    ended_at,
    ending,
    late_result,
    next_plans,
    time_of,
)
from batchctl.control.served_pools import ServedPools
from batchctl.domain import gates, moves
from batchctl.domain.definitions import row_guard
from batchctl.domain.errors import Conflict
from batchctl.domain.moves import not_before
from batchctl.domain.plugins import Plugins
from batchctl.domain.rows import BatchDefinition, BatchInstance, HistoryEntry, InstanceId, IntakeId, Step
from batchctl.domain.status import Cause, HistoryStatus, InstanceStatus, InstanceVerb, OnFailure, StopReason
from batchctl.domain.text import storable
from batchctl.preparation import Prepared, Preparer
from batchctl.store import Connection, history, instances, row_counts, started, turns
from batchctl.store.dependencies import dependencies
from batchctl.store.history import Ending
from batchctl.store.intake import intake
from batchctl.store.operators import confirmation_rows
from batchctl.store.transactions import left_out_if_refused


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes for one controller."""

    preparer: Preparer
    controller: str
    host: str
    plugins: Plugins | None = None
    """What this controller has installed; None where it is not known."""
    serves: ServedPools = field(default_factory=ServedPools)
    allotment: Allotment | None = None
    """How long a turn may make steps ready; None where there is no turn."""

    def can_begin(self, batch: BatchDefinition, step: Step | None) -> bool:
        """Say whether this controller serves a step's pool and has its plugin: else another one begins the step."""
        return step is None or (self.serves.may_begin(batch, step) and self.has_plugin(step))

    def _can_go_on(self, batch: BatchDefinition, step: Step | None, instance_id: InstanceId) -> bool:
        """Say whether an instance may go on with a step at once, and not wait in line for it as all others do."""
        return step is None or (self.serves.can_go_on(batch, step, instance_id) and self.has_plugin(step))

    def has_plugin(self, step: Step) -> bool:
        """Say whether this controller has the plugin that carries a step out."""
        return self.plugins is None or self.plugins.can_begin(step)

    def begin_turn(self) -> None:
        """Give plugins all the time of a turn."""
        if self.allotment is not None:
            self.allotment.renew()

    @property
    def has_time(self) -> bool:
        """Say whether another step may be made ready in this turn."""
        return self.allotment is None or self.allotment.is_left

    def record_ends(
        self,
        connection: Connection,
        ends: Sequence[End],
        batches: Batches,
        now: datetime,
        *,
        stopping: bool,
        singly: bool = False,
        draft: Draft | None = None,
    ) -> WrittenTurn:
        """Record how attempts ended; one whose rows somebody else keeps locked waits, the others do not.

        Writes what the `draft` says if it still holds. Raises `NotAsReadError` when not all stand as they were read:
        singly they can be recorded.
        """
        locked, free = _without_locked(connection, ends)
        if singly or _any_cancelled(free) or _any_stops_all(batches):
            at = time_of(free, now)
            each = [self.record_end(connection, end, batches, now, at, stopping=stopping, apart=singly) for end in free]
            written = sum(each, WrittenTurn())
        elif free:
            if draft is None or not draft.holds(free, batches, now, stopping=stopping):
                draft = self.draft(connection, free, batches, now, stopping=stopping, known=draft)
            written = self._write_ends(connection, draft.decided, draft.writing, batches)
        else:
            written = WrittenTurn()
        return written if locked is None else locked + written

    def draft(
        self,
        connection: Connection,
        ends: Sequence[End],
        batches: Batches,
        now: datetime,
        *,
        stopping: bool,
        known: Draft | None = None,
    ) -> Draft:
        """Work out what follows if all stand as they were read; that takes longer than to write it.

        For what an older draft has made `known`, no plugin is asked again.
        """
        decided, ready, at = list[AfterEnd](), list[Attempt](), time_of(ends, now)
        made = {} if known is None else known.prepared
        for each in ends:
            end, instance = _guarded(connection, each), each.attempt.instance
            may_begin = not stopping and (self.has_time or instance.instance_id in made)
            decide = partial(self._decide, connection, end, instance, batches, now)
            one, its = self._with_next(decide, at, made.get(instance.instance_id), may_begin=may_begin)
            decided.append(one)
            ready += its
        moves = [(one.found, one.after) for one in decided]
        writing = self._make(connection, moves, decided, ready, at)
        return Draft(ends, batches, now, stopping, decided, writing)

    def record_end(
        self,
        connection: Connection,
        end: End,
        batches: Batches,
        now: datetime,
        at: datetime,
        *,
        stopping: bool,
        apart: bool = False,
    ) -> WrittenTurn:
        """Record how an attempt ended, where its instance stands, and the next step's beginning if there is one.

        `at` is written as the time of all that; it does not lie before the attempt, as `now` may.

        If `apart`, leave out the followers and their log entries where the database refuses them.
        """
        end, attempt = _guarded(connection, end), end.attempt
        may_begin = not stopping and self.has_time and not stopping_failures(connection, batches)
        found = self._load(connection, attempt) if end.stop is StopReason.CANCEL else attempt.instance
        stands = history.is_live(connection, attempt.history_id, attempt.instance.claim_token)
        while stands and found is not None and _is_ours(found, attempt):
            decide = partial(self._decide, connection, end, found, batches, now)
            decided, ready = self._with_next(decide, at, may_begin=may_begin)
            if instances.move(connection, found, decided.after, at):
                writing = self._make(connection, (), [decided], ready, at)
                return self._write_ends(connection, [decided], writing, batches, apart=apart)
            # The row differs from when the attempt began: a person may have asked to pause or cancel it meanwhile.
            before, found = found, self._load(connection, attempt)
            if found == before:
                break
        return self._fenced(connection, end, at)

    def begin(
        self, connection: Connection, plans: Sequence[PlannedAttempt], now: datetime, *, claims: turns.Moves = ()
    ) -> WrittenTurn:
        """Record the beginning of attempts, and claims before them; raises `NotAsReadError` when one cannot be made.

        Leave to the next turn what is to be claimed and cannot be made ready in this one any more, and what is behind a
        step for which agents turn out to have no slot: those behind it may have to wait for it.
        """
        in_time = takewhile(lambda _: not claims or self.has_time, plans)
        made = (self._ready(plan, now) for plan in in_time)
        ready = [*takewhile(lambda attempt: not attempt.prepared.has_no_slot, made)]
        if not ready:
            return WrittenTurn()
        writing = self._make(connection, claims[: len(ready)], (), ready, now, claim=True)
        return WrittenTurn(begun=self._write(connection, writing))

    def settle(
        self, connection: Connection, ends: Sequence[End], batches: Batches, marks: AbstractSet[Mark]
    ) -> tuple[WrittenTurn, Sequence[End]]:
        """Find out what became of a transaction of unknown outcome; return it, and the ends that it did not record.

        What it began, as the `marks` say, is begun: nothing has started it yet. Whatever else stands as begun by this
        controller may have ended long ago: an older database was restored. What it ended is only announced.
        """
        written, left = WrittenTurn(), list[End]()
        for end in ends:
            entry = history.load(connection, end.attempt.history_id)
            if entry is None or entry.status is HistoryStatus.RUNNING:
                left.append(end)
                continue
            ended = moves.Ended(seq=entry.seq, status=entry.status, message=entry.message)
            after = self._load(connection, end.attempt) or end.attempt.instance
            stays = after.status.is_claimed and after.claimed_by == self.controller
            written += WrittenTurn(
                announced=(InstanceMessage(end.attempt.batch.name, after, end.attempt, ended, stays),)
            )
        for entry in history.live_entries(connection):
            mark = (entry.instance_id, entry.claim_token, entry.seq, entry.attempt_no)
            if entry.claimed_by == self.controller and mark in marks:
                written += self._resume(connection, entry, batches)
        return written, left

    def take_over(
        self, connection: Connection, entry: HistoryEntry, found: BatchInstance, batch: BatchDefinition, now: datetime
    ) -> Attempt | None:
        """Go on with an attempt that another controller has begun; None when it is not as it was read."""
        after = moves.taken_over(found, self.controller)
        attempt, now = self.resumed(connection, entry, after, batch), not_before(now, found.updated_at)
        if attempt is None or not instances.move(connection, found, after, now):
            return None
        if not history.take_over(connection, entry, after, now):
            message = f"Attempt {entry.history_id} ended while it was taken over."
            raise Conflict(message)
        return attempt

    def resumed(
        self, connection: Connection, entry: HistoryEntry, instance: BatchInstance, batch: BatchDefinition
    ) -> Attempt | None:
        """Return an attempt that another controller has begun, as this one watches over it; None if undefined."""
        step = batch.step_at(entry.seq)
        prepared = None if step is None else self.preparer.as_begun(step, entry)
        if step is None or prepared is None or prepared.handler is None:
            return None
        return self._of_entry(connection, entry, instance, batch, step, prepared)

    def release(self, connection: Connection, instance: BatchInstance, now: datetime) -> bool:
        """Give back a claim under which nothing was begun."""
        now = not_before(now, instance.updated_at)
        return instances.move(connection, instance, moves.moved(instance, moves.released(instance)), now)

    def _with_next(
        self, decide: Callable[..., AfterEnd], at: datetime, before: Attempt | None = None, *, may_begin: bool
    ) -> tuple[AfterEnd, list[Attempt]]:
        """Return what follows an end, with the next attempt made ready, as it was `before` if it is the same.

        Where agents have no slot for that, its instance waits in line.
        """
        decided = decide(may_begin=may_begin)
        ready = [
            plan.ready(before.prepared, at) if before and before.planned == plan else self._ready(plan, at)
            for plan in next_plans([decided])
        ]
        if any(attempt.prepared.has_no_slot for attempt in ready):
            return decide(may_begin=False), []
        return decided, ready

    def _decide(
        self,
        connection: Connection,
        end: End,
        found: BatchInstance,
        batches: Batches,
        now: datetime,
        *,
        may_begin: bool,
    ) -> AfterEnd:
        batch = batches.get(end.attempt.batch.batch_id)
        may_go_on = may_begin and batch is not None and gates.is_open(batch, now)
        batch = batch or end.attempt.batch
        may_go_on = may_go_on and self._can_go_on(batch, batch.step_after(end.attempt.step.seq), found.instance_id)
        ended = moves.unless_stopped(found, self._ended(connection, end))
        move = moves.after_step(found, batch, ended, now=now, may_go_on=may_go_on)
        return AfterEnd(end, batch, found, ended, move, moves.moved(found, move))

    def _write_ends(
        self,
        connection: Connection,
        decided: Sequence[AfterEnd],
        writing: Writing,
        batches: Batches,
        *,
        apart: bool = False,
    ) -> WrittenTurn:
        """Write ends and what follows from them."""
        begun, now = self._write(connection, writing), writing.now
        for one in decided:
            self._ask(connection, one, now)
        over = [one for one in decided if one.after.status.is_final]
        fired = self._follow(connection, over, batches, now, apart=apart) if over else ()
        for one in decided:
            with left_out_if_refused(connection) if apart else nullcontext():
                started.note_end(connection, one.after, one.ended.message, now)
        told = [
            InstanceMessage(
                one.batch.name, one.after, one.end.attempt, one.ended, one.move.verb is InstanceVerb.ADVANCE
            )
            for one in decided
        ]
        return WrittenTurn(begun=begun, announced=tuple(told), fired=fired)

    def _ask(self, connection: Connection, one: AfterEnd, now: datetime) -> None:
        """Write down what people are asked, where the attempt asks them."""
        asks = one.end.outcome.asks
        if asks is not None and one.ended.status is HistoryStatus.ASKED:
            about = one.after.instance_id, one.ended.seq, one.end.attempt.history_id
            question, evidence = storable(one.ended.message or ""), one.end.outcome.output
            confirmation_rows.ask(connection, *about, question, evidence, asks, now)

    def _follow(
        self, connection: Connection, over: Sequence[AfterEnd], batches: Batches, now: datetime, *, apart: bool
    ) -> tuple[IntakeId, ...]:
        """Complete the rows of instances that are over, and start what has waited for them; return what was started."""
        intake.complete_all_done(connection, [one.after.intake_id for one in over], now)
        completed = [one.after for one in over if one.batch.dependents and one.after.status is InstanceStatus.COMPLETE]
        if not completed:
            return ()
        offer = dependencies.offer_singly if apart else dependencies.offer
        return tuple(offer(connection, completed, batches, now))

    def _make(
        self,
        connection: Connection,
        moves: turns.Moves,
        decided: Sequence[AfterEnd],
        ready: Sequence[Attempt],
        now: datetime,
        *,
        claim: bool = False,
    ) -> Writing:
        beginnings = [beginning(attempt) for attempt in ready]
        endings = [ending(one, now) for one in decided]
        turn = turns.make(connection, moves, endings, beginnings, self.host, now, claim=claim)
        return Writing(ready, turn, now)

    def _write(self, connection: Connection, writing: Writing) -> tuple[Begun, ...]:
        numbers = turns.write(connection, writing.turn)
        return (Begun(writing.beginning, numbers),) if writing.beginning else ()

    def _resume(self, connection: Connection, entry: HistoryEntry, batches: Batches) -> WrittenTurn:
        instance, batch = instances.load(connection, entry.instance_id), batches.get(entry.batch_id)
        if instance is None or instance.claimed_by != self.controller or instance.claim_token != entry.claim_token:
            return WrittenTurn()
        step = None if batch is None else batch.step_at(entry.seq)
        if batch is None or step is None:
            # Only a person can have removed the definition in that moment; the next start finds the step lost.
            return WrittenTurn()
        prepared = self.preparer.prepare(
            instance, batch, step, attempt_no=entry.attempt_no, cause=entry.cause, now=entry.started_at
        )
        if prepared.command_spec != entry.command_spec:
            reason = "the definition was changed while it was unknown whether the step had been recorded"
            prepared = Prepared(prepared.step, None, None, reason)
        return WrittenTurn(starts=(self._of_entry(connection, entry, instance, batch, step, prepared),))

    def _ready(self, plan: PlannedAttempt, now: datetime) -> Attempt:
        prepare = partial(
            self.preparer.prepare,
            plan.instance,
            plan.batch,
            plan.step,
            attempt_no=plan.attempt_no,
            cause=plan.cause,
            now=now,
        )
        return plan.ready(prepare() if self.allotment is None else self.allotment.spend(prepare), now)

    def _of_entry(
        self,
        connection: Connection,
        entry: HistoryEntry,
        instance: BatchInstance,
        batch: BatchDefinition,
        step: Step,
        prepared: Prepared,
    ) -> Attempt:
        return Attempt(
            history_id=entry.history_id,
            instance=instance,
            batch=batch,
            step=step,
            attempt_no=entry.attempt_no,
            cause=entry.cause,
            prepared=prepared,
            so_far=history.attempts_so_far(connection, instance.instance_id),
            started_at=entry.started_at,
        )

    def _load(self, connection: Connection, attempt: Attempt) -> BatchInstance | None:
        return instances.load(connection, attempt.instance.instance_id)

    def _ended(self, connection: Connection, end: End) -> moves.Ended:
        attempt = end.attempt
        if end.never_ran:
            said = end.outcome.message
            whose = attempt.instance.instance_id, attempt.step.seq, attempt.attempt_no
            times = history.put_back_in_a_row(connection, *whose) if end.outcome.never_ran else 1
            return moves.Ended(attempt.step.seq, HistoryStatus.LOST, said, never_ran=True, times=times)
        if end.may_go_on:
            # What may still be at work is not begun a second time, whatever OnLost says.
            return replace(moves.ended(attempt.step, end.outcome, end.stop), undecidable=True)
        if attempt.cause is Cause.VERIFY:
            done = self.preparer.is_done(attempt.prepared.step.process_type, end.outcome)
            return moves.verified(attempt.step.seq, end.outcome, done=done)
        return moves.ended(attempt.step, end.outcome, end.stop)

    def _fenced(self, connection: Connection, end: End, now: datetime) -> WrittenTurn:
        """Record that somebody else has the instance now: nothing of this attempt counts."""
        attempt = end.attempt
        found = self._load(connection, attempt)
        if (
            found is not None
            and found.status.is_claimed
            and found.claimed_by == self.controller
            and _is_idle(connection, found)
        ):
            # Somebody has changed the token by hand, and no controller works on it: a person must look.
            held = moves.moved(found, moves.held(found))
            if instances.move(connection, found, held, now):
                started.note_end(connection, held, "somebody has changed its ClaimToken", now)
        how = end.outcome.message or ("well" if end.outcome.succeeded else "badly")
        said = f"another controller or a person took the instance over; the attempt had ended: {how}"
        ending = Ending(
            history_id=attempt.history_id,
            token=attempt.instance.claim_token,
            status=HistoryStatus.FENCED,
            outcome=end.outcome,
            message=storable(said),
            identity=end.identity,
            ended_at=ended_at(end, now),
        )
        if history.close_entries(connection, [ending], now) == 0:
            late = late_result(end, now)
            history.note_late(connection, attempt.history_id, attempt.instance.claim_token, late, now)
        ended = moves.Ended(seq=attempt.step.seq, status=HistoryStatus.FENCED, message=None)
        return WrittenTurn(
            announced=(InstanceMessage(attempt.batch.name, attempt.instance, attempt, ended, stays=True),)
        )


def _guarded(connection: Connection, end: End) -> End:
    """Return an end with what its number of rows makes of a success; nothing is asked where none is expected."""
    attempt, outcome = end.attempt, end.outcome
    step = attempt.step
    if not step.counts_rows or not outcome.succeeded or attempt.cause is Cause.VERIFY:
        return end
    days = row_guard.days_like(attempt.instance.cycle_key, attempt.started_at)
    counts = row_counts.of_step(connection, step, days) if step.learns_rows else None
    wrong = row_guard.wrong_number(step, outcome, counts)
    if wrong is None:
        return end
    counts = counts or row_counts.of_step(connection, step, days)
    return replace(end, outcome=row_guard.judged(step, outcome, row_guard.message(wrong, step, counts)))


def _without_locked(connection: Connection, ends: Sequence[End]) -> tuple[WrittenTurn | None, Sequence[End]]:
    """Return what to announce of the ends whose rows somebody else keeps locked, if any, and the other ends."""
    locked = instances.locked(connection, [end.attempt.instance.instance_id for end in ends]) if ends else ()
    if not locked:
        return None, ends
    waiting = tuple(end for end in ends if end.attempt.instance.instance_id in locked)
    who = tuple(named_locked(connection, end.attempt.instance.instance_id) for end in waiting)
    return WrittenTurn(locked=who, waiting=waiting), [
        end for end in ends if end.attempt.instance.instance_id not in locked
    ]


def _is_idle(connection: Connection, instance: BatchInstance) -> bool:
    """Say whether no attempt is under way under the claim of an instance."""
    return not any(
        entry.instance_id == instance.instance_id and entry.claim_token == instance.claim_token
        for entry in history.live_entries(connection)
    )


def stopping_failures(connection: Connection, batches: Batches) -> Sequence[BatchInstance]:
    """Return the standing failures of batches with OnFailure stop_all, in order of creation."""
    stopping = {key for key, batch in batches.items() if batch.on_failure is OnFailure.STOP_ALL}
    if not stopping:
        return ()
    return [failure for failure in instances.standing_failures(connection) if failure.batch_id in stopping]


def named_locked(connection: Connection, instance_id: InstanceId) -> tuple[InstanceId, str]:
    """Return the message about an instance whose row somebody else keeps locked."""
    return instance_id, f"the row is locked by {instances.blocker(connection, instance_id)}"


def _any_stops_all(batches: Batches) -> bool:
    return OnFailure.STOP_ALL in [batch.on_failure for batch in batches.values()]


def _any_cancelled(ends: Sequence[End]) -> bool:
    return StopReason.CANCEL in [end.stop for end in ends]


def _is_ours(found: BatchInstance, attempt: Attempt) -> bool:
    return found.claim_token == attempt.instance.claim_token and found.status.is_claimed
