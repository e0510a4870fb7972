"""The two plugins of examples/plugins do what their README says."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.source import ROOT

EXAMPLE = ROOT / "examples" / "plugins"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the folder, with a database in which everything is registered."""
    made = tmp_path / "plugins"
    shutil.copytree(EXAMPLE, made)
    assert batchctl(made, "db", "upgrade").returncode == 0
    with sqlite3.connect(made / "batchctl.db") as hand:
        hand.executescript((made / "register.sql").read_text(encoding="utf-8"))
    hand.close()
    return made


def batchctl(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "batchctl", *words]
    environment = {**os.environ, "BATCHCTL_STATE_DIRECTORY": str(folder / "state")}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_an_order_is_copied_and_what_is_none_is_rejected_with_the_reason(folder: Path) -> None:
    (folder / "order.csv").write_text("id,amount\n", encoding="utf-8")
    checked = batchctl(folder, "check")
    batchctl(folder, "run", "--once")
    with sqlite3.connect(folder / "batchctl.db") as hand:
        rows = hand.execute("SELECT Status, Message FROM FileProcess ORDER BY FileProcess_id").fetchall()
        made = hand.execute("SELECT Status, Data1, Data2, CycleKey FROM BatchControl").fetchall()
        ((text, output),) = hand.execute("SELECT CommandText, Output FROM BatchProcessHistory").fetchall()
    hand.close()
    copied = folder / "copy_of_acme_2026-11-22.csv"

    assert checked.stdout == "Everything is in order.\n"
    assert rows[0] == ("complete", None)
    assert rows[1][0] == "rejected"
    assert "Data is no order for batch CopyOrders: JSONDecodeError" in rows[1][1]
    assert made == [("complete", "order.csv", "acme", "2026-11-22")]
    assert output == f"10 bytes copied to {copied}"
    assert copied.read_text(encoding="utf-8") == "id,amount\n"

    copied.unlink()
    assert subprocess.run(["sh", "-c", text], check=False).returncode == 0
    assert copied.read_text(encoding="utf-8") == "id,amount\n"


def test_a_file_that_is_not_there_fails_the_step_and_a_row_that_lacks_it_is_found(folder: Path) -> None:
    batchctl(folder, "run", "--once")
    with sqlite3.connect(folder / "batchctl.db") as hand:
        (said,) = hand.execute("SELECT Message FROM BatchProcessHistory").fetchone()
        hand.execute("UPDATE ProcessControl SET Data1 = NULL, Data2 = '{Nothing}'")
    hand.close()
    found = batchctl(folder, "check")

    assert said == f"{folder / 'order.csv'}: No such file or directory"
    assert found.returncode == 6
    assert "it is needed" in found.stdout
    assert "Nothing" in found.stdout
