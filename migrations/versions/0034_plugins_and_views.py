"""Let each controller write which plugins it has; name in vStatus and vWaiting what rows name and no controller has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

from batchctl.store.columns import text_column

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

LINE = " " * 12
JOINED = "LEFT JOIN Missing y ON y.ProcessBatch_id = {0}.ProcessBatch_id AND y.ProcessControlSeq = "
FIRST_OF_ALL = """(
    SELECT MIN(v.ProcessControlSeq) FROM Missing v WHERE v.ProcessBatch_id = b.ProcessBatch_id)
"""
FIRST_TO_COME = """(
    SELECT MIN(v.ProcessControlSeq) FROM Missing v
    WHERE v.ProcessBatch_id = c.ProcessBatch_id AND v.ProcessControlSeq > i.PrevProcessControlSeq)
"""
COLUMNS = ("ProcessTypes", "Populators", "Jobs")
IS_TEXT = "{0} IS NULL OR (typeof({0}) = 'text' AND instr({0}, char(0)) = 0)"


def upgrade() -> None:
    """Add the columns, and make both views anew."""
    dialect = op.get_context().dialect.name
    kind = op.get_context().dialect.type_compiler_instance.process(text_column())
    for column in COLUMNS:
        if dialect == "sqlite":
            checked = f"CONSTRAINT CK_Controller_{column}_Type CHECK ({IS_TEXT.format(column)})"
            op.execute(f"ALTER TABLE Controller ADD COLUMN {column} {kind} {checked}")
        else:
            add, null = ("ADD", " NULL") if dialect == "mssql" else ("ADD COLUMN", "")
            op.execute(f"ALTER TABLE Controller {add} {column} {kind}{null}")
    _first()._make(views(dialect, _schema()))


def downgrade() -> None:
    """Make both as they were, and drop the columns."""
    _first()._make(_before(op.get_context().dialect.name, _schema()))
    for column in COLUMNS:
        op.execute(f"ALTER TABLE Controller DROP COLUMN {column}")


def _load(name: str) -> Any:
    return load_python_file(str(Path(__file__).parent), name)


def _first() -> Any:
    """Return the migration that spells the views out."""
    return _load("0023_refused_rows_and_views.py")


def _before(dialect: str, schema: str) -> dict[str, str]:
    waiting = _load("0031_views_name_what_goes_on.py").views(dialect, schema)["vWaiting"]
    return {"vStatus": _first().views(dialect, schema)["vStatus"], "vWaiting": waiting}


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "" if elsewhere is None else f"{elsewhere}."


def views(dialect: str, schema: str = "") -> dict[str, str]:
    """Return the statement that makes each view."""
    s, made = _first().Spoken(dialect, schema), _before(dialect, schema)
    missing, is_missing = missing_plugins(s), f"{LINE}WHEN y.ProcessBatch_id IS NOT NULL THEN"
    thaw = f"{LINE}WHEN z.BatchFreeze_id IS NOT NULL THEN {s.thaw('z.BatchFreeze_id')}\n"
    unfit = "LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id\n"
    work = "LEFT JOIN UnfitWork w ON w.BatchControl_id = c.BatchControl_id\n"
    no_step = f"{LINE}WHEN NOT EXISTS (SELECT 1 FROM {s.of}ProcessControl g"
    asked = "WHEN f.PopulatorTries >= 3 THEN"
    instance = f"LEFT JOIN {s.of}BatchControl i ON i.BatchControl_id = c.BatchControl_id\n"
    status = _replaced(
        made["vStatus"],
        [
            (", Counted AS (", f", {missing}, Counted AS ("),
            (f"'frozen'\n{LINE}WHEN", f"'frozen'\n{is_missing} 'unreadable'\n{LINE}WHEN"),
            (thaw, f"{thaw}{is_missing} y.Mend\n"),
            (unfit, f"{unfit}{JOINED.format('b')}{FIRST_OF_ALL}"),
        ],
    )
    waiting = _replaced(
        made["vWaiting"],
        [
            (", UnfitWork AS (", f", {missing},\nUnfitWork AS ("),
            (no_step, f"{is_missing} y.Reason\n{no_step}"),
            (thaw, f"{thaw}{is_missing} y.Mend\n"),
            (work, f"{work}{instance}{JOINED.format('c')}{FIRST_TO_COME}"),
            (f"{LINE}{asked}", f"{is_missing} y.Reason\n{LINE}{asked}"),
            (f"x.Mend {asked}", f"x.Mend {is_missing.strip()} y.Mend\n{LINE}{asked}"),
            (f"{unfit}WHERE f.PopulatorTries", f"{unfit}{JOINED.format('b')}-1\nWHERE f.PopulatorTries"),
        ],
    )
    return {"vStatus": status, "vWaiting": waiting}


def _replaced(text: str, changes: list[tuple[str, str]]) -> str:
    for before, after in changes:
        head, found, tail = text.partition(before)
        if not found:
            raise ValueError(before)
        text = f"{head}{after}{tail}"
    return text


def missing_plugins(s: Any) -> str:
    """Return what batches (at step -1) and their steps name and no controller has, of those that run and the last that began.

    Nothing is said where one of them has not written what it has.
    """
    populator = s.joined(
        "'ProcessBatch ('", "b.ProcessBatchName", "'): Populator '''", "b.Populator", "''' is not installed'"
    )
    where = ("'ProcessControl ('", "q.ProcessBatchName", "', step '", "q.ProcessControlSeq")
    of_type = s.joined(*where, "'): ProcessType '''", "q.ProcessType", "''' is not installed'")
    of_job = s.joined(*where, "'): job '''", "q.Data1", "''' of Data1 is not installed'")
    mended = s.joined(
        *("'UPDATE ProcessControl SET '", "q.Lacks", "' = ''...'' WHERE ProcessBatch_id = '", "q.ProcessBatch_id"),
        *("' AND ProcessControlSeq = '", "q.ProcessControlSeq", "';'"),
    )
    batch_mended = s.joined(
        "'UPDATE ProcessBatch SET Populator = ''...'' WHERE ProcessBatch_id = '", "b.ProcessBatch_id", "';'"
    )
    process_type = s.bare("lower(p.ProcessType)")
    lacks_job = f"{process_type} = 'python' AND p.Data1 <> '' AND {_is_missing(s, 'Jobs', 'p.Data1')}"
    names = ", ".join(f"{s.tags(f'k.{column}')} AS {column}" for column in ("ProcessTypes", "Populators", "Jobs"))
    return f"""Offered AS (
SELECT k.Controller_id, CASE WHEN k.ProcessTypes IS NULL THEN 1 ELSE 0 END AS IsUnknown, {names}
FROM {s.of}Controller k
WHERE k.Status = 'running' OR k.Controller_id = (SELECT MAX(l.Controller_id) FROM {s.of}Controller l)
), Missing AS (
SELECT b.ProcessBatch_id, -1 AS ProcessControlSeq, {populator} AS Reason, {batch_mended} AS Mend
FROM {s.of}ProcessBatch b WHERE EXISTS (SELECT 1 FROM Offered) AND {_is_missing(s, "Populators", "b.Populator")}
UNION ALL
SELECT q.ProcessBatch_id, q.ProcessControlSeq, CASE WHEN q.Lacks = 'ProcessType' THEN {of_type} ELSE {of_job} END, {mended}
FROM (SELECT p.ProcessBatch_id, b.ProcessBatchName, p.ProcessControlSeq, {process_type} AS ProcessType, p.Data1,
      CASE WHEN {_is_missing(s, "ProcessTypes", process_type)} THEN 'ProcessType' WHEN {lacks_job} THEN 'Data1' END AS Lacks
      FROM {s.of}ProcessControl p JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = p.ProcessBatch_id
      WHERE EXISTS (SELECT 1 FROM Offered)) q
WHERE q.Lacks IS NOT NULL
)"""


def _is_missing(s: Any, column: str, name: str) -> str:
    """Say that none of the controllers has a plugin; of a name with a comma nobody can say that."""
    has = f"o.IsUnknown = 1 OR ({s.has_tag(f'o.{column}', name)})"
    return f"(replace({name}, ',', '') = {name} AND NOT EXISTS (SELECT 1 FROM Offered o WHERE {has}))"
