"""What is wrong, as rows say: instances that stand, steps that take too long, overdue waits, missing workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Annotated, NamedTuple

from batchctl.domain.alerting.incidents import IncidentSign, signature
from batchctl.domain.dependencies.waits import Wait
from batchctl.domain.errors import next_step_in, without_next_step
from batchctl.domain.gates import Gate, mending
from batchctl.domain.operators.confirmations import Confirmation
from batchctl.domain.rows import (
    HIGHEST_SEQ,
    BatchDefinition,
    BatchId,
    BatchInstance,
    ControllerRow,
    HistoryEntry,
    InstanceId,
    IntakeRow,
)
from batchctl.domain.scheduling.business_days import running_out
from batchctl.domain.scheduling.schedules import Calendar
from batchctl.domain.status import HistoryStatus, IncidentKind, InstanceStatus, OnTimeout, Severity
from batchctl.domain.text import capitalized, shorten, typed, visible
from batchctl.domain.values import named_value

LAST_LINES = 15
"""Lines of an error's output that are sent."""
LONGEST_LINE = 500
LEAST_DIFFERENCE = timedelta(minutes=1)
"""A smaller difference wakes no person, however unusual it is."""
TELLING = timedelta(seconds=30)
"""A step that usually takes less than that is never too short."""

Lengths = Mapping[tuple[BatchId, int], Sequence[timedelta]]
"""How long the last successful attempts at each step took."""


@named_value
class Norms:
    """From when on something is unusual."""

    failures: int = 3
    runs: int = 10
    """Of how many last runs of a step `failures` are too many."""
    slow: float = 2.0
    """How many times as long as nearly all others a step may take."""
    short: float = 0.1
    """The share of its usual length that a step has to take."""
    samples: int = 10
    """How many attempts say what is usual."""


@named_value
class RecentAttempt:
    """A recent attempt, in short."""

    history_id: Annotated[int, "BatchProcessHistory_id"]
    batch_id: BatchId
    seq: int
    name: Annotated[str, "ProcessName"]
    instance_id: InstanceId
    status: HistoryStatus
    started_at: Annotated[datetime, "StartTime"]
    ended_at: Annotated[datetime | None, "EndTime"]
    due_again: Annotated[datetime | None, "NextRunTimeAfter"] = None
    """When it is tried again by itself, if it is."""

    @property
    def has_failed(self) -> bool:
        """Say whether it failed by itself."""
        return self.status is not HistoryStatus.SUCCESS and self.status not in _TELLS_NOTHING


def standing(
    instance: BatchInstance, batch: BatchDefinition | None, last: HistoryEntry | None, mend: str | None = None
) -> IncidentSign:
    """Return the sign of an instance that has failed or is held; `mend` is what corrects an unreadable batch first."""
    attempt = last if last is not None and _stopped(last, instance) else None
    kind = _kind(instance, attempt)
    name = f"batch {instance.batch_id}" if batch is None else batch.name
    seq, called = stopped_at(instance, batch, last) or (min(instance.last_seq + 1, HIGHEST_SEQ), None)
    where = f"step {seq}" + ("" if called is None else f" '{visible(called)}'")
    said = None if attempt is None else attempt.in_full
    code = () if attempt is None or attempt.return_code is None else (attempt.return_code,)
    own = instance.file_name, instance.cycle_key, *instance.data
    why = visible(said) if said else f"no reason was given: Status was set to {instance.status} by hand"
    return IncidentSign(
        kind=kind,
        about=(instance.batch_id, seq, *code, signature(None if attempt is None else attempt.message, own)),
        subject=name,
        message=f"BatchControl {instance.instance_id} {_DOES[kind]} at {where}: {shorten(why, LONGEST_LINE)}",
        since=instance.updated_at if attempt is None or attempt.ended_at is None else attempt.ended_at,
        detail=None if attempt is None else last_lines(attempt.output),
        next_step=_mending(instance, batch, attempt) if mend is None else mend,
        batch_id=instance.batch_id,
        seq=seq,
        instance_id=instance.instance_id,
        evidence=instance.instance_id if attempt is None else attempt.history_id,
    )


class StepOf(NamedTuple):
    """A step as people call it: its number, and its name."""

    seq: int
    name: str


def stopped_at(instance: BatchInstance, batch: BatchDefinition | None, last: HistoryEntry | None) -> StepOf | None:
    """Return the step at which an instance stands: steps may have been inserted before it meanwhile."""
    if last is not None and _stopped(last, instance):
        return StepOf(last.seq, last.step_name)
    step = None if batch is None else batch.step_after(instance.last_seq)
    return None if step is None else StepOf(step.seq, step.name)


