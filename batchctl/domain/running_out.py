"""When a calendar ends: nothing is known of the days behind it, and somebody has to say more in time."""

from __future__ import annotations

from datetime import date, timedelta

from batchctl.domain.schedules import Calendar

WARNED_BEFORE = timedelta(days=60)


def running_out(calendar: Calendar, today: date) -> str | None:
    """Say that a calendar has run out, or will within two months; None while it reaches far enough, or has no end."""
    until = calendar.valid_until
    if until is None or until - today > WARNED_BEFORE:
        return None
    if until < today:
        return f"It has run out: nothing is known of the days after {until}, and weekdays alone decide there."
    left = (until - today).days
    days = "today" if left == 0 else f"in {left} day{'s' * (left > 1)}"
    return f"It runs out {days}: nothing is known of the days after {until}, and weekdays alone decide there."
