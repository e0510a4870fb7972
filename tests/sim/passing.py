"""How time passes where something happens by itself meanwhile: on loops, on wires and at agents, in a fixed order."""

from __future__ import annotations

import asyncio
import heapq
from asyncio import events
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from tests.sim.clock import TrueTime

if TYPE_CHECKING:
    from tests.sim.programs import Program
    from tests.sim.world import World

Result = TypeVar("Result")
NEVER = float("inf")
MOST_TURNS = 100_000
"""How often loops may turn without any time passing."""


class TurnedLoop(asyncio.BaseEventLoop):
    """An event loop in virtual time: it turns only when it is told to, and waits for nothing."""

    def __init__(self, time: TrueTime, fail: Callable[[BaseException], None]) -> None:
        super().__init__()
        self._true_time = time
        self._selector = self
        # What goes wrong in a task for which nothing waits.
        self.set_exception_handler(lambda _, what: fail(what.get("exception") or RuntimeError(what["message"])))

    def time(self) -> float:
        return self._true_time.seconds

    def select(self, timeout: float | None) -> list[Any]:
        """Find that no file is ready."""
        del timeout
        return []

    def _process_events(self, event_list: list[Any]) -> None:
        del event_list

    @property
    def next_at(self) -> float:
        """Return when it has something to do, of which no time is later than what is due already."""
        if self._ready:  # type: ignore[attr-defined]
            return -1.0
        timers = self._scheduled  # type: ignore[attr-defined]
        return float(timers[0].when()) if timers else NEVER

    def turn(self) -> None:
        """Do what is due."""
        events._set_running_loop(self)
        try:
            self._run_once()  # type: ignore[attr-defined]
        finally:
            events._set_running_loop(None)

    def end(self) -> None:
        """Let every task end, as the process of its program has."""
        while tasks := asyncio.all_tasks(self):
            for task in tasks:
                task.cancel()
            self.turn()
        self.close()


class Passing:
    """Moves the true time of a world on."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._failed: list[BaseException] = []

    def fail(self, error: BaseException) -> None:
        """Let an error end the schedule that was raised where tasks keep it to themselves."""
        self._failed.append(error)

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Let something happen in so many seconds."""
        self.at(self._world.time.seconds + seconds, act)

    def at(self, moment: float, act: Callable[[], None]) -> None:
        """Let something happen at a moment."""
        self._number += 1
        heapq.heappush(self._agenda, (moment, self._number, act))

    def until(
        self, moment: float, *, acting: Program | None = None, is_over: Callable[[], bool] = lambda: False
    ) -> None:
        """Let time pass until a moment, or until what a program that acts waits for has come."""
        time, loops = self._world.time, self._loops(acting)
        while not is_over():
            first, turns_at = None, NEVER
            for loop in loops:
                if (at := loop.next_at) < turns_at:
                    first, turns_at = loop, at
            happens_at = self._agenda[0][0] if self._agenda else NEVER
            next_at = min(turns_at, happens_at)
            if next_at > moment:
                time.seconds = max(time.seconds, moment)
                return
            time.seconds = max(time.seconds, next_at)
            if first is None or happens_at <= turns_at:
                heapq.heappop(self._agenda)[2]()
            else:
                first.turn()
            if self._failed:
                raise self._failed[0]

    def _loops(self, acting: Program | None) -> list[TurnedLoop]:
        """Return the loops that turn: not those of programs that stand still."""
        world = self._world
        return [
            loop
            for program in world.workers
            if program is not None and (program is acting or not world.stands_still(program))
            for loop in program.loops
        ]


class PassingLoop:
    """The `PoolLoop` of one program: while it waits, time passes."""

    def __init__(self, world: World, program: Program) -> None:
        self._world, self._program = world, program
        self._loop = TurnedLoop(world.time, world.passing.fail)
        program.loops.append(self._loop)

    def post(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something done."""
        self._loop.create_task(work).add_done_callback(self._note)

    def wait(self, work: Coroutine[Any, Any, Result], seconds: float) -> Result:
        """Have something done, and wait for it."""
        task = self._loop.create_task(work)
        until = self._world.time.seconds + seconds
        self._world.passing.until(until, acting=self._program, is_over=task.done)
        if not task.done():
            task.cancel()
            raise TimeoutError
        return task.result()

    def end(self, work: Coroutine[Any, Any, None], seconds: float) -> None:
        """Have something done at last."""
        task = self._loop.create_task(work)
        self._world.passing.until(self._world.time.seconds + seconds, acting=self._program, is_over=task.done)

    def _note(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._world.passing.fail(error)
