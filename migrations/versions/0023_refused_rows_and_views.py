"""Refuse rows that nobody could read or miss, keep what ended an attempt, and let people write the seed's word for success.

Rows that a new constraint would refuse are named before anything is changed; whoever upgrades corrects them first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import context, op
from alembic.util import load_python_file

from batchctl.domain.errors import DatabaseUnusable
from batchctl.store.columns import name
from batchctl.store.conditions import differing, is_word, is_written_word
from batchctl.store.rewording import Rewording, reword
from batchctl.store.written_forms import (
    are_times_of_day,
    is_day,
    is_day_and_time,
    is_time_or_word,
    is_window_of_day,
)

SHOWN = re.compile(r"'(?=(?:INSERT INTO|UPDATE) [A-Z])")
"""Where a statement begins that a view shows."""

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def are_names(column: str, names: tuple[str, ...], *, ranges: bool = False) -> differing:
    """Return the constraint that a column holds some names with commas between them, in any letter case.

    Each becomes a sign, and so does each range; then there may be nothing but signs with commas, and these are taken away.
    """
    left = f"lower(replace({column}, ' ', ''))"
    for each in names:
        left = f"replace({left}, '{each}', '#')"
    if ranges:
        left = f"replace({left}, '#-#', '#')"
    said = f"replace(',' {{0}} {left} {{0}} ',', '#,', '') = ','"
    return differing(said.format("||"), said.format("||"), said.format("+"))


def are_weekdays(column: str, *, or_none: bool = False) -> differing:
    """Return the constraint that a column holds days of the week, or ranges of them, with commas between them."""
    made = are_names(column, ("mon", "tue", "wed", "thu", "fri", "sat", "sun"), ranges=True)
    return differing(*(f"trim({column}) = '' OR {each}" for each in made.clauses)) if or_none else made


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
        for function in (SUCCESS_FUNCTION, IN_USE_FUNCTION, PAUSED_FUNCTION, SQL_JOB_FUNCTION):
            op.execute(function)
        # Whoever put one of them on a table of his own would act as the owner of ours.
        for called in ("batchctl_in_use", "batchctl_paused"):
            op.execute(f"REVOKE ALL ON FUNCTION {called}() FROM PUBLIC")
    _make(views(dialect, _schema()))
    for table, trigger in triggers(dialect):
        made = trigger.replace("CREATE TRIGGER ", f"CREATE TRIGGER {_schema()}", 1)
        op.execute(made.replace(f" ON {table} ", f" ON {_schema()}{table} ", 1))


def downgrade() -> None:
    """Take all of it away."""
    dialect = op.get_context().dialect.name
    for called in ("vSqlJob", "vSchedule", "vHistory", "vFailed"):
        # They have got columns, which no REPLACE takes away.
        op.execute(f"DROP VIEW {called}")
    before: Any = load_python_file(str(Path(__file__).parent), "0022_views_as_the_engine_reads.py")
    _make(before.views(dialect, _schema()))
    for table, trigger in _made_triggers(dialect):
        if table in NAMES:
            continue  # It went with its view.
        op.execute(f"DROP TRIGGER {trigger}" + (f" ON {table}" if dialect == "postgresql" else ""))
    if dialect == "postgresql":
        for called in ("sql_job", "success", "in_use", "paused"):
            op.execute(f"DROP FUNCTION batchctl_{called}()")
    for column in ("ErrorLine", "ErrorCode"):
        op.execute(f"ALTER TABLE BatchProcessHistory DROP COLUMN {column}")
    op.execute(
        f"DELETE FROM AlertDelivery WHERE Incident_id IN (SELECT Incident_id FROM Incident WHERE Kind IN ({_listed(NEW_KINDS)}))"
    )
    op.execute(f"DELETE FROM Incident WHERE Kind IN ({_listed(NEW_KINDS)})")
    if dialect == "sqlite":
        reword([*NEXT, "Incident", *STATUSES], [(after, before) for before, after in _rewordings()])
    else:
        for table, called, _ in _all():
            _drop(table, called)
        _replace("Incident", "Kind", is_word("Kind", KINDS))
        for table, (_, words) in STATUSES.items() if dialect == "mssql" else ():
            _replace(table, "Status", is_word("Status", words))


def _make(made: dict[str, str]) -> None:
    for called, statement in made.items():
        # Elsewhere one is replaced, and the rights on it, and the views that somebody has made upon it, stay.
        if op.get_context().dialect.name == "sqlite":
            op.execute(f"DROP VIEW IF EXISTS {called}")
        # sqlcmd and SQL Agent have to be told so before they may write a table with a filtered index (error 1934).
        told = (
            SHOWN.sub("'SET QUOTED_IDENTIFIER ON; ", statement)
            if op.get_context().dialect.name == "mssql"
            else statement
        )
        op.get_context().impl.execute(sa.DDL(told.replace("%", "%%")))


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    if op.get_context().as_sql or op.get_context().bind is None:
        return ""
    elsewhere = (op.get_context().bind.get_execution_options().get("schema_translate_map") or {}).get(None)
    return "" if elsewhere is None else f"{elsewhere}."


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
    op.execute(f"ALTER TABLE {_schema()}{table} ADD CONSTRAINT {_named(table, called)} CHECK ({_said(condition)})")


def _drop(table: str, called: str) -> None:
    op.execute(f"ALTER TABLE {_schema()}{table} DROP CONSTRAINT {_named(table, called)}")


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
        made = "".join(
            f'CONSTRAINT "CK_{table}_{called}" CHECK ({_said(condition)}), ' for called, condition in constraints
        )
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
    return (
        f"{column} IS NULL OR (typeof({column}) = 'text' AND instr({column}, char(0)) = 0 AND length({column}) <= 50)"
    )


def _refuse_what_would_break() -> None:
    found = list[str]()
    for table, called, condition in _all():
        column = called.removesuffix("_Form")
        wrong = f"FROM {_schema()}{table} WHERE NOT ({_said(condition)}) ORDER BY 1"
        asked = f"SELECT {table}_id, {NAMED[table]}, {column} {wrong} LIMIT {MOST}"
        if op.get_context().dialect.name == "mssql":
            asked = asked.replace("SELECT", f"SELECT TOP {MOST}", 1).removesuffix(f" LIMIT {MOST}")
        for row_id, known_as, value in op.get_bind().exec_driver_sql(asked):
            found.append(f"{table} {row_id} ({known_as}): {column} is '{value}'")
    if found:
        shown = "; ".join(found[:MOST]) + (f"; and {len(found) - MOST} more" if len(found) > MOST else "")
        message = (
            f"Rows hold what the engine cannot go by, and from schema {revision} on the database refuses it. {shown}."
        )
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
    table = f"{_schema()}{table}"
    op.execute(f"ALTER TABLE {table} {add} ErrorCode {dialect.type_compiler_instance.process(name(50))}{null}")
    op.execute(f"ALTER TABLE {table} {add} ErrorLine INTEGER{null}")


def triggers(dialect: str) -> Iterator[tuple[str, str]]:
    """Yield the triggers with their tables: what `success` means, and what may not go while there is work of it."""
    for table, (word, _) in STATUSES.items():
        yield from ((table, each) for each in _success(dialect, table, word))
    yield from _in_use(dialect)
    yield "FileProcess", _paused(dialect)
    yield "vSqlJob", _sql_job(dialect)


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
                # Whatever is written comes here: the table is written again only for who has said so.
                "    IF EXISTS (SELECT 1 FROM inserted AS s WHERE s.Status = 'success')\n    BEGIN\n"
                f"        UPDATE w SET Status = '{word}' FROM {table} AS w JOIN inserted AS i ON i.{key} = w.{key}\n"
                "        WHERE w.Status = 'success';\n    END;\nEND"
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
            exists = " OR ".join(
                f"EXISTS (SELECT 1 FROM {one} w WHERE w.{table}_id = OLD.{table}_id)" for one in kept_by
            )
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


def _paused(dialect: str) -> str:
    """Return what refuses to pause a row that is work already: its instances would go on all the same."""
    called, at = "TR_FileProcess_Paused", "BEFORE UPDATE OF Status ON FileProcess"
    match dialect:
        case "sqlite":
            made = "EXISTS (SELECT 1 FROM BatchControl w WHERE w.FileProcess_id = OLD.FileProcess_id)"
            when = f"NEW.Status = 'paused' AND OLD.Status <> 'paused' AND {made}"
            return f"CREATE TRIGGER {called} {at} WHEN {when} BEGIN SELECT RAISE(ABORT, '{IS_WORK}'); END"
        case "postgresql":
            when = "lower(NEW.Status) = 'paused' AND OLD.Status <> 'paused'"
            return f"CREATE TRIGGER {called} {at} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION batchctl_paused()"
        case _:
            made = "SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = i.FileProcess_id"
            was = "JOIN deleted AS d ON d.FileProcess_id = i.FileProcess_id"
            when = f"i.Status = 'paused' AND d.Status <> 'paused' AND EXISTS ({made})"
            return _as_batch(
                f"CREATE TRIGGER {called} ON FileProcess AFTER UPDATE AS\nBEGIN\n    SET NOCOUNT ON;\n"
                f"    IF EXISTS (SELECT 1 FROM inserted AS i {was}\n        WHERE {when})\n"
                f"        THROW 51000, N'{IS_WORK}', 1;\nEND"
            )


def _sql_job(dialect: str) -> str:
    """Return what makes a batch, its step and its schedule of a row: what stands in the SQL is no placeholder."""
    braces = "replace(replace({0}, '{{', '{{{{'), '}}', '}}}}')"
    if dialect == "postgresql":
        return "CREATE TRIGGER TR_vSqlJob_Insert INSTEAD OF INSERT ON vSqlJob FOR EACH ROW EXECUTE FUNCTION batchctl_sql_job()"
    of, rows = ("NEW.", "") if dialect == "sqlite" else ("i.", " FROM inserted AS i")
    parts = "substr({0}, {1}, {2})" if dialect == "sqlite" else "SUBSTRING({0}, {1}, {2})"
    at, daily = f"{of}FirstRunOn", f"COALESCE({of}IsRepeatable, 0) <> 0"
    insert = (
        f"INSERT INTO ProcessBatch (ProcessBatchName, OnFailure, Origin) SELECT {of}JobName, 'continue', 'sql'{rows};",
        (
            "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)"
            f" SELECT b.ProcessBatch_id, 10, {of}JobName, 'sql', {braces.format(f'{of}ConnectionName')},"
            f" {braces.format(f'{of}ScheduledSql')} FROM ProcessBatch {'AS b JOIN inserted AS i ON' if rows else 'b WHERE'}"
            f" b.ProcessBatchName = {of}JobName;"
        ),
        (
            "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, StartDate, RunAt, TimeZone, CatchUp, Enabled,"
            " Origin)"
            f" SELECT {of}JobName, {of}JobName, CASE WHEN {daily} THEN 'daily' ELSE 'once' END,"
            f" CASE WHEN {daily} THEN {parts.format(at, 12, 5)} END, CASE WHEN {daily} THEN {parts.format(at, 1, 10)} END,"
            f" CASE WHEN NOT ({daily}) THEN {at} END, {of}TimeZone, 'latest', COALESCE({of}IsEnabled, 1), 'sql'{rows};"
        ),
    )
    lacks = f"{of}ConnectionName IS NULL OR {of}ScheduledSql IS NULL"
    if dialect == "sqlite":
        refuse = f"SELECT RAISE(ABORT, '{JOB_LACKS}') WHERE {lacks};"
        return f"CREATE TRIGGER TR_vSqlJob_Insert INSTEAD OF INSERT ON vSqlJob BEGIN {refuse} {' '.join(insert)} END"
    made = "\n    ".join(insert)
    return _as_batch(
        "CREATE TRIGGER TR_vSqlJob_Insert ON vSqlJob INSTEAD OF INSERT AS\nBEGIN\n    SET NOCOUNT ON;\n"
        f"    IF EXISTS (SELECT 1 FROM inserted AS i WHERE {lacks})\n        THROW 51000, N'{JOB_LACKS}', 1;\n    {made}\nEND"
    )


IS_WORK = (
    "batchctl: the FileProcess row has instances: pause these (batchctl pause ID --reason ...), which inbox show names"
)
PAUSED_FUNCTION = f"""
CREATE FUNCTION batchctl_paused() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made boolean;
BEGIN
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || quote_ident(TG_TABLE_SCHEMA) || '.BatchControl w WHERE w.FileProcess_id = $1)'
    INTO made USING OLD.FileProcess_id;
    IF made THEN
        RAISE EXCEPTION '{IS_WORK}';
    END IF;
    RETURN NEW;
