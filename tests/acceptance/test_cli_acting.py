"""What one can do: every verb through the installed command, for real and dry."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import GOOD, NEEDS_A_FILE, Night
from tests.control_databases import ACTS, ControlDatabase

WHY = ("--reason", "the sender sent the file again")


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """An empty database of every kind in turn."""
    return Night(control_database, run_batchctl)


@pytest.fixture
def failed(night: Night) -> Night:
    """Instance 1 has failed at its second step, because its file is not there."""
    night.batch("Loads", GOOD, NEEDS_A_FILE, GOOD)
    night.arrive("Loads", "late.csv")
    assert night("create").returncode == 0
    done = night("process")
    assert done.returncode == 1, done.stderr
    assert "batchctl show 1" in done.stderr
    return night


def attempts(night: Night) -> list[tuple[int, int, str, str]]:
    return night.sql(
        "SELECT ProcessControlSeq, AttemptNo, Cause, Status FROM BatchProcessHistory ORDER BY BatchProcessHistory_id"
    )


def test_a_failed_instance_is_corrected_and_rerun_from_where_it_stopped(failed: Night) -> None:
    (failed.folder / "here.csv").write_text("arrived", encoding="utf-8")

    rerun = failed("rerun", "1", "--set", "data2=here.csv", *WHY)
    processed = failed("process")

    assert rerun.returncode == 0, rerun.stderr
    assert "now ready (it was failed)" in rerun.stdout
    assert processed.returncode == 0, processed.stderr
    assert failed.status_of(1) == "complete"
    assert attempts(failed) == [
        (10, 1, "auto", "success"),
        (20, 1, "auto", "failed"),
        (20, 2, "manual", "success"),
        (30, 1, "auto", "success"),
    ]
    (audit,) = failed.json("show", "1")["Audit"]
    assert (audit["Action"], audit["Reason"]) == ("rerun", WHY[1])
    assert json.loads(audit["ValuesBefore"])["Data2"] == "late.csv"
    assert json.loads(audit["ValuesAfter"])["Data2"] == "here.csv"


def test_of_a_retry_that_is_not_waited_for_no_time_before_all_times_is_shown(failed: Night) -> None:
    failed.sql("UPDATE BatchControl SET Status = 'retry', NextRunTime = '2099-01-01 05:00:00.000'")
    told = failed("rerun", "1", "--dry-run", *WHY, env={"COLUMNS": "200"}).stdout

    (line,) = [line for line in told.splitlines() if line.startswith("NextRunTime")]
    assert line.split() == ["NextRunTime", "2099-01-01T05:00:00.000Z", "at", "once"]


def test_a_dry_rerun_shows_the_exact_commands_and_changes_nothing(failed: Night) -> None:
    before = failed.dump()

    done = failed("rerun", "1", "--from", "20", "--set", "Data2=here.csv", "--dry-run", *WHY)

    assert done.returncode == 0, done.stderr
    assert failed.dump() == before
    assert "here.csv" in done.stdout
    assert "step 2" in done.stdout
    assert "step 3" in done.stdout
    assert "step 1 " not in done.stdout


def test_what_a_dry_run_shows_is_what_runs(failed: Night) -> None:
    (failed.folder / "late.csv").write_text("arrived", encoding="utf-8")
    shown = failed("rerun", "1", "--dry-run", *WHY).stdout.splitlines()
    failed("rerun", "1", *WHY)
    failed("process")

    for (text,) in failed.sql(
        "SELECT CommandText FROM BatchProcessHistory WHERE Cause = 'manual' OR ProcessControlSeq = 30"
    ):
        command = [line for line in text.splitlines() if not line.startswith("#")]
        assert command
        assert all(line in shown for line in command)


def test_a_complete_instance_is_rerun_only_from_a_step_that_is_named(failed: Night) -> None:
    (failed.folder / "late.csv").write_text("arrived", encoding="utf-8")
    failed("rerun", "1", *WHY)
    failed("process")
    refused = failed("rerun", "1", *WHY)
    wrong = failed("rerun", "1", "--from", "25", *WHY)
    done = failed("rerun", "1", "--from", "30", *WHY)

    assert refused.returncode == 4
    assert "Next: batchctl rerun 1 --from 10 --reason ..." in refused.stderr
    assert wrong.returncode == 3
    assert "20 'step 2'" in wrong.stderr
    assert done.returncode == 0
    assert failed("process").returncode == 0
    assert attempts(failed)[-1] == (30, 2, "manual", "success")


def test_pause_resume_skip_and_cancel_move_an_instance(failed: Night) -> None:
    steps: list[tuple[tuple[str, ...], str]] = [
        (("rerun", "1", *WHY), "ready"),
        (("pause", "1"), "paused"),
        (("resume", "1", "--reason", "on we go"), "ready"),
        (("pause", "1", "--yes"), "paused"),
        (("skip", "1", *WHY), "ready"),
        (("cancel", "1", *WHY), "cancelled"),
    ]
    for command, status in steps:
        dry = failed(*command, "--dry-run")
        assert dry.returncode == 0, dry.stderr
        assert f"would become {status}" in dry.stdout
        done = failed(*command)
        assert done.returncode == 0, done.stderr
        assert failed.status_of(1) == status
    actions = [entry["Action"] for entry in failed.json("show", "1")["Audit"]]
    assert actions == [command[0] for command, _ in steps]
    assert attempts(failed)[-1] == (20, 2, "manual", "skipped")


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_a_verb_in_the_wrong_state_exits_4_and_says_what_to_do(failed: Night, verb: str) -> None:
    done = failed(verb, "1")

    assert done.returncode == 4
    assert f"BatchControl 1 is failed: '{verb}' is not possible there." in done.stderr
    assert "Next: batchctl rerun 1 --reason ..." in done.stderr
    assert done.stdout == ""


def test_a_disabled_batch_gets_instances_that_wait_until_it_is_enabled(night: Night) -> None:
    night.batch("Loads", GOOD)
    assert night("disable", "Loads", "--dry-run").returncode == 0
    assert night("disable", "Loads", "--reason", "maintenance").returncode == 0
    night.arrive("Loads")
    night("create")
    night("process")
    assert night.status_of(1) == "ready"

    again = night("disable", "Loads")
    enabled = night("enable", "Loads")
    night("process")

    assert "is disabled already" in again.stdout
    assert enabled.returncode == 0
    assert night.status_of(1) == "complete"
    assert night.sql(f"SELECT Action, Target, Reason FROM AuditLog WHERE {ACTS}") == [
        ("disable", "ProcessBatch:Loads", "maintenance"),
        ("enable", "ProcessBatch:Loads", None),
    ]


def test_submit_prints_the_id_alone_and_hints_apart(night: Night) -> None:
    night.batch("Loads", GOOD)
    (night.folder / "a file.csv").touch()
    done = night("submit", "Loads", "--file", "a file.csv", "--data", "d", "--cycle-key", "2026-11")
    untaken = night("submit", "Load")
    dry = night("submit", "Loads", "--dry-run")

    assert (done.returncode, done.stdout) == (0, "1\n")
    assert (untaken.returncode, untaken.stdout) == (0, "2\n")
    assert "Did you mean 'Loads'?" in untaken.stderr
    assert (dry.returncode, dry.stdout) == (0, "")
    rows = night.sql("SELECT Entity, FileName, Data, CycleKey FROM FileProcess ORDER BY FileProcess_id")
    assert rows == [("Loads", str(night.folder / "a file.csv"), "d", "2026-11"), ("Load", None, None, None)]


def test_a_duplicate_is_taken_in_on_purpose(night: Night) -> None:
    night.batch("Loads", GOOD)
    night.arrive("Loads", Data="same")
    night.arrive("Loads", Data="same")
    night("create")
    assert night.sql("SELECT count(*) FROM BatchControl") == [(1,)]

    refused = night("accept", "1", *WHY)
    dry = night("accept", "2", "--dry-run", *WHY)
    done = night("accept", "2", *WHY)

    assert refused.returncode == 4
    assert "would be taken in by Loads" in dry.stderr
    assert done.returncode == 0, done.stderr
    assert night.sql("SELECT count(*) FROM BatchControl") == [(2,)]
    assert night.sql(f"SELECT Action, Target FROM AuditLog WHERE {ACTS}") == [("accept", "FileProcess:2")]


def test_a_row_that_is_rejected_again_is_a_failure_that_says_what_to_correct(night: Night) -> None:
    night.batch("Sensor", GOOD, PopulatorArgs=r"(?P<Data1>\d+)\.csv")
    night.arrive("Sensor", "x.txt")
    night("create")

    dry = night("accept", "1", "--dry-run", *WHY)
    again = night("accept", "1", *WHY)
    night.sql("UPDATE FileProcess SET FileName = '17.csv'")
    corrected = night("accept", "1", *WHY)

    assert "may reject it again" in dry.stderr
    assert (again.returncode, again.stdout) == (1, "FileProcess 1: 0 instances created.\n")
    assert "Error: FileProcess 1 is rejected again: batch Sensor: " in again.stderr
    assert "'x.txt' does not match" in again.stderr
    assert "Next: correct FileName, or Populator and PopulatorArgs of batch Sensor (UPDATE ...), then: " in again.stderr
    assert (corrected.returncode, corrected.stdout) == (0, "FileProcess 1: 1 instance created.\n")
    assert night.status_of(1) == "ready"


def test_a_file_that_is_not_there_is_stored_as_written_with_a_note(night: Night) -> None:
    night.batch("Loads", GOOD)
    (night.folder / "here.csv").touch()

    missing = night("submit", "Loads", "--file", "there.csv")
    present = night("submit", "Loads", "--file", "here.csv")

    assert (missing.returncode, missing.stdout) == (0, "1\n")
    assert "no such file here; stored as written" in missing.stderr
    assert "no such file" not in present.stderr
    assert night.sql("SELECT FileName FROM FileProcess WHERE FileProcess_id = 1") == [("there.csv",)]


def test_a_dry_creation_with_nothing_to_do_says_so(night: Night) -> None:
    done = night("create", "--dry-run")

    assert (done.returncode, done.stdout) == (0, "Nothing to do: no instance would be created.\n")


@pytest.mark.parametrize("command", [("create",), ("process",), ("run",), ("db", "upgrade")])
def test_a_dry_run_of_the_engine_changes_nothing(failed: Night, command: tuple[str, ...]) -> None:
    failed.arrive("Loads", "new.csv")
    failed("rerun", "1", *WHY)
    before = failed.dump()

    done = failed(*command, "--dry-run")

    assert done.returncode == 0, done.stderr
    assert failed.dump() == before
    says: dict[str, Callable[[str], bool]] = {
        "create": lambda text: "new.csv" in text,
        "process": lambda text: "late.csv" in text and "step 2" in text,
        "run": lambda text: "new.csv" in text and "late.csv" in text,
        "db": lambda text: "Nothing to do" in text,
    }
    assert says[command[0]](done.stdout)


def test_run_once_creates_and_processes_what_is_there(night: Night) -> None:
    night.batch("Loads", GOOD, GOOD)
    night.arrive("Loads")

    done = night("run", "--once")

    assert done.returncode == 0, done.stderr
    assert night.status_of(1) == "complete"
    assert "instance.created " in done.stderr
    assert "instance.complete " in done.stderr
    assert done.stdout == "Steps: 2 started, 2 succeeded, 0 failed. Instances: 1 complete.\n"


def test_run_until_idle_ends_by_itself(night: Night) -> None:
    night.batch("Loads", GOOD)
    night.arrive("Loads")

    assert night("run", "--until-idle", "0.2").returncode == 0
    assert night.status_of(1) == "complete"


def test_looking_for_work_is_no_work(night: Night) -> None:
    assert night("run", "--until-idle", "0.5", env={"BATCHCTL_POLL_INTERVAL": "0.1"}).returncode == 0


JOBS = """
from batchctl.plugin_api import job

