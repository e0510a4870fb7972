"""SQL Server takes the texts that are no statements of the store: of dialect, steps, roles, jobs and documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import pytest

import step_handlers
from batchctl.store import roles, schema
from batchctl.store.agent_job import agent_job
from batchctl.store.dialects import mssql, mssql_catalog
from batchctl.store.dialects.mssql_catalog import MODEL
from tests.house.source import ROOT
from tests.sqlserver import statements, taken
from tests.sqlserver.catalog import batches, control_database, with_trees
from tests.sqlserver.lint import refusals_of_session
from tests.sqlserver.parser import tree_of

VERB = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|SET|EXEC|DECLARE|IF|BEGIN|CREATE|COMMIT|ROLLBACK) ")
SUPPLIERS = {"shop": ["Orders", "L'été"]}

FILLED = {
    "batchctl.store.dialects.mssql._GET_LOCK": ["DECLARE @lock nvarchar(255) = N'x';" + mssql._GET_LOCK.format(5000)],
    "batchctl.store.dialects.mssql._LOCK_ROW": [mssql._LOCK_ROW.format(table="FileProcess")],
    "batchctl.store.dialects.mssql._LOCK_ROWS": [mssql._LOCK_ROWS.format(table="BatchControl", marks="?, ?")],
    "batchctl.store.dialects.mssql._FREE_INSTANCES": [mssql._FREE_INSTANCES.format(marks="?, ?")],
    "batchctl.store.dialects.mssql_catalog.DEFINITIONS": [
        mssql_catalog.DEFINITIONS.format(schema=schema) for schema in ("SCHEMA_NAME()", f"N'{MODEL}'")
    ],
}
"""Texts with holes, filled as they are when they are sent."""
ELSEWHERE = {
    "batchctl.store.dialects.mssql_session._TELLING": "test_statements: every statement in it",
    "batchctl.store.identity._INSERT": "test_statements",
    "batchctl.store.identity._UPDATE": "test_statements",
    "batchctl.store.tsql_script._HEAD": "test_script: the script begins with it",
    "batchctl.store.tsql_script._NOT_YET": "test_script: part of what guards a batch",
    "batchctl.store.tsql_script._IF_NO_VERSION": "test_script: part of what guards a batch",
    "batchctl.store.tsql_script._FOOT": "test_script: the script ends with it",
    "batchctl.store.agent_job._SCRIPT": "below, as a job",
    "batchctl.store.roles._HOLD_PLANTED_ON_MSSQL": "below, in the script of roles",
    "batchctl.store.roles._MAY_ON_MSSQL": "below, in the script of roles",
    "batchctl.store.roles._NO_TASKS_ON_MSSQL": "below, in the script of roles",
    "batchctl.store.roles._NO_TASK_DATA_ON_MSSQL": "below, in the script of roles",
    "step_handlers._tsql._CATCH": "the end of a step's batch: whatever the tests of steps send is looked at",
    "step_handlers._catalog._SET": "a part of what the tests of steps send",
    "step_handlers._catalog._GUARD": "a part of what the tests of steps send",
    "step_handlers._catalog._SCRIPT": "a part of what the tests of steps send",
}
"""Texts that are looked at with others around them, and where."""
OF_OTHER_SERVERS = {
    "batchctl.store.roles.WHO_MAY",
    "batchctl.store.roles._NO_TASKS",
    "batchctl.store.task_queues.WHO_MAY",
    "batchctl.store.task_queues._GUARDS",
    "batchctl.store.task_queues._WHO_MAY",
    "batchctl.store.scripts._TAKEN",
    "step_handlers._populating_procedure._FIND_FUNCTION",
    "step_handlers._populating_procedure._SELECT",
}
HANDLERS_OF_OTHERS = ("_post", "_psql", "_sqlite", "_procedure_files")
DOCUMENTED_ELSEWHERE = {"populators.md": "a function of PostgreSQL, and a file for SQLite"}


def modules() -> Iterator[ModuleType]:
    """Import every module that may hold a text for SQL Server."""
    yield from statements.modules()
    for found in iter_modules(step_handlers.__path__):
        if not found.name.startswith(HANDLERS_OF_OTHERS):
            yield __import__(f"step_handlers.{found.name}", fromlist=["_"])


def texts() -> dict[str, list[str]]:
    """Return what stands in variables of modules and looks like SQL, by where it stands."""
    found: dict[str, list[str]] = {}
    for module in modules():
        for name, value in vars(module).items():
            several = value if isinstance(value, (list, tuple)) else [value]
            said = [getattr(one, "text", one) for one in several]
            sql = [one for one in said if isinstance(one, str) and VERB.search(one) and not name.startswith("__")]
            if sql:
                found[f"{module.__name__}.{name}"] = sql
    return found


TEXTS = texts()
ALONE = sorted(set(TEXTS) - set(ELSEWHERE) - OF_OTHER_SERVERS)


def test_every_text_is_looked_at_here_or_said_to_be_elsewhere() -> None:
    assert {*FILLED, *ELSEWHERE, *OF_OTHER_SERVERS} - set(TEXTS) == set(), "these are no more"
    assert len(ALONE) > 20


@pytest.mark.parametrize("name", ALONE)
def test_a_text_is_taken(name: str) -> None:
    for text in FILLED.get(name, TEXTS[name]):
        taken.assert_taken(re.sub(r"(?<!:):(\w+)", r"@\1", text))


@pytest.mark.parametrize("schema", [None, "etl"])
def test_the_script_of_roles_is_taken(schema: str | None) -> None:
    script = roles.script("mssql", schema, SUPPLIERS)
    for batch in batches(script):
        for text, _ in with_trees(batch):
            taken.assert_taken(text)
    assert roles.INTAKE in script


@pytest.mark.parametrize(
    "script", [roles.script("mssql", None, SUPPLIERS), schema.script("mssql")], ids=["roles", "db"]
)
def test_a_script_is_taken_from_any_client(script: str) -> None:
    # What sqlcmd sets is what its triggers would keep: each later write would be refused.
    first, *others = batches(script)

    assert re.search("^-- .*sqlcmd -S SERVER -d DATABASE -I -b -i ", first, re.MULTILINE)
    trees = [tree_of(batch) for batch in (first, *others)]
    assert refusals_of_session(trees, control_database(), by_any_client=True) == []
    taken.assert_taken(f"{first}\nINSERT INTO FileProcess (Entity) VALUES (N'x');", by_any_client=True)


@pytest.mark.parametrize("proxy", [None, "L'été"])
def test_a_job_of_agent_is_taken(proxy: str | None) -> None:
    for batch in batches(agent_job("it's", "batchctl run", proxy, ["SECRET"])):
        taken.assert_taken(batch)


def blocks() -> Iterator[Any]:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for at, block in enumerate(re.findall(r"```sql\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)):
            if page.name not in DOCUMENTED_ELSEWHERE:
                yield pytest.param(block, id=f"{page.name} {at}")


@pytest.mark.parametrize("block", [*blocks()])
def test_what_the_documentation_shows_is_taken(block: str) -> None:
    # A comment at its head says what sqlcmd and SQL Agent have to be told.
    taken.assert_taken(block, by_any_client="SET QUOTED_IDENTIFIER ON;" not in block)
