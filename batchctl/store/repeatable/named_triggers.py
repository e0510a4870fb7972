"""Triggers that keep calendars and pools which are in use: rows refer to them by name, so that no foreign key keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from batchctl.store.repeatable.trigger import Trigger, on_mssql, on_postgresql, on_sqlite, refuse_when, thrown, trusted


@dataclass(frozen=True, slots=True)
class Named:
    """A table whose rows others name by a text."""

    table: str
    column: str
    """The name."""
    users: tuple[tuple[str, str], ...]
    """What names a row, and by which column."""
    refused_with: str
    written: str = "{}"
    """How a user's column is compared with the name."""

    @property
    def function(self) -> str:
        """Return what the function of PostgreSQL is called."""
        return f"batchctl_{self.table.lower()}_used"

    def is_used(self, condition: str) -> str:
        """Return whether a row `u` names one; `condition` has a hole for what it is named by."""
        return " OR ".join(
            f"EXISTS (SELECT 1 FROM {table} AS u WHERE {condition.format(self.written.format(f'u.{at}'))})"
            for table, at in self.users
        )


CALENDAR = Named(
    "Calendar",
    "CalendarName",
    (("Schedule", "CalendarName"), ("ProcessBatch", "ExpectedCalendar")),
    "batchctl: a schedule or ExpectedCalendar of a batch names this calendar: UPDATE Schedule SET CalendarName = ..., UPDATE"
    " ProcessBatch SET ExpectedCalendar = ... first",
)
POOL = Named(
    "Pool",
    "PoolName",
    (("ProcessBatch", "Pool"), ("ProcessControl", "Pool")),
    "batchctl: a batch or a step names this pool: UPDATE ProcessBatch SET Pool = ..., UPDATE ProcessControl SET Pool = ... first",
    "lower({})",
)
IN_USE = (CALENDAR, POOL)


def triggers(dialect: str, schema: str) -> Iterator[Trigger]:
    """Yield the triggers that refuse to delete or to rename what is named."""
    for named in IN_USE:
        yield from _triggers(named, dialect, schema)


def _triggers(named: Named, dialect: str, schema: str) -> Iterator[Trigger]:
    table, name = named.table, named.column
    renamed = f"NEW.{name} <> OLD.{name}"
    removing, renaming = (f"TR_{table}_Used", table), (f"TR_{table}_Renamed", table)
    match dialect:
        case "sqlite":
            used, refused = named.is_used(f"{{}} = OLD.{name}"), [refuse_when(named.refused_with)]
            yield on_sqlite(*removing, "BEFORE DELETE", refused, used)
            yield on_sqlite(*renaming, f"BEFORE UPDATE OF {name}", refused, f"{renamed} AND ({used})")
        case "postgresql":
            yield on_postgresql(*removing, "BEFORE DELETE", named.function)
            # The function returns the old row, which a trigger before the change would leave as it is.
            yield on_postgresql(*renaming, f"AFTER UPDATE OF {name}", named.function, when=renamed)
        case _:
            used = named.is_used(f"EXISTS (SELECT 1 FROM deleted AS d WHERE d.{name} = {{}})")
            yield on_mssql(*removing, "AFTER DELETE", thrown(named.refused_with, used), schema)
            gone = f"NOT EXISTS (SELECT 1 FROM inserted AS i WHERE i.{name} = d.{name})"
            used = named.is_used(f"EXISTS (SELECT 1 FROM deleted AS d WHERE d.{name} = {{}} AND {gone})")
            yield on_mssql(*renaming, "AFTER UPDATE", thrown(named.refused_with, used), schema)


def _function(named: Named) -> tuple[str, ...]:
    """Return what makes the function of PostgreSQL."""
    asked = "\n            ' OR ".join(
        f"EXISTS (SELECT 1 FROM ' || ours || '{table} u WHERE {named.written.format(f'u.{at}')} = $1)'"
        for table, at in named.users
    )
    return trusted(
        named.function,
        "    used boolean;\n",
        f"""\
    EXECUTE 'SELECT {asked}
    INTO used USING OLD.{named.column};
    IF used THEN
        RAISE EXCEPTION USING MESSAGE = '{named.refused_with}', ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN OLD;
""",
    )


FUNCTIONS = tuple(statement for named in IN_USE for statement in _function(named))
"""The functions of PostgreSQL."""
