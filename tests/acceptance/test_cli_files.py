"""Definitions go from one database to another as a file, and nobody's change is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import HOSTILE, Night, a_control, a_file
from tests.control_databases import ACTS, KINDS

STEP = (
    "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)"
    " SELECT ProcessBatch_id, ?, ?, 'os_command', ?, ? FROM ProcessBatch WHERE ProcessBatchName = 'Load'"
)
WIDE = {"COLUMNS": "200"}


@pytest.fixture
def file(tmp_path: Path, run_batchctl: RunBatchctl) -> Night:
    made = Night(a_file(tmp_path / "file"), run_batchctl)
    made.sql("INSERT INTO ProcessBatch (ProcessBatchName, Description) VALUES ('Load', ?)", HOSTILE)
    made.sql(STEP, 10, "say", "echo 'a\\b'\n  \"c\"", None)
    made.sql(STEP, 20, "[red]two[/red] 😀", "echo '\x1b[31m\u202e' \r\n %s", None)
    made.sql("INSERT INTO Calendar (CalendarName, ValidUntil) VALUES ('NL', '2099-12-31')")
    made.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, '2026-12-25')")
    made.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, CalendarName)"
        " VALUES ('nightly', 'Load', 'daily', '06:00', 'NL')"
    )
    return made


@pytest.fixture(params=KINDS)
def other(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl) -> Night:
    database = a_control(request.param, request, tmp_path / "other")
    return Night(database, run_batchctl)


def test_a_file_makes_another_database_the_same(file: Night, other: Night, tmp_path: Path) -> None:
    path = str(tmp_path / "load.toml")
    assert file("export", "--output", path).returncode == 0
    planned = other("plan", path)
    assert (planned.returncode, other.sql("SELECT count(*) FROM Schedule")) == (6, [(0,)])
    assert "+ ProcessBatch Load" in planned.stdout
    applied = other("apply", path, "--reason", "a new server")
    again = str(tmp_path / "again.toml")
    other("export", "--output", again, "--batch", "Load")
    assert applied.returncode == 0, applied

    assert Path(again).read_bytes() == Path(path).read_bytes()
    assert other("plan", path).returncode == 0
    (act, *_) = other.sql(f"SELECT Action, Target, Reason FROM AuditLog WHERE {ACTS} AND Target = 'ProcessBatch:Load'")
    assert act == ("apply add", "ProcessBatch:Load", "a new server")
    assert other.sql("SELECT count(*) FROM Schedule WHERE NextRunTime IS NOT NULL") == [(1,)]


def test_what_was_changed_by_hand_is_shown_with_three_values(file: Night, tmp_path: Path) -> None:
    path = tmp_path / "load.toml"
    file("export", "--output", str(path))
    path.write_text(path.read_text().replace('RunTimes = "06:00"', 'RunTimes = "07:00"'), encoding="utf-8")
    assert file("apply", str(path), "--reason", "later").returncode == 0
    file.sql("UPDATE Schedule SET RunTimes = '08:00'")
    path.write_text(path.read_text().replace('RunTimes = "07:00"', 'RunTimes = "09:00"'), encoding="utf-8")

    refused = file("apply", str(path), "--reason", "later still", env=WIDE)
    planned = file("plan", str(path), "--overwrite", "nightly", env=WIDE)
    tried = file("apply", str(path), "--reason", "agreed with Anna", "--overwrite", "nightly", "--dry-run", env=WIDE)
    overwritten = file("apply", str(path), "--reason", "agreed with Anna", "--overwrite", "nightly", "--yes")

    assert refused.returncode == 5, refused
    (line,) = [each for each in refused.stdout.splitlines() if each.startswith("Schedule nightly ")]
    assert line.split()[2:] == ["RunTimes", "'07:00'", "'08:00'", "'09:00'"]
    assert f"Next: batchctl apply {path} --overwrite nightly --reason ..." in planned.stdout
    assert "Next: the same command without --dry-run" in tried.stdout
    assert overwritten.returncode == 0
    assert file.sql("SELECT RunTimes FROM Schedule") == [("09:00",)]


def test_mistakes_are_said_all_at_once_and_end_with_6(file: Night, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text('[[Schedule]]\nScheduleName = "x\x1b"\n'.replace("\x1b", "\\u001b"), encoding="utf-8")

    wrong = file("apply", str(path), "--reason", "r", env=WIDE)
    path.write_text("[[Schedule", encoding="utf-8")
    broken = file("plan", str(path))
    missing = file("plan", str(tmp_path / "none.toml"))

    assert (wrong.returncode, broken.returncode, missing.returncode) == (6, 2, 3)
    assert "x\\x1b" in wrong.stdout
    assert "\x1b" not in wrong.stdout
    assert wrong.stdout.count("It is missing.") == 2
    assert "is no TOML" in broken.stderr


def test_a_misspelt_file_is_not_there_and_the_one_beside_it_may_be_meant(file: Night, tmp_path: Path) -> None:
    path = tmp_path / "folder" / "sales.toml"
    path.parent.mkdir()
    path.write_text("")
    misspelt, other = str(path.with_name("slaes.toml")), str(tmp_path / "elsewhere" / "slaes.toml")

    for command in (("plan", misspelt), ("apply", misspelt, "--reason", "x")):
        refused = file(*command, env=WIDE)
        assert refused.returncode == 3
        assert f"Did you mean '{path}'?" in refused.stderr.replace("\n", "")
    assert "Did you mean" not in file("plan", other).stderr


def test_an_instance_says_that_its_batch_was_changed_since(file: Night) -> None:
    file.sql("INSERT INTO FileProcess (Entity) VALUES ('Load')")
    file("create")
    file.sql("UPDATE ProcessControl SET Data1 = 'true' WHERE ProcessControlSeq = 10")
    before = file("show", "1", env=WIDE).stdout
    file("run", "--once")

    shown, versions = file.json("show", "1"), file.json("versions", "Load")

    assert "1, changed since: what follows runs as it is now   (batchctl versions Load)" in before
    assert (shown["DefVersion"], shown["DefVersionNow"]) == (1, 2)
    assert [one["DefVersion"] for one in shown["History"]] == [2, 2]
    assert [one["DefVersion"] for one in versions] == [1, 2]
    assert [one["Column"] for one in versions[1]["Changes"]] == ["ProcessControl 10.Data1"]
    assert "ProcessControl 10.Data1" in file("versions", "Load", env=WIDE).stdout


def test_steps_and_dependencies_that_come_or_go_are_said_to(file: Night, tmp_path: Path) -> None:
    without, with_both = tmp_path / "without.toml", tmp_path / "with.toml"
    file.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Early')")
    file("export", "--output", str(without))
    file.sql(
        "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
        " SELECT ProcessBatch_id, 30, 'more', 'os_command', 'true' FROM ProcessBatch WHERE ProcessBatchName = 'Load'"
    )
    file.sql(
        "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT l.ProcessBatch_id, e.ProcessBatch_id"
        " FROM ProcessBatch l, ProcessBatch e WHERE l.ProcessBatchName = 'Load' AND e.ProcessBatchName = 'Early'"
    )
    file("export", "--output", str(with_both))

    gone = file("plan", str(without), env=WIDE).stdout
    assert "    step 30 is removed\n" in gone
    assert "    dependency on Early is removed\n" in gone
    assert "-> -" not in gone
    assert file("apply", str(without), "--reason", "x", "--overwrite", "Load", "--yes").returncode == 0
    new = file("plan", str(with_both), env=WIDE).stdout
    assert "    step 30 is added\n" in new
    assert "    dependency on Early is added\n" in new
    assert "ProcessControl 30.Data1: 'true'\n" in new
    assert "- ->" not in new
