"""What a night came to: which instances ended how, what was longer than expected, and one line that sums it up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time, timedelta
from itertools import groupby
from typing import Annotated

from batchctl.domain.definitions.row_guard import UNUSUAL
from batchctl.domain.rows import BatchId, HistoryId, InstanceId
from batchctl.domain.rule_texts import ROWS
from batchctl.domain.scheduling.column_text import UnfitText, time_of_day
from batchctl.domain.scheduling.wall_clock import DAY, WallClock, naive
from batchctl.domain.status import Cause, HistoryStatus, InstanceStatus
from batchctl.domain.values import named_value

FAILURES = frozenset({HistoryStatus.FAILED, HistoryStatus.TIMEOUT, HistoryStatus.LOST})
_PASSED = frozenset({HistoryStatus.SUCCESS, HistoryStatus.SKIPPED})


@named_value
class NightSpan:
    """From when until when a report looks."""

    since: datetime
    until: datetime
    is_open: bool = False
    """True where it lasts until now: what another host's clock has written as later belongs to it, too."""

    def holds(self, at: datetime | None) -> bool:
        """Say whether a moment is within it."""
        return at is not None and self.since < at and (self.is_open or at <= self.until)


@named_value
class NightAttempt:
    """An attempt, as far as a report goes by it, and how its instance stands."""

    history_id: Annotated[HistoryId, "BatchProcessHistory_id"]
    instance_id: InstanceId
    batch_id: BatchId
    seq: int
    step_name: Annotated[str, "ProcessName"]
    cause: Cause
    status: HistoryStatus
    started_at: Annotated[datetime, "StartTime"]
    ended_at: Annotated[datetime | None, "EndTime"]
    next_run: Annotated[datetime | None, "NextRunTimeAfter"]
    error_code: str | None
    rows_affected: int | None
    message: str | None
    instance_status: InstanceStatus

    @property
    def has_failed(self) -> bool:
        """Say whether it failed for good: its step is not tried again by itself."""
        return self.status in FAILURES and self.next_run is None

    @property
    def took(self) -> timedelta | None:
        """Return for how long it ran, if it has ended."""
        return None if self.ended_at is None else max(self.ended_at - self.started_at, timedelta(0))

    @property
    def is_unusual(self) -> bool:
        """Say whether it had fewer or more rows than it should."""
        return self.error_code == ROWS or UNUSUAL in (self.message or "")


@named_value
class NightFailure:
    """A step of an instance that failed for good, and what has become of it."""

    first: NightAttempt
    last: NightAttempt
    times: int
    is_mended: bool
    """True when a person has run it again or skipped it, by a command, a request or in SQL, and it was passed."""
    instance_status: InstanceStatus

    @property
    def outcome(self) -> str:
        """Say what has become of it."""
        if self.is_mended:
            return "mended"
        if self.instance_status in {InstanceStatus.FAILED, InstanceStatus.HELD}:
            return "stands"
        return "went on" if self.instance_status is InstanceStatus.COMPLETE else self.instance_status.value


@named_value
class NightInstance:
    """What an instance did in a night."""

    attempts: Sequence[NightAttempt]
    """Those that have ended, oldest first."""
    failures: Sequence[NightFailure]
    is_complete: bool

    @property
    def is_mended(self) -> bool:
        """Say whether it is complete because a person has mended it."""
        return self.is_complete and any(one.is_mended for one in self.failures)


@named_value
class BatchNight:
    """What the instances of a batch did in a night."""

    batch_id: BatchId
    complete: int
    mended: int
    failed: int
    """How many have failed for good, and were not mended."""
    retried: int
    """How many attempts failed after which the step was tried again by itself."""
    began: datetime
    ended: datetime


@named_value
class LongStep:
    """A step that took longer than ExpectedDuration says."""

    batch_id: BatchId
    seq: int
    step_name: str
    over: int
    """How many of its runs did."""
    longest: timedelta
    expected: timedelta


def span_since(written: str, clock: WallClock, now: datetime) -> datetime:
    """Return the moment that a text means: a time of day, the last that has passed, or an instant, in UTC by default."""
    try:
        return last_time(clock, now, time_of_day(written.strip()))
    except UnfitText:
        at = datetime.fromisoformat(written.strip())
        return at.replace(tzinfo=now.tzinfo) if at.tzinfo is None else at.astimezone(now.tzinfo)


def last_time(clock: WallClock, now: datetime, minutes: int) -> datetime:
    """Return the last moment, now at the latest, at which clocks showed a time of day."""
    midnight = datetime.combine(clock.day_of(now), time())
    shown = timedelta(minutes=minutes)
    today = clock.meant(midnight + shown)
    return today if today <= now else clock.meant(midnight - DAY + shown)


