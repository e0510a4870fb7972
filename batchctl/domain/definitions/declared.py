"""What a function's decorators say of it as a job: when it is due, how often it is tried, its name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, TypedDict, TypeGuard, TypeVar, cast

from batchctl.domain.scheduling.schedules import Calendar, CalendarId, Timing
from batchctl.domain.status import CalendarRule, FoldPolicy, GapPolicy, ScheduleType
from batchctl.domain.text import NAME_LIMIT, shorten, unfit, visible

Choice = TypeVar("Choice", bound=StrEnum)
Words = str | int | Sequence[str | int]
"""`"Mon,Fri"`, or `["Mon", "Fri"]`; a number alone where a day of the month is meant."""

MINUTES = {"minute": 1, "minutes": 1, "hour": 60, "hours": 60}
"""How many minutes a unit of `every` has."""
MOST_MINUTES = 24 * 60
MOST_ATTEMPTS = 1001
MOST_EVERY = 1000
LONGEST_NAME = 80
"""Without the job's name: both have to fit into one column."""
_LIMITS = {"between_times": 50, "run_at": 50, "start_date": 10, "end_date": 10}
_SHOWN = 60
_YEAR = 365 * 24 * 3600
_NAME = re.compile(r"[A-Za-z0-9_-]+\Z")
_EXAMPLES = {
    "daily": '@daily("03:15") or @daily("06:00,18:00", days="Mon-Fri")',
    "every": '@every(5, "minutes", between="09:00-17:00")',
    "weekly": '@weekly("Mon,Fri", "06:00")',
    "monthly": '@monthly("1,15,last", "00:30")',
    "monthly_dow": '@monthly_dow("first", "Mon", "06:00")',
    "once": '@once("2026-12-01 02:00")',
}


class Filters(TypedDict, total=False):
    """What every cadence takes by keyword: what narrows it, and how its times are reckoned."""

    days: Words
    """Days of the week: `"Mon,Fri"`, `"Mon-Fri"`."""
    days_of_month: Words
    """`"1,15,last"`, `"business_1"`, `"business_last"`."""
    weeks: Words
    """The n-th such weekday of its month only: `"first,third"`, `"last"`; wants `days`."""
    months: Words
    """`"Jan,Jul"` or `"1,7"`."""
    between: str
    """`"09:00-17:00"`, both included; `"22:00-04:00"` goes over midnight."""
    start: str
    """The first local day, `"2026-12-01"`; what is counted by `every` is counted from there."""
    end: str
    """The last one."""
    time_zone: str
    """An IANA name; without one, `business_time_zone` of the configuration."""
    calendar: str
    """The name of a calendar."""
    calendar_rule: str
    """What it does: `business_days`, `days_off`, `next`, `previous`."""
    gap: str
    """What becomes of a time that clocks leave out in spring: `run` at the first moment after it, or `skip`."""
    fold: str
    """How often a time is due that comes twice in autumn: `once` or `twice`."""
    name: str
    """The name of the schedule, instead of one made from its arguments: needed where two of a job would be alike."""


class UnfitDeclaration(ValueError):
    """A decorator was given what makes no schedule; the message gives a correct form."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """One schedule of a job, as its code says."""

    name: str
    """Without the job's name; `Daily_09_00`. It does not depend on other decorators, so their order means nothing."""
    timing: Timing


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a job is run until it succeeds, the first time included, and how long is waited between two runs."""

    attempts: int
    interval_seconds: int

    @property
    def retry_count(self) -> int:
        """Return its `ProcessBatch.RetryCount`: the first run is no retry."""
        return self.attempts - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredJob:
    """A job that its code makes a batch of."""

    name: str
    owner: str
    """What announces it: a module's name, or `package NAME`."""
    category: str | None = None
    description: str | None = None
    entity: str | None = None
    """What its batch takes, if not its own name."""
    arguments: str | None = None
    """The arguments of its call, as Data2 of a `python` step holds them."""
    cadences: tuple[Cadence, ...] = ()
    retry: Retry | None = None

    @property
    def schedule_names(self) -> dict[str, Cadence]:
        """Return its cadences by the names of their rows."""
        return {schedule_name(self.name, cadence.name): cadence for cadence in self.cadences}


def schedule_name(job: str, cadence: str) -> str:
    """Return the name of the row of a job's schedule: it has to be the only one of its kind in the table."""
    return f"{job}.{cadence}"


def job_of(name: str) -> str:
    """Return the job that a schedule's row belongs to: no cadence has a dot in its name."""
    return name.rpartition(".")[0]


def correct_decorator(job: str) -> str:
    """Return what to do about a row that the code of a job keeps up to date."""
    return f"correct the decorator of {visible(job)}"


