"""What `db upgrade` makes anew from the newest text: views, triggers, and on PostgreSQL their functions.

No migration makes any of it: to change one, change its text here, or that of a view in `batchctl.store.views`.
"""

from __future__ import annotations

import re

from batchctl.store import views
from batchctl.store.repeatable import audit_triggers, named_triggers, notices, pointing, sql_job_triggers, work
from batchctl.store.repeatable.trigger import Trigger
from batchctl.store.views import shared_parts

_KINDS = (audit_triggers, pointing, work, named_triggers, sql_job_triggers, notices)
_NAME = re.compile(r"CREATE OR REPLACE FUNCTION (\w+\(\))")


def functions(dialect: str) -> list[str]:
    """Return the statements that make the functions."""
    return [made for kind in _KINDS for made in getattr(kind, "FUNCTIONS", ())] if dialect == "postgresql" else []


def triggers(dialect: str, schema: str = "") -> list[Trigger]:
    """Return the triggers; `schema` with its dot stands before names on SQL Server where it is not the default."""
    return [trigger for kind in _KINDS for trigger in kind.triggers(dialect, schema)]


def view_functions(dialect: str) -> dict[str, str]:
    """Return the views that triggers go by, and that people are not meant to query."""
    return shared_parts.view_functions(dialect) | audit_triggers.views(dialect) | pointing.views(dialect)


def statements(dialect: str) -> list[str]:
    """Return what makes all of it, from nothing; on servers, over what is there."""
    return [
        *functions(dialect),
        *views.views(dialect).values(),
        *view_functions(dialect).values(),
        *(trigger.statement for trigger in triggers(dialect)),
    ]


def names(dialect: str) -> set[str]:
    """Return what all of it is called where the catalog of a database is read."""
    if dialect != "postgresql":
        return {*views.NAMES, *view_functions(dialect), *(trigger.name for trigger in triggers(dialect))}
    return {
        *(name.lower() for name in views.NAMES),
        *(f"{trigger.table}.{trigger.name}".lower() for trigger in triggers(dialect)),
        *(found[1] for statement in functions(dialect) if (found := _NAME.match(statement))),
    }
