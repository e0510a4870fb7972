"""What people do to instances and batches: one transaction each, with its row in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from batchctl import misread
from batchctl.domain import moves
from batchctl.domain.alerting.incidents import IncidentSign
from batchctl.domain.errors import Conflict, Refused, StatusChanged
from batchctl.domain.intake.corrected_files import CorrectedFile
from batchctl.domain.moves import not_before
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.operators.release import Choice
from batchctl.domain.rows import BatchDefinition, BatchInstance, InstanceId, MissingPlugin, Step
from batchctl.domain.status import ConfirmationAnswer, HistoryStatus, InstanceStatus, OnTimeout
from batchctl.domain.text import fitting, storable, visible
from batchctl.domain.values import value
from batchctl.operations import decisions, shown_columns, unknown
from batchctl.operations.decisions import Action
from batchctl.operations.intake import file_correction
from batchctl.operations.operators import confirming
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.operators.releasing import Released, let_go
from batchctl.operations.restart_card import Card, at_work_still, card
from batchctl.operations.shown_columns import Columns
from batchctl.preparation import Preparer
from batchctl.store import Connection, history, instances, pool_rows, started
from batchctl.store.definitions import definitions
from batchctl.store.dependencies import dependencies
from batchctl.store.intake import intake
from batchctl.store.maintenance import audit_entries
from batchctl.store.operators import confirmation_rows

Decide = Callable[[BatchInstance, BatchDefinition], BatchInstance]
_IN_LINE = frozenset({InstanceStatus.READY, InstanceStatus.RETRY})
_GOES_NOWHERE = frozenset({InstanceStatus.COMPLETE, InstanceStatus.FAILED})
"""Of what stands so no step follows until somebody acts again."""


@value
class AsShown:
    """How an instance was shown to the person who decides on an act: the act is refused where it stands otherwise."""

    status: InstanceStatus | None = None
    mark: str | None = None
    """Of the instance, or of the question that is answered."""

    def check(self, instance: BatchInstance, mark: str) -> None:
        """Refuse an act on an instance that stands otherwise."""
        if self.status is not None and instance.status is not self.status:
            message = f"BatchControl {instance.instance_id} is {instance.status}: only what is {self.status} was meant."
            raise Refused(message, next_step=f"batchctl show {instance.instance_id}")
        if self.mark is not None and self.mark != mark:
            message = f"{decisions.named(instance)} has changed since it was shown."
            raise Refused(message, next_step="the same once more")


ANYHOW = AsShown()
"""However it stands."""


@dataclass(frozen=True, slots=True)
class NextCommand:
    """What a step would run; `refused` says why it cannot."""

    seq: int
    name: str
    process_type: str
    text: str
    refused: str | None
    carrier: str | None = None
    """Who runs it with what another host has, where that is no controller."""

    @property
    def title(self) -> str:
        """Say which step it is, of which type, and who runs it."""
        return f"step {self.seq} {self.name} ({', '.join(filter(None, (self.process_type, self.carrier)))})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """What was done to an instance, or would be."""

    action: Action
    before: BatchInstance
    after: BatchInstance
    batch: str
    dry_run: bool
    skipped: tuple[Step, ...] = ()
    """Steps that it goes on without."""
    commands: tuple[NextCommand, ...] = ()
    under_way: Step | None = None
    """The step that runs and goes on, where what follows is only looked at."""
    unused: tuple[str, ...] = ()
    """Values that were corrected though no step that is left uses them."""
    uses_file_name: bool = False
    """Whether a step that is left uses FileName, which a rerun cannot correct."""
    missing: tuple[MissingPlugin, ...] = ()
    """What steps that are left name, and no controller has."""
    misread: tuple[IncidentSign, ...] = ()
    """What else in the batch's rows cannot be meant so."""
    corrected: CorrectedFile | None = None
    """The file of what is over now, if it was corrected and no step has read it since."""
    at_work_still: str | None = None
    """What to look for where a step is run again of which an attempt was lost."""
    question: Confirmation | None = None
    """What was answered, or would be."""
    card: Card | None = None
    """What a rerun rests on and goes past, where it is only looked at."""

    @property
    def in_vain(self) -> str | None:
        """Say which values were corrected for nothing, if any."""
        return f"no step that is left uses {' or '.join(self.unused)}." if self.unused else None

    def columns(self) -> Columns:
        """Return it for programs."""
        was, became = shown_columns.changes(shown_columns.of(self.before), shown_columns.of(self.after))
        return {
            "BatchControl_id": self.before.instance_id,
            "ProcessBatchName": self.batch,
            "Action": self.action.value,
            "DryRun": self.dry_run,
            "Before": was,
            "After": became,
            "Skipped": [step.seq for step in self.skipped],
            "Unused": list(self.unused),
            "Commands": [
                {
                    "ProcessControlSeq": one.seq,
                    "ProcessName": one.name,
                    "ProcessType": one.process_type,
                    "CommandText": one.text,
                    "Refusal": one.refused,
                }
                for one in self.commands
            ],
            "CorrectedFile": file_correction.shown(self.corrected),
            **({} if self.question is None else {"Confirmation": shown_columns.of(self.question)}),
            **({} if self.card is None else self.card.columns()),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Switching:
    """What was done to a batch, or would be."""

    batch: str
    enabled_before: bool
    enabled: bool
    dry_run: bool
    missing: tuple[MissingPlugin, ...] = ()
    """What the batch and its steps name, and no controller has."""
    misread: tuple[IncidentSign, ...] = ()
    """What else in the batch's rows cannot be meant so."""
    released: Released | None = None
    """What has become of what waited; None where it was not switched on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator(Actor):
    """Acts on instances and batches for a user of a host. With `dry_run` nothing is written."""

    preparer: Preparer
    asked_by: str | None = None
    """The database user who asks for it by a row; None where the session's own user acts."""

    def rerun(
        self,
        instance_id: InstanceId,
        *,
        reason: str,
        from_seq: int | None = None,
        corrections: Mapping[str, str | None] | None = None,
        seen: AsShown = ANYHOW,
    ) -> Intervention:
        """Run an instance again from the step that failed, or from a chosen one, with corrected values.

        Like each of these acts, refused where the instance differs from how it was `seen` when that was decided.
        """
        return self._act(
            Action.RERUN,
            instance_id,
            reason,
            lambda instance, batch: decisions.rerun(instance, batch, from_seq, corrections),
            seen,
            corrections or {},
        )

    def refused(self, done: Intervention) -> tuple[NextCommand, ...]:
        """Return the steps left of a rerun that cannot run as they stand, but for those whose plugin is known to be missing.

        It is asked once that is done: handlers take their time, which no transaction waits for.
        """
        with self.transactions.read() as connection:
            _, batch = _load(connection, done.after.instance_id)
            commands = self._commands(connection, done.action, done.after, batch)
        told = {one.seq for one in done.missing}
        return tuple(one for one in commands if one.refused is not None and one.seq not in told)

    def pause(self, instance_id: InstanceId, *, reason: str | None = None, seen: AsShown = ANYHOW) -> Intervention:
        """Let nothing more of an instance start; a running step ends first."""
        return self._act(Action.PAUSE, instance_id, reason, lambda instance, _: decisions.pause(instance), seen)

    def resume(self, instance_id: InstanceId, *, reason: str | None = None, seen: AsShown = ANYHOW) -> Intervention:
        """Let a paused instance go on."""
        return self._act(Action.RESUME, instance_id, reason, lambda instance, _: decisions.resume(instance), seen)

    def cancel(self, instance_id: InstanceId, *, reason: str, seen: AsShown = ANYHOW) -> Intervention:
        """Give an instance up; a running step is stopped."""
        return self._act(Action.CANCEL, instance_id, reason, lambda instance, _: decisions.cancel(instance), seen)

    def cancel_waiting(self, connection: Connection, instance_id: InstanceId, *, reason: str) -> bool:
        """Give an instance up as a part of a greater act, unless a controller has it: that one goes on to its end."""
        before, batch = _load(connection, instance_id, instances.load_locked)
        if before.status.is_claimed or before.status.is_final:
            return False
        self._write(connection, Action.CANCEL, reason, before, decisions.cancel(before), batch)
        return True

    def skip(self, instance_id: InstanceId, *, reason: str, seen: AsShown = ANYHOW) -> Intervention:
        """Go on without the step that is next."""
        return self._act(Action.SKIP, instance_id, reason, decisions.skip, seen)

    def confirm(self, instance_id: InstanceId, *, reason: str | None = None, seen: AsShown = ANYHOW) -> Intervention:
        """Answer yes to the question that an instance waits with: it goes on behind the step."""
        return self._answer(Action.CONFIRM, instance_id, reason, seen)

    def refuse(self, instance_id: InstanceId, *, reason: str, seen: AsShown = ANYHOW) -> Intervention:
        """Answer no: the step has failed, without a retry."""
        return self._answer(Action.REFUSE, instance_id, reason, seen)

    def set_enabled(
        self, name: str, *, enabled: bool, reason: str | None = None, choice: Choice | None = None
    ) -> Switching:
        """Switch a batch on or off; one that is as wanted already stays so, unaudited.

        What has waited may start once it is on, as was chosen.
        """
        reason = checked_reason(reason)

        def switch(connection: Connection) -> Switching:
            batch, batches = _batch_named(connection, name)
            released = None
            if enabled and not batch.enabled:
                after = [replace(one, enabled=True) if one is batch else one for one in batches]
                released = let_go(self, connection, after, [batch.name], choice, reason)
            if batch.enabled is not enabled and not self.dry_run:
                before, becomes = {"Enabled": int(batch.enabled)}, {"Enabled": int(enabled)}
                if not definitions.set_enabled(connection, batch.batch_id, self.clock.now(), enabled=enabled):
                    message = f"Somebody has just switched batch {visible(batch.name)}."
                    raise Conflict(message)
                action = "enable" if enabled else "disable"
                self.note(connection, action, batch_target(batch.name), reason, before, becomes)
            return Switching(
                batch=batch.name,
                enabled_before=batch.enabled,
                enabled=enabled,
                dry_run=self.dry_run,
                missing=batch.missing_plugins,
                misread=misread.of_batch(connection, batch, batch.missing_plugins, self.clock.now()),
                released=released,
            )

        return self.act(switch)

    def note_as_it_was(self, connection: Connection, action: str, name: str, reason: str | None) -> None:
        """Write down that a batch was as wanted already: every request by a row that was done has its audit row."""
        self.note(connection, action, batch_target(name), reason, {}, {})

    def _act(
        self,
        action: Action,
        instance_id: InstanceId,
        reason: str | None,
        decide: Decide,
        seen: AsShown,
        corrections: Collection[str] = (),
    ) -> Intervention:
        reason = checked_reason(reason)

        def act(connection: Connection) -> Intervention:
            before, batch = _load(connection, instance_id, instances.load if self.dry_run else instances.load_locked)
            seen.check(before, before.mark)
            decisions.check_unasked(before, action, confirmation_rows.open_of(connection, instance_id))
            after = decide(before, batch)
            if before.steps_failed and after.last_seq < before.last_seq:
                after = decisions.recounted(after, history.of_instance(connection, instance_id)[0])
            if self.dry_run:
                return self._foreseen(connection, action, before, after, batch, corrections)
            self._write(connection, action, reason, before, after, batch)
            return self._intervention(connection, action, before, after, batch, corrections)

        return self.act(act)

    def _answer(self, action: Action, instance_id: InstanceId, reason: str | None, seen: AsShown) -> Intervention:
        reason = checked_reason(reason)

        def act(connection: Connection) -> Intervention:
            before, batch = _load(connection, instance_id, instances.load if self.dry_run else instances.load_locked)
            question = confirming.question_of(connection, before)
            seen.check(before, question.mark)
            confirming.check_may_answer(connection, question, self.user, self.asked_by)
            confirming.check_in_time(question, self.clock.now())
            after = decisions.answered(before, batch, question.seq, confirmed=action is Action.CONFIRM)
            if self.dry_run:
                return replace(self._foreseen(connection, action, before, after, batch, ()), question=question)
            given = ConfirmationAnswer.CONFIRMED if action is Action.CONFIRM else ConfirmationAnswer.REFUSED
            self._write_answer(connection, question, given, reason, before, after, batch)
            return replace(self._intervention(connection, action, before, after, batch, ()), question=question)

        return self.act(act)

    def end_unanswered(self, connection: Connection, question: Confirmation) -> bool:
        """End a question whose time is over, as it says; false where it was answered meanwhile."""
        before, batch = _load(connection, question.instance_id, instances.load_locked)
        asked = confirmation_rows.open_of(connection, question.instance_id)
        if asked is None or asked.confirmation_id != question.confirmation_id:
            return False
        if before.status is not InstanceStatus.PAUSED or before.last_seq >= asked.seq:
            said = "it was not waited for any more"
            return confirmation_rows.withdraw(connection, asked.instance_id, self.user, said, self.clock.now())
        after = decisions.answered(before, batch, asked.seq, confirmed=asked.on_timeout is OnTimeout.GO_ON)
        self._write_answer(connection, asked, ConfirmationAnswer.EXPIRED, None, before, after, batch)
        return True

    def _write_answer(
        self,
        connection: Connection,
        question: Confirmation,
        given: ConfirmationAnswer,
        reason: str | None,
        before: BatchInstance,
        after: BatchInstance,
        batch: BatchDefinition,
    ) -> None:
        has_failed = after.status is InstanceStatus.FAILED or after.steps_failed != before.steps_failed
        confirming.close(
            connection,
            question,
            given,
            who=self.user if given is ConfirmationAnswer.EXPIRED else self.who,
            reason=reason,
            status=HistoryStatus.FAILED if has_failed else HistoryStatus.SUCCESS,
            retries=before.retry_count if has_failed else after.retry_count,
            now=not_before(self.clock.now(), before.updated_at),
        )
        action, by_itself = (Action.REFUSE if has_failed else Action.CONFIRM), given is ConfirmationAnswer.EXPIRED
        self._write(connection, action, reason, before, after, batch, by_itself=by_itself)

    def _foreseen(
        self,
        connection: Connection,
        action: Action,
        before: BatchInstance,
        after: BatchInstance,
        batch: BatchDefinition,
        corrections: Collection[str],
    ) -> Intervention:
        """Return what an act would be, with the commands that would follow, and what a rerun rests on."""
        under_way = _under_way(connection, after, batch)
        behind = after if under_way is None else replace(after, last_seq=under_way.seq)
        return replace(
            self._intervention(connection, action, before, after, batch, corrections),
            commands=self._commands(connection, action, behind, batch),
            under_way=under_way,
            card=card(connection, before, after, batch, self.clock.now()) if action is Action.RERUN else None,
        )

    def _write(
        self,
        connection: Connection,
        action: Action,
        reason: str | None,
        before: BatchInstance,
        after: BatchInstance,
        batch: BatchDefinition,
        *,
        by_itself: bool = False,
    ) -> None:
        # One time for all of it: what begins next goes by the instance's, and must not lie before a step skipped here.
        now = not_before(self.clock.now(), before.updated_at)
        intake.lock(connection, before.intake_id)
        if not instances.move(connection, before, after, now):
            raise StatusChanged(decisions.named(before), "not as it was", action, next_step="batchctl status")
        if not action.is_answer:
            said = f"{action} by {self.who}" + ("" if reason is None else f": {reason}")
            confirmation_rows.withdraw(connection, before.instance_id, self.who, said, now)
        self._record_skipped(connection, before, decisions.passed_over(action, before, after, batch), reason, now)
        if before.status.is_final:
            intake.reopen(connection, after.intake_id, now)
        if after.status.is_final:
            intake.complete_if_done(connection, after.intake_id, now)
            started.note_end(connection, after, reason, now)
        if after.status is InstanceStatus.COMPLETE and batch.dependents:
            batches = {one.batch_id: one for one in definitions.all_batches(connection)}
            dependencies.offer(connection, [after], batches, now)
        if by_itself:
            return
        was, became = shown_columns.changes(shown_columns.of(before), shown_columns.of(after))
        self.note(connection, action, audit_entries.instance_target(before.instance_id), reason, was, became)

    def _record_skipped(
        self,
        connection: Connection,
        instance: BatchInstance,
        skipped: Sequence[Step],
        reason: str | None,
        now: datetime,
    ) -> None:
        if not skipped:
            return
        so_far = history.attempts_so_far(connection, instance.instance_id)
        said = storable(f"skipped by {self.user} on {self.host}: {reason}")
        for step in skipped:
            history.add_skipped(
                connection,
                instance=instance,
                step=step,
                attempt_no=so_far.at(step.seq) + 1,
                command_text=visible(f"-- not run: {said}"),
                message=said,
                host=fitting(self.host),
                now=now,
            )

    def _commands(
        self, connection: Connection, action: Action, instance: BatchInstance, batch: BatchDefinition
    ) -> tuple[NextCommand, ...]:
        """Render every step that would run, with the corrected values."""
        if action in {Action.PAUSE, Action.CANCEL} or instance.status in _GOES_NOWHERE:
            return ()
        so_far = history.attempts_so_far(connection, instance.instance_id)
        now, pools = self.clock.now(), pool_rows.known(connection)
        found = []
        for step in (step for step in batch.steps if step.seq > instance.last_seq):
            attempts = so_far.at(step.seq)
            cause = moves.cause_of(instance.status, attempts=attempts, must_verify=False)
            ready = self.preparer.prepare(instance, batch, step, attempt_no=attempts + 1, cause=cause, now=now)
            kept = step.seq, step.name, step.process_type, ready.command_text, ready.refused
            found.append(NextCommand(*kept, pools.carrier(batch.pool_of(step))))
        return tuple(found)

    def _intervention(
        self,
        connection: Connection,
        action: Action,
        before: BatchInstance,
        after: BatchInstance,
        batch: BatchDefinition,
        corrections: Collection[str],
    ) -> Intervention:
        entries = history.of_instance(connection, before.instance_id)[0] if action is Action.RERUN else ()
        missing = batch.missing_after(after.last_seq) if after.status in _IN_LINE else ()
        return Intervention(
            action=action,
            before=before,
            after=after,
            batch=batch.name,
            dry_run=self.dry_run,
            skipped=decisions.passed_over(action, before, after, batch),
            corrected=file_correction.of_instance(connection, after) if after.status.is_final else None,
            unused=decisions.unused(batch, corrections, after.last_seq),
            missing=missing,
            misread=misread.of_batch(connection, batch, missing, self.clock.now()) if action is Action.RERUN else (),
            uses_file_name=not decisions.unused(batch, ["FileName"], after.last_seq),
            at_work_still=at_work_still(after, entries),
        )


def _under_way(connection: Connection, after: BatchInstance, batch: BatchDefinition) -> Step | None:
    """Return the step that runs and goes on in an instance that would be running."""
    step = batch.step_after(after.last_seq) if after.status is InstanceStatus.RUNNING else None
    last = None if step is None else history.last_entry(connection, after.instance_id)
    return step if step and last and (last.seq, last.status) == (step.seq, HistoryStatus.RUNNING) else None


def batch_target(name: str) -> str:
    """Return how the audit log names a batch."""
    return fitting(f"ProcessBatch:{name}")


def _load(
    connection: Connection,
    instance_id: InstanceId,
    load: Callable[[Any, InstanceId], BatchInstance | None] = instances.load,
) -> tuple[BatchInstance, BatchDefinition]:
    instance = load(connection, instance_id)
    if instance is None:
        raise unknown.instance(connection, instance_id)
    batches = definitions.all_batches(connection)
    batch = next((batch for batch in batches if batch.batch_id == instance.batch_id), None)
    if batch is None:
        raise unknown.batch_of(connection, instance_id, instance.batch_id)
    return instance, batch


def _batch_named(connection: Connection, name: str) -> tuple[BatchDefinition, Sequence[BatchDefinition]]:
    """Return a batch, and all there are."""
    batches = definitions.all_batches(connection)
    return unknown.named(connection, batches, name), batches
