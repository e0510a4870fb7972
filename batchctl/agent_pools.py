"""Pools whose steps agents carry, as a controller serves them: made ready there, started there, watched from here."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.util import find_spec

from batchctl import __version__, dask_agent
from batchctl.agent_node import console_of
from batchctl.app import App
from batchctl.domain.errors import NoFreeSlot, Refused, StepRefused
from batchctl.domain.operators.carried_specs import carried
from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import BatchDefinition, BatchInstance, HistoryEntry, Step
from batchctl.domain.status import Cause, PoolKind
from batchctl.domain.text import storable
from batchctl.ports import Report, StepRunner
from batchctl.preparation import Prepared, Preparer
from batchctl.settings_sections import PoolSettings
from batchctl.system.remote import wire
from batchctl.system.remote.agent_handler import AgentHandler
from batchctl.system.remote.agent_pool import AgentPool
from batchctl.system.remote.console_relay import ConsoleRelay
from batchctl.system.remote.dask_cluster import DaskCluster
from batchctl.system.remote.followed_agent import PoolMeans
from batchctl.system.remote.routed_runner import RoutedRunner
from batchctl.system.remote.transport import AgentTransport
from batchctl.system.remote.wire import AskedStep

MET_IN = 15.0
"""Seconds for which a controller waits for its agents before it begins: a single pass finds them there."""


@dataclass(frozen=True, slots=True)
class RoutedPreparer(Preparer):
    """Has steps of pools of agents made ready by these, and all others here."""

    pools: Mapping[str, AgentPool] = field(default_factory=dict)

    def prepare(
        self,
        instance: BatchInstance,
        batch: BatchDefinition,
        step: Step,
        *,
        attempt_no: int,
        cause: Cause,
        now: datetime,
    ) -> Prepared:
        """Render one attempt."""
        pool = self.pools.get(batch.pool_of(step))
        if pool is None:
            return Preparer.prepare(self, instance, batch, step, attempt_no=attempt_no, cause=cause, now=now)
        asked = AskedStep(instance=instance, batch=batch, step=step, attempt_no=attempt_no, cause=cause, now=now)
        try:
            agent, answer = pool.prepare(
                instance.instance_id, step.process_type, step.host_needs, {"asked": asked.message}
            )
        except StepRefused as refused:
            has_no_slot = isinstance(refused, NoFreeSlot)
            return Prepared(step, None, None, storable(refused.in_full), put_back=True, has_no_slot=has_no_slot)
        if answer["rendered"] is None:
            return Prepared(step, None, None, str(answer["not_ready"]), put_back=bool(answer["put_back"]))
        rendered = wire.rendered_of(answer["rendered"])
        carried_out = _as_asked(step, wire.step_of(answer["step"]))
        whose = self.database_id, instance.instance_id, instance.claim_token
        alone = bool(answer["goes_on_alone"])
        where = carried_out.process_type, pool.name, agent.offer.name
        handler = AgentHandler(*where, *whose, goes_on_alone=alone, needs=step.host_needs)
        host = None if agent.facts is None else agent.facts.host
        spec = json.dumps(handler.spec(rendered))
        return Prepared(carried_out, handler, replace(rendered, brief=False), None, command_spec=spec, host=host)

    def as_begun(self, step: Step, entry: HistoryEntry) -> Prepared:
        """Return an attempt as it was made ready when it began."""
        found = carried(entry.command_spec)
        if found is None or found.pool not in self.pools:
            return Preparer.as_begun(self, step, entry)
        asked = replace(step, process_type=found.carried_type)
        # To take an attempt over raises its claim by one: what the controller before says counts no more.
        whose = self.database_id, entry.instance_id, entry.claim_token + 1
        where = found.carried_type, found.pool, found.agent
        handler = AgentHandler(*where, *whose, goes_on_alone=found.goes_on_alone, needs=step.host_needs)
        return Prepared(asked, handler, Rendered(entry.command_text, found.spec), None, command_spec=entry.command_spec)


def _as_asked(step: Step, carried_out: Step) -> Step:
    """Return a step with what it is carried out as; the rest of its row stays as it is here."""
    return replace(step, process_type=carried_out.process_type, data=carried_out.data)


CarriedByAgents = tuple[StepRunner, Preparer, Mapping[str, AgentPool]]


@contextmanager
def agents_carrying(app: App, local: StepRunner, served: Mapping[str, PoolSettings]) -> Iterator[CarriedByAgents]:
    """Lend what carries steps out here and, in some pools, by agents; what makes them ready; and those pools."""
    heard = deque[Report]()

    def report(each: Report) -> None:
        heard.append(each)
        local.wake()

    pools = {name: pool_of(app, name, given, report, local.wake) for name, given in served.items()}
    ready = app.preparer
    routed = RoutedPreparer(
        ready.find_handler, ready.context, ready.user, ready.host, ready.database_id, ready.ask, pools=pools
    )
    try:
        for each in pools.values():
            each.meet(MET_IN)
        yield RoutedRunner(local, pools, heard), routed, pools
    finally:
        for each in pools.values():
            each.close()


def pool_of(
    app: App,
    name: str,
    given: PoolSettings,
    report: Callable[[Report], None],
    wake: Callable[[], None] = lambda: None,
    database_id: str | None = None,
) -> AgentPool:
    """Return a pool of agents as this controller sees it; `database_id` stands for its control database."""
    means = PoolMeans(
        controller=app.ids.controller_id(),
        database_id=database_id or app.database_id,
        version=__version__,
        lease=given.lease_seconds,
        grace=app.settings.stop_grace,
        now=app.clock.now,
        report=report,
        has_room=wake,
    )
    return AgentPool(name, _transport(app, name, given), means)


def _transport(app: App, name: str, given: PoolSettings) -> AgentTransport:
    if given.kind == PoolKind.AGENTS.value:
        return ConsoleRelay(name.strip().lower(), console_of(app.settings, given))
    if find_spec("distributed") is None:
        message = f"[pools.{name}] needs the package distributed, which this Python does not have."
        raise Refused(message, next_step="pip install 'batchctl[dask]'")
    files = {setting: str(app.settings.directory / file) for setting, file in given.tls_files.items()}
    return DaskCluster(given.scheduler or "", dask_agent.answer, files)