def _stopped(last: HistoryEntry, instance: BatchInstance) -> bool:
    """Say whether the last attempt is why an instance does not go on, rather than a manual change after a success."""
    return last.seq > instance.last_seq and last.status not in {HistoryStatus.SUCCESS, HistoryStatus.SKIPPED}


def _kind(instance: BatchInstance, attempt: HistoryEntry | None) -> IncidentKind:
    if instance.status is InstanceStatus.FAILED:
        return IncidentKind.FAILED
    was_lost = attempt is not None and attempt.status is HistoryStatus.LOST
    return IncidentKind.LOST if was_lost else IncidentKind.HELD


_DOES = {
    IncidentKind.FAILED: "has failed",
    IncidentKind.LOST: "is held, because it is unknown how it ended,",
    IncidentKind.HELD: "is held",
}


def _mending(instance: BatchInstance, batch: BatchDefinition | None, last: HistoryEntry | None) -> str:
    if instance.status is InstanceStatus.FAILED:
        return mending(instance, batch, last)
    at = instance.instance_id
    return f"batchctl show {at}   (then: batchctl rerun {at} --reason ...   or: batchctl skip {at} --reason ...)"


def last_lines(output: str | None) -> str | None:
    """Return the last lines of what a step has written, each cut, nothing invisible."""
    lines = [line for line in (output or "").splitlines() if line.strip()]
    return "\n".join(shorten(visible(line), LONGEST_LINE) for line in lines[-LAST_LINES:]) or None


def gathered(signs: Iterable[IncidentSign]) -> list[IncidentSign]:
    """Make one of signs that are the same: the first instance speaks for all, and each counts."""
    found: dict[str, list[IncidentSign]] = {}
    for one in signs:
        found.setdefault(one.key, []).append(one)
    return [_as_one(same) for same in found.values()]


def _as_one(same: Sequence[IncidentSign]) -> IncidentSign:
    first, evidence = same[0], max(one.evidence for one in same)
    if len(same) == 1:
        return first
    others = "one more stands" if len(same) == 2 else f"{len(same) - 1} more stand"
    return replace(first, evidence=evidence, message=f"{first.message} ({others} for the same reason)")


