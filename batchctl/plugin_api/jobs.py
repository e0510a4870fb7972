"""The decorators that make jobs of functions, and what a job may ask while it runs."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Unpack

from batchctl.domain.definitions import declared
from batchctl.domain.definitions.declared import Cadence, Filters, Retry, UnfitDeclaration, Words


@dataclass(frozen=True, slots=True)
class Job:
    """A function that a `python` step may name, with what its decorators say of it."""

    name: str
    function: Callable[..., Any]
    in_process: bool = False
    category: str | None = None
    description: str | None = None
    entity: str | None = None
    arguments: str | None = None
    cadences: tuple[Cadence, ...] = ()
    retry: Retry | None = None
    is_named: bool = True
    """False as long as no `job` has said what it is called: then it is called like its function."""

    @property
    def has_batch(self) -> bool:
        """Say whether its decorators make a batch of it; a job that only steps of other batches call has none."""
        return bool(self.cadences) or self.retry is not None or self.entity is not None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were not decorated."""
        return self.function(*args, **kwargs)


Decorated = Callable[..., Any] | Job
"""A function, perhaps with decorators of jobs on it already."""


def job(
    name: str | None = None,
    *,
    in_process: bool = False,
    category: str | None = None,
    description: str | None = None,
    entity: str | None = None,
    arguments: str | None = None,
) -> Callable[[Decorated], Job]:
    """Register a function as a job, called `name`, or like the function.

    It is called with the step's arguments as keywords (text, int, float or None). Returning is success, and the value
    returned is shown; raising is failure; `FatalError` skips the retries. `in_process` is for small trusted functions:
    they run on the controller's own thread, faster; nothing else moves meanwhile, and they cannot be stopped. One that has
    taken longer than a second once gets a thread of its own from then on. But that once, the controller gives no sign
    of life: what may take as long as `orphan_timeout` even once, so that others take the controller for dead and the step for
    lost, must not be `in_process`.

    The function lives in a plugin process that answers many calls. When a file of its code has been changed, the next
    call gets a new process, so a corrected job needs no restart. A job that runs in-process stays as it was loaded until
    the controller is restarted; so do the names of the jobs, and what decorators say.

    With a cadence (`daily`, `every`, `weekly`, `monthly`, `monthly_dow`, `once`), with `retry` or with an `entity` the
    job gets a batch of its own, of one step, which controllers write when they start; see `docs/jobs.md`. Without `job` such
    a function is a job all the same, called like the function. The decorators may stand in any order.

    `category` and `description` are for people who look at the jobs (the first line of the docstring, without
    `description`), and are kept in no table. `entity` is what the batch takes, the job's name otherwise. `arguments` are
    those of the step, as its Data2 says them: `"day={CycleKey}, rows=5"`.
    """
    if name is not None and not isinstance(name, str):
        raise UnfitDeclaration('@job: write @job() or @job("name") above the function, with the brackets.')
    if name is not None and not name.strip():
        raise UnfitDeclaration('@job: the name is empty. Write @job("name"), or @job() for that of the function.')

    def register(function: Decorated) -> Job:
        made = _job_of(function, "job")
        if isinstance(function, Job) and function.is_named:
            raise UnfitDeclaration(f"Job '{made.name}' has @job twice; leave one of them out.")
        declared.fit_job(made.name, made.name if name is None else name, entity, arguments)
        return replace(
            made,
            name=made.name if name is None else name,
            in_process=in_process,
            category=category,
            description=description or made.description,
            entity=entity,
            arguments=arguments,
            is_named=True,
        )

    return register


def daily(times: Words, *, every: int = 1, **filters: Unpack[Filters]) -> Callable[[Decorated], Job]:
    """Make a job due at a time of the day, or at several: `@daily("03:15")`, `@daily("06:00,18:00", days="Mon-Fri")`.

    Times are those of the wall in `time_zone`, else in `business_time_zone` of the configuration. `every=2` is every second day,
    counted from `start`, else from 1970-01-01. What else may be said by keyword narrows any cadence, or says how its times are
    reckoned: `days`, `days_of_month`, `weeks`, `months`, `between`, `start`, `end`, `time_zone`, `calendar`, `calendar_rule`,
    `gap`, `fold`, `name`: `batchctl.domain.definitions.declared.Filters` says what each means.

    Each cadence is one row in Schedule, called by the job and what the cadence says: `nightly.Daily_03_15`. Several may stand
    on one function, in any order. Its filters are not in the name: where two would be called alike, `name=` tells them apart.
    What stands in the row of times is overwritten by what the code says whenever a controller starts; Enabled, Jitter, CatchUp
    and Overlap are the operator's. Anything that makes no schedule raises when the module is imported, and says what to write.
    """
    return _with(declared.at_times("daily", {}, times, every, filters), "daily")


