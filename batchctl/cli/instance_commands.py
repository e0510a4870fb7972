"""`batchctl show` and `batchctl history`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import click

from batchctl.cli import command_texts, output
from batchctl.cli.filtering import filters
from batchctl.cli.session import INSTANCE_ID, LARGEST_ID, CliSession, WholeNumber, reads, reads_rows
from batchctl.cli.unreadable_lists import unreadable_rows
from batchctl.domain.definitions.sql_jobs import ORIGIN, correcting
from batchctl.domain.gates import refused_mend
from batchctl.domain.maintenance.lengths import for_people
from batchctl.domain.rows import RETRIES_SKIPPED, AuditEntry, HistoryEntry, InstanceId
from batchctl.domain.status import HistoryStatus
from batchctl.domain.text import typed, visible
from batchctl.operations import inspection
from batchctl.operations.operators import noting


@click.command()
@click.argument("instance_id", metavar="ID", type=INSTANCE_ID)
@reads
def show(session: CliSession, instance_id: int, as_json: bool) -> None:
    """Show one instance in full: ID is a BatchControl id."""
    shown = inspection.show(session.app.transactions, InstanceId(instance_id))
    if as_json:
        output.print_json(shown.columns())
    else:
        _show(shown)


@click.command()
@click.argument("instance_id", metavar="[ID]", type=INSTANCE_ID, required=False)
@click.option("--limit", type=WholeNumber(1, 100_000), default=20, show_default=True, help="How many, without ID.")
@click.option("--full", is_flag=True, help="Show every command whole, however long it is.")
@click.option(
    "--command", "only_command", is_flag=True, help="Print the command of the last attempt alone, for a pipe."
)
@click.option("--step", "seq", type=WholeNumber(0, LARGEST_ID), metavar="SEQ", help="With --command: of this step.")
@click.option(
    "--attempt", type=WholeNumber(1, LARGEST_ID), metavar="N", help="With --command: this attempt, by its AttemptNo."
)
@filters(HistoryStatus, "began")
@reads_rows
def history(
    session: CliSession,
    instance_id: int | None,
    batch: str | None,
    status: str | None,
    since: datetime | None,
    limit: int,
    full: bool,
    only_command: bool,
    seq: int | None,
    attempt: int | None,
    as_json: bool,
) -> None:
    """Show the attempts of an instance with their exact commands, or the newest attempts of all.

    With ID and several attempts, a long command is shortened, with a bar before each line; --full shows it, ready to be pasted.
    """
    if only_command and (instance_id is None or as_json or full):
        raise click.UsageError("--command needs an ID, and goes with neither --json nor --full.")
    if instance_id is not None and (batch, status, since) != (None, None, None):
        raise click.UsageError("--batch, --status and --since are for the list, without an ID.")
    if seq is not None and not only_command:
        raise click.UsageError("--step goes with --command.")
    if attempt is not None and not only_command:
        raise click.UsageError("--attempt goes with --command.")
    app = session.app
    if only_command:
        output.verbatim(inspection.last_command(app.transactions, InstanceId(instance_id or 0), seq, attempt))
        return
    if instance_id is None:
        stands = None if status is None else HistoryStatus(status)
        found, strange = inspection.newest_attempts(app.transactions, limit, batch, stands, since)
    else:
        found, strange = inspection.attempts_of(app.transactions, InstanceId(instance_id))
    if as_json:
        output.print_list(inspection.ATTEMPTS, found)
        for row in strange:
            output.say(f"Note: {row.message}. {row.mend}")
        return
    unreadable_rows(strange)
    if instance_id is None:
        _show_newest(found)
        return
    whole = None if full or len(found) == 1 else f"the whole: batchctl history {instance_id} --full"
    for entry in found:
        _show_attempt(entry, whole=whole)
    if not found and not strange:
        click.echo(f"BatchControl {instance_id} has no attempts yet.")
        output.hints(f"batchctl why {instance_id}")
        return
    output.hints(f"batchctl show {instance_id}")


def _show_newest(found: list[HistoryEntry]) -> None:
    output.show_list(inspection.ATTEMPTS, found)
    chosen = found[0].instance_id if found else "ID"
    output.hints(f"batchctl history {chosen}   (the commands, ready to be pasted)")


def _show_attempt(entry: HistoryEntry, *, whole: str | None = None) -> None:
    """Show an attempt; `whole` says where its whole command is, when it need not stand here."""
    ended = entry.ended_at
    when = f"{entry.started_at:%Y-%m-%d %H:%M:%S} UTC"
    took = "" if ended is None else f", took {for_people(ended - entry.started_at)}"
    step = output.cell(f"step {entry.seq} {entry.step_name}", "bold")
    output.line(step + f", attempt {entry.attempt} ({entry.cause}): " + output.word(entry.status) + f", {when}{took}")
    command_texts.show(entry.command_text, whole=whole)
    pairs = [
        ("EndTime", ended and f"{ended:%Y-%m-%d %H:%M:%S} UTC"),
        ("Type", entry.process_type),
        ("Worker", entry.claimed_by),
        ("Host", entry.host),
        ("By", inspection.carrier(entry)),
        ("Message", entry.wording),
        ("ReturnCode", entry.return_code),
        ("ErrorCode", entry.error_code),
        ("ErrorLine", entry.error_line),
        ("RowsAffected", entry.rows_affected),
        ("RetryCountAfter", entry.retry_count_after if entry.next_run_time_after else None),
        ("NextRunTimeAfter", entry.next_run_time_after and f"{entry.next_run_time_after:%Y-%m-%d %H:%M:%S} UTC"),
    ]
    output.properties(((name, value) for name, value in pairs if value is not None), apart=False)
    if entry.output:
        output.line("Output", "dim")
        for line in entry.output.splitlines():
            output.line(line)
    output.line()


def _show(shown: inspection.ShownInstance) -> None:
    output.properties(_summary(shown))
    _steps(shown)
    unreadable_rows(shown.unreadable_attempts)
    failed = next(
        (entry for entry in reversed(shown.history) if entry.status not in {"success", "running", "asked"}), None
    )
    if failed is not None and shown.instance.status in {"failed", "held", "retry"}:
        output.line("The last attempt that did not succeed, ready to be pasted:", "bold")
        _show_attempt(failed)
    _show_question(shown)
    output.show_list(noting.NOTES, shown.notes, if_any=True)
    show_acts(shown.audit)
    if shown.corrected is not None:
        output.say(f"Note: {shown.corrected.wording}.")
    output.hints(*_next(shown))


def _show_question(shown: inspection.ShownInstance) -> None:
    asked = shown.asks
    if asked is None:
        return
    output.line("It waits for the answer of a person", "bold")
    pairs = [("Question", visible(asked.question)), ("Who may answer", asked.may_answer), ("Since", asked.asked_at)]
    output.properties([*pairs, *([] if asked.until is None else [("Until", asked.until)])])
    for line in (asked.evidence or "").splitlines():
        output.line(visible(line))
    output.line()


def _summary(shown: inspection.ShownInstance) -> list[tuple[str, object]]:
    instance, row = shown.instance, shown.intake
    batch = f"(ProcessBatch {instance.batch_id}, which does not exist)" if shown.batch is None else shown.batch.name
    batch = batch if shown.unreadable is None else f"{shown.unreadable.message}; {shown.unreadable.mend}"
    pairs = [
        ("BatchControl", instance.instance_id),
        ("Batch", batch),
        ("Status", output.word(instance.status)),
        ("PrevProcessControlSeq", instance.last_seq),
        ("RetryCount", f"{instance.retry_count}{f' ({RETRIES_SKIPPED})' if instance.retries_skipped else ''}"),
        *([] if not instance.steps_failed else [("StepsFailed", _went_past(instance.steps_failed))]),
        ("NextRunTime", instance.next_run_time),
        ("CycleKey", instance.cycle_key),
        *([] if instance.version is None else [("DefVersion", _version(shown))]),
    ]
    pairs += [(f"Data{at}", value) for at, value in enumerate(instance.data, start=1) if value is not None]
    pairs.append(("FileProcess", instance.intake_id))
    if row is not None:
        named = {"Entity": row.entity, "FileName": row.file_name, "Status": row.status, "Source": row.source}
        pairs += [(f"  {name}", value) for name, value in {**named, "Message": row.message}.items() if value]
    return pairs


def _went_past(steps: int) -> str:
    return f"{steps} (OnStepFailure let it go on)"


def _version(shown: inspection.ShownInstance) -> str:
    """Say which version of its batch an instance was created for, and whether that is another now."""
    made, batch = shown.instance.version, shown.batch
    if batch is None or batch.version == made:
        return str(made)
    now = "changed since" if batch.version is None else f"now {batch.version}"
    return f"{made}, {now}: what follows runs as it is now   (batchctl versions {typed(batch.name)})"


def _steps(shown: inspection.ShownInstance) -> None:
    rows = [
        (
            state.step.seq,
            state.step.name,
            state.step.process_type,
            output.word(state.state),
            None if state.last is None else output.word(state.last.status),
            None if state.last is None else state.last.attempt,
            None if state.last is None else state.last.started_at,
            None if state.last is None else state.last.in_brief,
        )
        for state in shown.steps
    ]
    headings = ["seq#", "name", "type", "state", "last attempt", "attempts#", "started (UTC)", "message"]
    output.table_if_any("Steps", headings, rows)
    rules = [
        (
            state.step.seq,
            state.step.name,
            state.retries,
            None if state.step.retry_on is None else state.step.retry_on.text,
            state.step.on_step_failure,
            state.rows,
        )
        for state in shown.steps
        if state.has_rules
    ]
    batch = shown.batch
    places = [
        (
            state.step.seq,
            state.step.name,
            batch.pool_of(state.step),
            state.step.host_needs and state.step.host_needs.text,
        )
        for state in shown.steps
        if batch is not None and batch.names_places
    ]
    output.table_if_any("Where steps run", ["seq#", "name", "pool", "needs"], places)
    output.table_if_any("Rules of steps", ["seq#", "name", "retries", "RetryOn", "OnStepFailure", "rows"], rules)


def show_acts(audit: Iterable[AuditEntry]) -> None:
    """Show what people did about one row."""
    rows = [(entry.at, entry.actor, entry.action, entry.reason, entry.before, entry.after) for entry in audit]
    output.table_if_any("What people did", ["at (UTC)", "who", "action", "reason", "before", "after"], rows)


def _next(shown: inspection.ShownInstance) -> list[str]:
    at = shown.instance.instance_id
    every = [f"batchctl history {at}   (every attempt, with its command and output)"]
    if shown.unreadable is not None and not shown.instance.status.is_final:
        return [shown.unreadable.mend, *every]
    if shown.asks is not None:
        return [shown.asks.answering, *every]
    match shown.instance.status.value:
        case "failed" | "retry":
            batch = shown.batch
            refused = refused_mend(batch, shown.history[-1] if shown.history else None)
            if refused is not None:
                return [refused, *every]
            job = None if batch is None or batch.origin != ORIGIN else batch.name
            correct = [] if job is None else [f"{correcting(job)}   (if its SQL is wrong)"]
            return [*correct, f"batchctl rerun {at} --dry-run --reason ...   (then without --dry-run)", *every]
        case "held":
            return [f"batchctl rerun {at} --reason ...", f"batchctl skip {at} --reason ...   (if it was done)", *every]
        case "paused" | "pausing":
            return [f"batchctl resume {at}", *every]
        case "ready" | "running" | "cancelling":
            return [f"batchctl why {at}", *every]
        case _ if shown.corrected is not None:
            return [shown.corrected.clear, *every]
        case _:
            return every
