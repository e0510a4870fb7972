"""The processes of agents, on their hosts: the product's own agents, and runners of the schedule for them."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Collection
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from batchctl.domain.errors import PluginError
from batchctl.plugin_api import StepHandler
from batchctl.ports import StepRunner
from batchctl.preparation import Preparer
from batchctl.system.remote import wire
from batchctl.system.remote.agent import Agent, AgentMeans
from batchctl.system.remote.agent_folder import AgentFolder
from batchctl.system.remote.carrier import Carrier
from batchctl.system.remote.wire import AgentFacts, AskedStep, Message, Received
from batchctl.testing import context
from tests.sim.agent_runner import AgentRunner, Seat
from tests.sim.carried_laws import CarriedLaws
from tests.sim.clock import HostClock
from tests.sim.hosts import STOPPED, VANISHED, Host, Running
from tests.sim.runner import HANDLERS

if TYPE_CHECKING:
    from tests.sim.programs import Program
    from tests.sim.world import World

DATABASE = "simulated"
VERSION = "simulated"
GRACE = 8.0
"""Seconds that a step takes at most to stop, as the luck of a schedule has it."""
AHEAD = 5000.0
"""Seconds by which the monotonic clock of an agent is ahead of its host's: no two programs have the same."""


class AgentProcess:
    """One start of an agent: it lives until it is killed; its tokens stay, and its supervisors may."""

    def __init__(self, world: World, number: int, host: Host, boot: str, name: str) -> None:
        self.world, self.number, self.host, self.boot, self.name = world, number, host, boot, name
        plan = world.options.agents[number]
        self.slots, self.resources = plan.slots, {"GPU": float(plan.gpus)} if plan.gpus else {}
        self.is_dead, self.is_stopped = False, False
        self.held: list[Callable[[], None]] = []
        """What has arrived while it was stopped."""
        self.meanwhile: list[Callable[[], None]] = []
        """What another thread of it answers while one looks for a handler."""
        self.waiting: list[tuple[str, Callable[[], None]]] = []
        """Questions for news, by the carrier whose news they wait for."""
        self.seats: list[Seat] = []
        self.clock = HostClock(world.time, host.ahead, host.booted)
        self._folder = AgentFolder(_state() / host.name, boot)
        self._runners: list[AgentRunner] = []
        self.agent = Agent(
            AgentMeans(
                facts=self._facts(),
                prepare=self._prepare,
                handler=self._handler,
                runner=self._runner,
                folder=self._folder,
                now=self.clock.now,
                monotonic=self.monotonic,
                keep_turning=self._keep_turning,
            )
        )

    def monotonic(self) -> float:
        """Return the seconds of its clock that never jump."""
        return self.clock.monotonic() + AHEAD * (self.number + 1)

    def true_time(self, moment: float) -> float:
        """Return the true time of a moment of that clock."""
        return moment - AHEAD * (self.number + 1) + self.host.booted

    def answer(self, program: Program, verb: str, message: Received) -> Message:
        """Let the agent answer."""
        self.look_at_the_time()
        answer = self.agent.answer(verb, message)
        self.world.agents.laws.answered(self, program, verb, message, answer)
        return answer

    def look_at_the_time(self) -> None:
        """Let its supervisors look at the time."""
        for seat in self.seats:
            self.world.supervisors[seat.name].look_at_the_time(self.world.time.seconds)

    def stop(self) -> None:
        """Stand still; what does not run under a supervisor cannot be stopped by it meanwhile."""
        self.is_stopped = True
        for one in self.world.executions:
            one.is_out_of_sight |= not one.is_command and any(seat.name == one.owner for seat in self.seats)

    def go_on(self) -> None:
        """Go on where it stood."""
        self.is_stopped = False
        held, self.held = self.held, []
        for act in held:
            self.world.passing.after(0.0, act)

    def die(self, *, whole: bool) -> None:
        """Lose what is only in memory; commands go on under their supervisors, unless the whole container ends."""
        if self.is_dead:
            return
        self.is_dead = True
        self.world.tell(self.name, "agent died", {"whole": whole})
        now, names = self.world.time.seconds, {seat.name for seat in self.seats}
        for one in self.world.executions:
            if one.owner in names and (whole or not one.is_command):
                one.end(now, VANISHED if whole else STOPPED)
        for name in names:
            self.world.supervisors[name].orphaned = True
            if whole:
                self.world.supervisors[name].die(now)
        self.let_go()

    def let_go(self) -> None:
        """Give its folder up."""
        self._folder.close()

    def _facts(self) -> AgentFacts:
        return AgentFacts(
            boot=self.boot,
            version=VERSION,
            host=self.host.name,
            user="anna",
            slots=self.slots,
            stop_grace=GRACE,
            directory="/work",
            python="python3",
            process_types=tuple(HANDLERS),
            resources=self.resources,
        )

    def _prepare(self, database_id: str, asked: AskedStep) -> Message:
        made = Preparer(_handler, context("/work"), "anna", self.host.name, database_id).prepare(
            asked.instance, asked.batch, asked.step, attempt_no=asked.attempt_no, cause=asked.cause, now=asked.now
        )
        return {
            "step": wire.step_message(made.step),
            "rendered": None if made.rendered is None else wire.rendered_message(made.rendered),
            "not_ready": made.refused,
            "put_back": made.put_back,
            "goes_on_alone": made.handler is not None and made.handler.process_type == "command",
        }

    def _handler(self, name: str) -> StepHandler:
        meanwhile, self.meanwhile = self.meanwhile, []
        for act in meanwhile:
            act()
        return _handler(name)

    def _runner(self, controller: str, folder: Path) -> StepRunner:
        del folder
        seat = Seat(self, controller, len(self.seats) + 1)
        self.seats.append(seat)
        self._runners.append(AgentRunner(self.world, seat))
        return self._runners[-1]

    def _keep_turning(self, carrier: Carrier) -> VirtualTurning:
        return VirtualTurning(self, carrier, self._runners[-1])


