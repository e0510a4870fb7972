"""The script by which a DBA gives each kind of user the rights it needs, and no others.

Every table stands in one of the lists below; a new one is added there, with what the controller does to its rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from batchctl.domain.errors import Refused
from batchctl.store import views
from batchctl.store.maintenance.tsql_script import SETTINGS
from batchctl.store.tables import DEFINITIONS, metadata
from batchctl.store.task_queues import GUARD, GUARD_OF_REQUESTS, GUARD_OF_WORK, HELD, SERVICE, WHO_MAY
from batchctl.store.task_queues import ROLES as ROLES_OF_TASKS

READER, INTAKE, OPERATOR = "batchctl_reader", "batchctl_intake", "batchctl_operator"
AUTHOR, CONSOLE = "batchctl_author", "batchctl_web"
ROLES = {
    READER: "sees everything and changes nothing",
    INTAKE: "inserts FileProcess rows, and sees nothing",
    OPERATOR: "sees everything, and asks for acts by rows of OperatorRequest, which a controller carries out and answers",
    AUTHOR: "sees everything, and defines batches, steps, schedules and what else starts work",
    CONSOLE: "sees everything, keeps the users of the console, inserts rows for them, and changes no work and no definition",
    SERVICE: "is the controller: does the work, and neither defines it nor changes what was written down of it",
}
"""The roles, and what each of them is for."""
SEEING = (READER, OPERATOR, AUTHOR, CONSOLE, SERVICE)
SUBMITTED = ("Entity", "FileName", "Data", "CycleKey", "Source")
"""Columns of `FileProcess` that a client with work fills."""
ASKED = ("Action", "BatchControl_id", "ProcessBatchName", "Arguments", "Reason")
"""Columns of `OperatorRequest` that the person who asks fills; the person's name is never one of them."""
KEPT_BESIDE = {
    "ProcessBatch": ("Enabled", "z_updated"),
    "Schedule": ("NextRunTime", "DecidedUntil", "TimingHash", "Enabled", "z_updated"),
    "DataTrigger": ("LastFired", "Enabled", "z_updated"),
    "FileWatch": ("UnreachableSince", "z_updated"),
    "OperatorRequest": ("Status", "Answer", "AnsweredBy", "AnsweredTime", "z_updated"),
    # These it never writes: it locks them while it counts what they limit, for which PostgreSQL asks for a right to write.
    "Resource": ("z_updated",),
    "Pool": ("z_updated",),
    "Setting": ("z_updated",),
    "NamedLock": ("z_updated",),
}
"""The columns that the controller writes of what others insert."""
WORKED_ON = {
    "FileProcess": "INSERT, UPDATE, DELETE",
    "BatchControl": "INSERT, UPDATE, DELETE",
    "BatchProcessHistory": "INSERT, UPDATE, DELETE",
    "BatchCompletion": "INSERT, UPDATE, DELETE",
    "ScheduleFire": "INSERT, UPDATE",
    "ScheduleBackfill": "INSERT, UPDATE",
    "DurationHistory": "INSERT, UPDATE",
    "KeptForecast": "INSERT, UPDATE, DELETE",
    "Controller": "INSERT, UPDATE, DELETE",
    "ControllerPool": "INSERT, UPDATE, DELETE",
    "StepOutput": "INSERT, DELETE",
    "Confirmation": "INSERT, UPDATE, DELETE",
    "Note": "INSERT, DELETE",
    "Leader": "INSERT, UPDATE",
    "NamedLock": "INSERT",
    "FileWatchSeen": "INSERT, UPDATE, DELETE",
    "ZoneOffset": "INSERT, UPDATE, DELETE",
    "Incident": "INSERT, UPDATE, DELETE",
    "AlertDelivery": "INSERT, UPDATE, DELETE",
    "BatchVersion": "INSERT",
    "SchedulerLog": "INSERT, DELETE",
    "OperatorRequest": "DELETE",
    # For those who ask for it by rows of OperatorRequest.
    "BatchFreeze": "INSERT, UPDATE",
    "Drain": "INSERT, UPDATE",
    # What may go of it, and what not, a trigger decides.
    "AuditLog": "INSERT, DELETE",
    "AuditSeal": "INSERT",
}
"""What the controller does with rows; it deletes what is old enough."""
KEPT_FOR_CONSOLE = ("ApiToken", "LoginBackOff", "WebRequest", "WebSession", "WebUser")
"""What the console alone sees and keeps: by these rows it knows whom to let in."""
ACTS = ("Actor", "Host", "Action", "Target", "Reason", "ValuesBefore", "ValuesAfter", "z_inserted")
"""Columns of `AuditLog` that a command fills."""
ON_SQLITE = """\
-- SQLite has no roles: a user who may write to the file may do anything to it, and to its folder, where its log lies.
-- So let one user of the operating system be the controller, and no other user write there:
--
--     chown batchctl:batchctl /var/lib/batchctl /var/lib/batchctl/batchctl.db
--     chmod 700 /var/lib/batchctl
--     chmod 600 /var/lib/batchctl/batchctl.db
--
-- Others act by commands that they may run as that user, such as: sudo -u batchctl batchctl submit ENTITY
-- No trigger can tell them apart: with a task queue (batchctl task enable) each of them runs commands as the controller.
-- Where several kinds of users need different rights, keep the control database on PostgreSQL or SQL Server.
-- What was changed by hand shows all the same: batchctl audit; and what was changed of that: batchctl audit verify --anchor
"""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,40}")


