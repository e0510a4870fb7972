"""docs/night.md, played as it stands: from the message to the message that it is over, in each of its three ways."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.installation import PATIENCE, RunBatchctl
from tests.acceptance.night import Night
from tests.control_databases import ControlDatabase, PostgresControl

pytestmark = pytest.mark.wheel

PAGE = (Path(__file__).parents[2] / "docs" / "night.md").read_text(encoding="utf-8")


def said_under(title: str) -> list[tuple[str, str]]:
    """The lines to type below a title, each with the language of its block."""
    (section,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"```(bash|sql)\n(.*?)```", section, re.DOTALL)
    return [(language, line) for language, text in blocks for line in text.splitlines()]


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """A batch that failed because its file is not there, and the message about it."""
    folder = control_database.directory
    (folder / "batchctl.toml").write_text(
        f'database_url = "{control_database.url}"\n[alerts.channels.night]\nkind = "log"\npath = "alerts.log"\n',
        encoding="utf-8",
    )
    made = Night(control_database, run_batchctl)
    made.batch("LoadOrders", "wc -l -- {FileName}")
    # The numbers of the page are no row's by chance.
    made.batch("Before", "true")
    made.arrive("Before")
    made.arrive("LoadOrders", str(folder / "orders.csv"))
    assert made("run", "--once").returncode == 1
    return made


def messages(night: Night) -> list[dict[str, str]]:
    """What people have been told."""
    text = (night.folder / "alerts.log").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def play(night: Night, title: str) -> list[str]:
    """Type every line below a title, mend the file in time, let a controller do its part; return what was shown."""
    (message,) = messages(night)
    found = re.search(r"BatchControl (\d+)", message["Title"])
    assert found is not None
    shown = []
    for language, text in said_under(title):
        if "rerun" in text.lower():
            (night.folder / "orders.csv").write_text("1\n2\n", encoding="utf-8")
        line = re.sub(r"\b42\b", found[1], re.sub(r"\b7\b", str(message["Incident_id"]), text))
        shown.append(typed(night, line) if language == "bash" else pasted(night, line))
        if line.startswith(("INSERT", "batchctl rerun")) and "--dry-run" not in line:
            assert night("run", "--once").returncode == 0
    return shown


def typed(night: Night, line: str) -> str:
    name, *arguments = shlex.split(line)
    assert name == "batchctl"
    done = night(*arguments, env={"COLUMNS": "200"})
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def pasted(night: Night, statement: str) -> str:
    """Give a statement to the shell of the database."""
    database = night.database
    if isinstance(database, PostgresControl):
        done = database.server.psql(database.name, statement, "-A", "-t")
    else:
        command = ["sqlite3", "-cmd", ".timeout 60000", "-bail", str(night.folder / "batchctl.db")]
        done = subprocess.run(
            command, input=f"{statement}\n", capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    assert done.returncode == 0, f"{statement}\n{done.stdout}{done.stderr}"
    return done.stdout


WAYS = {
    "On the command line": "resolved",
    "In an SQL client": "rerun|done|",
    "With one statement from the message": "done|",
}
"""What each of them shows at its end."""


@pytest.mark.parametrize("title", WAYS)
def test_from_the_message_to_the_message_that_it_is_over(night: Night, title: str) -> None:
    shown = "\n".join(play(night, title))

    assert night.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id") == [("complete",), ("complete",)]
    assert [one["Kind"] for one in messages(night)] == ["alert", "recovery"]
    assert night.sql("SELECT Status FROM Incident") == [("resolved",)]
    acts = night.sql("SELECT Reason FROM AuditLog WHERE Action = 'rerun'")
    assert acts == [("the file was late",)]
    assert WAYS[title] in shown
    assert night("fsck").returncode == 0
    assert night("audit", "verify").returncode == 0


def test_the_message_holds_the_statement_of_the_third_way(night: Night) -> None:
    (message,) = messages(night)
    statement = next(
        line for language, line in said_under("With one statement from the message") if line.startswith("INSERT")
    )

    assert statement.replace("42", "2").replace("the file was late", "why") in message["text"]
    assert "wc: " in message["text"]
    assert "No such file or directory" in message["text"]


def test_each_way_sees_what_failed_and_the_command(night: Night) -> None:
    for title in ("On the command line", "In an SQL client"):
        before = [line for _, line in said_under(title) if "rerun" not in line.lower()][:4]
        seen = "\n".join(
            typed(night, _for(line)) if line.startswith("batchctl") else pasted(night, line)
            for line in before
            if not line.startswith(("INSERT", "batchctl acknowledge"))
        )

        assert "No such file or directory" in seen
        assert "wc -l -- " in seen


def _for(line: str) -> str:
    return line.replace("42", "2")
