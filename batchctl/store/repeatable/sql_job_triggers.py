"""What makes a batch, its step and its schedule of one row of vSqlJob, and refuses to change such a row."""

from __future__ import annotations

from collections.abc import Iterator

from batchctl.store.conditions import spelled
from batchctl.store.repeatable.trigger import Trigger, on_mssql, on_postgresql, on_sqlite, plain, refuse_when, thrown
from batchctl.store.written_forms import is_day_and_time

LACKS = "batchctl: a job needs JobName, ConnectionName, ScheduledSql and FirstRunOn"
STRANGE = "batchctl: IsRepeatable is 0 (once) or 1 (daily)"
NO_NAME = "batchctl: JobName is empty: it is the name of the job"
NO_TIME = "batchctl: FirstRunOn is a time, such as 2026-12-01 02:15"
NO_FLAG = "batchctl: IsEnabled is 0 or 1"
TAKEN = (
    "batchctl: there is a batch or a schedule of this JobName already: SELECT JobName FROM vSqlJob; batchctl batches"
)
SECONDS = "batchctl: a daily job is due on the minute: write FirstRunOn without seconds, such as 2026-12-01 02:15"
REMOVE = (
    "batchctl: a row of vSqlJob is a job. To remove it: batchctl schedule remove NAME --reason ...; to stop it:"
    " UPDATE Schedule SET Enabled = 0 WHERE ScheduleName = NAME"
)
CHANGE = (
    "batchctl: a row of vSqlJob is a job. To change its SQL or its connection: batchctl schedule set-sql NAME --sql ..."
    " --connection ... --reason ...; its times: UPDATE Schedule SET RunAt (once) or RunTimes (daily), Enabled, TimeZone ..."
    " WHERE ScheduleName = NAME"
)
_DAILY = {
    "sqlite": "NEW.IsRepeatable",
    "postgresql": "COALESCE(NEW.IsRepeatable, 0) <> 0",
    "mssql": "COALESCE(i.IsRepeatable, 0) <> 0",
}
"""How each kind of database says that a job is repeated."""
VIEW, INSERTING = "vSqlJob", "TR_vSqlJob_Insert"


def triggers(dialect: str, schema: str) -> Iterator[Trigger]:
    """Yield the triggers of the view."""
    match dialect:
        case "sqlite":
            all_refused = [refuse_when(said, when) for said, when in _all_refused(dialect)]
            yield on_sqlite(
                INSERTING, VIEW, "INSTEAD OF INSERT", [*all_refused, *_inserts("NEW.", "substr", _DAILY[dialect])]
            )
            for event, said in (("Update", CHANGE), ("Delete", REMOVE)):
                yield on_sqlite(f"TR_vSqlJob_{event}", VIEW, f"INSTEAD OF {event.upper()}", [refuse_when(said)])
        case "postgresql":
            yield on_postgresql(INSERTING, VIEW, "INSTEAD OF INSERT", "batchctl_sql_job")
            yield on_postgresql("TR_vSqlJob_Stays", VIEW, "INSTEAD OF UPDATE OR DELETE", "batchctl_job_stays")
        case _:
            found = "EXISTS (SELECT 1 FROM inserted AS i WHERE {})"
            all_refused = [thrown(said, found.format(when)) for said, when in _all_refused(dialect)]
            inserts = [
                f"    {insert};" for insert in _inserts("i.", "SUBSTRING", _DAILY[dialect], " FROM inserted AS i")
            ]
            yield on_mssql(INSERTING, VIEW, "INSTEAD OF INSERT", "\n".join([*all_refused, *inserts]), schema)
            stays = [
                thrown(CHANGE, "EXISTS (SELECT 1 FROM inserted)"),
                thrown(REMOVE, "EXISTS (SELECT 1 FROM deleted)"),
            ]
            yield on_mssql("TR_vSqlJob_Stays", VIEW, "INSTEAD OF UPDATE, DELETE", "\n".join(stays), schema)