END
$$
"""
JOB_LACKS = "batchctl: a job needs JobName, ConnectionName, ScheduledSql and FirstRunOn"
SQL_JOB_FUNCTION = f"""
CREATE FUNCTION batchctl_sql_job() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    batch bigint;
    daily boolean := COALESCE(NEW.IsRepeatable, 0) <> 0;
BEGIN
    IF NEW.ConnectionName IS NULL OR NEW.ScheduledSql IS NULL THEN
        RAISE EXCEPTION '{JOB_LACKS}';
    END IF;
    INSERT INTO ProcessBatch (ProcessBatchName, OnFailure, Origin) VALUES (NEW.JobName, 'continue', 'sql')
    RETURNING ProcessBatch_id INTO batch;
    INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
    VALUES (batch, 10, NEW.JobName, 'sql', replace(replace(NEW.ConnectionName, '{{', '{{{{'), '}}', '}}}}'),
            replace(replace(NEW.ScheduledSql, '{{', '{{{{'), '}}', '}}}}'));
    INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, StartDate, RunAt, TimeZone, CatchUp, Enabled, Origin)
    VALUES (NEW.JobName, NEW.JobName, CASE WHEN daily THEN 'daily' ELSE 'once' END,
            CASE WHEN daily THEN substr(NEW.FirstRunOn, 12, 5) END, CASE WHEN daily THEN substr(NEW.FirstRunOn, 1, 10) END,
            CASE WHEN NOT daily THEN NEW.FirstRunOn END, NEW.TimeZone, 'latest', COALESCE(NEW.IsEnabled, 1), 'sql');
    RETURN NEW;
END
$$
"""
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


NAMES = ("vStatus", "vFailed", "vWaiting", "vRunning", "vLate", "vHistory", "vSchedule", "vInbox", "vSqlJob")


def views(dialect: str, schema: str = "") -> dict[str, str]:
    """Return the statement that makes each view; `schema` with its dot stands before each name where it is not the default."""
    spoken = Spoken(dialect, schema)
    written = (status, failed, waiting, running, late, history, schedule, inbox, sql_job)
    return {
        name: f"{spoken.create} {schema}{name} AS{write(spoken)}" for name, write in zip(NAMES, written, strict=True)
    }


_BLANKS = (*range(9, 14), *range(28, 33), 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288)
_BLANK = r"[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""What the engine leaves away before and after a name or a number."""


