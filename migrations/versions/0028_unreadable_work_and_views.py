"""Index the rows of work that nothing can go by, for a controller looks for them; name them, and batches, in the views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op
from alembic.util import load_python_file

from batchctl.store.columns import UtcTime, unquoted
from batchctl.store.conditions import type_checks

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

INSTANCE = (
    *("ready", "running", "retry", "failed", "held", "pausing", "paused", "cancelling", "cancelled", "complete"),
)
INTAKE = ("ready", "paused", "complete", "rejected", "duplicate")
ATTEMPT = ("running", "success", "failed", "timeout", "cancelled", "lost", "fenced", "skipped")
CAUSE = ("auto", "retry", "manual", "verify")
WORDS = {
    "BatchControl": {"Status": INSTANCE},
    "FileProcess": {"Status": INTAKE},
    "BatchProcessHistory": {"Status": ATTEMPT, "Cause": CAUSE},
}
"""The words that each column may hold."""
WRITTEN = {"BatchControl": ("success",), "FileProcess": ("success",)}
"""What people may write as Status besides, and SQLite makes another word of after it has looked."""
_NEXT = sa.Column("NextRunTime", UtcTime(), nullable=False)
TYPES = {
    "BatchControl": (
        *("ProcessBatch_id", "FileProcess_id", "PrevProcessControlSeq", "RetryCount", _NEXT, "ClaimToken", "LostCount"),
        "DefVersion?",
    ),
    "FileProcess": ("PopulatorTries?",),
    "BatchProcessHistory": (
        *("BatchControl_id", "ProcessBatch_id", "ProcessControlSeq", "AttemptNo", "ClaimToken"),
        *("ReturnCode?", "RowsAffected?", "Pid?", "RetryCountAfter?", "DefVersion?", "ErrorLine?"),
    ),
}
"""Which columns hold numbers, where a mark stands behind what may be empty, and which a time that work waits for."""


def upgrade() -> None:
    """Make an index for each table of work, and both views anew."""
    dialect = op.get_context().dialect.name
    for table in WORDS:
        condition: dict[str, Any] = {f"{dialect}_where": sa.text(unreadable(table, dialect))}
        op.create_index(f"IX_{table}_Unreadable", unquoted(table), [unquoted(f"{table}_id")], **condition)
    _first()._make(views(dialect, _schema()))


def downgrade() -> None:
    """Take both away."""
    _first()._make(_before().views(op.get_context().dialect.name, _schema()))
    for table in WORDS:
        op.drop_index(f"IX_{table}_Unreadable", unquoted(table))


def unreadable(table: str, dialect: str) -> str:
    """Return the condition of the rows that nothing can go by."""
    if dialect == "mssql":
        return " AND ".join(f"Status <> '{word}'" for word in WORDS[table]["Status"])
    if dialect == "sqlite":
        return f"({' AND '.join(f'({fits})' for _, fits in _readable_by(table, dialect))}) IS NOT TRUE"
    return f"({' AND '.join(fits for _, fits in _readable_by(table, dialect))}) IS NOT TRUE"


def _readable_by(table: str, dialect: str) -> list[tuple[str, str]]:
    """Return the columns that somebody goes by, and what they have to fulfil."""
    found = [(column, _is_word(table, column, words, dialect)) for column, words in WORDS[table].items()]
    return found + [_of_type(column) for column in TYPES[table]] if dialect == "sqlite" else found


def _is_word(table: str, column: str, words: tuple[str, ...], dialect: str) -> str:
    also = WRITTEN.get(table, ()) if column == "Status" else ()
    if dialect == "sqlite":
        return " OR ".join(f"{column} = '{word}'" for word in (*words, *also))
    listed = ", ".join(f"'{word}'" for word in (*words, *(also if dialect == "mssql" else ())))
    return f"lower({column}) IN ({listed})"


def _of_type(column: str | sa.Column[Any]) -> tuple[str, str]:
    if not isinstance(column, str):
        (condition,) = type_checks([column])
        return column.name, str(condition.sqltext)
    name = column.removesuffix("?")
    fits = f"typeof({name}) = 'integer'"
    return name, fits if name == column else f"{name} IS NULL OR ({fits})"


def _before() -> Any:
    return load_python_file(str(Path(__file__).parent), "0026_how_often_lost_and_views.py")


def _first() -> Any:
    """Return the migration that spells the views out."""
    return load_python_file(str(Path(__file__).parent), "0023_refused_rows_and_views.py")


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "" if elsewhere is None else f"{elsewhere}."


def views(dialect: str, schema: str = "") -> dict[str, str]:
    """Return the statement that makes each view; `schema` with its dot stands before each name where it is not the default."""
    first = _first()
    s, made = first.Spoken(dialect, schema), _before().views(dialect, schema)
    return {"vWaiting": _waiting(s, made["vWaiting"]), "vInbox": _inbox(s, made["vInbox"], first.unfit(s))}


def _unread(s: Any, batch: str) -> str:
    """Return what is said of a batch that nothing can go by."""
    said: str = s.joined(f"{batch}.RowName", "' cannot be read: '", f"{batch}.ColumnName", "' holds nonsense'")
    return said


def _unfit_work(s: Any, table: str, mends: dict[str, str]) -> str:
    """Return the rows of a table of work that nothing can go by, what is wrong with each, and the statement that mends it."""
    key, columns = f"{table}_id", _readable_by(table, s.dialect)

    def each(said: dict[str, str]) -> str:
        *others, (_, last) = [(condition, said[column]) for column, condition in columns]
        cases = " ".join(f"WHEN NOT ({condition}) THEN {what}" for condition, what in others)
        return f"CASE {cases} ELSE {last} END" if others else last

    holds = {column: f"'{column} holds nonsense'" for column, _ in columns} | {
        "NextRunTime": "'NextRunTime holds no time'"
    }
    mended = {column: s.look(table, key, key) for column, _ in columns}
    mended |= {
        column: s.joined(f"'UPDATE {table} SET {column} = {given} WHERE {key} = '", key, "';'")
        for column, given in mends.items()
    }
    reason = s.joined(f"'{table} '", key, "' cannot be read: '", each(holds))
    names = each({column: f"'{column}'" for column, _ in columns})
    return f"""UnfitWork AS (
SELECT {key}, {names} AS ColumnName, {reason} AS Reason, {each(mended)} AS Mend
FROM {s.of}{table} WHERE {unreadable(table, s.dialect)}
)"""


def _replaced(text: str, changes: list[tuple[str, str]]) -> str:
    for before, after in changes:
        head, found, tail = text.partition(before)
        if not found:
            raise ValueError(before)
        text = f"{head}{after}{tail}"
    return text


def _waiting(s: Any, before: str) -> str:
    """Name instances and batches that nothing can go by among what waits."""
    mends = {"Status": "''held''", "NextRunTime": "''1900-01-01 00:00:00.000''"}
    later, is_none = f"WHEN c.NextRunTime > {s.now} THEN", "WHEN w.ColumnName = 'NextRunTime' THEN NULL"
    gate, is_unfit = f"            {later} ", "            WHEN w.BatchControl_id IS NOT NULL THEN w"
    upstreams, populators = s.twin("w.Since", "Since"), s.twin("f.z_inserted", "Since")
    dependency = "UNION ALL\nSELECT NULL, b.ProcessBatchName, 'dependency'"
    reasons, waits, nexts = before.split(gate)
    text = f"{reasons}{is_unfit}.Reason\n{gate}{waits}{is_unfit}.Mend\n{gate}{nexts}"
    return _replaced(
        text,
        [
            (", Claimed AS (", f", {_unfit_work(s, 'BatchControl', mends)}, Claimed AS ("),
            (f"CASE {later} c.NextRunTime", f"CASE {is_none}\n            {later} c.NextRunTime"),
            (f"CASE {later} (SELECT", f"CASE {is_none} {later} (SELECT"),
            ("LEFT JOIN Unmet m", "LEFT JOIN UnfitWork w ON w.BatchControl_id = c.BatchControl_id\nLEFT JOIN Unmet m"),
            (dependency, f"UNION ALL\n{_strange(s)}\n{dependency}"),
            (
                f"{upstreams}, ",
                (
                    f"{upstreams}, CASE WHEN p.ProcessBatch_id IS NOT NULL THEN {_unread(s, 'p')}\n"
                    f"            WHEN q.ProcessBatch_id IS NOT NULL THEN {_unread(s, 'q')} ELSE "
                ),
            ),
            (
                ", NULL, NULL, NULL,\n       CASE WHEN x.Status",
                (
                    " END, NULL, NULL, NULL,\n       CASE WHEN p.ProcessBatch_id IS NOT NULL THEN p.Mend"
                    " WHEN q.ProcessBatch_id IS NOT NULL THEN q.Mend\n            WHEN x.Status"
                ),
            ),
            (
                "x.BatchControl_id = w.Newest_id",
                (
                    "x.BatchControl_id = w.Newest_id\nLEFT JOIN Unfit p ON p.ProcessBatch_id = w.ProcessBatch_id\n"
                    "LEFT JOIN Unfit q ON q.ProcessBatch_id = w.DependsOnBatch_id"
                ),
            ),
            (
                f"{populators}, CASE WHEN",
                f"{populators}, CASE WHEN x.ProcessBatch_id IS NOT NULL THEN {_unread(s, 'x')}\n            WHEN",
            ),
            (
                "\n       CASE WHEN f.PopulatorTries",
                "\n       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend WHEN f.PopulatorTries",
            ),
            (
                "= f.Entity\nWHERE f.PopulatorTries",
                "= f.Entity\nLEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id\nWHERE f.PopulatorTries",
            ),
        ],
    )


def _strange(s: Any) -> str:
    """Return the instances of which nobody knows how they stand."""
    return f"""SELECT c.BatchControl_id, b.ProcessBatchName, 'unreadable', c.CycleKey, f.Entity, f.FileName,
       {s.twin("c.z_updated", "Since")}, w.Reason, NULL, NULL, c.FileProcess_id, w.Mend
