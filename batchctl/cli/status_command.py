"""`batchctl status`."""

from __future__ import annotations

import click

from batchctl.cli import output
from batchctl.cli.alerting.incident_commands import show_incidents
from batchctl.cli.missing_controller import TO_RUN
from batchctl.cli.session import CliSession, WholeNumber, as_rows, pass_session
from batchctl.cli.unreadable_lists import unreadable_rows
from batchctl.domain.alerting.incident_causes import kept_from_work
from batchctl.domain.errors import next_step_in
from batchctl.domain.locked_rows import TO_END_IT
from batchctl.domain.operators import freezes
from batchctl.domain.rows import attempt_of
from batchctl.domain.status import InstanceStatus, IntakeStatus
from batchctl.domain.text import typed
from batchctl.operations import overview, shown_columns
from batchctl.operations.column_lists import UNREADABLE
from batchctl.operations.dependencies import dependents
from batchctl.operations.scheduling import timetable


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
        output.print_json(_as_json(seen))
    else:
        _show(seen)


def _show(seen: overview.Overview) -> None:
    output.properties(_summary(seen))
    for freeze in seen.frozen:
        output.line(f"FROZEN: {freezes.wording(freeze)}. To end it: {freezes.thawing(freeze)}", "bold")
    show_incidents(seen.incidents, seen.now)
    unreadable_rows(seen.unreadable)
    _running(seen)
    _failing(seen)
    _waiting(seen)
    _dead_end_starts(seen)
    _ending(seen)
    output.show_list(dependents.WAITS, seen.waits, if_any=True)
    _nothing_came_of(seen)
    _disabled(seen)
    _completed(seen)
    _coming(seen)
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


def _running(seen: overview.Overview) -> None:
    rows = [
        (
            one.instance.instance_id,
            one.batch,
            f"{one.entry.seq} {one.entry.step_name}",
            attempt_of(one.entry.attempt_no, one.attempts),
            one.elapsed,
            one.expected,
            _alarm(one),
        )
        for one in seen.running
    ]
    output.table_if_any("Running", ["id#", "batch", "step", "attempt#", "since#", "expected#", "alarm"], rows)


def _alarm(one: overview.Running) -> object:
    if one.locks.blocked is not None:
        return output.cell(f"{one.locks.blocked}; to end that: {one.locks.clear}", "bold red")
    return output.cell("longer than AlarmDuration", "bold red") if one.is_late else "no"


def _failing(seen: overview.Overview) -> None:
    rows = [
        (
            one.instance.instance_id,
            one.batch,
            output.word(one.instance.status),
            None if one.step is None else f"{one.step.seq} {one.step.name}",
            one.wording,
            one.clear,
        )
        for one in seen.failing
    ]
    output.table_if_any("Failed, held, to be tried again", ["id#", "batch", "status", "step", "message", "next"], rows)


def _dead_end_starts(seen: overview.Overview) -> None:
    rows = [(one.source, one.since, one.message, one.next_step) for one in seen.dead_end_starts]
    output.table_if_any(
        "Triggers, watches and schedules that start nothing", ["name", "since (UTC)", "message", "next"], rows
    )


def _ending(seen: overview.Overview) -> None:
    rows = [
        (one.calendar, one.valid_until, ", ".join(one.schedules), one.message, one.next_step) for one in seen.ending
    ]
    output.table_if_any("Calendars that run out", ["name", "valid until", "schedules", "message", "next"], rows)


def _coming(seen: overview.Overview) -> None:
    output.show_list(timetable.COMING, seen.coming, if_any=True)


def _waiting(seen: overview.Overview) -> None:
    idle = not seen.controllers
    rows = [
        (
            one.instance.instance_id,
            one.batch,
            output.word(one.instance.status),
            one.reason or ("no controller is running" if idle else "it starts next"),
            one.clear or ("batchctl process" if idle and not one.reason else None),
        )
        for one in seen.waiting
    ]
    output.table_if_any("Waiting", ["id#", "batch", "status", "because", "next"], rows)