class Spoken:
    """One database's way of saying it."""

    def __init__(self, dialect: str, schema: str) -> None:
        self.dialect = dialect
        self.of = schema
        """What stands before the name of a table."""

    def _each(self, sqlite: str, postgresql: str, mssql: str) -> str:
        return {"sqlite": sqlite, "postgresql": postgresql, "mssql": mssql}[self.dialect]

    @property
    def create(self) -> str:
        """Make one that may be there already where a database can be told so: rights, and views upon it, stay."""
        return self._each("CREATE VIEW", "CREATE OR REPLACE VIEW", "CREATE OR ALTER VIEW")

    @property
    def now(self) -> str:
        """Return the moment of the question, in UTC."""
        return self._each(
            "strftime('%Y-%m-%d %H:%M:%f', 'now')", "(statement_timestamp() AT TIME ZONE 'UTC')", "SYSUTCDATETIME()"
        )

    def ago(self, seconds: int) -> str:
        """Return the moment some seconds before the question."""
        return self._each(
            f"strftime('%Y-%m-%d %H:%M:%f', 'now', '-{seconds} seconds')",
            f"(statement_timestamp() AT TIME ZONE 'UTC' - interval '{seconds} seconds')",
            f"DATEADD(second, -{seconds}, SYSUTCDATETIME())",
        )

    def later(self, at: str, seconds: str) -> str:
        """Return a time some seconds after another; nothing where that is so late, or so early, that there may be none."""
        return self._each(
            f"strftime('%Y-%m-%d %H:%M:%f', {at}, ({seconds}) || ' seconds')",
            f"CASE WHEN {at} < '5000-01-01' AND ({at} > '4000-01-01 BC' OR NOT isfinite({at}))"
            f" THEN {at} + ({seconds}) * interval '1 second' END",
            f"CASE WHEN {at} BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, {seconds}, {at}) END",
        )

    def local(self, at: str) -> str:
        """Show a time as the clocks of the business time zone do; nothing where that is not known."""
        # On SQLite somebody may have written it without what follows the minute.
        whole = self._each(f"strftime('%Y-%m-%d %H:%M:%f', {at})", at, at)
        found = self.later(at, "o.OffsetSeconds")
        # A hand may have added an offset for times that have one: two answers are an error, but on SQLite, which takes the first.
        # SQL Server makes no aggregate of columns of two queries (error 8124).
        one = self._each(found, f"MIN({found})", f"TOP 1 {found}")
        first = self._each("", "", " ORDER BY o.FromTime")
        return f"(SELECT {one} FROM {self.of}ZoneOffset o WHERE o.UntilTime > {whole} AND o.FromTime <= {whole}{first})"

    def seconds(self, begin: str, end: str) -> str:
        """Return how long something takes; nothing where that is endless."""
        return self._each(
            f"round((julianday({end}) - julianday({begin})) * 86400.0, 3)",
            f"CASE WHEN isfinite({begin}) AND isfinite({end})"
            f" THEN round(EXTRACT(EPOCH FROM {end}) - EXTRACT(EPOCH FROM {begin}), 3) END",
            f"CAST(DATEDIFF_BIG(millisecond, {begin}, {end}) / 1000.0 AS decimal(18, 3))",
        )

    def said(self, at: str) -> str:
        """Write a time as the command line does, to which what is endless is the last time or the first that it knows."""
        return self._each(
            f"strftime('%Y-%m-%d %H:%M:%S', {at}) || ' UTC'",
            f"CASE WHEN {at} > '9999-12-31 23:59:59' THEN '9999-12-31 23:59:59'"
            f" WHEN {at} < '0001-01-01' THEN '0001-01-01 00:00:00' ELSE to_char({at}, 'YYYY-MM-DD HH24:MI:SS') END || ' UTC'",
            f"CONVERT(varchar(19), {at}, 120) + ' UTC'",
        )

    def joined(self, *parts: str) -> str:
        """Put texts and numbers together."""
        if self.dialect == "mssql":
            return f"CONCAT({', '.join(parts)})"
        return f"({' || '.join(parts)})"

    def quoted(self, text: str) -> str:
        """Write a text as SQL writes one."""
        return self.joined("''''", f"replace({text}, '''', '''''')", "''''")

    def word(self, column: str) -> str:
        """Write a word in lower case; on SQL Server as names are compared, or it would go together with none."""
        return f"lower({column}){self._each('', '', ' COLLATE Latin1_General_100_BIN2')}"

    def among(self, column: str, *words: str) -> str:
        """Say that a column holds one of some words, as the condition of an index does."""
        if self.dialect == "sqlite":
            return "(" + " OR ".join(f"{column} = '{word}'" for word in words) + ")"
        listed = ", ".join(f"'{word}'" for word in words)
        return f"{column} IN ({listed})"

    def bare(self, text: str) -> str:
        """Leave away what stands before and after a text and cannot be seen, as the engine does."""
        return self._each(
            f"trim({text}, char({', '.join(map(str, _BLANKS))}))",
            # Only so it can be written where the database holds no such characters.
            f"regexp_replace({text}, '^{_BLANK}+|{_BLANK}+$', '', 'g')",
            f"TRIM({self._blanks} FROM {text})",
        )

    @property
    def _blanks(self) -> str:
        return f"CONCAT({', '.join(f'NCHAR({code})' for code in _BLANKS)})"

    def tags(self, text: str) -> str:
        """Return the names that stand between commas as `has_tag` looks through them."""
        if self.dialect != "mssql":
            return text
        # What splits texts there is not to be had in a database that came from an older server. The comma at the end is for
        # both to be as long also to who does not count the blanks there.
        tidied = f"TRANSLATE({text}, CONCAT({self._blanks}, N','), CONCAT(REPLICATE(N' ', {len(_BLANKS)}), N','))"
        for many in (16, 8, 4, 2, 1):
            tidied = f"REPLACE(REPLACE({tidied}, '{' ' * many},', ','), ',{' ' * many}', ',')"
        return f"CONCAT(',', TRIM({tidied}), ',')"

    def has_tag(self, tags: str, name: str) -> str:
        """Say that a name is among tags."""
        if self.dialect == "mssql":
            return f"{name} NOT LIKE '%,%' AND CHARINDEX(CONCAT(',', {name}, ','), {tags}) > 0"
        names = self._each(
            f"json_each('[' || replace(json_quote(CAST({tags} AS text)), ',', '\",\"') || ']') t",
            f"unnest(string_to_array({tags}, ',')) AS t(value)",
            "",
        )
        return f"EXISTS (SELECT 1 FROM {names} WHERE {self.bare('t.value')} = {name})"

    @property
    def limit(self) -> str:
        """Return Setting MaxConcurrent; nothing where that is no number."""
        value = self.bare("Value")
        return self._each(
            f"CASE WHEN {value} GLOB '[0-9]*' AND {value} NOT GLOB '*[^0-9]*' THEN CAST({value} AS integer) END",
            f"CASE WHEN {value} ~ '^0*[0-9]{{1,18}}$' THEN CAST({value} AS bigint) END",
            f"CASE WHEN {value} NOT LIKE '%[^0-9]%' AND {value} LIKE '%[0-9]%' THEN TRY_CAST({value} AS bigint) END",
        )

    def act(self, action: str, instance: str) -> str:
        """Write the statement with which somebody asks for an act on an instance."""
        begin = f"'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''{action}'', '"
        return self.joined(begin, instance, "', ''...'');'")

    def act_on_batch(self, action: str, name: str) -> str:
        """Write the statement with which somebody asks for an act on a batch."""
        begin = f"'INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''{action}'', '"
        return self.joined(begin, self.quoted(name), "', ''...'');'")

    def thaw(self, freeze: str) -> str:
        """Write the statement with which somebody asks that a freeze ends."""
        begin = "'INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''thaw'', ''{\"id\": '"
        return self.joined(begin, freeze, "'}'', ''...'');'")

    def look(self, view: str, condition: str, value: str) -> str:
        """Write the statement that shows the rows of a view that matter."""
        return self.joined(f"'SELECT * FROM {view} WHERE {condition} = '", value, "';'")

    def twin(self, at: str, called: str) -> str:
        """Show a time in UTC, and beside it in the business time zone."""
        return f"{at} AS {called}, {self.local(at)} AS {called}Local"


