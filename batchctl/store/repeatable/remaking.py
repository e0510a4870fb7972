"""Makes views, triggers and functions anew: rights on a view, and the views that somebody has put upon it, stay."""

from __future__ import annotations

from sqlalchemy import DDL, Connection, text
from sqlalchemy.exc import DBAPIError

from batchctl.domain.errors import SchemaMismatch
from batchctl.store import repeatable, views
from batchctl.store.dialects import dialect_of
from batchctl.store.dialects.postgresql_catalog import rights_on, views_upon
from batchctl.store.repeatable import pointing
from batchctl.store.repeatable.watched import DEFINITIONS

_FORMER = frozenset(
    (
        *(
            f"TR_{watched.table}_AuditReplace{event}"
            for watched in DEFINITIONS
            for event in ("Insert", "Update", "dInsert", "dUpdate", "dDelete")
        ),
        *(f"TR_{table}_{column}{event}" for table, column, _ in pointing.DEFINED for event in ("Insert", "Update")),
        *(f"TR_{named}_{word}" for named in pointing.NAMES for word in ("InUse", "Renumbered", "Replaced")),
        *(f"TR_FileProcess_{word}" for word in ("Paused", "Replaced")),
        "TR_batchctl_replaced_Anew",
    )
)
"""Triggers of SQLite that others have taken the place of."""
_FORMER_VIEWS = ("batchctl_rows", *(f"batchctl_{watched.table}" for watched in DEFINITIONS))
"""Views of SQLite that another has taken the place of."""
_MADE = text("SELECT name, sql FROM sqlite_master WHERE type = :kind")
_CHANGED_COLUMNS = "42P16"
"""PostgreSQL's error for a view that REPLACE would take columns from."""


def remake(connection: Connection) -> None:
    """Make all of it anew, within the caller's transaction."""
    match connection.dialect.name:
        case "sqlite":
            _on_sqlite(connection)
        case "postgresql":
            _on_postgresql(connection)
        case _:
            _on_mssql(connection)


def _on_sqlite(connection: Connection) -> None:
    """Make what differs: SQLite has no REPLACE, and with a view go its triggers."""
    found = _found(connection, "view")
    for name, statement in (views.views("sqlite") | repeatable.view_functions("sqlite")).items():
        if found.get(name) != _in_one_line(statement):
            _execute(connection, f"DROP VIEW IF EXISTS {name}", statement)
    found = _found(connection, "trigger")
    for name in found.keys() & _FORMER:
        _execute(connection, f"DROP TRIGGER {name}")
    for trigger in repeatable.triggers("sqlite"):
        if found.get(trigger.name) != _in_one_line(trigger.statement):
            _execute(connection, f"DROP TRIGGER IF EXISTS {trigger.name}", trigger.statement)
    _execute(connection, *(f"DROP VIEW IF EXISTS {name}" for name in _FORMER_VIEWS))


def _found(connection: Connection, kind: str) -> dict[str, str]:
    return {str(row.name): _in_one_line(str(row.sql)) for row in connection.execute(_MADE, {"kind": kind})}


def _in_one_line(statement: str) -> str:
    return " ".join(statement.split())


def _on_postgresql(connection: Connection) -> None:
    _execute(connection, *repeatable.functions("postgresql"))
    rights: dict[str, list[str]] = {}
    for name, statement in views.views("postgresql").items():
        _replace_view(connection, name, statement, rights)
        _execute(connection, *rights.pop(name, ()))
    _execute(connection, *(trigger.statement for trigger in repeatable.triggers("postgresql")))


def _replace_view(connection: Connection, name: str, statement: str, rights: dict[str, list[str]]) -> None:
    dialect = dialect_of(connection)
    dialect.begin_part(connection)
    try:
        _execute(connection, statement)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) != _CHANGED_COLUMNS:
            raise
        dialect.undo_part(connection)
        _drop_view(connection, name, rights)
        _execute(connection, statement)
    dialect.end_part(connection)


def _drop_view(connection: Connection, name: str, rights: dict[str, list[str]]) -> None:
    """Drop a view that gets other columns, and before it batchctl's views upon it, made anew later; keep all rights."""
    upon = views_upon(connection, name)
    for each in [*(other for other in reversed(views.NAMES) if other.lower() in upon), name]:
        rights[each] = rights_on(connection, each)
        try:
            _execute(connection, f"DROP VIEW {each}")
        except DBAPIError as error:
            message = f"View {name} gets other columns, and something in the database stands upon it: {error.orig}"
            raise SchemaMismatch(
                message, next_step="drop that, then: batchctl db upgrade, then make it again"
            ) from error


def _on_mssql(connection: Connection) -> None:
    elsewhere = (connection.get_execution_options().get("schema_translate_map") or {}).get(None)
    schema = "" if elsewhere is None else f"{elsewhere}."
    _execute(connection, *views.views("mssql", schema).values())
    _execute(connection, *(trigger.statement for trigger in repeatable.triggers("mssql", schema)))


def _execute(connection: Connection, *statements: str) -> None:
    for statement in statements:
        connection.execute(DDL(statement.replace("%", "%%")))  # type: ignore[no-untyped-call] # SQLAlchemy has no types for it
