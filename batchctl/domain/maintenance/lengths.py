"""Lengths of time as people write them in the configuration and on the command line: `90s`, `30m`, `2h`, `1d`."""

from __future__ import annotations

import re
from datetime import timedelta

_LENGTH = re.compile(r"([0-9]{1,6}) ?(s|m|h|d)", re.IGNORECASE)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
LONGEST = timedelta(days=366)


def length_of(written: str) -> timedelta | None:
    """Read a length of time; None when it is none, or absurdly long."""
    found = _LENGTH.fullmatch(written.strip())
    if found is None:
        return None
    length = timedelta(**{_UNITS[found[2].lower()]: int(found[1])})
    return length if timedelta(0) < length <= LONGEST else None


def in_words(length: timedelta) -> str:
    """Write a length of time in whole minutes where it is that, else in seconds."""
    minutes, seconds = divmod(length.total_seconds(), 60)
    return f"{length.total_seconds():g} s" if seconds or not minutes else f"{minutes:g} min"


def for_people(length: timedelta) -> str:
    """Write a length of time the way people say it."""
    total = max(length.total_seconds(), 0.0)
    minutes, seconds = divmod(int(total), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02} min"
    if minutes:
        return f"{minutes} min {seconds:02} s"
    return f"{total:.1f} s"