GRACE = 60
"""Seconds after which what is due and has not begun counts as late."""
IN_LINE = ("ready", "retry", "failed", "held")
CLAIMED = ("running", "pausing", "cancelling")
OVER = ("complete", "cancelled")


def frozen(s: Spoken) -> str:
    """Return what holds, and which freeze each batch has, of several the one that lasts longest."""

    def concerns(z: str) -> str:
        return (
            f"(({z}.Tag IS NULL AND ({z}.ProcessBatchName IS NULL OR {z}.ProcessBatchName = b.ProcessBatchName))"
            f" OR ({z}.Tag <> '' AND {s.has_tag('b.Tags', f'{z}.Tag')}))"
        )

    return f"""Holding AS (
SELECT f.BatchFreeze_id, f.ProcessBatchName, {s.bare("lower(f.Tag)")} AS Tag, f.UntilTime
FROM {s.of}BatchFreeze f WHERE f.ThawedTime IS NULL AND (f.UntilTime IS NULL OR f.UntilTime > {s.now})
), Frozen AS (
SELECT b.ProcessBatch_id, COALESCE(
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE z.UntilTime IS NULL AND {concerns("z")}),
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE {concerns("z")} AND z.UntilTime = (
        SELECT MAX(y.UntilTime) FROM Holding y WHERE {concerns("y")}))
    ) AS BatchFreeze_id
FROM (SELECT ProcessBatch_id, ProcessBatchName, {s.tags("lower(Tags)")} AS Tags FROM {s.of}ProcessBatch) b
)"""


_READ = (
    ("ProcessingMode", "lower({0}) NOT IN ('manual', 'scheduled', 'triggered')", "NULL"),
    ("OnFailure", "lower({0}) NOT IN ('hold_batch', 'stop_all', 'continue')", "''hold_batch''"),
    ("DependencyMode", "lower({0}) NOT IN ('all', 'any')", "''all''"),
    ("RetryWaitSecs", "{0} NOT BETWEEN 0 AND 31536000", "NULL"),
)
"""What the engine could not read of a batch, and what a column may hold instead."""
_NUMBERS = (("Seq", "100"), ("RetryCount", "0"), ("RetryWaitMins", "5"), ("MaxConcurrent", "1"))
"""Columns that hold no number only on SQLite, where somebody switched the constraints off."""


def unfit(s: Spoken) -> str:
    """Return the batches that nothing can go by, with the row, the column and the statement that mends it."""
    read = [*_READ]
    if s.dialect == "sqlite":
        read += [(column, "typeof({0}) <> 'integer'", default) for column, default in _NUMBERS]
    column, mend = (
        "CASE " + " ".join(f"WHEN {wrong.format(f'b.{name}')} THEN '{said}'" for name, wrong, said in each) + " END"
        for each in (
            [(name, wrong, name) for name, wrong, _ in read],
            [(name, wrong, f"{name} = {default}") for name, wrong, default in read],
        )
    )
    row = s.joined("'ProcessBatch '", "b.ProcessBatch_id", "' ('", "b.ProcessBatchName", "')'")
    step = s.joined("'ProcessControl '", "MIN(p.ProcessControl_id)")
    mended = s.joined("'UPDATE ProcessBatch SET '", mend, "' WHERE ProcessBatch_id = '", "b.ProcessBatch_id", "';'")
    step_mended = s.joined(
        "'UPDATE ProcessControl SET OnLost = ''hold'' WHERE ProcessControl_id = '", "MIN(p.ProcessControl_id)", "';'"
    )
    return f"""Unfit AS (
SELECT b.ProcessBatch_id, {row} AS RowName, {column} AS ColumnName, {mended} AS Mend
FROM {s.of}ProcessBatch b WHERE {column} IS NOT NULL
UNION ALL
SELECT p.ProcessBatch_id, {step}, 'OnLost', {step_mended}
FROM {s.of}ProcessControl p JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = p.ProcessBatch_id
WHERE lower(p.OnLost) NOT IN ('hold', 'rerun', 'verify') AND {column} IS NULL GROUP BY p.ProcessBatch_id
)"""


def status(s: Spoken) -> str:
    """Return where each batch stands."""

    def many(word: str, *words: str) -> str:
        return f"SUM(CASE WHEN {s.among('c.Status', word, *words)} THEN 1 ELSE 0 END)"

    name = "b.ProcessBatchName"
    return f"""
WITH {frozen(s)}, {unfit(s)}, Counted AS (
SELECT c.ProcessBatch_id, {many("ready")} AS Ready, {many("running", "pausing", "cancelling")} AS Running,
       {many("retry")} AS Retry, {many("failed")} AS Failed, {many("held")} AS Held, {many("paused")} AS Paused
FROM (SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE {s.among("Status", *IN_LINE)}
      UNION ALL SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE {s.among("Status", *CLAIMED)}
      UNION ALL SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE {s.among("Status", "paused")}) c
GROUP BY c.ProcessBatch_id
), Newest AS (
SELECT b.ProcessBatch_id, (SELECT MAX(c.BatchControl_id) FROM {s.of}BatchControl c
    WHERE c.ProcessBatch_id = b.ProcessBatch_id AND c.Status = 'complete' AND {s.among("c.Status", *OVER)}) AS Complete_id
FROM {s.of}ProcessBatch b
)
SELECT b.ProcessBatch_id, {name}, COALESCE(b.Entity, {name}) AS Entity,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN 'unreadable'
            WHEN b.Enabled <> 1 THEN 'disabled' WHEN z.BatchFreeze_id IS NOT NULL THEN 'frozen'
            WHEN n.Failed > 0 THEN 'failed' WHEN n.Held > 0 THEN 'held' WHEN n.Running > 0 THEN 'running'
            WHEN n.Retry > 0 THEN 'retry' WHEN n.Ready > 0 THEN 'waits' WHEN n.Paused > 0 THEN 'paused'
            ELSE 'idle' END AS Status,
       COALESCE(n.Ready, 0) AS Ready, COALESCE(n.Running, 0) AS Running, COALESCE(n.Retry, 0) AS Retry,
       COALESCE(n.Failed, 0) AS Failed, COALESCE(n.Held, 0) AS Held, COALESCE(n.Paused, 0) AS Paused,
       c.BatchControl_id AS LastComplete_id, {s.twin("c.z_updated", "LastCompleteTime")},
       b.Seq, b.Description,
       CASE WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend WHEN b.Enabled <> 1 THEN {s.act_on_batch("enable", name)}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {s.thaw("z.BatchFreeze_id")}
            WHEN n.Failed + n.Held > 0 THEN {s.look("vFailed", "ProcessBatchName", s.quoted(name))}
            WHEN n.Running > 0 THEN {s.look("vRunning", "ProcessBatchName", s.quoted(name))}
            WHEN n.Retry + n.Ready + n.Paused > 0 THEN {s.look("vWaiting", "ProcessBatchName", s.quoted(name))}
            ELSE {s.look("vHistory", "ProcessBatchName", s.quoted(name))} END AS NextSql
FROM {s.of}ProcessBatch b
LEFT JOIN Counted n ON n.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN {s.of}BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id
LEFT JOIN Newest w ON w.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN {s.of}BatchControl c ON c.BatchControl_id = w.Complete_id"""