def fit_job(function: str, name: object, entity: object, arguments: object) -> None:
    """Refuse what `job` was given and no column takes."""
    for argument, given, failure, example in (
        ("the name", name, misfit(name), '@job("nightly")'),
        ("entity", entity, entity_misfit(entity), 'entity="Orders"'),
        ("arguments", arguments, arguments_misfit(arguments), 'arguments="day={CycleKey}, rows=5"'),
    ):
        if failure is not None:
            shown = shorten(repr(given), _SHOWN)
            raise UnfitDeclaration(f"@job above {function}: {argument} cannot be {shown}: {failure}. Write {example}.")


def misfit(value: object, limit: int | None = NAME_LIMIT) -> str | None:
    """Return why no column of texts takes a value; None when one does."""
    if not isinstance(value, str):
        return "it is no text"
    if limit is not None and len(value) > limit:
        return f"it has {len(value)} characters, and a column takes {limit}"
    return unfit(value)


def entity_misfit(entity: object) -> str | None:
    """Return why a batch cannot take this; None when it can, or when the code gives none."""
    if entity is None:
        return None
    failure = misfit(entity)
    return failure or ("it is empty" if not str(entity).strip() else None)


def arguments_misfit(arguments: object) -> str | None:
    """Return why a step cannot have these; None when it can."""
    return None if arguments is None else misfit(arguments, limit=None)


def timing_misfits(timing: Timing) -> Iterator[str]:
    """Yield, for each text of a timing that does not fit its column, why not."""
    for each in fields(timing):
        value = getattr(timing, each.name)
        failure = misfit(value, _LIMITS.get(each.name, NAME_LIMIT)) if isinstance(value, str) else None
        if failure is not None:
            yield f"{each.name}: {failure}."


def at_times(decorator: str, on: Mapping[str, Words], times: Words, every: int, filters: Filters) -> Cadence:
    """Due at one or several times of the days that the decorator says; `on` has their words by the filters that they are."""
    if filters.keys() & on.keys():
        said = f"{_EXAMPLES[decorator]}, without {'= and '.join(sorted(on))}="
        raise UnfitDeclaration(f"@{decorator} says its days first: {said}.")
    own = {_LISTS[word]: _joined(decorator, word.partition("_")[0], given) for word, given in on.items()}
    at, count = _joined(decorator, "times", times), _count(decorator, every)
    title = "".join(part.capitalize() for part in decorator.split("_"))
    called = _called(title, *([str(every)] if every != 1 else []), *own.values(), at)
    return _cadence(decorator, ScheduleType(decorator), called, filters, **own, run_times=at, every_n=count)


def interval(number: int, unit: str, filters: Filters) -> Cadence:
    """Due every so many minutes or hours of the clock."""
    if unit not in MINUTES:
        raise UnfitDeclaration(f'@every({number!r}, {unit!r}): write "minutes" or "hours", or @daily for days.')
    minutes = _count("every", number) * MINUTES[unit]
    if minutes > MOST_MINUTES:
        raise UnfitDeclaration(f"@every({number!r}, {unit!r}) is longer than a day: write @daily(..., every=2).")
    called = _called("Every", str(number), unit)
    return _cadence("every", ScheduleType.INTERVAL, called, filters, interval_minutes=minutes)


def once(at: str, filters: Filters) -> Cadence:
    """Due once."""
    if "name" in filters:
        # Under a fixed name, another moment would belong to a schedule that is over.
        raise UnfitDeclaration(
            "@once has no name=: it is called by its moment, so that another one is another schedule."
        )
    text = _joined("once", "the moment", at)
    return _cadence("once", ScheduleType.ONCE, _called("Once", text.replace("-", "_")), filters, run_at=text)


def retry(attempts: object, interval_seconds: object) -> Retry:
    """Return how often a job is run at most, and how long to wait between two runs."""
    if not _is_whole(attempts) or not 1 <= attempts <= MOST_ATTEMPTS:
        said = f"attempts is the number of all runs, the first one included: from 1 to {MOST_ATTEMPTS}."
        raise UnfitDeclaration(f"@retry(attempts={attempts!r}): {said}")
    if not _is_whole(interval_seconds) or not 0 <= interval_seconds <= _YEAR:
        said = "write whole seconds, such as interval_seconds=60."
        raise UnfitDeclaration(f"@retry(interval_seconds={interval_seconds!r}): {said}")
    return Retry(attempts, interval_seconds)


def with_cadence(job: str, known: tuple[Cadence, ...], added: Cadence) -> tuple[Cadence, ...]:
    """Return a job's cadences with one more, in an order that is not that of the decorators."""
    if any(one.name.casefold() == added.name.casefold() for one in known):
        said = f'give one of them a name of its own: name="{added.name}_2".'
        raise UnfitDeclaration(f"Two schedules of job '{job}' would be called {added.name}: {said}")
    return tuple(sorted((*known, added), key=lambda one: one.name))


