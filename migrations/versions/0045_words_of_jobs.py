"""Let what refuses a row of vSqlJob name the columns of that view, and what corrects the connection of a job.

Before, constraints of Schedule and ProcessBatch refused it, which whoever writes to the view has never seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alembic import op
from alembic.util import load_python_file

from batchctl.store.written_forms import is_day_and_time

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

JOBS_BEFORE, SECONDS_BEFORE = "0029_repeatable_or_not", "0033_rows_that_point_nowhere_and_views"
CHANGES_BEFORE = "0032_refuse_what_cannot_be_read"
SET_SQL, SET_ANY = (
    "change its SQL: batchctl schedule set-sql NAME --sql ...",
    ("change its SQL or its connection: batchctl schedule set-sql NAME --sql ... --connection ..."),
)
NO_TIME = "batchctl: FirstRunOn is a time, such as 2026-12-01 02:15"
NO_NAME = "batchctl: JobName is empty: it is the name of the job"
TAKEN = (
    "batchctl: there is a batch or a schedule of this JobName already: SELECT JobName FROM vSqlJob; batchctl batches"
)
NO_FLAG = "batchctl: IsEnabled is 0 or 1"


def upgrade() -> None:
    """Make anew what makes a job of a row, and what refuses to change one."""
    _make_jobs(lambda dialect, statement: _naming_columns(dialect, _before(dialect, statement)))
    _make_changes(SET_SQL, SET_ANY)


def downgrade() -> None:
    """Make them as they were."""
    _make_jobs(_before)
    _make_changes(SET_SQL, SET_SQL)


def _before(dialect: str, statement: str) -> str:
    first, then = _revision(JOBS_BEFORE), _revision(SECONDS_BEFORE)
    made: str = then._refusing(dialect, first._refusing(dialect, statement))  # noqa: SLF001 - as these made it
    return made


def _make_jobs(change: Any) -> None:
    _revision(JOBS_BEFORE)._make(change)


def _naming_columns(dialect: str, statement: str) -> str:
    """Refuse before anything is inserted."""
    of = "i." if dialect == "mssql" else "NEW."
    lacks, inserts = f"{of}ConnectionName IS NULL OR ", "INSERT INTO ProcessBatch ("
    refusals = "".join(_refusal(dialect, said, when) for said, when in _refused(of))
    if dialect == "mssql":
        # It stands in the text of a statement.
        refusals = refusals.replace("'", "''")
    statement = statement.replace(lacks, f"{of}JobName IS NULL OR {of}FirstRunOn IS NULL OR {lacks}", 1)
    return statement.replace(inserts, f"{refusals}{inserts}", 1)


def _refused(of: str) -> Iterator[tuple[str, str]]:
    """Yield what is refused, and what is said of it."""
    job, dialect = f"{of}JobName", op.get_context().dialect
    yield NO_NAME, f"TRIM({job}) = ''"
    yield NO_TIME, f"NOT ({is_day_and_time(f'{of}FirstRunOn').compile(dialect=dialect)})"
    yield NO_FLAG, f"CAST({of}IsEnabled AS {'varchar(11)' if dialect.name == 'mssql' else 'text'}) NOT IN ('0', '1')"
    taken = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} t WHERE t.{column} = {job})"
        for table, column in (("ProcessBatch", "ProcessBatchName"), ("Schedule", "ScheduleName"))
    )
    yield TAKEN, taken


def _refusal(dialect: str, said: str, when: str) -> str:
    match dialect:
        case "sqlite":
            return f"SELECT RAISE(ABORT, '{said}') WHERE {when}; "
        case "postgresql":
            return f"IF {when} THEN\n        RAISE EXCEPTION '{said}';\n    END IF;\n    "
        case _:
            return f"IF EXISTS (SELECT 1 FROM inserted AS i WHERE {when})\n        THROW 51000, N'{said}', 1;\n    "


def _make_changes(before: str, after: str) -> None:
    first, dialect = _revision(CHANGES_BEFORE), op.get_context().dialect.name
    if dialect == "postgresql":
        function: str = first.JOB_FUNCTION.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)
        op.execute(function.replace(before, after, 1))
        return
    of = _schema()
    made: str = next(trigger for table, trigger in first.triggers(dialect) if table == "vSqlJob")
    op.execute(f"DROP TRIGGER {of}TR_vSqlJob_{'Update' if dialect == 'sqlite' else 'Stays'}")
    made = made.replace(before, after, 1).replace("CREATE TRIGGER ", f"CREATE TRIGGER {of}", 1)
    op.execute(made.replace(" ON vSqlJob ", f" ON {of}vSqlJob ", 1))


def _revision(file: str) -> Any:
    return load_python_file(str(Path(__file__).parent), f"{file}.py")


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    elsewhere = op.get_context().version_table_schema
    return "" if elsewhere is None else f"{elsewhere}."
