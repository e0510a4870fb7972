"""The programs of a schedule: a worker on a host, and the person with the command line."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from batchctl.control.controller import Controller
from batchctl.control.creation import Creator
from batchctl.control.recording import Recorder
from batchctl.control.recovery import Recovery
from batchctl.domain.errors import BatchctlError, PluginError
from batchctl.domain.rows import BatchDefinition, InstanceId, IntakeRow, Populated
from batchctl.operations.intervene import Operator
from batchctl.operations.submission import Submission, submit
from batchctl.plugin_api import CannotPopulate, StepHandler
from batchctl.preparation import Preparer
from batchctl.testing import surroundings
from tests.sim.clock import HostClock
from tests.sim.database import EdgedTransactions
from tests.sim.faults import Actor, Crashed
from tests.sim.hosts import HANDLERS, Host, ScriptedRunner
from tests.sim.script import Operate, Submit, Switch

if TYPE_CHECKING:
    from tests.sim.world import World

ZONE = ZoneInfo("Europe/Amsterdam")
AROUND = surroundings("/work")


class Populators:
    """Populators that take the file's name, and break on poison."""

    def populate(self, populator: str, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Return the values of an instance."""
        name = row.file_name or ""
        if populator == "poisoned" and name.startswith("poison"):
            raise CannotPopulate("poison")
        if populator == "poisoned" and name.startswith("surprise"):
            raise RuntimeError("nobody foresaw this")
        return Populated(data=(name, None, None, None, None, None))

    def close(self) -> None:
        """Nothing to end."""


class Program(Actor):
    """A start of the worker on a host: it lives until it is killed, and what it knew is gone then."""

    def __init__(self, world: World, place: int, name: str, host: Host) -> None:
        super().__init__(world, name)
        self.place = place
        self.host = host
        self.boot = host.boot
        self.clock = HostClock(world.time, host.ahead, host.booted)
        self.runner = ScriptedRunner(world, self)
        self.transactions = EdgedTransactions(world.engine, self, self.clock.synchronise)
        preparer = Preparer(find_handler, AROUND, "anna", host.name, "simulated")
        self.recorder = Recorder(preparer, name, host.name)
        self.creator = Creator(self.transactions, self.clock, Populators(), ZONE, world.listener(name))
        self.controller: Controller | None = None

    def turn(self) -> None:
        """Make one pass of the loop; a program that cannot go on ends."""
        self.world.acting(self, self._pass)

    def _pass(self) -> None:
        try:
            controller = self._started()
            if controller is None:
                return
            controller.turn(timedelta(0))
            if controller.take_notice():
                self._create(controller)
        except Crashed:
            self.die()
        except BatchctlError as error:
            self.world.tell(self.name, "program.ended", {"Message": error.message})
            self.die()

    def _create(self, controller: Controller) -> None:
        try:
            self.creator.create_instances()
        except BatchctlError as error:
            self.world.tell(self.name, "creation.waits", {"Message": error.message})
        controller.look_again()

    def _started(self) -> Controller | None:
        if self.controller is None:
            if not self.world.take_lock(self):
                return None
            listener = self.world.listener(self.name)
            Recovery(self.transactions, self.clock, self.runner, self.recorder, listener).recover()
            self.creator.create_instances()
            self.controller = Controller(
                transactions=self.transactions,
                clock=self.clock,
                runner=self.runner,
                recorder=self.recorder,
                listener=listener,
                slots=self.world.options.slots,
            )
        return self.controller

    def die(self) -> None:
        """Lose everything that is only in memory; commands go on under their supervisor."""
        if not self.dead:
            self.dead = True
            self.world.died(self)

    @property
    def has_news(self) -> bool:
        """Say whether the next turn has anything to do, as far as this program knows."""
        return self.runner.has_news or self.controller is None or not self.controller.is_flying

    @property
    def is_idle(self) -> bool:
        """Say whether nothing runs and nothing may start."""
        return self.controller is None or self.controller.is_idle


class Person(Actor):
    """Who acts with the command line, on whatever host."""

    def __init__(self, world: World) -> None:
        super().__init__(world, "anna")
        self.clock = HostClock(world.time, 0.0, 0.0)
        self.transactions = EdgedTransactions(world.engine, self, self.clock.synchronise)
        preparer = Preparer(find_handler, AROUND, "anna", "desk", "simulated")
        self._operator = Operator(
            transactions=self.transactions, clock=self.clock, preparer=preparer, user="anna", host="desk"
        )

    def submit(self, event: Submit) -> None:
        """Ask for work."""
        wanted = Submission(entity=event.entity, file_name=event.file_name, data=event.data)
        self._act(lambda: submit(self.transactions, wanted, user="anna", host="desk"))

    def operate(self, event: Operate) -> None:
        """Act on an instance; a person who reruns a lost step has looked that nothing of it is alive."""
        found = self.world.rows("SELECT BatchControl_id FROM BatchControl ORDER BY 1")
        if not found:
            return
        (instance_id,) = found[event.nth % len(found)]
        if event.action in ("rerun", "skip") and self.world.alive_of(instance_id):
            return
        act = getattr(self._operator, event.action)
        self._act(lambda: act(InstanceId(instance_id), reason="because"))

    def switch(self, event: Switch) -> None:
        """Disable or enable a batch."""
        name = f"B{event.nth % len(self.world.options.batches)}"
        self._act(lambda: self._operator.set_enabled(name, enabled=event.enabled, reason="because"))

    def _act(self, act: Callable[[], object]) -> None:
        def try_it() -> None:
            try:
                act()
            except BatchctlError as refused:
                self.world.tell(self.name, "refused", {"Message": refused.message})

        self.world.acting(self, try_it)


def find_handler(process_type: str) -> StepHandler:
    """Return the handler of a step."""
    if process_type not in HANDLERS:
        raise PluginError(f"there is no ProcessType '{process_type}'")
    return HANDLERS[process_type]
