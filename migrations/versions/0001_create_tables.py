"""Create the control tables."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mssql, postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import CreateColumn
from sqlalchemy.sql import expression
from sqlalchemy.sql.elements import quoted_name

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

OPEN_INSTANCE = "Status IN ('ready', 'running', 'retry', 'failed', 'held', 'pausing', 'paused', 'cancelling')"
READY_INTAKE = "Status = 'ready'"
HAS_DATA = "Data IS NOT NULL"
LIVE_ENTRY = "Status = 'running'"
ENDED_OR_LIVE = (
    "(lower(Status) = 'running' AND EndTime IS NULL) OR (lower(Status) <> 'running' AND EndTime IS NOT NULL)"
)

WORDS = (
    ("FileProcess", "Status"),
    ("ProcessBatch", "OnFailure"),
    ("ProcessBatch", "DependencyMode"),
    ("ProcessControl", "OnLost"),
    ("BatchControl", "Status"),
    ("BatchProcessHistory", "Status"),
    ("BatchProcessHistory", "Cause"),
)

LOWER = """
CREATE FUNCTION batchctl_lower() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN jsonb_populate_record(NEW, jsonb_build_object(TG_ARGV[0], lower(to_jsonb(NEW) ->> TG_ARGV[0])));
END
$$
"""

NOTIFY = """
CREATE FUNCTION batchctl_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('batchctl', lower(TG_TABLE_NAME));
    RETURN NULL;
