"""Hosts, what runs on them, and the `StepRunner` of one program there."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from batchctl.domain.outcomes import Identity, Problem, Rendered, StepOutcome, StepRequest, Surroundings, Trace
from batchctl.domain.rows import ControllerRow, HistoryEntry, HistoryId, Step
from batchctl.plugin_api import Execution as HandlerExecution
from batchctl.plugin_api import StepHandler
from batchctl.ports import Finished, Report, Spawned

if TYPE_CHECKING:
    from tests.sim.programs import Program
    from tests.sim.world import World

OK = StepOutcome(succeeded=True, return_code=0)
STOPPED = StepOutcome(succeeded=False, stopped=True, message="stopped")
VANISHED = StepOutcome(succeeded=False, lost=True, message="its supervisor died")
AS_LONG_AS_EVER = 1e9


class ScriptedHandler:
    """Renders who it is; the runner of the schedule knows what becomes of that."""

    def __init__(self, process_type: str) -> None:
        self.process_type = process_type

    def check(self, step: Step, around: Surroundings) -> Sequence[Problem]:
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


HANDLERS: Mapping[str, ScriptedHandler] = {name: ScriptedHandler(name) for name in ("command", "call")}


@dataclass(eq=False)
class Running:
    """One execution of one attempt: what the world outside of batchctl knows of it."""

    key: int
    instance: int
    seq: int
    attempt: int
    checks: bool
    host: Host
    owner: str
    """The program that started it; its supervisor goes by the same name."""
    is_command: bool
    leashed: bool
    pid: int
    started: float
    ends: float
    outcome: StepOutcome
    grace: float
    """How long it takes to stop."""
    vouched: float = -1.0
    """Until when whoever has adopted it vouches for it."""

    def is_alive(self, now: float) -> bool:
        """Say whether it still does something."""
        return now < self.ends

    def end(self, at: float, outcome: StepOutcome) -> None:
        """Let it end, if it has not ended by then."""
        if at < self.ends:
            self.ends, self.outcome = at, outcome


@dataclass(eq=False)
class Supervisor:
    """What watches the commands of one program, and outlives it; its journal outlives both."""

    host: Host
    boot: int
    alive: bool = True
    orphaned: bool = False
    """True once its program is gone: it begins nothing more, and ends when nothing runs any more."""
    closed: bool = False
    """True once somebody else has written that nothing may be begun any more."""
    lease: float = AS_LONG_AS_EVER
    """Until when, in true time, its program has vouched for leashed commands."""
    started: dict[int, Running] = field(default_factory=dict)
    """The start records of its journal."""
    unwatched: set[int] = field(default_factory=set)
    """Those it could not see end."""

    def is_there(self, now: float) -> bool:
        """Say whether the journal's lock is held."""
        if not self.alive or self.host.boot != self.boot or not self.host.up:
            return False
        return not self.orphaned or any(one.is_alive(now) for one in self._watched())

    def start(self, running: Running) -> None:
        """Begin an execution; another supervisor takes the place of one that died."""
        self.alive = True
        self.started[running.key] = running

    def refuses(self, now: float, *, leashed: bool) -> str | None:
        """Say why nothing may be begun any more, if that is so."""
        if self.closed:
            return "its journal is closed"
        return "its worker has lost touch with the database" if leashed and now >= self.lease else None

    def die(self, now: float) -> None:
        """Leave what runs without anybody to watch it."""
        self.unwatched |= {key for key, one in self.started.items() if one.is_alive(now)}
        self.alive = False

    def look_at_the_time(self, now: float) -> None:
        """Stop the leashed commands for which nobody vouches any more."""
        if self.is_there(now):
            for one in self._watched():
                until = max(self.lease, one.vouched)
                if one.leashed and until <= now:
                    one.end(max(until, one.started) + one.grace, STOPPED)

    def has_end(self, key: int, now: float) -> bool:
        """Say whether an end record stands in the journal."""
        return key in self.started and key not in self.unwatched and not self.started[key].is_alive(now)

    def _watched(self) -> list[Running]:
        return [one for key, one in self.started.items() if key not in self.unwatched]


@dataclass(eq=False)
class Host:
    """A machine."""

    number: int
    ahead: float
    up: bool = True
    boot: int = 1
    booted: float = 0.0

    @property
    def name(self) -> str:
        """Return what it is called."""
        return f"host{self.number}"

    @property
    def boot_id(self) -> str:
        """Return what the present boot is called."""
        return f"boot{self.number}.{self.boot}"


@dataclass(frozen=True)
class Luck:
    """How long executions take and how they end, by instance, step and attempt: the same however a schedule is cut down."""

    seed: int
    patience: float = 300.0
    """What is a long time."""
    _kinds: ClassVar[tuple[str, ...]] = ("ok",) * 8 + ("bad", "bad", "fatal") + ("long",) * 6

    def of(self, instance: int, seq: int, attempt: int) -> tuple[float, StepOutcome, float]:
        """Return how many seconds it takes, how it ends, and how long it takes to stop."""
        if not self.seed:
            return 0.0, OK, 0.0
        chance = random.Random((self.seed * 31 + instance) * 1009 + seq * 131 + attempt)
        kind = "bad" if self._is_cursed(instance, seq) else chance.choice(self._kinds)
        seconds = chance.choice((0, 0, 1, 5)) if kind != "long" else self.patience * chance.choice((0.6, 1.5, 2.5))
        outcome = OK
        if kind in ("bad", "fatal"):
            outcome = StepOutcome(succeeded=False, message="it broke", return_code=3, fatal=kind == "fatal")
        return float(seconds), outcome, chance.choice((0.0, 0.0, 2.0, 8.0))

    def _is_cursed(self, instance: int, seq: int) -> bool:
        """Say whether a step fails however often it is tried."""
        return random.Random(self.seed + instance * 10_007 + seq).random() < 0.1


