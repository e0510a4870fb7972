"""Refuse rows that nobody could read or miss, keep what ended an attempt, and let people write the seed's word for success.

Rows that a new constraint would refuse are named before anything is changed; whoever upgrades corrects them first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import context, op

from batchctl.domain.errors import DatabaseUnusable
from batchctl.store.columns import name
from batchctl.store.conditions import is_word, is_written_word
from batchctl.store.rewording import Rewording, reword
from batchctl.store.written_forms import (
    are_names,
    are_times_of_day,
    are_weekdays,
    is_day,
    is_day_and_time,
    is_time_or_word,
    is_window_of_day,
)

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

ADDED = (
    ("ProcessBatch", "ProcessingMode", is_word("ProcessingMode", ("manual", "scheduled", "triggered"))),
    ("ProcessBatch", "RetryWaitSecs", sa.text("RetryWaitSecs BETWEEN 0 AND 31536000")),
    *(("ProcessBatch", column, is_time_or_word(column, "none")) for column in ("ArriveBy", "StartBy", "FinishBy")),
    ("ProcessBatch", "ExpectedOn", are_weekdays("ExpectedOn")),
)
"""Constraints of columns that were added once: on SQLite they stand beside the column."""
NEXT = {
    "ProcessBatch": "CK_ProcessBatch_ProcessBatchName_Type",
    "ProcessControl": "FK_ProcessControl_ProcessBatch_id",
    "BatchDependency": "FK_BatchDependency_ProcessBatch_id",
    "Schedule": "CK_Schedule_ScheduleName_Type",
    "Calendar": "CK_Calendar_CalendarName_Type",
    "CalendarDay": "FK_CalendarDay_Calendar_id",
    "DataTrigger": "CK_DataTrigger_TriggerName_Type",
    "FileWatch": "CK_FileWatch_WatchName_Type",
    "Controller": "CK_Controller_ControllerName_Type",
}
"""Before which constraint SQLite's new ones are written."""


def _filled(column: str) -> sa.TextClause:
    return sa.text(f"{column} <> ''")


GIVEN: dict[str, tuple[tuple[str, sa.ColumnElement[bool] | sa.TextClause], ...]] = {
    "ProcessBatch": (("Entity", _filled("Entity")), ("Populator", _filled("Populator"))),
    "ProcessControl": (("ProcessType", _filled("ProcessType")),),
    "BatchDependency": (("DependsOnBatch_id", sa.text("DependsOnBatch_id <> ProcessBatch_id")),),
    "Schedule": (
        ("RunTimes_Form", are_times_of_day("RunTimes")),
        ("BetweenTimes", is_window_of_day("BetweenTimes")),
        ("RunDays_Form", are_weekdays("RunDays")),
        ("WeekOfMonth_Form", are_names("WeekOfMonth", ("first", "second", "third", "fourth", "fifth", "last"))),
        ("RunAt_Form", is_day_and_time("RunAt")),
        ("StartDate", is_day("StartDate")),
        ("EndDate", is_day("EndDate")),
    ),
    "Calendar": (
        ("BusinessDays", are_weekdays("BusinessDays", or_none=True)),
        *((column, is_day(column)) for column in ("ValidFrom", "ValidUntil")),
    ),
    "CalendarDay": (("CalendarDate_Form", is_day("CalendarDate")),),
    "DataTrigger": tuple((column, _filled(column)) for column in ("ConnectionName", "TableName", "StatusColumn")),
    "FileWatch": (("Folder", _filled("Folder")),),
    "Controller": (("Slots", sa.text("Slots >= 0")),),
}
"""Constraints of columns that are as old as their table, by what each is called behind the table's name."""
NAMED = {
    "ProcessBatch": "ProcessBatchName",
    "Schedule": "ScheduleName",
    "Calendar": "CalendarName",
    "DataTrigger": "TriggerName",
    "FileWatch": "WatchName",
    "CalendarDay": "CalendarDate",
    "ProcessControl": "ProcessName",
    "Controller": "ControllerName",
    "BatchDependency": "DependsOnBatch_id",
}
"""The column by which a person knows a row."""
KINDS = (
    *("failed", "lost", "held", "fails_often", "too_long", "too_short", "not_arrived", "not_started", "not_finished"),
    *("dependency_deadline", "calendar_ends", "no_worker", "channel_failed"),
)
NEW_KINDS = ("unreadable", "rejected", "untaken", "not_starting", "no_steps", "history_grows")
STATUSES = {
    "FileProcess": ("complete", ("ready", "paused", "complete", "rejected", "duplicate")),
    "BatchControl": (
        "ready",
        *(("ready", "running", "retry", "failed", "held", "pausing", "paused", "cancelling", "cancelled", "complete"),),
    ),
}
"""What `success` becomes, and the words that there were."""
MOST = 20
"""Rows that are named at once."""