def is_role_name(name: str) -> bool:
    """Say whether a name needs no quotes."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Grant:
    """A right of a role on a table, or on some of its columns."""

    role: str
    rights: str
    table: str
    columns: tuple[str, ...] = ()


def script(dialect: str, schema: str | None, suppliers: Mapping[str, Sequence[str]]) -> str:
    """Return the script; `suppliers` are roles that insert rows of some entities only."""
    for name in (*([] if schema is None else [schema]), *suppliers):
        if not _NAME.fullmatch(name):
            message = "A name in the script may have letters, digits and _ only, 41 at most, and begins with a letter."
            raise Refused(message, next_step="choose another name")
    if dialect == "sqlite":
        return ON_SQLITE
    lines = (
        _postgresql(schema or "public", suppliers) if dialect == "postgresql" else _mssql(schema or "dbo", suppliers)
    )
    return "\n".join(lines) + "\n"


def grants() -> Iterator[Grant]:
    """Yield what each role may do, besides seeing."""
    yield Grant(INTAKE, "INSERT", "FileProcess", SUBMITTED)
    yield Grant(OPERATOR, "INSERT", "OperatorRequest", ASKED)
    for table in DEFINITIONS:  # Setting is the owner's.
        yield Grant(AUTHOR, "INSERT, UPDATE, DELETE", table)
    yield Grant(AUTHOR, "INSERT, UPDATE, DELETE", "AppliedDefinition")
    yield Grant(AUTHOR, "INSERT", "NamedLock")
    yield Grant(AUTHOR, "UPDATE", "NamedLock", KEPT_BESIDE["NamedLock"])
    yield Grant(AUTHOR, "INSERT", "AuditLog", ACTS)
    yield Grant(CONSOLE, "INSERT", "FileProcess", SUBMITTED)
    yield Grant(CONSOLE, "INSERT", "OperatorRequest", (*ASKED, "Actor"))
    yield Grant(CONSOLE, "INSERT", "AuditLog", ACTS)
    for table in KEPT_FOR_CONSOLE:
        yield Grant(CONSOLE, "SELECT, INSERT, UPDATE, DELETE", table)
    for table, rights in WORKED_ON.items():
        yield Grant(SERVICE, rights, table)
    for table, columns in KEPT_BESIDE.items():
        yield Grant(SERVICE, "UPDATE", table, columns)


def _heading(where: str, run: str) -> Iterator[str]:
    yield f"-- The roles of batchctl on {where}. Run it as the owner of the tables, who may make roles: {run}"
    yield "-- It may be run again at any time, and after every upgrade; rights that a role has lost are taken from it then."
    yield "--"
    yield from (f"--   {role}: {what}" for role, what in ROLES.items())
    yield ""


def _postgresql(schema: str, suppliers: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield from _heading("PostgreSQL", "psql -v ON_ERROR_STOP=1 -d DATABASE -f roles.sql")
    yield "-- Then make each login a member of one, for example: GRANT batchctl_operator TO anna;"
    yield ""
    yield "BEGIN;"
    yield f"SET LOCAL search_path = {schema}, pg_temp;"
    tables = [*sorted(metadata.tables), *views.NAMES, "alembic_version"]
    roles = [*ROLES, *(f"{INTAKE}_{name}" for name in suppliers)]
    for role in roles:
        missing = f"NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{role.lower()}')"  # noqa: S608 - our own names, and checked ones
        yield f"DO $$ BEGIN IF {missing} THEN CREATE ROLE {role} NOLOGIN; END IF; END $$;"
    everybody = ", ".join(roles)
    yield f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC;"
    yield f"GRANT USAGE ON SCHEMA {schema} TO {everybody};"
    yield f"REVOKE ALL ON {', '.join(tables)} FROM PUBLIC, {everybody};"
    yield f"GRANT SELECT ON {', '.join(one for one in tables if one not in KEPT_FOR_CONSOLE)} TO {', '.join(SEEING)};"
    inserted: dict[str, list[str]] = {}
    for grant in grants():
        of = f" ({', '.join(grant.columns)})" if grant.columns else ""
        yield f"GRANT {grant.rights}{of} ON {grant.table} TO {grant.role};"
        if "INSERT" in grant.rights:
            inserted.setdefault(grant.table, []).append(grant.role)
    for name, entities in suppliers.items():
        role = f"{INTAKE}_{name}"
        inserted["FileProcess"].append(role)
        yield f"CREATE OR REPLACE VIEW Intake_{name} AS SELECT {', '.join(SUBMITTED)} FROM FileProcess"  # noqa: S608 - entities are quoted
        yield f"    WHERE Entity IN ({_listed(entities)}) WITH CHECK OPTION;"
        yield f"REVOKE ALL ON Intake_{name} FROM PUBLIC;"
        yield f"GRANT INSERT ON Intake_{name} TO {role};"
    for table, who in inserted.items():
        yield f"GRANT USAGE ON SEQUENCE {table}_{table}_id_seq TO {', '.join(who)};"
    yield f"GRANT INSERT ON vSqlJob TO {AUTHOR};"
    yield "-- Only the owner, the controller and the roles of Setting TaskRoles (task enable --role) may run commands."
    yield from (
        _NO_TASKS.format(
            schema=schema,
            may=WHO_MAY.format(who="session_user"),
            guard=GUARD,
            asked=GUARD_OF_REQUESTS,
            hold=GUARD_OF_WORK,
            held=HELD,
            paused=_PAUSED,
        )
        .strip()
        .splitlines()
    )
    yield "COMMIT;"


def _mssql(schema: str, suppliers: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield from _heading("SQL Server", "sqlcmd -S SERVER -d DATABASE -I -b -i roles.sql")
    yield "-- Then make each user a member of one, for example: ALTER ROLE batchctl_operator ADD MEMBER [DOMAIN\\Support];"
    yield f"-- There are no rights to insert some columns only: work goes into {schema}.Intake, requests into {schema}.Asked."
    yield ""
    yield "SET XACT_ABORT ON;"
    # A trigger keeps those of the session that makes it.
    yield from SETTINGS.splitlines()
    yield "GO"
    tables = [*sorted(metadata.tables), *views.NAMES, "alembic_version"]
    roles = [*ROLES, *(f"{INTAKE}_{name}" for name in suppliers)]
    for role in roles:
        yield f"IF DATABASE_PRINCIPAL_ID(N'{role}') IS NULL CREATE ROLE {role};"
    for table in tables:
        yield f"REVOKE SELECT, INSERT, UPDATE, DELETE ON {schema}.{table} FROM {', '.join(roles)};"
        if table not in KEPT_FOR_CONSOLE:
            yield f"GRANT SELECT ON {schema}.{table} TO {', '.join(SEEING)};"
    yield "GO"
    # Only the roles of Setting TaskRoles (batchctl task enable --role) have a way to what runs commands.
    may = _MAY_ON_MSSQL.format(schema=schema, roles=ROLES_OF_TASKS)
    no_tasks = _NO_TASKS_ON_MSSQL.format(schema=schema, may=may)
    yield from _view(schema, "Intake", "FileProcess", SUBMITTED, INTAKE, f" WHERE {no_tasks}")
    no_data = _NO_TASK_DATA_ON_MSSQL.format(schema=schema, may=may)
    yield from _view(schema, "Asked", "OperatorRequest", ASKED, OPERATOR, f" WHERE {no_data}")
    yield from (
        _HOLD_PLANTED_ON_MSSQL.format(schema=schema, hold=GUARD_OF_WORK, held=HELD, paused=_PAUSED).strip().splitlines()
    )
    for name, entities in suppliers.items():
        only = f" WHERE Entity IN ({_listed(entities, 'N')}) AND {no_tasks}"
        yield from _view(schema, f"Intake_{name}", "FileProcess", SUBMITTED, f"{INTAKE}_{name}", only)
    yield f"GRANT INSERT ON {schema}.vSqlJob TO {AUTHOR};"
    for grant in grants():
        if grant.columns and "INSERT" in grant.rights and grant.role != AUTHOR:
            continue
        of = f" ({', '.join(grant.columns)})" if grant.columns and grant.rights == "UPDATE" else ""
        yield f"GRANT {grant.rights} ON {schema}.{grant.table}{of} TO {grant.role};"
    yield "GO"


def _view(schema: str, name: str, table: str, columns: Sequence[str], role: str, only: str = "") -> Iterator[str]:
    """Yield a view by which rows are inserted that fill some columns, and of which nothing can be read."""
    yield f"CREATE OR ALTER VIEW {schema}.{name} AS"
    yield f"SELECT {', '.join(columns)} FROM {schema}.{table} AS w{only} WITH CHECK OPTION;"  # noqa: S608 - entities are quoted
    yield "GO"
    yield f"GRANT INSERT ON {schema}.{name} TO {role};"
    yield "GO"


_NO_TASKS = r"""
CREATE OR REPLACE FUNCTION batchctl_no_tasks() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = {schema}, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM ProcessBatch b JOIN ProcessControl p ON p.ProcessBatch_id = b.ProcessBatch_id
               WHERE coalesce(b.Entity, b.ProcessBatchName) = NEW.Entity AND lower(trim(p.ProcessType)) = 'task')
       AND NOT EXISTS ({may}) THEN
        RAISE insufficient_privilege USING
            MESSAGE = 'batchctl: a batch runs commands for this entity, and you may not ask for that',
            HINT = 'batchctl task enable --role NAME --reason ... gives a role that right';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION batchctl_no_tasks() FROM PUBLIC;
