"""The batches, and one of them: its steps, how long they take, its versions, what holds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batchctl.app import App
from batchctl.domain.operators import freezes
from batchctl.domain.operators.news import Followed
from batchctl.domain.rows import BatchDefinition, BatchId, InstancesWanted
from batchctl.domain.text import visible
from batchctl.operations import explain, inspection, instance_list
from batchctl.operations.definitions import batch_history
from batchctl.operations.dependencies import ready_times
from batchctl.operations.operators import noting
from batchctl.operations.reports import reporting
from batchctl.operations.reports.reporting import StepLengths
from batchctl.web.page import Page, PageRequest
from batchctl.web.pages.act_links import FREEZE, acts_about, thaw
from batchctl.web.strips import Strip, columns_of
from batchctl.web.wishes import Subject

NEAR = 200
"""Of how many of its newest instances it is looked at how long their steps took."""
NEWEST = 10
"""How many instances the page of a batch shows."""


def batches(app: App, asked: PageRequest) -> Page:
    """List the batches."""
    del asked
    found, _, _ = inspection.batches(app.transactions, app.clock, with_over=False)
    return Page(
        "Batches",
        lists=[(inspection.batches_at(app.clock.now()), found)],
        acts=[FREEZE],
        empty="No batch is registered: see examples/register_a_batch.sql",
    )


def batch(app: App, asked: PageRequest) -> Page:
    """Show one batch in full."""
    name = asked.needed("name", "batch")
    timetable, now = app.timetable(), app.clock.now()
    ready_times.ask_ready_times(app.transactions, name)
    explained = explain.why(app.transactions, app.clock, app.presence, f"batch:{name}", timetable)
    every, notes = inspection.with_notes(app.transactions, name)
    shown = next(one for one in every if one.name == name)
    reporter = reporting.Reporter(app.transactions, timetable, app.alert_rules(), app.presence, [name], instances=NEAR)
    lengths = reporter.durations()
    versions = [*batch_history.changes(batch_history.versions(app.transactions, name))]
    ready = ready_times.ready_time(app.transactions, name)
    newest = instance_list.page(app.transactions, InstancesWanted(batch=name), NEWEST)
    return Page(
        f"Batch {visible(name)}",
        "batch.html",
        [
            *([(ready_times.READY_TIMES, ready)] if ready else []),
            (instance_list.INSTANCES, newest),
            (batch_history.CHANGES, versions),
            (noting.NOTES, notes),
        ],
        {
            "batch": shown,
            "explained": explained,
            "frozen": [(freezes.wording(one), thaw(one.freeze_id)) for one in shown.freezes if one.holds(now)],
            "upstream": [*_names(every, (one.depends_on for one in shown.dependencies))],
            "dependents": [*_names(every, shown.dependents)],
            "durations": [_lengths(one) for one in lengths],
        },
        # What freezes it, if anything does, is thawed where it is named.
        acts_about(Subject.BATCHES, name, ("disable" if shown.enabled else "enable", "freeze", "note"), shown.tags),
        narrowed={"batch": name},
        follows=Followed(batch_id=shown.batch_id),
        also=[(explain.GATES, explained.gates), (inspection.STEPS, shown.steps), (reporting.STEPS, lengths)],
    )


def _names(every: Sequence[BatchDefinition], wanted: Iterator[BatchId] | Sequence[BatchId]) -> Iterator[str]:
    known = {one.batch_id: one.name for one in every}
    return (known.get(one, f"(ProcessBatch {one}, which does not exist)") for one in wanted)


def _lengths(one: StepLengths) -> Strip:
    took = one.took
    cells = (took.median, took.p95, took.longest, took.many, one.step.expected_duration)
    return Strip(f"{one.step.seq} {visible(one.step.name)}", columns_of(took.days), cells)
