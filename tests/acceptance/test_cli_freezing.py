"""A night in which nothing may start, and the morning after, through the installed command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl, clean_environment
from tests.acceptance.night import GOOD, HOSTILE, NEEDS_A_FILE, Night
from tests.control_databases import ACTS, ControlDatabase
from tests.step_handlers.terminal import Terminal

WHY = ("--reason", "the disks are full")


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """Three instances of Loads wait to be started."""
    made = Night(control_database, run_batchctl)
    made.batch("Loads", GOOD, Tags="nightly")
    for _ in range(3):
        made.arrive("Loads")
    assert made("create").returncode == 0
    return made


@pytest.fixture
def failed(night: Night) -> Night:
    """Instances 4 and 5 have failed, because their file is not there; 1 to 3 are paused."""
    night.sql("UPDATE BatchControl SET Status = 'paused'")
    night.batch("Late", GOOD, NEEDS_A_FILE, OnFailure="continue")
    for _ in range(2):
        night.arrive("Late", "late.csv")
    night("create")
    assert night("process").returncode == 1
    return night


def statuses(night: Night) -> list[str]:
    return [status for (status,) in night.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id")]


def test_nothing_starts_while_everything_is_frozen_and_everybody_sees_why(night: Night) -> None:
    frozen = night("freeze", "--until", "2h", "--reason", HOSTILE)
    night("process")
    wide = {"COLUMNS": "250"}
    shown = [night(*args.split(), env=wide).stdout for args in ("status", "freezes", "why 1", "why batch:Loads")]

    assert frozen.returncode == 0, frozen.stderr
    assert statuses(night) == ["ready"] * 3
    for text in (*shown, frozen.stdout):
        assert "\x1b" not in text
        assert "\\x1b[31m" in text
    assert "FROZEN: everything is frozen since " in shown[0]
    assert "enabled, frozen" in night("batches", env=wide).stdout
    assert "frozen" in night("graph", env=wide).stdout
    assert night.json("batches")[0]["Frozen"] is True
    assert night.json("status")["Freezes"] == [
        {key: value for key, value in night.json("freezes")[0].items() if key in night.json("status")["Freezes"][0]}
    ]
    assert "It is frozen already" in night("freeze", "--until", "1h", *WHY).stdout


def test_what_has_waited_is_let_go_as_somebody_says(night: Night) -> None:
    night("freeze", "--tag", "Nightly", *WHY)
    refused = night("thaw", "--tag", "nightly", *WHY)
    planned = night("thaw", "--tag", "nightly", "--dry-run", *WHY)
    thawed = night("thaw", "--tag", "nightly", "--release", "latest", *WHY)
    night("process")

    assert refused.returncode == 4
    assert "This will start 3 instances, the oldest from 20" in refused.stderr
    assert "--release all, latest or none" in refused.stderr
    assert "This will start 3 instances" in planned.stdout
    assert thawed.returncode == 0, thawed.stderr
    assert statuses(night) == ["cancelled", "cancelled", "complete"]
    acts = night.sql(f"SELECT Action, Target FROM AuditLog WHERE {ACTS} ORDER BY AuditLog_id")
    assert acts == [
        ("freeze", "BatchFreeze:1"),
        ("cancel", "BatchControl:1"),
        ("cancel", "BatchControl:2"),
        ("thaw", "BatchFreeze:1"),
    ]


def test_a_batch_that_was_disabled_starts_slowly(night: Night) -> None:
    night("disable", "Loads", *WHY)
    assert night("enable", "Loads").returncode == 4
    done = night("enable", "Loads", "--throttle", "1")
    night("process")

    night("freeze", "--batch", "Loads", *WHY)
    endless = night("freezes", env={"COLUMNS": "200"}).stdout
    night("thaw", "--batch", "Loads", *WHY)
    (ended,) = night.sql("SELECT ThawedTime FROM BatchFreeze")
    assert "somebody thaws it" in endless
    assert str(ended[0])[:19] in night("freezes", "--all", env={"COLUMNS": "200"}).stdout
    assert "3 that waited start, at most 1 a minute." in done.stdout
    assert statuses(night) == ["complete", "ready", "ready"]
    for wrong in (("--release", "latest", "--throttle", "2"), ("--release", "some"), ("--release", "throttle")):
        assert night("enable", "Loads", *wrong).returncode == 2


def test_what_cannot_be_frozen_is_told_with_a_code(night: Night) -> None:
    codes = {
        night("freeze", *args).returncode: args
        for args in (
            ("--batch", "Lods", *WHY),
            ("--until", "2020-01-01", *WHY),
            ("--batch", "Loads", "--tag", "x", *WHY),
        )
    }

    assert sorted(codes) == [2, 3, 4]
    assert night("freeze", "--until", "soon", *WHY).returncode == 2
    assert "Did you mean 'Loads'?" in night(*("freeze", "--batch", "Lods"), *WHY).stderr
    assert night.sql("SELECT * FROM BatchFreeze") == []
    night.sql("INSERT INTO BatchFreeze (ProcessBatchName, Reason) VALUES ('Lods', 'x')")
    found = night("check", "--json")
    assert (found.returncode, "Did you mean 'Loads'?" in found.stdout) == (6, True)


def test_all_that_have_failed_are_run_again_at_once(failed: Night) -> None:
    (failed.folder / "here.csv").write_text("arrived", encoding="utf-8")
    again = ("rerun", "--batch", "Late", "--set", "Data2=here.csv", *WHY)
    refused, planned = failed(*again), failed(*again, "--dry-run")
    done = failed(*again, "--yes")
    once_more = failed("skip", "--batch", "Late", "--status", "ready", "--yes", *WHY)
    failed("process")

    assert (refused.returncode, planned.returncode, done.returncode, once_more.returncode) == (4, 0, 0, 1)
    assert "This will rerun 2 instances that are failed: 2 of batch Late." in planned.stdout
    assert "rerun: 2 instances of 2." in done.stdout
    assert "BatchControl 4 is ready" in once_more.stdout
    assert statuses(failed) == ["paused"] * 3 + ["complete"] * 2
    assert failed("cancel", "--batch", "Late", *WHY).returncode == 2
    assert failed("rerun", *WHY).returncode == 2


def test_the_card_says_what_a_rerun_rests_on_and_what_blocks_it(failed: Night) -> None:
    failed("freeze", "--batch", "Late", *WHY)
    card = failed.json("rerun", "4", "--set", "Data2=here.csv", "--dry-run", *WHY)
    shown = failed("rerun", "4", "--dry-run", *WHY, env={"COLUMNS": "200"}).stdout

    assert [(one["ProcessControlSeq"], one["Status"]) for one in card["AssumedDone"]] == [(10, "success")]
    assert card["Bypassed"] == ["a step failed and no retry is left"]
    assert [one["Gate"] for one in card["Blocking"]] == ["freeze"]
    assert (card["Before"]["Data2"], card["After"]["Data2"]) == ("late.csv", "here.csv")
    assert [one["ProcessControlSeq"] for one in card["Commands"]] == [20]
    assert "here.csv" in card["Commands"][0]["CommandText"]
    assert "These steps count as done:\n  10 step 1: succeeded at 20" in shown
    assert "It will not start yet (freeze): batch Late is frozen" in shown
    assert statuses(failed)[3] == "failed"


def at_a_terminal(night: Night, command: Path, *args: str) -> Terminal:
    return Terminal([str(command), *args], {**clean_environment(night.environment), "COLUMNS": "200"}, night.folder)


def test_on_a_terminal_somebody_is_asked_first(failed: Night, installed_batchctl: Path) -> None:
    failed.sql("UPDATE BatchControl SET Status = 'ready' WHERE Status = 'paused'")
    failed("disable", "Loads", *WHY)
    rerun = at_a_terminal(failed, installed_batchctl, "rerun", "4", *WHY)
    rerun.wait_for(b"Run it again so? [y/N]")
    shown = rerun.leave("n")
    assert b"These steps count as done" in shown
    assert b"Nothing was done." in shown
    assert b"--dry-run" not in shown
    assert statuses(failed)[3] == "failed"
    rerun = at_a_terminal(failed, installed_batchctl, "rerun", "4", *WHY)
    rerun.wait_for(b"Run it again so? [y/N]")
    rerun.leave("y")
    enable = at_a_terminal(failed, installed_batchctl, "enable", "Loads", *WHY)
    enable.wait_for(b"What is to become of them?")
    assert b"Nothing was done." in enable.leave("quit")
    assert statuses(failed)[:3] == ["ready"] * 3
    enable = at_a_terminal(failed, installed_batchctl, "enable", "Loads", *WHY)
    enable.wait_for(b"What is to become of them?")
    enable.leave("none")

    assert statuses(failed) == ["paused"] * 3 + ["ready", "failed"]


def test_a_row_without_an_instance_is_made_before_something_else_than_all_is_chosen(
    night: Night, installed_batchctl: Path
) -> None:
    night("freeze", *WHY)
    night("submit", "Loads")
    refused = night("thaw", *WHY)
    paused = night("thaw", "--release", "none", *WHY)

    assert "Next: the same with --release all; for latest, none or --throttle N: batchctl create" in refused.stderr
    assert (paused.returncode, night.json("freezes") != []) == (4, True)
    thaw = at_a_terminal(night, installed_batchctl, "thaw", *WHY)
    thaw.wait_for(b"(all, quit)")
    assert b"first: batchctl create" in thaw.leave("quit")


def test_a_dry_run_says_what_the_choice_would_do_and_names_stay_one_word_of_a_command(night: Night) -> None:
    night.sql(
        "UPDATE ProcessBatch SET ProcessBatchName = 'Load of tonight', Entity = 'Loads' WHERE ProcessBatchName = 'Loads'"
    )
    off = night("disable", "Load of tonight", "--reason", "wait")
    planned = night("enable", "Load of tonight", "--release", "latest", "--reason", "go on", "--dry-run")

    assert "Next: batchctl why batch:'Load of tonight'\n" in off.stdout
    assert planned.stdout == (
        "Batch Load of tonight would be enabled.\n"
        "1 of the 3 that waited may start; would be cancelled as older ones: 2.\n"
        "Next: the same command without --dry-run\n"
    )
    assert statuses(night) == ["ready"] * 3


def test_a_freeze_of_what_is_not_there_is_shown_to_freeze_nothing(night: Night) -> None:
    night.sql("INSERT INTO BatchFreeze (ProcessBatchName, Reason, Actor) VALUES ('Loadz', 'r', 'a')")
    shown = night("freezes", env={"COLUMNS": "200"})

    assert "freezes nothing" in shown.stdout
    assert (
        "Note: BatchFreeze 1: There is no batch 'Loadz', so the row freezes nothing. Did you mean 'Loads'?"
        in shown.stderr
    )
    assert night.json("freezes")[0]["FreezesNothing"].startswith("There is no batch 'Loadz'")
