"""What a step says of its retries and its rows that says nothing, or not what it seems to."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from batchctl.domain.outcomes import Finding
from batchctl.domain.rows import BatchDefinition, Step


def rule_findings(batch: BatchDefinition, step: Step) -> Iterator[Finding]:
    """Yield the columns that nothing goes by, with the reason."""
    retries = batch.retry_count if step.retry_count is None else step.retry_count
    given = {"RetryWaitSecs": step.retry_wait, "RetryBackoff": step.retry_backoff, "RetryOn": step.retry_on}
    if retries == 0:
        whose = "its batch's" if step.retry_count is None else "its"
        for column in (column for column, value in given.items() if value is not None):
            yield Finding(
                column, f"Nothing goes by it, because the step is never tried again: {whose} RetryCount is 0."
            )
    elif (step.retry_backoff or 1) > 1 and _wait(batch, step) == timedelta(0):
        yield Finding("RetryBackoff", "Nothing grows by it, because the wait for a retry is 0 seconds.")
    if step.on_rows is not None and not step.counts_rows:
        yield Finding("OnRows", "Nothing goes by it, because neither RowsMin nor RowsMax is given.")


def _wait(batch: BatchDefinition, step: Step) -> timedelta:
    return batch.retry_wait if step.retry_wait is None else step.retry_wait
