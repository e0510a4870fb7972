"""What waits for what, drawn."""

from __future__ import annotations

from batchctl.app import App
from batchctl.operations import inspection
from batchctl.operations.dependencies import graph_words, picture
from batchctl.operations.dependencies.graph_drawing import GraphDrawing
from batchctl.web.page import Page, PageRequest


def dependencies(app: App, asked: PageRequest) -> Page:
    """Draw the batches, what they wait for, and how each stands."""
    batch, cycle_key = asked.get("batch"), asked.get("cycle_key")
    seen = picture.picture(app.transactions, app.clock, batch, cycle_key)
    return Page(
        "Dependencies",
        "dependencies.html",
        [(graph_words.NODES, seen.nodes)],
        {
            "drawing": GraphDrawing(seen),
            "summary": graph_words.summary(seen),
            "heading": graph_words.heading(seen),
            "unreadable": seen.unreadable,
            "batches": inspection.batch_names(app.transactions),
            "batch": batch or "",
            "cycle_key": cycle_key or "",
        },
        narrowed={} if batch is None else {"batches": ", ".join(str(one.batch.batch_id) for one in seen.nodes)},
        empty="No batch is registered: see examples/register_a_batch.sql",
    )