def last_night(clock: WallClock, now: datetime, due: str, since: str) -> NightSpan:
    """Return the last night that is over: until the time of day at which it is due, since the one before that."""
    until = last_time(clock, now, time_of_day(due))
    return NightSpan(since=last_time(clock, until - timedelta(seconds=1), time_of_day(since)), until=until)


def instances_of(attempts: Iterable[NightAttempt], span: NightSpan) -> list[NightInstance]:
    """Return what each instance did within a span of time, by its attempts."""
    ordered = sorted(attempts, key=lambda one: (one.instance_id, one.history_id))
    found = list[NightInstance]()
    for _, group in groupby(ordered, key=lambda one: one.instance_id):
        everything = list(group)
        ended = [one for one in everything if span.holds(one.ended_at)]
        if ended:
            last = everything[-1]
            is_complete = last.instance_status is InstanceStatus.COMPLETE and span.holds(last.ended_at)
            found.append(NightInstance(attempts=ended, failures=[*_failures(ended)], is_complete=is_complete))
    return found


def _failures(attempts: Sequence[NightAttempt]) -> Iterator[NightFailure]:
    for seq in dict.fromkeys(one.seq for one in attempts if one.has_failed):
        of_step = [one for one in attempts if one.seq == seq]
        failed = [one for one in of_step if one.has_failed]
        behind = [one for one in attempts if one.history_id > failed[0].history_id]
        by_person = any(one.cause is Cause.MANUAL or one.status is HistoryStatus.SKIPPED for one in behind)
        is_passed = of_step[-1].status in _PASSED
        if is_passed and not by_person and all(one.status is HistoryStatus.LOST for one in failed):
            # It has run again by itself, as OnLost says.
            continue
        yield NightFailure(
            first=failed[0],
            last=failed[-1],
            times=len(failed),
            is_mended=is_passed,
            instance_status=attempts[-1].instance_status,
        )


def batches_of(instances: Iterable[NightInstance]) -> list[BatchNight]:
    """Add instances up by batch."""
    found = list[BatchNight]()
    ordered = sorted(instances, key=lambda one: one.attempts[0].batch_id)
    for batch_id, group in groupby(ordered, key=lambda one: one.attempts[0].batch_id):
        its_own = list(group)
        attempts = [each for one in its_own for each in one.attempts]
        found.append(
            BatchNight(
                batch_id=batch_id,
                complete=sum(one.is_complete for one in its_own),
                mended=sum(one.is_mended for one in its_own),
                failed=sum(any(not each.is_mended for each in one.failures) for one in its_own),
                retried=sum(one.status in FAILURES and one.next_run is not None for one in attempts),
                began=min(one.started_at for one in attempts),
                ended=max(one.ended_at for one in attempts if one.ended_at is not None),
            )
        )
    return found


def is_over(attempt: NightAttempt, expected: timedelta | None) -> bool:
    """Say whether a success took longer than expected."""
    took = attempt.took
    return took is not None and expected is not None and attempt.status is HistoryStatus.SUCCESS and took > expected


@named_value
class NightVerdict:
    """The counts that the first line of a report consists of."""

    span: NightSpan
    complete: int
    mended: int
    went_on: int
    """How many went past a failed step, as OnStepFailure says."""
    late: int
    stands_open: int
    is_cut: bool = False
    """True when there were more attempts than are looked at."""

    def wording(self, clock: WallClock) -> str:
        """Say it in one line, by the clocks of the business."""
        begin, end = (clock.shown(naive(at)) for at in (self.span.since, self.span.until))
        until = f"{end:%H:%M}" if self.span.until - self.span.since <= DAY else f"{end:%d.%m. %H:%M}"
        parts = [f"{'at least ' if self.is_cut else ''}{_counted(self.complete, 'instance')} complete"]
        parts += [f"{self.mended} failed and mended"] if self.mended else []
        parts += [f"{self.went_on} went past a failed step"] if self.went_on else []
        parts += [f"{self.late} late"] if self.late else []
        if self.stands_open:
            parts.append(f"{self.stands_open} {'stands' if self.stands_open == 1 else 'stand'} open")
        else:
            parts.append("nothing stands open")
        return f"Night of {begin:%d.%m.} ({begin:%H:%M} to {until}): {', '.join(parts)}"


def _counted(many: int, what: str) -> str:
    return f"{many} {what}" if many == 1 else f"{many} {what}s"
