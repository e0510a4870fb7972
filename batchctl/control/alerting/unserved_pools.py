"""The pools in which nothing carries what instances wait for: no controller serves them, or no agent can take a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from batchctl.domain.alerting import incident_causes
from batchctl.domain.alerting.incidents import IncidentSign, key_of
from batchctl.domain.gates import is_open
from batchctl.domain.operators.agents_seen import lacking
from batchctl.domain.operators.pools import PoolsInUse, to_test
from batchctl.domain.rows import DEFAULT_POOL, BatchDefinition, BatchId, Step
from batchctl.domain.status import IncidentKind
from batchctl.store import Connection, controllers, pool_rows
from batchctl.store.alerting import incident_rows
from batchctl.store.pool_rows import WaitingBehind

_Waiting = Mapping[str, Sequence[tuple[WaitingBehind, Step]]]
"""What waits in each pool, and for which step."""


@dataclass(slots=True)
class UnservedPools:
    """Looks for them, and remembers since when each has had no agent: no row says that."""

    patience: timedelta
    """For how long something may wait in vain before people are told."""
    _since: Mapping[str, datetime] = field(default_factory=dict)

    def signs(
        self, connection: Connection, batches: Mapping[BatchId, BatchDefinition], now: datetime
    ) -> Iterator[IncidentSign]:
        """Yield the open pools in which something has waited in vain for long."""
        names = {batch.pool_of(step) for batch in batches.values() for step in batch.steps}
        if names <= {DEFAULT_POOL} and not pool_rows.are_served(connection):
            return
        pools = pool_rows.in_use(connection, controllers.running(connection))
        waiting = _waiting(connection, batches, pools, now)
        yield from self._unserved(waiting, pools, now)
        yield from self._without_agents(connection, waiting, pools, now)

    def _unserved(self, waiting: _Waiting, pools: PoolsInUse, now: datetime) -> Iterator[IncidentSign]:
        """Yield those that no controller serves."""
        for name, groups in waiting.items():
            first, many = min(one.since for one, _ in groups), sum(one.many for one, _ in groups)
            since, said = max(first, pools.last[name][1] if name in pools.last else first), pools.unserved(name)
            if said is not None and now - since >= self.patience:
                yield incident_causes.unserved(name, said, pools.to_serve(name), many, since)

    def _without_agents(
        self, connection: Connection, waiting: _Waiting, pools: PoolsInUse, now: datetime
    ) -> Iterator[IncidentSign]:
        """Yield those that controllers serve and that have no agent that could take a step."""
        before, self._since = self._since, {}
        for name, groups in waiting.items():
            seen = () if pools.unserved(name) is not None else pools.agents.get(name, ())
            lacks = [(one, lacking(name, seen, step.host_needs)) for one, step in groups]
            in_vain = [(one, lack[0]) for one, lack in lacks if lack is not None and not lack[1]]
            if not in_vain:
                continue
            # A leader that has just begun knows of no time before that; what people were told has lasted.
            key = key_of(IncidentKind.POOL_UNSERVED, name)
            is_known = name not in before and key in incident_rows.keys_standing(connection)
            at = now - self.patience if is_known else before.get(name, now)
            self._since = {**self._since, name: at}
            if now - (since := max(at, min(one.since for one, _ in in_vain))) >= self.patience:
                many = sum(one.many for one, _ in in_vain)
                yield incident_causes.unserved(name, in_vain[0][1], to_test(name), many, since)


def _waiting(
    connection: Connection, batches: Mapping[BatchId, BatchDefinition], pools: PoolsInUse, now: datetime
) -> _Waiting:
    """Return what waits in each open pool, by their names."""
    found: dict[str, list[tuple[WaitingBehind, Step]]] = {}
    for one in pool_rows.waiting(connection):
        batch = batches.get(one.batch_id)
        step = None if batch is None else batch.step_after(one.seq)
        if batch is not None and step is not None and is_open(batch, now):
            found.setdefault(batch.pool_of(step), []).append((one, step))
    return {name: groups for name, groups in sorted(found.items()) if pools.known.is_open(name)}
