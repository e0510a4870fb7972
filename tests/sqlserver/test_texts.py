"""SQL Server takes the texts that a person is given: scripts, jobs, documentation and examples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, make_url

from batchctl.store import views
from batchctl.store.maintenance import roles, schema
from batchctl.store.maintenance.tsql_script import agent_job
from tests.house.source import ROOT, place
from tests.sqlserver import taken
from tests.sqlserver.catalog import batches, control_database, with_trees
from tests.sqlserver.lint import refusals_of_session
from tests.sqlserver.parser import Tree, tree_of
from tests.sqlserver.source_texts import blocks_of, documents, looks_like_sql
from tests.sqlserver.trees import children, name_of, of_kind

SUPPLIERS = {"shop": ["Orders", "L'été"]}

DOCUMENTED_ELSEWHERE = {"docs/populators.md": "a function of PostgreSQL, and a file for SQLite"}
OF_OTHERS = {
    "examples/sql_jobs/backup_postgresql.sql": "there is one for each kind of database",
    "examples/sql_jobs/backup_sqlite.sql": "there is one for each kind of database",
    "examples/staging_trigger/deposit.sql": "on SQLite and on PostgreSQL, as its README says",
    "examples/staging_trigger/staging.sql": "on SQLite and on PostgreSQL, as its README says",
    "examples/worked_example/postgresql/warehouse.sql": "for PostgreSQL",
    "examples/worked_example/procedures/load_flights.sql": "a procedure on SQLite",
    "examples/worked_example/warehouse.sql": "for SQLite",
}
"""Examples that no SQL Server is shown, and why."""


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


def test_a_job_of_agent_is_made_whole_or_not_at_all() -> None:
    *_, batch = batches(agent_job("night", "batchctl run", "mistyped", []))
    (tried,) = of_kind(tree_of(batch), "TryCatchStatement")

    first, *_, last = tried["TryStatements"]["Statements"]
    assert (first["is"], last["is"]) == ("BeginTransactionStatement", "CommitTransactionStatement")
    assert len([*of_kind(tried["TryStatements"], "ExecuteStatement")]) == 5
    undo, told = tried["CatchStatements"]["Statements"]
    assert undo["ThenStatement"]["is"] == "RollbackTransactionStatement"
    assert told["is"] == "ThrowStatement"


def shown_by(view: str) -> list[str]:
    """Return the T-SQL that a view shows to who reads it."""
    made = control_database().view(view.lower())
    assert made is not None
    return [*shown(made)]


def shown(tree: Tree) -> Iterator[str]:
    """Yield what a view puts together that looks like T-SQL, with what may stand where it puts something in."""
    texts = [text for text in joined(tree) if text.endswith(";") and looks_like_sql(text)]
    for text in texts:
        # What is put between SET and WHERE is an assignment, or what one is made to; behind UPDATE, the name of a table.
        assigned = re.sub(r"(?<= SET )\0(?= WHERE )", "z_inserted = 1", text.replace("...", "1"))
        assigned = re.sub(r"(?<= SET )\0(?= = )", "z_inserted", assigned)
        yield re.sub(r"(?<=UPDATE )\0|\0(?=_id)", "ProcessBatch", assigned).replace("\0", "1")
    if not texts:
        for child in children(tree):
            yield from shown(child)


def joined(tree: Tree) -> list[str]:
    """Return what CONCAT may make of texts, with a zero for everything else; of CASE, of one text after the other."""
    match tree["is"]:
        case "FunctionCall" if name_of(tree["FunctionName"]) == "concat":
            return ["".join(parts) for parts in product(*map(joined, tree["Parameters"]))]
        case "SearchedCaseExpression":
            cases = [*(when["ThenExpression"] for when in tree["WhenClauses"]), tree.get("ElseExpression")]
            return [text for one in cases if one is not None for text in joined(one)]
        case "StringLiteral":
            return [str(tree["Value"])]
        case _:
            return ["\0"]


@pytest.mark.parametrize("view", views.NAMES)
def test_what_a_view_shows_is_taken_from_any_client(view: str) -> None:
    for text in {*shown_by(view)}:
        taken.assert_taken(text, by_any_client=True)


def test_views_show_what_is_to_be_typed() -> None:
    found = {text for view in views.NAMES for text in shown_by(view)}

    assert len(found) > 35
    assert "SELECT * FROM vFailed WHERE ProcessBatchName = N'1';" in found
    assert "SET QUOTED_IDENTIFIER ON; UPDATE ProcessBatch SET z_inserted = 1 WHERE ProcessBatch_id = 1;" in found


BLOCKS = {at: block for at, block in documents() if at.rpartition(" ")[0] not in DOCUMENTED_ELSEWHERE}
EXAMPLES = {place(path): path for path in sorted((ROOT / "examples").rglob("*.sql"))}


@pytest.mark.parametrize("at", BLOCKS)
def test_what_the_documentation_shows_is_taken(at: str) -> None:
    # A comment at its head says what sqlcmd and SQL Agent have to be told.
    taken.assert_taken(BLOCKS[at], by_any_client="SET QUOTED_IDENTIFIER ON;" not in BLOCKS[at])


@pytest.mark.parametrize("at", sorted(EXAMPLES.keys() - OF_OTHERS.keys()))
def test_an_example_is_taken(at: str) -> None:
    taken.assert_taken(re.sub(r"\{Data\d\}", "?", EXAMPLES[at].read_text(encoding="utf-8")))


def test_what_is_said_to_be_for_other_databases_is_there() -> None:
    assert EXAMPLES.keys() >= OF_OTHERS.keys()
    assert {at.rpartition(" ")[0] for at, _ in documents()} >= DOCUMENTED_ELSEWHERE.keys()


@pytest.mark.parametrize("fence", ["```sql", "```SQL", "```tsql", "~~~sql", "  ``` Sql"])
def test_a_block_is_found_however_its_fence_is_written(tmp_path: Path, fence: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"It is:\n\n{fence}\nSELECT 1\n{fence.rstrip('SQLsqlT t')}\n\n```bash\nls\n```\n", encoding="utf-8")

    assert blocks_of(page) == ["SELECT 1\n"]


@pytest.mark.parametrize(("is_implicit", "refused"), [(True, ["334"]), (False, [])])
def test_an_insert_of_who_does_as_the_documentation_says_is_taken(is_implicit: bool, refused: list[str]) -> None:
    table = Table(
        "FileProcess",
        MetaData(),
        Column("FileProcess_id", Integer, primary_key=True),
        Column("Entity", String(100)),
        implicit_returning=is_implicit,
    )
    kind: Any = make_url("mssql+pyodbc://").get_dialect()
    sent = str(table.insert().values(Entity="x").compile(dialect=kind(paramstyle="qmark")))

    assert [re.findall(r"\((\d+)\)$", one)[0] for one in taken.refused(sent)] == refused
    assert "`implicit_returning=False`" in (ROOT / "docs" / "sql-server.md").read_text(encoding="utf-8")
