"""Refuse lists of months, of days of a month and of names that the engine could not read, and limits that are no number.

Rows that a new constraint would refuse are named before anything is changed; whoever upgrades corrects them first.
"""

from __future__ import annotations

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
}
"""They let a blank within a name through, and the sign that stood for one."""
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
}
"""The column by which a person knows a row."""
HOLDS = {"RunMonths_Days": "RunDaysOfMonth", "MaxConcurrent": "Value"}
"""The column to be corrected, where the constraint is not called by it."""
MOST = 20
"""Rows that are named at once."""


def upgrade() -> None:
    """Make the constraints."""
    if not context.is_offline_mode():
        _refuse_what_would_break()
    if op.get_context().dialect.name == "sqlite":
        reword(list(KNOWN_AS), _rewordings())
        return
    for table, called in MADE_ANEW:
        _drop(table, called)
    for (table, called), condition in {**MADE_ANEW, **NEW}.items():
        _add(table, called, condition)


def downgrade() -> None:
    """Make them as they were."""
    if op.get_context().dialect.name == "sqlite":
        reword(list(KNOWN_AS), [(after, before) for before, after in _rewordings()])
        return
    for table, called in {**MADE_ANEW, **NEW}:
        _drop(table, called)
    before = _before()
    for table, called in MADE_ANEW:
        _add(table, called, before[table, called])


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
    if found:
        table, row_id, column, _ = found[0]
        shown = "; ".join(said for *_, said in found[:MOST])
        more = f"; and {len(found) - MOST} more" if len(found) > MOST else ""
        message = f"Rows hold what the engine cannot go by, and from schema {revision} on the database refuses it. {shown}{more}."
        correct = f"correct each, such as UPDATE {table} SET {column} = ... WHERE {table}_id = {row_id}"
        raise DatabaseUnusable(message, next_step=f"{correct}; then: batchctl db upgrade")