END
$$
"""

EXACT = "Latin1_General_100_BIN2"

CONVENTION = {
    "pk": "PK_%(table_name)s",
    "fk": "FK_%(table_name)s_%(column_0_name)s",
    "uq": "UQ_%(table_name)s_%(column_0_N_name)s",
    "ck": "CK_%(table_name)s_%(constraint_name)s",
}


def upgrade() -> None:
    """Create the five tables of the engine and the audit log."""
    metadata = sa.MetaData(naming_convention=CONVENTION)
    _create(
        metadata,
        "FileProcess",
        _key("FileProcess_id"),
        _needed("Entity", name()),
        _column("FileName", text_column()),
        _needed("Status", word(), "'ready'"),
        _column("Data", text_column()),
        _column("CycleKey", name()),
        _column("Source", name()),
        _column("Message", text_column()),
        _stamp("z_inserted"),
        _stamp("z_updated"),
        _words("Status", "ready paused complete rejected duplicate"),
        _check("Entity", "Entity <> ''"),
        sqlite_autoincrement=True,
    )
    _create(
        metadata,
        "ProcessBatch",
        _key("ProcessBatch_id"),
        _needed("ProcessBatchName", name()),
        _column("Entity", name()),
        _needed("Enabled", sa.SmallInteger(), "1"),
        _needed("Seq", sa.Integer(), "100"),
        _needed("RetryCount", sa.Integer(), "0"),
        _needed("RetryWaitMins", sa.Integer(), "5"),
        _needed("Populator", name(), "'pattern'"),
        _column("PopulatorArgs", text_column()),
        _needed("OnFailure", word(), "'hold_batch'"),
        _needed("DependencyMode", word(), "'all'"),
        _needed("MaxConcurrent", sa.Integer(), "1"),
        _needed("DuplicateCheck", sa.SmallInteger(), "1"),
        _column("Description", text_column()),
        _stamp("z_inserted"),
        _stamp("z_updated"),
        sa.UniqueConstraint("ProcessBatchName"),
        _check("ProcessBatchName", "ProcessBatchName <> ''"),
        _flag("Enabled"),
        _flag("DuplicateCheck"),
        _check("RetryCount", "RetryCount BETWEEN 0 AND 1000"),
        _check("RetryWaitMins", "RetryWaitMins BETWEEN 0 AND 525600"),
        _check("MaxConcurrent", "MaxConcurrent BETWEEN 1 AND 1000"),
        _words("OnFailure", "hold_batch stop_all continue"),
        _words("DependencyMode", "all any"),
        sqlite_autoincrement=True,
    )
    _create(
        metadata,
        "ProcessControl",
        _key("ProcessControl_id"),
        _needed("ProcessBatch_id", reference(), None, sa.ForeignKey("ProcessBatch.ProcessBatch_id")),
        _needed("ProcessControlSeq", sa.Integer()),
        _needed("ProcessName", name()),
        _needed("ProcessType", name(50)),
        _column("ExpectedDuration", sa.Integer()),
        _column("AlarmDuration", sa.Integer()),
        _column("MaxDuration", sa.Integer()),
        _needed("OnLost", word(), "'hold'"),
        *_data(),
        _stamp("z_inserted"),
        _stamp("z_updated"),
        sa.UniqueConstraint("ProcessBatch_id", "ProcessControlSeq"),
        _check("ProcessControlSeq", "ProcessControlSeq BETWEEN 1 AND 2000000000"),
        _check("ProcessName", "ProcessName <> ''"),
        _check("ExpectedDuration", "ExpectedDuration BETWEEN 1 AND 31536000"),
        _check("AlarmDuration", "AlarmDuration BETWEEN 1 AND 31536000"),
        _check("MaxDuration", "MaxDuration BETWEEN 1 AND 31536000"),
        _words("OnLost", "hold rerun verify"),
        sqlite_autoincrement=True,
    )
    _create(
        metadata,
        "BatchControl",
        _key("BatchControl_id"),
        _needed("ProcessBatch_id", reference(), None, sa.ForeignKey("ProcessBatch.ProcessBatch_id")),
        _needed("FileProcess_id", reference(), None, sa.ForeignKey("FileProcess.FileProcess_id")),
        _needed("PrevProcessControlSeq", sa.Integer(), "0"),
        _needed("Status", word(), "'ready'"),
        _needed("RetryCount", sa.Integer(), "0"),
        _needed("NextRunTime", Moment(), "'1900-01-01 00:00:00.000'"),
        _column("CycleKey", name()),
        *_data(),
        _needed("ClaimToken", reference(), "0"),
        _column("ClaimedBy", name()),
        _needed("LostCount", sa.Integer(), "0"),
        _stamp("z_inserted"),
        _stamp("z_updated"),
        sa.UniqueConstraint("FileProcess_id", "ProcessBatch_id"),
        _words("Status", "ready running retry failed held pausing paused cancelling cancelled complete"),
        _check("PrevProcessControlSeq", "PrevProcessControlSeq >= 0"),
        _check("RetryCount", "RetryCount >= 0"),
        _check("LostCount", "LostCount >= 0"),
        sqlite_autoincrement=True,
    )
    _create(
        metadata,
        "BatchProcessHistory",
        _key("BatchProcessHistory_id"),
        _needed("BatchControl_id", reference(), None, sa.ForeignKey("BatchControl.BatchControl_id")),
        _needed("ProcessBatch_id", reference(), None, sa.ForeignKey("ProcessBatch.ProcessBatch_id")),
        _needed("ProcessControlSeq", sa.Integer()),
        _needed("ProcessName", name()),
        _needed("ProcessType", name(50)),
        _needed("AttemptNo", sa.Integer(), "1"),
        _needed("ClaimToken", reference(), "0"),
        _needed("Cause", word(), "'auto'"),
        _needed("Status", word(), "'running'"),
        _needed("CommandText", text_column()),
        _needed("CommandSpec", text_column(), "'{}'"),
        _stamp("StartTime"),
        _column("EndTime", Moment()),
        _column("ReturnCode", reference()),
        _column("Message", text_column()),
        _column("Output", text_column()),
        _column("RowsAffected", reference()),
        _column("Host", name()),
        _column("Pid", reference()),
        _column("PidStart", name(50)),
        _column("BootId", name(50)),
        _column("DbSession", name()),
        _column("Spawned", Moment()),
        _column("RetryCountAfter", sa.Integer()),
        _column("NextRunTimeAfter", Moment()),
        _stamp("z_inserted"),
        _stamp("z_updated"),
        sa.UniqueConstraint("BatchControl_id", "ProcessControlSeq", "AttemptNo"),
        _words("Cause", "auto retry manual verify"),
        _words("Status", "running success failed timeout cancelled lost fenced skipped"),
        _check("EndTime", ENDED_OR_LIVE),
    )
    _create(
        metadata,
        "AuditLog",
        _key("AuditLog_id"),
        _stamp("z_inserted"),
        _needed("Actor", name()),
        _needed("Host", name()),
        _needed("Action", name(50)),
        _needed("Target", name()),
        _column("Reason", text_column()),
        _column("ValuesBefore", text_column()),
        _column("ValuesAfter", text_column()),
        _check("Actor", "Actor <> ''"),
        sqlite_autoincrement=True,
    )
    _index("IX_FileProcess_Ready", "FileProcess", ["FileProcess_id"], READY_INTAKE)
    _index_duplicates()
    _index("IX_BatchControl_Open", "BatchControl", ["ProcessBatch_id", "BatchControl_id"], OPEN_INSTANCE)
    _index("UX_BatchProcessHistory_Live", "BatchProcessHistory", ["BatchControl_id"], LIVE_ENTRY, unique=True)
    if op.get_context().dialect.name == "postgresql":
        _create_triggers()


def downgrade() -> None:
    """Drop everything the revision made."""
    for table in ("AuditLog", "BatchProcessHistory", "BatchControl", "ProcessControl", "ProcessBatch", "FileProcess"):
        op.drop_table(_plain(table))
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP FUNCTION batchctl_lower()")
        op.execute("DROP FUNCTION batchctl_notify()")


def _index_duplicates() -> None:
    """Index what finds duplicates. Data may be longer than the entry of an ordered index can be, except on SQLite."""
    match op.get_context().dialect.name:
        case "postgresql":
            _index("IX_FileProcess_Duplicate", "FileProcess", ["Data"], HAS_DATA, postgresql_using="hash")
        case "mssql":
            _index("IX_FileProcess_Duplicate", "FileProcess", ["Entity"], HAS_DATA)
        case _:
            _index("IX_FileProcess_Duplicate", "FileProcess", ["Entity", "Data"], HAS_DATA)


def _create_triggers() -> None:
    """Let PostgreSQL write status words in lower case, and tell a waiting controller that somebody has written."""
    op.execute(LOWER)
    for table, column in WORDS:
        op.execute(
            f"CREATE TRIGGER TR_{table}_{column} BEFORE INSERT OR UPDATE OF {column} ON {table} FOR EACH ROW"
            f" WHEN (NEW.{column} <> lower(NEW.{column})) EXECUTE FUNCTION batchctl_lower('{column.lower()}')"
        )
    op.execute(NOTIFY)
    for table in ("FileProcess", "ProcessBatch", "ProcessControl", "BatchControl"):
        op.execute(
            f"CREATE TRIGGER TR_{table}_Notify AFTER INSERT OR UPDATE OR DELETE ON {table} FOR EACH STATEMENT"
            " WHEN (coalesce(current_setting('batchctl.quiet', true), '') <> 'on') EXECUTE FUNCTION batchctl_notify()"
        )


class Moment(sa.types.TypeDecorator[Any]):
    """A time column: text on SQLite, whose date functions read it."""

    impl = sa.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> Any:
        """Choose the type the database has."""
        match dialect.name:
            case "sqlite":
                return dialect.type_descriptor(sa.Text())
            case "mssql":
                return mssql.DATETIME2(3)
            case _:
                return postgresql.TIMESTAMP(precision=3)


class utc_now(expression.FunctionElement[Any]):  # noqa: N801 - reads as an SQL function
    """The database's own clock in UTC."""

    type = Moment()
    inherit_cache = True