DO $$ BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = 'FileProcess'::regclass AND tgname = lower('{guard}')) THEN
        CREATE TRIGGER {guard} BEFORE INSERT OR UPDATE OF Entity ON FileProcess
        FOR EACH ROW EXECUTE FUNCTION batchctl_no_tasks();
    END IF;
END $$;
CREATE OR REPLACE FUNCTION batchctl_no_task_data() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = {schema}, pg_temp AS $$
BEGIN
    -- What says more than from which step, and how it has to stand, may say a command; an instance that is still to come may
    -- be of any batch.
    IF NEW.BatchControl_id IS NOT NULL AND lower(trim(NEW.Action)) NOT IN ('acknowledge', 'snooze')
       AND NEW.Arguments !~ '^\s*([{{]\s*(("from"\s*:\s*-?[0-9]+|"status"\s*:\s*"[a-z]+")\s*,?\s*)*[}}]\s*)?$'
       AND NOT EXISTS (SELECT 1 FROM BatchControl c WHERE c.BatchControl_id = NEW.BatchControl_id AND NOT EXISTS (
               SELECT 1 FROM ProcessControl p
               WHERE p.ProcessBatch_id = c.ProcessBatch_id AND lower(trim(p.ProcessType)) = 'task'))
       AND NOT EXISTS ({may}) THEN
        RAISE insufficient_privilege USING
            MESSAGE = 'batchctl: the batch of this instance runs commands, or it is not there: you may not give it data',
            HINT = 'batchctl task enable --role NAME --reason ... gives a role that right';
    END IF;
    RETURN NEW;
