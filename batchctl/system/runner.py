"""Carries executions on threads and child processes, and reports how they end."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import cast

from batchctl.domain import urls
from batchctl.domain.errors import BatchctlError, PluginError
from batchctl.domain.outcomes import Connection, Identity, JsonValue, Rendered, StepOutcome, Trace
from batchctl.domain.rows import ControllerRow, HistoryEntry, HistoryId
from batchctl.domain.text import did_you_mean, shorten, visible
from batchctl.plugin_api import Command, CommandEnd, Job, JobEnd, RunsOneCommand, StepHandler
from batchctl.ports import Clock, Finished, Report, Spawned
from batchctl.system import platform
from batchctl.system.clock import SystemClock
from batchctl.system.controllers import is_gone
from batchctl.system.cookies import cookie_of, environment_for_children
from batchctl.system.jobs import call_job, describe, trace
from batchctl.system.masking import masked
from batchctl.system.output import OUTPUT_CAP, shortened
from batchctl.system.platform import Tree
from batchctl.system.plugin_process import PluginProcess
from batchctl.system.processes import CommandRun
from batchctl.system.stopping import Stop
from batchctl.system.threads import Threads

STOP_GRACE = timedelta(seconds=10)
MESSAGE_CAP = 20_000
NOTICE = 0.02
"""Seconds an execution runs before its process is reported: a shorter one is reported once, with its end."""


class ThreadStepRunner:
    """The `StepRunner` of the product: one thread per execution in flight."""

    def __init__(
        self,
        *,
        controller_id: str,
        plugin_process: Callable[[], PluginProcess],
        jobs: Mapping[str, Job],
        connections: Mapping[str, Connection],
        secrets: Callable[[str], str],
        clock: Clock | None = None,
        slots: int = 1,
        stop_grace: timedelta = STOP_GRACE,
        output_cap: int = OUTPUT_CAP,
    ) -> None:
        """Start nothing yet. `secrets` gives the value of a secret's name."""
        platform.keep_children()
        self.controller_id = controller_id
        self.jobs = jobs
        self.connections = connections
        self.secrets = secrets
        self.output_cap = output_cap
        self.now = (clock or SystemClock()).now
        self.environment = environment_for_children()
        self.side_threads = Threads("batchctl-side")
        self._grace = stop_grace.total_seconds()
        self._plugin_process = plugin_process
        self._idle: list[PluginProcess] = []
        self._lock = threading.Lock()
        self._threads = Threads("batchctl-step", most=slots)
        self._reports: SimpleQueue[Report | None] = SimpleQueue()
        self._running: dict[HistoryId, RunningStep] = {}
        self._brief: deque[Callable[[], None]] = deque()
        """Executions shorter than their way to another thread and back; `collect` carries them out itself."""
        self._alone: LoneCommand | None = None
        """A command just started with nothing beside it; `collect` follows it as long as nothing else would be reported."""

    def start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, leashed: bool = False) -> None:
        """Begin an execution; its end arrives through `collect`."""
        del leashed
        step = RunningStep(self, key, Stop(self.side_threads, self._grace))
        self._running[key] = step
        if rendered.brief and not _runs_one_command(type(handler)):
            self._brief.append(partial(self._carry, step, partial(handler.execute, rendered, step)))
        elif rendered.brief and len(self._running) == 1:
            self._start_command(step, cast("RunsOneCommand", handler), rendered)
        else:
            self._carry_on_thread(step, partial(handler.execute, rendered, step))

    def refuse(self, key: HistoryId, reason: str) -> None:
        """Report an execution that could not be rendered as a fatal failure."""
        self._reports.put(Finished(key, StepOutcome(succeeded=False, fatal=True, message=reason), None))

    def collect(self, wait: timedelta) -> Sequence[Report]:
        """Return what has been reported; waits at most `wait` for the first report or a `wake`."""
        if self._brief:
            self._brief.popleft()()
            wait = timedelta(0)
        if self._alone is not None and self._follow(self._alone, wait):
            wait = timedelta(0)
        until = time.monotonic() + wait.total_seconds()
        while True:
            left = until - time.monotonic()
            unannounced = [step for step in self._running.values() if not step.announced]
            try:
                first = self._reports.get(timeout=max(0.0, min(left, NOTICE) if unannounced else left))
            except Empty:
                if spawned := [step.announce() for step in unannounced if step.identity is not None]:
                    return spawned
                if left <= NOTICE:
                    return []
            else:
                return self._drained(first)

    def wake(self) -> None:
        """End a waiting `collect` early; may be called from a signal handler."""
        self._reports.put(None)

    def stop(self, key: HistoryId) -> None:
        """Tell an execution to stop; returns at once."""
        if step := self._running.get(key):
            step.stop.tell()

    def is_gone(self, controller: ControllerRow) -> bool:
        """Say whether this host can prove that a controller is dead."""
        return is_gone(controller)

    def examine(
        self, claimed_by: str, entry: HistoryEntry, handler: StepHandler | None, rendered: Rendered | None
    ) -> tuple[Trace, Identity | None]:
        """Find out what became of a dead controller's execution."""
        del claimed_by, entry, handler, rendered
        return Trace.GONE, None

    def adopt(self, key: HistoryId, handler: StepHandler, rendered: Rendered, claimed_by: str) -> None:
        """Watch over a dead controller's execution."""
        raise NotImplementedError(key, handler, rendered, claimed_by)

    def let_go(self, key: HistoryId) -> bool:
        """Watch over an execution no more without stopping it."""
        del key
        return False

    def keep_lease(self, until: float) -> None:
        """Take notice of the lease."""

    def forget(self, claimed_by: str) -> None:
        """Remove what was kept about the executions of a dead controller."""

    def stop_left_over(self, claimed_by: str, key: HistoryId, entry: Identity) -> Sequence[int]:
        """Stop what a dead controller's execution left on this host; return the process ids found alive."""
        if not claimed_by or claimed_by == self.controller_id:
            raise ValueError(f"'{claimed_by}' is not a dead controller")
        return platform.stop_left_over(cookie_of(claimed_by, key), entry, self._grace)

    def close(self) -> None:
        """Stop what still runs, then end the child processes and threads."""
        for step in list(self._running.values()):
            step.stop.tell()
        self._threads.close()
        self._threads.join(self._grace + 1)
        while self._idle:
            self._idle.pop().close()
        self.side_threads.close()

    def _drained(self, first: Report | None) -> list[Report]:
        reports = [] if first is None else [first]
        while True:
            try:
                report = self._reports.get_nowait()
            except Empty:
                break
            if report is not None:
                reports.append(report)
        for report in reports:
            self._running.pop(report.key, None)
        return reports

    def _start_command(self, step: RunningStep, handler: RunsOneCommand, rendered: Rendered) -> None:
        try:
            run = step.start_command(handler.command(rendered, step))
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything and must hurt nobody
            self._report(step, _failure(error))
        else:
            self._alone = LoneCommand(step, run, lambda: handler.outcome(rendered, run.end()))

    def _follow(self, alone: LoneCommand, wait: timedelta) -> bool:
        """Say whether the command has ended; one that takes longer is followed by a thread, which nothing else keeps busy."""
        ended = alone.ends_within(min(wait.total_seconds(), NOTICE))
        if ended:
            self._carry(alone.step, alone.outcome)
        else:
            try:
                self._threads.run(partial(self._carry, alone.step, alone.outcome))
            except RuntimeError:
                return False  # As long as the system refuses another thread, it is followed here.
        self._alone = None
        return ended

    def _carry_on_thread(self, step: RunningStep, work: Callable[[], StepOutcome]) -> None:
        try:
            self._threads.run(partial(self._carry, step, work))
        except RuntimeError as error:
            message = f"the system refused to start another thread: {error}"
            self._report(step, StepOutcome(succeeded=False, message=message))

    def _carry(self, step: RunningStep, work: Callable[[], StepOutcome]) -> None:
        try:
            outcome = _answer(work())
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything and must hurt nobody
            outcome = _failure(error)
        self._report(step, outcome)

    def _report(self, step: RunningStep, outcome: StepOutcome) -> None:
        ended_at = self.now()
        if step.stopping and not outcome.succeeded:
            outcome = replace(outcome, stopped=True)
        outcome = step.without_secrets(outcome)
        message = shorten(outcome.message, MESSAGE_CAP) if outcome.message is not None else None
        output = shortened(outcome.output, self.output_cap) if outcome.output is not None else None
        if message is not outcome.message or output is not outcome.output:
            outcome = replace(outcome, message=message, output=output)
        self._reports.put(Finished(step.key, outcome, step.identity, ended_at))

    def borrow_process(self) -> PluginProcess:
        """Lend a plugin process nobody uses; one that may not serve any more is ended."""
        while process := self._take_idle():
            if process.may_serve:
                return process
            process.close()
        return self._plugin_process()

    def _take_idle(self) -> PluginProcess | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def give_back(self, process: PluginProcess, *, usable: bool) -> None:
        """Take a plugin process back; one that is not usable is ended and will be replaced when needed."""
        if usable and not process.has_ended:
            with self._lock:
                self._idle.append(process)
        else:
            process.close()