@compiles(utc_now, "sqlite")
def _utc_now_sqlite(element: utc_now, compiler: Any, **options: Any) -> str:  # noqa: ARG001 - SQLAlchemy's hook
    return "(strftime('%Y-%m-%d %H:%M:%f','now'))"


@compiles(utc_now, "postgresql")
def _utc_now_postgresql(element: utc_now, compiler: Any, **options: Any) -> str:  # noqa: ARG001 - as above
    return "(clock_timestamp() AT TIME ZONE 'UTC')"


@compiles(utc_now, "mssql")
def _utc_now_mssql(element: utc_now, compiler: Any, **options: Any) -> str:  # noqa: ARG001 - as above
    return "SYSUTCDATETIME()"


@compiles(CreateColumn, "mssql")
def _named_default(element: CreateColumn, compiler: Any, **options: Any) -> str:
    """Name the constraint that SQL Server makes of a default: without its name nobody can drop it later."""
    column = element.element
    text = str(compiler.visit_create_column(element, **options))
    name = f"CONSTRAINT [DF_{column.table.name}_{column.name}] DEFAULT"
    return text if column.server_default is None else text.replace("DEFAULT", name, 1)


def _plain(name: str) -> quoted_name:
    return quoted_name(name, quote=False)


def identity() -> Any:
    """Return the type of a row's own number."""
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


