"""What an execution is given to do its work with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from batchctl.domain import urls
from batchctl.domain.commands import Identity
from batchctl.domain.errors import PluginError
from batchctl.domain.outcomes import Connection, StepOutcome
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import HistoryId
from batchctl.domain.text import did_you_mean, visible
from batchctl.plugin_api import Command, CommandEnd, Job, JobEnd
from batchctl.plugin_api.jobs import ASKED
from batchctl.ports import Spawned
from batchctl.system.commands.environment import for_children
from batchctl.system.commands.kept_output import Output
from batchctl.system.commands.processes import CommandRun
from batchctl.system.commands.shown_output import ShownOutput
from batchctl.system.concurrency.stopping import Stop
from batchctl.system.concurrency.threads import Threads
from batchctl.system.host import platform
from batchctl.system.host.cookies import own_cookie_of
from batchctl.system.host.platform import Tree
from batchctl.system.masking import masked, telling
from batchctl.system.plugins.job_calls import Listening, call_job
from batchctl.system.plugins.plugin_process import PluginProcesses


@dataclass(frozen=True, slots=True, kw_only=True)
class RunnerMeans:
    """What a runner has for all its executions."""

    controller_id: str
    processes: PluginProcesses
    jobs: Mapping[str, Job]
    connections: Mapping[str, Connection]
    secrets: Callable[[str], str]
    """Returns the value of a secret's name."""
    now: Callable[[], datetime]
    grace: float
    output_cap: int
    known_secrets: Callable[[], Iterable[str]] = tuple
    """Returns every secret there is, whether used or not: none of them is to stand in the history."""
    environment: Mapping[str, str] = field(default_factory=for_children)
    side_threads: Threads = field(default_factory=lambda: Threads("batchctl-side"))