def too_long(
    entry: HistoryEntry, batch: BatchDefinition | None, lengths: Lengths, norms: Norms, now: datetime
) -> IncidentSign | None:
    """Return the sign of a step that runs for longer than AlarmDuration, or than it ever does."""
    step = None if batch is None else batch.step_at(entry.seq)
    runs = now - entry.started_at
    alarm = None if step is None else step.alarm_duration
    if alarm is not None:
        if runs < alarm:
            return None
        than = f"AlarmDuration ({_length(alarm)})"
    else:
        usual = sorted(lengths.get((entry.batch_id, entry.seq), ()))
        if len(usual) < norms.samples:
            return None
        longest = usual[(len(usual) * 95 - 1) // 100]
        if runs < max(longest * norms.slow, longest + LEAST_DIFFERENCE):
            return None
        than = f"usual ({_length(longest)} at most, of the last {len(usual)})"
    name = f"batch {entry.batch_id}" if batch is None else batch.name
    return IncidentSign(
        kind=IncidentKind.TOO_LONG,
        about=(entry.instance_id, entry.seq),
        subject=name,
        message=f"BatchControl {entry.instance_id} runs step {entry.seq} '{visible(entry.step_name)}' for longer than {than}",
        severity=Severity.WARNING,
        since=entry.started_at,
        next_step=f"batchctl show {entry.instance_id}   (to stop it: batchctl cancel {entry.instance_id} --reason ...)",
        batch_id=entry.batch_id,
        seq=entry.seq,
        instance_id=entry.instance_id,
        evidence=entry.history_id,
    )


def unanswered(
    question: Confirmation, instance: BatchInstance, batch: BatchDefinition | None, now: datetime
) -> IncidentSign | None:
    """Return the sign of a question that waits for longer than AlarmDuration, or whose time is over without an end."""
    step = None if batch is None else batch.step_at(question.seq)
    alarm = None if step is None else step.alarm_duration
    is_over = question.on_timeout is OnTimeout.INCIDENT and question.due is not None and question.due <= now
    if is_over:
        how = "has no answer, and its time is over"
    elif alarm is not None and now - question.asked_at >= alarm:
        how = f"has no answer for longer than AlarmDuration ({_length(alarm)})"
    else:
        return None
    called = "" if step is None else f" '{visible(step.name)}'"
    return IncidentSign(
        kind=IncidentKind.UNANSWERED,
        about=(question.confirmation_id,),
        subject=f"batch {instance.batch_id}" if batch is None else batch.name,
        message=f"The question of BatchControl {instance.instance_id} at step {question.seq}{called} {how}: {question.wording}",
        severity=Severity.ERROR if is_over else Severity.WARNING,
        since=question.asked_at,
        detail=last_lines(question.evidence),
        next_step=question.answering,
        batch_id=instance.batch_id,
        seq=question.seq,
        instance_id=instance.instance_id,
        evidence=question.confirmation_id,
    )


def too_short(
    attempts: Iterable[RecentAttempt], names: Mapping[BatchId, str], lengths: Lengths, norms: Norms
) -> Iterator[IncidentSign]:
    """Yield steps whose newest success took next to no time, as when there was unexpectedly nothing to do."""
    seen = set[tuple[BatchId, int]]()
    for one in attempts:
        step = one.batch_id, one.seq
        if one.status is not HistoryStatus.SUCCESS or one.ended_at is None or step in seen:
            continue
        seen.add(step)
        usual = lengths.get(step, ())
        if len(usual) < norms.samples or one.batch_id not in names:
            continue
        took, middle = one.ended_at - one.started_at, sorted(usual)[len(usual) // 2]
        if middle >= TELLING and took < middle * norms.short:
            so = (
                f" of BatchControl {one.instance_id} took {_length(took)}, usually it takes {_length(middle)}:"
                " was there anything to do?"
            )
            yield _of_runs(IncidentKind.TOO_SHORT, one, names, so, one.ended_at)


def fails_often(
    attempts: Iterable[RecentAttempt],
    names: Mapping[BatchId, str],
    norms: Norms,
    standing_at: set[tuple[BatchId, int | None]],
) -> Iterator[IncidentSign]:
    """Yield steps of whose last runs too many met a failure, also where a retry or the next run went well.

    Where an instance stands failed, that is reported already.
    """
    runs: dict[tuple[BatchId, int], dict[InstanceId, bool]] = {}
    newest: dict[tuple[BatchId, int], RecentAttempt] = {}
    for one in attempts:
        if one.status in _TELLS_NOTHING:
            continue
        step = one.batch_id, one.seq
        of_step = runs.setdefault(step, {})
        if one.instance_id in of_step or len(of_step) < norms.runs:
            of_step[one.instance_id] = of_step.get(one.instance_id, False) or one.has_failed
            if one.has_failed:
                newest.setdefault(step, one)
    for step, of_step in runs.items():
        failed = sum(of_step.values())
        if not norms.failures or failed < norms.failures or step in standing_at or step[0] not in names:
            continue
        one = newest[step]
        so = f" has failed in {failed} of the last {len(of_step)} runs, last in BatchControl {one.instance_id}"
        yield _of_runs(IncidentKind.FAILS_OFTEN, one, names, so, one.started_at)


def _of_runs(
    kind: IncidentKind, one: RecentAttempt, names: Mapping[BatchId, str], so: str, since: datetime
) -> IncidentSign:
    """Return the sign of what the runs of a step show; `one` is the attempt that speaks for them."""
    return IncidentSign(
        kind=kind,
        about=(one.batch_id, one.seq),
        subject=names[one.batch_id],
        message=f"Step {one.seq} '{visible(one.name)}'{so}",
        severity=Severity.WARNING,
        since=since,
        next_step=f"batchctl history {one.instance_id}",
        batch_id=one.batch_id,
        seq=one.seq,
        instance_id=one.instance_id,
        evidence=one.history_id,
    )


_TELLS_NOTHING = frozenset(
    {
        HistoryStatus.RUNNING,
        HistoryStatus.SKIPPED,
        HistoryStatus.CANCELLED,
        HistoryStatus.FENCED,
        HistoryStatus.ASKED,
    }
)


def overdue(wait: Wait) -> IncidentSign:
    """Return the sign of a batch that waits for others for too long."""
    cycle = "" if wait.cycle_key is None else f" for {visible(wait.cycle_key)}"
    return IncidentSign(
        kind=IncidentKind.DEPENDENCY_DEADLINE,
        about=(wait.batch.batch_id, wait.first),
        subject=wait.batch.name,
        message=f"It waits{cycle} for other batches beyond its deadline: {wait.reason}",
        since=wait.since,
        next_step=f"batchctl why batch:{typed(wait.batch.name)}",
        batch_id=wait.batch.batch_id,
        evidence=wait.first,
    )


def ending(calendar: Calendar, today: date, now: datetime) -> IncidentSign | None:
    """Return the sign of a calendar that runs out."""
    said = running_out(calendar, today)
    if said is None:
        return None
    return IncidentSign(
        kind=IncidentKind.CALENDAR_ENDS,
        about=(calendar.name,),
        subject=f"calendar {calendar.name}",
        message=capitalized(said),
        severity=Severity.WARNING,
        since=now,
        next_step=f"batchctl calendar import {typed(calendar.name)} ...   (batchctl calendar --help)",
    )


@named_value
class Gap:
    """A time in which no controller worked, and what waited for one."""

    since: datetime | None
    """The last sign of life of any controller; None where there never was one."""
    waiting_since: datetime | None
    """When the oldest of what waits came; None when nothing does."""


def no_worker(gap: Gap, now: datetime, patience: timedelta, *, is_over: bool) -> IncidentSign | None:
    """Return the sign that no controller works, or that none did while something waited for one."""
    since = gap.since or gap.waiting_since
    if since is None or since > now - patience:
        return None
    if is_over and (gap.since is None or gap.waiting_since is None or gap.waiting_since > now - patience):
        return None
    last = f"{since:%Y-%m-%d %H:%M:%S} UTC"
    sign = f"the last sign of life came at {last}" if gap.since is not None else "none ever has"
    waited = (
        "" if gap.waiting_since is None else f", and work has waited since {gap.waiting_since:%Y-%m-%d %H:%M:%S} UTC"
    )
    message = (
        f"No controller worked from {last} until now{waited.replace('waits', 'waited')}; one works again"
        if is_over
        else f"No controller works; {sign}{waited}"
    )
    return IncidentSign(
        kind=IncidentKind.NO_WORKER,
        subject="controllers",
        message=message,
        since=since,
        next_step="batchctl controllers"
        if is_over
        else "batchctl run   (start a controller; batchctl doctor shows what is wrong)",
        is_over=is_over,
    )


def no_leader(last: str | None, since: datetime, locked: Gate) -> IncidentSign:
    """Return the sign that controllers work, and none of them leads; `locked` may name what keeps them from that."""
    who = "none of them ever has" if last is None else f"{visible(last)} did, until {since:%Y-%m-%d %H:%M:%S} UTC"
    return IncidentSign(
        kind=IncidentKind.NOBODY_LEADS,
        subject="controllers",
        message=f"Controllers work, and none of them leads ({who}): nothing new becomes an instance"
        + (f"; {visible(locked.blocked)}" if locked.blocked else ""),
        since=since,
        next_step=locked.clear or "batchctl doctor   (says what keeps them from row 1 of table Leader)",
    )


def unserved(pool: str, unserved: str, serve: str, many: int, since: datetime) -> IncidentSign:
    """Return the sign that instances wait for a pool that no controller serves."""
    wait = "an instance waits" if many == 1 else f"{many} instances wait"
    return IncidentSign(
        kind=IncidentKind.POOL_UNSERVED,
        about=(pool,),
        subject=f"pool {visible(pool)}",
        message=f"{capitalized(unserved)}, and {wait} for it",
        since=since,
        next_step=serve,
    )


def kept_from_work(who: str, failure: str) -> str:
    """Return the message that something keeps a controller from its work, and what."""
    return f"{who} cannot do all of its work: {visible(without_next_step(failure))}"


def of_controllers(rows: Sequence[ControllerRow]) -> IncidentSign:
    """Return the sign that something keeps controllers from their work, which give signs of life all the same."""
    first = rows[0]
    others = "" if len(rows) == 1 else f" and {len(rows) - 1} more"
    said = first.failure or ""
    return IncidentSign(
        kind=IncidentKind.CONTROLLER_TROUBLE,
        subject="controllers",
        message=kept_from_work(f"Controller {visible(first.name)}{others}", said),
        since=first.heartbeat,
        next_step=next_step_in(said) or "batchctl doctor",
    )


def populator_hangs(rows: Sequence[IntakeRow]) -> IncidentSign:
    """Return the sign that a populator never answered about some rows of an entity, which wait for a person."""
    first = rows[0]
    others = "" if len(rows) == 1 else f" and {len(rows) - 1} more"
    waits = f"{'waits' if len(rows) == 1 else 'wait'}: {visible(first.message or '')}"
    return IncidentSign(
        kind=IncidentKind.POPULATOR_HANGS,
        about=(first.entity,),
        subject=f"entity {visible(first.entity)}",
        message=f"FileProcess {first.intake_id}{others} of entity {visible(first.entity)} {waits}",
        since=first.inserted_at,
        next_step=f"batchctl why file:{first.intake_id}",
        evidence=max(row.intake_id for row in rows),
    )


@named_value
class Undelivered:
    """A channel through which no message gets out."""

    channel: str
    since: datetime
    attempts: int
    wording: str | None


def silent_channel(one: Undelivered) -> IncidentSign:
    """Return the sign of a channel that delivers nothing."""
    return IncidentSign(
        kind=IncidentKind.CHANNEL_FAILED,
        about=(one.channel,),
        subject=f"channel {one.channel}",
        message=f"Alerts do not go out through channel {visible(one.channel)}: {visible(one.wording or 'there is no answer')}",
        since=one.since,
        next_step=f"batchctl alert test {typed(one.channel)}",
    )


def _length(length: timedelta) -> str:
    seconds = length.total_seconds()
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{seconds:.1f} s"
