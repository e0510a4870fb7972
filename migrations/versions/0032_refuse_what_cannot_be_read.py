"""Refuse what the engine could not read: lists, limits, times without end, odd ProcessTypes; and changes that go nowhere.

Rows that a new constraint would refuse are named before anything is changed; whoever upgrades corrects them first.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alembic import context, op
from alembic.util import load_python_file

from batchctl.domain.errors import DatabaseUnusable
from batchctl.store.rewording import Rewording, reword
from batchctl.store.written_forms import (
    are_month_days,
    are_months,
    are_weekdays,
    are_words,
    has_such_days,
    is_limit_or_other,
    is_plain,
)

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

WEEKS = ("first", "second", "third", "fourth", "fifth", "last")
MADE_ANEW: dict[tuple[str, str], Any] = {
    ("ProcessBatch", "ExpectedOn"): are_weekdays("ExpectedOn"),
    ("Schedule", "RunDays_Form"): are_weekdays("RunDays"),
    ("Schedule", "WeekOfMonth_Form"): are_words("WeekOfMonth", WEEKS),
    ("Calendar", "BusinessDays"): are_weekdays("BusinessDays", or_none=True),
    ("ProcessControl", "ProcessType"): is_plain("ProcessType"),
}
"""They let a blank within a name through, the sign that stood for one, and blanks that no trigger knows behind a type."""
NEW: dict[tuple[str, str], Any] = {
    ("Schedule", "RunMonths"): are_months("RunMonths"),
    ("Schedule", "RunDaysOfMonth_Form"): are_month_days("RunDaysOfMonth"),
    ("Schedule", "RunMonths_Days"): has_such_days("RunMonths", "RunDaysOfMonth"),
    ("Setting", "MaxConcurrent"): is_limit_or_other("Name", "Value"),
}
NEXT = {"Schedule": "CK_Schedule_ScheduleName_Type", "Setting": "CK_Setting_Name_Type"}
"""Before which constraint SQLite's new ones are written."""
KNOWN_AS = {
    "ProcessBatch": "ProcessBatchName",
    "Schedule": "ScheduleName",
    "Calendar": "CalendarName",
    "Setting": "Name",
    "ProcessControl": "ProcessName",
}
"""The column by which a person knows a row."""
HOLDS = {"RunMonths_Days": "RunDaysOfMonth", "MaxConcurrent": "Value"}
"""The column to be corrected, where the constraint is not called by it."""
TIMES = {
    **dict.fromkeys(
        (
            *(
                "ProcessBatch",
                "ProcessControl",
                "Resource",
                "BatchResource",
                "BatchDependency",
                "Calendar",
                "CalendarDay",
            ),
            *("Setting", "AppliedDefinition", "FileProcess", "BatchControl", "DurationHistory"),
        ),
        "z_inserted z_updated",
    ),
    **dict.fromkeys(("BatchVersion", "AuditLog", "AuditSeal"), "z_inserted"),
    "Schedule": "NextRunTime DecidedUntil z_inserted z_updated",
    "DataTrigger": "LastFired z_inserted z_updated",
    "FileWatch": "UnreachableSince z_inserted z_updated",
    "OperatorRequest": "AnsweredTime z_inserted z_updated",
    "BatchFreeze": "UntilTime ThawedTime z_inserted z_updated",
    "Incident": (
        "OpenedTime LastSeen AcknowledgedTime SnoozedUntil NextAlertTime EscalatedTime ResolvedTime RecoveryTime"
        " z_inserted z_updated"
    ),
    "AlertDelivery": "NextAttemptTime ClaimedTime SentTime z_inserted z_updated",
    "ZoneOffset": "FromTime UntilTime z_inserted",
    "SchedulerLog": "EventTime",
    "FileWatchSeen": "MissingSince z_inserted z_updated",
    "ScheduleBackfill": "FromTime UntilTime DoneUntil z_inserted z_updated",
    "ScheduleFire": "DueTime DueUntil z_inserted",
    "BatchProcessHistory": "StartTime EndTime Spawned NextRunTimeAfter z_inserted z_updated",
    "BatchCompletion": "Overdue z_inserted z_updated",
    "Controller": "Heartbeat z_inserted z_updated",
    "Leader": "LeaseUntil z_inserted z_updated",
}
"""The columns that hold times; only PostgreSQL takes for one what is no day of the calendar."""
IS_DAY = "{0} >= '0001-01-01' AND {0} < '10000-01-01'"
REMOVE = (
    "batchctl: a row of vSqlJob is a job. To remove it: batchctl schedule remove NAME --reason ...; to stop it:"
    " UPDATE Schedule SET Enabled = 0 WHERE ScheduleName = NAME"
)
CHANGE = (
    "batchctl: a row of vSqlJob is a job. To change its SQL: batchctl schedule set-sql NAME --sql ... --reason ...; its times:"
    " UPDATE Schedule SET RunAt (once) or RunTimes (daily), Enabled, TimeZone ... WHERE ScheduleName = NAME"
)
IS_WORK = (
    "batchctl: the FileProcess row has instances that are not over: cancel these"
    " (batchctl cancel ID --reason ...), which inbox show names"
)
PROGRAM = "batchctl/"
"""How the name of the engine's connections begins."""
MOST = 20
"""Rows that are named at once."""