def upgrade() -> None:
    """Add the constraints, the columns and the triggers, and make the views anew."""
    dialect = op.get_context().dialect.name
    if not context.is_offline_mode():
        _refuse_what_would_break()
    if dialect == "sqlite":
        reword([*NEXT, "Incident", *STATUSES], list(_rewordings()))
    else:
        _replace("Incident", "Kind", is_word("Kind", (*KINDS, *NEW_KINDS)))
        for table, called, condition in _all():
            _add(table, called, condition)
        for table, (_, words) in STATUSES.items() if dialect == "mssql" else ():
            _replace(table, "Status", is_written_word("Status", words, "success"))
    _add_columns()
    if dialect == "postgresql":
        for function in (SUCCESS_FUNCTION, IN_USE_FUNCTION):
            op.execute(function)
            # Whoever put one of them on a table of his own would act as the owner of ours.
        op.execute("REVOKE ALL ON FUNCTION batchctl_in_use() FROM PUBLIC")
    for _, trigger in triggers(dialect):
        op.execute(trigger)


def downgrade() -> None:
    """Take all of it away."""
    dialect = op.get_context().dialect.name
    for table, trigger in _made_triggers(dialect):
        op.execute(f"DROP TRIGGER {trigger}" + (f" ON {table}" if dialect == "postgresql" else ""))
    if dialect == "postgresql":
        op.execute("DROP FUNCTION batchctl_success()")
        op.execute("DROP FUNCTION batchctl_in_use()")
    for column in ("ErrorLine", "ErrorCode"):
        op.execute(f"ALTER TABLE BatchProcessHistory DROP COLUMN {column}")
    op.execute(f"DELETE FROM AlertDelivery WHERE Incident_id IN (SELECT Incident_id FROM Incident WHERE Kind IN ({_listed(NEW_KINDS)}))")
    op.execute(f"DELETE FROM Incident WHERE Kind IN ({_listed(NEW_KINDS)})")
    if dialect == "sqlite":
        reword([*NEXT, "Incident", *STATUSES], [(after, before) for before, after in _rewordings()])
        return
    for table, called, _ in _all():
        _drop(table, called)
    _replace("Incident", "Kind", is_word("Kind", KINDS))
    for table, (_, words) in STATUSES.items() if dialect == "mssql" else ():
        _replace(table, "Status", is_word("Status", words))


def _all() -> Iterator[tuple[str, str, Any]]:
    yield from ADDED
    for table, constraints in GIVEN.items():
        yield from ((table, called, condition) for called, condition in constraints)


def _said(condition: Any) -> str:
    return str(condition.compile(dialect=op.get_context().dialect))


def _replace(table: str, called: str, condition: Any) -> None:
    _drop(table, called)
    _add(table, called, condition)


def _add(table: str, called: str, condition: Any) -> None:
    op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {_named(table, called)} CHECK ({_said(condition)})")


def _drop(table: str, called: str) -> None:
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {_named(table, called)}")


def _named(table: str, called: str) -> str:
    return op.get_context().dialect.identifier_preparer.quote_identifier(f"CK_{table}_{called}")


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _rewordings() -> Iterator[Rewording]:
    """Yield how SQLite's tables are written before and after."""
    for table, column, condition in ADDED:
        beside = f"CONSTRAINT CK_{table}_{column}_Type CHECK ({_type_of(column)})"
        yield beside, f"{beside} CONSTRAINT CK_{table}_{column} CHECK ({_said(condition)})"
    for table, constraints in GIVEN.items():
        behind = f'CONSTRAINT "{NEXT[table]}"'
        made = "".join(f'CONSTRAINT "CK_{table}_{called}" CHECK ({_said(condition)}), ' for called, condition in constraints)
        yield behind, made + behind
    kind = 'CONSTRAINT "CK_Incident_Kind" CHECK ({})'
    yield (
        kind.format(_said(is_word("Kind", KINDS))),
        kind.format(_said(is_word("Kind", (*KINDS, *NEW_KINDS)))),
    )
    for table, (_, words) in STATUSES.items():
        status = f'CONSTRAINT "CK_{table}_Status" CHECK ({{}})'
        yield (
            status.format(_said(is_word("Status", words))),
            status.format(_said(is_written_word("Status", words, "success"))),
        )


