"""Who works on the database."""

from __future__ import annotations

from batchctl.app import App
from batchctl.operations import pool_standing, presence
from batchctl.web.page import Page, PageRequest


def controllers(app: App, asked: PageRequest) -> Page:
    """List who works on the database, and the pools."""
    del asked
    found = presence.everyone(app.transactions, app.clock, app.presence, app.leader())
    pools = pool_standing.everything(app.transactions, app.clock, app.presence)
    return Page(
        "Controllers and pools",
        lists=[(presence.CONTROLLERS, found), (pool_standing.POOLS, pools)],
        empty="No controller works: batchctl run",
        is_steady=True,
    )