class VirtualTurning:
    """Has a carrier turn whenever it is woken, when its time has come, and when an execution has ended."""

    def __init__(self, process: AgentProcess, carrier: Carrier, runner: AgentRunner) -> None:
        self._process, self._carrier, self._runner = process, carrier, runner
        self._is_over = False
        self._next = 0
        runner.on_wake = self._turn

    def is_alive(self) -> bool:
        """Say whether it goes on."""
        return not self._is_over

    def join(self) -> None:
        """End."""
        self._is_over = True
        self._carrier.work()

    def _turn(self) -> None:
        process, carrier = self._process, self._carrier
        if self._is_over or process.is_dead:
            return
        if process.is_stopped:
            process.held.append(self._turn)
            return
        process.look_at_the_time()
        carrier.turn()
        if not carrier.news.all_heard:
            for mark, tell in [*process.waiting]:
                if mark == carrier.mark:
                    process.waiting.remove((mark, tell))
                    process.world.passing.after(0.0, tell)
        self._next += 1
        if carrier.under_way:
            process.world.passing.at(self._runner.next_turn, partial(self._turn_at, self._next))

    def _turn_at(self, number: int) -> None:
        if number == self._next:
            self._turn()


class AgentProcesses:
    """All agents of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._starts = count(1)
        self.processes: list[AgentProcess] = []
        self.laws = CarriedLaws(world)
        if world.options.agents:
            shutil.rmtree(_state(), ignore_errors=True)
            self.start_all()

    def has(self, running: Running) -> bool:
        """Say whether an agent carries an execution, or did."""
        return any(seat.name == running.owner for process in self.processes for seat in process.seats)

    def named(self, name: str) -> AgentProcess | None:
        """Return the newest process of a name."""
        return next((one for one in reversed(self.processes) if one.name == name), None)

    def at(self, number: int) -> AgentProcess | None:
        """Return the process of an agent, if it lives."""
        return next((one for one in self.processes if one.number == number and not one.is_dead), None)

    def start(self, number: int, *, renamed: bool = False) -> None:
        """Start an agent, as what watches over it does, unless it lives or its host is down."""
        host = self._world.hosts[self._world.options.agents[number].host]
        if self.at(number) is None and host.up:
            start = next(self._starts)
            name = f"agent{number}.{start}" if renamed else f"agent{number}"
            self.processes.append(AgentProcess(self._world, number, host, f"boot{number}.{start}", name))

    def start_all(self) -> None:
        """Start every agent that does not live."""
        for number in range(len(self._world.options.agents)):
            self.start(number)

    def kill(self, number: int, *, whole: bool, renamed: bool, after: float) -> None:
        """Let an agent die; it is started again after some seconds."""
        if (process := self.at(number)) is not None:
            process.die(whole=whole)
            self._world.passing.after(after, partial(self.start, number, renamed=renamed))

    def crash(self, host: Host) -> None:
        """Let the agents of a host die with it."""
        for process in self._of(host):
            process.die(whole=True)

    def heal(self) -> None:
        """Let every agent be there."""
        for process in self.processes:
            if process.is_stopped and not process.is_dead:
                process.go_on()
        self.start_all()

    def close(self) -> None:
        """Let go of what they hold."""
        for process in self.processes:
            process.let_go()

    def _of(self, host: Host) -> Collection[AgentProcess]:
        return [one for one in self.processes if one.host is host and not one.is_dead]


def _handler(name: str) -> StepHandler:
    try:
        return HANDLERS[name]
    except KeyError:
        raise PluginError(f"there is no handler '{name}'", next_step="correct it") from None


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="batchctl-sim-")


def _state() -> Path:
    return Path(_folder().name) / "state"
