"""When the report of a night is sent by itself: once for each day and channel, as rows of the audit log say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum

from batchctl.domain.alerting.alerts import wait_after
from batchctl.domain.alerting.night_summary import NightSpan, last_night
from batchctl.domain.rows import AuditEntry
from batchctl.domain.scheduling.wall_clock import clock_of, naive
from batchctl.domain.values import named_value

STALE = timedelta(minutes=5)
"""After how long a report that was claimed, and of which no outcome is written, another controller may send."""


class NightAct(StrEnum):
    """`AuditLog.Action` of what the leader does about a report."""

    CLAIM = "report claim"
    SENT = "report sent"
    FAILED = "report failed"


@named_value
class NightTimes:
    """At which times of day a report is due, and of what, by the clocks of a time zone."""

    due: str
    since: str
    zone: str

    def last(self, now: datetime) -> NightSpan:
        """Return the last night of which the report is due."""
        return last_night(clock_of(self.zone), now, self.due, self.since)

    def day_of(self, night: NightSpan) -> date:
        """Return the day on which the report of a night is due."""
        return clock_of(self.zone).day_of(naive(night.until))


def night_target(day: date, channel: str) -> str:
    """Return how the audit log names the report that is sent on a day through a channel."""
    return f"Report:night {day}:{channel}"


def is_sent(acts: Sequence[AuditEntry]) -> bool:
    """Say whether a report was sent, by what was done about it."""
    return any(one.action == NightAct.SENT for one in acts)


def claims(acts: Sequence[AuditEntry]) -> int:
    """Return how often it was claimed."""
    return sum(one.action == NightAct.CLAIM for one in acts)


def may_be_sent(acts: Sequence[AuditEntry], now: datetime) -> bool:
    """Say whether a report may be sent now: it was not sent, no controller is sending it, and its next attempt is due."""
    if not acts:
        return True
    last = acts[-1]
    if is_sent(acts):
        return False
    return last.at <= now - (STALE if last.action == NightAct.CLAIM else wait_after(claims(acts)))