def _nothing_came_of(seen: overview.Overview) -> None:
    rows = [
        (
            row.intake_id,
            row.entity,
            output.word(row.status),
            row.file_name,
            seen.because[row.intake_id],
            seen.to_take_in[row.intake_id],
        )
        for row in seen.not_taken_in
    ]
    rows += [
        (
            row.intake_id,
            row.entity,
            output.cell("not taken", "yellow"),
            row.file_name,
            seen.because[row.intake_id],
            f"batchctl why file:{row.intake_id}",
        )
        for row in seen.untaken
    ]
    rows += [
        (one.row.intake_id, one.row.entity, output.word(one.row.status), one.row.file_name, one.because, one.clear)
        for one in seen.stuck
    ]
    output.table_if_any(
        "Rows that nothing came of", ["FileProcess#", "entity", "status", "file", "reason", "next"], rows
    )


def _disabled(seen: overview.Overview) -> None:
    rows = [(name, count, f"batchctl enable {typed(name)} --reason ...") for name, count in seen.disabled.items()]
    output.table_if_any("Disabled batches with open instances", ["batch", "open#", "next"], rows)


def _completed(seen: overview.Overview) -> None:
    rows = [(one.instance.instance_id, one.batch, one.at) for one in seen.completed]
    output.table_if_any("Completed last", ["id#", "batch", "at (UTC)"], rows)


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


def _as_json(seen: overview.Overview) -> shown_columns.Columns:
    return {
        "Now": shown_columns.moment(seen.now),
        "Controller": seen.controllers[0] if seen.controllers else None,
        "Controllers": list(seen.controllers),
        "Copy": None if seen.copy is None else seen.copy.message,
        "FullDisks": [disk.message for disk in seen.full_disks],
        "LeftOut": list(seen.left_out),
        "Troubles": dict(seen.failures),
        "BatchControl": {status.value: count for status, count in seen.instances.items()},
        "FileProcess": {status.value: count for status, count in seen.intake.items()},
        "UntakenCount": seen.untaken_count,
        "Running": [
            {
                **shown_columns.of(one.entry),
                "ProcessBatchName": one.batch,
                "ElapsedSeconds": shown_columns.seconds(one.elapsed),
                "ExpectedDuration": shown_columns.seconds(one.expected),
                "AlarmDuration": shown_columns.seconds(one.alarm),
                "Locked": one.locks.blocked,
                "Alarm": one.is_late,
            }
            for one in seen.running
        ],
        "Troubled": [
            {
                **shown_columns.of(one.instance),
                "ProcessBatchName": one.batch,
                "ProcessControlSeq": None if one.step is None else one.step.seq,
                "ProcessName": None if one.step is None else one.step.name,
                "Message": one.message,
                "Next": one.clear,
            }
            for one in seen.failing
        ],
        "Waiting": [
            {**shown_columns.of(one.instance), "ProcessBatchName": one.batch, "Reason": one.reason, "Next": one.clear}
            for one in seen.waiting
        ],
        "Waits": dependents.WAITS.as_json(seen.waits),
        "Ailing": [shown_columns.of(one) for one in seen.dead_end_starts],
        "Unreadable": UNREADABLE.as_json(seen.unreadable),
        "IncidentCount": seen.incident_count,
        "AcknowledgedCount": seen.acknowledged_count,
        "Incidents": [shown_columns.of(one) for one in seen.incidents],
        "EndingCalendars": [one.columns for one in seen.ending],
        "DueNext": timetable.COMING.as_json(seen.coming),
        "NotTakenIn": [{**shown_columns.of(row), "Next": seen.to_take_in[row.intake_id]} for row in seen.not_taken_in],
        "Untaken": [shown_columns.of(row) for row in seen.untaken],
        "Stuck": [{**shown_columns.of(one.row), "Because": one.because, "Next": one.clear} for one in seen.stuck],
        "DisabledBatches": [
            {"ProcessBatchName": name, "OpenInstances": count} for name, count in seen.disabled.items()
        ],
        "Freezes": [shown_columns.of(freeze) for freeze in seen.frozen],
        "Completed": [
            {
                **shown_columns.of(one.instance),
                "ProcessBatchName": one.batch,
                "CompletedTime": shown_columns.moment(one.at),
            }
            for one in seen.completed
        ],
    }
