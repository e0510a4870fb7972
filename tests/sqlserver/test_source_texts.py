"""SQL Server takes every text in the source that looks like T-SQL, by itself or as a part of what is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from batchctl.store import unreadable_columns, views
from batchctl.store.dialects import mssql_session
from batchctl.store.maintenance import roles, schema
from batchctl.store.tables import process_batch
from batchctl.testing import a_step
from step_handlers.packages import _catalog
from step_handlers.packages._ssis_parameters import Value
from step_handlers.sql import Sql
from step_handlers.sqlserver._tsql import LEFT_OPEN
from step_handlers.stored_procedure import StoredProcedure
from tests.sqlserver import source_texts, taken
from tests.sqlserver.catalog import batches, with_trees
from tests.sqlserver.parser import findings
from tests.step_handlers.postgres_steps import render
from tests.step_handlers.test_mssql import URL

TEXTS = source_texts.texts()
BEGIN, COMMIT = "BEGIN TRANSACTION;\nGO\n", "COMMIT TRANSACTION;\nGO\n"
HOLES = {
    **dict.fromkeys(("", "number", "row_id", "calendar_id", "day_id", "intake_id", "trigger.row_id"), "1"),
    **dict.fromkeys(("holder", "self.number", "milliseconds", "LOOK_SECONDS", "round(seconds * 1000)"), "51"),
    **dict.fromkeys(("table", "table.name"), "FileProcess"),
    **dict.fromkeys(("name", "MODEL", "called", "user"), "etl"),
    **dict.fromkeys(("column", "columns"), "Entity"),
    "quoted": "x",
    "most": "21",
    **dict.fromkeys(("value", "values"), "'x'"),
    "insert": "INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (1, 'x')",
    **dict.fromkeys(("of_instance", "asked"), "SELECT 'rerun', 1, 'x'"),
    "_BY_SQLCMD": "",
    "before": "SET QUOTED_IDENTIFIER ON; ",
    "where": "FileProcess_id = 1",
    "said": "SELECT, UPDATE",
    "marks": "?, ?",
    "schema": "SCHEMA_NAME()",
    "day": "2026-11-21",
    "errors.NOT_ONE_TRANSACTION": "50000",
    "', '.join((f'@name = ?' for name in given))": "@Data1 = ?, @Data2 = ?",
}
"""What stands in the holes of a text that is sent or shown by itself."""
OF_OTHER_SERVERS = {
    "batchctl/store/database_roles.py": ("SELECT r.oid FROM pg_roles ", "SELECT CASE WHEN has_table_privilege("),
    "batchctl/store/intake/staging.py": ("SET statement_timeout = ",),
    "batchctl/store/maintenance/roles.py": ("\nCREATE OR REPLACE FUNCTION ",),
    "batchctl/store/statements.py": ("SELECT {found[1]} {condition}", "SELECT {values[1]} FROM {rows} ORDER BY v."),
    "batchctl/store/task_queues.py": ("SELECT 1 FROM pg_roles ", "SELECT tgname FROM pg_trigger "),
    "batchctl/store/views/shared_parts.py": ("\nSELECT OffsetSeconds || ", " SELECT char("),
    "batchctl/store/views/view_dialect.py": ("CREATE OR REPLACE VIEW", "CREATE VIEW", "SELECT * FROM {in_common("),
    "step_handlers/_sql_steps.py": ("SELECT * FROM (", "SET TRANSACTION READ ONLY"),
    "step_handlers/_populating_procedure.py": (
        *("SELECT DISTINCT n.nspname, p.proname FROM pg_catalog", "SELECT * FROM"),
        *("SET client_connection_check_interval ", "BEGIN READ ONLY"),
    ),
}
"""How texts begin that no SQL Server gets, in modules that have others for it."""


@cache
def whole(module: str) -> tuple[str, ...]:
    """Return the texts that a module makes of its parts; of most it makes none."""
    if module.startswith("batchctl/store/views/"):
        return tuple(views.views("mssql").values())
    return tuple(WHOLE.get(module, tuple)())


def of_roles() -> Iterator[str]:
    script = roles.script("mssql", "etl", {"shop": ["Orders"]})
    yield from (text for batch in batches(script) for text, _ in with_trees(batch))
    yield script[script.index("\nCREATE OR ALTER TRIGGER") :]


def of_the_script() -> Iterator[str]:
    script = schema.script("mssql")
    yield from dict.fromkeys(batches(script))
    yield script[: script.index(BEGIN) + len(BEGIN)]
    yield script[script.rindex(COMMIT) :]


def of_the_catalog() -> Iterator[str]:
    package, values = _catalog.Package("folder", "project", "Load.dtsx"), [Value("$Project", "Rows", "Int32", "5")]
    yield _catalog.script(package, values, "who")
    for batch in (
        *(_catalog.creation(package, values, "who"), _catalog.start(7), _catalog.stopping(7), _catalog.pause()),
        *(_catalog.state(7, after_pause=True), _catalog.messages(7), _catalog.search(package, "who")),
    ):
        yield batch.sql


def of_rows_put_back() -> Iterator[str]:
    connection: Any = SimpleNamespace(dialect=SimpleNamespace(name="mssql"))
    shown, _, _ = unreadable_columns._put_back(connection, process_batch, 1, None).partition(";   ")
    yield f"{shown};"


def of_steps() -> Iterator[str]:
    call = a_step(
        "stored_procedure", Data1="warehouse", Data2="dbo.p", Data3="@a={Data1}, @b={secret:token}, @c=OUTPUT"
    )
    query = a_step("sql", Data1="warehouse", Data2="UPDATE Item SET Name = {Data1}")
    backup = a_step("sql", Data1="warehouse", Data2="BACKUP DATABASE etl TO DISK = {Data1}")
    for handler, step in ((StoredProcedure(), call), (Sql(), query), (Sql(), backup)):
        rendered = render(handler, step, URL, Data1="it's ü" * 2000)
        yield str(rendered.spec["batch"])
        yield from batches(rendered.command_text)
    yield LEFT_OPEN


WHOLE = {
    "batchctl/store/dialects/mssql_session.py": lambda: [
        mssql_session._TELLING.format("SELECT 1"),
        mssql_session._part_of_a_batch("CREATE VIEW etl AS SELECT 1 AS One"),
    ],
    "batchctl/store/maintenance/roles.py": of_roles,
    "batchctl/store/maintenance/tsql_script.py": of_the_script,
    "batchctl/store/unreadable_columns.py": of_rows_put_back,
    "step_handlers/packages/_catalog.py": of_the_catalog,
    "step_handlers/sqlserver/_tsql.py": of_steps,
}
"""Modules whose texts are parts of others, and how those are made; the scripts are taken as a whole by tests of their own."""


def is_of_another_server(place: str) -> bool:
    """Say whether a text is not for SQL Server, though others in its module are."""
    module = place.partition(":")[0]
    beginnings = OF_OTHER_SERVERS.get(module, ())
    is_in_another = module == "batchctl/store/maintenance/roles.py" and source_texts.is_part(
        TEXTS[place], roles.script("postgresql", "etl", {"shop": ["Orders"]})
    )
    return is_in_another or TEXTS[place].startswith(beginnings)


def is_part(place: str) -> bool:
    """Say whether a text is part of one that its module makes."""
    return any(source_texts.is_part(TEXTS[place], one) for one in whole(place.partition(":")[0]))


@pytest.mark.parametrize("place", TEXTS)
def test_a_text_in_the_source_is_taken(place: str) -> None:
    if is_part(place) or is_of_another_server(place):
        return
    try:
        text = source_texts.filled(TEXTS[place], HOLES)
    except KeyError as hole:
        pytest.fail(f"{place}: what stands in the hole {hole} when this goes to SQL Server? say so in HOLES")
    taken.assert_taken(text)


@pytest.mark.parametrize(
    "module",
    [
        name
        for name in WHOLE
        if name not in {"batchctl/store/maintenance/roles.py", "batchctl/store/maintenance/tsql_script.py"}
    ],
)
def test_what_is_made_of_parts_is_taken(module: str) -> None:
    for text in whole(module):
        taken.assert_taken(text)


def test_what_is_named_here_is_there() -> None:
    modules = {place.partition(":")[0] for place in TEXTS}
    used = {hole for text in TEXTS.values() for hole in source_texts.HOLE.findall(text)}
    assert modules >= {*WHOLE, *OF_OTHER_SERVERS}
    assert used >= HOLES.keys()
    assert len(TEXTS) > 150
    for module, beginnings in OF_OTHER_SERVERS.items():
        for beginning in beginnings:
            assert any(TEXTS[place].startswith(beginning) for place in TEXTS if place.startswith(module)), beginning


FORGOTTEN = '''
"""SELECT what a docstring tells."""
PATTERN = re.compile("SELECT (.*) FROM")
plain = "select Status from BatchControl"
first = "\\n  -- why\\n merge into t using u on 1 = 1"
kept = {"a": ["declare @x int; select @x"]}
class Kept:
    text = """
