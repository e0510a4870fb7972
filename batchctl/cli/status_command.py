"""`batchctl status`."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.missing_controller import TO_RUN
from batchctl.cli.session import CliSession, WholeNumber, as_rows, pass_session
from batchctl.domain.alerting.incident_causes import kept_from_work
from batchctl.domain.errors import next_step_in
from batchctl.domain.locked_rows import TO_END_IT
from batchctl.domain.operators import freezes, pools
from batchctl.domain.status import InstanceStatus, IntakeStatus
from batchctl.operations import overview
from batchctl.operations.alerting import incident_desk, overview_lists
from batchctl.operations.column_lists import UNREADABLE
from batchctl.operations.dependencies import dependents
from batchctl.operations.operators import noting
from batchctl.operations.scheduling import almanac, timetable


@click.command()
@as_rows
@click.option("--limit", type=WholeNumber(1, 10_000), default=20, show_default=True, help="Rows per list.")
@pass_session
def status(session: CliSession, as_json: bool, limit: int) -> None:
    """Show what is running, what failed, what waits and why, and what to type."""
    app = session.app
    means = app.transactions, app.clock, app.presence
    seen = overview.overview(*means, most=limit, timetable=app.timetable(), full_disks=app.full_disks())
    if as_json:
        output.print_rows(overview.columns(seen), _header(seen))
    else:
        _show(seen)


def _header(seen: overview.Overview) -> list[str]:
    """Return the columns of all lists, each once."""
    lists = (
        *(
            overview_lists.RUNNING,
            overview_lists.FAILING,
            overview_lists.ASKED,
            dependents.WAITS,
            UNREADABLE,
            incident_desk.incidents_at(seen.now),
        ),
        *(
            overview_lists.DEAD_ENDS,
            almanac.RUNNING_OUT,
            timetable.COMING,
            overview_lists.INTAKE,
            overview_lists.DISABLED,
        ),
        *(overview_lists.FROZEN, overview_lists.DRAINS, noting.NOTES, overview_lists.COMPLETED),
    )
    return list(
        dict.fromkeys([output.LIST, "ProcessBatchName", *(name for columns in lists for name in columns.header)])
    )


def _show(seen: overview.Overview) -> None:
    output.properties(_summary(seen))
    for freeze in seen.frozen:
        output.line(f"FROZEN: {freezes.wording(freeze)}. To end it: {freezes.thawing(freeze)}", "bold")
    for drain in seen.drains:
        output.line(f"DRAINED: {pools.wording(drain)}. To end it: {pools.undraining(drain)}", "bold")
    for columns, rows in overview.lists_of(seen):
        output.show_list(columns, rows, if_any=True)
    output.hints(*_next(seen), *_incidents(seen), *_inbox(seen))


def _summary(seen: overview.Overview) -> list[tuple[str, object]]:
    controller = f"controller {', '.join(seen.controllers[:1])} is running"
    if len(seen.controllers) > 1:
        controller = f"{len(seen.controllers)} controllers are running"
    if not seen.controllers:
        controller = "no controller is running"
        if seen.running:
            controller += ": none follows what stands as running"
        # Who stopped all controllers on purpose need not read of it.
        if seen.last_sign is not None and (seen.running or TO_END_IT in seen.last_sign):
            controller += f"; {seen.last_sign}"
    counts = ", ".join(f"{count} {status}" for status, count in seen.instances.items())
    arrived = ", ".join(f"{count} {status}" for status, count in seen.intake.items())
    if seen.untaken_count:
        arrived += f"; {seen.untaken_count} of the ready ones of an entity that no batch takes"
    stand = f"{seen.incident_count} open"
    stand += f", {seen.acknowledged_count} of them acknowledged" if seen.acknowledged_count else ""
    stand += f"; {len(seen.incidents)} of them below" if _are_more(seen) else ""
    told: list[tuple[str, object]] = [] if seen.copy is None else [("Copy", seen.copy.message)]
    told += [("Disk", output.cell(disk.message, "bold red")) for disk in seen.full_disks]
    told += [("Incidents", stand)] if seen.incident_count else []
    told += [("Plugins", said) for said in seen.left_out]
    for name, said in seen.failures.items():
        told.append(("Controller", output.cell(kept_from_work(name, said), "bold red")))
    return [
        ("Now", f"{seen.now:%Y-%m-%d %H:%M:%S} UTC, {controller}"),
        ("Instances", counts or "none"),
        ("FileProcess", arrived or "none"),
        *told,
    ]


def _are_more(seen: overview.Overview) -> bool:
    return seen.incident_count > len(seen.incidents)


def _next(seen: overview.Overview) -> list[str]:
    if seen.copy is not None and seen.copy.next_step is not None:
        return [seen.copy.next_step]
    for disk in seen.full_disks:
        return [disk.next_step or "batchctl doctor"]
    if seen.unreadable:
        return [seen.unreadable[0].mend, "batchctl check   (everything that is wrong, at once)"]
    if seen.running and not seen.controllers:
        return ["batchctl run --once   (takes over what a dead controller left, and goes on)"]
    for said in seen.failures.values():
        return [next_step_in(said) or "batchctl doctor"]
    if seen.left_out:
        return ["batchctl check   (correct the plugin module, then start the controller again)"]
    if seen.dead_end_starts and not seen.failing:
        return [seen.dead_end_starts[0].next_step]
    if seen.failing:
        return [f"batchctl show {seen.failing[0].instance.instance_id}   (what failed, and how)"]
    if seen.asked:
        return [f"batchctl show {seen.asked[0].question.instance_id}   (what it asks, and what is to be seen)"]
    if seen.waiting:
        return [f"batchctl why {seen.waiting[0].instance.instance_id}   (every gate, passed or blocking)"]
    if seen.coming and not seen.is_fired:
        return [TO_RUN]
    if not seen.instances and not seen.intake:
        return ["batchctl batches   (what is registered)", "batchctl submit ENTITY --file FILE"]
    if seen.stuck:
        return [seen.stuck[0].clear]
    if not seen.controllers and _is_ready(seen):
        return ["batchctl run   (takes in and works off what is ready)"]
    return ["batchctl history   (the newest attempts)"]


def _incidents(seen: overview.Overview) -> list[str]:
    return [f"batchctl incidents   (all {seen.incident_count} that are open)"] if _are_more(seen) else []


def _inbox(seen: overview.Overview) -> list[str]:
    return (
        []
        if not (seen.not_taken_in or seen.untaken or seen.stuck)
        else ["batchctl inbox   (every row that is not work, why, and what to do)"]
    )


def _is_ready(seen: overview.Overview) -> bool:
    """Say whether a controller would find anything to do at once."""
    return (
        seen.instances.get(InstanceStatus.READY, 0) > 0 or seen.intake.get(IntakeStatus.READY, 0) > seen.untaken_count
    )
