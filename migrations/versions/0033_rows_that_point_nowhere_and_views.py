"""Refuse rows that name none, also by SQLite's shell; blanks within a time; seconds that a job would lose.

And let vInbox correct an entity that no batch takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alembic import context, op
from alembic.util import load_python_file

from batchctl.domain.errors import DatabaseUnusable
from batchctl.store.rewording import reword
from batchctl.store.written_forms import has_none_broken

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

TIMES = ("RunTimes", "BetweenTimes")
NEXT = 'CONSTRAINT "CK_Schedule_ScheduleName_Type"'
"""Before which constraint SQLite's new ones are written."""
MOST = 20
"""Rows that are named at once."""

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
RENUMBERED = "batchctl: other rows go by its {0}: leave that as it is"
REPLACED = (
    "batchctl: other tables have rows of this {0}, which a REPLACE would leave behind: use UPDATE, or ON CONFLICT DO"
    " UPDATE"
)
CALENDAR_USERS = (("Schedule", "CalendarName"), ("ProcessBatch", "ExpectedCalendar"))
"""What names a calendar, and by which column."""
USED = (
    "batchctl: a schedule or ExpectedCalendar of a batch names this calendar: UPDATE Schedule SET CalendarName = ..., UPDATE"
    " ProcessBatch SET ExpectedCalendar = ... first"
)
STOP = (
    "wait until it has ended; or, unless it is being cancelled already: batchctl cancel ID --reason ..., with the"
    " BatchControl_id that vRunning shows"
)
STEP_RUNS = f"batchctl: the ProcessControl row is a step that runs at this moment: {STOP}"
OVER = (
    "batchctl cancel ID --reason ... unless it is over or being cancelled; what is complete or cancelled goes with"
    " batchctl purge"
)
REWORDED = {
    "TR_ProcessControl_InUseDelete": STEP_RUNS,
    "TR_ProcessControl_InUseUpdate": STEP_RUNS,
    "TR_ProcessControl_Replaced": f"batchctl: the step runs, which a REPLACE would move or remove: {STOP}",
    "TR_BatchControl_InUse": f"batchctl: the BatchControl row has attempts in BatchProcessHistory: {OVER}",
    "TR_FileProcess_InUse": f"batchctl: the FileProcess row has instances: of each, {OVER}",
}
"""SQLite's triggers that said what a command would have refused, and what they say now."""
GONE = ("TR_ProcessBatch_InUse", "TR_ProcessBatch_Renumbered", "TR_ProcessBatch_Replaced")
"""What the new triggers of SQLite do, too."""
SPELT, VIEWS_BEFORE = "0023_refused_rows_and_views", "0031_views_name_what_goes_on"
JOBS_BEFORE = "0029_repeatable_or_not"
"""The revisions that spell the views out, and that made before what is changed here."""
SECONDS = "batchctl: a daily job is due on the minute: write FirstRunOn without seconds, such as 2026-12-01 02:15"


def upgrade() -> None:
    """Make the constraints and the triggers."""
    dialect = op.get_context().dialect.name
    if not context.is_offline_mode():
        _refuse_what_would_break()
    if dialect == "sqlite":
        reword(["Schedule"], [_rewording()])
        for trigger in (*GONE, *REWORDED):
            op.execute(f"DROP TRIGGER {trigger}")
        for trigger in sqlite_triggers():
            op.execute(trigger)
    else:
        for column in TIMES:
            op.execute(f"ALTER TABLE {_schema()}Schedule ADD CONSTRAINT {_named(column)} CHECK ({_unbroken(column)})")
        _step_runs(dialect, STEP_RUNS)
    for statement in _calendar_is_used(dialect):
        op.execute(statement)
    before = _revision(JOBS_BEFORE)
    before._make(lambda of, made: _refusing(of, before._refusing(of, made)))  # noqa: SLF001 - upon what that made
    _revision(SPELT)._make(views(dialect, _schema()))