with x as (select 1 as a) select a from x"""
def asked(name):
    run(f"GRANT SELECT ON {name} TO {'it' + name}")
    hint = "ask a DBA: ALTER DATABASE etl SET RECOVERY SIMPLE"
    run("exec sp_who; " + more)
    run(f"{before}delete from {table}")
    prose = "select a batch, or insert a row; with its name"
    begins = "INSERT INTO ProcessControl ..."
'''


def test_a_text_is_found_wherever_it_stands() -> None:
    found = {int(at.partition(":")[0]): text for at, text in source_texts.texts_in(FORGOTTEN)}

    assert sorted(found) == [4, 5, 6, 8, 11, 12, 13, 14]
    assert found[11] == "GRANT SELECT ON {name} TO {'it' + name}"
    assert found[12] == "ALTER DATABASE etl SET RECOVERY SIMPLE"


def test_a_text_is_no_part_of_what_lacks_a_piece_of_it() -> None:
    assert source_texts.is_part("UPDATE {table} SET (column) = 1", "x; UPDATE t SET a = 1;")
    assert not source_texts.is_part("UPDATE {table} SET (column) = 1", "x; SET a = 1; UPDATE t")


def test_what_is_no_t_sql_is_refused_with_its_holes_filled() -> None:
    assert findings(source_texts.filled("UPDATE {table} SET a = ... WHERE b = :b;   (or so)", HOLES)) == []
    assert findings(source_texts.filled("UPDATE {table} SET a = ... WHERE b = :b LIMIT 1", HOLES)) != []
    with pytest.raises(KeyError, match="unheard"):
        source_texts.filled("SELECT {unheard}", HOLES)