class RunningStep:
    """What a handler may use while it executes: the `Execution` of `batchctl.plugin_api`."""

    __slots__ = (
        *("_known", "_lines", "_means", "announced", "identity", "is_at_work", "key", "secret_values", "shown", "stop"),
    )

    def __init__(self, means: RunnerMeans, key: HistoryId) -> None:
        """Begin without a process."""
        self._means = means
        self.secret_values: list[str] = []
        self._known: Sequence[str] | None = None
        self.key = key
        self.stop = Stop(means.side_threads, means.grace)
        self.identity: Identity | None = None
        self.announced = False
        self.is_at_work = False
        """True once a thread carries it out."""
        self.shown: ShownOutput | None = None
        """What its command writes, if it has started one itself."""
        self._lines: _Lines | None = None
        """What its handler shows, if it has shown anything."""

    @property
    def connections(self) -> Mapping[str, Connection]:
        """The named target databases, with the secrets of their URLs resolved when one is looked up."""
        return _Usable(self._means.connections, self._usable)

    @property
    def stopping(self) -> bool:
        """True once the step has been told to stop."""
        return self.stop.announced

    @property
    def must_end(self) -> bool:
        """True once the step was told to stop and its grace time is over."""
        return self.stop.is_due

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Name what to call, from another thread, when the step is to stop."""
        self.stop.when_asked(partial(_quietly, stop))

    def in_session(self, name: str) -> None:
        """Name the database session that carries the step out."""
        self.announced = False
        self.identity = replace(self.identity or Identity(), db_session=name, spawned_at=self._means.now())

    def secret(self, name: str) -> str:
        """Resolve a secret; its value is blotted out wherever it comes back in the outcome."""
        value = self._means.secrets(name)
        if value not in self.secret_values:
            self.secret_values.append(value)
        return value

    def run_command(
        self, argv: Sequence[str], *, directory: str, environment: Mapping[str, str] | None = None
    ) -> CommandEnd:
        """Start a command without a shell, in a process group of its own, and wait for it."""
        means = self._means
        run = CommandRun(
            Command(argv, directory, environment or {}),
            environment=means.environment,
            cookie=own_cookie_of(means.controller_id, self.key),
            stop=self.stop,
            threads=means.side_threads,
            announce=self._identify,
            cap=means.output_cap,
        )
        self.shown = ShownOutput(run.output, self.secrets)
        return run.end()

    def show(self, line: str) -> None:
        """Show a line of what the step does."""
        if self._lines is None:
            self._lines = _Lines(self._means.output_cap)
        self._lines.output.feed(f"{line}\n".encode(errors="backslashreplace"))

    @property
    def may_write(self) -> bool:
        """Say whether anything it writes can be read while it runs."""
        return self.shown is not None or self.is_at_work

    def newly_written(self) -> str:
        """Return what its handler has shown and its command has written since the last time, without secrets."""
        lines, shown = self._lines, self.shown
        # A line is there as a whole, and so are the secrets in it.
        text = "" if lines is None else self.masked(lines.shown.take())
        return text if shown is None else text + shown.take()

    def run_job(self, name: str, arguments: Mapping[str, JsonValue]) -> JobEnd:
        """Call a registered job: in a plugin process, or here when it is declared in-process."""
        try:
            job = self._means.jobs[name]
        except KeyError:
            message = f"job '{visible(name)}' is not registered.{did_you_mean(name, self._means.jobs)}"
            return JobEnd(succeeded=False, never_ran=True, message=message)
        except PluginError as error:
            return JobEnd(succeeded=False, never_ran=True, message=error.message)
        resolved = {name: self._resolved(value) for name, value in arguments.items()}
        if job.in_process:
            return self._call_here(job, resolved)
        return self._run_in_process(name, resolved)

    def _call_here(self, job: Job, arguments: Mapping[str, JsonValue]) -> JobEnd:
        listening = Listening(lambda: self.stopping)
        before = ASKED.here.set(listening.ask)
        try:
            return call_job(job, arguments, listening)
        finally:
            ASKED.here.reset(before)

    def _run_in_process(self, name: str, arguments: Mapping[str, JsonValue]) -> JobEnd:
        if self.stopping:
            return JobEnd(succeeded=False, stopped=True, message="the job was stopped before it began")
        try:
            process = self._means.processes.borrow()
        except OSError as error:
            return JobEnd(succeeded=False, message=f"the plugin process cannot be started: {error}")
        usable = False
        try:
            self._identify(process.tree)
            self.shown = ShownOutput(process.output, self.secrets)
            end = process.run_job(name, arguments, self.stop)
            usable = not self.stopping
        finally:
            self.shown = None
            self._means.processes.give_back(process, usable=usable)
        return end

    def is_process(self, pid: int | None, pid_start: str | None, spawned_at: datetime) -> None:
        """Name the process that carries the step out."""
        self.identity = Identity(pid=pid, pid_start=pid_start, boot_id=platform.boot_id(), spawned_at=spawned_at)

    def announce(self) -> Spawned:
        """Report the process, once, with what tells it from a later one of the same number."""
        self.announced = True
        identity = self.identity or Identity()
        if identity.pid is not None and identity.pid_start is None:
            identity = self.identity = replace(identity, pid_start=platform.started(identity.pid))
        return Spawned(self.key, identity)

    def without_secrets(self, outcome: StepOutcome) -> StepOutcome:
        """Blot out the values of all secrets."""
        if outcome.message is outcome.output is outcome.value is None:
            return outcome
        self._known = None  # A file may hold another secret now than when the step began.
        return replace(
            outcome,
            message=outcome.message and self.masked(outcome.message),
            output=outcome.output and self.masked(outcome.output),
            value=self.masked(outcome.value) if isinstance(outcome.value, str) else outcome.value,
        )

    def masked(self, text: str) -> str:
        """Return a text without secrets, of this execution or others."""
        if self._known is None:
            self._known = telling(self._means.known_secrets())
        return masked(text, (*self.secret_values, *self._known)) if text else text

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return what this execution has resolved, and other secrets known here and long enough to be recognised."""
        return (*self.secret_values, *telling(self._means.known_secrets()))

    def _usable(self, connection: Connection) -> Connection:
        url = urls.with_secrets(connection.url, self.secret)
        self.secret_values += [password for password in urls.passwords_in(url) if password not in self.secret_values]
        return replace(connection, url=url)

    def _resolved(self, value: JsonValue) -> JsonValue:
        match value:
            case {"secret": str(name), **rest} if not rest:
                return self.secret(name)
            case _:
                return value

    def _identify(self, tree: Tree) -> None:
        self.announced = False
        self.identity = Identity(pid=tree.pid, boot_id=platform.boot_id(), spawned_at=self._means.now())


class _Lines:
    """Lines that a handler has shown, and how many of them were taken."""

    __slots__ = ("output", "shown")

    def __init__(self, cap: int) -> None:
        self.output = Output(cap)
        self.shown = ShownOutput(self.output, ())


@dataclass(frozen=True, slots=True)
class _Usable(Mapping[str, Connection]):
    """Connections that are made usable one by one, when they are looked up."""

    configured: Mapping[str, Connection]
    usable: Callable[[Connection], Connection]

    def __getitem__(self, name: str) -> Connection:
        return self.usable(self.configured[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.configured)

    def __len__(self) -> int:
        return len(self.configured)


def _quietly(action: Callable[[], None]) -> None:
    # What a handler does to stop itself may fail; the outcome is reported all the same.
    with suppress(BaseException):
        action()
