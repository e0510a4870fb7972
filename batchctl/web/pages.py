"""What stands on each page: read models of `operations`, as templates take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from batchctl.app import App
from batchctl.domain.errors import InvalidInput
from batchctl.domain.operators import freezes
from batchctl.domain.operators import pools as drained
from batchctl.domain.rows import AuditFilter, InstanceId, InstancesWanted
from batchctl.domain.status import InstanceStatus
from batchctl.operations import (
    decisions,
    explain,
    inspection,
    instance_list,
    output_reading,
    overview,
    pool_standing,
    presence,
)
from batchctl.operations.alerting import incident_desk
from batchctl.operations.column_lists import ColumnList
from batchctl.operations.intake import inbox as inbox_rows
from batchctl.operations.maintenance import audit_trail
from batchctl.operations.operators import noting

Query = Mapping[str, str]
Listed = tuple[ColumnList[Any], Sequence[Any]]
ON_A_PAGE = 50
_MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its template, what stands there, and its lists in order."""

    title: str
    template: str = "lists.html"
    lists: Sequence[Listed] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    older: str | None = None
    """The query of the next page."""
    empty: str = ""
    """What to do where there is nothing to show."""


def now(app: App, query: Query) -> Page:
    """Show what is happening and what needs a person."""
    del query
    means = app.transactions, app.clock, app.presence
    seen = overview.overview(*means, timetable=app.timetable(), full_disks=app.full_disks())
    warnings = [
        *([] if seen.copy is None else [seen.copy.message]),
        *(disk.message for disk in seen.full_disks),
        *seen.left_out,
        *(f"{name}: {said}" for name, said in seen.failures.items()),
        *(f"FROZEN: {freezes.wording(one)}. To end it: {freezes.thawing(one)}" for one in seen.frozen),
        *(f"DRAINED: {drained.wording(one)}. To end it: {drained.undraining(one)}" for one in seen.drains),
    ]
    return Page(
        "Now",
        "now.html",
        [(columns, rows) for columns, rows in overview.lists_of(seen) if rows],
        {"seen": seen, "warnings": warnings},
        empty="Nothing runs, nothing waits, nothing has failed.",
    )


def instances(app: App, query: Query) -> Page:
    """List the instances page by page."""
    status, batch = query.get("status") or None, query.get("batch") or None
    if status is not None and status not in [*InstanceStatus]:
        raise InvalidInput(f"'{status}' is no status.", next_step=f"one of {', '.join(InstanceStatus)}")
    wanted = InstancesWanted(
        batch=batch,
        status=None if status is None else InstanceStatus(status),
        before=None if (before := _before(query)) is None else InstanceId(before),
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


def instance(app: App, instance_id: InstanceId) -> Page:
    """Show one instance in full."""
    shown = inspection.show(app.transactions, instance_id)
    benches = explain.Benches(app.schedule_bench, app.trigger_bench)
    means = app.transactions, app.clock, app.presence
    explained = explain.why(*means, str(instance_id), app.timetable(), benches)
    running = output_reading.of_instance(app.transactions, instance_id) if shown.history else None
    return Page(
        f"Instance {instance_id}",
        "instance.html",
        [(noting.NOTES, shown.notes), (audit_trail.ACTS, shown.audit)],
        {
            "shown": shown,
            "explained": explained,
            "acts": decisions.possible(shown.instance, is_asked=shown.asks is not None),
            "written": running if running is not None and running.is_running else None,
            "attempts": [*reversed(shown.history)],
        },
    )


def batches(app: App, query: Query) -> Page:
    """List the batches."""
    del query
    found, _, _ = inspection.batches(app.transactions, app.clock)
    return Page(
        "Batches",
        lists=[(inspection.batches_at(app.clock.now()), found)],
        empty="No batch is registered: see examples/register_a_batch.sql",
    )


def inbox(app: App, query: Query) -> Page:
    """List the rows that did not become work."""
    found = app.inbox().newest(before=_before(query), most=ON_A_PAGE)
    older = None if found.before is None else str(found.before)
    return Page("Inbox", lists=[(inbox_rows.ITEMS, found.items)], older=older, empty="Every row has become work.")


def incidents(app: App, query: Query) -> Page:
    """List the problems that people have to know of."""
    everything = query.get("all") == "1"
    found = incident_desk.listed(app.transactions, everything=everything)
    return Page(
        "Incidents",
        "incidents.html",
        [(incident_desk.incidents_at(app.clock.now()), found)],
        {"everything": everything, "open": [one for one in found if one.is_standing and one.acknowledged_by is None]},
        empty="No incident stands.",
    )


def audit(app: App, query: Query) -> Page:
    """List who did what and why."""
    wanted = AuditFilter(ref=query.get("of") or None, actor=query.get("actor") or None, before=_before(query))
    found = audit_trail.page(app.transactions, wanted, ON_A_PAGE + 1)
    older = str(found[ON_A_PAGE - 1].audit_id) if len(found) > ON_A_PAGE else None
    return Page("Audit", "audit.html", [(audit_trail.ACTS, found[:ON_A_PAGE])], {"query": query}, older, "No act fits.")


def controllers(app: App, query: Query) -> Page:
    """List who works on the database, and the pools."""
    del query
    found = presence.everyone(app.transactions, app.clock, app.presence, app.leader())
    pools = pool_standing.everything(app.transactions, app.clock, app.presence)
    return Page(
        "Controllers and pools",
        lists=[(presence.CONTROLLERS, found), (pool_standing.POOLS, pools)],
        empty="No controller works: batchctl run",
    )


LISTS: Mapping[str, tuple[str, Callable[[App, Query], Page]]] = {
    "/": ("Now", now),
    "/instances": ("Instances", instances),
    "/batches": ("Batches", batches),
    "/inbox": ("Inbox", inbox),
    "/incidents": ("Incidents", incidents),
    "/audit": ("Audit", audit),
    "/controllers": ("Controllers", controllers),
}
"""The pages in the order of the menu, by their paths."""


def _before(query: Query) -> int | None:
    text = query.get("before")
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise InvalidInput("'before' is the number of a row.", next_step="open the first page again")
    return int(text)