END
$$;
REVOKE ALL ON FUNCTION batchctl_no_task_data() FROM PUBLIC;
CREATE OR REPLACE TRIGGER {asked} BEFORE INSERT OR UPDATE OF Action, BatchControl_id, Arguments ON OperatorRequest
FOR EACH ROW EXECUTE FUNCTION batchctl_no_task_data();
CREATE OR REPLACE FUNCTION batchctl_hold_planted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = {schema}, pg_temp AS $$
BEGIN
    -- Rows that somebody could insert before, or inserts just now, are not what those who may ask for commands asked for.
    LOCK TABLE FileProcess, BatchControl IN SHARE ROW EXCLUSIVE MODE;
    UPDATE FileProcess f SET Status = 'paused', z_updated = timezone('UTC', clock_timestamp()),
           Message = '{held}'
    WHERE f.Status = 'ready' AND NOT EXISTS (SELECT 1 FROM BatchControl c WHERE c.FileProcess_id = f.FileProcess_id)
      AND f.Entity IN (SELECT coalesce(b.Entity, b.ProcessBatchName) FROM ProcessBatch b
                       JOIN ProcessControl p ON p.ProcessBatch_id = b.ProcessBatch_id
                       WHERE b.ProcessBatch_id = NEW.ProcessBatch_id AND lower(trim(p.ProcessType)) = 'task');
    -- So is what was made of such rows before the batch had its first step that runs commands.
    IF TG_TABLE_NAME = 'processcontrol' THEN
        IF EXISTS (SELECT 1 FROM ProcessControl p WHERE p.ProcessBatch_id = NEW.ProcessBatch_id
                   AND p.ProcessControl_id <> NEW.ProcessControl_id AND lower(trim(p.ProcessType)) = 'task') THEN
            RETURN NULL;
        END IF;
        IF TG_OP = 'UPDATE' THEN
            IF OLD.ProcessBatch_id = NEW.ProcessBatch_id AND lower(trim(OLD.ProcessType)) = 'task' THEN
                RETURN NULL;
            END IF;
        END IF;
        INSERT INTO AuditLog (Actor, Host, Action, Target, Reason, ValuesBefore)
        SELECT session_user, 'sql', 'pause', 'BatchControl:' || c.BatchControl_id, '{paused}',
               json_build_object('Status', c.Status)::text
        FROM BatchControl c WHERE c.ProcessBatch_id = NEW.ProcessBatch_id AND c.Status IN ('ready', 'retry', 'running')
        ORDER BY c.BatchControl_id;
        UPDATE BatchControl c SET Status = CASE c.Status WHEN 'running' THEN 'pausing' ELSE 'paused' END,
               z_updated = timezone('UTC', clock_timestamp())
        WHERE c.ProcessBatch_id = NEW.ProcessBatch_id AND c.Status IN ('ready', 'retry', 'running');
    END IF;
    RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION batchctl_hold_planted() FROM PUBLIC;
