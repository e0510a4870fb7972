"""The `StepRunner` of one program, on a host where the schedule decides what becomes of everything."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from batchctl.domain.commands import Identity
from batchctl.domain.outcomes import Finding, Rendered, StepContext, StepOutcome, StepRequest
from batchctl.domain.rows import ControllerRow, HistoryEntry, HistoryId, Step
from batchctl.plugin_api import Execution as HandlerExecution
from batchctl.plugin_api import StepHandler
from batchctl.ports import Finished, Notify, Report, Spawned, Trace, Wrote
from tests.sim.hosts import STOPPED, VANISHED, Running
from tests.sim.shown import WritingStep

if TYPE_CHECKING:
    from tests.sim.agent_runner import Seat
    from tests.sim.programs import Program
    from tests.sim.world import World


class CommandHandler:
    """Renders who it is; the runner of the schedule knows what becomes of that."""

    process_type: ClassVar[str] = "command"

    def check(self, step: Step, around: StepContext) -> Sequence[Finding]:
        """Find nothing wrong."""
        return []

    def render(self, request: StepRequest) -> Rendered:
        """Name the attempt, so that an execution can be told from any other."""
        instance, step = request.instance.instance_id, request.step
        spec = {"instance": instance, "seq": step.seq, "attempt": request.attempt_no, "checks": step.data[5] == "check"}
        return Rendered(f"{step.name} {step.seq} of {instance}", spec)

    def execute(self, rendered: Rendered, execution: HandlerExecution) -> StepOutcome:
        """Never be called."""
        raise AssertionError(rendered, execution)

    def verification(self, step: Step) -> Step:
        """Ask whether it was done."""
        return replace(step, data=(*step.data[:5], "check"))

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """Read the answer."""
        return None if outcome.value is None else bool(outcome.value)


class CallHandler(CommandHandler):
    """The same for what is no command of its own, but is carried by its program."""

    process_type: ClassVar[str] = "call"


class ConfirmHandler(CallHandler):
    """The same for what asks people once it has looked at something."""

    process_type: ClassVar[str] = "confirm"

    def render(self, request: StepRequest) -> Rendered:
        """Say what its Data4 says."""
        rendered = CommandHandler.render(self, request)
        return replace(rendered, spec={**rendered.spec, "asks": request.step.data[3]})


HANDLERS: Mapping[str, StepHandler] = {
    one.process_type: one for one in (CommandHandler(), CallHandler(), ConfirmHandler())
}


class ScriptedRunner:
    """The `StepRunner` of one program."""

    def __init__(self, world: World, program: Program | Seat) -> None:
        self._world = world
        self._program = program
        self._watched: dict[HistoryId, Running] = {}
        self._adopted: set[HistoryId] = set()
        self._writing: dict[HistoryId, WritingStep] = {}
        self._reports: deque[Report] = deque()
        self.supervisor = world.new_supervisor(program)

    def start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, lease_bound: bool = False) -> None:
        """Begin an execution."""
        self._program.call("start")
        spec: Any = rendered.spec
        is_command = handler.process_type == "command"
        refused = self.supervisor.refuses(self._now, lease_bound=lease_bound)
        if refused is not None:
            self._reports.append(Finished(key, StepOutcome(succeeded=False, message=refused), None, never_ran=True))
            return
        running = self._world.execute(self._program, key, spec, is_command=is_command, lease_bound=lease_bound)
        if is_command:
            self.supervisor.start(running)
        self._watched[key] = running
        if self._world.options.writes and not running.checks:
            self._writing[key] = WritingStep(self._world, running)
        self._reports.append(Spawned(key, self._identity(running)))
        self._program.call("started")

    def refuse(self, key: HistoryId, reason: str, *, put_back: bool = False) -> None:
        """Let an execution that could not be rendered fail, or be put back."""
        outcome = StepOutcome(succeeded=False, fatal=not put_back, never_ran=put_back, message=reason)
        self._reports.append(Finished(key, outcome, None))

    def collect(self, wait: timedelta, notify: Notify | None = None) -> Sequence[Report]:
        """Return what has been reported."""
        self._program.call("collect")
        self._miss_supervisors()
        return self.overhear()

    def overhear(self) -> Sequence[Report]:
        """Return what has been reported meanwhile: virtual time may have passed."""
        found = list(self._reports)
        self._reports.clear()
        for key, running in list(self._watched.items()):
            if not running.is_alive(self._now):
                del self._watched[key]
                ended_at = self._program.clock.now() - timedelta(seconds=self._now - running.ends)
                found.append(Finished(key, running.outcome, self._identity(running), ended_at.replace(microsecond=0)))
        return found

    def ask_for_output(self) -> bool:
        """Report what steps of this program have written; those that it has adopted show nothing."""
        self._writing = {key: one for key, one in self._writing.items() if key in self._watched}
        self._reports += [Wrote(key, text) for key, one in self._writing.items() if (text := one.take())]
        return bool(self._writing)

    def hasten(self) -> Sequence[Report]:
        """Nothing here is carried out by its program."""
        return ()

    def wake(self) -> None:
        """Nothing waits here."""

    def stop(self, key: HistoryId) -> None:
        """Stop an execution; it may take its time."""
        self._program.call("stop")
        running = self._watched.get(key)
        if running is not None:
            self._program.check_stop(running)
            running.end(self._now + running.grace, STOPPED)

    def is_gone(self, controller: ControllerRow) -> bool:
        """Say whether this host can prove that a program is dead: only as long as its process ids mean the same."""
        return controller.boot_id == self._program.host.boot_id and self._world.is_dead(controller.name)

    def examine(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Trace:
        """Find out what became of a dead program's execution."""
        self._program.call("examine")
        if handler.process_type != "command":
            # The session that carries it out holds a lock in the target, which every host can see.
            alive = any(one.key == entry.history_id for one in self._world.alive_of(entry.instance_id))
            return Trace.UNCLEAR if alive else Trace.GONE
        return self._trace_of(entry.claimed_by or "", entry.history_id)

    def seen_alive(self, entry: HistoryEntry) -> Sequence[int]:
        """Never be of interest: who shares a host shares its journals here."""
        del entry
        return ()

    def stop_left_over(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Sequence[int]:
        """Kill what nobody watches over."""
        self._program.call("stop_left_over")
        self._program.check_adoption(entry.history_id)
        found = [one for one in self._world.executions if one.key == entry.history_id and one.is_alive(self._now)]
        for running in found:
            running.end(self._now, VANISHED)
        return [running.pid for running in found]

    def _trace_of(self, claimed_by: str, key: int) -> Trace:
        host = self._program.host
        here = {name: one for name, one in self._world.supervisors.items() if one.host is host}
        for one in here.values():
            if key in one.started:
                if one.has_end(key, self._now):
                    return Trace.ADOPTABLE
                if one.is_there(self._now) and key not in one.unwatched:
                    return Trace.ADOPTABLE
                return Trace.LEFT_OVER
        own = here.get(claimed_by)
        if own is None or own.boot != host.boot:
            return Trace.GONE
        if own.is_there(self._now):
            return Trace.NEVER_RAN if own.orphaned else Trace.UNCLEAR
        own.closed = True
        return Trace.NEVER_RAN

    def adopt(
        self,
        key: HistoryId,
        handler: StepHandler,
        rendered: Rendered,
        entry: HistoryEntry,
        *,
        lease_bound: bool = False,
    ) -> None:
        """Watch over a dead program's execution."""
        self._program.call("adopt")
        self._program.check_adoption(key)
        self._watched[key] = next(one for one in self._world.executions if one.key == key)
        if lease_bound:
            self._adopted.add(key)
            self._vouch(key)

    def let_go(self, key: HistoryId) -> bool:
        """Watch over an execution no more; what runs in this process cannot go on alone."""
        self._program.call("let_go")
        running = self._watched.get(key)
        if running is None or not running.is_command:
            return False
        del self._watched[key]
        return True

    def keep_lease(self, until: float) -> None:
        """Vouch for leashed executions."""
        self.supervisor.lease = until + self._program.host.booted
        for key in self._adopted & self._watched.keys():
            self._vouch(key)

    def recorded(self, keys: Collection[HistoryId]) -> None:
        """Nothing is kept that had to be forgotten."""

    def tidy(self, living: Collection[str], live: Collection[HistoryId]) -> None:
        """As above."""

    @property
    def has_news(self) -> bool:
        """Say whether `collect` would return anything."""
        return bool(self._reports) or any(not one.is_alive(self._now) for one in self._watched.values())

    def close(self, *, leave: bool = False) -> None:
        """End; what still runs is stopped, or left to its supervisor."""
        for running in self._watched.values():
            if not leave or not running.is_command:
                running.end(self._now, STOPPED)

    @property
    def _now(self) -> float:
        return self._world.time.seconds

    def _vouch(self, key: HistoryId) -> None:
        """Vouch for an execution, unless somebody does for longer."""
        running = self._watched[key]
        running.vouched = max(running.vouched, self.supervisor.lease)

    def _miss_supervisors(self) -> None:
        """Kill what nobody watches any more: it cannot be known how it would end."""
        for key, running in list(self._watched.items()):
            supervisor = self._world.supervisors[running.owner]
            if running.is_command and key in supervisor.unwatched:
                running.end(self._now, VANISHED)
                del self._watched[key]
                self._reports.append(Finished(key, VANISHED, self._identity(running)))

    def _identity(self, running: Running) -> Identity:
        spawned_at = self._program.clock.now().replace(microsecond=0)
        if running.is_command:
            return Identity(pid=running.pid, pid_start="1", boot_id=running.host.boot_id, spawned_at=spawned_at)
        return Identity(db_session=f"session {running.pid}", spawned_at=spawned_at)
