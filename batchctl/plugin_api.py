"""Everything a plugin may import.

A plugin is one class in one file, found through an entry point of the group `batchctl.step_handlers` or
`batchctl.populators` (the entry point's name is the ProcessType or the Populator), or listed by name in a module named
in the setting `plugin_modules`. A job is a function decorated with `job`, found through the group `batchctl.jobs` or in
such a module.

The control tables belong to the controller: a plugin gets frozen values, returns a frozen value and never sees a
table, a session or another step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from batchctl.domain.commands import Command, CommandEnd
from batchctl.domain.errors import StepRefused
from batchctl.domain.outcomes import (
    Connection,
    JobSignature,
    JsonValue,
    Problem,
    Rendered,
    StepOutcome,
    StepRequest,
    Surroundings,
)
from batchctl.domain.parameters import Parameter, SecretValue, parameters_for, parse_parameters
from batchctl.domain.placeholders import (
    Literal,
    MalformedTemplate,
    Placeholder,
    SecretReference,
    Template,
    fill,
    fit_value,
    parse,
    parse_for,
    problems,
    values_of,
)
from batchctl.domain.rows import (
    NO_DATA,
    BatchDefinition,
    BatchInstance,
    DataValues,
    IntakeRow,
    Populated,
    Step,
)
from batchctl.domain.secrets import how_to_name_secret, how_to_set_secret
from batchctl.domain.sqlstates import sqlstate_behind
from batchctl.domain.text import did_you_mean, unfit, visible
from batchctl.domain.urls import is_password, passwords_in, redacted, reference, references
from batchctl.domain.values import named_value

__all__ = [
    "NO_DATA",
    "BatchDefinition",
    "BatchInstance",
    "CannotPopulate",
    "Command",
    "CommandEnd",
    "Connection",
    "DataValues",
    "Delegates",
    "Execution",
    "FatalError",
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
    "Problem",
    "Provable",
    "Rendered",
    "RunsOneCommand",
    "SecretReference",
    "SecretValue",
    "Step",
    "StepHandler",
    "StepOutcome",
    "StepRefused",
    "StepRequest",
    "Surroundings",
    "Template",
    "Verifiable",
    "did_you_mean",
    "fill",
    "fit_value",
    "how_to_name_secret",
    "how_to_set_secret",
    "is_password",
    "job",
    "parameters_for",
    "parse",
    "parse_for",
    "parse_parameters",
    "passwords_in",
    "problems",
    "redacted",
    "reference",
    "references",
    "sqlstate_behind",
    "unfit",
    "values_of",
    "visible",
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

    def check(self, batch: BatchDefinition) -> Sequence[Problem]:
        """Return everything wrong with the batch's PopulatorArgs; touches nothing."""
        ...

    def populate(self, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Return Data1..Data6 (text or None) and, if it knows one, the CycleKey."""
        ...


@named_value
class JobEnd:
    """How a registered Python job ended."""

    succeeded: bool
    message: str | None = None
    output: str = ""
    value: str | int | float | bool | None = None
    fatal: bool = False
    stopped: bool = False


class Execution(Protocol):
    """What a handler may use while it executes. Valid only during `execute`, on the thread that calls it."""

    @property
    def connections(self) -> Mapping[str, Connection]:
        """The named target databases."""
        ...

    def run_command(
        self, argv: Sequence[str], *, directory: str, environment: Mapping[str, str] | None = None
    ) -> CommandEnd:
        """Start a command without a shell, in a process group of its own, and wait for it.

        Standard input is empty. When the step is to stop, the whole tree gets TERM, then KILL.
        """
        ...

    def run_job(self, name: str, arguments: Mapping[str, JsonValue]) -> JobEnd:
        """Call a registered job: in the long-lived child process, or here when it is declared in-process."""
        ...

    def secret(self, name: str) -> str:
        """Resolve a secret. The value must not be stored, logged, or passed in an argument list."""
        ...

    def masked(self, text: str) -> str:
        """Return a text without the secrets resolved so far; whoever cuts a text masks it first."""
        ...

    def in_session(self, name: str) -> None:
        """Name the database session that carries the step out, as proof of life."""
        ...

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Name what to call, from another thread, when the step is to stop; once only, and soon after it may be called."""
        ...

    @property
    def stopping(self) -> bool:
        """True once the step has been told to stop."""
        ...

    @property
    def must_end(self) -> bool:
        """True once the step was told to stop and its grace time is over: what is left of it is ended by force."""
        ...


class StepHandler(Protocol):
    """Carries out steps of one ProcessType. One object serves all steps; it keeps no state between calls."""

    process_type: ClassVar[str]
    """The word that `ProcessControl.ProcessType` names it by; equal to its entry point's name."""

    def check(self, step: Step, surroundings: Surroundings) -> Sequence[Problem]:
        """Return everything wrong with the row, all at once; never raises, may look at files, changes nothing."""
        ...

    def render(self, request: StepRequest) -> Rendered:
        """Make the step ready: pure apart from `surroundings.read_text`; raises `StepRefused` when it cannot be."""
        ...

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Carry out exactly what `rendered.spec` says and return how it ended.

        Expected failures are returned. An exception means the handler itself broke and is recorded as such.
        """
        ...


@runtime_checkable
class Delegates(Protocol):
    """Optional, instead of `render` and `execute`: a handler whose steps are carried out as steps of other ProcessTypes."""

    def delegate(self, request: StepRequest) -> Step:
        """Return the step to carry out instead, of a ProcessType that does not delegate; raises `StepRefused`."""
        ...


@runtime_checkable
class RunsOneCommand(Protocol):
    """Optional: a handler whose steps are one command each; the engine starts and watches it by itself.

    Such a command outlives the controller that has started it: the next one on the host adopts it.
    Its `execute` must do the same: `outcome` of what `Execution.run_command` returns for `command`.
    """

    def is_one_command(self, rendered: Rendered) -> bool:
        """Say whether what was rendered is one command; anything else is left to `execute`."""
        ...

    def command(self, rendered: Rendered, execution: Execution) -> Command:
        """Return the command that `rendered.spec` says, with its secrets resolved."""
        ...

    def outcome(self, rendered: Rendered, end: CommandEnd) -> StepOutcome:
        """Say what the command's end means for the step."""
        ...


@runtime_checkable
class Provable(Protocol):
    """Optional: a handler that can tell whether an execution lives although the controller that began it is dead."""

    def is_alive(self, rendered: Rendered, execution: Execution) -> bool | None:
        """Say whether the execution of `rendered.spec` goes on in the target; None when that cannot be known."""
        ...


@runtime_checkable
class Verifiable(Protocol):
    """Optional: a handler whose steps may say OnLost = `verify`, with the check in Data6."""

    def verification(self, step: Step) -> Step:
        """Return the step that asks whether a lost execution was done after all."""
        ...

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """Read that step's outcome: done, not done, or None when it does not tell."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """A function that a `python` step may name."""

    name: str
    function: Callable[..., Any]
    in_process: bool = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as if it were not decorated."""
        return self.function(*args, **kwargs)


def job(name: str, *, in_process: bool = False) -> Callable[[Callable[..., Any]], Job]:
    """Register a function as a job.

    It is called with the step's arguments as keywords (text, int, float or None). Returning is success, and the value
    returned is shown; raising is failure; `FatalError` skips the retries. `in_process` is for small trusted functions:
    they run on the controller's own thread, faster; nothing else moves meanwhile, and they cannot be stopped. One that has
    taken longer than a second once gets a thread of its own from then on. But that once, the controller gives no sign
    of life: what may take as long as `orphan_timeout` even once, so that others take the controller for dead and the step for
    lost, must not be `in_process`.

    The function lives in a plugin process that answers many calls. When a file of its code has been changed, the next
    call gets a new process, so a corrected job needs no restart. A job that runs in-process stays as it was loaded until
    the controller is restarted; so do the names of the jobs.
    """

    def register(function: Callable[..., Any]) -> Job:
        return Job(name, function, in_process)

    return register
