"""What a row names and no controller has is one fact, which gates, incidents, commands and views go by."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from batchctl.cli.main import run
from tests.control.world import World
from tests.operations.test_unreadable import dead_ends

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Give a command as a person does."""
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.chdir(world.directory)

    def give(*args: str) -> tuple[int, str, str]:
        monkeypatch.setenv("BATCHCTL_DATABASE_URL", world.database.url)
        code = run([*args])
        told = capsys.readouterr()
        return code, told.out, told.err

    return give


def installed(world: World, jobs: str = "") -> None:
    """Let a controller have been here that has but one step handler and one populator."""
    world.sql(
        "INSERT INTO Controller (ControllerName, Status, Host, ProcessTypes, Populators, Jobs)"
        " VALUES ('c0', 'stopped', 'here', 'python,told', 'pattern', ?)",
        jobs,
    )


TOLT_ALONE = "ProcessControl (Daily, step 20): ProcessType 'tolt' is not installed"
TOLT = f"{TOLT_ALONE} (did you mean 'told'?)"
TO_FILL_IN = "UPDATE ProcessControl SET ProcessType = ... WHERE ProcessBatch_id = 1 AND ProcessControlSeq = 20;"
PATERN_ALONE = "ProcessBatch (Odd): Populator 'patern' is not installed"
PATERN = f"{PATERN_ALONE} (did you mean 'pattern'?)"


@pytest.fixture
def lacking(world: World) -> World:
    """A step of a kind, and a batch with a populator, that no controller has."""
    batch = world.batch("Daily", steps=1)
    world.step(batch, 20, ProcessType="tolt")
    world.batch("Odd", Populator="patern")
    world.batch("Off", Populator="gone", Enabled=0)
    installed(world)
    return world


def test_what_is_not_installed_is_an_incident_at_once(lacking: World) -> None:
    found = dead_ends(lacking)

    assert found["Daily"].message == TOLT
    assert (found["Daily"].next_step or "").endswith(f", or: {TO_FILL_IN}")
    assert found["Odd"].message == PATERN
    assert "Off" not in found
    lacking.sql("UPDATE Controller SET ProcessTypes = NULL")
    assert dead_ends(lacking) == {}, "nobody can tell"


def test_an_instance_waits_for_what_is_not_installed_until_a_controller_has_it(lacking: World) -> None:
    lacking.submit("Daily")
    lacking.create()
    lacking.process()
    assert lacking.statuses() == ["ready"]

    lacking.sql("UPDATE Controller SET ProcessTypes = 'told,tolt'")
    lacking.process()
    assert lacking.statuses() != ["ready"]


def test_steps_that_are_behind_it_hold_nothing_back(lacking: World) -> None:
    lacking.step(1, 30)
    lacking.submit("Daily")
    lacking.create()
    lacking.sql("UPDATE BatchControl SET PrevProcessControlSeq = 20")
    lacking.process()

    assert lacking.statuses() == ["complete"]


@pytest.mark.parametrize(("jobs", "status"), [("others", "ready"), ("others,nightly", "failed"), ("a", "failed")])
def test_a_job_that_no_controller_has_holds_its_step_back(world: World, jobs: str, status: str) -> None:
    name = "a, b" if jobs == "a" else "nightly"  # Of a name with a comma nobody can tell.
    world.step(world.batch("Daily", steps=0), 10, ProcessType="python", Data1=name)
    installed(world, jobs)
    world.submit("Daily")
    world.create()
    world.process()

    assert world.statuses() == [status], "the worker of this test carries out no python steps"
    if status == "ready":
        (waits,) = world.sql("SELECT Reason FROM vWaiting")
        assert waits == ("ProcessControl (Daily, step 10): job 'nightly' of Data1 is not installed",)


