"""What is wrong with the rows of jobs: where they differ from the code, and what of them nobody can run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batchctl.domain import reconciling
from batchctl.domain.declared import job_of
from batchctl.domain.outcomes import Problem
from batchctl.domain.reconciling import BATCHES, SCHEDULES, STEPS, Change, Did, Kept
from batchctl.domain.text import typed, visible
from batchctl.operations.reconciler import JobPlugins, offer_of
from batchctl.operations.roster import WRITE
from batchctl.store import job_rows

_OWN = "change the decorator; of a job's schedule, Enabled, Jitter, CatchUp and Overlap are the operator's"


def job_problems(connection: Any, plugins: JobPlugins) -> Iterator[tuple[str, str, Problem]]:
    """Yield tables, rows and what is wrong with them."""
    offer, rows = offer_of(plugins), job_rows.read(connection)
    code = offer.code(rows, plugins)
    decided = reconciling.reconcile(code, rows)
    for refusal in decided.refusals:
        table = BATCHES if refusal.name == refusal.job else SCHEDULES
        yield table, refusal.name, Problem("", f"{refusal.message} So nothing of the code is written.", WRITE)
    for change in decided.changes:
        yield from _differing(change)
    leaving = {(change.table, change.row_id) for change in decided.changes}
    for row in rows.schedules:
        job = job_of(row.name)
        unknown = row.owner is not None and row.enabled and job not in code.names
        if unknown and (SCHEDULES, row.row_id) not in leaving:
            yield SCHEDULES, row.name, _of_unknown(row, job)


def _differing(change: Change) -> Iterator[tuple[str, str, Problem]]:
    """Yield what the next controller that starts writes over."""
    if change.did is Did.RETIRED:
        message = "The code does not say it any more: the next controller that starts disables it."
        yield change.table, change.name, Problem("Enabled", message, WRITE)
    elif change.did is Did.REWRITTEN:
        table = BATCHES if change.table == STEPS else change.table
        said = reconciling.said(change.before, change.after)
        message = (
            f"It differs from the code of job {visible(change.job)}. The next controller that starts writes: {said}."
        )
        yield table, change.name, Problem(next(iter(change.after)), message, _OWN)


def _of_unknown(row: Kept, job: str) -> Problem:
    owner = visible(row.owner or "")
    message = f"Job '{visible(job)}' of '{owner}' is not known here: whatever this starts fails where it is not."
    remedy = f"name its module in [jobs] modules, or if it is gone: {WRITE} --retire {typed(row.owner or '')}"
    return Problem("Origin", message, remedy)
