"""Everything a plugin may import.

A plugin is one class in one file, found through an entry point of the group `batchctl.step_handlers` or
`batchctl.populators` (the entry point's name is the ProcessType or the Populator), or listed by name in a module named
in the setting `plugin_modules`. A job is a function decorated with `job`, or with a cadence such as `daily`, found through
the group `batchctl.jobs`, in such a module, or in one named in `[jobs] modules`.

The control tables belong to the controller: a plugin gets frozen values, returns a frozen value and never sees a
table, a session or another step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Unpack, runtime_checkable

from batchctl.domain.commands import Command, CommandEnd
from batchctl.domain.configuring import how_to_add_connection, how_to_name_secret, how_to_set_secret
from batchctl.domain.definitions import declared
from batchctl.domain.definitions.declared import Cadence, Filters, Retry, UnfitDeclaration, Words
from batchctl.domain.errors import CannotBegin, StepRefused
from batchctl.domain.outcomes import Connection, Finding, JobSignature, Rendered, StepContext, StepOutcome, StepRequest
from batchctl.domain.parameters import Parameter, SecretValue, parameters_for, parse_parameters
from batchctl.domain.placeholders import (
    Literal,
    MalformedTemplate,
    Placeholder,
    SecretReference,
    Template,
    correct_value,
    fill,
    findings,
    fit_value,
    parse,
    parse_for,
    values_of,
)
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import NO_DATA, BatchDefinition, BatchInstance, DataValues, IntakeRow, Populated, Step
from batchctl.domain.sqlstates import sqlstate_behind
from batchctl.domain.step_mending import correct_step
from batchctl.domain.text import did_you_mean, unfit, visible
from batchctl.domain.urls import is_password, passwords_in, redacted, reference, references
from batchctl.domain.values import named_value

__all__ = [
    "NO_DATA",
    "AsksDatabase",
    "BatchDefinition",
    "BatchInstance",
    "Cadence",
    "CannotBegin",
    "CannotPopulate",
    "Command",
    "CommandEnd",
    "Connection",
    "DataValues",
    "Delegates",
    "Execution",
    "FatalError",
    "Filters",
    "Finding",
    "IntakeRow",
    "Job",
    "JobEnd",
    "JobSignature",
    "JsonValue",
    "Literal",
    "MalformedTemplate",
    "Parameter",
    "Placeholder",
    "Populated",
    "Populator",
    "Provable",
    "Rendered",
    "Retry",
    "RunsOneCommand",
    "SecretReference",
    "SecretValue",
    "Step",
    "StepContext",
    "StepHandler",
    "StepOutcome",
    "StepRefused",
    "StepRequest",
    "Stopped",
    "Template",
    "UnfitDeclaration",
    "Verifiable",
    "Words",
    "correct_step",
    "correct_value",
    "daily",
    "did_you_mean",
    "every",
    "fill",
    "findings",
    "fit_value",
    "how_to_add_connection",
    "how_to_name_secret",
    "how_to_set_secret",
    "is_password",
    "job",
    "monthly",
    "monthly_dow",
    "once",
    "parameters_for",
    "parse",
    "parse_for",
    "parse_parameters",
    "passwords_in",
    "redacted",
    "reference",
    "references",
    "retry",
    "sqlstate_behind",
    "stopping",
    "unfit",
    "values_of",
    "visible",
    "weekly",
]


class CannotPopulate(Exception):
    """Raised by a populator that will not take a row. The message becomes the reason on the row."""


class FatalError(Exception):
    """Raised by a job when trying again cannot help: the step fails without retries."""


class Populator(Protocol):
    """Turns an intake row into the values of a batch instance.

    It runs in a process of its own with a time limit (setting `populate_timeout`). Whatever it raises rejects this one
    row for this one batch, with the reason on the row; no other row or batch waits for it.
    """

    name: ClassVar[str]
    """The word that `ProcessBatch.Populator` names it by; equal to its entry point's name."""

    def check(self, batch: BatchDefinition) -> Sequence[Finding]:
        """Return everything wrong with the batch's PopulatorArgs; touches nothing."""

    def populate(self, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Return Data1..Data6 (text or None) and, if it knows one, the CycleKey."""


@runtime_checkable
class AsksDatabase(Protocol):
    """Optional: a populator that asks a database. PopulatorArgs names the connection; if empty, the control database.

    `populate_from` is called instead of `populate`, with a context that holds that one connection, its secrets resolved.
    """

    def check_from(self, batch: BatchDefinition, context: StepContext) -> Sequence[Finding]:
        """Return what is wrong with the connection and what is asked there, besides `check`; connects to nothing."""

    def populate_from(self, row: IntakeRow, batch: BatchDefinition, context: StepContext) -> Populated:
        """Return the values that the database gives."""


@named_value
class JobEnd:
    """How a registered Python job ended."""

    succeeded: bool
    message: str | None = None
    output: str = ""
    value: str | int | float | bool | None = None
    fatal: bool = False
    stopped: bool = False
    never_ran: bool = False
    """True when this host does not know the job: the step is put back."""


class Execution(Protocol):
    """What a handler may use while it executes. Valid only during `execute`, on the thread that calls it."""

    @property
    def connections(self) -> Mapping[str, Connection]:
        """The named target databases."""

    def run_command(
        self, argv: Sequence[str], *, directory: str, environment: Mapping[str, str] | None = None
    ) -> CommandEnd:
        """Start a command without a shell, in a process group of its own, and wait for it.

        Standard input is empty. When the step is to stop, the whole tree gets TERM, then KILL.
        """

    def run_job(self, name: str, arguments: Mapping[str, JsonValue]) -> JobEnd:
        """Call a registered job: in the long-lived child process, or here when it is declared in-process."""

    def secret(self, name: str) -> str:
        """Resolve a secret. The value must not be stored, logged, or passed in an argument list."""

    def masked(self, text: str) -> str:
        """Return a text without the secrets resolved so far; mask a text before cutting it."""

    def in_session(self, name: str) -> None:
        """Name the database session that carries the step out, as proof of life."""

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Name what to call, from another thread, when the step is to stop; only once, perhaps at once."""

    @property
    def stopping(self) -> bool:
        """True once the step has been told to stop."""

    @property
    def must_end(self) -> bool:
        """True once the step was told to stop and its grace time is over: what is left of it is ended by force."""


class StepHandler(Protocol):
    """Carries out steps of one ProcessType. One object serves all steps; it keeps no state between calls."""

    process_type: ClassVar[str]
    """The word that `ProcessControl.ProcessType` names it by; equal to its entry point's name."""

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row, all at once; never raises, may look at files, changes nothing."""

    def render(self, request: StepRequest) -> Rendered:
        """Make the step ready: pure apart from `context.read_text`; raises `StepRefused` when it cannot be.

        It has five seconds, or `populate_timeout` or a quarter of what `orphan_timeout` leaves for a sign of life where
        that is less: the controller waits for it, with its transaction open. After a second in all, other steps begin in
        the next turn. What takes longer is interrupted and refused, and the handler is not asked about other steps for half a
        minute. So with whatever else is asked before and after `execute`. On Windows, code is not interrupted but left
        to itself, and what holds the interpreter's lock, as a regular expression does, holds the controller.

        `CannotBegin`, which is one, says that this host lacks what another may have: the step is put back, and costs
        no retry.
        """

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Carry out exactly what `rendered.spec` says and return how it ended.

        Expected failures are returned. An exception means the handler itself broke and is recorded as such.
        """


@runtime_checkable
class Delegates(Protocol):
    """Optional, instead of `render` and `execute`: a handler whose steps are carried out as steps of other ProcessTypes."""

    def delegate(self, request: StepRequest) -> Step:
        """Return the step to carry out instead, of a ProcessType that does not delegate; raises `StepRefused`."""


@runtime_checkable
class RunsOneCommand(Protocol):
    """Optional: a handler whose steps are one command each; the engine starts and watches it by itself.

    Such a command outlives the controller that has started it: the next one on the host adopts it.
    Its `execute` must do the same: `outcome` of what `Execution.run_command` returns for `command`.
    """

    def is_one_command(self, rendered: Rendered) -> bool:
        """Say whether what was rendered is one command; anything else is left to `execute`."""

    def command(self, rendered: Rendered, execution: Execution) -> Command:
        """Return the command that `rendered.spec` says, with its secrets resolved."""

    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        """Say what the command's end means for the step."""


@runtime_checkable
class Provable(Protocol):
    """Optional: a handler that can tell whether an execution lives although the controller that began it is dead."""

    def is_alive(self, rendered: Rendered, execution: Execution) -> bool | None:
        """Say whether the execution of `rendered.spec` goes on in the target; None when that cannot be known."""


@runtime_checkable
class Verifiable(Protocol):
    """Optional: a handler whose steps may say OnLost = `verify`, with the check in Data6."""

    def verification(self, step: Step) -> Step:
        """Return the step that asks whether a lost execution was done after all."""

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """Read that step's outcome: done, not done, or None when it does not tell."""


class Stopped(Exception):
    """Raised by a job that ends early because it was told to stop; the message says how far it has come."""


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