def upgrade() -> None:
    """Make the constraints."""
    if not context.is_offline_mode():
        _refuse_what_would_break()
    dialect = op.get_context().dialect.name
    if dialect == "sqlite":
        reword(list(KNOWN_AS), _rewordings())
    else:
        for table, called in MADE_ANEW:
            _drop(table, called)
        for (table, called), condition in {**MADE_ANEW, **NEW}.items():
            _add(table, called, condition)
    if dialect == "postgresql":
        for table, columns in TIMES.items():
            # All at once: the rows are looked through once.
            added = (
                f"ADD CONSTRAINT {_type_of(table, each)} CHECK ({IS_DAY.format(each)})" for each in columns.split()
            )
            op.execute(f"ALTER TABLE {table} {', '.join(added)}")
        for function in (JOB_FUNCTION, SET_ASIDE_FUNCTION):
            op.execute(function)
        op.execute("REVOKE ALL ON FUNCTION batchctl_set_aside() FROM PUBLIC")
    for table, trigger in triggers(dialect):
        made = trigger.replace("CREATE TRIGGER ", f"CREATE TRIGGER {_schema()}", 1)
        op.execute(made.replace(f" ON {table} ", f" ON {_schema()}{table} ", 1))


def downgrade() -> None:
    """Make them as they were."""
    dialect = op.get_context().dialect.name
    for table, trigger in triggers(dialect):
        called = trigger.split("CREATE TRIGGER ", 1)[1].split(" ", 1)[0]
        op.execute(f"DROP TRIGGER {called}" + (f" ON {table}" if dialect == "postgresql" else ""))
    if dialect == "postgresql":
        for function in ("job_stays", "set_aside"):
            op.execute(f"DROP FUNCTION batchctl_{function}()")
        for table, columns in TIMES.items():
            dropped = (f"DROP CONSTRAINT {_type_of(table, each)}" for each in columns.split())
            op.execute(f"ALTER TABLE {table} {', '.join(dropped)}")
    if dialect == "sqlite":
        reword(list(KNOWN_AS), [(after, before) for before, after in _rewordings()])
        return
    for table, called in {**MADE_ANEW, **NEW}:
        _drop(table, called)
    before = _before()
    for table, called in MADE_ANEW:
        _add(table, called, before[table, called])


def triggers(dialect: str) -> Iterator[tuple[str, str]]:
    """Yield the triggers with their tables: what refuses to change a view of jobs, and to set work aside by a word."""
    match dialect:
        case "sqlite":
            for event, said in (("Update", CHANGE), ("Delete", REMOVE)):
                refuse = f"SELECT RAISE(ABORT, '{said}')"
                yield (
                    "vSqlJob",
                    f"CREATE TRIGGER TR_vSqlJob_{event} INSTEAD OF {event.upper()} ON vSqlJob BEGIN {refuse}; END",
                )
        case "postgresql":
            at = "INSTEAD OF UPDATE OR DELETE ON vSqlJob FOR EACH ROW EXECUTE FUNCTION batchctl_job_stays()"
            yield "vSqlJob", f"CREATE TRIGGER TR_vSqlJob_Stays {at}"
        case _:
            yield (
                "vSqlJob",
                _as_batch(
                    "CREATE TRIGGER TR_vSqlJob_Stays ON vSqlJob INSTEAD OF UPDATE, DELETE AS\nBEGIN\n    SET NOCOUNT ON;\n"
                    f"    IF EXISTS (SELECT 1 FROM inserted)\n        THROW 51000, N'{for_any_client(CHANGE)}', 1;\n"
                    f"    IF EXISTS (SELECT 1 FROM deleted)\n        THROW 51000, N'{for_any_client(REMOVE)}', 1;\nEND"
                ),
            )
    yield from (("FileProcess", each) for each in _set_aside(dialect))


