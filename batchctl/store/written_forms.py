"""How people write times of day, days and days of the week, as constraints: what is unreadable is refused at once.

SQLite and SQL Server have patterns only, and other signs for the same; PostgreSQL has regular expressions. What only a
calendar knows, such as whether February has a 30th, is left to `check`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from batchctl.domain.scheduling.business_days import MOST_OF_A_MONTH, WEEKDAYS
from batchctl.domain.scheduling.cadences import MONTHS, WEEKS
from batchctl.store.conditions import differing

_TIME, _REGULAR_TIME = "[0-2][0-9]:[0-5][0-9]", "([01][0-9]|2[0-3]):[0-5][0-9]"
_DAY = "[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]"
_REGULAR_DAY = "[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_NO_DAY = ("?????00*", "?????1[3-9]*", "????????00*", "????????3[2-9]*")
_IN_YEAR = "substr({0},6,2) BETWEEN '01' AND '12' AND substr({0},9,2) BETWEEN '01' AND '31'"
"""The condition of month and day on SQLite."""
_WITHIN = "[^-,]"
"""What stands between the signs of a list."""
_NOT_BEHIND_A_COMMA = ("[^0-2]", "2[^0-3]", "[01][^0-9]", "??[^:]", "???[^0-5]", "????[^0-9]", "?????[^,]")
"""What may stand nowhere behind a comma of times that have one before and behind each."""


BLANKS = (*range(9, 14), *range(28, 33), 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288)
"""The blanks that the engine strips before and after a name or a number."""
BLANK = r"[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""The same blanks in a regular expression of PostgreSQL."""
LONGEST_LIMIT = 18
"""Digits of a number that every database can reckon with."""


def bare(text: str) -> tuple[str, str, str]:
    """Return, for PostgreSQL, SQLite and SQL Server, the expression of a text without blanks before and after it."""
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
        f"{on_sqlite} IN ({listed}) OR NOT ({condition})",
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

    What engine and triggers then strip before and after it, and how they write it in small letters, is the same.
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
    """Return the constraint that no part of a list has a blank within it: the patterns above see no blanks at all."""
    return differing(f"{column} !~ '[^-, ] +[^-, ]'", *(_none_broken(column, fits) for fits in ("GLOB", "LIKE")))


def is_day(column: str) -> differing:
    """Return the constraint that a column holds a date such as 2026-11-21."""
    bare = f"trim({column})"
    elsewhere, _, on_mssql = _one(bare, [_DAY], _NO_DAY, _REGULAR_DAY).clauses
    return differing(str(elsewhere), f"{bare} GLOB '{_DAY}' AND {_IN_YEAR.format(bare)}", str(on_mssql))


def is_day_and_time(column: str) -> differing:
    """Return the constraint that a column holds a date with a time of day, which may have seconds."""
    bare, short, regular = f"trim({column})", f"{_DAY}[ T]{_TIME}", f"{_REGULAR_DAY}[ T]{_REGULAR_TIME}(:[0-5][0-9])?"
    one_of = [short, f"{short}:[0-5][0-9]"]
    elsewhere, _, on_mssql = _one(bare, one_of, [*_NO_DAY, "*[ T]2[4-9]*"], regular).clauses
    in_full = f"substr({bare}||':'||'00',1,max(19,length({bare}))) GLOB '{one_of[1]}'"
    on_sqlite = f"{in_full} AND {_IN_YEAR.format(bare)} AND substr({bare},12,2) < '24'"
    return differing(str(elsewhere), on_sqlite, str(on_mssql))


def are_weekdays(column: str, *, or_none: bool = False) -> differing:
    """Return the constraint that a column holds days of the week, or ranges of them, with commas between them."""
    made = _are_words(column, WEEKDAYS, _replaced(column, [(day.lower(), _WORD) for day in WEEKDAYS]), ranges=True)
    return differing(*(f"trim({column}) = '' OR ({each})" for each in made.clauses)) if or_none else made


def are_weeks(column: str) -> differing:
    """Return the constraint that a column holds weeks of a month with commas between them."""
    return _are_words(column, WEEKS, _replaced(column, [(week, _WORD) for week in WEEKS]))


def are_months(column: str) -> differing:
    """Return the constraint that a column holds months, their numbers, or ranges of them, with commas between them.

    SQLite adds what is written to an object with the words as keys: the last key stays the last where all are among them.
    No end of a range begins another.
    """
    words = [*(month.lower() for month in MONTHS), *_numbers(len(MONTHS))]
    elsewhere, _, on_mssql = _are_words(column, words, ranges=True).clauses
    bare = f"replace(lower({column}),' ','')"
    known = f"""'{{"'||replace('{",".join(words)}',',','":"","')||'":""}}'"""
    written = f"""'{{'||replace(json_quote(replace({bare},'-',',')),',','":"","')||':""}}'"""
    added = f"""json_patch({known},{written}) LIKE '%"{words[-1]}":""}}'"""
    twice = [f"{bare} NOT GLOB '{each}'" for each in ("*-?-*", "*-??-*", "*-?[^,]?-*")]
    all_of = " AND ".join([added, _none_broken(column, "GLOB"), *twice])
    # JSON has a word for NULL.
    return differing(str(elsewhere), f"{column} IS NULL OR {all_of}", str(on_mssql))


