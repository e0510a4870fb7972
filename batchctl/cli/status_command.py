"""`batchctl status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from batchctl.cli.missing_controller import TO_RUN
from batchctl.cli.session import CliSession, WholeNumber, as_rows, pass_session
from batchctl.domain.errors import next_step_in
from batchctl.domain.status import InstanceStatus, IntakeStatus

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from batchctl.cli.listing import Listing
    from batchctl.operations.overview import Overview, Running
    from batchctl.operations.shown_columns import Columns


@click.command()
@as_rows
@click.option("--limit", type=WholeNumber(1, 10_000), default=20, show_default=True, help="Rows per list.")
@pass_session
def status(session: CliSession, as_json: bool, limit: int) -> None:
    """Show what is running, what failed, what waits and why, and what to type."""
    from batchctl.cli import output
    from batchctl.operations.overview import overview

    with session.app() as app:
        means = app.transactions, app.clock, app.presence
        seen = overview(*means, most=limit, timetable=app.timetable(), full_disks=app.full_disks())
    if as_json:
        output.print_json(_as_json(seen))
    else:
        _show(output.console(), seen)


def _show(out: Console, seen: Overview) -> None:
    from batchctl.cli import output
    from batchctl.cli.output import cell
    from batchctl.domain.operators import freezes

    output.section(out, output.properties(_summary(seen)))
    for freeze in seen.frozen:
        out.print(
            cell(f"FROZEN: {freezes.wording(freeze)}. To end it: {freezes.thawing(freeze)}", "bold"), soft_wrap=True
        )
    if seen.incidents:
        from batchctl.cli.alerting.incident_commands import listing as incident_listing

        output.section(out, incident_listing(seen.incidents, seen.now))
    if seen.unreadable:
        from batchctl.cli.unreadable_lists import unreadable_rows

        output.section(out, unreadable_rows(seen.unreadable))
    if seen.running:
        output.section(out, _running(seen))
    if seen.failing:
        output.section(out, _failing(seen))
    if seen.waiting:
        output.section(out, _waiting(seen))
    if seen.dead_end_starts:
        output.section(out, _dead_end_starts(seen))
    if seen.ending:
        output.section(out, _ending(seen))
    if seen.waits:
        from batchctl.cli.dependencies.waits_commands import listing

        output.section(out, listing(seen.waits))
    if seen.not_taken_in or seen.untaken or seen.stuck:
        output.section(out, _nothing_came_of(seen))
    if seen.disabled:
        output.section(out, _disabled(seen))
    if seen.completed:
        output.section(out, _completed(seen))
    if seen.coming:
        output.section(out, _coming(seen))
    output.hints(out, *_next(seen), *_incidents(seen), *_inbox(seen))


def _summary(seen: Overview) -> list[tuple[str, Text]]:
    from batchctl.cli.output import cell
    from batchctl.domain.alerting.incident_causes import kept_from_work
    from batchctl.domain.locked_rows import TO_END_IT

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
    told = [] if seen.copy is None else [("Copy", cell(seen.copy.message))]
    told += [("Disk", cell(disk.message, "bold red")) for disk in seen.full_disks]
    told += [("Incidents", cell(stand))] if seen.incident_count else []
    told += [("Plugins", cell(said)) for said in seen.left_out]
    for name, said in seen.failures.items():
        told.append(("Controller", cell(kept_from_work(name, said), "bold red")))
    return [
        ("Now", cell(f"{seen.now:%Y-%m-%d %H:%M:%S} UTC, {controller}")),
        ("Instances", cell(counts or "none")),
        ("FileProcess", cell(arrived or "none")),
        *told,
    ]


def _are_more(seen: Overview) -> bool:
    return seen.incident_count > len(seen.incidents)


def _running(seen: Overview) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, duration
    from batchctl.domain.rows import attempt_of

    rows = [
        (
            cell(one.instance.instance_id),
            cell(one.batch),
            cell(f"{one.entry.seq} {one.entry.step_name}"),
            cell(attempt_of(one.entry.attempt_no, one.attempts)),
            duration(one.elapsed),
            duration(one.expected),
            _alarm(one),
        )
        for one in seen.running
    ]
    return Listing("Running", ["id#", "batch", "step", "attempt#", "since#", "expected#", "alarm"], rows)


def _alarm(one: Running) -> Text:
    from batchctl.cli.output import cell

    if one.locks.blocked is not None:
        return cell(f"{one.locks.blocked}; to end that: {one.locks.clear}", "bold red")
    return cell("longer than AlarmDuration", "bold red") if one.is_late else cell("no")


def _failing(seen: Overview) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, word

    rows = [
        (
            cell(one.instance.instance_id),
            cell(one.batch),
            word(one.instance.status),
            cell(None if one.step is None else f"{one.step.seq} {one.step.name}"),
            cell(one.wording),
            cell(one.clear),
        )
        for one in seen.failing
    ]
    return Listing("Failed, held, to be tried again", ["id#", "batch", "status", "step", "message", "next"], rows)


def _dead_end_starts(seen: Overview) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time

    rows = [(cell(one.source), time(one.since), cell(one.message), cell(one.next_step)) for one in seen.dead_end_starts]
    return Listing(
        "Triggers, watches and schedules that start nothing", ["name", "since (UTC)", "message", "next"], rows
    )


def _ending(seen: Overview) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell

    rows = [
        (
            cell(one.calendar),
            cell(one.valid_until),
            cell(", ".join(one.schedules)),
            cell(one.message),
            cell(one.next_step),
        )
        for one in seen.ending
    ]
    return Listing("Calendars that run out", ["name", "valid until", "schedules", "message", "next"], rows)


def _coming(seen: Overview) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time

    rows = [
        (cell(one.schedule.name), cell(one.schedule.entity), cell(one.next.words), time(one.next.at))
        for one in seen.coming
    ]
    return Listing("Due next", ["name", "entity", "local", "at (UTC)"], rows)


def _waiting(seen: Overview) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, word

    idle = not seen.controllers
    rows = [
        (
            cell(one.instance.instance_id),
            cell(one.batch),
            word(one.instance.status),
            cell(one.reason or ("no controller is running" if idle else "it starts next")),
            cell(one.clear or ("batchctl process" if idle and not one.reason else None)),
        )
        for one in seen.waiting
    ]
    return Listing("Waiting", ["id#", "batch", "status", "because", "next"], rows)


def _nothing_came_of(seen: Overview) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, word

    rows = [
        (
            cell(row.intake_id),
            cell(row.entity),
            word(row.status),
            cell(row.file_name),
            cell(seen.because[row.intake_id]),
            cell(seen.to_take_in[row.intake_id]),
        )
        for row in seen.not_taken_in
    ]
    rows += [
        (
            cell(row.intake_id),
            cell(row.entity),
            cell("not taken", "yellow"),
            cell(row.file_name),
            cell(seen.because[row.intake_id]),
            cell(f"batchctl why file:{row.intake_id}"),
        )
        for row in seen.untaken
    ]
    rows += [
        (
            cell(one.row.intake_id),
            cell(one.row.entity),
            word(one.row.status),
            cell(one.row.file_name),
            cell(one.because),
            cell(one.clear),
        )
        for one in seen.stuck
    ]
    return Listing("Rows that nothing came of", ["FileProcess#", "entity", "status", "file", "reason", "next"], rows)


def _disabled(seen: Overview) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell
    from batchctl.domain.text import typed

    rows = [
        (cell(name), cell(count), cell(f"batchctl enable {typed(name)} --reason ..."))
        for name, count in seen.disabled.items()
    ]
    return Listing("Disabled batches with open instances", ["batch", "open#", "next"], rows)


def _completed(seen: Overview) -> Listing:
    from batchctl.cli.listing import Listing
    from batchctl.cli.output import cell, time

    rows = [(cell(one.instance.instance_id), cell(one.batch), time(one.at)) for one in seen.completed]
    return Listing("Completed last", ["id#", "batch", "at (UTC)"], rows)


def _next(seen: Overview) -> list[str]:
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


def _incidents(seen: Overview) -> list[str]:
    return [f"batchctl incidents   (all {seen.incident_count} that are open)"] if _are_more(seen) else []


def _inbox(seen: Overview) -> list[str]:
    return (
        []
        if not (seen.not_taken_in or seen.untaken or seen.stuck)
        else ["batchctl inbox   (every row that is not work, why, and what to do)"]
    )


def _is_ready(seen: Overview) -> bool:
    """Say whether a controller would find anything to do at once."""
    return (
        seen.instances.get(InstanceStatus.READY, 0) > 0 or seen.intake.get(IntakeStatus.READY, 0) > seen.untaken_count
    )


def _as_json(seen: Overview) -> Columns:
    from batchctl.operations import shown_columns

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
            {
                **shown_columns.of(one.instance),
                "ProcessBatchName": one.batch,
                "Reason": one.reason,
                "Next": one.clear,
            }
            for one in seen.waiting
        ],
        "Waits": [one.columns for one in seen.waits],
        "Ailing": [shown_columns.of(one) for one in seen.dead_end_starts],
        "Unreadable": [shown_columns.unreadable(row) for row in seen.unreadable],
        "IncidentCount": seen.incident_count,
        "AcknowledgedCount": seen.acknowledged_count,
        "Incidents": [shown_columns.of(one) for one in seen.incidents],
        "EndingCalendars": [one.columns for one in seen.ending],
        "DueNext": [one.columns for one in seen.coming],
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
