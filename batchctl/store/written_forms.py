"""How people write times of day, days and days of the week, as constraints: what nobody could read is refused at once.

SQLite and SQL Server have patterns only, and other signs for the same; PostgreSQL has regular expressions. What only a
calendar knows, such as whether February has a 30th, is left to `check`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce

from batchctl.domain.scheduling.business_days import MOST_OF_A_MONTH, WEEKDAYS
from batchctl.domain.scheduling.cadences import MONTHS
from batchctl.store.conditions import differing, one_by_one

_TIME, _REGULAR_TIME = "[0-2][0-9]:[0-5][0-9]", "([01][0-9]|2[0-3]):[0-5][0-9]"
_DAY = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]"
_REGULAR_DAY = "[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_NO_DAY = ("?????00*", "?????1[3-9]*", "????????00*", "????????3[2-9]*")
_WITHIN = "[^-,]"
"""What stands between the signs of a list."""
_NOT_BEHIND_A_COMMA = ("[^0-2]", "2[^0-3]", "[01][^0-9]", "??[^:]", "???[^0-5]", "????[^0-9]", "?????[^,]")
"""What may stand nowhere behind a comma of times that have one before and behind each."""


_NESTED = 10
"""How many words SQLite is told to take away from one another."""
BLANKS = (*range(9, 14), *range(28, 33), 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288)
"""What the engine leaves away before and after a name or a number."""
BLANK = r"[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""The same as a regular expression of PostgreSQL has it."""
LONGEST_LIMIT = 18
"""Digits of a number that every database can reckon with."""


def bare(text: str) -> tuple[str, str, str]:
    """Say on PostgreSQL, on SQLite and on SQL Server what is left of a text without the blanks before and after it."""
    each = ", ".join(f"NCHAR({code})" for code in BLANKS)
    return (
        # Only so it can be written where the database holds no such characters.
        f"regexp_replace({text}, '^{BLANK}+|{BLANK}+$', '', 'g')",
        f"trim({text}, char({', '.join(map(str, BLANKS))}))",
        f"TRIM(CONCAT({each}) FROM {text})",
    )


def is_word_while(column: str, words: Iterable[str], condition: str) -> differing:
    """Return the constraint that a column holds one of some words as long as something is so: what is over stays as it was.

    They may be in any letter case, with blanks before and after.
    """
    words = tuple(words)
    listed = ", ".join(f"'{word}'" for word in words)
    elsewhere, on_sqlite, on_mssql = (f"lower({each})" for each in bare(column))
    return differing(
        f"{elsewhere} IN ({listed}) OR NOT ({condition})",
        f"{one_by_one(on_sqlite, words)} OR NOT ({condition})",
        f"{on_mssql} IN ({listed}) OR NOT ({condition})",
    )


def is_limit_or_other(name: str, value: str) -> differing:
    """Return the constraint that the setting of how much runs at once is a number; other settings may be anything."""
    elsewhere, on_sqlite, on_mssql = bare(value)
    digits = "NOT {0} '{1}[^0-9]{1}' AND {2}({3}) BETWEEN 1 AND {4}"
    return differing(
        f"{name} <> 'MaxConcurrent' OR {elsewhere} ~ '^[0-9]{{1,{LONGEST_LIMIT}}}$'",
        f"{name} <> 'MaxConcurrent' OR ({on_sqlite} {digits.format('GLOB', '*', 'length', on_sqlite, LONGEST_LIMIT)})",
        f"{name} <> 'MaxConcurrent' OR ({on_mssql} {digits.format('LIKE', '%', 'LEN', on_mssql, LONGEST_LIMIT)})",
    )


def is_plain(column: str) -> differing:
    """Return the constraint that a column holds ASCII alone, blanks at most of what cannot be seen, and is not empty.

    What engine and triggers then leave away before and after it, and how they write it in small letters, is the same.
    """
    return differing(
        f"""{column} COLLATE "C" ~ '^ *[!-~][ -~]*$'""",
        f"trim({column}) <> '' AND {column} NOT GLOB '*[^ -~]*'",
        f"TRIM({column}) <> '' AND {column} NOT LIKE '%[^ -~]%'",
    )


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


def has_none_broken(column: str) -> differing:
    """Return the constraint that no part of a list has a blank within it: the patterns above are told of no blanks at all."""
    return differing(f"{column} !~ '[^-, ] +[^-, ]'", *(_none_broken(column, fits) for fits in ("GLOB", "LIKE")))


def is_day(column: str) -> differing:
    """Return the constraint that a column holds a date such as 2026-11-21."""
    return _one(f"trim({column})", [_DAY], _NO_DAY, _REGULAR_DAY)