def downgrade() -> None:
    """Make them as they were."""
    dialect = op.get_context().dialect.name
    _revision(SPELT)._make({"vInbox": _revision(VIEWS_BEFORE).views(dialect, _schema())["vInbox"]})
    _revision(JOBS_BEFORE).upgrade()
    op.execute("DROP TRIGGER TR_Calendar_Used" + (" ON Calendar" if dialect == "postgresql" else ""))
    if dialect == "sqlite":
        for trigger in sqlite_triggers():
            op.execute(f"DROP TRIGGER {_called(trigger)}")
        for called, trigger in _sqlite_triggers_before().items():
            if called in {*GONE, *REWORDED}:
                op.execute(trigger)
        before, after = _rewording()
        reword(["Schedule"], [(after, before)])
        return
    if dialect == "postgresql":
        op.execute("DROP FUNCTION batchctl_calendar_used()")
    _step_runs(dialect, _revision(SPELT).STEP_RUNS)
    for column in TIMES:
        op.execute(f"ALTER TABLE {_schema()}Schedule DROP CONSTRAINT {_named(column)}")


def views(dialect: str, schema: str = "") -> dict[str, str]:
    """Return the statement that makes the view which tells of entities that no batch takes: most are misspelt."""
    s, made = _revision(SPELT).Spoken(dialect, schema), _revision(VIEWS_BEFORE).views(dialect, schema)["vInbox"]
    register = s.joined("'INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('", s.quoted("f.Entity"), "');'")
    entity = "COALESCE(b.Entity, b.ProcessBatchName)"
    alike = f"{s.word(s.bare(entity))} = {s.word(s.bare('f.Entity'))}"
    meant = s.quoted(f"COALESCE((SELECT MIN({entity}) FROM {s.of}ProcessBatch b WHERE {alike}), '...')")
    correct = s.joined(
        "'UPDATE FileProcess SET Entity = '", meant, "' WHERE FileProcess_id = '", "f.FileProcess_id", "';'"
    )
    before = s.joined("'no batch takes entity '''", "f.Entity", "''''")
    untaken = s.joined("'no batch takes entity '''", "f.Entity", "''': correct it, or register a batch that takes it'")
    for old, new in ((before, untaken), (register, correct)):
        made = made.replace(f"ELSE {old} END", f"ELSE {new} END", 1)
    return {"vInbox": made}


def sqlite_triggers() -> Iterator[str]:
    """Yield what makes SQLite refuse what foreign keys refuse, where a client asks for them, and the words of others anew."""
    for table, column, named in DEFINED:
        said = f"there is no such {named}: SELECT {named}_id, {NAMES[named]} FROM {named}"
        lacks = f"NEW.{column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {named} p WHERE p.{named}_id = NEW.{column})"
        refuse = f"BEGIN SELECT RAISE(ABORT, 'batchctl: {column} of {table}: {said}'); END"
        for event, at in (("Insert", "INSERT"), ("Update", f"UPDATE OF {column}")):
            yield f"CREATE TRIGGER TR_{table}_{column}{event} BEFORE {at} ON {table} WHEN {lacks} {refuse}"
    for named in NAMES:
        key, others = f"{named}_id", [(table, column) for table, column, of in (*KEPT, *DEFINED) if of == named]
        refusals = " ".join(
            f"SELECT RAISE(ABORT, 'batchctl: {table} has rows of this {named}: {_to_type(table, column, named)}')"
            f" WHERE EXISTS (SELECT 1 FROM {table} c WHERE c.{column} = OLD.{key});"
            for table, column in others
        )
        yield f"CREATE TRIGGER TR_{named}_InUse BEFORE DELETE ON {named} BEGIN {refusals} END"
        used = " OR ".join(f"EXISTS (SELECT 1 FROM {table} c WHERE c.{column} = {{0}})" for table, column in others)
        yield (
            f"CREATE TRIGGER TR_{named}_Renumbered BEFORE UPDATE OF {key} ON {named} WHEN NEW.{key} <> OLD.{key}"
            f" AND ({used.format(f'OLD.{key}')}) BEGIN SELECT RAISE(ABORT, '{RENUMBERED.format(key)}'); END"
        )
        # Of a REPLACE no other trigger hears: what was in its way is written down before, and struck out once it is told.
        gone = f"OLD.TableName = '{named}' AND NOT EXISTS (SELECT 1 FROM {named} p WHERE p.{key} = OLD.RowNumber)"
        yield (
            f"CREATE TRIGGER TR_{named}_Replaced BEFORE DELETE ON batchctl_replaced WHEN {gone}"
            f" AND ({used.format('OLD.RowNumber')}) BEGIN SELECT RAISE(ABORT, '{REPLACED.format(named)}'); END"
        )
    before = _sqlite_triggers_before()
    for called, said in REWORDED.items():
        head, refuse, rest = before[called].partition("RAISE(ABORT, '")
        yield head + refuse + said + rest[rest.index("')") :]


