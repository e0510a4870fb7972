"""What keeps agents from carrying steps of their pools, and what steps need where no agent looks at it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

from batchctl.domain.operators.pools import Pools
from batchctl.domain.outcomes import Connection, Finding, StepContext
from batchctl.domain.rows import DEFAULT_POOL, BatchDefinition, Step
from batchctl.domain.status import PoolKind
from batchctl.domain.text import visible

_ELSEWHERE = "name a pool that controllers serve: UPDATE ProcessControl SET Pool = 'default' WHERE ..."
_NAMED_IN = {"sql": 1, "stored_procedure": 1, "task": 1, "ssis": 4}
"""In which Data column the step types that work on a connection name it."""
_USUAL_PORTS = {"postgresql": ":5432", "mssql": ":1433"}


def agent_findings(batch: BatchDefinition, step: Step, pools: Pools, context: StepContext) -> Iterator[Finding]:
    """Yield what does not fit the kind of the pool in which a step runs."""
    name = batch.pool_of(step)
    pool = pools.by_name.get(name)
    if pool is None and name != DEFAULT_POOL:
        return  # It is found that there is no such pool.
    if pool is None or pool.kind is PoolKind.CONTROLLERS:
        if step.host_needs is not None:
            said = (
                f"Nothing goes by it, because controllers carry the steps of pool '{visible(name)}', and agents none."
            )
            yield Finding("Needs", said)
        return
    if step.asks_people:
        said = f"A person answers this step, and agents carry the steps of pool '{visible(name)}'."
        yield Finding("Pool", said, _ELSEWHERE)
    at = _NAMED_IN.get(step.process_type)
    target = None if at is None else context.connections.get((step.data[at - 1] or "").strip())
    if target is not None and _is_control(target, context):
        said = (
            f"Connection '{visible(target.name)}' is the control database, with the login of controllers,"
            f" which the agents of pool '{visible(name)}' have not."
        )
        yield Finding(f"Data{at}", said, _ELSEWHERE)


def _is_control(target: Connection, context: StepContext) -> bool:
    """Say whether a connection is the control database by the same login; others may lie in the same database."""
    return context.control is not None and _login(target) == _login(context.control)


def _login(target: Connection) -> tuple[str, ...]:
    """Return who a URL lets in where; the rest of it says how."""
    parts = urlsplit(target.url)
    whose, _, host = parts.netloc.rpartition("@")
    asked = {key: value for key, value in parse_qsl(parts.query) if key in {"host", "port", "odbc_connect"}}
    at = host.lower().removesuffix(_USUAL_PORTS.get(target.dialect, "")) or str(sorted(asked.items()))
    return target.dialect, whose.partition(":")[0], at, parts.path