class RunningStep:
    """What a handler may use while it executes: the `Execution` of `batchctl.plugin_api`."""

    __slots__ = ("_runner", "_secret_values", "announced", "identity", "key", "stop")

    def __init__(self, runner: ThreadStepRunner, key: HistoryId, stop: Stop) -> None:
        """Begin without a process."""
        self._runner = runner
        self._secret_values: list[str] = []
        self.key = key
        self.stop = stop
        self.identity: Identity | None = None
        self.announced = False

    @property
    def connections(self) -> Mapping[str, Connection]:
        """The named target databases, with the secrets of their URLs resolved when one is looked up."""
        return _Usable(self._runner.connections, self._usable)

    @property
    def stopping(self) -> bool:
        """True once the step has been told to stop."""
        return self.stop.told

    @property
    def must_end(self) -> bool:
        """True once the step was told to stop and its grace time is over."""
        return self.stop.is_due

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Name what to call, from another thread, when the step is to stop."""
        self.stop.when_told(partial(_quietly, stop))

    def in_session(self, name: str) -> None:
        """Name the database session that carries the step out."""
        self.announced = False
        self.identity = replace(self.identity or Identity(), db_session=name, spawned_at=self._runner.now())

    def secret(self, name: str) -> str:
        """Resolve a secret; its value is blotted out wherever it comes back in the outcome."""
        value = self._runner.secrets(name)
        if value not in self._secret_values:
            self._secret_values.append(value)
        return value

    def run_command(
        self, argv: Sequence[str], *, directory: str, environment: Mapping[str, str] | None = None
    ) -> CommandEnd:
        """Start a command without a shell, in a process group of its own, and wait for it."""
        return self.start_command(Command(argv, directory, environment or {})).end()

    def start_command(self, command: Command) -> CommandRun:
        """Start a command without a shell, in a process group of its own."""
        runner = self._runner
        return CommandRun(
            command,
            environment=runner.environment,
            cookie=cookie_of(runner.controller_id, self.key),
            stop=self.stop,
            threads=runner.side_threads,
            announce=self._identify,
            cap=runner.output_cap,
        )

    def run_job(self, name: str, arguments: Mapping[str, JsonValue]) -> JobEnd:
        """Call a registered job: in a plugin process, or here when it is declared in-process."""
        try:
            job = self._runner.jobs[name]
        except KeyError:
            message = f"job '{visible(name)}' is not registered.{did_you_mean(name, self._runner.jobs)}"
            return JobEnd(succeeded=False, fatal=True, message=message)
        except PluginError as error:
            return JobEnd(succeeded=False, fatal=True, message=error.message)
        resolved = {name: self._resolved(value) for name, value in arguments.items()}
        if job.in_process:
            return call_job(job, resolved)
        return self._run_in_process(name, resolved)

    def _run_in_process(self, name: str, arguments: Mapping[str, JsonValue]) -> JobEnd:
        if self.stopping:
            return JobEnd(succeeded=False, stopped=True, message="the job was stopped before it began")
        try:
            process = self._runner.borrow_process()
        except OSError as error:
            return JobEnd(succeeded=False, message=f"the plugin process cannot be started: {error}")
        usable = False
        try:
            self._identify(process.tree)
            end = process.run_job(name, arguments, self.stop)
            usable = not self.stopping
        finally:
            self._runner.give_back(process, usable=usable)
        return end

    def announce(self) -> Spawned:
        """Report the process, once, with what tells it from a later one of the same number."""
        self.announced = True
        identity = self.identity or Identity()
        if identity.pid is not None:
            identity = self.identity = replace(identity, pid_start=platform.started(identity.pid))
        return Spawned(self.key, identity)

    def without_secrets(self, outcome: StepOutcome) -> StepOutcome:
        """Blot out the values of the secrets this execution has resolved."""
        if not self._secret_values:
            return outcome
        return replace(
            outcome,
            message=outcome.message and self.masked(outcome.message),
            output=outcome.output and self.masked(outcome.output),
            value=self.masked(outcome.value) if isinstance(outcome.value, str) else outcome.value,
        )

    def masked(self, text: str) -> str:
        """Return a text without the secrets this execution has resolved."""
        return masked(text, self._secret_values) if self._secret_values else text

    def _usable(self, connection: Connection) -> Connection:
        url = urls.with_secrets(connection.url, self.secret)
        self._secret_values += [password for password in urls.passwords_in(url) if password not in self._secret_values]
        return replace(connection, url=url)

    def _resolved(self, value: JsonValue) -> JsonValue:
        match value:
            case {"secret": str(name), **rest} if not rest:
                return self.secret(name)
            case _:
                return value

    def _identify(self, tree: Tree) -> None:
        self.announced = False
        self.identity = Identity(
            pid=tree.pid,
            boot_id=platform.boot_id(),
            spawned_at=self._runner.now(),
        )


@dataclass(frozen=True, slots=True)
class _Usable(Mapping[str, Connection]):
    """Connections that are made usable one by one, when somebody wants them."""

    configured: Mapping[str, Connection]
    usable: Callable[[Connection], Connection]

    def __getitem__(self, name: str) -> Connection:
        return self.usable(self.configured[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.configured)

    def __len__(self) -> int:
        return len(self.configured)


@dataclass(frozen=True, slots=True)
class LoneCommand:
    """A command under way, and what will be made of its end."""

    step: RunningStep
    run: CommandRun
    outcome: Callable[[], StepOutcome]

    def ends_within(self, seconds: float) -> bool:
        """Follow the command on this thread for a while; say whether it has ended."""
        try:
            return self.run.has_ended(seconds)
        except Exception:  # noqa: BLE001 - whoever follows it to its end will meet the same trouble and say so
            return False


@cache
def _runs_one_command(kind: type) -> bool:
    return issubclass(kind, RunsOneCommand)


def _failure(error: BaseException) -> StepOutcome:
    if isinstance(error, BatchctlError):
        return StepOutcome(succeeded=False, message=error.message)
    below = error.__traceback__.tb_next if error.__traceback__ else None
    message = f"the handler itself broke: {describe(error)}"
    return StepOutcome(succeeded=False, message=message, output=trace(error, below))


def _answer(outcome: object) -> StepOutcome:
    if not isinstance(outcome, StepOutcome):
        message = f"it returned {type(outcome).__name__}, not StepOutcome"
        raise TypeError(message)
    kind = type(outcome.succeeded).__name__
    if kind != "bool":
        message = f"it returned an outcome whose `succeeded` is {kind}, not bool"
        raise TypeError(message)
    return outcome


def _quietly(action: Callable[[], None]) -> None:
    # What a handler does to stop itself may fail; the outcome is reported all the same.
    with suppress(BaseException):
        action()