def _set_aside(dialect: str) -> Iterator[str]:
    """Yield what refuses a hand that sets work aside; the engine does where one of several populators has refused the row.

    By z_updated, or the name of its connection, the database tells the engine from a hand.
    """
    called = "TR_FileProcess_SetAside"
    work = "SELECT 1 FROM BatchControl w WHERE w.FileProcess_id = {}.FileProcess_id AND w.Status NOT IN ('complete', 'cancelled')"
    match dialect:
        case "sqlite":
            aside = "(NEW.Status = 'rejected' OR NEW.Status = 'duplicate')"
            for event, by_hand in (
                ("UPDATE OF Status", "NEW.z_updated IS OLD.z_updated AND NEW.Status <> OLD.Status AND "),
                ("INSERT", ""),
            ):
                # An INSERT may replace a row, and no trigger for UPDATE hears of it.
                when, at = ("BEFORE", called) if by_hand else ("AFTER", f"{called}Insert")
                yield (
                    f"CREATE TRIGGER {at} {when} {event} ON FileProcess WHEN {by_hand}{aside}"
                    f" AND EXISTS ({work.format('NEW')}) BEGIN SELECT RAISE(ABORT, '{IS_WORK}'); END"
                )
        case "postgresql":
            by_hand = f"left(current_setting('application_name'), {len(PROGRAM)}) <> '{PROGRAM}'"
            when = f"{by_hand} AND lower(NEW.Status) IN ('rejected', 'duplicate') AND lower(NEW.Status) <> OLD.Status"
            yield (
                f"CREATE TRIGGER {called} BEFORE UPDATE OF Status ON FileProcess FOR EACH ROW"
                f" WHEN ({when}) EXECUTE FUNCTION batchctl_set_aside()"
            )
        case _:
            by_hand = "JOIN deleted AS d ON d.FileProcess_id = i.FileProcess_id AND i.z_updated = d.z_updated"
            aside = "i.Status IN ('rejected', 'duplicate') AND d.Status <> i.Status"
            yield _as_batch(
                f"CREATE TRIGGER {called} ON FileProcess AFTER UPDATE AS\nBEGIN\n    SET NOCOUNT ON;\n"
                f"    IF EXISTS (SELECT 1 FROM inserted AS i {by_hand}\n"
                f"        WHERE {aside} AND EXISTS ({work.format('i').replace('BatchControl w', 'BatchControl AS w')}))\n"
                f"        THROW 51000, N'{IS_WORK}', 1;\nEND"
            )


JOB_FUNCTION = f"""
CREATE FUNCTION batchctl_job_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        RAISE EXCEPTION '{CHANGE}';
    END IF;
    RAISE EXCEPTION '{REMOVE}';
END
$$
"""
SET_ASIDE_FUNCTION = f"""
CREATE FUNCTION batchctl_set_aside() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    made boolean;
BEGIN
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || quote_ident(TG_TABLE_SCHEMA) || '.BatchControl w WHERE w.FileProcess_id = $1'
            ' AND w.Status NOT IN (''complete'', ''cancelled''))'
    INTO made USING OLD.FileProcess_id;
    IF made THEN
        RAISE EXCEPTION '{IS_WORK}';
    END IF;
    RETURN NEW;
END
$$
"""


def for_any_client(said: str) -> str:
    """Let sqlcmd and SQL Agent run what is said, whose sessions SQL Server refuses it otherwise (error 1934)."""
    return said.replace("UPDATE ", "SET QUOTED_IDENTIFIER ON; UPDATE ", 1)


