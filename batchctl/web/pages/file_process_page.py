"""One FileProcess row: what becomes of it."""

from __future__ import annotations

from batchctl.app import App
from batchctl.domain.rows import IntakeId
from batchctl.operations import clerk, explain
from batchctl.web.page import Page, PageRequest, row_number
from batchctl.web.pages.act_links import acts_about
from batchctl.web.wishes import Subject


def file_process(app: App, asked: PageRequest) -> Page:
    """Show why a row is no work yet, or what came of it."""
    number = row_number(asked.path, "FileProcess row")
    benches = explain.Benches(app.schedule_bench, app.trigger_bench)
    explained = explain.why(app.transactions, app.clock, app.presence, f"file:{number}", app.timetable(), benches)
    possible = clerk.possible(app.transactions, IntakeId(number))
    acts = acts_about(Subject.FILE_PROCESSES, number, possible)
    return Page(
        f"FileProcess {number}",
        "file_process.html",
        values={"explained": explained},
        acts=acts,
        narrowed={"file": str(number)},
        also=[(explain.GATES, explained.gates)],
    )
