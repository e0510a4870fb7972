"""What people ask for by rows, done by the very code that does it for the command line."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from batchctl.domain.errors import Refused
from batchctl.domain.operators import freezes, pools
from batchctl.domain.operators.freezes import Scope
from batchctl.domain.operators.request_verbs import (
    OfBackfill,
    OfBatch,
    OfFreeze,
    OfIncident,
    OfInstance,
    OfNote,
    OfPast,
    OfPlace,
    OfRow,
    OfSchedule,
    Verb,
)
from batchctl.domain.operators.requests import Request, wish_of
from batchctl.domain.text import capitalized, visible
from batchctl.operations.alerting.incident_desk import IncidentDesk, Which
from batchctl.operations.clerk import Clerk
from batchctl.operations.intervene import AsShown, Intervention, Operator
from batchctl.operations.operators import pooling
from batchctl.operations.operators.acts import Joined
from batchctl.operations.operators.freezing import Freezer, target
from batchctl.operations.operators.noting import Noter
from batchctl.operations.operators.pooling import Drainer
from batchctl.operations.operators.releasing import Released
from batchctl.operations.scheduling.requested_starts import started
from batchctl.ports import Clock
from batchctl.preparation import Preparer
from batchctl.store import Connection, task_queues


@dataclass(frozen=True, slots=True)
class Proxy:
    """Acts for those who ask by rows; the audit log names them, and the row by which they asked."""

    clock: Clock
    preparer: Preparer
    zone: ZoneInfo

    def carry_out(self, connection: Connection, request: Request) -> str:
        """Do what a request asks for and say what was done; raises what keeps it from that."""
        operator = Operator(
            transactions=Joined(connection),
            clock=self.clock,
            preparer=self.preparer,
            user=request.actor,
            host=f"OperatorRequest:{request.request_id}",
            asked_by=request.actor,
        )
        match wish_of(request):
            case OfIncident() as wish:
                desk = IncidentDesk(
                    transactions=operator.transactions, clock=self.clock, user=operator.user, host=operator.host
                )
                return _looked_after(desk, wish)
            case OfNote(subject=subject, text=text):
                return f"{Noter(operator).note(subject, text).wording}."
            case OfRow() as wish:
                return self._dealt_with(operator, connection, wish)
            case OfBatch() as wish:
                return _switched(operator, connection, wish)
            case OfFreeze() as wish:
                return _frozen_or_thawed(operator, connection, wish)
            case OfPlace() as wish:
                return _drained_or_undrained(operator, connection, wish)
            case OfSchedule() | OfPast() | OfBackfill() as wish:
                return started(operator, wish, self.zone.key)
            case OfInstance() as wish:
                return _done(_intervened(operator, connection, wish))

    def _dealt_with(self, operator: Operator, connection: Connection, wish: OfRow) -> str:
        if task_queues.keeps_out_of_row(connection, operator.user, wish.intake_id):
            message = f"FileProcess {wish.intake_id} says what is run, and {visible(operator.user)} may not let it."
            raise Refused(message, next_step="batchctl task enable --role NAME --reason ... gives a role that right")
        clerk = Clerk(
            transactions=operator.transactions, clock=self.clock, zone=self.zone, user=operator.user, host=operator.host
        )
        if wish.verb is Verb.RESEND:
            sent = clerk.resend(wish.intake_id, reason=wish.reason)
            return f"FileProcess {sent.intake_id} is submission {sent.number} of FileProcess {sent.first}."
        act = {Verb.RETRY: clerk.retry, Verb.REJECT: clerk.reject, Verb.ACCEPT: clerk.accept}[wish.verb]
        moved = act(wish.intake_id, reason=wish.reason)
        return f"FileProcess {wish.intake_id} was {moved.before.status} and is {moved.status}."


def _looked_after(desk: IncidentDesk, wish: OfIncident) -> str:
    about = Which(incident_id=wish.incident_id, instance_id=wish.instance_id)
    if wish.length is not None:
        done = desk.snooze(about, wish.length, reason=wish.reason)
    else:
        done = desk.acknowledge(about, reason=wish.reason)
    return " ".join(one.wording for one in done)


def _intervened(operator: Operator, connection: Connection, wish: OfInstance) -> Intervention:
    at, reason = wish.instance_id, wish.reason or ""
    if wish.corrections and task_queues.keeps_out(connection, operator.user, at):
        message = f"BatchControl {at} runs what its data says, and {visible(operator.user)} may not say that."
        raise Refused(message, next_step="batchctl task enable --role NAME --reason ... gives a role that right")
    seen = AsShown(wish.status, wish.mark)
    match wish.verb:
        case Verb.RERUN:
            return operator.rerun(at, reason=reason, from_seq=wish.from_seq, corrections=wish.corrections, seen=seen)
        case Verb.SKIP:
            return operator.skip(at, reason=reason, seen=seen)
        case Verb.PAUSE:
            return operator.pause(at, reason=wish.reason, seen=seen)
        case Verb.RESUME:
            return operator.resume(at, reason=wish.reason, seen=seen)
        case Verb.CONFIRM:
            return operator.confirm(at, reason=wish.reason, seen=seen)
        case Verb.REFUSE:
            return operator.refuse(at, reason=reason, seen=seen)
        case _:
            return operator.cancel(at, reason=reason, seen=seen)


def _frozen_or_thawed(operator: Operator, connection: Connection, wish: OfFreeze) -> str:
    freezer = Freezer(operator)
    if wish.verb is Verb.FREEZE and isinstance(wish.scope, Scope):
        frozen = freezer.freeze(wish.scope, reason=wish.reason, until=wish.until)
        if not frozen.is_new:
            # Whatever was asked for by a row and done has its audit row, also where all was so already.
            operator.note(connection, wish.verb, target(frozen.freeze), wish.reason, {}, {})
        return f"{'Frozen' if frozen.is_new else 'It was frozen already'}: {freezes.wording(frozen.freeze)}."
    thawed = freezer.thaw(wish.scope, reason=wish.reason, choice=wish.choice)
    if not thawed.freezes:
        operator.note(connection, wish.verb, "BatchFreeze", wish.reason, {}, {})
        return "Nothing of that was frozen."
    listed = [f"Thawed: {freezes.wording(one, 'was')}." for one in thawed.freezes]
    return " ".join([*listed, *_of_those_that_waited(thawed.released)])


def _drained_or_undrained(operator: Operator, connection: Connection, wish: OfPlace) -> str:
    drainer = Drainer(operator)
    if wish.verb is Verb.DRAIN:
        drained = drainer.drain(None, wish.place, reason=wish.reason)
        if not drained.is_new:
            operator.note(connection, wish.verb, pooling.target(drained.drain), wish.reason, {}, {})
        note = "" if drained.unknown_host is None else f" {drained.unknown_host}"
        return f"{'Drained' if drained.is_new else 'It was drained already'}: {pools.wording(drained.drain)}.{note}"
    undrained = drainer.undrain(None, wish.place, reason=wish.reason)
    if not undrained.drains:
        operator.note(connection, wish.verb, "Drain", wish.reason, {}, {})
        return f"The {wish.place} was not drained."
    return " ".join(f"Undrained: {pools.wording(one)}." for one in undrained.drains)


def _of_those_that_waited(released: Released | None) -> list[str]:
    said = None if released is None else released.wording
    return [] if said is None else [said]


def _done(done: Intervention) -> str:
    before, after = done.before, done.after
    skipped = "".join(f"; step {step.seq} '{visible(step.name)}' is skipped" for step in done.skipped)
    corrected = "" if done.corrected is None else f" {done.corrected.wording}: {done.corrected.clear}"
    lost = "" if done.at_work_still is None else f" {capitalized(done.at_work_still)}."
    in_vain = "" if done.in_vain is None else f" But {done.in_vain}"
    became = f"was {before.status} and is {after.status}{skipped}.{in_vain}{corrected}{lost}"
    return f"BatchControl {after.instance_id} of batch {visible(done.batch)} {became}"


def _switched(operator: Operator, connection: Connection, wish: OfBatch) -> str:
    enabled = wish.verb is Verb.ENABLE
    done = operator.set_enabled(wish.batch, enabled=enabled, reason=wish.reason, choice=wish.choice)
    if done.enabled_before is enabled:
        operator.note_as_it_was(connection, wish.verb, wish.batch, wish.reason)
    state = "enabled" if done.enabled else "disabled"
    before = "was so already" if done.enabled_before is done.enabled else "was not"
    return " ".join([f"Batch {visible(done.batch)} is {state}; it {before}.", *_of_those_that_waited(done.released)])