def _type_of(column: str) -> str:
    """Return what an added column's constraint says of its type."""
    if column == "RetryWaitSecs":
        return f"{column} IS NULL OR (typeof({column}) = 'integer')"
    if column == "ProcessingMode":
        return f"{column} IS NULL OR (typeof({column}) = 'text')"
    return f"{column} IS NULL OR (typeof({column}) = 'text' AND instr({column}, char(0)) = 0 AND length({column}) <= 50)"


def _refuse_what_would_break() -> None:
    found = list[str]()
    for table, called, condition in _all():
        column = called.removesuffix("_Form")
        asked = f"SELECT {table}_id, {NAMED[table]}, {column} FROM {table} WHERE NOT ({_said(condition)}) ORDER BY 1 LIMIT {MOST}"
        if op.get_context().dialect.name == "mssql":
            asked = asked.replace("SELECT", f"SELECT TOP {MOST}", 1).removesuffix(f" LIMIT {MOST}")
        for row_id, known_as, value in op.get_bind().exec_driver_sql(asked):
            found.append(f"{table} {row_id} ({known_as}): {column} is '{value}'")
    if found:
        shown = "; ".join(found[:MOST]) + (f"; and {len(found) - MOST} more" if len(found) > MOST else "")
        message = f"Rows hold what the engine cannot go by, and from schema {revision} on the database refuses it. {shown}."
        first, _, rest = found[0].partition(" ")
        row_id, column = rest.split(" ", 1)[0], rest.partition("): ")[2].split(" ", 1)[0]
        correct = f"correct each, such as UPDATE {first} SET {column} = ... WHERE {first}_id = {row_id}"
        raise DatabaseUnusable(message, next_step=f"{correct}; then: batchctl db upgrade")


def _add_columns() -> None:
    dialect = op.get_context().dialect
    table = "BatchProcessHistory"
    if dialect.name == "sqlite":
        text = "typeof(ErrorCode) = 'text' AND instr(ErrorCode, char(0)) = 0 AND length(ErrorCode) <= 50"
        of_code = f"CONSTRAINT CK_{table}_ErrorCode_Type CHECK (ErrorCode IS NULL OR ({text}))"
        of_line = f"CONSTRAINT CK_{table}_ErrorLine_Type CHECK (ErrorLine IS NULL OR (typeof(ErrorLine) = 'integer'))"
        op.execute(f"ALTER TABLE {table} ADD COLUMN ErrorCode VARCHAR(50) {of_code}")
        op.execute(f"ALTER TABLE {table} ADD COLUMN ErrorLine INTEGER {of_line}")
        return
    add, null = ("ADD", " NULL") if dialect.name == "mssql" else ("ADD COLUMN", "")
    op.execute(f"ALTER TABLE {table} {add} ErrorCode {dialect.type_compiler_instance.process(name(50))}{null}")
    op.execute(f"ALTER TABLE {table} {add} ErrorLine INTEGER{null}")


def triggers(dialect: str) -> Iterator[tuple[str, str]]:
    """Yield the triggers with their tables: what `success` means, and what may not go while there is work of it."""
    for table, (word, _) in STATUSES.items():
        yield from ((table, each) for each in _success(dialect, table, word))
    yield from _in_use(dialect)


def _made_triggers(dialect: str) -> Iterator[tuple[str, str]]:
    for table, made in triggers(dialect):
        yield table, made.split("CREATE TRIGGER ", 1)[1].split(" ", 1)[0]


def _success(dialect: str, table: str, word: str) -> Iterator[str]:
    """Yield what writes the engine's word in the place of the seed's."""
    called, key = f"TR_{table}_Success", f"{table}_id"
    match dialect:
        case "sqlite":
            change = f"UPDATE {table} SET Status = '{word}' WHERE {key} = NEW.{key}"
            for event in ("INSERT", "UPDATE OF Status"):
                made = called + event.split()[0].capitalize()
                yield f"CREATE TRIGGER {made} AFTER {event} ON {table} WHEN NEW.Status = 'success' BEGIN {change}; END"
        case "postgresql":
            yield (
                f"CREATE TRIGGER {called} BEFORE INSERT OR UPDATE OF Status ON {table} FOR EACH ROW"
                f" WHEN (lower(NEW.Status) = 'success') EXECUTE FUNCTION batchctl_success('{word}')"
            )
        case _:
            yield _as_batch(
                f"CREATE TRIGGER {called} ON {table} AFTER INSERT, UPDATE AS\nBEGIN\n    SET NOCOUNT ON;\n"
                f"    UPDATE w SET Status = '{word}' FROM {table} AS w JOIN inserted AS i ON i.{key} = w.{key}\n"
                "    WHERE w.Status = 'success';\nEND"
            )


