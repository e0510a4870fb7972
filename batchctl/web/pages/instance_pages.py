"""The instances, and one of them in full."""

from __future__ import annotations

from dataclasses import replace

from batchctl.app import App
from batchctl.domain.errors import InvalidInput
from batchctl.domain.operators.news import EVERYTHING, Followed
from batchctl.domain.rows import InstanceId, InstancesWanted
from batchctl.domain.status import STANDING_FAILURE, HistoryStatus, InstanceStatus
from batchctl.operations import decisions, explain, inspection, instance_list, output_reading
from batchctl.operations.maintenance import audit_trail
from batchctl.operations.operators import noting
from batchctl.operations.reports import reporting
from batchctl.web.page import ON_A_PAGE, Page, PageRequest, row_number
from batchctl.web.pages import timelines
from batchctl.web.pages.act_links import acts_about
from batchctl.web.wishes import Subject

WAITING = {InstanceStatus.READY, InstanceStatus.RETRY, InstanceStatus.HELD, InstanceStatus.PAUSED}
"""What others may keep from going on."""
NEAR = 100
"""Of how many of the batch's newest instances it is looked at how long their steps took."""


def instances(app: App, asked: PageRequest) -> Page:
    """List the instances page by page."""
    status, batch = asked.get("status"), asked.get("batch")
    if status is not None and status not in [*InstanceStatus]:
        raise InvalidInput(f"'{status}' is no status.", next_step=f"one of {', '.join(InstanceStatus)}")
    wanted = InstancesWanted(
        batch=batch,
        status=None if status is None else InstanceStatus(status),
        before=None if (before := asked.before()) is None else InstanceId(before),
    )
    found = instance_list.page(app.transactions, wanted, ON_A_PAGE + 1)
    last = found[ON_A_PAGE - 1].instance.instance_id if len(found) > ON_A_PAGE else None
    names = inspection.batch_names(app.transactions)
    return Page(
        "Instances",
        "instances.html",
        [(instance_list.INSTANCES, found[:ON_A_PAGE])],
        {"statuses": [*InstanceStatus], "batches": names, "status": status or "", "batch": batch or ""},
        older=None if last is None else str(last),
        empty="No instance fits. Instances are made of FileProcess rows: batchctl submit ENTITY --file FILE",
    )


def instance(app: App, asked: PageRequest) -> Page:
    """Show one instance in full."""
    instance_id = InstanceId(row_number(asked.path, "instance"))
    shown = inspection.show(app.transactions, instance_id)
    benches = explain.Benches(app.schedule_bench, app.trigger_bench)
    means = app.transactions, app.clock, app.presence
    explained = explain.why(*means, str(instance_id), app.timetable(), benches)
    is_running = bool(shown.history) and shown.history[-1].status is HistoryStatus.RUNNING
    running = output_reading.of_instance(app.transactions, instance_id) if is_running else None
    possible = decisions.possible(shown.instance, is_asked=shown.asks is not None)
    tags = () if shown.batch is None else shown.batch.tags
    acts = acts_about(Subject.INSTANCES, instance_id, (*map(str, possible), "note"), tags)
    names = [] if shown.batch is None else [shown.batch.name]
    lengths = (
        reporting.Reporter(
            app.transactions, app.timetable(), app.alert_rules(), app.presence, names, instances=NEAR
        ).durations()
        if names
        else ()
    )
    return Page(
        f"Instance {instance_id}",
        "instance.html",
        [(noting.NOTES, shown.notes), (audit_trail.ACTS, shown.audit)],
        {
            "shown": shown,
            "explained": explained,
            "rerun": next((one for one in acts if one.text == "Rerun"), None),
            "written": running if running is not None and running.is_running else None,
            "failed": shown.history[-1] if shown.history and shown.instance.status in STANDING_FAILURE else None,
            "attempts": [*reversed(shown.history)],
            "timeline": timelines.timeline(shown, lengths, app.clock.now()),
            "headings": timelines.HEADINGS,
        },
        acts,
        narrowed={"instance": str(instance_id), "of": str(instance_id)},
        # What waits may wait for anything.
        follows=EVERYTHING if shown.instance.status in WAITING else Followed(instance_id=instance_id),
        is_steady=running is not None and running.is_running,
        also=[
            (explain.GATES, explained.gates),
            (inspection.STEPS_OF, shown.steps),
            (replace(inspection.ATTEMPTS, title="Attempts"), shown.history),
        ],
    )