FROM UnfitWork w
JOIN {s.of}BatchControl c ON c.BatchControl_id = w.BatchControl_id
LEFT JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
WHERE w.ColumnName = 'Status'"""


def _inbox(s: Any, before: str, unfit: str) -> str:
    """Name batches and rows that nothing can go by in the inbox."""
    mends = {"Status": "''paused''", "PopulatorTries": "NULL"}
    columns = "f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source"
    taken = f"EXISTS (SELECT 1 FROM {s.of}ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity)"
    is_unfit, came = "WHEN x.ProcessBatch_id IS NOT NULL THEN", s.twin("f.z_inserted", "Arrived")
    ready, where = f"FROM {s.of}FileProcess f", "WHERE f.Status = 'ready'"
    text = _replaced(
        before,
        [
            (
                "vInbox AS\n",
                (
                    f"vInbox AS\nWITH {unfit}, {_unfit_work(s, 'FileProcess', mends)}, Broken AS (\n"
                    "SELECT COALESCE(b.Entity, b.ProcessBatchName) AS Entity, MIN(b.ProcessBatch_id) AS ProcessBatch_id\n"
                    f"FROM Unfit x JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = x.ProcessBatch_id"
                    " GROUP BY COALESCE(b.Entity, b.ProcessBatchName)\n)\n"
                ),
            ),
            (
                f"CASE WHEN {taken} AND f.PopulatorTries >= 3",
                f"CASE {is_unfit} {_unread(s, 'x')}\n            WHEN {taken} AND f.PopulatorTries >= 3",
            ),
            (f"{came}, CASE WHEN {taken} THEN", f"{came}, CASE {is_unfit} x.Mend\n            WHEN {taken} THEN"),
            (
                f"{ready} {where}",
                (
                    f"{ready}\nLEFT JOIN Broken q ON q.Entity = f.Entity\n"
                    f"LEFT JOIN Unfit x ON x.ProcessBatch_id = q.ProcessBatch_id\n{where}"
                ),
            ),
        ],
    )
    return f"""{text}
UNION ALL
SELECT {columns}, 'unreadable', w.Reason, {came}, w.Mend
FROM UnfitWork w JOIN {s.of}FileProcess f ON f.FileProcess_id = w.FileProcess_id"""