class ScriptedRunner:
    """The `StepRunner` of one program."""

    def __init__(self, world: World, program: Program) -> None:
        self._world = world
        self._program = program
        self._watched: dict[HistoryId, Running] = {}
        self._adopted: set[HistoryId] = set()
        self._reports: deque[Report] = deque()
        self.supervisor = world.new_supervisor(program)

    def start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, leashed: bool = False) -> None:
        """Begin an execution."""
        self._program.call("start")
        spec: Any = rendered.spec
        is_command = handler.process_type == "command"
        refusal = self.supervisor.refuses(self._now, leashed=leashed) if is_command else None
        if refusal is not None:
            self._reports.append(Finished(key, StepOutcome(succeeded=False, message=refusal), None))
            return
        running = self._world.execute(self._program, key, spec, is_command=is_command, leashed=leashed)
        if is_command:
            self.supervisor.start(running)
        self._watched[key] = running
        self._reports.append(Spawned(key, self._identity(running)))
        self._program.call("started")

    def refuse(self, key: HistoryId, reason: str) -> None:
        """Let an execution that could not be rendered fail."""
        self._reports.append(Finished(key, StepOutcome(succeeded=False, fatal=True, message=reason), None))

    def collect(self, wait: timedelta) -> Sequence[Report]:
        """Return what has been reported."""
        self._program.call("collect")
        self._miss_supervisors()
        found = list(self._reports)
        self._reports.clear()
        for key, running in list(self._watched.items()):
            if not running.is_alive(self._now):
                del self._watched[key]
                ended_at = self._program.clock.now() - timedelta(seconds=self._now - running.ends)
                found.append(Finished(key, running.outcome, self._identity(running), ended_at.replace(microsecond=0)))
        return found

    def wake(self) -> None:
        """Nothing waits here."""

    def stop(self, key: HistoryId) -> None:
        """Stop an execution; it may take its time."""
        self._program.call("stop")
        running = self._watched.get(key)
        if running is not None:
            self._world.check_stop(self._program, running)
            running.end(self._now + running.grace, STOPPED)

    def is_gone(self, controller: ControllerRow) -> bool:
        """Say whether this host can prove that a program is dead: only as long as its process ids mean the same."""
        return controller.boot_id == self._program.host.boot_id and self._world.is_dead(controller.name)

    def examine(
        self, claimed_by: str, entry: HistoryEntry, handler: StepHandler | None, rendered: Rendered | None
    ) -> tuple[Trace, Identity | None]:
        """Find out what became of a dead program's execution."""
        self._program.call("examine")
        if handler is not None and handler.process_type != "command":
            # The session that carries it out holds a lock in the target, which every host can see.
            alive = any(one.key == entry.history_id for one in self._world.alive_of(entry.instance_id))
            return (Trace.UNCLEAR if alive else Trace.GONE), None
        return self._trace_of(claimed_by, entry.history_id), None

    def _trace_of(self, claimed_by: str, key: int) -> Trace:
        host = self._program.host
        here = {name: one for name, one in self._world.supervisors.items() if one.host is host}
        for one in here.values():
            if key in one.started:
                if one.has_end(key, self._now):
                    return Trace.ADOPTABLE
                if one.is_there(self._now) and key not in one.unwatched:
                    return Trace.ADOPTABLE
                one.started[key].end(self._now, VANISHED)
                return Trace.GONE
        own = here.get(claimed_by)
        if own is None or own.boot != host.boot:
            return Trace.GONE
        if own.is_there(self._now):
            return Trace.NEVER_RAN if own.orphaned else Trace.UNCLEAR
        own.closed = True
        return Trace.NEVER_RAN

    def adopt(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *rest: Any, **options: Any) -> None:
        """Watch over a dead program's execution."""
        self._program.call("adopt")
        self._world.check_adoption(self._program, key)
        self._watched[key] = next(one for one in self._world.executions if one.key == key)
        self._adopted.add(key)
        self._watched[key].vouched = self.supervisor.lease

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
            self._watched[key].vouched = self.supervisor.lease

    def stop_left_over(self, claimed_by: str, key: HistoryId, entry: Identity) -> Sequence[int]:
        """Kill what a dead program's execution left on this host."""
        self._program.call("stop_left_over")
        left = [
            one for one in self._world.executions if one.key == key and one.host is self._program.host and one.is_command
        ]
        found = [one for one in left if one.is_alive(self._now)]
        for running in found:
            running.end(self._now, STOPPED)
        return [running.pid for running in found]

    def recorded(self, keys: Collection[HistoryId]) -> None:
        """Nothing is kept that had to be forgotten."""

    def forget(self, claimed_by: str, *rest: Any) -> bool:
        """As above."""
        return True

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