CREATE OR REPLACE TRIGGER {hold} AFTER INSERT OR UPDATE OF ProcessType, ProcessBatch_id ON ProcessControl
FOR EACH ROW WHEN (lower(trim(NEW.ProcessType)) = 'task') EXECUTE FUNCTION batchctl_hold_planted();
CREATE OR REPLACE TRIGGER TR_ProcessBatch_HoldPlanted AFTER UPDATE OF Entity, ProcessBatchName ON ProcessBatch
FOR EACH ROW EXECUTE FUNCTION batchctl_hold_planted();
"""
_PAUSED = "made before its batch ran commands: look at Data1 to Data6, then resume or cancel it"
_HOLD_PLANTED_ON_MSSQL = """
CREATE OR ALTER TRIGGER {schema}.{hold} ON {schema}.ProcessControl AFTER INSERT, UPDATE AS
BEGIN
    SET NOCOUNT ON;
    -- What follows locks whole tables.
    IF NOT (UPDATE(ProcessType) OR UPDATE(ProcessBatch_id))
       OR NOT EXISTS (SELECT 1 FROM inserted AS i WHERE LOWER(TRIM(i.ProcessType)) = 'task') RETURN;
    UPDATE f SET Status = 'paused', Message = N'{held}'
    FROM {schema}.FileProcess AS f WITH (TABLOCKX) WHERE f.Status = 'ready'
    AND NOT EXISTS (SELECT 1 FROM {schema}.BatchControl AS c WHERE c.FileProcess_id = f.FileProcess_id)
    AND f.Entity IN (SELECT COALESCE(b.Entity, b.ProcessBatchName) FROM {schema}.ProcessBatch AS b
                     JOIN inserted AS p ON p.ProcessBatch_id = b.ProcessBatch_id
                     WHERE LOWER(TRIM(p.ProcessType)) = 'task');
    DECLARE @first TABLE (ProcessBatch_id bigint);
    INSERT INTO @first SELECT i.ProcessBatch_id FROM inserted AS i WHERE LOWER(TRIM(i.ProcessType)) = 'task'
    AND NOT EXISTS (SELECT 1 FROM deleted AS d WHERE d.ProcessBatch_id = i.ProcessBatch_id
                    AND LOWER(TRIM(d.ProcessType)) = 'task')
    AND NOT EXISTS (SELECT 1 FROM {schema}.ProcessControl AS p WHERE p.ProcessBatch_id = i.ProcessBatch_id
                    AND LOWER(TRIM(p.ProcessType)) = 'task'
                    AND p.ProcessControl_id NOT IN (SELECT n.ProcessControl_id FROM inserted AS n));
    INSERT INTO {schema}.AuditLog (Actor, Host, Action, Target, Reason, ValuesBefore)
    SELECT ORIGINAL_LOGIN(), 'sql', 'pause', CONCAT('BatchControl:', c.BatchControl_id), N'{paused}',
           CONCAT('{{"Status": "', c.Status, '"}}')
    FROM {schema}.BatchControl AS c WITH (TABLOCKX)
    WHERE c.Status IN ('ready', 'retry', 'running') AND c.ProcessBatch_id IN (SELECT f.ProcessBatch_id FROM @first AS f);
    UPDATE c SET Status = CASE c.Status WHEN 'running' THEN 'pausing' ELSE 'paused' END, z_updated = SYSUTCDATETIME()
    FROM {schema}.BatchControl AS c
    WHERE c.Status IN ('ready', 'retry', 'running') AND c.ProcessBatch_id IN (SELECT f.ProcessBatch_id FROM @first AS f);
