"""When the schedules of a world are due, counted minute by minute, and what its tables say was decided of that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

MINUTE = timedelta(minutes=1)


class Row:
    """A row of `ScheduleFire`, and its schedule, and its backfill if it has one, as they were when the row was inserted."""

    def __init__(
        self,
        number: int,
        key: str,
        outcome: str,
        due: str,
        until: str | None,
        instants: int,
        reason: str | None,
        backfill: int | None,
        minutes: int,
        enabled: int,
        decided_until: str | None,
        backfill_was: str | None,
        program: str,
        commits: int,
        at: str,
    ) -> None:
        self.number, self.key, self.outcome = number, key, outcome
        self.instants, self.reason, self.backfill = instants, reason, backfill
        self.minutes, self.enabled, self.backfill_was = minutes, enabled, backfill_was
        self.program, self.commits = program, commits
        self.due = moment(due)
        self.until = self.due if until is None else moment(until)
        self.is_stretch = until is not None
        self.at = moment(at)
        self.reach = reach(enabled, decided_until, self.at)
        self.is_fired = outcome == "fired"


def dues_of(row: Row, fires: Sequence[Row]) -> list[datetime]:
    """Return the due times that a row stands for.

    What has a row of its own stays out of a stretch: a clock that was set leads back to it, a backfill has started it, or it
    fires in the same transaction, because it was on time when a lock kept the others from being so.
    """
    single = (
        {one.due for one in fires if not one.is_stretch and one.commits <= row.commits} if row.is_stretch else set()
    )
    return [due for due in grid(row.minutes, row.due - MINUTE, row.until) if due not in single]


def reach(enabled: int, decided_until: str | None, now: datetime) -> datetime:
    """Return up to which moment a backfill may go: what is to come, or the schedule's own to decide, lies behind it."""
    return now if not enabled or decided_until is None else min(now, moment(decided_until))


def grid(minutes: int, after: datetime, until: datetime) -> Iterator[datetime]:
    """Yield every so many minutes of each day, counted from its midnight."""
    at = after.replace(second=0, microsecond=0) + MINUTE
    while at <= until:
        if (at.hour * 60 + at.minute) % minutes == 0:
            yield at
        at += MINUTE


def moment(text: str) -> datetime:
    """Read a time of the tables."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
