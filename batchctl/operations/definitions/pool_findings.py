"""What is wrong with the pools that batches and steps name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from batchctl.domain.operators.pools import MAKE, Pools, PoolsInUse, to_serve
from batchctl.domain.outcomes import RowFinding
from batchctl.domain.rows import DEFAULT_POOL, BatchDefinition
from batchctl.domain.text import did_you_mean, visible
from batchctl.domain.unreadable import correcting


def pool_findings(batches: Iterable[BatchDefinition], pools: Pools) -> Iterator[RowFinding]:
    """Yield the pools that are named and not there, and those that no step can name."""
    known = {DEFAULT_POOL, *pools.by_name}
    for name in pools.by_name:
        if name != name.strip():
            message = f"No step finds pool '{visible(name)}': its name begins or ends with blanks."
            mend = "delete that row, or: UPDATE Pool SET PoolName = TRIM(PoolName) WHERE PoolName <> TRIM(PoolName);"
            yield RowFinding("Pool", visible(name), "PoolName", message, mend)
    for batch in batches:
        if batch.pool is not None and batch.pool not in known:
            yield _unknown("ProcessBatch", visible(batch.name), batch.pool, known)
        for step in batch.steps:
            if step.pool is not None and step.pool not in known:
                row = f"{visible(batch.name)}, step {step.seq} '{visible(step.name)}'"
                yield _unknown("ProcessControl", row, step.pool, known)


def differing_kinds(pools: Pools, kinds: Mapping[str, str]) -> Iterator[RowFinding]:
    """Yield the pools whose steps are carried in another way by the settings of this host than their rows say."""
    for name in sorted(kinds.keys() & pools.by_name.keys()):
        pool, kind = pools.by_name[name], kinds[name]
        if pool.kind.value != kind:
            message = (
                f'It says {pool.kind.value}, and `pools` of this host\'s batchctl.toml "{kind}" for {visible(name)}.'
            )
            mend = correcting("Pool", "Kind", f"Pool_id = {pool.pool_id}", "correct batchctl.toml, or: ", f"'{kind}'")
            yield RowFinding("Pool", visible(name), "Kind", message, mend)


def never_served(batches: Iterable[BatchDefinition], pools: PoolsInUse) -> Iterator[RowFinding]:
    """Yield the pools that are there and needed, and that no controller has ever served."""
    needed = {batch.pool_of(step) for batch in batches if batch.enabled for step in batch.steps}
    for name in sorted(needed & set(pools.known.by_name) - {DEFAULT_POOL, *pools.last}):
        message = f"Steps are to run in pool '{visible(name)}', and no controller has ever served it."
        yield RowFinding("Pool", visible(name), "PoolName", message, to_serve(name, pools.known.by_name[name]))


def _unknown(table: str, row: str, name: str, known: Iterable[str]) -> RowFinding:
    near = visible(did_you_mean(name, known))
    return RowFinding(table, row, "Pool", f"There is no pool '{visible(name)}', so its steps do not run.{near}", MAKE)
