"""Rows under the names of their columns, as JSON shows them and the audit log keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from batchctl.domain import records
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition

Columns = records.Columns
of, moment = records.shown, records.moment


def batch(row: BatchDefinition) -> Columns:
    """Return a `ProcessBatch` row by column names."""
    seconds = row.retry_wait.total_seconds()
    return of(row, retry_wait={"RetryWaitMins": int(seconds // 60), "RetryWaitSecs": seconds})


def changes(before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> tuple[Columns, Columns]:
    """Return the columns that differ, as they were and as they are."""
    names = [name for name in before if before[name] != after[name]]
    return {name: before[name] for name in names}, {name: after[name] for name in names}


def seconds(duration: timedelta | None) -> int | None:
    """Write a duration as whole seconds."""
    return None if duration is None else int(duration.total_seconds())
