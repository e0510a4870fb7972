"""README and docs say what is so: the diagram, the statements, the settings, the links."""

from __future__ import annotations

import ast
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from batchctl.config import Settings
from batchctl.control_database import upgrade_database
from tests.transitions import mermaid

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = (README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))

OF_SQL_SERVER = "sql-server.md"
OF_SERVERS = {OF_SQL_SERVER: "logins and roles", "populators.md": "a procedure for each kind of database"}
"""Pages whose statements SQLite does not take, and what they show."""
STEPS = Counter(CountLines=1, MergeOrders=3)
"""How many steps each batch has that README registers."""
MORE_STEPS = {
    "confirmations.md": Counter(CountLines=1, Load=1),
    "dependencies.md": Counter(LoadOrders=1, LoadCustomers=1, Report=1),
    "schedules.md": Counter(Rates=1, Refresh=1),
    "step_rules.md": Counter(Orders=2),
    "sql_jobs.md": Counter({"nightly statistics": 1, "tidying": 1}),
}
"""Those of the batches that a page of docs registers."""


def sql_of(page: Path) -> list[str]:
    """Return the blocks of SQL that a page shows."""
    return re.findall(r"```sql\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


TO_RUN = [page for page in (README, *DOCS.glob("*.md")) if page.name not in OF_SERVERS and sql_of(page)]


def test_readme_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 300


def test_the_state_diagram_is_the_transition_table() -> None:
    page = (DOCS / "instances.md").read_text(encoding="utf-8")

    assert re.findall(r"```mermaid\n(.*?)\n```", page, re.DOTALL) == [mermaid()]


def test_every_setting_is_in_the_table() -> None:
    internal = {"directory", "file"}
    page = (DOCS / "configuration.md").read_text(encoding="utf-8")
    missing = [
        key
        for key in Settings.model_fields
        if key not in internal and not any(said in page for said in (f"`{key}`", f"[{key}.", f"`[{key}]`"))
    ]

    assert missing == []


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("shown")
    file = folder / "batchctl.toml"
    file.write_text("", encoding="utf-8")
    upgrade_database(str(file))
    return (folder / "batchctl.db").read_bytes()


@pytest.mark.parametrize("page", TO_RUN, ids=lambda page: page.name if page != README else "the README")
def test_the_sql_shown_is_accepted_by_the_tables(page: Path, empty_database: bytes, tmp_path: Path) -> None:
    # A page of docs goes on from what README registers.
    file = tmp_path / "batchctl.db"
    file.write_bytes(empty_database)
    with sqlite3.connect(file) as hand:
        for text in [block for read in dict.fromkeys((README, page)) for block in sql_of(read)]:
            hand.executescript(text)
        found = hand.execute("SELECT ProcessBatchName FROM ProcessControl JOIN ProcessBatch USING (ProcessBatch_id)")
        by_batch = Counter(name for (name,) in found.fetchall())
    hand.close()

    assert by_batch == STEPS + MORE_STEPS.get(page.name, Counter())


def test_every_page_with_statements_of_its_own_is_run() -> None:
    assert len(TO_RUN) > 12
    assert {page.name for page in TO_RUN} >= {
        *MORE_STEPS,
        "controllers.md",
        "file_watching.md",
        "retention.md",
        "tasks.md",
    }


def test_every_insert_that_is_shown_waits_for_a_controller_that_writes() -> None:
    # The sqlite3 shell waits for nobody unless it is told to.
    shown = [(page.name, block) for page in PAGES for block in sql_of(page) if "INSERT INTO" in block]
    commands = [
        (page.name, line)
        for page in (*PAGES, *(ROOT / "examples").rglob("*.md"), *(ROOT / "examples").rglob("*.sql"))
        for line in page.read_text(encoding="utf-8").splitlines()
        if "batchctl.db < " in line
    ]

    assert len(shown) > 15
    assert len(commands) > 5
    assert [page for page, block in shown if page != OF_SQL_SERVER and ".timeout 5000" not in block] == []
    # Without it, SQL Server refuses what is written into a table with a filtered index (error 1934).
    assert [page for page, block in shown if "SET QUOTED_IDENTIFIER ON;" not in block] == []
    assert [
        (page, line)
        for page, line in commands
        if "SELECT" not in line and "log.sql" not in line and "-cmd '.timeout 5000'" not in line
    ] == []


@pytest.mark.parametrize("page", ["README.md", *MORE_STEPS, "controllers.md", "triggers.md", "tasks.md"])
def test_every_batch_that_a_statement_names_is_made_in_one_above_it(page: str) -> None:
    made = set[str]()
    for block in [
        block
        for read in dict.fromkeys((README, README if page == README.name else DOCS / page))
        for block in sql_of(read)
    ]:
        for names in re.findall(r"INTO ProcessBatch \(ProcessBatchName\) VALUES (.*?);", block):
            made |= set(re.findall(r"'(\w+)'", names))
        named = re.findall(r"ProcessBatchName (?:= '(\w+)'|IN \((.*?)\))", block)
        wanted = {name for one, several in named for name in (one, *re.findall(r"'(\w+)'", several)) if name}
        assert wanted <= made, block


def anchors_of(page: Path) -> Iterator[str]:
    """Yield the anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_every_link_leads_somewhere() -> None:
    links = [
        (page, link)
        for page in (*PAGES, *(ROOT / "examples").rglob("*.md"))
        for link in re.findall(r"\]\(([^()\s]+)\)", page.read_text(encoding="utf-8"))
        if not link.startswith("http")
    ]
    lost = []
    for page, link in links:
        place, _, anchor = link.partition("#")
        there = page if not place else (page.parent / place).resolve()
        if not there.exists() or (anchor and anchor not in anchors_of(there)):
            lost.append((page.name, link))

    assert len(links) > 100
    assert lost == []


def test_every_document_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")

    assert [
        page.name for page in DOCS.glob("*.md") if page.name != "README.md" and f"]({page.name})" not in index
    ] == []


def test_the_walk_names_what_is_in_the_code_and_takes_twelve_functions() -> None:
    walk = (DOCS / "walk.md").read_text(encoding="utf-8")
    steps = re.findall(r"^\| \d+ \|.*\| `([\w.]+)` \| `([\w./]+)` \|$", walk, re.MULTILINE)
    product = ROOT / "batchctl"
    named = [place for place in re.findall(r"`((?:\.\./)?\w+/[\w/.]*\w)`", walk) if not place.endswith(".py")]

    assert len(steps) == len(re.findall(r"^\| \d+ \|", walk, re.MULTILINE)) <= 12
    for function, place in steps:
        names = ast.parse((product / place).read_text(encoding="utf-8"))
        assert function in set(_functions(names)), place
    assert [one for one in named if not ((product / one).is_dir() or (product / f"{one}.py").exists())] == []


def _functions(module: ast.Module) -> Iterator[str]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{each.name}" for each in node.body if isinstance(each, ast.FunctionDef))
