"""What a plugin implements, and what it raises, returns and is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from batchctl.domain.commands import Command, CommandEnd
from batchctl.domain.outcomes import Connection, Finding, Rendered, StepContext, StepOutcome, StepRequest
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition, IntakeRow, Populated, Step
from batchctl.domain.values import named_value


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

    def show(self, line: str) -> None:
        """Show a line of what the step does, while it runs, to people who look (`batchctl output`), without secrets.

        Of many, the newest. None is kept: what the history is to say belongs into `StepOutcome.output`.
        """

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
