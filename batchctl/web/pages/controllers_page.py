"""Who works on the database, where steps run, and where nothing new is to begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from batchctl.app import App
from batchctl.domain.operators.pools import Drain, wording
from batchctl.operations import pool_standing, presence
from batchctl.operations.operators import pooling
from batchctl.operations.pool_standing import PoolStanding
from batchctl.operations.presence import Present
from batchctl.web.page import Page, PageRequest
from batchctl.web.wishes import Subject


class DrainPlace(NamedTuple):
    """A host or a pool, and what drains it, if anything does."""

    subject: Subject
    name: str
    drain: Drain | None

    @property
    def act(self) -> str:
        """Return what can be done about it."""
        return "drain" if self.drain is None else "undrain"

    @property
    def wording(self) -> str:
        """Say that it is drained, or nothing."""
        return "" if self.drain is None else f"{wording(self.drain)}."


def controllers(app: App, asked: PageRequest) -> Page:
    """List who works on the database, and the pools."""
    del asked
    found = presence.everyone(app.transactions, app.clock, app.presence, app.leader())
    pools = pool_standing.everything(app.transactions, app.clock, app.presence)
    return Page(
        "Controllers and pools",
        "controllers.html",
        [(presence.CONTROLLERS, found), (pool_standing.for_people(pools), pools)],
        {"places": [*_places(found, pools, pooling.drained(app.transactions))]},
        empty="No controller works: batchctl run",
        is_steady=True,
    )


def _places(found: Sequence[Present], pools: Sequence[PoolStanding], drains: Sequence[Drain]) -> Iterator[DrainPlace]:
    """Yield each host of a controller, and each that is drained without one: its name may be misspelt; then the pools."""
    hosts = {one.host.lower(): one.host for one in drains if one.host is not None}
    hosts |= {one.row.host.lower(): one.row.host for one in found}
    for host in hosts.values():
        drain = next((one for one in drains if one.covers_host(host)), None)
        yield DrainPlace(Subject.HOSTS, host, drain)
    for pool in pools:
        yield DrainPlace(Subject.POOLS, pool.name, pool.drain)
