"""`batchctl status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from batchctl.cli.session import Session, as_json, pass_session

if TYPE_CHECKING:
    from rich.console import Console

    from batchctl.operations.columns import Columns
    from batchctl.operations.overview import Overview


@click.command()
@as_json
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Rows per list.")
@pass_session
def status(session: Session, as_json: bool, limit: int) -> None:
    """Show what is running, what failed, what waits and why, and what to type."""
    from batchctl.cli import output
    from batchctl.operations.overview import overview

    with session.app() as app:
        seen = overview(app.transactions, app.clock, app.lock, most=limit)
    if as_json:
        output.print_json(_as_json(seen))
    else:
        _show(output.console(), seen)


def _show(out: Console, seen: Overview) -> None:
    from batchctl.cli import output
    from batchctl.cli.output import cell, duration, table, time, word

    controller = "no controller is running" if seen.controller is None else f"controller {seen.controller} is running"
    counts = ", ".join(f"{count} {status}" for status, count in seen.instances.items()) or "none"
    arrived = ", ".join(f"{count} {status}" for status, count in seen.intake.items()) or "none"
    lines = [("Now", f"{seen.now:%Y-%m-%d %H:%M:%S} UTC, {controller}"), ("Instances", counts), ("FileProcess", arrived)]
    out.print(output.properties((name, cell(text)) for name, text in lines))
    if seen.running:
        rows = [
            (
                cell(one.instance.instance_id),
                cell(one.batch),
                cell(f"{one.entry.seq} {one.entry.step_name}"),
                cell(one.entry.attempt_no),
                duration(one.elapsed),
                duration(one.expected),
                cell("longer than AlarmDuration", "bold red") if one.is_late else cell("no"),
            )
            for one in seen.running
        ]
        out.print(table("Running", ["id#", "batch", "step", "attempt#", "since#", "expected#", "alarm"], rows))
    if seen.troubled:
        rows = [
            (
                cell(one.instance.instance_id),
                cell(one.batch),
                word(one.instance.status),
                cell(None if one.step is None else f"{one.step.seq} {one.step.name}"),
                cell(one.message),
                time(one.instance.next_run_time) if one.instance.status == "retry" else cell(one.clear),
            )
            for one in seen.troubled
        ]
        out.print(table("Failed, held, to be retried", ["id#", "batch", "status", "step", "message", "next"], rows))
    if seen.waiting:
        rows = [
            (
                cell(one.instance.instance_id),
                cell(one.batch),
                word(one.instance.status),
                cell(one.reason or ("starts next" if seen.controller else "no controller is running")),
                cell(one.clear if one.reason else (None if seen.controller else "batchctl process")),
            )
            for one in seen.waiting
        ]
        out.print(table("Waiting", ["id#", "batch", "status", "because", "next"], rows))
    if seen.not_taken_in or seen.untaken:
        rows = [
            (
                cell(row.intake_id),
                cell(row.entity),
                word(row.status),
                cell(row.file_name),
                cell(row.message),
                cell(f"batchctl accept {row.intake_id} --reason ..."),
            )
            for row in seen.not_taken_in
        ]
        rows += [
            (
                cell(row.intake_id),
                cell(row.entity),
                cell("not taken", "yellow"),
                cell(row.file_name),
                cell(row.message or "no batch takes its entity"),
                cell(f"batchctl why file:{row.intake_id}"),
            )
            for row in seen.untaken
        ]
        headings = ["FileProcess#", "entity", "status", "file", "reason", "next"]
        out.print(table("Rows that nothing came of", headings, rows))
    if seen.disabled:
        rows = [
            (cell(name), cell(count), cell(f"batchctl enable {name} --reason ...")) for name, count in seen.disabled.items()
        ]
        out.print(table("Disabled batches with open instances", ["batch", "open#", "next"], rows))
    if seen.completed:
        rows = [(cell(one.instance.instance_id), cell(one.batch), time(one.at)) for one in seen.completed]
        out.print(table("Completed last", ["id#", "batch", "at (UTC)"], rows))
    output.hints(out, *_next(seen))


def _next(seen: Overview) -> list[str]:
    if seen.troubled:
        return [f"batchctl show {seen.troubled[0].instance.instance_id}   (what failed, and how)"]
    if seen.waiting:
        return [f"batchctl why {seen.waiting[0].instance.instance_id}   (every gate, passed or blocking)"]
    if not seen.instances and not seen.intake:
        return ["batchctl batches   (what is registered)", "batchctl submit ENTITY --file FILE"]
    return ["batchctl history   (the newest attempts)"]


def _as_json(seen: Overview) -> Columns:
    from batchctl.operations import columns

    return {
        "Now": columns.moment(seen.now),
        "Controller": seen.controller,
        "BatchControl": {status.value: count for status, count in seen.instances.items()},
        "FileProcess": {status.value: count for status, count in seen.intake.items()},
        "UntakenCount": seen.untaken_count,
        "Running": [
            {
                **columns.history(one.entry),
                "ProcessBatchName": one.batch,
                "ElapsedSeconds": columns.seconds(one.elapsed),
                "ExpectedDuration": columns.seconds(one.expected),
                "AlarmDuration": columns.seconds(one.alarm),
                "Alarm": one.is_late,
            }
            for one in seen.running
        ],
        "Troubled": [
            {
                **columns.instance(one.instance),
                "ProcessBatchName": one.batch,
                "ProcessControlSeq": None if one.step is None else one.step.seq,
                "ProcessName": None if one.step is None else one.step.name,
                "Message": one.message,
                "Next": one.clear,
            }
            for one in seen.troubled
        ],
        "Waiting": [
            {
                **columns.instance(one.instance),
                "ProcessBatchName": one.batch,
                "Reason": one.reason,
                "Next": one.clear,
            }
            for one in seen.waiting
        ],
        "NotTakenIn": [columns.intake(row) for row in seen.not_taken_in],
        "Untaken": [columns.intake(row) for row in seen.untaken],
        "DisabledBatches": [
            {"ProcessBatchName": name, "OpenInstances": count} for name, count in seen.disabled.items()
        ],
        "Completed": [
            {
                **columns.instance(one.instance),
                "ProcessBatchName": one.batch,
                "CompletedTime": columns.moment(one.at),
            }
            for one in seen.completed
        ],
    }
