"""What commands ask and show on a terminal, and what they show before anything is done."""

from __future__ import annotations

import re
import threading
from typing import Any

import click
import pytest

from batchctl.cli.operators import acting_commands
from tests.cli.shop import Shop


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that were asked; the answer is no."""
    questions: list[str] = []

    def refuse(question: str, **given: Any) -> bool:
        questions.append(question)
        raise click.Abort

    monkeypatch.setattr(acting_commands, "can_ask", lambda: True)
    monkeypatch.setattr(click, "confirm", refuse)
    return questions


def running(shop: Shop) -> None:
    """Let an instance stand as running."""
    shop.batch("Load")
    shop.arrive("Load")
    shop("create")
    shop.sql("INSERT INTO Controller (ControllerName, Host) VALUES ('c9', 'h')")
    shop.sql("UPDATE BatchControl SET Status = 'running', ClaimedBy = 'c9', ClaimToken = 1")


def test_to_cancel_what_runs_is_asked_about_on_a_terminal(shop: Shop, asked: list[str]) -> None:
    running(shop)

    assert shop("cancel", "1", "--reason", "x") == 130
    assert asked == ["A step of it is running. Stop that, and give the instance up?"]
    assert shop.sql("SELECT Status FROM BatchControl") == [("running",)]


def test_who_says_yes_before_is_not_asked(shop: Shop, asked: list[str]) -> None:
    running(shop)

    assert shop("cancel", "1", "--reason", "x", "--yes") == 0
    assert asked == []
    assert shop.sql("SELECT Status FROM BatchControl") == [("cancelling",)]


def test_what_does_not_run_is_cancelled_without_a_question(shop: Shop, asked: list[str]) -> None:
    shop.batch("Load")
    shop.arrive("Load")
    shop("create")

    assert shop("cancel", "1", "--reason", "x") == 0
    assert asked == []


def test_before_instances_are_made_the_values_are_shown_that_the_populator_finds(shop: Shop) -> None:
    args = r"(?P<Data4>[a-z]+)_(?P<CycleKey>[0-9]{8})"
    shop.batch("Load", Entity="E", PopulatorArgs=args)
    shop.arrive("E", FileName="/in/orders_20261122.csv", Data="x")
    shop("create", "--dry-run")
    one = " ".join(shop.out.split())
    shop.batch("Other", Entity="E")
    shop("create", "--dry-run")
    two = " ".join(shop.out.split())

    assert "Data1=/in, Data2=orders_20261122.csv, Data3=x, Data4=orders, CycleKey=20261122" in one
    assert "Load: Data1=/in" in two
    assert "Other: Data1=/in" in two
    assert shop.sql("SELECT count(*) FROM BatchControl") == [(0,)]


def test_who_waits_on_a_terminal_sees_for_what(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.batch("Load")
    shop.arrive("Load")
    shop("create")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert shop("wait", "1", "file:1", "--timeout", "0.2") == 5

    assert re.search(r"\r0 of 2 settled, \d\.\d s: 1 ready, file:1 ready", shop.err)


def test_elsewhere_nothing_is_shown_until_it_is_settled(shop: Shop) -> None:
    shop.batch("Load")
    shop.arrive("Load")
    shop("create")
    ending = threading.Timer(0.3, shop.sql, ["UPDATE BatchControl SET Status = 'paused'"])
    ending.start()
    code = shop("wait", "1")
    ending.join()

    assert (code, shop.out) == (1, "1 paused\n")
    assert "settled" not in shop.err


def test_when_the_time_is_over_it_says_why(shop: Shop) -> None:
    shop.batch("Off", Enabled=0)
    shop.batch("On")
    shop.arrive("Off")
    shop.arrive("On")
    shop("create")

    assert shop("wait", "1", "--timeout", "0") == 5
    assert "Error: 1 is ready after 0 s: batch Off is disabled\n" in shop.err
    assert shop.err.endswith("Next: batchctl enable Off --reason ...\nCode: BC1207\n")
    assert shop("wait", "1", "2", "--timeout", "0") == 5
    said = "after 0 s these are not done: 1 (ready: batch Off is disabled), 2 (ready: no controller is running)\n"
    assert f"Error: {said}" in shop.err


def test_who_waits_while_no_controller_runs_is_told_so_once(shop: Shop) -> None:
    shop.batch("Load")
    shop.arrive("Load")
    alone = shop("wait", "file:1", "--timeout", "0.2"), shop.err.count("(no controller is running that takes it)")
    shop.sql("INSERT INTO Controller (ControllerName, Host, Slots) VALUES ('c9', 'h', 1)")
    among_others = shop("wait", "file:1", "--timeout", "0"), shop.err

    assert alone == (5, 1)
    assert among_others == (5, "Error: file:1 is ready after 0 s\nNext: batchctl why file:1\nCode: BC1207\n")


def test_new_work_is_waited_for_and_without_a_controller_that_is_said_first(shop: Shop) -> None:
    shop.batch("Load")
    columns = "ScheduleName, Entity, ScheduleType, RunTimes"
    shop.sql(f"INSERT INTO Schedule ({columns}) VALUES ('s', 'Load', 'daily', '06:00')")
    shop("task", "enable", "--reason", "x")
    run = "Next: batchctl run   (no controller is running that takes it)\n"
    shop("schedule", "run", "s", "--reason", "x")
    assert shop.err.endswith(f"{run}Next: batchctl wait file:1\n")
    shop("task", "--", "true")
    assert shop.err.endswith(f"{run}Next: batchctl wait file:2\n")
    shop("submit", "Load")
    assert shop.err.endswith(f"{run}Next: batchctl wait file:3\n")
    shop.sql("UPDATE FileProcess SET Status = 'paused' WHERE FileProcess_id = 3")
    shop("inbox", "retry", "3", "--reason", "x")
    assert shop.err.endswith(f"{run}Next: batchctl inbox show 3\n")
    shop.sql("UPDATE FileProcess SET Status = 'complete' WHERE FileProcess_id = 3")
    shop("inbox", "resend", "3", "--reason", "x")
    assert shop.err.endswith(f"{run}Next: batchctl wait file:4\n")
    shop.sql("INSERT INTO Controller (ControllerName, Host, Slots) VALUES ('c9', 'h', 1)")
    shop("task", "--", "true")

    assert shop.err == "Next: batchctl wait file:5\n"
