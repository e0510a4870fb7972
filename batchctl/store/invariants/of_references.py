"""The laws of what names other rows: foreign keys, which a client of SQLite may have switched off."""

from __future__ import annotations

from sqlalchemy import Table, exists, not_, or_

from batchctl.store.invariants.invariant import Invariant, rows_of
from batchctl.store.tables import (
    batch_completion,
    batch_dependency,
    batch_resource,
    calendar_day,
    confirmation,
    controller_pool,
    duration_history,
    file_watch_seen,
    kept_forecast,
    note,
    process_control,
    schedule_fire,
    step_output,
)


def _names_what_is_there(code: str, table: Table) -> Invariant:
    (key,) = table.primary_key
    named = [(column, foreign.column) for column in table.c for foreign in column.foreign_keys]
    gone = [column.is_not(None) & not_(exists().where(there == column)) for column, there in named]
    columns = " and ".join(column.name for column, _ in named)
    return Invariant(
        code,
        f"a row of {table.name} names rows that are there, by {columns}",
        rows_of(key, or_(*gone)),
        f"somebody has deleted what it names with foreign keys switched off: restore that, or correct or"
        f" delete {table.name} {{id}}",
    )


OF_REFERENCES: tuple[Invariant, ...] = (
    _names_what_is_there("I70", process_control),
    _names_what_is_there("I71", batch_resource),
    _names_what_is_there("I72", batch_dependency),
    _names_what_is_there("I73", calendar_day),
    _names_what_is_there("I74", file_watch_seen),
    _names_what_is_there("I75", duration_history),
    _names_what_is_there("I76", schedule_fire),
    _names_what_is_there("I77", batch_completion),
    _names_what_is_there("I85", note),
    _names_what_is_there("I86", controller_pool),
    _names_what_is_there("I87", step_output),
    _names_what_is_there("I88", confirmation),
    _names_what_is_there("I89", kept_forecast),
)
"""The laws of other tables' references say more, and stand with the other laws of those tables."""
