"""What makes SQLite refuse rows that point nowhere: its foreign keys are off unless a client asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from batchctl.store.repeatable.trigger import Trigger, on_sqlite, refuse_if_any, refuse_when

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
    ("KeptForecast", "ProcessBatch_id", "ProcessBatch"),
    ("Note", "ProcessBatch_id", "ProcessBatch"),
    ("ScheduleFire", "Schedule_id", "Schedule"),
    ("ScheduleBackfill", "Schedule_id", "Schedule"),
    ("FileWatchSeen", "FileWatch_id", "FileWatch"),
)
"""The engine's foreign keys: only what they name is guarded, so that no statement of the engine takes longer."""
INSTEAD = {
    "ProcessBatch": "batchctl disable NAME --reason ...",
    "Calendar": "batchctl calendar remove NAME --reason ...",
    "Schedule": "batchctl schedule remove NAME --reason ...",
    "FileWatch": "UPDATE FileWatch SET Enabled = 0 WHERE WatchName = ...",
}
"""What to type in the place of a DELETE."""
RENUMBERED = "batchctl: other rows go by its number: leave that as it is"
LEFT_BEHIND = (
    "batchctl: other tables have rows of this definition, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO"
    " UPDATE"
)


def triggers(dialect: str, schema: str) -> Iterator[Trigger]:  # noqa: ARG001 - as the other modules have it
    """Yield the triggers; the other databases keep foreign keys by themselves."""
    if dialect != "sqlite":
        return
    # No other trigger fires for a REPLACE: the rows in its way are kept before, and deleted here once they are audited.
    used = _USED.format("OLD.TableName", "OLD.RowNumber")
    left = refuse_if_any(LEFT_BEHIND, "batchctl_used", used)
    yield on_sqlite("TR_batchctl_replaced_InUse", "batchctl_replaced", "BEFORE DELETE", [left], IS_GONE.format("OLD"))


ANNOUNCED = "batchctl_told"
"""The view that shows what each row of definitions holds."""
IS_GONE = (
    f"NOT EXISTS (SELECT 1 FROM {ANNOUNCED} n WHERE n.TableName = {{0}}.TableName AND n.RowNumber = {{0}}.RowNumber)"
)
"""That a row which was in the way of another is not there any more."""
_USED = "TableName = {} AND RowNumber = {}"


def renumbered() -> str:
    """Return what refuses on SQLite to number a row of definitions anew that others name."""
    used = _USED.format("NEW.TableName", "NEW.FormerNumber")
    return refuse_if_any(RENUMBERED, "batchctl_used", f"NEW.RowNumber <> NEW.FormerNumber AND {used}")


def views(dialect: str) -> dict[str, str]:
    """Return the view of rows that others name by number, on SQLite."""
    if dialect != "sqlite":
        return {}
    rows = (f"SELECT '{named}', {column} FROM {table}" for named in NAMES for table, column in _pointing_at(named))
    return {"batchctl_used": "CREATE VIEW batchctl_used (TableName, RowNumber) AS\n" + " UNION ALL\n".join(rows)}


def _pointing_at(named: str) -> list[tuple[str, str]]:
    return [(table, column) for table, column, of in (*KEPT, *DEFINED) if of == named]


def before_insert(table: str, unless: str = "") -> Iterator[str]:
    """Yield what refuses a row of a table on SQLite that points nowhere."""
    for pointing, column, named in DEFINED:
        if pointing == table:
            yield refuse_when(
                f"batchctl: {column} of {table}: there is no such {named}: SELECT {named}_id, {NAMES[named]} FROM {named}",
                f"{unless.format(column)}NEW.{column} NOT IN (SELECT {named}_id FROM {named})",
            )


def before_update(table: str) -> Iterator[str]:
    """Yield what refuses a change by which a row of a table points nowhere."""
    yield from before_insert(table, "NEW.{0} IS NOT OLD.{0} AND ")


def before_delete(named: str) -> Iterator[str]:
    """Yield what refuses to delete a row of a table that others name by number."""
    found: dict[tuple[str, str], list[str]] = {}
    for table, column in _pointing_at(named):
        said = f"batchctl: {table} has rows of this {named}: {_to_type(table, column, named)}"
        found.setdefault((said, table), []).append(f"{column} = OLD.{named}_id")
    yield from (refuse_if_any(said, table, " OR ".join(used)) for (said, table), used in found.items())


def _to_type(table: str, column: str, named: str) -> str:
    is_defined = any(table == one for one, _, _ in DEFINED)
    first = f"DELETE FROM {table} WHERE {column} = ... first" if is_defined else ""
    instead = f"instead: {INSTEAD[named]}" if named in INSTEAD else ""
    return "; or ".join(each for each in (first, instead) if each)
