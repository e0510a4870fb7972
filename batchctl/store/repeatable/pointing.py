"""What makes SQLite refuse rows that point nowhere: its foreign keys are off unless a client asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from batchctl.store.repeatable.trigger import Trigger, on_sqlite, refusal

NAMES = {
    "ProcessBatch": "ProcessBatchName",
    "Resource": "ResourceName",
    "Calendar": "CalendarName",
    "Schedule": "ScheduleName",
    "FileWatch": "WatchName",
}
"""What others name by number, and the column by which a person knows it."""
DEFINED = (
    ("ProcessControl", "ProcessBatch_id", "ProcessBatch"),
    ("BatchResource", "ProcessBatch_id", "ProcessBatch"),
    ("BatchResource", "Resource_id", "Resource"),
    ("BatchDependency", "ProcessBatch_id", "ProcessBatch"),
    ("BatchDependency", "DependsOnBatch_id", "ProcessBatch"),
    ("CalendarDay", "Calendar_id", "Calendar"),
)
"""The foreign keys of what people define: table, column, and what it names."""
KEPT = (
    ("BatchControl", "ProcessBatch_id", "ProcessBatch"),
    ("BatchProcessHistory", "ProcessBatch_id", "ProcessBatch"),
    ("BatchCompletion", "ProcessBatch_id", "ProcessBatch"),
    ("BatchCompletion", "DependsOnBatch_id", "ProcessBatch"),
    ("DurationHistory", "ProcessBatch_id", "ProcessBatch"),
    ("ScheduleFire", "Schedule_id", "Schedule"),
    ("ScheduleBackfill", "Schedule_id", "Schedule"),
    ("FileWatchSeen", "FileWatch_id", "FileWatch"),
)
"""Those of what the engine writes down: only what they name is guarded, so that no statement of the engine takes longer."""
INSTEAD = {
    "ProcessBatch": "batchctl disable NAME --reason ...",
    "Calendar": "batchctl calendar remove NAME --reason ...",
    "Schedule": "batchctl schedule remove NAME --reason ...",
    "FileWatch": "UPDATE FileWatch SET Enabled = 0 WHERE WatchName = ...",
}
"""What to type in the place of a DELETE."""


def triggers(dialect: str, schema: str) -> Iterator[Trigger]:  # noqa: ARG001 - as the other modules have it
    """Yield the triggers; the other databases keep foreign keys by themselves."""
    if dialect == "sqlite":
        yield from _of_what_points()
        yield from _of_what_is_pointed_at()


def _of_what_points() -> Iterator[Trigger]:
    for table, column, named in DEFINED:
        said = (
            f"batchctl: {column} of {table}: there is no such {named}: SELECT {named}_id, {NAMES[named]} FROM {named}"
        )
        lacks = f"NEW.{column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {named} p WHERE p.{named}_id = NEW.{column})"
        for event, at in (("Insert", "INSERT"), ("Update", f"UPDATE OF {column}")):
            yield on_sqlite(f"TR_{table}_{column}{event}", table, f"BEFORE {at}", [refusal(said)], lacks)


def _of_what_is_pointed_at() -> Iterator[Trigger]:
    for named in NAMES:
        key, others = f"{named}_id", [(table, column) for table, column, of in (*KEPT, *DEFINED) if of == named]
        used = " OR ".join(f"EXISTS (SELECT 1 FROM {table} c WHERE c.{column} = {{0}})" for table, column in others)
        refusals = [
            refusal(
                f"batchctl: {table} has rows of this {named}: {_to_type(table, column, named)}",
                f"EXISTS (SELECT 1 FROM {table} c WHERE c.{column} = OLD.{key})",
            )
            for table, column in others
        ]
        yield on_sqlite(f"TR_{named}_InUse", named, "BEFORE DELETE", refusals)
        yield on_sqlite(
            f"TR_{named}_Renumbered",
            named,
            f"BEFORE UPDATE OF {key}",
            [refusal(f"batchctl: other rows go by its {key}: leave that as it is")],
            f"NEW.{key} <> OLD.{key} AND ({used.format(f'OLD.{key}')})",
        )
        # Of a REPLACE no other trigger hears: what was in its way is written down before, and struck out once it is told.
        gone = f"OLD.TableName = '{named}' AND NOT EXISTS (SELECT 1 FROM {named} p WHERE p.{key} = OLD.RowNumber)"
        left = f"batchctl: other tables have rows of this {named}, which a REPLACE would leave behind"
        yield on_sqlite(
            f"TR_{named}_Replaced",
            "batchctl_replaced",
            "BEFORE DELETE",
            [refusal(f"{left}: use UPDATE, or ON CONFLICT DO UPDATE")],
            f"{gone} AND ({used.format('OLD.RowNumber')})",
        )


def _to_type(table: str, column: str, named: str) -> str:
    is_defined = any(table == one for one, _, _ in DEFINED)
    first = f"DELETE FROM {table} WHERE {column} = ... first" if is_defined else ""
    instead = f"instead: {INSTEAD[named]}" if named in INSTEAD else ""
    return "; or ".join(each for each in (first, instead) if each)
