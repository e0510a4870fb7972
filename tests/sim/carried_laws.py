"""The laws of steps that agents carry: whom an agent obeys, for how long, and when its steps count as lost."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from batchctl.domain.rule_texts import host_needs, taken_by
from batchctl.ports import Finished, Report
from batchctl.system.remote.wire import Message, Received
from tests.sim.hosts import Running
from tests.sim.laws import Broken

if TYPE_CHECKING:
    from tests.sim.agent_processes import AgentProcess
    from tests.sim.agent_runner import Seat
    from tests.sim.programs import Program
    from tests.sim.world import World

NOTHING_DONE = ("refused", "elsewhere", "late", "known")
LITTLE = 1e-6
_NEEDS = """
SELECT p.Needs FROM ProcessControl p JOIN BatchControl c ON c.ProcessBatch_id = p.ProcessBatch_id
WHERE c.BatchControl_id = ? AND p.ProcessControlSeq = ?
"""


class CarriedLaws:
    """What was told to agents and done by them, and what follows."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._reckoned: defaultdict[tuple[str, int], float] = defaultdict(lambda: -1.0)
        """By controller and attempt, until when in true time it counts on the agent to go on at most."""
        self._obeyed: dict[int, int] = {}
        """By attempt, the newest claim under which an agent has done something."""
        self._told_to_stop: set[int] = set()
        self._adopted: dict[int, str] = {}
        """By attempt, the controller that an agent goes on with it for, in place of a dead one."""

    def told(self, program: Program, name: str, verb: str, message: Received) -> None:
        """Take note what a controller reckons with when it tells an agent something."""
        if verb in ("start", "adopt", "news"):
            for agent in program.pool_agents(name):
                for key, attempt in agent.attempts.items():
                    at = program.name, int(key)
                    self._reckoned[at] = max(self._reckoned[at], attempt.until + program.host.booted)
        if verb == "stop":
            self._told_to_stop.add(int(message["token"]["attempt"]))

    def answered(self, process: AgentProcess, program: Program, verb: str, message: Received, answer: Message) -> None:
        """See that what an agent has done it may do."""
        self._world.happened["Told an agent"] += 1
        if verb == "news" and "reports" in answer and message["until"] is not None:
            for running in self._bound_of(process, program):
                self._check_lease(process, program, running.key, message)
        if verb in ("news", "hello", "prepare"):
            return
        if any(word in answer for word in NOTHING_DONE):
            self._world.happened[f"Agent: {verb} {next(word for word in NOTHING_DONE if word in answer)}"] += 1
            return
        if verb in ("start", "adopt", "stop"):
            key, claim = int(message["token"]["attempt"]), int(message["token"]["claim"])
            if verb == "stop" and not self._lives(process, key):
                return
            newest = self._obeyed.get(key, 0)
            if claim < newest:
                raise Broken("claim", f"{process.name} does '{verb}' of attempt {key} under {claim} after {newest}")
            self._obeyed[key] = claim
            if verb == "adopt":
                self._world.happened["Adopted"] += 1
                self._adopted[key] = program.name
            if verb != "stop":
                self._world.tell(process.name, f"agent {verb}", {"key": key, "of": program.name})
                self._check_lease(process, program, key, message)

    def _check_lease(self, process: AgentProcess, program: Program, key: int, message: Received) -> None:
        """See that no agent goes on for longer than its controller reckons with."""
        until = process.true_time(float(message["until"]))
        if until > self._reckoned[program.name, key] + LITTLE:
            reckoned = self._reckoned[program.name, key]
            raise Broken("lease of agent", f"{process.name} has attempt {key} until {until:.3f}, not {reckoned:.3f}")

    def _lives(self, process: AgentProcess, key: int) -> bool:
        """Say whether an attempt is alive at an agent."""
        names, now = {seat.name for seat in process.seats}, self._world.time.seconds
        return any(one.key == key and one.owner in names and one.is_alive(now) for one in self._world.executions)

    def _bound_of(self, process: AgentProcess, program: Program) -> list[Running]:
        """Return what an agent carries for a controller that it may not without a lease."""
        now = self._world.time.seconds
        newest = [seat.name for seat in process.seats if seat.controller == program.name][-1:]
        return [
            one
            for one in self._world.executions
            if one.owner in newest
            and one.lease_bound
            and one.is_alive(now)
            and (program.name, one.key) in self._reckoned
        ]

    def reported(self, program: Program, report: Report, grace: float) -> None:
        """See that an attempt is given up only when nothing of it can run any more."""
        if not isinstance(report, Finished) or not report.may_end_later:
            return
        self._world.happened["Given up"] += 1
        now, key = self._world.time.seconds, int(report.key)
        self._world.tell(program.name, "gives up", {"key": key})
        over = self._reckoned[program.name, key] + grace
        if now < over - LITTLE:
            raise Broken("lost early", f"{program.name} gives up attempt {key} at {now:.3f}, before {over:.3f}")
        for one in self._world.executions:
            if one.key == key and one.lease_bound and one.is_alive(now) and not self.is_out_of_sight(one):
                raise Broken(
                    "lost alive", f"{program.name} gives up attempt {key}, which is alive until {one.ends:.3f}"
                )

    def is_out_of_sight(self, running: Running) -> bool:
        """Say whether nothing can stop an execution: its agent stands still, or its supervisor was killed."""
        return running.is_out_of_sight or running.key in self._world.supervisors[running.owner].unwatched

    def check_adoption(self, key: int) -> None:
        """See that what is adopted, or stopped as left over, was begun."""
        if all(one.key != key for one in self._world.executions):
            raise Broken("I30", f"attempt {key} is adopted, though it never ran")

    def check_stop(self, seat: Seat, running: Running) -> None:
        """See that an agent stops by itself only what others may begin again."""
        if not running.lease_bound and running.key not in self._told_to_stop:
            raise Broken("stop", f"{seat.process.name} stops attempt {running.key} by itself")
        if (adopted_by := self._adopted.get(running.key, seat.controller)) != seat.controller:
            raise Broken("I34", f"{seat.name} stops attempt {running.key}, which is {adopted_by}'s now")

    def check_room(self, process: AgentProcess) -> None:
        """See that what an agent has begun, for all controllers together, has its slots and its resources."""
        world, now = self._world, self._world.time.seconds
        seats = {seat.name for seat in process.seats if not world.supervisors[seat.name].orphaned}
        begun = [one for one in world.executions if one.owner in seats and one.is_alive(now)]
        begun = [one for one in begun if one.key not in self._adopted]
        if len(begun) > process.slots:
            raise Broken("slots", f"{process.name} carries {len(begun)} steps in {process.slots} slots")
        needed = [host_needs(text) for one in begun for (text,) in world.rows(_NEEDS, one.instance, one.seq)]
        world.happened["Needed of an agent"] += any(needed)
        for name, amount in taken_by(needed).items():
            if amount > process.resources.get(name, 0) + LITTLE:
                raise Broken("needs", f"{process.name} carries steps that need {amount:g} of {name}")