def failed(s: Spoken) -> str:
    """Return what has failed or is held, and the attempt it failed with."""
    return f"""
SELECT c.BatchControl_id, b.ProcessBatchName, {s.word("c.Status")} AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, {s.word("h.Status")} AS AttemptStatus, h.ReturnCode,
       h.Message AS ErrorText, h.Output, h.CommandText, {s.twin("h.StartTime", "StartTime")}, {s.twin("h.EndTime", "EndTime")},
       {s.seconds("h.StartTime", "h.EndTime")} AS DurationSeconds, h.ClaimedBy, h.Host, c.FileProcess_id,
       {s.act("rerun", "c.BatchControl_id")} AS RerunSql, {s.act("skip", "c.BatchControl_id")} AS SkipSql,
       {s.act("cancel", "c.BatchControl_id")} AS CancelSql, h.ErrorCode, h.ErrorLine
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN {s.of}BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM {s.of}BatchProcessHistory g WHERE g.BatchControl_id = c.BatchControl_id)
WHERE {s.among("c.Status", "retry", "failed", "held")} AND (c.Status = 'failed' OR c.Status = 'held')"""


def running(s: Spoken) -> str:
    """Return what runs, and how long it may."""
    runs = s.seconds("h.StartTime", s.now)
    return f"""
SELECT c.BatchControl_id, b.ProcessBatchName, {s.word("c.Status")} AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, {s.twin("h.StartTime", "StartTime")},
       {runs} AS RunningSeconds, p.ExpectedDuration, p.AlarmDuration, p.MaxDuration,
       CASE WHEN {s.later("h.StartTime", "p.AlarmDuration")} <= {s.now} THEN 'late'
            WHEN {s.later("h.StartTime", "p.ExpectedDuration")} < {s.now} THEN 'longer than expected'
            WHEN p.AlarmDuration IS NOT NULL OR p.ExpectedDuration IS NOT NULL THEN 'in time' END AS Timing,
       h.ClaimedBy, h.Host, h.Pid, h.DbSession, h.CommandText, c.FileProcess_id,
       {s.act("pause", "c.BatchControl_id")} AS PauseSql, {s.act("cancel", "c.BatchControl_id")} AS CancelSql
FROM {s.of}BatchProcessHistory h
JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running'"""


def late(s: Spoken) -> str:
    """Return what should have happened by now: of steps, instances, schedules and upstreams."""
    alarm = "COALESCE(p.AlarmDuration, p.ExpectedDuration)"
    ends, now = s.later("h.StartTime", alarm), s.now

    def shown(at: str) -> str:
        return f"{s.twin(at, 'ExpectedTime')}, {s.seconds(at, now)} AS LateSeconds"

    overdue = s.later("w.Since", "60 * w.DeadlineMins")
    missed = (
        f"CASE {s.word('i.Kind')} WHEN 'not_arrived' THEN 'arrival' WHEN 'not_started' THEN 'start' ELSE 'finish' END"
    )
    return f"""
SELECT 'step' AS What, {s.joined("b.ProcessBatchName", "', step '", "h.ProcessControlSeq", "' '", "h.ProcessName")} AS Name,
       b.ProcessBatchName, c.BatchControl_id, {shown(ends)},
       {s.joined("'it runs longer than '", alarm, "' seconds'")} AS Reason,
       {s.look("vRunning", "BatchControl_id", "c.BatchControl_id")} AS NextSql
FROM {s.of}BatchProcessHistory h
JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running' AND {ends} <= {now}
UNION ALL
SELECT 'instance', {s.joined("b.ProcessBatchName", "' '", "COALESCE(c.CycleKey, '')")},
       b.ProcessBatchName, c.BatchControl_id, {shown("c.NextRunTime")},
       'its NextRunTime is over, and it has not started', {s.look("vWaiting", "BatchControl_id", "c.BatchControl_id")}
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", "ready", "retry")} AND c.NextRunTime > '1900-01-01 00:00:00.000' AND c.NextRunTime < {s.ago(GRACE)}
UNION ALL
SELECT 'schedule', e.ScheduleName, NULL, NULL, {shown("e.NextRunTime")},
       'its due time is over, and no controller has decided it', 'SELECT * FROM Controller;'
FROM {s.of}Schedule e WHERE e.Enabled = 1 AND e.NextRunTime < {s.ago(GRACE)}
UNION ALL
SELECT 'dependency', {s.joined("b.ProcessBatchName", "' waits for '", "d.ProcessBatchName")}, b.ProcessBatchName, NULL,
       {shown(overdue)}, 'it waits for longer than DeadlineMins',
       {s.look("vWaiting", "ProcessBatchName", s.quoted("b.ProcessBatchName"))}
FROM (SELECT y.ProcessBatch_id, y.DependsOnBatch_id, y.DeadlineMins, v.CycleKey, v.Since
      FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM {s.of}BatchCompletion WHERE FileProcess_id IS NULL
            GROUP BY ProcessBatch_id, CycleKey) v
      JOIN {s.of}BatchDependency y ON y.ProcessBatch_id = v.ProcessBatch_id
      WHERE NOT EXISTS (SELECT 1 FROM {s.of}BatchCompletion x WHERE x.FileProcess_id IS NULL
          AND x.ProcessBatch_id = v.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id
          AND (x.CycleKey = v.CycleKey OR (x.CycleKey IS NULL AND v.CycleKey IS NULL)))) w
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
WHERE {overdue} < {now}
UNION ALL
SELECT {missed}, i.Subject, i.Subject, NULL, {shown("i.OpenedTime")}, i.Message,
       {s.look("vStatus", "ProcessBatchName", s.quoted("i.Subject"))}
FROM {s.of}Incident i
WHERE i.ResolvedTime IS NULL AND {s.among("i.Kind", "not_arrived", "not_started", "not_finished")}"""