@job("greet")
def greet(name: str, times: int = 1) -> str:
    print(f"hello {name}" * times)
    return "greeted"

@job("refuse")
def refuse() -> None:
    raise ValueError("no")
"""


def test_a_job_is_called_by_hand_as_the_controller_does(night: Night) -> None:
    (night.folder / "our_jobs.py").write_text(JOBS, encoding="utf-8")
    (night.folder / "batchctl.toml").write_text('plugin_modules = ["our_jobs"]\n', encoding="utf-8")

    done = night("job", "call", "greet", "--arguments", '{"name": "Anna", "times": 2}')
    refused = night("job", "call", "refuse")
    unknown = night("job", "call", "great")
    pasted = night("job", "run", "greet", "--arguments", '{"name": "Anna"}')  # from a history of before `job call`
    both = [night("job", "run", "greet", "--arguments", "{}", *more) for more in (["--dry-run"], ["--reason", "why"])]
    assert [(done.returncode, "takes neither --dry-run nor --reason" in done.stderr) for done in both] == [
        (2, True)
    ] * 2
    malformed = [night("job", "call", "greet", "--arguments", text).returncode for text in ("{", "[]")]

    assert (done.returncode, done.stdout) == (0, "hello Annahello Anna\n")
    assert (pasted.returncode, pasted.stdout) == (0, "hello Anna\n")
    assert refused.returncode == 1
    assert "no" in refused.stderr
    assert unknown.returncode == 3
    assert "Did you mean 'greet'?" in unknown.stderr
    assert malformed == [2, 2]