END;
GO
CREATE OR ALTER TRIGGER {schema}.TR_ProcessBatch_HoldPlanted ON {schema}.ProcessBatch AFTER UPDATE AS
BEGIN
    SET NOCOUNT ON;
    IF NOT (UPDATE(Entity) OR UPDATE(ProcessBatchName))
       OR NOT EXISTS (SELECT 1 FROM inserted AS i JOIN {schema}.ProcessControl AS p ON p.ProcessBatch_id = i.ProcessBatch_id
                      WHERE LOWER(TRIM(p.ProcessType)) = 'task') RETURN;
    UPDATE f SET Status = 'paused', Message = N'{held}'
    FROM {schema}.FileProcess AS f WITH (TABLOCKX) WHERE f.Status = 'ready'
    AND NOT EXISTS (SELECT 1 FROM {schema}.BatchControl AS c WHERE c.FileProcess_id = f.FileProcess_id)
    AND f.Entity IN (SELECT COALESCE(i.Entity, i.ProcessBatchName) FROM inserted AS i
                     JOIN {schema}.ProcessControl AS p ON p.ProcessBatch_id = i.ProcessBatch_id
                     WHERE LOWER(TRIM(p.ProcessType)) = 'task');
END;
GO
"""
_MAY_ON_MSSQL = (
    "EXISTS (SELECT 1 FROM {schema}.Setting AS s CROSS APPLY STRING_SPLIT(s.Value, ',') AS t"
    " WHERE s.Name = '{roles}' AND IS_MEMBER(TRIM(t.value)) = 1)"
)
_NO_TASKS_ON_MSSQL = (
    "(NOT EXISTS (SELECT 1 FROM {schema}.ProcessBatch AS b JOIN {schema}.ProcessControl AS p"
    " ON p.ProcessBatch_id = b.ProcessBatch_id WHERE COALESCE(b.Entity, b.ProcessBatchName) = w.Entity"
    " AND LOWER(TRIM(p.ProcessType)) = 'task') OR {may})"
)
_NO_TASK_DATA_ON_MSSQL = (
    "(w.BatchControl_id IS NULL OR LOWER(TRIM(w.Action)) IN ('acknowledge', 'snooze')"
    # Without a digit or an escape nothing can be called Data1.
    r" OR COALESCE(w.Arguments, '') NOT LIKE '%[0-9\]%'"
    " OR EXISTS (SELECT 1 FROM {schema}.BatchControl AS c WHERE c.BatchControl_id = w.BatchControl_id AND NOT EXISTS ("
    "SELECT 1 FROM {schema}.ProcessControl AS p WHERE p.ProcessBatch_id = c.ProcessBatch_id"
    " AND LOWER(TRIM(p.ProcessType)) = 'task'))"
    " OR {may})"
)


def _listed(entities: Sequence[str], before: str = "") -> str:
    return ", ".join(before + "'" + entity.replace("'", "''") + "'" for entity in entities)
