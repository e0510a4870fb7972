"""What the store sends to SQL Server, found where it is kept and where it is made.

Kept: every statement that a module of the store has in a variable. Made: whatever SQLAlchemy executes, or the store
compiles, while tests run on other databases; `recording` keeps each once, compiled for SQL Server.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import FrameType, ModuleType, SimpleNamespace
from typing import Any

from sqlalchemy import Dialect, Engine, Insert, SelectBase, TextClause, Update, UpdateBase, event, make_url
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import ClauseElement

from batchctl import store
from batchctl.store import statements
from batchctl.store.dialects.mssql_compiler import write_for_sql_server
from batchctl.store.statements import Compiled, RowInsert, RowSelect, RowUpdate

OF_OTHERS = tuple(
    f"batchctl.store.{name}"
    for name in (*("dialects.sqlite", "dialects.postgresql", "dialects.health.sqlite", "dialects.health.postgresql"),)
)
"""Modules whose statements no SQL Server ever sees."""
BY_KIND = frozenset(
    {
        *(("batchctl.store.identity", name) for name in ("rename", "lost_name")),
        ("batchctl.store.intake.staging", "count"),
        ("batchctl.store.leading", "load_or_make"),
        *(("batchctl.store.task_queues", name) for name in ("_guards", "keeps_out")),
        *(("batchctl.store.unreadable_columns", name) for name in ("unfit", "_of_row")),
        ("batchctl.store.intake.staging", "limit"),
    }
)
"""Functions that make a statement otherwise for each kind of database: that for SQL Server is looked at by tests of its own."""


@cache
def dialect() -> Dialect:
    """Return SQLAlchemy's dialect as it is after it has met a server of 2017."""
    kind: Any = make_url("mssql+pyodbc://").get_dialect()
    made = kind(paramstyle="qmark")
    made.server_version_info = (14, 0)
    made._setup_version_attributes()
    return write_for_sql_server(made)


def modules() -> Iterator[ModuleType]:
    """Import every module of the store that may speak to SQL Server."""
    for found in walk_packages(store.__path__, "batchctl.store."):
        if not found.name.startswith(OF_OTHERS):
            yield import_module(found.name)


def kept() -> dict[str, str]:
    """Return the statements that modules keep, as SQL Server gets them, by where they stand."""
    connection: Any = SimpleNamespace(dialect=dialect())
    return {
        name: one._for(connection, _columns(one._inline.table)).text
        if isinstance(one, RowInsert)
        else compiled(source_of(one))
        for name, one in _found().items()
    }


def sources() -> dict[str, Any]:
    """Return the same as SQLAlchemy has them."""
    return {name: source_of(one) for name, one in _found().items()}


def kept_selects() -> dict[str, RowSelect]:
    """Return those that go to the driver without SQLAlchemy."""
    return {name: one for name, one in _found().items() if isinstance(one, RowSelect)}


def source_of(one: Any) -> Any:
    """Return what SQLAlchemy makes a statement of."""
    match one:
        case RowInsert():
            return one._inline
        case RowSelect() | RowUpdate():
            return one._statement
        case _:
            return one


@cache
def _found() -> dict[str, Any]:
    kinds = (RowInsert, RowSelect, RowUpdate, SelectBase, UpdateBase)
    return {
        f"{module.__name__.removeprefix('batchctl.store.')}.{name}{at}": one
        for module in modules()
        for name, value in vars(module).items()
        for at, one in _within(value)
        if isinstance(one, kinds)
    }


def _within(value: Any, depth: int = 3) -> Iterator[tuple[str, Any]]:
    """Yield a value and what lies in it, each with how to get there."""
    yield "", value
    if depth == 0 or isinstance(value, (str, ClauseElement)):
        return
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    for key, part in parts:
        for at, one in _within(part, depth - 1):
            yield f"[{key}]{at}", one


def _columns(table: Any) -> list[str]:
    return [column.name for column in table.c if not column.primary_key][:3]


def compiled(statement: Any, columns: Iterable[str] | None = None) -> str:
    """Compile a statement for SQL Server, with marks for its values as a driver gets them."""
    if columns is None and isinstance(statement, (Insert, Update)) and not _has_values(statement):
        columns = _columns(statement.table)
    made: Any = statement.compile(dialect=dialect(), column_keys=None if columns is None else list(columns))
    values = {name: _value(bind) for name, bind in made.binds.items()}
    return str(made._process_parameters_for_postcompile(values).statement)


def _value(bind: Any) -> Any:
    """Return the value of a parameter, or one that stands for any."""
    if bind.expanding:
        return bind.effective_value or [1, 2]
    return 1 if bind.required else bind.effective_value


def _has_values(statement: Any) -> bool:
    return bool(statement._values or statement._multi_values or getattr(statement, "select", None) is not None)


@contextmanager
def recording(heard: Callable[[str], None]) -> Iterator[None]:
    """Let `heard` have every statement that is executed or compiled meanwhile, each once, as SQL Server would get it."""
    known, executed = set[str](), set[Any]()

    def tell(statement: Any, columns: Iterable[str] | None) -> None:
        text = compiled(statement, columns)
        if text not in known:
            known.add(text)
            heard(text)

    def before_execute(_connection: Any, statement: Any, several: Any, values: Any, _options: Any) -> None:
        if not isinstance(statement, (SelectBase, UpdateBase, TextClause)):
            return
        rows = several or ([values] if values else [])
        columns = tuple(rows[0]) if rows and isinstance(statement, (Insert, Update)) else None
        # Most are executed over and over: to compile each again would take longer than the tests.
        key = statement._generate_cache_key()
        if (key is not None and (key.key, columns) in executed) or not _is_ours():
            return
        if key is not None:
            executed.add((key.key, columns))
        tell(statement, columns)

    def before_cursor_execute(
        _connection: Any, _cursor: Any, statement: str, _values: Any, context: Any, _several: Any
    ) -> None:
        # What was written as text from the beginning; the others have been heard before they were compiled.
        if context.compiled is None and statement not in known and _is_ours():
            known.add(statement)
            heard(statement)

    plain = statements._compiled

    def compile_and_tell(compiled: SQLCompiler, dialect: Dialect) -> Compiled:
        if dialect.name != "mssql" and not compiled.effective_returning and _is_ours():
            tell(compiled.statement, compiled.column_keys)
        return plain(compiled, dialect)

    event.listen(Engine, "before_execute", before_execute)
    event.listen(Engine, "before_cursor_execute", before_cursor_execute)
    statements._compiled = compile_and_tell
    try:
        yield
    finally:
        statements._compiled = plain
        event.remove(Engine, "before_execute", before_execute)
        event.remove(Engine, "before_cursor_execute", before_cursor_execute)


def _is_ours() -> bool:
    """Say whether the engine executes a statement that SQL Server may get: not a test, a migration or another dialect."""
    frame: FrameType | None = sys._getframe(2)
    is_ours = False
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if (module, frame.f_code.co_name) in BY_KIND:
            return False
        if not is_ours and module.startswith((*OF_OTHERS, "sqlalchemy.dialects.", "alembic.", "tests.")):
            return False
        is_ours = is_ours or module.startswith("batchctl.")
        frame = frame.f_back
    return is_ours
