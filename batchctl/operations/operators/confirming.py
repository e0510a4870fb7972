"""Answering the questions that steps ask: who may, and what is written of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from batchctl.domain.errors import Conflict, Refused
from batchctl.domain.operators import confirmations
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.outcomes import Finding
from batchctl.domain.rows import BatchDefinition, BatchInstance
from batchctl.domain.status import ConfirmationAnswer, HistoryStatus, InstanceStatus, OnTimeout
from batchctl.domain.text import visible
from batchctl.store import Connection, database_roles
from batchctl.store.operators import confirmation_rows


def question_of(connection: Connection, instance: BatchInstance) -> Confirmation:
    """Return the question that an instance waits with; refuse where there is none, and say who has answered it."""
    at = instance.instance_id
    asked = confirmation_rows.open_of(connection, at)
    if asked is not None and instance.status is InstanceStatus.PAUSED and instance.last_seq < asked.seq:
        return asked
    last = next(iter(confirmation_rows.newest_of(connection, at)), None)
    if last is not None and last.answer is not None:
        message = f"The question of BatchControl {at} was answered: {last.how_answered}."
    else:
        message = f"BatchControl {at} is {instance.status} and asks nothing."
    raise Refused(message, next_step=f"batchctl show {at}")


def check_in_time(question: Confirmation, now: datetime) -> None:
    """Refuse an answer after the time at which something else follows: that is promised, whether or not it was done yet."""
    if question.due is None or question.on_timeout is OnTimeout.INCIDENT or now < question.due:
        return
    at = question.instance_id
    message = f"The time of the question of BatchControl {at} is over: {question.until}."
    raise Refused(message, next_step=f"batchctl run --once   (carries that out); then batchctl why {at}")


def check_may_answer(connection: Connection, question: Confirmation, user: str, asked_by: str | None) -> None:
    """Refuse an answer of one whom the question does not name; `asked_by` is the database user who asks by a row."""
    if question.who is None or user.casefold() in confirmations.names(question.who):
        return
    if any(database_roles.is_member(connection, role, asked_by) for role in confirmations.roles(question.who)):
        return
    message = (
        f"The question of BatchControl {question.instance_id} is for {question.may_answer}, not for {visible(user)}."
    )
    at = question.instance_id
    others = f"others, once Data2 names them: batchctl rerun {at} --reason ..."
    raise Refused(message, next_step=f"let one of them type: batchctl confirm {at}   ({others})")


def close(
    connection: Connection,
    question: Confirmation,
    given: ConfirmationAnswer,
    *,
    who: str,
    reason: str | None,
    status: HistoryStatus,
    retries: int,
    now: datetime,
) -> None:
    """Write an answer, and how the attempt that asked has ended with it; what was seen stays in its Output."""
    if not confirmation_rows.answer(connection, question.confirmation_id, given, who, reason, now):
        message = f"Somebody has just answered the question of BatchControl {question.instance_id}."
        raise Conflict(message, next_step=f"batchctl show {question.instance_id}")
    said = _wording(given, who, reason, status)
    output = "\n".join(
        [said, f"asked: {visible(question.question)}", *([] if question.evidence is None else [question.evidence])]
    )
    confirmation_rows.end_attempt(connection, question.instance_id, status, said, now, retries=retries, output=output)


def unanswerable(connection: Connection, batches: Iterable[BatchDefinition]) -> Iterator[tuple[str, Finding]]:
    """Yield the steps, by what they are called, whose question is for roles in a database that has none."""
    if database_roles.are_known(connection):
        return
    for batch in batches:
        for step in batch.steps:
            who = step.data[1] if step.asks_people else None
            if any(confirmations.roles(who)):
                message = "SQLite has no database roles, and so no members of one: name people."
                yield f"{visible(batch.name)}, step {step.seq} '{visible(step.name)}'", Finding("Data2", message)


def _wording(given: ConfirmationAnswer, who: str, reason: str | None, status: HistoryStatus) -> str:
    if given is ConfirmationAnswer.EXPIRED:
        so = "it went on" if status is HistoryStatus.SUCCESS else "the step has failed"
        return f"expired: no one answered in time, so {so}"
    return f"{given} by {who}" + ("" if reason is None else f": {reason}")
