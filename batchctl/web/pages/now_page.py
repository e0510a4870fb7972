"""What is happening, and what needs a person."""

from __future__ import annotations

from batchctl.app import App
from batchctl.domain.operators import freezes
from batchctl.domain.operators import pools as drained
from batchctl.operations import overview
from batchctl.operations.alerting import lateness
from batchctl.operations.dependencies import ready_times
from batchctl.web.page import Page, PageRequest
from batchctl.web.pages.act_links import FREEZE, thaw, undrain

MOST_LATE = 20


def now(app: App, asked: PageRequest) -> Page:
    """Show what is happening and what needs a person."""
    del asked
    means = app.transactions, app.clock, app.presence
    lateness.ask_late(app.transactions, MOST_LATE)
    ready_times.ask_ready_times(app.transactions)
    seen = overview.overview(*means, timetable=app.timetable(), full_disks=app.full_disks(), with_over=False)
    late = lateness.late(app.transactions, MOST_LATE)
    ready = ready_times.ready_times(app.transactions, seen.now)
    warnings = [
        *([] if seen.copy is None else [seen.copy.message]),
        *(disk.message for disk in seen.full_disks),
        *seen.left_out,
        *(f"{name}: {said}" for name, said in seen.failures.items()),
    ]
    held = [
        *((f"FROZEN: {freezes.wording(one)}.", freezes.thawing(one), thaw(one.freeze_id)) for one in seen.frozen),
        *((f"DRAINED: {drained.wording(one)}.", drained.undraining(one), undrain(one)) for one in seen.drains),
    ]
    return Page(
        "Now",
        "now.html",
        [
            *([(lateness.LATE, late)] if late else []),
            *([(ready_times.READY_TIMES, ready)] if ready else []),
            *((columns, rows) for columns, rows in overview.lists_of(seen) if rows),
        ],
        {"seen": seen, "warnings": warnings, "held": held},
        [FREEZE],
        empty="Nothing runs, nothing waits, nothing has failed.",
    )
