"""A trigger, and how it is written on each kind of database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PROGRAM = "batchctl/"
"""How the names of the engine's connections begin on PostgreSQL: by that triggers tell them from those of people."""
BY_HAND = f"left(current_setting('application_name'), {len(PROGRAM)}) <> '{PROGRAM}'"


@dataclass(frozen=True, slots=True)
class Trigger:
    """A trigger of a table or a view. `statement` makes it where there is none of its name."""

    name: str
    table: str
    statement: str


def on_sqlite(name: str, table: str, event: str, body: Iterable[str], when: str = "") -> Trigger:
    """Return a trigger of SQLite; `event` says when it fires, such as `BEFORE DELETE`."""
    condition = f" WHEN {when}" if when else ""
    statements = "".join(f"    {statement};\n" for statement in body)
    return Trigger(name, table, f"CREATE TRIGGER {name} {event} ON {table}{condition}\nBEGIN\n{statements}END")


def refuse_when(wording: str, when: str = "") -> str:
    """Return what refuses a statement on SQLite, `when` a condition holds, if one is given."""
    return f"SELECT RAISE(ABORT, '{wording}')" + (f"\n    WHERE {when}" if when else "")


def refuse_if_any(wording: str, table: str, when: str) -> str:
    """Return what refuses a statement on SQLite if a table has any rows of which a condition holds."""
    return f"SELECT RAISE(ABORT, '{wording}')\n    FROM {table} WHERE {when}"


def on_postgresql(name: str, table: str, event: str, function: str, *arguments: str, when: str = "") -> Trigger:
    """Return a trigger of PostgreSQL, which calls a function; `event` holds all that stands before FOR EACH."""
    each = "STATEMENT" if "TRUNCATE" in event else "ROW"
    return Trigger(name, table, _calling(name, table, event, each, function, arguments, when))


def once_a_statement(name: str, table: str, event: str, function: str, when: str) -> Trigger:
    """Return a trigger of PostgreSQL that is called once for all rows of a statement."""
    return Trigger(name, table, _calling(name, table, event, "STATEMENT", function, (), when))


def _calling(name: str, table: str, event: str, each: str, function: str, arguments: Iterable[str], when: str) -> str:
    given = ", ".join(f"'{one}'" for one in arguments)
    condition = f"\n    WHEN ({when})" if when else ""
    return (
        f"CREATE OR REPLACE TRIGGER {name} {event} ON {table} FOR EACH {each}{condition}\n"
        f"    EXECUTE FUNCTION {function}({given})"
    )


def on_mssql(name: str, table: str, event: str, body: str, schema: str) -> Trigger:
    """Return a trigger of SQL Server, which gets all rows of a statement at once.

    CREATE TRIGGER has to be the first statement of a batch; in a script other statements stand before it.
    """
    made = f"CREATE OR ALTER TRIGGER {schema}{name} ON {schema}{table} {event} AS"
    text = f"{made}\nBEGIN\n    SET NOCOUNT ON;\n{body}\nEND".replace("'", "''")
    return Trigger(name, table, f"EXEC sp_executesql N'{text}'")


def thrown(wording: str, when: str) -> str:
    """Return what refuses a statement on SQL Server."""
    return f"    IF {when}\n        THROW 51000, N'{for_any_client(wording)}', 1;"


def for_any_client(wording: str) -> str:
    """Let sqlcmd and SQL Agent run a message's UPDATE, which SQL Server refuses them otherwise (error 1934)."""
    return wording.replace("UPDATE ", "SET QUOTED_IDENTIFIER ON; UPDATE ", 1)


def trusted(name: str, declared: str, body: str) -> tuple[str, ...]:
    """Return what makes a function of PostgreSQL that acts as the owner of the tables, and that no other role may call.

    It finds them in the schema of the table that its trigger is on, by `ours`.
    """
    made = (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER\n"
        "SET search_path = pg_catalog, pg_temp AS $$\n"
        f"DECLARE\n    ours text := quote_ident(TG_TABLE_SCHEMA) || '.';\n{declared}BEGIN\n{body}END\n$$"
    )
    return (
        made,
        # Somebody who put it on a table of another owner would act as the owner of ours.
        f"REVOKE ALL ON FUNCTION {name}() FROM PUBLIC",
    )


def plain(name: str, body: str, declared: str = "") -> tuple[str, ...]:
    """Return what makes a function of PostgreSQL that acts as the role that fires its trigger."""
    variables = f"DECLARE\n{declared}" if declared else ""
    return (
        f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$\n{variables}BEGIN\n{body}END\n$$",
    )
