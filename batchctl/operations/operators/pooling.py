"""Pools: which there are, who serves them, and draining a host or a pool before work is done there."""

from __future__ import annotations

from collections.abc import Iterable

from batchctl.domain import pools
from batchctl.domain.errors import NotFound
from batchctl.domain.text import did_you_mean, visible
from batchctl.store import Connection, pool_rows

_OTHERWISE = "batchctl pools   (which there are; to make it: INSERT INTO Pool (PoolName) VALUES (...))"


def check_pools(connection: Connection, names: Iterable[str]) -> None:
    """Refuse to serve a pool that is not there: its name is probably mistyped, and its steps would wait."""
    known = pool_rows.known(connection)
    for name in pools.unknown(names, known):
        near = visible(did_you_mean(name, known.by_name))
        message = f"There is no pool '{visible(name)}'.{near}"
        raise NotFound(message, next_step=_OTHERWISE)
