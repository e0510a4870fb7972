"""README says what is so: the diagram, the commands, the settings are those of the code."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from pathlib import Path

from batchctl.config import Settings
from batchctl.control_database import upgrade_database
from batchctl.domain.status import mermaid

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

OF_SQL_SERVER = "sql-server.md"


def test_the_state_diagram_is_the_transition_table() -> None:
    drawn = re.findall(r"```mermaid\n(.*?)\n```", README, re.DOTALL)

    assert drawn == [mermaid()]


def test_every_setting_is_in_the_table() -> None:
    internal = {"directory", "file"}
    missing = [
        key
        for key in Settings.model_fields
        if key not in internal and not any(said in README for said in (f"`{key}`", f"[{key}.", f"`[{key}]`"))
    ]

    assert missing == []


def test_the_sql_shown_is_accepted_by_the_tables(tmp_path: Path) -> None:
    file = tmp_path / "batchctl.toml"
    file.write_text("", encoding="utf-8")
    upgrade_database(str(file))
    with sqlite3.connect(tmp_path / "batchctl.db") as hand:
        for text in re.findall(r"```sql\n(.*?)```", README, re.DOTALL):
            hand.executescript(text)
        found = hand.execute("SELECT ProcessBatchName FROM ProcessControl JOIN ProcessBatch USING (ProcessBatch_id)")

    by_batch = Counter(name for (name,) in found.fetchall())
    assert by_batch == {"CountLines": 1, "LoadOrders": 4, "LoadCustomers": 1, "Report": 1, "Refresh": 1}


def test_every_insert_that_is_shown_waits_for_a_controller_that_writes() -> None:
    # The sqlite3 shell waits for nobody unless it is told to.
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = [
        (page.name, block)
        for page in pages
        for block in re.findall(r"```sql\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        if "INSERT INTO" in block
    ]
    commands = [
        (page.name, line)
        for page in (*pages, *(ROOT / "examples").rglob("*.md"), *(ROOT / "examples").rglob("*.sql"))
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


def test_every_batch_that_a_statement_of_the_readme_names_is_made_in_one_above_it() -> None:
    made = set[str]()
    for block in re.findall(r"```sql\n(.*?)```", README, re.DOTALL):
        for names in re.findall(r"INTO ProcessBatch \(ProcessBatchName\) VALUES (.*?);", block):
            made |= set(re.findall(r"'(\w+)'", names))
        named = re.findall(r"ProcessBatchName (?:= '(\w+)'|IN \((.*?)\))", block)
        wanted = {name for one, several in named for name in (one, *re.findall(r"'(\w+)'", several)) if name}
        assert wanted <= made, block
