"""What people write into one column of a schedule: a time of day, a date, days of the week, days of a month.

What cannot be read raises `UnfitText`, with what to write instead.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Collection, Sequence
from datetime import date, datetime

from batchctl.domain.scheduling.business_days import MOST_OF_A_MONTH, WEEKDAYS
from batchctl.domain.scheduling.cadences import LAST, MONTHS, WEEKS
from batchctl.domain.scheduling.wall_clock import FIRST_DAY, LAST_DAY
from batchctl.domain.text import did_you_mean, nearest, shorten, visible

BLANK = " "
"""What may stand around the parts of a list: the constraints of the database know no other blank either."""

_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")
_NEARLY_TIME = re.compile(r"([0-9]{1,2})(?:[:.hH]?([0-9]{2}))?")
_WINDOW = re.compile(r"([^-]*)-([^-]*)")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WALL_TIME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)")
_NUMBER = re.compile(r"[0-9]{1,2}")
_BUSINESS = re.compile(r"business_([0-9]{1,2}|last)")

_MONTHS_IN_FULL = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKDAYS_IN_FULL = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT = {word: word[:3] for word in (*_WEEKDAYS_IN_FULL, *_MONTHS_IN_FULL)}


class UnfitText(ValueError):
    """What is wrong with the text of a column."""


def time_of_day(written: str) -> int:
    """Read a time of day, as minutes after midnight."""
    found = _TIME.fullmatch(written)
    if not written:
        raise UnfitText("A time of day is missing; write for example 06:00,18:00.")
    if found is not None:
        return int(found[1]) * 60 + int(found[2])
    nearly = _as_time(written)
    said = f"{quoted(written)} is no time of day: write it as HH:MM"
    raise UnfitText(f"{said}, from 00:00 to 23:59." if nearly is None else f"{said}, {nearly}.")


def _as_time(written: str) -> str | None:
    """Return a mistyped time of day in its right form, as far as it can be recognised."""
    nearly = _NEARLY_TIME.fullmatch(written)
    if nearly is None or int(nearly[1]) >= 24 or int(nearly[2] or 0) >= 60:
        return None
    return f"{int(nearly[1]):02}:{nearly[2] or '00'}"


def window_of_day(written: str | None) -> tuple[int, int] | None:
    """Read two times of day with a dash between them."""
    if written is None:
        return None
    found = _WINDOW.fullmatch(written)
    if found is None:
        raise UnfitText(f"{quoted(written)} is no window: write it as HH:MM-HH:MM, for example 09:00-17:00.")
    begin, end = found[1].strip(BLANK), found[2].strip(BLANK)
    if not (_TIME.fullmatch(begin) and _TIME.fullmatch(end)) and _as_time(begin) and _as_time(end):
        raise UnfitText(f"{quoted(written)} is no window: write it as HH:MM-HH:MM, {_as_time(begin)}-{_as_time(end)}.")
    return time_of_day(begin), time_of_day(end)


def local_date(written: str | None) -> date | None:
    """Read a date."""
    if written is None:
        return None
    return _checked_date(written.strip(), f"{quoted(written)} is no date: write it as YYYY-MM-DD.")


def _checked_date(written: str, message: str) -> date:
    if not _DATE.fullmatch(written):
        raise UnfitText(message)
    try:
        read = date.fromisoformat(written)
    except ValueError as error:
        raise UnfitText(f"{quoted(written)} is no date: {no_such_day(written) or error}.") from error
    if not FIRST_DAY <= read <= LAST_DAY:
        raise UnfitText(f"{quoted(written)} is not between {FIRST_DAY} and {LAST_DAY}.")
    return read


def no_such_day(written: str) -> str | None:
    """Return why the date that a text begins with does not exist; None where it does, or the text begins otherwise."""
    found = _DATE.match(written.strip())
    if found is None:
        return None
    year, month, day = (int(part) for part in found[0].split("-"))
    if not 1 <= month <= len(MONTHS) or year == 0:
        return f"there is no month {month}" if year else "there is no year 0"
    last = monthrange(year, month)[1]
    return None if 1 <= day <= last else f"{_MONTHS_IN_FULL[month - 1]} {year} has {last} days"


def wall_time(written: str | None) -> datetime | None:
    """Read a date with a time of day."""
    if written is None:
        return None
    message = f"{quoted(written)} is no wall time: write it as YYYY-MM-DD HH:MM."
    found = _WALL_TIME.fullmatch(written.strip())
    if found is None:
        raise UnfitText(message)
    day = _checked_date(found[1], message)
    try:
        return datetime.fromisoformat(f"{day}T{found[2]}")
    except ValueError as error:
        raise UnfitText(f"{quoted(written)} is no wall time: {error}.") from error


def weekdays_of(part: str) -> Collection[int]:
    """Read a day of the week or a range of them, counted from Monday as 0."""
    return _range(part, WEEKDAYS, "day of the week", "Mon,Fri or Mon-Fri")


def months_of(part: str) -> Collection[int]:
    """Read a month, its number or a range of months."""
    named = "-".join(_month_name(word.strip(BLANK)) for word in part.split("-"))
    return [place + 1 for place in _range(named, MONTHS, "month", "Jan,Jul or 1,7")]


def _month_name(word: str) -> str:
    if not _NUMBER.fullmatch(word):
        return word
    if not 1 <= int(word) <= 12:
        raise UnfitText(f"'{word}' is no month: write 1 to 12, or Jan to Dec.")
    return MONTHS[int(word) - 1]


def weeks_of(part: str) -> Collection[int]:
    """Read which of the days of a month with the same day of the week; `LAST` for the last."""
    place = _place(part, WEEKS, "week of a month", "first,last")
    return [LAST if WEEKS[place] == "last" else place + 1]


def month_days_of(part: str) -> Collection[tuple[int, bool]]:
    """Read a day of the month, `LAST` for the last, and whether only business days are counted."""
    folded = part.lower()
    if folded == "last":
        return [(LAST, False)]
    if _NUMBER.fullmatch(part):
        if not 1 <= int(part) <= 31:
            raise UnfitText(f"'{part}' is no day of a month: write 1 to 31, or last.")
        return [(int(part), False)]
    if (found := _BUSINESS.fullmatch(folded)) is not None:
        if found[1] == "last":
            return [(LAST, True)]
        if 1 <= int(found[1]) <= MOST_OF_A_MONTH:
            return [(int(found[1]), True)]
    meant = visible(did_you_mean(part, ("last", "business_1", "business_last"))) if part else ""
    said = f"write 1 to 31, last, business_1 to business_{MOST_OF_A_MONTH}, or business_last."
    raise UnfitText(f"{quoted(part)} is no day of a month: {said}{meant if 'Did' in meant else ''}")


def _range(part: str, words: Sequence[str], what: str, example: str) -> Collection[int]:
    """Read a word, or two with a dash between them; a range may go over the end."""
    begin, dash, end = part.partition("-")
    first = _place(begin.strip(BLANK), words, what, example)
    if not dash:
        return [first]
    last = _place(end.strip(BLANK), words, what, example)
    length = (last - first) % len(words)
    return [(first + step) % len(words) for step in range(length + 1)]


def _place(part: str, words: Sequence[str], what: str, example: str) -> int:
    folded = [word.lower() for word in words]
    if part.lower() in folded:
        return folded.index(part.lower())
    if not part:
        raise UnfitText(f"A {what} is missing; write for example {example}, or set the column to NULL.")
    raise UnfitText(f"{quoted(part)} is no {what}; write for example {example}. {_meant(part, words)}")


def _meant(part: str, words: Sequence[str]) -> str:
    """Return which word may be meant, also by a longer form of it, or which words there are, in their own order."""
    longer = {full: short for full, short in _SHORT.items() if short in words}
    near = nearest(part, [*words, *longer])
    return f"Known: {', '.join(words)}." if near is None else f"Did you mean '{longer.get(near, near)}'?"


def quoted(written: str) -> str:
    """Return a text as it is shown in a message."""
    return f"'{shorten(visible(written), 60)}'"