def every(number: int, unit: str, **filters: Unpack[Filters]) -> Callable[[Decorated], Job]:
    """Make a job due every so many "minutes" or "hours" of the clock: `@every(5, "minutes", between="09:00-17:00")`.

    It is anchored to the wall: at :00, :05, :10, whenever the controller was started; anew with every local day.
    """
    return _with(declared.interval(number, unit, filters), "every")


def weekly(days: Words, times: Words, /, *, every: int = 1, **filters: Unpack[Filters]) -> Callable[[Decorated], Job]:
    """Make a job due on days of the week: `@weekly("Mon,Fri", "06:00")`.

    `every=2` is every second week, counted from that of `start`, else from that of 1970-01-05.
    """
    return _with(declared.at_times("weekly", {"days": days}, times, every, filters), "weekly")


def monthly(days: Words, times: Words, /, *, every: int = 1, **filters: Unpack[Filters]) -> Callable[[Decorated], Job]:
    """Make a job due on days of the month: `@monthly("1,15,last", "00:30")`, `@monthly("business_last", "18:00", calendar="NL")`.

    A month without a 31st has none; `batchctl schedule preview` shows that. `last` is always there.
    """
    return _with(declared.at_times("monthly", {"days_of_month": days}, times, every, filters), "monthly")


def monthly_dow(
    weeks: Words, days: Words, times: Words, /, *, every: int = 1, **filters: Unpack[Filters]
) -> Callable[[Decorated], Job]:
    """Make a job due on the n-th such weekday of the month, or the last: `@monthly_dow("first", "Mon", "06:00")`."""
    return _with(declared.at_times("monthly_dow", {"weeks": weeks, "days": days}, times, every, filters), "monthly_dow")


def once(at: str, **filters: Unpack[Filters]) -> Callable[[Decorated], Job]:
    """Make a job due once, at a time of the wall: `@once("2026-12-01 02:00")`. Its row is disabled when that is over."""
    return _with(declared.once(at, filters), "once")


def retry(attempts: int, interval_seconds: int = 60) -> Callable[[Decorated], Job]:
    """Let a job be run until it succeeds, `attempts` times AT MOST, THE FIRST RUN INCLUDED.

    `attempts=3` is the first run and two retries, RetryCount = 2; `attempts=1` is no retry. `FatalError` skips what is left.
    It is written when the job's row is made, and never again: from then on RetryCount and RetryWaitSecs are the operator's.
    `batchctl job list` shows where they differ.
    """
    policy = declared.retry(attempts, interval_seconds)

    def register(function: Decorated) -> Job:
        made = _job_of(function, "retry")
        if made.retry is not None:
            raise UnfitDeclaration(f"Job '{made.name}' has @retry twice; leave one of them out.")
        return replace(made, retry=policy)

    return register


def _with(cadence: Cadence, decorator: str) -> Callable[[Decorated], Job]:
    def register(function: Decorated) -> Job:
        made = _job_of(function, decorator)
        return replace(made, cadences=declared.with_cadence(made.name, made.cadences, cadence))

    return register


def _job_of(function: Decorated, decorator: str) -> Job:
    if isinstance(function, Job):
        return function
    given: object = function
    if not callable(given) or isinstance(given, type):
        raise UnfitDeclaration(f"@{decorator} belongs above a function, not above {function!r}.")
    name = getattr(function, "__name__", type(function).__name__)
    return Job(name, function, description=_first_line(function.__doc__), is_named=False)


def _first_line(text: str | None) -> str | None:
    lines = (text or "").strip().splitlines()
    return lines[0].strip() if lines else None


Ask = Callable[[float], bool]
"""Waits up to so many seconds until the job is to stop, and says whether it is."""


def _nobody_asks(wait_seconds: float) -> bool:
    del wait_seconds
    return False


class Asked:
    """Where `stopping` finds out: set by who calls a job, for one job or for all of a process."""

    def __init__(self) -> None:
        """Begin where no job has been called yet."""
        self.here: ContextVar[Ask | None] = ContextVar("batchctl_stopping", default=None)
        self.everywhere: Ask = _nobody_asks


ASKED = Asked()


def stopping(wait_seconds: float = 0.0) -> bool:
    """Say whether the job that calls this is to stop, as after `batchctl cancel`; wait for that up to so many seconds.

        for file in files:
            if stopping():
                raise Stopped(f"after {done} of {len(files)} files")

    A job that has called this once is no longer interrupted: it has `stop_grace` seconds from the moment it is told to end by
    itself, by raising `Stopped`, by raising anything else, or by returning: a job that got True has not done its work.
    One that never asks is interrupted at once, and killed after `stop_grace`, as ever. `stopping(5)` instead of
    `time.sleep(5)` pauses and notices soon. Threads that a job starts may ask too. A job that runs `in_process` learns it
    only when it runs on a thread of its own, and asks on that thread; it cannot be killed.
    """
    return (ASKED.here.get() or ASKED.everywhere)(wait_seconds)