def test_every_face_says_what_is_not_installed(command: Command, lacking: World) -> None:
    lacking.submit("Daily")
    lacking.create()

    for asked in (("why", "1"), ("why", "batch:Daily"), ("batches",), ("status",)):
        _, said, _ = command(*asked)
        assert "ProcessType 'tolt'" in " ".join(said.split()), asked
    _, said, _ = command("why", "batch:Odd")
    assert "Populator 'patern'" in " ".join(said.split())
    (gate,) = [each for each in json.loads(command("why", "1", "--json")[1])["Gates"] if each["Gate"] == "steps"]
    assert gate["Blocked"] == TOLT
    assert gate["Clear"].endswith(TO_FILL_IN)
    assert json.loads(command("batches", "--json")[1])[1]["NotInstalled"][0]["Message"] == PATERN
    for act in (
        ("disable", "Daily", "--reason", "x", "--dry-run"),
        ("enable", "Daily", "--reason", "x"),
        ("mode", "Daily", "manual", "--reason", "x"),
        ("rerun", "1", "--reason", "x", "--dry-run"),
    ):
        lacking.sql("UPDATE BatchControl SET Status = 'failed'")
        _, _, told = command(*act)
        assert f"Warning: {TOLT}, so it does not start. Next: install it" in told, act


def test_the_views_say_what_is_not_installed(lacking: World) -> None:
    lacking.submit("Daily")
    lacking.create()
    lacking.sql("UPDATE Controller SET ProcessTypes = ' told , python'")

    assert lacking.sql("SELECT ProcessBatchName, Status FROM vStatus ORDER BY Seq, ProcessBatch_id") == [
        ("Daily", "unreadable"),
        ("Odd", "unreadable"),
        ("Off", "disabled"),
    ]
    ((reason, mend),) = lacking.sql("SELECT Reason, NextSql FROM vWaiting WHERE Status <> 'definition'")
    assert (reason, mend) == (TOLT_ALONE, TO_FILL_IN)
    assert lacking.sql("SELECT ProcessBatchName, Reason FROM vWaiting WHERE Status = 'definition'") == [
        ("Odd", PATERN_ALONE)
    ]
    lacking.sql("UPDATE FileProcess SET PopulatorTries = 1, Entity = 'Odd'")
    assert (PATERN_ALONE,) in lacking.sql("SELECT Reason FROM vWaiting WHERE Status = 'populator'")
    lacking.sql(mend.replace("...", "'told'"))
    assert lacking.sql("SELECT Status FROM vStatus WHERE ProcessBatchName = 'Daily'") == [("waits",)]


def test_a_controller_writes_what_it_has_and_leaves_alone_what_it_lacks(command: Command, world: World) -> None:
    world.batch("Daily", steps=1)
    world.submit("Daily")

    assert command("run", "--once")[0] == 0
    ((process_types, populators),) = world.sql("SELECT ProcessTypes, Populators FROM Controller")
    assert {"os_command", "python", "sql"} <= {*process_types.split(",")}
    assert populators == "pattern,procedure"
    assert world.statuses() == ["ready"]
    assert world.sql("SELECT Message FROM Incident") == [
        ("ProcessControl (Daily, step 10): ProcessType 'told' is not installed",)
    ]


def test_who_waits_for_what_no_controller_has_is_told_at_once(command: Command, lacking: World) -> None:
    lacking.submit("Daily")
    lacking.create()
    lacking.submit("Odd")

    for reference, said in (("1", TOLT), ("file:1", TOLT), ("file:2", PATERN)):
        code, out, err = command("wait", reference)
        assert code == 1
        assert said in out + err
        assert "install it where the controllers run and restart them" in out + err


def test_rows_that_wait_for_a_populator_say_so_everywhere(command: Command, lacking: World) -> None:
    row = lacking.submit("Odd")

    for asked in (("inbox",), ("why", f"file:{row}"), ("inbox", "show", str(row))):
        _, out, _ = command(*asked)
        assert PATERN_ALONE in " ".join(out.split()), asked
    assert [reason for (reason,) in lacking.sql("SELECT Reason FROM vInbox")] == [PATERN_ALONE]