def _to_type(table: str, column: str, named: str) -> str:
    is_defined = any(table == one for one, _, _ in DEFINED)
    first = f"DELETE FROM {table} WHERE {column} = ... first" if is_defined else ""
    instead = f"instead: {INSTEAD[named]}" if named in INSTEAD else ""
    return "; or ".join(each for each in (first, instead) if each)


def _sqlite_triggers_before() -> dict[str, str]:
    """Return the triggers of earlier revisions that refuse something, by their names."""
    made = [trigger for _, trigger in _revision(SPELT).triggers("sqlite")]
    made.append(_revision("0030_instances_that_have_run").INSTANCE)
    for name, (when, said) in _revision("0027_replaced_rows").TRIGGERS.items():
        made.append(f"CREATE TRIGGER {name} {when} BEGIN SELECT RAISE(ABORT, 'batchctl: {said}'); END")
    return {_called(trigger): trigger for trigger in made}


def _called(trigger: str) -> str:
    return trigger.split("CREATE TRIGGER ", 1)[1].split(" ", 1)[0]


def _step_runs(dialect: str, said: str) -> None:
    """Let what keeps a step that runs say something else."""
    first = _revision(SPELT)
    if dialect == "postgresql":
        function: str = _revision("0030_instances_that_have_run")._function(whole=True)  # noqa: SLF001 - as that made it
        op.execute(function.replace(first.STEP_RUNS, said))
        return
    called = "TR_ProcessControl_InUse"
    made = next(trigger for table, trigger in first.triggers(dialect) if f" {called} ON {table} " in trigger)
    op.execute(f"DROP TRIGGER {_schema()}{called}")
    op.execute(_elsewhere(made.replace(first.STEP_RUNS, said), "ProcessControl"))


def _calendar_is_used(dialect: str) -> Iterator[str]:
    """Yield what keeps a calendar that something names: no foreign key does, for it is named by its name."""
    match dialect:
        case "sqlite":
            used = calendar_is_used("u.{} = OLD.CalendarName")
            refuse = f"BEGIN SELECT RAISE(ABORT, '{USED}'); END"
            yield f"CREATE TRIGGER TR_Calendar_Used BEFORE DELETE ON Calendar WHEN {used} {refuse}"
        case "postgresql":
            yield USED_FUNCTION
            yield "REVOKE ALL ON FUNCTION batchctl_calendar_used() FROM PUBLIC"
            at = "BEFORE DELETE ON Calendar FOR EACH ROW EXECUTE FUNCTION batchctl_calendar_used()"
            yield f"CREATE TRIGGER TR_Calendar_Used {at}"
        case _:
            used = " OR ".join(
                f"EXISTS (SELECT 1 FROM {table} AS u JOIN deleted AS d ON u.{at} = d.CalendarName)"
                for table, at in CALENDAR_USERS
            )
            yield _elsewhere(
                _as_batch(
                    "CREATE TRIGGER TR_Calendar_Used ON Calendar AFTER DELETE AS\nBEGIN\n    SET NOCOUNT ON;\n"
                    f"    IF {used}\n        THROW 51000, N'{for_any_client(USED)}', 1;\nEND"
                ),
                "Calendar",
            )


def calendar_is_used(condition: str) -> str:
    """Return whether a row `u` names a calendar; `condition` has a hole for the column by which it does."""
    return " OR ".join(f"EXISTS (SELECT 1 FROM {table} u WHERE {condition.format(at)})" for table, at in CALENDAR_USERS)


