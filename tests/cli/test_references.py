"""An instance may be named with its batch, `LoadOrders#42`, wherever its number may stand; and who only looks needs no reason."""

from __future__ import annotations

import pytest

from batchctl.cli import main
from tests.control_databases import SqliteControl

ACTS = ("rerun", "pause", "cancel", "skip")
READS = ("show", "history", "why")


@pytest.fixture
def shop(sqlite_database: SqliteControl, monkeypatch: pytest.MonkeyPatch) -> SqliteControl:
    """A database with one instance of each of two batches, in the working directory."""
    monkeypatch.chdir(sqlite_database.directory)
    hand = sqlite_database.hand()
    for name in ("LoadOrders", "Night #2"):
        hand.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES (?)", name)
        hand.sql("INSERT INTO FileProcess (Entity) VALUES (?)", name)
    hand.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
        " SELECT ProcessBatch_id, 10, 'load', 'os_command', 'true' FROM ProcessBatch"
    )
    hand.close()
    assert main.run(["create"]) == 0
    return sqlite_database


@pytest.mark.parametrize("command", READS)
def test_a_reading_command_takes_the_name_of_the_batch_too(
    shop: SqliteControl, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    capsys.readouterr()
    plain, named = (main.run([command, ref]) for ref in ("1", "LoadOrders#1"))
    first, _, second = capsys.readouterr().out.partition("\f")

    assert (plain, named, second) == (0, 0, "")
    assert first
    assert main.run([command, "Night #2#2"]) == 0


@pytest.mark.parametrize("command", [*READS, "audit"])
def test_of_another_batch_it_is_not_found_and_its_own_is_named(
    shop: SqliteControl, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    code = main.run([command, "LoadOrders#2"])

    assert code == 3
    said = "Error: BatchControl 2 is no instance of batch 'LoadOrders', but of 'Night #2'.\nNext: batchctl show 2\n"
    assert said in capsys.readouterr().err
    assert main.run([command, "LoadOrders#9"]) == 3


@pytest.mark.parametrize("command", ACTS)
def test_an_act_is_refused_where_the_name_is_another(shop: SqliteControl, command: str) -> None:
    assert main.run([command, "LoadOrders#2", "--reason", "x"]) == 3
    assert shop.hand().sql("SELECT DISTINCT Status FROM BatchControl") == [("ready",)]


def test_an_act_and_a_wait_take_it(shop: SqliteControl, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["pause", "LoadOrders#1", "--reason", "x"]) == 0
    assert main.run(["wait", "LoadOrders#1"]) == 1
    assert capsys.readouterr().out.endswith("\n1 paused\n")


def test_who_only_looks_gives_no_reason_and_is_told_that_the_act_needs_one(
    shop: SqliteControl, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main.run(["cancel", "1", "--dry-run"]) == 0
    assert "Next: the same command with --reason ... and without --dry-run\n" in capsys.readouterr().out
    assert main.run(["cancel", "1", "--dry-run", "--reason", "x"]) == 0
    assert "Next: the same command without --dry-run\n" in capsys.readouterr().out
    assert main.run(["cancel", "1"]) == 2
    assert "Missing option '--reason'" in capsys.readouterr().err
    assert shop.hand().sql("SELECT count(*) FROM AuditLog WHERE Action = 'cancel'") == [(0,)]
