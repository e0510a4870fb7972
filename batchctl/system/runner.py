"""Carries executions: commands through their supervisor, everything else on threads; and reports how they end."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

from batchctl.domain.commands import Identity
from batchctl.domain.errors import CannotBegin, ConfigurationError, PluginError
from batchctl.domain.outcomes import Connection, Rendered, StepOutcome
from batchctl.domain.rows import ControllerRow, HistoryEntry, HistoryId, InstanceId
from batchctl.domain.text import shorten, visible
from batchctl.plugin_api import Command, CommandEnd, Job, Provable, RunsOneCommand, StepHandler
from batchctl.ports import AskHandler, Clock, Finished, Notify, Report, Trace, Wrote, ask_straight
from batchctl.system.brief import BriefExecutions, Carry
from batchctl.system.clock import SystemClock
from batchctl.system.commands import adoption, journal, left_over
from batchctl.system.commands.environment import for_children
from batchctl.system.commands.kept_output import OUTPUT_CAP, shortened
from batchctl.system.commands.supervision import Ears, Supervision, lost_with
from batchctl.system.concurrency.loops import Call, new_loop
from batchctl.system.concurrency.threads import Threads
from batchctl.system.executions import RunnerMeans, RunningStep
from batchctl.system.host import platform
from batchctl.system.host.cookies import all_own_cookies_of
from batchctl.system.host.gone_controllers import is_gone
from batchctl.system.plugins.handler_answers import checked, failure_of
from batchctl.system.plugins.plugin_process import PluginProcess, PluginProcesses

STOP_GRACE = timedelta(seconds=10)
MESSAGE_CAP = 20_000
NOTICE = 0.02
"""Seconds an execution runs before its process is reported: a shorter one is reported once, with its end."""
_LOOK = 0.1
"""Seconds between two looks at commands that were adopted."""
_END_FIELDS = frozenset(CommandEnd.__slots__)
PATIENCE = timedelta(seconds=30)
"""How long a handler has to end by force what ignored a stop, before it is given up."""
_IGNORED = "was told to stop and did not end; whether it was done is not known"


def longest_stop(grace: timedelta) -> timedelta:
    """Return how long it takes at most to stop every step, and to end all that carried them out."""
    ends = 2 * (grace + timedelta(seconds=1))
    return grace + PATIENCE + ends


class ThreadStepRunner:
    """The `StepRunner` of the product."""

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
        patience: timedelta = PATIENCE,
        output_cap: int = OUTPUT_CAP,
        state_directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
        known_secrets: Callable[[], Iterable[str]] = tuple,
        ask: AskHandler = ask_straight,
    ) -> None:
        """Start nothing yet. Without a directory for the journals, no command outlives this runner."""
        platform.keep_children()
        self._ask = ask
        self._means = means = RunnerMeans(
            controller_id=controller_id,
            processes=PluginProcesses(plugin_process),
            jobs=jobs,
            connections=connections,
            secrets=secrets,
            now=(clock or SystemClock()).now,
            grace=stop_grace.total_seconds(),
            output_cap=output_cap,
            environment=for_children() if environment is None else environment,
            known_secrets=known_secrets,
        )
        self._threads = Threads("batchctl-step", most=slots)
        self._loop = new_loop()
        self._reports: deque[Report] = deque()
        self._woken = False
        self._is_closed = False
        self._running: dict[HistoryId, RunningStep] = {}
        self._commands: dict[int, _Commanded] = {}
        """Executions that are commands of the supervisor, this worker's or another's."""
        self._adopted: dict[HistoryId, adoption.CommandWatch] = {}
        self._patience = patience.total_seconds()
        self._given_up: set[RunningStep] = set()
        """Executions that were reported as lost, and whose thread is still at work."""
        self._lease_bound: set[HistoryId] = set()
        self._lease: float | None = None
        self._brief = BriefExecutions(self._reports.append, self._carry_on_thread)
        self._state = state_directory
        self._supervision: Supervision | None = None
        if state_directory is not None:
            place = journal.place_of(state_directory.absolute(), controller_id)
            _prepare(place, controller_id)
            self._supervision = Supervision(
                place,
                controller_id=controller_id,
                cap=output_cap,
                grace=means.grace,
                environment=means.environment,
                loop=self._loop,
                threads=means.side_threads,
                ears=Ears(self._hear_running, self._hear_end, self._hear_lost, self._hear_written),
            )

    def start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, lease_bound: bool = False) -> None:
        """Begin an execution; its end arrives through `collect`."""
        step = self._running[key] = RunningStep(self._means, key)
        may_be_command = _may_be_one_command(type(handler))
        try:
            is_command = self._supervision is not None and self._is_one_command(key, handler, rendered)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a handler may raise anything and must harm no other
            self._reports.append(self._finished(step, failure_of(error)))
            return
        if is_command and self._supervision is not None:
            commanded = self._commands[key] = _Commanded(step, cast("RunsOneCommand", handler), rendered)
            step.announced = True
            order = partial(self._order, self._supervision, commanded, lease_bound=lease_bound)
            if rendered.brief:
                order()()
            else:
                self._on_thread(step, partial(self._order_on_thread, step, order))
        elif rendered.brief and not may_be_command:
            self._brief.add(handler, rendered, step, partial(self._execute, step, handler, rendered))
        else:
            self._carry_on_thread(step, partial(self._execute, step, handler, rendered))

    def refuse(self, key: HistoryId, reason: str, *, put_back: bool = False) -> None:
        """Report an execution that could not be rendered: as a fatal failure, or put back."""
        outcome = StepOutcome(succeeded=False, fatal=not put_back, never_ran=put_back, message=reason)
        self._reports.append(Finished(key, outcome, None))

    def keep_lease(self, until: float) -> None:
        """Vouch for the lease-bound executions until a time of the monotonic clock."""
        self._lease = until
        if self._supervision is not None:
            self._supervision.keep_lease(until)
        for key in self._lease_bound & self._adopted.keys():
            journal.vouch(self._adopted[key].place, key, until)

    def recorded(self, keys: Collection[HistoryId]) -> None:
        """Take note that these ends are committed."""
        if self._supervision is not None:
            self._supervision.recorded(keys)

    def collect(self, wait: timedelta, notify: Notify | None = None) -> Sequence[Report]:
        """Return what has been reported; waits at most `wait` for the first report, a `wake` or the notify."""
        until = time.monotonic() + wait.total_seconds()
        self._brief.carry_out()
        if notify is None or self._reports:
            return self._listen(until)
        with self._hearing(notify) as look_every:
            return self._listen(until, notify, look_every)

    def _listen(self, until: float, notify: Notify | None = None, look_every: float = math.inf) -> Sequence[Report]:
        while True:
            for watch in list(self._adopted.values()):
                self._look_after(watch)
            unannounced = [step for step in self._running.values() if not step.announced]
            stopping = self._give_up_what_does_not_stop()
            rings = notify is not None and notify.rings()
            left = 0.0 if self._reports or self._woken or rings else until - time.monotonic()
            pause = NOTICE if unannounced else _LOOK if self._adopted or stopping else left
            self._loop.turn(max(0.0, min(left, pause, look_every)))
            if self._reports:
                return self._drained()
            if spawned := [step.announce() for step in unannounced if step.identity is not None]:
                return spawned
            if self._woken or rings or time.monotonic() >= until:
                self._woken = False
                return []

    def _give_up_what_does_not_stop(self) -> bool:
        """Report as lost what a thread goes on with though told to stop; say whether anything else is stopping."""
        stopping = [step for step in self._running.values() if step.is_at_work and step.stop.announced]
        due = [step for step in stopping if step not in self._given_up and self._is_ignored(step)]
        if due:
            # What ended while this process was suspended has ended.
            self._loop.turn(0.0)
        ended = {report.key for report in self._reports}
        for step in due:
            if step.is_at_work and step.key not in ended:
                self._given_up.add(step)
                self._threads.give_up_one()
                lost = self._finished(step, StepOutcome(succeeded=False, lost=True, message=_IGNORED))
                self._reports.append(replace(lost, may_go_on=True))
        return bool(stopping)

    def _is_ignored(self, step: RunningStep) -> bool:
        return time.monotonic() >= step.stop.until + self._patience

    def overhear(self) -> Sequence[Report]:
        """Return what the supervisor has reported meanwhile; waits for nothing, and carries nothing out."""
        if not self._commands:
            return ()
        self._loop.turn(0.0)
        return self._drained()

    @contextmanager
    def _hearing(self, notify: Notify) -> Iterator[float]:
        """Let the loop watch the notify's descriptor; yield how many seconds apart it has to be looked at."""
        if notify.descriptor is None or not self._loop.watch(notify.descriptor, _look_again):
            yield notify.look_every.total_seconds()
        else:
            try:
                yield math.inf
            finally:
                # The owner of a connection closes it, and its number may then belong to another.
                self._loop.unwatch(notify.descriptor)

    def ask_for_output(self) -> bool:
        """Have what commands have written since the last time reported; false where none is known to run."""
        asked = [key for key, one in self._commands.items() if key not in self._adopted and one.step.identity]
        if asked and self._supervision is not None:
            self._supervision.show(asked)
        writing = [step for step in self._running.values() if step.may_write]
        self._reports += [Wrote(step.key, text) for step in writing if (text := step.newly_written())]
        return bool(asked or writing)

    def hasten(self) -> Sequence[Report]:
        """Carry out at once what has proved to be brief, and report it."""
        self._brief.carry_out(only_proved=True)
        return self._drained()

    def wake(self) -> None:
        """End a waiting `collect` early; may be called from a signal handler."""
        self._loop.post(self._wake_up)

    def stop(self, key: HistoryId) -> None:
        """Tell an execution to stop; returns at once."""
        if step := self._running.get(key):
            watch = self._adopted.get(key)
            if watch is not None:
                watch.look()
                if watch.key in watch.past.ended:
                    return  # An end that has come counts.
            step.stop.tell()
            if watch is not None:
                self._means.side_threads.run(partial(self._stop_adopted, key, watch))
            elif self._supervision is not None:
                self._supervision.stop(key)

    def let_go(self, key: HistoryId) -> bool:
        """Stop watching an execution; only a command goes on alone."""
        if key not in self._commands:
            return False
        self._running.pop(key, None)
        self._forget(key)
        if self._supervision is not None:
            self._supervision.let_go(key)
        return True

    def examine(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Trace:
        """Find out what has become of a dead worker's execution."""
        claimed_by = entry.claimed_by or ""
        if self._state is not None and self._is_one_command(entry.history_id, handler, rendered, entry.instance_id):
            is_own = claimed_by == self._means.controller_id
            return adoption.examine(self._state, claimed_by, entry.history_id, _recorded(entry), is_own=is_own)
        if isinstance(handler, Provable) and self._is_alive(entry.history_id, handler, rendered):
            return Trace.UNCLEAR
        # What this worker itself has begun, and was taken from it meanwhile, it has stopped or let go.
        return Trace.GONE if claimed_by in {"", self._means.controller_id} else Trace.LEFT_OVER

    def seen_alive(self, entry: HistoryEntry) -> Sequence[int]:
        """Return the process ids of what is seen alive of an execution on this host."""
        return adoption.seen_alive(entry.claimed_by or "", entry.history_id, _recorded(entry))

    def stop_left_over(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Sequence[int]:
        """Stop what is left over of an execution; return the process ids found alive."""
        claimed_by, grace = entry.claimed_by or "", self._means.grace
        if self._state is not None and self._is_one_command(entry.history_id, handler, rendered, entry.instance_id):
            # It may be this worker's own that came back to it after its supervisor had died.
            return adoption.stop_left_over(self._state, claimed_by, entry.history_id, grace)
        self._refuse_living(claimed_by)
        return platform.stop_left_over(all_own_cookies_of(claimed_by), _recorded(entry), grace)

    def adopt(
        self,
        key: HistoryId,
        handler: StepHandler,
        rendered: Rendered,
        entry: HistoryEntry,
        *,
        lease_bound: bool = False,
    ) -> None:
        """Take over an execution found adoptable; its end arrives through `collect`."""
        step = self._running[key] = RunningStep(self._means, key)
        step.announced = True
        step.identity = replace(_recorded(entry), spawned_at=entry.spawned_at)
        self._commands[key] = _Commanded(step, cast("RunsOneCommand", handler), rendered)
        watch = None if self._state is None else adoption.watch(self._state, entry.claimed_by or "", key)
        if watch is None:
            self._hear_lost(key, f"no journal of this host knows of execution {key}")
            return
        self._adopted[key] = watch
        if lease_bound:
            self._lease_bound.add(key)
            if self._lease is not None:
                journal.vouch(watch.place, key, self._lease)

    def is_gone(self, controller: ControllerRow) -> bool:
        """Say whether this host can prove that a controller is dead."""
        return is_gone(controller)

    def tidy(self, living: Collection[str], live: Collection[HistoryId]) -> None:
        """Forget the workers of this host that are dead and not entered as `living`."""
        if self._state is not None:
            adoption.tidy(self._state, {*living, self._means.controller_id}, live)

    def close(self, *, leave: bool = False) -> None:
        """Stop what still runs, or leave commands to their supervisor; then end the child processes and threads."""
        if self._is_closed:
            return
        self._is_closed = True
        for key in list(self._running):
            if not (leave and key in self._commands):
                self.stop(key)
        if self._supervision is not None:
            self._supervision.close(leave=leave)
        self._threads.close()
        self._threads.join(self._means.grace + 1)
        self._means.processes.close()
        self._means.side_threads.close()
        self._means.side_threads.join(self._means.grace + 1)
        self._loop.close()

    def _refuse_living(self, claimed_by: str) -> None:
        if not claimed_by or claimed_by == self._means.controller_id:
            raise ValueError(f"'{claimed_by}' is not a dead controller")

    def _wake_up(self) -> None:
        self._woken = True

    def _drained(self) -> list[Report]:
        reports = list(self._reports)
        self._reports.clear()
        for report in reports:
            if isinstance(report, Finished):
                self._running.pop(report.key, None)
                if self._commands:
                    self._forget(report.key)
        return reports

    def _order(self, supervision: Supervision, commanded: _Commanded, *, lease_bound: bool) -> Call:
        """Resolve the command; return the next call, to be made on the thread of the loop."""
        step = commanded.step
        try:
            command = commanded.handler.command(commanded.rendered, step)
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything and must harm no other
            return partial(self._reports.append, self._finished(step, failure_of(error)))
        return partial(self._send, supervision, step, command, lease_bound=lease_bound)

    def _order_on_thread(self, step: RunningStep, order: Callable[[], Call]) -> None:
        step.is_at_work = True
        self._loop.post(partial(self._take_order, step, order()))

    def _take_order(self, step: RunningStep, call: Call) -> None:
        """Go on with an order; send no command for one that was given up meanwhile."""
        step.is_at_work = False
        if step in self._given_up:
            self._take_back(step)
        else:
            call()

    def _take_back(self, step: RunningStep) -> None:
        self._given_up.discard(step)
        self._threads.take_back_one()

    def _send(self, supervision: Supervision, step: RunningStep, command: Command, *, lease_bound: bool) -> None:
        """Have a command started by the supervisor."""
        if step.key not in self._commands:
            return  # It was let go before it could begin; a later worker finds that it never ran.
        if step.stopping:
            said = "the step was told to stop before the command was started"
            self._hear_end(step.key, {"not_started": said})
        else:
            supervision.start(step.key, command, secrets=step.secrets, lease_bound=lease_bound)

    def _hear_running(self, key: int, record: Mapping[str, Any]) -> None:
        if commanded := self._commands.get(key):
            step = commanded.step
            step.is_process(record.get("pid"), record.get("pid_start"), self._moment(record))
            self._reports.append(step.announce())

    def _hear_written(self, key: int, text: str) -> None:
        if commanded := self._commands.get(key):
            self._reports.append(Wrote(commanded.step.key, commanded.step.masked(text)))

    def _hear_end(self, key: int, record: Mapping[str, Any]) -> None:
        commanded = self._commands.pop(key, None)
        if commanded is None:
            return
        is_adopted = key in self._adopted
        self._forget(commanded.step.key)
        step, ended_at = commanded.step, self._moment(record)
        if record.get("pid") is not None and (step.identity is None or step.identity.pid is None):
            step.is_process(record["pid"], record.get("pid_start"), ended_at)
        if "trouble" in record:
            self._hear_lost(key, f"it is unknown how the command ended: {record['trouble']}", commanded)
            return
        if record.get("never_ran"):
            self._reports.append(self._put_back(step, f"not started: {record['not_started']}", ended_at))
            return
        end = CommandEnd(**{name: value for name, value in record.items() if name in _END_FIELDS})
        # Its own supervisor knows what ended by itself before it was to be stopped: that counts as it ended.
        by_itself = not (is_adopted or end.stopped or end.not_started)
        if step.stopping and not by_itself:
            end = replace(end, stopped=True)
        handler = commanded.handler
        outcome = partial(handler.outcome, commanded.rendered, end)
        carry = partial(self._carry, step, handler, ended_at, outcome, by_itself=by_itself)
        if commanded.rendered.brief:
            self._reports.append(carry())
            return
        try:
            self._threads.run(partial(self._post, step, carry))
        except RuntimeError:
            # It has run: as long as the system refuses another thread, everything else has to wait for this.
            self._reports.append(carry())

    def _hear_lost(self, key: int, message: str, commanded: _Commanded | None = None) -> None:
        commanded = commanded or self._commands.pop(key, None)
        if commanded is not None:
            self._forget(commanded.step.key)
            self._reports.append(
                self._finished(commanded.step, StepOutcome(succeeded=False, lost=True, message=message))
            )

    def _look_after(self, watch: adoption.CommandWatch) -> None:
        """Report what an adopted command does."""
        watch.look()
        key, past = HistoryId(watch.key), watch.past
        if key in past.ended:
            self._hear_end(key, {**past.begun.get(key, {}), "boot": past.boot_id, **past.ended[key]})
        elif watch.is_lost:
            del self._adopted[key]
            self._means.side_threads.run(partial(self._give_up, key, watch))
        elif (begun := past.begun.get(key, {})).get("pid") is not None:
            step = self._commands[key].step
            if step.identity is None or step.identity.pid is None:
                self._hear_running(key, begun)

    def _stop_adopted(self, key: HistoryId, watch: adoption.CommandWatch) -> None:
        left_over.stop_rest(watch.past, key, self._means.grace)

    def _give_up(self, key: HistoryId, watch: adoption.CommandWatch) -> None:
        found = left_over.stop_rest(watch.past, key, self._means.grace)
        self._loop.post(lambda: self._hear_lost(key, lost_with(found)))

    def _forget(self, key: HistoryId) -> None:
        self._commands.pop(key, None)
        self._adopted.pop(key, None)
        self._lease_bound.discard(key)

    def _moment(self, record: Mapping[str, Any]) -> datetime:
        """Return when something was recorded, by the database's clock if that can be derived."""
        now = self._means.now()
        if "at" not in record:
            return now
        if "boot" in record and record["boot"] != platform.boot_id():
            return datetime.fromisoformat(record["time"])
        return now - timedelta(milliseconds=round((time.monotonic() - record["at"]) * 1000))

    def _is_one_command(
        self, key: HistoryId, handler: StepHandler, rendered: Rendered, of: InstanceId | None = None
    ) -> bool:
        if not _may_be_one_command(type(handler)):
            return False
        question = partial(cast("RunsOneCommand", handler).is_one_command, rendered)
        return self._ask(handler, f"attempt {key}", question, of=of)

    def _is_alive(self, key: HistoryId, handler: Provable, rendered: Rendered) -> bool:
        question = partial(handler.is_alive, rendered, RunningStep(self._means, key))
        try:
            return self._ask(handler, f"attempt {key}", question) is True
        except (PluginError, CannotBegin):
            return True  # A handler that does not answer has not proved that it is dead.
        except Exception:  # noqa: BLE001 - a handler may raise anything; then it has proved nothing
            return False

    def _carry_on_thread(self, step: RunningStep, carry: Carry) -> None:
        self._on_thread(step, partial(self._post, step, carry))

    def _on_thread(self, step: RunningStep, work: Callable[[], None]) -> None:
        try:
            self._threads.run(work)
        except RuntimeError as error:
            said = f"not started: the system refused to start another thread: {error}"
            self._reports.append(self._put_back(step, said))

    def _post(self, step: RunningStep, carry: Carry) -> None:
        """Carry out on this thread, and report on the loop's."""
        step.is_at_work = True
        self._loop.post(partial(self._take_end, step, carry()))

    def _take_end(self, step: RunningStep, finished: Finished) -> None:
        """Report an end, also one that comes after the execution was given up."""
        if step in self._given_up:
            self._take_back(step)
        self._reports.append(finished)

    def _execute(self, step: RunningStep, handler: StepHandler, rendered: Rendered) -> Finished:
        """Carry out anything but a command, unless others may have taken this worker for dead since it was recorded."""
        if self._lease is not None and time.monotonic() >= self._lease:
            return self._put_back(step, "not started: its worker has lost touch with the database")
        return self._carry(step, handler, None, partial(handler.execute, rendered, step))

    def _put_back(self, step: RunningStep, message: str, ended_at: datetime | None = None) -> Finished:
        """Return the report about something that could not be begun through no fault of its own."""
        outcome = step.without_secrets(StepOutcome(succeeded=False, message=message, stopped=step.stopping))
        return Finished(step.key, outcome, None, ended_at or self._means.now(), never_ran=True)

    def _carry(
        self,
        step: RunningStep,
        handler: object,
        ended_at: datetime | None,
        work: Callable[[], object],
        *,
        by_itself: bool = False,
    ) -> Finished:
        try:
            return self._finished(step, checked(handler, work()), ended_at, by_itself=by_itself)
        except BaseException as error:  # noqa: BLE001 - a handler may raise anything and must harm no other
            return self._finished(step, failure_of(error), ended_at, by_itself=by_itself)

    def _finished(
        self, step: RunningStep, outcome: StepOutcome, ended_at: datetime | None = None, *, by_itself: bool = False
    ) -> Finished:
        """Return the report about an execution: how it ended, without secrets, and no longer than a row should be."""
        ended_at = ended_at or self._means.now()
        if not outcome.succeeded and step.stopping and not by_itself:
            outcome = replace(outcome, stopped=True)
        outcome = step.without_secrets(outcome)
        message = shorten(outcome.message, MESSAGE_CAP) if outcome.message is not None else None
        output = shortened(outcome.output, self._means.output_cap) if outcome.output is not None else None
        if message is not outcome.message or output is not outcome.output:
            outcome = replace(outcome, message=message, output=output)
        return Finished(step.key, outcome, step.identity, ended_at)


@dataclass(frozen=True, slots=True)
class _Commanded:
    """A command of a supervisor, and what will be made of its end."""

    step: RunningStep
    handler: RunsOneCommand
    rendered: Rendered


def _prepare(place: Path, controller_id: str) -> None:
    try:
        journal.prepare(place, controller_id)
    except OSError as error:
        message = (
            f"The directory for what must be remembered of running commands, '{visible(str(place.parent))}', "
            f"cannot be used: {error.strerror}."
        )
        raise ConfigurationError(
            message, next_step="let this user write there, or set state_directory in batchctl.toml to another directory"
        ) from error


def _recorded(entry: HistoryEntry) -> Identity:
    return Identity(pid=entry.pid, pid_start=entry.pid_start, boot_id=entry.boot_id)


@cache
def _may_be_one_command(kind: type) -> bool:
    return issubclass(kind, RunsOneCommand)


def _look_again() -> None:
    """Do nothing: it is enough that the waiting has ended."""