def _as_batch(statement: str) -> str:
    """Return a statement that has to be the first of a batch, for a script in which something stands before it."""
    quoted = statement.replace("'", "''")
    return f"EXEC sp_executesql N'{quoted}'"


def _type_of(table: str, column: str) -> str:
    return f'"CK_{table}_{column}_Type"'


def _before() -> dict[tuple[str, str], Any]:
    """Return the constraints that are made anew as they were."""
    first: Any = load_python_file(str(Path(__file__).parent), "0023_refused_rows_and_views.py")
    every = {(table, called): condition for table, given in first.GIVEN.items() for called, condition in given}
    return {**every, **{(table, called): condition for table, called, condition in first.ADDED}}


def _said(condition: Any) -> str:
    return str(condition.compile(dialect=op.get_context().dialect))


def _add(table: str, called: str, condition: Any) -> None:
    op.execute(f"ALTER TABLE {_schema()}{table} ADD CONSTRAINT {_named(table, called)} CHECK ({_said(condition)})")


def _drop(table: str, called: str) -> None:
    op.execute(f"ALTER TABLE {_schema()}{table} DROP CONSTRAINT {_named(table, called)}")


def _named(table: str, called: str) -> str:
    return op.get_context().dialect.identifier_preparer.quote_identifier(f"CK_{table}_{called}")


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "" if elsewhere is None else f"{elsewhere}."


def _rewordings() -> list[Rewording]:
    """Return how SQLite's tables are written before and after."""
    before, changed = _before(), list[Rewording]()
    for (table, called), condition in MADE_ANEW.items():
        # One that stands beside its column has no quotes.
        of_it = called if table == "ProcessBatch" else f'{called}"'
        changed.append(
            (
                f"CK_{table}_{of_it} CHECK ({_said(before[table, called])})",
                f"CK_{table}_{of_it} CHECK ({_said(condition)})",
            )
        )
    for table, behind in NEXT.items():
        made = "".join(
            f'CONSTRAINT "CK_{table}_{called}" CHECK ({_said(condition)}), '
            for (of, called), condition in NEW.items()
            if of == table
        )
        changed.append((f'CONSTRAINT "{behind}"', f'{made}CONSTRAINT "{behind}"'))
    return changed


def _refuse_what_would_break() -> None:
    found = list[tuple[str, int, str, str]]()
    for (table, called), condition in {**MADE_ANEW, **NEW}.items():
        column = HOLDS.get(called, called.removesuffix("_Form"))
        wrong = f"FROM {_schema()}{table} WHERE NOT ({_said(condition)}) ORDER BY 1"
        asked = f"SELECT {table}_id, {KNOWN_AS[table]}, {column} {wrong} LIMIT {MOST}"
        if op.get_context().dialect.name == "mssql":
            asked = asked.replace("SELECT", f"SELECT TOP {MOST}", 1).removesuffix(f" LIMIT {MOST}")
        for row_id, known_as, value in op.get_bind().exec_driver_sql(asked):
            found.append((table, row_id, column, f"{table} {row_id} ({known_as}): {column} is '{value}'"))
    if op.get_context().dialect.name == "postgresql":
        found += [
            each for table, columns in TIMES.items() for column in columns.split() for each in _endless(table, column)
        ]
    if found:
        table, row_id, column, _ = found[0]
        shown = "; ".join(said for *_, said in found[:MOST])
        more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
        message = f"Rows hold what the engine cannot go by, and from schema {revision} on the database refuses it. {shown}{more}."
        correct = f"correct each, such as UPDATE {table} SET {column} = ... WHERE {table}_id = {row_id}"
        raise DatabaseUnusable(message, next_step=f"{correct}; then: batchctl db upgrade")


def _endless(table: str, column: str) -> Iterator[tuple[str, int, str, str]]:
    wrong = f"FROM {_schema()}{table} WHERE NOT ({IS_DAY.format(column)}) ORDER BY 1"
    asked = f"SELECT {table}_id, {column}::text {wrong} LIMIT {MOST}"
    for row_id, value in op.get_bind().exec_driver_sql(asked):
        yield table, row_id, column, f"{table} {row_id}: {column} is '{value}'"
