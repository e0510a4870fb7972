"""A world whose code has decorated jobs, and controllers that start in it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from batchctl.domain.errors import PluginError
from batchctl.operations.definitions.reconciler import Reconciled, Reconciler
from batchctl.operations.definitions.roster import JobLine, Roster
from batchctl.plugin_api import Job
from tests.control.world import World


class Node:
    """What one controller knows: its modules with their jobs, those that are broken, and those that cannot be imported."""

    def __init__(
        self,
        broken: Collection[str] = (),
        unimported: Collection[str] = (),
        **modules: Collection[Job | Callable[..., Any]],
    ) -> None:
        self.modules = modules
        self.broken, self.unimported = broken, unimported
        self.jobs = {job.name: (owner, job) for owner, jobs in modules.items() for job in jobs if isinstance(job, Job)}

    @property
    def job_names(self) -> tuple[str, ...]:
        return tuple(sorted({*self.jobs, *self.broken}))

    def job(self, name: str) -> Job:
        if name in self.broken:
            message = f"job '{name}' cannot be loaded: SyntaxError."
            raise PluginError(message)
        return self.jobs[name][1]

    def owner_of_job(self, name: str) -> str:
        return self.jobs[name][0]

    def knows_owner(self, owner: str) -> bool:
        return owner in self.modules

    def failed_modules(self) -> dict[str, PluginError]:
        said = "plugin module '{}' cannot be loaded: ImportError: no such thing."
        return {name: PluginError(said.format(name), next_step=f"correct {name}.py") for name in self.unimported}


class Workshop:
    """The tables, and who looks at the jobs in them."""

    def __init__(self, world: World) -> None:
        self.world = world

    def starts(
        self, *jobs: Job, node: Node | None = None, dry_run: bool = False, retired: Collection[str] = ()
    ) -> Reconciled:
        """Let a controller start whose module `shop` has these jobs, or one that knows something else."""
        return self.reconciler(node or Node(shop=jobs)).reconcile(dry_run=dry_run, retired=retired)

    def reconciler(self, node: Node, transactions: Any = None) -> Reconciler:
        world = self.world
        return Reconciler(
            transactions=transactions or world.transactions,
            clock=world.clock,
            plugins=node,
            host="host1",
            listener=world.events.append,
            default_zone="UTC",
        )

    def roster(self, *jobs: Job, node: Node | None = None) -> Roster:
        return Roster(
            transactions=self.world.transactions,
            clock=self.world.clock,
            plugins=node or Node(shop=jobs),
            default_zone="UTC",
        )

    def line(self, name: str, *jobs: Job, node: Node | None = None) -> JobLine:
        """Return how a job stands in the list."""
        (found,) = [one for one in self.roster(*jobs, node=node).lines() if one.name == name]
        return found

    def schedules(self, columns: str = "Enabled") -> dict[str, Any]:
        """Return columns of the schedules, by their names."""
        found = self.world.sql(f"SELECT ScheduleName, {columns} FROM Schedule ORDER BY ScheduleName")
        return {name: values[0] if len(values) == 1 else tuple(values) for name, *values in found}

    def batch(self, name: str, columns: str) -> tuple[Any, ...]:
        (found,) = self.world.sql(f"SELECT {columns} FROM ProcessBatch WHERE ProcessBatchName = ?", name)
        return tuple(found)

    def announced(self) -> list[tuple[str, Any]]:
        """Return what was told: events, and of which row."""
        return [
            (event.name, event.fields.get("ScheduleName") or event.fields.get("JobName")) for event in self.world.events
        ]