def _all_refused(dialect: str) -> Iterator[tuple[str, str]]:
    """Yield the messages that refuse a row, each with its condition on the view's row. RunTimes holds no seconds."""
    row, text, rest = {
        "sqlite": ("NEW.", "TEXT", "substr(NEW.FirstRunOn, 17)"),
        "postgresql": ("NEW.", "text", "substr(NEW.FirstRunOn, 17)"),
        "mssql": ("i.", "varchar(11)", "SUBSTRING(i.FirstRunOn, 17, 200)"),
    }[dialect]
    needed = ("JobName", "FirstRunOn", "ConnectionName", "ScheduledSql")
    yield LACKS, " OR ".join(f"{row}{column} IS NULL" for column in needed)
    yield STRANGE, f"CAST({row}IsRepeatable AS {text}) NOT IN ('0', '1')"
    yield SECONDS, f"{_DAILY[dialect]} AND RTRIM({rest}) NOT IN ('', ':00')"
    yield NO_NAME, f"TRIM({row}JobName) = ''"
    yield NO_TIME, f"NOT ({spelled(is_day_and_time(f'{row}FirstRunOn'), dialect)})"
    yield NO_FLAG, f"CAST({row}IsEnabled AS {text}) NOT IN ('0', '1')"
    named = (("ProcessBatch", "ProcessBatchName"), ("Schedule", "ScheduleName"))
    yield (
        TAKEN,
        " OR ".join(f"EXISTS (SELECT 1 FROM {table} t WHERE t.{column} = {row}JobName)" for table, column in named),
    )


def _inserts(row: str, part: str, daily: str, rows: str = "") -> Iterator[str]:
    """Yield what makes a job of a row: what stands in its SQL is no placeholder. `daily` says whether it is repeated."""
    at = f"{row}FirstRunOn"
    batch = f"ProcessBatch AS b JOIN inserted AS i ON b.ProcessBatchName = {row}JobName"
    if not rows:
        batch = f"ProcessBatch b WHERE b.ProcessBatchName = {row}JobName"
    yield f"INSERT INTO ProcessBatch (ProcessBatchName, OnFailure, Origin)\n    SELECT {row}JobName, 'continue', 'sql'{rows}"
    yield (
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)\n"
        f"    SELECT b.ProcessBatch_id, 10, {row}JobName, 'sql', {_literally(f'{row}ConnectionName')},"
        f" {_literally(f'{row}ScheduledSql')} FROM {batch}"
    )
    yield (
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, StartDate, RunAt, TimeZone, CatchUp, Enabled,"
        " Origin)\n"
        f"    SELECT {row}JobName, {row}JobName, CASE WHEN {daily} THEN 'daily' ELSE 'once' END,\n"
        f"        CASE WHEN {daily} THEN {part}({at}, 12, 5) END, CASE WHEN {daily} THEN {part}({at}, 1, 10) END,\n"
        f"        CASE WHEN {daily} THEN NULL ELSE {at} END, {row}TimeZone, 'latest', COALESCE({row}IsEnabled, 1), 'sql'{rows}"
    )


def _literally(column: str) -> str:
    return f"replace(replace({column}, '{{', '{{{{'), '}}', '}}}}')"


def _raised(wording: str, when: str) -> str:
    return f"    IF {when} THEN\n        RAISE EXCEPTION '{wording}';\n    END IF;\n"


FUNCTIONS = (
    *plain(
        "batchctl_sql_job",
        "".join(_raised(said, when) for said, when in _all_refused("postgresql"))
        + "".join(f"    {insert};\n" for insert in _inserts("NEW.", "substr", _DAILY["postgresql"]))
        + "    RETURN NEW;\n",
    ),
    *plain(
        "batchctl_job_stays",
        _raised(CHANGE, "TG_OP = 'UPDATE'") + f"    RAISE EXCEPTION '{REMOVE}';\n",
    ),
)
"""The functions of PostgreSQL."""
