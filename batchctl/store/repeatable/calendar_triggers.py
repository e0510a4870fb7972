"""Triggers that keep a calendar which is in use: rows refer to it by name, so that no foreign key keeps it."""

from __future__ import annotations

from collections.abc import Iterator

from batchctl.store.repeatable.trigger import Trigger, on_mssql, on_postgresql, on_sqlite, refuse_when, thrown, trusted

USERS = (("Schedule", "CalendarName"), ("ProcessBatch", "ExpectedCalendar"))
"""What names a calendar, and by which column."""
USED = (
    "batchctl: a schedule or ExpectedCalendar of a batch names this calendar: UPDATE Schedule SET CalendarName = ..., UPDATE"
    " ProcessBatch SET ExpectedCalendar = ... first"
)


def triggers(dialect: str, schema: str) -> Iterator[Trigger]:
    """Yield the triggers that refuse to delete or to rename a calendar that is used."""
    renamed = "NEW.CalendarName <> OLD.CalendarName"
    removing, renaming = ("TR_Calendar_Used", "Calendar"), ("TR_Calendar_Renamed", "Calendar")
    match dialect:
        case "sqlite":
            used = _is_used("u.{} = OLD.CalendarName")
            yield on_sqlite(*removing, "BEFORE DELETE", [refuse_when(USED)], used)
            yield on_sqlite(*renaming, "BEFORE UPDATE OF CalendarName", [refuse_when(USED)], f"{renamed} AND ({used})")
        case "postgresql":
            yield on_postgresql(*removing, "BEFORE DELETE", "batchctl_calendar_used")
            # The function returns the old row, which a trigger before the change would leave as it is.
            yield on_postgresql(*renaming, "AFTER UPDATE OF CalendarName", "batchctl_calendar_used", when=renamed)
        case _:
            used = _is_used("EXISTS (SELECT 1 FROM deleted AS d WHERE d.CalendarName = u.{})")
            yield on_mssql(*removing, "AFTER DELETE", thrown(USED, used), schema)
            gone = "NOT EXISTS (SELECT 1 FROM inserted AS i WHERE i.CalendarName = d.CalendarName)"
            used = _is_used(f"EXISTS (SELECT 1 FROM deleted AS d WHERE d.CalendarName = u.{{}} AND {gone})")
            yield on_mssql(*renaming, "AFTER UPDATE", thrown(USED, used), schema)


def _is_used(condition: str) -> str:
    """Return whether a row `u` names a calendar; `condition` has a hole for the column by which it does."""
    return " OR ".join(f"EXISTS (SELECT 1 FROM {table} AS u WHERE {condition.format(at)})" for table, at in USERS)


FUNCTIONS = trusted(
    "batchctl_calendar_used",
    "    used boolean;\n",
    f"""\
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'Schedule u WHERE u.CalendarName = $1)'
            ' OR EXISTS (SELECT 1 FROM ' || ours || 'ProcessBatch u WHERE u.ExpectedCalendar = $1)'
    INTO used USING OLD.CalendarName;
    IF used THEN
        RAISE EXCEPTION USING MESSAGE = '{USED}', ERRCODE = 'foreign_key_violation';
    END IF;
    RETURN OLD;
""",
)
"""The functions of PostgreSQL."""