USED_FUNCTION = f"""
CREATE FUNCTION batchctl_calendar_used() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';
    used boolean;
BEGIN
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'Schedule u WHERE u.CalendarName = $1)'
            ' OR EXISTS (SELECT 1 FROM ' || ours || 'ProcessBatch u WHERE u.ExpectedCalendar = $1)'
    INTO used USING OLD.CalendarName;
    IF used THEN
        RAISE EXCEPTION USING MESSAGE = '{USED}', ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN OLD;
END
$$
"""


def _refusing(dialect: str, statement: str) -> str:
    """Refuse before anything is inserted: RunTimes holds no seconds."""
    inserts = "INSERT INTO ProcessBatch ("
    of, rest = (
        ("i.", "SUBSTRING({}FirstRunOn, 17, 200)") if dialect == "mssql" else ("NEW.", "substr({}FirstRunOn, 17)")
    )
    when = f"COALESCE({of}IsRepeatable, 0) <> 0 AND RTRIM({rest.format(of)}) NOT IN ('', '\\:00')"
    match dialect:
        case "sqlite":
            refuse = f"SELECT RAISE(ABORT, '{SECONDS}') WHERE {when}; "
        case "postgresql":
            refuse = f"IF {when} THEN\n        RAISE EXCEPTION '{SECONDS}';\n    END IF;\n    "
        case _:
            refuse = (
                f"IF EXISTS (SELECT 1 FROM inserted AS i WHERE {when})\n        THROW 51000, N'{SECONDS}', 1;\n    "
            )
            # It stands in the text of a statement.
            refuse = refuse.replace("'", "''")
    return statement.replace(inserts, f"{refuse}{inserts}", 1)


def for_any_client(said: str) -> str:
    """Let sqlcmd and SQL Agent run what is said, whose sessions SQL Server refuses it otherwise (error 1934)."""
    return said.replace("UPDATE ", "SET QUOTED_IDENTIFIER ON; UPDATE ", 1)


def _as_batch(statement: str) -> str:
    """Return a statement that has to be the first of a batch, for a script in which something stands before it."""
    quoted = statement.replace("'", "''")
    return f"EXEC sp_executesql N'{quoted}'"


def _revision(file: str) -> Any:
    return load_python_file(str(Path(__file__).parent), f"{file}.py")


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "" if elsewhere is None else f"{elsewhere}."


def _elsewhere(trigger: str, table: str) -> str:
    made = trigger.replace("CREATE TRIGGER ", f"CREATE TRIGGER {_schema()}", 1)
    return made.replace(f" ON {table} ", f" ON {_schema()}{table} ", 1)


def _unbroken(column: str) -> str:
    return str(has_none_broken(column).compile(dialect=op.get_context().dialect))


def _named(column: str) -> str:
    return op.get_context().dialect.identifier_preparer.quote_identifier(f"CK_Schedule_{column}_Blanks")


def _rewording() -> tuple[str, str]:
    """Return how SQLite's table is written before and after."""
    made = "".join(f"CONSTRAINT {_named(column)} CHECK ({_unbroken(column)}), " for column in TIMES)
    return NEXT, made + NEXT


def _refuse_what_would_break() -> None:
    for column in TIMES:
        wrong = f"FROM {_schema()}Schedule WHERE NOT ({_unbroken(column)}) ORDER BY 1"
        found = op.get_bind().exec_driver_sql(f"SELECT Schedule_id, ScheduleName, {column} {wrong}").all()
        if found:
            shown = "; ".join(
                f"Schedule {row_id} ({name}): {column} is '{value}'" for row_id, name, value in found[:MOST]
            )
            more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
            message = f"Times hold a blank, and from schema {revision} on the database refuses it. {shown}{more}."
            correct = f"UPDATE Schedule SET {column} = ... WHERE Schedule_id = {found[0][0]}"
            raise DatabaseUnusable(message, next_step=f"{correct}; then: batchctl db upgrade")