def are_month_days(column: str) -> differing:
    """Return the constraint that a column holds days of a month, also counted by business days, with commas between them.

    On SQLite 4 to 8 count as 9; once the days after the 23rd are replaced, 2 counts as 1, and 3 and 9 as any figure.
    """
    business = [f"business_{place}" for place in (*_numbers(MOST_OF_A_MONTH), "last")]
    said = [
        *((one, "9") for one in "45678"),
        *((day, _WORD) for day in ("29", "30", "31")),
        *(("2", "1"), ("3", _FIGURE), ("9", _FIGURE)),
        *((day, _EARLY) for day in ("10", "11", f"1{_FIGURE}")),
        *(("1", _FIGURE), (f"0{_FIGURE}", _EARLY), (_FIGURE, _EARLY)),
        *(("last", _EARLY), (f"business_{_EARLY}", _WORD), (_EARLY, _WORD)),
    ]
    return _are_words(column, [*_numbers(31), "last", *business], _replaced(column, said))


def has_such_days(months: str, days: str) -> differing:
    """Return the constraint that of some months, written one by one, not all lack all of the days that are written."""
    lacking = (({2}, ["30", "31"]), ({2, 4, 6, 9, 11}, ["31"]))
    made = [(_are_words(months, _months(some)), _are_words(days, beyond)) for some, beyond in lacking]
    elsewhere, on_mssql = (
        " AND ".join(f"NOT (({some.clauses.clauses[at]}) AND ({beyond.clauses.clauses[at]}))" for some, beyond in made)
        for at in (0, 2)
    )
    said = [(_replaced(months, _as_numbers(some)), _replaced(days, ())) for some, _ in lacking]
    on_sqlite = " AND ".join(
        f"NOT ({_are_only(each, ['2'])} AND {_are_only(on, beyond)})"
        for (each, on), (_, beyond) in zip(said, lacking, strict=True)
    )
    return differing(elsewhere, on_sqlite, on_mssql)


def _as_numbers(some: Collection[int]) -> Iterator[tuple[str, str]]:
    """Yield what makes a 2 of each of some months, however it is written; all are known to be months."""
    yield from ((MONTHS[at - 1].lower(), "2") for at in sorted(some))
    yield "0", ""
    yield from ((str(at), "2") for at in sorted(some) if at > 2)


def _months(places: Collection[int]) -> list[str]:
    return [*(MONTHS[at - 1] for at in sorted(places)), *(at for at in _numbers(len(MONTHS)) if int(at) in places)]


def _numbers(most: int) -> list[str]:
    """Return the numbers up to one, those below ten also with a zero before them."""
    return [*map(str, range(1, most + 1)), *(f"0{number}" for number in range(1, 10))]


_WORD, _EARLY, _FIGURE = "W", "V", "U"
"""What SQLite puts in the place of words, of those that may stand behind `business_` too, and of figures.

No text holds these itself: all is in small letters before.
"""


def _replaced(column: str, words: Iterable[tuple[str, str]]) -> str:
    """Return a column in small letters, with others in the place of its words, one after the other, and then without blanks."""
    said = f"lower({column})"
    for word, other in words:
        said = f"replace({said},'{word}','{other}')"
    return f"replace({said},' ','')"


def _are_only(bare: str, words: Iterable[str]) -> str:
    """Return SQLite's condition that a list holds some words and no others."""
    said = f"{bare}||','"
    for word in words:
        said = f"replace({said},'{word},','')"
    return f"{said} = ''"


def _are_words(column: str, words: Iterable[str], replaced: str = "", *, ranges: bool = False) -> differing:
    """Return the constraint that a column holds some words with commas between them, in any letter case.

    For SQLite, `replaced` has a sign in the place of each. On SQL Server each word stands between commas of its own:
    what is removed with all words then adds up to the length of the whole.
    """
    words = [word.lower() for word in words]
    dash = f"( *- *({'|'.join(words)}))?" if ranges else ""
    word = f" *({'|'.join(words)}){dash} *"
    singly = f"replace({replaced},'{_WORD}-{_WORD}','{_WORD}')" if ranges else replaced
    return differing(
        f"""lower({column} COLLATE "C") ~ '^{word}(,{word})*$'""",
        _are_only(singly, [_WORD]),
        _are_flat(column, words, ranges=ranges),
    )


def _are_flat(column: str, words: Sequence[str], *, ranges: bool) -> str:
    bare = f"lower(replace({column}, ' ', ''))"
    ends = f"replace({bare}, '-', ',')" if ranges else bare
    apart = f"',' + replace({ends}, ',', ',,') + ','"
    left = " + ".join(f"LEN(replace({apart}, ',{word},', ''))" for word in words)
    twice = [f"%-{_WITHIN * many}-%" for many in range(1, max(map(len, words)) + 1)] if ranges else []
    refused = [f"{bare} NOT LIKE '{each}'" for each in twice]
    return " AND ".join([f"{left} = {len(words) - 1} * LEN({apart})", _none_broken(column, "LIKE"), *refused])


def _none_broken(column: str, fits: str) -> str:
    """Return the pattern's condition that no word, however long, has a blank within: a run of them becomes one sign."""
    broken = f"*{_WITHIN}<>{_WITHIN}*"
    runs = f"replace(replace({column}, ' ', '<>'), '><', '')"
    return f"{runs} NOT {fits} '{_as_like(broken) if fits == 'LIKE' else broken}'"


def _one(value: str, one_of: Sequence[str], none_of: Iterable[str], regular: str, between: str = "") -> differing:
    """Return that a value fits one of some patterns, if there are any, and none of others; or a regular expression.

    Patterns are looked for with `between` before and behind the value.
    """
    # A refusal of SQLite shows a condition, but of one that begins with a text nothing else.
    on_sqlite = f"({between}||{value}||{between})" if between else value
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
