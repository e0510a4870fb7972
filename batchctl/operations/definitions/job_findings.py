"""What is wrong with the rows of jobs: where they differ from the code, and which of them cannot run."""

from __future__ import annotations

from collections.abc import Iterator

from batchctl.domain.definitions import reconciling
from batchctl.domain.definitions.declared import correct_decorator, job_of
from batchctl.domain.definitions.reconciling import BATCHES, SCHEDULES, STEPS, Did, JobRows, KeptRow, RowChange
from batchctl.domain.outcomes import Finding
from batchctl.domain.text import typed, visible
from batchctl.operations.definitions.reconciler import JobPlugins, offer_of
from batchctl.operations.definitions.roster import WRITE
from batchctl.store import Connection
from batchctl.store.definitions import job_rows


def job_findings(connection: Connection, plugins: JobPlugins) -> Iterator[tuple[str, str, Finding]]:
    """Yield tables, rows and what is wrong with them; nothing that only follows from a module that cannot be loaded."""
    offer, rows = offer_of(plugins), job_rows.read(connection)
    code = offer.code(rows, plugins)
    decided = reconciling.reconcile(code, rows)
    for refused in decided.all_refused:
        table = BATCHES if refused.name == refused.job else SCHEDULES
        yield table, refused.name, Finding("", refused.message, f"as it says, then: {WRITE}")
    new = {change.name for change in decided.changes if change.did is Did.ADDED and change.table == BATCHES}
    for change in decided.changes:
        if change.did is not Did.ADDED or change.table == BATCHES or change.job not in new:
            yield _differing(change, rows)
    leaving = {(change.table, change.row_id) for change in decided.changes}
    for row in rows.schedules:
        job = job_of(row.name)
        unknown = row.owner is not None and row.enabled and job not in code.names
        if unknown and (SCHEDULES, row.row_id) not in leaving and row.owner not in offer.failed_modules:
            yield SCHEDULES, row.name, _of_unknown(row, job, plugins)


def to_settle(owner: str, plugins: JobPlugins) -> str:
    """Say what to do about the rows of a job that is not known here: its code has left, or is elsewhere."""
    if plugins.knows_owner(owner):
        return WRITE
    return f"name its module in [jobs] modules, or if it is gone: {WRITE} --retire {typed(owner)}"


def _differing(change: RowChange, rows: JobRows) -> tuple[str, str, Finding]:
    """Return where a row is not as the next controller that starts makes it."""
    row = _row_of(change, rows)
    column = next(iter(change.after))
    match change.did:
        case Did.RETIRED:
            message = "The code does not say it any more: the next controller that starts disables it."
            return change.table, row, Finding("Enabled", message, WRITE)
        case Did.REVIVED:
            message = "The code says it again: the next controller that starts enables it."
            return change.table, row, Finding("Enabled", message, WRITE)
        case Did.ADDED:
            message = (
                f"In the code of job {visible(change.job)}, not in the table: the next controller that starts adds it."
            )
            return change.table, row, Finding("", message, WRITE)
        case _:
            said = reconciling.wording(change.before, change.after)
            message = f"It differs from the code of job {visible(change.job)}. The next controller that starts writes: {said}."
            remedy = f"{correct_decorator(change.job)}, or let the row say what it says: {WRITE}"
            return change.table, row, Finding(column, message, remedy)


def _row_of(change: RowChange, rows: JobRows) -> str:
    """Return what a row is called; a step by its batch and its number."""
    if change.table != STEPS:
        return change.name
    own = next((step for step in rows.steps if step.row_id == change.row_id), None)
    seq = (change.after if own is None else own.columns).get("ProcessControlSeq")
    return f"{change.name}, step {seq}"


def _of_unknown(row: KeptRow, job: str, plugins: JobPlugins) -> Finding:
    owner = row.owner or ""
    message = (
        f"Job '{visible(job)}' of '{visible(owner)}' is not known here: whatever this starts waits where it is not."
    )
    return Finding("Origin", message, to_settle(owner, plugins))