reference = identity


def name(length: int = 200) -> Any:
    """Return the type of a short text; compared letter by letter on SQL Server too."""
    return sa.Unicode(length).with_variant(sa.Unicode(length, collation=EXACT), "mssql")


def word() -> Any:
    """Return the type of a status word, compared in any letter case."""
    kind = sa.String(20).with_variant(sa.String(20, collation="NOCASE"), "sqlite")
    return kind.with_variant(sa.String(20, collation="Latin1_General_100_CI_AS"), "mssql")


def text_column() -> Any:
    """Return the type of a long text."""
    return sa.UnicodeText().with_variant(mssql.NVARCHAR(None, EXACT), "mssql")


def _key(called: str) -> sa.Column[Any]:
    return sa.Column(_plain(called), identity(), primary_key=True, autoincrement=True)


def _column(called: str, kind: Any) -> sa.Column[Any]:
    return sa.Column(_plain(called), kind, nullable=True)


def _needed(called: str, kind: Any, default: str | None = None, *rest: Any) -> sa.Column[Any]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(_plain(called), kind, *rest, nullable=False, server_default=server_default)


def _stamp(called: str) -> sa.Column[Any]:
    return sa.Column(_plain(called), Moment(), nullable=False, server_default=utc_now())


def _data() -> list[sa.Column[Any]]:
    return [_column(f"Data{at}", text_column()) for at in range(1, 7)]


def _words(called: str, words: str) -> sa.CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words.split())
    return _check(called, f"lower({called}) IN ({listed})")


def _check(called: str, condition: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(condition, name=called)


def _flag(called: str) -> sa.CheckConstraint:
    return _check(called, f"{called} IN (0, 1)")


def _create(metadata: sa.MetaData, called: str, *parts: Any, **options: Any) -> None:
    table = sa.Table(_plain(called), metadata, *parts, **options)
    for column in [column for column in table.columns if not column.primary_key]:
        table.append_constraint(_type_check(column))
    op.get_context().impl.create_table(table)


def _index(called: str, table: str, columns: list[str], where: str, *, unique: bool = False, **options: Any) -> None:
    condition = sa.text(where)
    conditions = {"sqlite_where": condition, "postgresql_where": condition, "mssql_where": condition}
    op.create_index(called, _plain(table), [_plain(at) for at in columns], unique=unique, **conditions, **options)


def _type_check(column: sa.Column[Any]) -> sa.CheckConstraint:
    kind, at = column.type, column.name
    if isinstance(kind, (sa.BigInteger, sa.Integer, sa.SmallInteger)):
        condition = f"typeof({at}) = 'integer'"
    elif isinstance(kind, Moment):
        condition = (
            f"{at} GLOB '[0-9][0-9][0-9][0-9]-*'"
            f" AND date(substr({at}, 1, 10), '+0 days') IS substr({at}, 1, 10) AND substr({at}, 12, 2) < '24'"
            f" AND substr(strftime('%Y-%m-%d %H:%M:%S', {at}), 1, length({at})) IS substr({at}, 1, 19)"
            f" AND substr({at}, 20) NOT GLOB '*[^.0-9]*'"
        )
    else:
        condition = f"typeof({at}) = 'text' AND instr({at}, char(0)) = 0"
        length = getattr(kind, "length", None)
        condition += f" AND length({at}) <= {length}" if length else ""
    condition = f"{at} IS NULL OR ({condition})" if column.nullable else condition
    return sa.CheckConstraint(condition, name=f"{at}_Type").ddl_if(dialect="sqlite")
