"""A task whose connection is not configured: refused where that can be known, and named with the value to correct."""

from __future__ import annotations

import pytest

from tests.cli.shop import Shop
from tests.cli.test_next_steps import nexts

RERUN = "batchctl rerun 1 --set Data2=... --reason ..."
SAID = "connection 'nowhere' is not in the configuration. Known: wh."


@pytest.fixture
def queue(shop: Shop) -> Shop:
    """A task queue, and one connection."""
    shop.settings('[connections.wh]\nurl = "sqlite:///wh.db"\n')
    (shop.folder / "wh.db").touch()
    assert shop("task", "enable", "--reason", "chores") == 0
    return shop


def test_submit_refuses_a_connection_that_is_not_configured(queue: Shop) -> None:
    assert queue("submit", "Task", "--file", "nowhere", "--data", "SELECT 1") == 4
    assert f"Data2 of the task would be what FileName says: {SAID}" in queue.err
    assert nexts(queue.err) == ["the same with another --file; without one, Data is a command", "Code: BC1261"]
    assert queue.sql("SELECT count(*) FROM FileProcess") == [(0,)]

    assert queue("submit", "Task", "--file", "wh", "--data", "SELECT 1") == 0
    assert queue("submit", "Task", "--data", "true") == 0


def test_nothing_is_refused_of_what_another_populator_makes(queue: Shop) -> None:
    queue.sql("UPDATE ProcessBatch SET PopulatorArgs = ?", "(?P<Data2>wh)")

    assert queue("submit", "Task", "--file", "nowhere", "--data", "SELECT 1") == 0


def test_where_the_wrong_connection_of_a_task_is_corrected_is_said_everywhere(queue: Shop) -> None:
    queue.arrive("Task", FileName="nowhere", Data="SELECT 1")
    queue("create")
    assert queue("check") == 6
    assert nexts(queue.out)[0] == f"batchctl pause 1, then: {RERUN}"
    queue("run", "--once")
    assert queue("check", "--json") == 6
    assert SAID in queue.out
    assert RERUN in queue.out

    assert queue.json("status")["Troubled"][0]["Next"] == RERUN
    assert queue.json("incidents")[0]["NextStep"] == RERUN
    assert queue.json("why", "1")["Gates"][0]["Clear"] == RERUN
    said = "Data1: connection (Data2 of the instance) 'nowhere' is not in the configuration. Known: wh."
    assert said in queue.json("history", "1")[0]["Message"]
    assert queue("rerun", "1", "--set", "Data2=wh", "--reason", "x", "--yes") == 0
    queue("run", "--once")
    assert queue.sql("SELECT Status FROM BatchControl") == [("complete",)]
    assert queue("check") == 0


def test_rows_that_were_there_before_the_queue_are_named_with_what_lets_them_run(shop: Shop) -> None:
    shop.arrive("Task", Data="touch hit")
    looked = (
        "batchctl inbox --entity Task   (look at Data, then: batchctl inbox retry ID --reason ..., or inbox reject)"
    )
    for word, words in (("would be", ["--dry-run"]), ("now", [])):
        assert shop("task", "enable", "--reason", "chores", *words) == 0
        assert f"Paused {word}, because inserted before: 1 row of entity 'Task'." in shop.out
        assert nexts(shop.out)[0] == looked

    shop("run", "--once")
    assert not (shop.folder / "hit").exists()
    assert shop("inbox", "retry", "1", "--reason", "looked at") == 0
    shop("run", "--once")
    assert (shop.folder / "hit").exists()
