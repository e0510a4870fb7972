"""How people write times of day, days and days of the week, as constraints: what nobody could read is refused at once.

SQLite and SQL Server have patterns only, and other signs for the same; PostgreSQL has regular expressions. What only a
calendar knows, such as whether February has a 30th, is left to `check`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from batchctl.domain.business_days import WEEKDAYS
from batchctl.store.conditions import differing

_TIME, _REGULAR_TIME = "[0-2][0-9]:[0-5][0-9]", "([01][0-9]|2[0-3]):[0-5][0-9]"
_DAY = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]"
_REGULAR_DAY = "[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_NO_DAY = ("?????00*", "?????1[3-9]*", "????????00*", "????????3[2-9]*")
_NOT_BEHIND_A_COMMA = ("[^0-2]", "2[^0-3]", "[01][^0-9]", "??[^:]", "???[^0-5]", "????[^0-9]", "?????[^,]")
"""What may stand nowhere behind a comma of times that have one before and behind each."""


def is_time_of_day(column: str) -> differing:
    """Return the constraint that a column holds a time such as 06:00."""
    return _one(f"trim({column})", [_TIME], ["2[4-9]*"], _REGULAR_TIME)


def is_time_or_word(column: str, word: str) -> differing:
    """Return the constraint that a column holds such a time, or a word in its place."""
    made = is_time_of_day(column)
    return differing(*(f"lower(trim({column})) = '{word}' OR ({each})" for each in made.clauses))


def are_times_of_day(column: str) -> differing:
    """Return the constraint that a column holds such times with commas between them."""
    bare, regular = f"replace({column}, ' ', '')", f"{_REGULAR_TIME}(,{_REGULAR_TIME})*"
    return _one(bare, [], [f"*,{place}*" for place in _NOT_BEHIND_A_COMMA], regular, between="','")


def is_window_of_day(column: str) -> differing:
    """Return the constraint that a column holds two such times with a dash between them."""
    bare, regular = f"replace({column}, ' ', '')", f"{_REGULAR_TIME}-{_REGULAR_TIME}"
    return _one(bare, [f"{_TIME}-{_TIME}"], ["2[4-9]*", "*-2[4-9]*"], regular)


def is_day(column: str) -> differing:
    """Return the constraint that a column holds a date such as 2026-11-21."""
    return _one(f"trim({column})", [_DAY], _NO_DAY, _REGULAR_DAY)


def is_day_and_time(column: str) -> differing:
    """Return the constraint that a column holds a date with a time of day, which may have seconds."""
    short, regular = f"{_DAY}[ T]{_TIME}", f"{_REGULAR_DAY}[ T]{_REGULAR_TIME}(:[0-5][0-9])?"
    return _one(f"trim({column})", [short, f"{short}:[0-5][0-9]"], [*_NO_DAY, "*[ T]2[4-9]*"], regular)


def are_weekdays(column: str, *, or_none: bool = False) -> differing:
    """Return the constraint that a column holds days of the week, or ranges of them, with commas between them."""
    made = are_names(column, WEEKDAYS, ranges=True)
    return differing(*(f"trim({column}) = '' OR {each}" for each in made.clauses)) if or_none else made


def are_names(column: str, names: Iterable[str], *, ranges: bool = False) -> differing:
    """Return the constraint that a column holds some names with commas between them, in any letter case.

    Each becomes a sign, and so does each range; then there may be nothing but signs with commas, and these are taken away.
    """
    left = f"lower(replace({column}, ' ', ''))"
    for name in names:
        left = f"replace({left}, '{name.lower()}', '#')"
    if ranges:
        left = f"replace({left}, '#-#', '#')"
    said = f"replace(',' {{0}} {left} {{0}} ',', '#,', '') = ','"
    return differing(said.format("||"), said.format("||"), said.format("+"))


def _one(value: str, one_of: Sequence[str], none_of: Iterable[str], regular: str, between: str = "") -> differing:
    """Return that a value fits one of some patterns, if there are any, and none of others; or a regular expression.

    Patterns are looked for with `between` before and behind the value.
    """
    on_sqlite = f"{between} || {value} || {between}" if between else value
    on_mssql = f"{between} + {value} + {between}" if between else value
    return differing(
        f"{value} ~ '^{regular}$'",
        _patterns(on_sqlite, "GLOB", one_of, none_of),
        _patterns(on_mssql, "LIKE", *([_as_like(each) for each in some] for some in (one_of, none_of))),
    )


def _patterns(value: str, fits: str, one_of: Sequence[str], none_of: Iterable[str]) -> str:
    either = " OR ".join(f"{value} {fits} '{each}'" for each in one_of)
    never = [f"{value} NOT {fits} '{each}'" for each in none_of]
    return " AND ".join([*([f"({either})" if len(one_of) > 1 else either] if either else []), *never])


def _as_like(pattern: str) -> str:
    return pattern.replace("?", "_").replace("*", "%")