def history(s: Spoken) -> str:
    """Return every attempt, with what it ran."""
    again = s.joined(
        "'INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES (''rerun'', '",
        *("h.BatchControl_id", "', ''{\"from\": '", "h.ProcessControlSeq", "'}'', ''...'');'"),
    )
    return f"""
SELECT h.BatchProcessHistory_id, h.BatchControl_id, b.ProcessBatchName, c.CycleKey, f.Entity, f.FileName, h.ProcessControlSeq,
       h.ProcessName, h.ProcessType, h.AttemptNo, {s.word("h.Cause")} AS Cause, {s.word("h.Status")} AS Status,
       {s.twin("h.StartTime", "StartTime")}, {s.twin("h.EndTime", "EndTime")},
       {s.seconds("h.StartTime", "h.EndTime")} AS DurationSeconds, h.ReturnCode, h.RowsAffected, h.Message AS ErrorText, h.Output,
       h.CommandText, h.ClaimedBy, h.Host, h.Pid, h.DbSession, c.FileProcess_id,
       {again} AS RerunSql, h.ErrorCode, h.ErrorLine
FROM {s.of}BatchProcessHistory h
LEFT JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
LEFT JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id
LEFT JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id"""


def schedule(s: Spoken) -> str:
    """Return the schedules, when they are due and what became of the last time."""

    def part(before: str, column: str) -> str:
        return f"CASE WHEN {column} IS NULL THEN '' ELSE {s.joined(before, column)} END"

    words = s.joined(
        s.word("e.ScheduleType"),
        "CASE WHEN e.IntervalMinutes IS NULL THEN '' ELSE "
        + s.joined("', every '", "e.IntervalMinutes", "' minutes'")
        + " END",
        *(part("', '", f"e.{column}") for column in ("RunDays", "RunDaysOfMonth", "WeekOfMonth", "RunMonths")),
        *(part("' at '", f"e.{column}") for column in ("RunTimes", "RunAt", "Cron")),
        part("', between '", "e.BetweenTimes"),
        part("', calendar '", "e.CalendarName"),
    )
    enabling = s.joined(
        "'UPDATE Schedule SET Enabled = '",
        "CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END",
        "' WHERE ScheduleName = '",
        s.quoted("e.ScheduleName"),
        "';'",
    )

    def many(*words: str) -> str:
        return f"SUM(CASE WHEN {s.among('c.Status', *words)} THEN 1 ELSE 0 END)"

    came = (
        "CASE WHEN p.Status <> 'ready' AND p.Status <> 'complete' THEN "
        + s.word("p.Status")
        + " WHEN q.Failed > 0 THEN 'failed' WHEN q.Cancelled > 0 THEN 'cancelled' WHEN q.Instances = q.Complete THEN 'complete'"
        " WHEN q.Running > 0 THEN 'running' ELSE 'waits' END"
    )
    return f"""
WITH Newest AS (
SELECT g.Schedule_id, MAX(g.ScheduleFire_id) AS ScheduleFire_id, MAX(g.Ran_id) AS Ran_id
FROM (SELECT f.Schedule_id, f.ScheduleFire_id,
             CASE WHEN EXISTS (SELECT 1 FROM {s.of}BatchProcessHistory h JOIN {s.of}BatchControl c
                               ON c.BatchControl_id = h.BatchControl_id WHERE c.FileProcess_id = f.FileProcess_id)
                  THEN f.FileProcess_id END AS Ran_id
      FROM {s.of}ScheduleFire f) g
GROUP BY g.Schedule_id
), Came AS (
SELECT c.FileProcess_id, COUNT(*) AS Instances, {many("complete")} AS Complete, {many("failed", "held")} AS Failed,
       {many("cancelled")} AS Cancelled, {many("running", "pausing", "cancelling")} AS Running,
       MIN(c.StartTime) AS StartTime
FROM (SELECT x.FileProcess_id, x.Status,
             (SELECT MIN(h.StartTime) FROM {s.of}BatchProcessHistory h WHERE h.BatchControl_id = x.BatchControl_id) AS StartTime
      FROM {s.of}BatchControl x) c
WHERE c.FileProcess_id IN (SELECT n.Ran_id FROM Newest n UNION SELECT g.FileProcess_id FROM Newest n
                           JOIN {s.of}ScheduleFire g ON g.ScheduleFire_id = n.ScheduleFire_id)
GROUP BY c.FileProcess_id
)
SELECT e.Schedule_id, e.ScheduleName, e.Entity,
       CASE WHEN e.Enabled <> 1 THEN 'disabled' WHEN e.NextRunTime IS NULL THEN 'not due'
            WHEN e.NextRunTime < {s.ago(GRACE)} THEN 'overdue' ELSE 'enabled' END AS Status,
       {words} AS Timing, e.TimeZone, {s.twin("e.NextRunTime", "NextRunTime")},
       CASE WHEN l.Outcome = 'fired' THEN {came} ELSE {s.word("l.Outcome")} END AS LastOutcome,
       {s.twin("l.DueTime", "LastDueTime")}, l.Reason AS LastReason,
       l.FileProcess_id AS LastFileProcess_id, e.Description, {enabling} AS NextSql,
       {s.twin("r.StartTime", "LastRunOn")},
       CASE WHEN r.Failed > 0 OR r.Cancelled > 0 THEN 0 WHEN r.Instances = r.Complete THEN 1 END AS LastRunOK
FROM {s.of}Schedule e
LEFT JOIN Newest n ON n.Schedule_id = e.Schedule_id
LEFT JOIN {s.of}ScheduleFire l ON l.ScheduleFire_id = n.ScheduleFire_id
LEFT JOIN {s.of}FileProcess p ON p.FileProcess_id = l.FileProcess_id
LEFT JOIN Came q ON q.FileProcess_id = l.FileProcess_id
LEFT JOIN Came r ON r.FileProcess_id = n.Ran_id"""


def sql_job(s: Spoken) -> str:
    """Return the jobs that are one piece of SQL, and how each ran last; a row inserted here is a job."""

    def bare(column: str) -> str:
        return f"replace(replace({column}, '{{{{', '{{'), '}}}}', '}}')"

    return f"""
SELECT e.Schedule_id, e.ScheduleName AS JobName, {bare("p.Data1")} AS ConnectionName, {bare("p.Data2")} AS ScheduledSql,
       COALESCE(e.RunAt, {s.joined("e.StartDate", "' '", "e.RunTimes")}) AS FirstRunOn,
       CASE WHEN {s.word("e.ScheduleType")} = 'once' THEN 0 ELSE 1 END AS IsRepeatable, e.Enabled AS IsEnabled, e.TimeZone,
       {s.twin("e.NextRunTime", "NextRunTime")}, {s.twin("h.StartTime", "LastRunOn")},
       CASE WHEN h.Status = 'success' THEN 1 WHEN h.Status <> 'running' THEN 0 END AS LastRunOK,
       h.Message AS ErrorMessage, h.ErrorCode, h.ErrorLine, h.BatchControl_id,
       {s.look("vHistory", "ProcessBatchName", s.quoted("b.ProcessBatchName"))} AS NextSql
FROM {s.of}Schedule e
JOIN {s.of}ProcessBatch b ON COALESCE(b.Entity, b.ProcessBatchName) = e.Entity
JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = b.ProcessBatch_id AND p.ProcessControlSeq = 10
LEFT JOIN {s.of}BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM {s.of}BatchProcessHistory g
    JOIN {s.of}BatchControl c ON c.BatchControl_id = g.BatchControl_id WHERE c.ProcessBatch_id = b.ProcessBatch_id)
WHERE e.Origin = 'sql' AND b.Origin = 'sql'"""


