"""The batches."""

from __future__ import annotations

from batchctl.app import App
from batchctl.operations import inspection
from batchctl.web.page import Page, PageRequest


def batches(app: App, asked: PageRequest) -> Page:
    """List the batches."""
    del asked
    found, _, _ = inspection.batches(app.transactions, app.clock)
    return Page(
        "Batches",
        lists=[(inspection.batches_at(app.clock.now()), found)],
        empty="No batch is registered: see examples/register_a_batch.sql",
    )