def is_day_and_time(column: str) -> differing:
    """Return the constraint that a column holds a date with a time of day, which may have seconds."""
    short, regular = f"{_DAY}[ T]{_TIME}", f"{_REGULAR_DAY}[ T]{_REGULAR_TIME}(:[0-5][0-9])?"
    return _one(f"trim({column})", [short, f"{short}:[0-5][0-9]"], [*_NO_DAY, "*[ T]2[4-9]*"], regular)


def are_weekdays(column: str, *, or_none: bool = False) -> differing:
    """Return the constraint that a column holds days of the week, or ranges of them, with commas between them."""
    made = are_words(column, WEEKDAYS, ranges=True)
    return differing(*(f"trim({column}) = '' OR ({each})" for each in made.clauses)) if or_none else made


def are_months(column: str) -> differing:
    """Return the constraint that a column holds months, their numbers, or ranges of them, with commas between them."""
    return are_words(column, [*MONTHS, *_numbers(len(MONTHS))], ranges=True)


def are_month_days(column: str) -> differing:
    """Return the constraint that a column holds days of a month, also counted by business days, with commas between them."""
    business = [f"business_{place}" for place in (*_numbers(MOST_OF_A_MONTH), "last")]
    return are_words(column, [*_numbers(31), "last", *business])


def has_such_days(months: str, days: str) -> differing:
    """Return the constraint that of some months, written one by one, not all lack all of the days that are written."""
    lacking = (({2}, ["30", "31"]), ({2, 4, 6, 9, 11}, ["31"]))
    made = [(are_words(months, _months(some)).clauses, are_words(days, beyond).clauses) for some, beyond in lacking]
    each = zip(*(zip(*pair, strict=True) for pair in made), strict=True)
    return differing(*(" AND ".join(f"NOT (({some}) AND ({beyond}))" for some, beyond in one) for one in each))


def _months(places: Collection[int]) -> list[str]:
    return [*(MONTHS[at - 1] for at in sorted(places)), *(at for at in _numbers(len(MONTHS)) if int(at) in places)]


def _numbers(most: int) -> list[str]:
    """Return the numbers up to one, those below ten also with a zero before them."""
    return [*map(str, range(1, most + 1)), *(f"0{number}" for number in range(1, 10))]


def are_words(column: str, words: Iterable[str], *, ranges: bool = False) -> differing:
    """Return the constraint that a column holds some words with commas between them, in any letter case.

    Each word stands between commas of its own; what is taken away when each word is, is then as long as the whole. They
    are taken away some at a time, and the lengths summed up: SQLite's parser bears few that nest.
    """
    words = [word.lower() for word in words]
    dash = f"( *- *({'|'.join(words)}))?" if ranges else ""
    word = f" *({'|'.join(words)}){dash} *"
    return differing(
        f"""lower({column} COLLATE "C") ~ '^{word}(,{word})*$'""",
        _are_flat(column, words, "||", "length", "GLOB", ranges=ranges, nested=_NESTED),
        _are_flat(column, words, "+", "LEN", "LIKE", ranges=ranges),
    )


def _are_flat(
    column: str, words: Sequence[str], join: str, length: str, fits: str, *, ranges: bool, nested: int = 1
) -> str:
    bare = f"lower(replace({column}, ' ', ''))"
    ends = f"replace({bare}, '-', ',')" if ranges else bare
    apart = f"',' {join} replace({ends}, ',', ',,') {join} ','"
    groups = [words[at : at + nested] for at in range(0, len(words), nested)]
    left = " + ".join(f"{length}({_without(apart, group)})" for group in groups)
    twice = [f"*-{_WITHIN * many}-*" for many in range(1, max(map(len, words)) + 1)] if ranges else []
    refused = [f"{bare} NOT {fits} '{_as_like(each) if fits == 'LIKE' else each}'" for each in twice]
    return " AND ".join([f"{left} = {len(groups) - 1} * {length}({apart})", _none_broken(column, fits), *refused])


def _without(apart: str, words: Iterable[str]) -> str:
    return reduce(lambda left, word: f"replace({left}, ',{word},', '')", words, apart)


def _none_broken(column: str, fits: str) -> str:
    """Say of a pattern's database that no word has a blank within it, however long: one run of blanks becomes one sign."""
    broken = f"*{_WITHIN}<>{_WITHIN}*"
    runs = f"replace(replace({column}, ' ', '<>'), '><', '')"
    return f"{runs} NOT {fits} '{_as_like(broken) if fits == 'LIKE' else broken}'"


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