def inbox(s: Spoken) -> str:
    """Return the FileProcess rows that nothing has been made of, and why."""
    target = s.joined("'FileProcess:'", "f.FileProcess_id")
    again = s.joined(
        "'UPDATE FileProcess SET Status = ''ready'', Message = NULL WHERE FileProcess_id = '", "f.FileProcess_id", "';'"
    )
    accept = s.joined(
        "'INSERT INTO AuditLog (Actor, Host, Action, Target, Reason) VALUES (''...'', ''sql'', ''accept'', '''",
        *(target, "''', ''...''); '"),
        again,
    )
    register = s.joined("'INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('", s.quoted("f.Entity"), "');'")
    columns = "f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source"
    taken = f"EXISTS (SELECT 1 FROM {s.of}ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity)"
    made = f"EXISTS (SELECT 1 FROM {s.of}BatchControl c WHERE c.FileProcess_id = f.FileProcess_id)"
    return f"""
SELECT {columns}, {s.word("f.Status")} AS Status,
       CASE WHEN f.Message IS NOT NULL THEN f.Message WHEN f.Status = 'paused' THEN 'somebody inserted or set it as paused'
            ELSE 'no reason was given' END AS Reason,
       {s.twin("f.z_inserted", "Arrived")}, CASE WHEN f.Status = 'duplicate' THEN {accept} ELSE {again} END AS NextSql
FROM {s.of}FileProcess f WHERE {s.among("f.Status", "paused", "rejected", "duplicate")}
UNION ALL
SELECT {columns}, CASE WHEN {taken} THEN 'new' ELSE 'untaken' END,
       CASE WHEN {taken} THEN 'no controller has looked at it yet'
            ELSE {s.joined("'no batch takes entity '''", "f.Entity", "''''")} END,
       {s.twin("f.z_inserted", "Arrived")}, CASE WHEN {taken} THEN 'SELECT * FROM Controller;' ELSE {register} END
FROM {s.of}FileProcess f WHERE f.Status = 'ready' AND NOT {made}"""


_STANDS = (
    ("ready", "has not begun yet"),
    ("running", "is running"),
    ("retry", "has failed and waits for its retry"),
    ("failed", "has failed"),
    ("held", "is held: a person decides"),
    ("pausing", "is running, and paused then"),
    ("paused", "is paused"),
    ("cancelling", "is being cancelled"),
    ("cancelled", "was cancelled"),
)
"""What is said of the newest instance of a batch that another one waits for."""


def waiting(s: Spoken) -> str:
    """Return the instances that wait, and the FileProcess rows to be that wait for other batches."""
    now = s.now
    return f"""
WITH {frozen(s)}, {unfit(s)}, {_limits(s)}), {_line(s)}), {_lacking(s)})
SELECT c.BatchControl_id, b.ProcessBatchName, c.Status, c.CycleKey, f.Entity, f.FileName, {s.twin("c.z_updated", "Since")},
       {_reason(s)} AS Reason,
       CASE WHEN c.NextRunTime > {now} THEN c.NextRunTime WHEN z.UntilTime > {now} THEN z.UntilTime END AS NotBeforeTime,
       CASE WHEN c.NextRunTime > {now} THEN {s.local("c.NextRunTime")}
            WHEN z.UntilTime > {now} THEN {s.local("z.UntilTime")} END AS NotBeforeTimeLocal,
       c.FileProcess_id,
       {_next(s)} AS NextSql
FROM Instances c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
CROSS JOIN Total l
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id
LEFT JOIN {s.of}BatchControl a ON a.BatchControl_id = c.Ahead_id
LEFT JOIN {s.of}BatchControl t ON t.BatchControl_id = c.Stop_id
LEFT JOIN Unfit x ON x.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN Unmet m ON m.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}BatchResource u ON u.ProcessBatch_id = m.ProcessBatch_id AND u.Resource_id = m.Resource_id
LEFT JOIN {s.of}Resource r ON r.Resource_id = m.Resource_id
UNION ALL
{_dependencies(s)}"""


def _limits(s: Spoken) -> str:
    """Return what is under way, and of each batch a resource that lacks it."""
    return f"""Claimed AS (
SELECT ProcessBatch_id, COUNT(*) AS HowMany FROM {s.of}BatchControl WHERE {s.among("Status", *CLAIMED)} GROUP BY ProcessBatch_id
), Total AS (
SELECT (SELECT COALESCE(SUM(HowMany), 0) FROM Claimed) AS HowMany,
       (SELECT {s.limit} FROM {s.of}Setting WHERE Name = 'MaxConcurrent') AS Most
), Held AS (
SELECT n.Resource_id, SUM(k.HowMany * CAST(n.Units AS bigint)) AS Units, MAX(n.Exclusive) AS Exclusive
FROM {s.of}BatchResource n JOIN Claimed k ON k.ProcessBatch_id = n.ProcessBatch_id GROUP BY n.Resource_id
), Unmet AS (
SELECT n.ProcessBatch_id, MIN(n.Resource_id) AS Resource_id
FROM {s.of}BatchResource n JOIN {s.of}Resource r ON r.Resource_id = n.Resource_id
LEFT JOIN Held h ON h.Resource_id = n.Resource_id
WHERE n.Units > r.Units OR h.Exclusive = 1 OR (n.Exclusive = 1 AND h.Units > 0)
   OR r.Units - COALESCE(h.Units, 0) < n.Units
GROUP BY n.ProcessBatch_id
"""


def _line(s: Spoken) -> str:
    """Return the instances in their lines: how many of the batch start before each, what is ahead of it, what stops all."""
    now = s.now
    due = f"c.NextRunTime <= {now} AND (c.Status = 'ready' OR c.Status = 'retry')"
    before = "OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    return f"""Stopping AS (
SELECT MIN(CASE WHEN c.Status = 'retry' THEN NULL ELSE c.BatchControl_id END) AS ByPerson,
       MIN(CASE WHEN c.Status = 'retry' THEN c.BatchControl_id END) AS ByRetry
FROM {s.of}BatchControl c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", "retry", "failed", "held")} AND {s.word("b.OnFailure")} = 'stop_all'
), Stood AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, {s.word("c.Status")} AS Status, c.NextRunTime,
       c.z_updated,
       CASE WHEN c.Status = 'retry' AND {s.word("b.OnFailure")} = 'stop_all' THEN
            CASE WHEN t.ByRetry < c.BatchControl_id AND (t.ByPerson IS NULL OR t.ByRetry < t.ByPerson) THEN t.ByRetry
                 ELSE t.ByPerson END
            WHEN t.ByRetry < t.ByPerson OR t.ByPerson IS NULL THEN t.ByRetry ELSE t.ByPerson END AS Stop_id
FROM {s.of}BatchControl c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Stopping t
WHERE {s.among("c.Status", *IN_LINE)}
), Line AS (
SELECT c.*, SUM(CASE WHEN {due} AND c.Stop_id IS NULL THEN 1 ELSE 0 END) {before} AS Earlier FROM Stood c
), Ordered AS (
SELECT c.*, COALESCE(k.HowMany, 0) AS Started, COALESCE(k.HowMany, 0) + COALESCE(c.Earlier, 0) AS Taken,
       MIN(CASE WHEN {s.word("b.OnFailure")} <> 'continue' AND (c.Status = 'failed' OR c.Status = 'held' OR c.NextRunTime > {now}
                     OR (c.Status = 'retry' AND COALESCE(k.HowMany, 0) + COALESCE(c.Earlier, 0) >= b.MaxConcurrent))
                THEN c.BatchControl_id END) {before} AS Ahead_id
FROM Line c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN Claimed k ON k.ProcessBatch_id = c.ProcessBatch_id
), Instances AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, c.Status, c.NextRunTime, c.z_updated, c.Started,
       c.Taken, c.Ahead_id, c.Stop_id FROM Ordered c WHERE c.Status = 'ready' OR c.Status = 'retry'
