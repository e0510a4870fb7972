"""The `StepRunner` that an agent has for one controller, on a host where the schedule decides what becomes of everything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import HistoryEntry, HistoryId
from batchctl.plugin_api import StepHandler
from batchctl.ports import Notify, Report, Trace
from tests.sim.hosts import STOPPED, Running, Supervisor
from tests.sim.runner import ScriptedRunner

if TYPE_CHECKING:
    from tests.sim.agent_processes import AgentProcess
    from tests.sim.world import World


class Seat:
    """What a runner of an agent stands in for: a controller, as far as executions and supervisors go."""

    def __init__(self, process: AgentProcess, controller: str, number: int) -> None:
        self.process, self.controller = process, controller
        self.name = f"{controller}@{process.boot}.{number}"
        self.host, self.clock = process.host, process.clock

    def call(self, port: str) -> None:
        """Come to a call of a port: no fault strikes here."""

    def check_adoption(self, key: int) -> None:
        """See that what is adopted was begun."""
        self.process.world.agents.laws.check_adoption(key)

    def check_stop(self, running: Running) -> None:
        """See that what is stopped may be."""
        self.process.world.agents.laws.check_stop(self, running)


class AgentRunner(ScriptedRunner):
    """Finds what a dead controller has left by the journals of its agent's folder."""

    def __init__(self, world: World, seat: Seat) -> None:
        super().__init__(world, seat)
        self.seat = seat
        self.on_wake: Callable[[], None] = lambda: None
        self.next_turn = 0.0
        """When it has something to report, or has waited for long enough."""

    def wake(self) -> None:
        """Let the carrier turn at once, as its thread would in a moment."""
        self.on_wake()

    def collect(self, wait: timedelta, notify: Notify | None = None) -> Sequence[Report]:
        """Return what has been reported, and take note when to look again."""
        found = super().collect(wait, notify)
        ends = [one.ends for one in self._watched.values()]
        self.next_turn = min([self._now + max(wait.total_seconds(), 0.001), *ends])
        return found

    def keep_lease(self, until: float) -> None:
        """Vouch for lease-bound executions."""
        self.supervisor.lease = self.seat.process.true_time(until)
        for key in self._adopted & self._watched.keys():
            self._vouch(key)

    def start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, lease_bound: bool = False) -> None:
        """Begin an execution."""
        for one in self._world.supervisors.values():
            one.look_at_the_time(self._now)
        super().start(key, handler, rendered, lease_bound=lease_bound)
        self._world.agents.laws.check_room(self.seat.process)

    def stop_left_over(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Sequence[int]:
        """Kill what is left over on this host only."""
        if all(one.host is not self.seat.host for one in self._world.executions if one.key == entry.history_id):
            return ()
        return super().stop_left_over(entry, handler, rendered)

    def close(self, *, leave: bool = False) -> None:
        """End; commands go on under their supervisor."""
        for running in self._watched.values():
            if not leave or not running.is_command:
                running.end(self._now, STOPPED)
        self._watched.clear()
        self.supervisor.orphaned = True

    def _trace_of(self, claimed_by: str, key: int) -> Trace:
        journals = self._journals_of(claimed_by)
        for one in journals:
            if key in one.started:
                watched = one.is_there(self._now) and key not in one.unwatched
                return Trace.ADOPTABLE if one.has_end(key, self._now) or watched else Trace.LEFT_OVER
        executions = self._world.executions
        lives = any(one.key == key and one.host is self.seat.host and one.is_alive(self._now) for one in executions)
        if claimed_by == self.seat.controller:
            return Trace.UNCLEAR if lives else Trace.GONE
        if not journals:
            return Trace.UNCLEAR if lives else Trace.UNSEEN
        own = journals[-1]
        if own.is_there(self._now):
            return Trace.NEVER_RAN if own.orphaned else Trace.UNSTARTED
        own.closed = True
        return Trace.NEVER_RAN

    def _journals_of(self, claimed_by: str) -> list[Supervisor]:
        """Return what has a journal of a controller in the folder of this agent, oldest first."""
        seats = [seat for seat in self.seat.process.seats if seat.controller == claimed_by]
        return [self._world.supervisors[seat.name] for seat in seats]
