"""What one can look at: tables for people, JSON for programs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl, clean_environment
from tests.acceptance.night import GOOD, HOSTILE, NEEDS_A_FILE, Night, a_control, a_file
from tests.control_databases import KINDS, ControlDatabase
from tests.postgres import PostgresServer

ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.fixture(scope="module", params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    """The same night on every kind of database."""
    folder = tmp_path_factory.mktemp("night")
    return a_night(a_control(request.param, request, folder), run_batchctl)


def a_night(database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """One instance complete, one failed, one waiting; a duplicate, a rejected and an untaken row; a disabled batch."""
    made = Night(database, run_batchctl)
    made.batch("Loads", GOOD, NEEDS_A_FILE, Description=HOSTILE)
    made.batch("Off", GOOD, Enabled=0)
    made.batch("Broken", GOOD, PopulatorArgs=r"never_(?P<CycleKey>\d+)")
    (made.folder / "first.csv").write_text("first", encoding="utf-8")
    made.arrive("Loads", "first.csv", Data="1")
    made.arrive("Loads", HOSTILE, Data="2")
    made.arrive("Loads", "third.csv", Data="3")
    made.arrive("Loads", "again.csv", Data="1")
    made.arrive("Off")
    made.arrive("Broken")
    made.arrive("Load")
    assert made("create").returncode == 0
    assert made("process").returncode == 1
    return made


def test_status_as_json_says_what_happens_under_column_names(night: Night) -> None:
    seen = night.json("status")

    assert seen["BatchControl"] == {"complete": 1, "failed": 1, "ready": 2}
    assert seen["FileProcess"] == {"complete": 1, "duplicate": 1, "ready": 4, "rejected": 1}
    assert seen["Controller"] is None
    (failed,) = seen["Troubled"]
    assert (failed["BatchControl_id"], failed["ProcessBatchName"], failed["ProcessControlSeq"]) == (2, "Loads", 20)
    assert failed["Next"] == "batchctl rerun 2 --reason ..."
    assert [(one["BatchControl_id"], one["Reason"]) for one in seen["Waiting"]] == [
        (3, "BatchControl 2 of the same batch is failed (OnFailure hold_batch)"),
        (4, "batch Off is disabled"),
    ]
    assert [(row["FileProcess_id"], row["Status"]) for row in seen["NotTakenIn"]] == [(6, "rejected"), (4, "duplicate")]
    assert seen["NotTakenIn"][0]["Next"].startswith("correct FileName")
    assert [row["FileProcess_id"] for row in seen["Untaken"]] == [7]
    assert seen["DisabledBatches"] == [
        {"ProcessBatchName": "Off", "OpenInstances": 1, "Next": "batchctl enable Off --reason ..."}
    ]
    assert [one["BatchControl_id"] for one in seen["Completed"]] == [1]


def test_status_for_people_names_trouble_its_reason_and_what_to_type(night: Night) -> None:
    done = night("status", env={"COLUMNS": "200"})

    assert done.returncode == 0
    assert done.stderr == ""
    for said in (
        "batchctl rerun 2 --reason",
        "batch Off is disabled",
        "correct FileName, or Populator and PopulatorArgs of batch Broken",
        "FileProcess 1",
        "Next:",
    ):
        assert said in done.stdout


def test_status_says_how_to_work_off_what_waits_for_a_controller(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    fresh = Night(a_file(tmp_path), run_batchctl)
    fresh.batch("Loads", GOOD)
    fresh.arrive("Nobody takes this")
    said = [fresh("status").stdout]
    fresh.arrive("Loads", "first.csv")
    said.append(fresh("status").stdout)
    assert fresh("create").returncode == 0
    said.append(fresh("status").stdout)

    assert ["Next: batchctl run " in one for one in said] == [False, True, False]
    assert "batchctl process" in said[2]


def test_show_as_json_holds_the_row_its_steps_history_and_audit(night: Night) -> None:
    shown = night.json("show", "2")

    assert (shown["BatchControl_id"], shown["Status"], shown["PrevProcessControlSeq"]) == (2, "failed", 10)
    assert shown["FileProcess"]["FileName"] == HOSTILE
    assert [(step["ProcessControlSeq"], step["State"]) for step in shown["Steps"]] == [(10, "done"), (20, "next")]
    assert shown["Steps"][1]["LastAttempt"]["Status"] == "failed"
    assert [entry["Status"] for entry in shown["History"]] == ["success", "failed"]
    assert shown["Audit"] == []


def test_history_as_json_is_a_list_under_column_names_with_times_in_utc(night: Night) -> None:
    entries = night.json("history", "1")

    assert [(entry["ProcessControlSeq"], entry["AttemptNo"], entry["Status"]) for entry in entries] == [
        (10, 1, "success"),
        (20, 1, "success"),
    ]
    assert entries[1]["Output"].strip() == "first"
    assert "step 2" in entries[1]["CommandText"]
    assert json.loads(entries[1]["CommandSpec"])
    for entry in entries:
        assert re.fullmatch(ISO, entry["StartTime"])
        assert entry["StartTime"] <= entry["EndTime"]


def test_the_command_text_is_printed_exactly_as_it_stands_in_the_table(night: Night) -> None:
    commands = [text for (text,) in night.sql("SELECT CommandText FROM BatchProcessHistory WHERE BatchControl_id = 2")]
    printed = night("history", "2").stdout

    assert len(commands) == 2
    for command in commands:
        assert f"\n{command}\n" in printed


@pytest.mark.full
def test_a_list_of_attempts_shows_short_commands_whole_and_says_what_it_shortens(
    tmp_path: Path, run_batchctl: RunBatchctl, postgres: PostgresServer
) -> None:
    night = Night(a_file(tmp_path / "n"), run_batchctl)
    url = postgres.url(postgres.new_database())
    (night.folder / "batchctl.toml").write_text(f'[connections.wh]\nurl = "{url}"\n', encoding="utf-8")
    night.batch("Loads", "SELECT 1", "SELECT 2", RetryCount=2)
    night.sql("UPDATE ProcessControl SET ProcessType = 'sql', Data2 = Data1")
    night.sql("UPDATE ProcessControl SET Data1 = 'wh'")
    night.arrive("Loads")
    night("run", "--once")

    listed, full = (night("history", "1", *more).stdout for more in ((), ("--full",)))
    first, second = (entry["CommandText"] for entry in night.json("history", "1"))
    for text in (first, second):
        assert f"\n{text}\n" in listed
        assert f"\n{text}\n" in full
    assert night("history", "1", "--command").stdout == f"{second}\n"
    alone = night("history", "1", "--command", "--step", "10").stdout
    assert alone == f"{first}\n"
    done = postgres.psql("postgres", alone)
    assert (done.returncode, done.stderr, "1 row" in done.stdout) == (0, "", True)
    assert night("history", "1", "--command", "--attempt", "1", "--step", "10").stdout == f"{first}\n"
    assert night("history", "1", "--command", "--attempt", "9").returncode == 3
    assert night("history", "1", "--command", "--step", "30").returncode == 3
    for wrong in (
        ("history", "--command"),
        ("history", "1", "--attempt", "1"),
        ("history", "1", "--step", "10"),
        ("history", "1", "--command", "--json"),
    ):
        assert night(*wrong).returncode == 2

    lines = "\n".join(f"-- {at}" for at in range(30))
    night.sql(f"UPDATE ProcessControl SET Data2 = 'SELECT {{Data1}}::date\n{lines}' WHERE ProcessControlSeq = 10")
    night.arrive("Loads")
    night("run", "--once")
    night.sql("UPDATE ProcessControl SET ProcessType = 'stored_procedure', Data2 = 'gone' WHERE ProcessControlSeq = 10")
    assert night("rerun", "2", "--reason", "x").returncode == 0
    night("process")
    (*_, last) = night.json("history", "2")
    assert f"\n{last['CommandText']}\n" in night("show", "2").stdout
    shortened = night("history", "2").stdout
    assert "lines left out; the whole: batchctl history 2 --full)" in shortened
    assert "\n│ BEGIN;\n" in shortened
    for command in (("show", "2"), ("history",), ("history", "2"), ("status",), ("why", "2")):
        assert "the retries were skipped: trying again cannot help" in night(*command, env={"COLUMNS": "400"}).stdout


def test_the_newest_attempts_come_first(night: Night) -> None:
    entries = night.json("history", "--limit", "2")

    assert [(entry["BatchControl_id"], entry["ProcessControlSeq"]) for entry in entries] == [(2, 20), (2, 10)]


def test_batches_as_json_come_with_steps_and_counts(night: Night) -> None:
    listed = night.json("batches")

    assert [one["ProcessBatchName"] for one in listed] == ["Loads", "Off", "Broken"]
    assert [one["Enabled"] for one in listed] == [1, 0, 1]
    assert listed[0]["Instances"] == {"complete": 1, "failed": 1, "ready": 1}
    assert [step["ProcessControlSeq"] for step in listed[0]["Steps"]] == [10, 20]


@pytest.mark.parametrize(
    ("ref", "gate", "clear"),
    [
        ("3", "failure policy", "batchctl why 2"),
        ("batch:Off", "enabled", "batchctl enable Off --reason ..."),
        ("file:4", "status", "batchctl accept 4 --reason ..."),
    ],
)
def test_why_names_the_gate_that_blocks_and_what_clears_it(night: Night, ref: str, gate: str, clear: str) -> None:
    explained = night.json("why", ref)

    blocked = {one["Gate"]: one["Clear"] for one in explained["Gates"] if not one["Passed"]}
    assert blocked[gate] == clear
    assert ("controller" in blocked) is not ref.startswith("file:")
    assert explained["MayStart"] is False
    assert clear in night("why", ref).stdout


def test_where_there_are_no_jobs_that_is_said_and_how_one_is_made(night: Night) -> None:
    assert night("job", "list").stdout.startswith("There is no job.\nNext: decorate a function with @daily")


def test_check_shows_all_findings_and_exits_6(night: Night) -> None:
    named = "UPDATE ProcessBatch SET Populator = ? WHERE ProcessBatchName = 'Broken'"
    night.sql(named, "patern")
    as_table = night("check", env={"COLUMNS": "200"})
    as_json = night("check", "--json")
    night.sql(named, "pattern")

    assert (as_table.returncode, as_json.returncode) == (6, 6)
    assert [(one["Table"], one["Row"], one["Column"]) for one in json.loads(as_json.stdout)] == [
        ("ProcessBatch", "Broken", "Populator")
    ]
    assert "Did you mean 'pattern'?" in as_table.stdout
    assert as_table.stdout.startswith("1 finding\n")
    assert "Next: correct the row" in as_table.stdout


def test_check_says_what_to_do_where_no_row_is_wrong(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    night = Night(a_file(tmp_path / "n"), run_batchctl)
    (night.folder / "batchctl.toml").write_text('[secrets.pw]\nenv = "NIGHT_PW"\n', encoding="utf-8")
    night.batch("Loads", GOOD)
    night.sql("UPDATE ProcessControl SET Data4 = 'PW={secret:pw}'")

    done = night("check")
    assert done.stdout.splitlines()[-2:] == [
        "Next: set the environment variable NIGHT_PW, for the user who runs batchctl, and start it again",
        "      and look again: batchctl check",
    ]
    night.sql("UPDATE ProcessControl SET ProcessType = 'sql', Data1 = 'where'")
    assert (
        "correct the row, or add [connections.where] to batchctl.toml and restart the controllers"
        in night("check").stdout
    )


@pytest.mark.full
@pytest.mark.parametrize("command", [("status",), ("show", "2"), ("history", "2"), ("batches",)])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_hostile_text_is_shown_harmless_on_every_terminal(
    night: Night, command: tuple[str, ...], encoding: str
) -> None:
    done = night(*command, env={"PYTHONIOENCODING": encoding})

    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout
    assert command != ("show", "2") or "[red]x[/red]" in done.stdout


PRINTS = [
    ("history",),
    ("history", "2"),
    ("status",),
    ("status", "--json"),
    ("batches",),
    ("db", "script"),
    ("--help",),
]


@pytest.mark.full
@pytest.mark.parametrize("command", PRINTS)
def test_a_reader_who_has_seen_enough_is_no_error(
    night: Night, installed_batchctl: Path, command: tuple[str, ...]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        done = subprocess.run(
            [installed_batchctl, *command],
            cwd=night.folder,
            env=clean_environment(night.environment),
            stdout=pipe,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.stderr == ""
    assert done.returncode == 0


LISTS = [("status",), ("show", "2"), ("history",), ("batches",), ("check",), ("why", "3"), ("create", "--dry-run")]


@pytest.mark.parametrize("command", LISTS)
@pytest.mark.parametrize("width", ["40", "80", "200"])
def test_what_is_piped_has_no_blanks_at_the_ends_of_lines(night: Night, command: tuple[str, ...], width: str) -> None:
    lines = night(*command, env={"COLUMNS": width}).stdout.splitlines()

    assert lines
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_narrow_terminal_gets_a_block_of_lines_for_each_row(night: Night) -> None:
    narrow = night("status", env={"COLUMNS": "80"}).stdout.splitlines()
    wide = night("status", env={"COLUMNS": "200"}).stdout

    at = narrow.index("3  Loads  ready")
    assert narrow[at + 1 : at + 3] == [
        "    because: BatchControl 2 of the same batch is failed (OnFailure hold_batch)",
        "    next: batchctl why 2",
    ]
    assert "    next: batchctl enable Off --reason ..." in narrow
    assert "2  Loads  failed  20 step 2" in narrow
    assert "3  Loads  ready" not in wide
    assert " because " in wide


@pytest.mark.parametrize("width", ["40", "60", "80", "110", "160"])
def test_no_word_of_an_id_or_status_column_is_broken(night: Night, width: str) -> None:
    for command, words in (
        (("status",), ("duplicate", "rejected", "disabled", "failed")),
        (("show", "2"), ("os_command", "success", "failed")),
        (("history",), ("success", "failed")),
        (("batches",), ("disabled", "enabled", "hold_batch")),
        (("why", "3"), ("passed", "blocked", "MaxConcurrent")),
    ):
        printed = night(*command, env={"COLUMNS": width}).stdout
        assert [word for word in words if word not in printed] == []


def test_colour_is_left_out_where_it_is_not_wanted(night: Night) -> None:
    coloured = night("history", env={"FORCE_COLOR": "1", "NO_COLOR": ""})
    plain = night("history", env={"FORCE_COLOR": "1", "NO_COLOR": "1"})

    assert "\x1b[32m" in coloured.stdout
    assert "\x1b" not in plain.stdout


def test_reading_changes_nothing(night: Night) -> None:
    before = night.dump()
    for command in (("status",), ("show", "1"), ("why", "3"), ("check",)):
        night(*command)

    assert night.dump() == before


def test_a_name_with_blanks_stays_one_word_in_every_command_that_is_told(
    control_database: ControlDatabase, run_batchctl: RunBatchctl
) -> None:
    night = Night(control_database, run_batchctl)
    night.batch("Load of tonight", GOOD)
    night.batch("Mail of tonight", GOOD, Seq=200)
    night.sql(
        "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) SELECT d.ProcessBatch_id, u.ProcessBatch_id"
        " FROM ProcessBatch d, ProcessBatch u WHERE d.ProcessBatchName LIKE 'Mail%' AND u.ProcessBatchName LIKE 'Load%'"
    )
    night.sql("INSERT INTO FileWatch (WatchName, Entity, Folder) VALUES ('from the shop', 'x', '/in')")
    night.sql(
        "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, RowThreshold)"
        " VALUES ('of the shop', 'x', 'c', 't', 's', '0', 1)"
    )
    told = {
        "batches": "batchctl why batch:'Load of tonight'",
        "graph": "batchctl graph 'Mail of tonight'",
        "watch list": "batchctl watch test 'from the shop'",
        "trigger list": "batchctl trigger test 'of the shop'",
    }
    for command, expected in told.items():
        assert f"Next: {expected}" in night(*command.split()).stdout
    impact = night("impact", "Load of tonight").stdout
    assert "Next: batchctl why batch:'Load of tonight'\n      batchctl graph 'Load of tonight' " in impact