UNION ALL
SELECT p.BatchControl_id, p.ProcessBatch_id, p.FileProcess_id, p.CycleKey, {s.word("p.Status")}, p.NextRunTime, p.z_updated,
       NULL, NULL, NULL, NULL FROM {s.of}BatchControl p WHERE {s.among("p.Status", "paused")}
"""


def _reason(s: Spoken) -> str:
    """Return why an instance waits: the first of its gates that blocks."""
    now, most = s.now, "b.MaxConcurrent"
    missing = s.joined("'it needs '", "u.Units", "' units of '", "r.ResourceName", "', and there are '", "r.Units")
    whole = s.joined("'it needs all of '", "r.ResourceName", "', and instances under way hold it'")
    some = s.joined(
        *("'it needs '", "u.Units", "' of the '", "r.Units", "' units of '", "r.ResourceName"),
        "', and instances under way hold it'",
    )
    ahead = s.joined(
        *("'BatchControl '", "a.BatchControl_id", "' of the same batch is '", s.word("a.Status")),
        *("' (OnFailure '", s.word("b.OnFailure"), "')'"),
    )
    stopper = s.joined(
        *("'BatchControl '", "t.BatchControl_id", "' is '", s.word("t.Status"), "' and its batch stops everything'")
    )
    started = s.joined(most, "' of batch '", "b.ProcessBatchName", "' are started before it'")
    full = s.joined("l.HowMany", "' instances are under way, and Setting MaxConcurrent is '", "l.Most")
    unread = s.joined("x.RowName", "' cannot be read: '", "x.ColumnName", "' holds nonsense'")
    return f"""CASE WHEN c.Status = 'paused' THEN 'somebody paused it'
            WHEN x.ProcessBatch_id IS NOT NULL THEN {unread}
            WHEN b.Enabled <> 1 THEN {s.joined("'batch '", "b.ProcessBatchName", "' is disabled'")}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {_freeze(s)}
            WHEN NOT EXISTS (SELECT 1 FROM {s.of}ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
                 THEN {s.joined("'batch '", "b.ProcessBatchName", "' has no steps'")}
            WHEN c.NextRunTime > {now} THEN {s.joined("'it waits until '", s.said("c.NextRunTime"))}
            WHEN a.BatchControl_id IS NOT NULL THEN {ahead}
            WHEN t.BatchControl_id IS NOT NULL THEN {stopper}
            WHEN c.Started >= {most} THEN {started}
            WHEN l.Most = 0 THEN 'Setting MaxConcurrent is 0: nothing starts'
            WHEN l.HowMany >= l.Most THEN {full}
            WHEN u.Units > r.Units THEN {missing}
            WHEN u.Exclusive = 1 THEN {whole}
            WHEN u.Resource_id IS NOT NULL THEN {some}
            WHEN c.Taken >= {most} AND l.Most IS NULL AND NOT EXISTS (
                 SELECT 1 FROM {s.of}BatchResource v WHERE v.ProcessBatch_id = c.ProcessBatch_id) THEN {started}
            WHEN c.Taken >= {most} THEN {s.joined("'others of batch '", "b.ProcessBatchName", "' start before it'")}
            ELSE 'nothing holds it back' END"""


def _freeze(s: Spoken) -> str:
    """Return what a freeze says of itself."""
    ending = s.joined("'until '", s.said("z.UntilTime"))
    until = f"CASE WHEN z.UntilTime IS NULL THEN 'until somebody thaws it' ELSE {ending} END"
    return s.joined(
        "CASE WHEN z.Tag IS NOT NULL THEN "
        + s.joined("'every batch with tag '''", "z.Tag", "''''")
        + " WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE "
        + s.joined("'batch '", "z.ProcessBatchName")
        + " END",
        "' is frozen since '",
        s.said("z.z_inserted"),
        "', '",
        until,
        "', by '",
        "z.Actor",
        "': '",
        "z.Reason",
    )


def _next(s: Spoken) -> str:
    """Return the statement to run next."""
    return f"""CASE WHEN c.Status = 'paused' THEN {s.act("resume", "c.BatchControl_id")}
            WHEN x.ProcessBatch_id IS NOT NULL THEN x.Mend
            WHEN b.Enabled <> 1 THEN {s.act_on_batch("enable", "b.ProcessBatchName")}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {s.thaw("z.BatchFreeze_id")}
            WHEN c.NextRunTime > {s.now} THEN {s.act("rerun", "c.BatchControl_id")}
            WHEN a.Status = 'failed' OR a.Status = 'held' THEN {s.look("vFailed", "BatchControl_id", "a.BatchControl_id")}
            WHEN a.BatchControl_id IS NOT NULL THEN {s.look("vWaiting", "BatchControl_id", "a.BatchControl_id")}
            WHEN t.Status = 'retry' THEN {s.look("vWaiting", "BatchControl_id", "t.BatchControl_id")}
            WHEN t.BatchControl_id IS NOT NULL THEN {s.look("vFailed", "BatchControl_id", "t.BatchControl_id")}
            ELSE 'SELECT * FROM vRunning;' END"""


def _lacking(s: Spoken) -> str:
    """Return the upstreams that have not completed of those that have begun to be waited for, by CycleKey."""
    same_key = "(x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL))"
    return f"""Lacking AS (
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins,
       (SELECT MAX(x.BatchControl_id) FROM {s.of}BatchControl x
        WHERE x.ProcessBatch_id = y.DependsOnBatch_id AND {same_key}) AS Newest_id
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM {s.of}BatchCompletion WHERE FileProcess_id IS NULL
      GROUP BY ProcessBatch_id, CycleKey) w
JOIN {s.of}BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM {s.of}BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND {same_key} AND x.DependsOnBatch_id = y.DependsOnBatch_id)
"""


def _dependencies(s: Spoken) -> str:
    """Return what waits for an upstream, and how that stands."""
    stands = " ".join(f"WHEN '{word}' THEN '{said}'" for word, said in _STANDS)
    newest = s.joined(
        *("'(BatchControl '", "x.BatchControl_id", "') '"),
        f"CASE {s.word('x.Status')} {stands} ELSE 'is complete' END",
    )
    lacks = s.joined(
        *("d.ProcessBatchName", "' '"),
        f"CASE WHEN x.BatchControl_id IS NULL THEN 'has no instance for this CycleKey yet' ELSE {newest} END",
        "CASE WHEN d.Enabled = 1 THEN '' ELSE ', and the batch is disabled' END",
    )
    return f"""SELECT NULL, b.ProcessBatchName, 'dependency', w.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       {s.twin("w.Since", "Since")}, {lacks}, NULL, NULL, NULL,
       CASE WHEN x.Status = 'failed' OR x.Status = 'held' THEN {s.look("vFailed", "BatchControl_id", "x.BatchControl_id")}
            WHEN x.Status = 'cancelled' THEN {s.act("rerun", "x.BatchControl_id")}
            WHEN d.Enabled <> 1 THEN {s.act_on_batch("enable", "d.ProcessBatchName")}
            ELSE {s.look("vStatus", "ProcessBatchName", s.quoted("d.ProcessBatchName"))} END
FROM Lacking w
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN {s.of}BatchControl x ON x.BatchControl_id = w.Newest_id"""