def _cadence(decorator: str, kind: ScheduleType, called: str, filters: Filters, **own: object) -> Cadence:
    given = cast("dict[str, object]", filters)
    unknown = given.keys() - Filters.__annotations__.keys()
    if unknown:
        known = ", ".join(Filters.__annotations__)
        raise UnfitDeclaration(f"@{decorator} takes no {', '.join(sorted(unknown))}=. It takes: {known}.")
    name = given.get("name", called)
    if not isinstance(name, str) or not _NAME.match(name) or len(name) > LONGEST_NAME:
        said = f"letters, digits, _ and -, at most {LONGEST_NAME} of them."
        raise UnfitDeclaration(f"@{decorator}: a schedule cannot be called {name!r}. Write name= with {said}")
    columns = {
        **{column: _joined(decorator, word, given[word]) for word, column in _LISTS.items() if word in given},
        **{column: _text(decorator, word, given[word]) for word, column in _TEXTS.items() if word in given},
        "calendar_rule": _one_of(decorator, "calendar_rule", CalendarRule, given, CalendarRule.BUSINESS_DAYS),
        "gap_policy": _one_of(decorator, "gap", GapPolicy, given, GapPolicy.RUN),
        "fold_policy": _one_of(decorator, "fold", FoldPolicy, given, FoldPolicy.ONCE),
    }
    timing = Timing(schedule_type=kind, **cast("dict[str, Any]", {**columns, **own}))
    wrong = _wrong(timing)
    if wrong:
        raise UnfitDeclaration(f"@{decorator}: {' '.join(wrong)} {_write(decorator)}")
    wide = list(timing_misfits(timing))
    if wide:
        said = "Divide a long list among several decorators."
        raise UnfitDeclaration(f"@{decorator}: {' '.join(wide)} {said} {_write(decorator)}")
    return Cadence(name, timing)


def _wrong(timing: Timing) -> list[str]:
    """Return what makes no schedule, as far as that can be known without tables: a calendar's days cannot."""
    from batchctl.domain.scheduling import due  # noqa: PLC0415 - not needed without a cadence

    named = timing.calendar_name
    # Whatever the calendar holds, days that the rule lets through are thinkable.
    every = "" if timing.calendar_rule is CalendarRule.DAYS_OFF else "Mon-Sun"
    calendar = None if named is None else Calendar(calendar_id=CalendarId(0), name=named, business_days=every)
    found = due.findings(timing, "UTC", calendar, () if named is None else (named,))
    return [f"{finding.column}: {finding.message}" for finding in found]


_LISTS = {"days": "run_days", "days_of_month": "run_days_of_month", "weeks": "week_of_month", "months": "run_months"}
_TEXTS = {
    "between": "between_times",
    "start": "start_date",
    "end": "end_date",
    "time_zone": "time_zone",
    "calendar": "calendar_name",
}


def _joined(decorator: str, argument: str, given: object) -> str:
    """Write words as a column holds them: `Mon,Fri`."""
    if callable(given):
        raise UnfitDeclaration(f"@{decorator} stands above a function without its brackets. {_write(decorator)}")
    parts: list[object] = list(given.split(",")) if isinstance(given, str) else [given]
    if isinstance(given, list | tuple):
        parts = list(given)
    if not parts or not all(isinstance(part, str) or _is_whole(part) for part in parts):
        raise UnfitDeclaration(f"@{decorator}: {argument} cannot be {given!r}. {_write(decorator)}")
    words = [str(part).strip() for part in parts]
    if not all(words):
        raise UnfitDeclaration(f"@{decorator}: {argument} is empty, or a part of it: {given!r}. {_write(decorator)}")
    return ",".join(words)


def _text(decorator: str, argument: str, given: object) -> str:
    if not isinstance(given, str) or not given.strip():
        raise UnfitDeclaration(f"@{decorator}: {argument} has to be a text, not {given!r}.")
    return given.strip()


def _one_of(
    decorator: str, argument: str, kind: type[Choice], filters: Mapping[str, object], otherwise: Choice
) -> Choice:
    given = filters.get(argument, otherwise)
    known = {str(member): member for member in kind}
    if given not in known:
        raise UnfitDeclaration(f"@{decorator}: {argument} cannot be {given!r}. It is one of: {', '.join(known)}.")
    return known[str(given)]


def _count(decorator: str, given: object) -> int:
    if not _is_whole(given) or not 1 <= given <= MOST_EVERY:
        raise UnfitDeclaration(f"@{decorator}: {given!r} is no number from 1 to {MOST_EVERY}. {_write(decorator)}")
    return given


def _called(*parts: str) -> str:
    """Make a name of words that needs no quotes anywhere."""
    return "_".join(re.sub(r"[^A-Za-z0-9]+", "_", part.replace("-", "_to_")).strip("_") for part in parts)


def _write(decorator: str) -> str:
    return f"Write {_EXAMPLES[decorator]}."


def _is_whole(given: object) -> TypeGuard[int]:
    return isinstance(given, int) and not isinstance(given, bool)