def _in_use(dialect: str) -> Iterator[tuple[str, str]]:
    """Yield what keeps the rows that work needs; on SQLite foreign keys are off unless a client asks for them."""
    of_step = "h.Status = 'running' AND h.ProcessBatch_id = {0}.ProcessBatch_id AND h.ProcessControlSeq = {0}.ProcessControlSeq"
    running = f"SELECT 1 FROM BatchProcessHistory {'AS ' if dialect == 'mssql' else ''}h WHERE {of_step}"
    if dialect == "sqlite":
        for table, kept_by, said in (
            ("ProcessBatch", ("BatchControl", "ProcessControl"), "has instances or steps: disable it instead"),
            ("FileProcess", ("BatchControl",), "has instances: cancel these instead"),
        ):
            exists = " OR ".join(f"EXISTS (SELECT 1 FROM {one} w WHERE w.{table}_id = OLD.{table}_id)" for one in kept_by)
            refuse = f"SELECT RAISE(ABORT, 'batchctl: the {table} row {said}')"
            yield table, f"CREATE TRIGGER TR_{table}_InUse BEFORE DELETE ON {table} WHEN {exists} BEGIN {refuse}; END"
        refuse = f"SELECT RAISE(ABORT, '{STEP_RUNS}')"
        moved = "NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id OR NEW.ProcessControlSeq IS NOT OLD.ProcessControlSeq"
        for event, when in (("DELETE", ""), ("UPDATE", f"({moved}) AND ")):
            called, runs = f"TR_ProcessControl_InUse{event.capitalize()}", running.format("OLD")
            yield (
                "ProcessControl",
                f"CREATE TRIGGER {called} BEFORE {event} ON ProcessControl WHEN {when}EXISTS ({runs}) BEGIN {refuse}; END",
            )
    elif dialect == "postgresql":
        at = "BEFORE DELETE OR UPDATE OF ProcessBatch_id, ProcessControlSeq ON ProcessControl FOR EACH ROW"
        yield "ProcessControl", f"CREATE TRIGGER TR_ProcessControl_InUse {at} EXECUTE FUNCTION batchctl_in_use()"
    else:
        stays = "i.ProcessBatch_id = d.ProcessBatch_id AND i.ProcessControlSeq = d.ProcessControlSeq"
        yield (
            "ProcessControl",
            _as_batch(
                "CREATE TRIGGER TR_ProcessControl_InUse ON ProcessControl AFTER UPDATE, DELETE AS\nBEGIN\n    SET NOCOUNT ON;\n"
                f"    IF EXISTS (SELECT 1 FROM deleted AS d WHERE EXISTS ({running.format('d')})\n"
                f"        AND NOT EXISTS (SELECT 1 FROM inserted AS i WHERE {stays}))\n"
                f"        THROW 51000, N'{STEP_RUNS}', 1;\nEND"
            ),
        )


STEP_RUNS = "batchctl: the ProcessControl row is a step that runs at this moment: wait for it, or cancel the instance"
SUCCESS_FUNCTION = """
CREATE FUNCTION batchctl_success() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.Status := TG_ARGV[0];
    RETURN NEW;
END
$$
"""
IN_USE_FUNCTION = f"""
CREATE FUNCTION batchctl_in_use() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    runs boolean;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.ProcessBatch_id = OLD.ProcessBatch_id AND NEW.ProcessControlSeq = OLD.ProcessControlSeq THEN
        RETURN NEW;
    END IF;
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'BatchProcessHistory h WHERE h.Status = ''running'''
            ' AND h.ProcessBatch_id = $1 AND h.ProcessControlSeq = $2)'
    INTO runs USING OLD.ProcessBatch_id, OLD.ProcessControlSeq;
    IF runs THEN
        RAISE EXCEPTION USING MESSAGE = '{STEP_RUNS}', ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
END
$$
"""


def _as_batch(statement: str) -> str:
    """Return a statement that has to be the first of a batch, for a script in which something stands before it."""
    quoted = statement.replace("'", "''")
    return f"EXEC sp_executesql N'{quoted}'"
