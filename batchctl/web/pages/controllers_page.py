"""Who works on the database, where steps run, and where nothing new is to begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from batchctl.app import App
from batchctl.operations import pool_standing, presence
from batchctl.operations.pool_standing import PoolStanding
from batchctl.operations.presence import Present
from batchctl.web.page import Page, PageRequest
from batchctl.web.wishes import Subject


class DrainPlace(NamedTuple):
    """A host or a pool, and what can be done about it: `drain`, or `undrain` where it is drained."""

    subject: Subject
    name: str
    act: str


def controllers(app: App, asked: PageRequest) -> Page:
    """List who works on the database, and the pools."""
    del asked
    found = presence.everyone(app.transactions, app.clock, app.presence, app.leader())
    pools = pool_standing.everything(app.transactions, app.clock, app.presence)
    return Page(
        "Controllers and pools",
        "controllers.html",
        [(presence.CONTROLLERS, found), (pool_standing.POOLS, pools)],
        {"places": [*_places(found, pools)]},
        empty="No controller works: batchctl run",
        is_steady=True,
    )


def _places(found: Sequence[Present], pools: Sequence[PoolStanding]) -> Iterator[DrainPlace]:
    for host, drained in {one.row.host: one.drained for one in found}.items():
        yield DrainPlace(Subject.HOSTS, host, _act(is_drained=drained is not None))
    for pool in pools:
        yield DrainPlace(Subject.POOLS, pool.name, _act(is_drained=pool.drain is not None))


def _act(*, is_drained: bool) -> str:
    return "undrain" if is_drained else "drain"
