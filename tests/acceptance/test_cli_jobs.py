"""What people see of decorated jobs at the command line."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import GOOD, Night
from tests.control_databases import ControlDatabase

MODULE = """
from batchctl.plugin_api import daily, job, retry

@job("big sweep", category="Ops")
@daily("03:15")
def sweep(): "Sweep."

@daily("04:00")
def load(): "Load."
"""


FLAKY = """@retry(attempts=3)
def sweep():
    with open("runs", "a+") as runs:
        runs.write("x")
        runs.seek(0)
        if len(runs.read()) < 3:
            raise RuntimeError("not yet")
"""


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """A database of every kind, and a module with two jobs, one of them called like a batch that somebody made."""
    made = Night(control_database, run_batchctl)
    made.batch("load", GOOD)
    (made.folder / "shop.py").write_text(MODULE, encoding="utf-8")
    (made.folder / "batchctl.toml").write_text('[jobs]\nmodules = ["shop"]\n', encoding="utf-8")
    return made


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_jobs_are_listed_with_what_is_refused_and_what_was_written_over(night: Night) -> None:
    dry = night("job", "reconcile", "--dry-run")
    untouched = night.sql("SELECT ProcessBatchName FROM ProcessBatch")
    first = night("job", "reconcile")
    night.sql("UPDATE Schedule SET RunTimes = '05:00'")
    drifted, checked = squeezed(night("job", "list").stdout), night("check")
    again = night("job", "reconcile", "--json")
    listed = squeezed(night("job", "list").stdout)

    assert (dry.returncode, first.returncode, again.returncode) == (6, 6, 6)
    assert untouched == [("load",)]
    assert "Would be written" in dry.stdout
    assert "There is a batch 'load' already that no code of a job has made" in squeezed(first.stderr)
    assert "RunTimes 05:00 becomes 03:15" in drifted
    assert checked.returncode == 6
    assert "It differs from the code of job big sweep." in squeezed(checked.stdout)
    assert '"ByHand": {\n        "RunTimes": "05:00"\n      }' in again.stdout
    assert "somebody had written RunTimes 05:00 by hand" in listed
    assert "refused" in listed
    assert "Next: batchctl job history 'big sweep'" in listed


def test_what_is_gone_for_good_is_disabled_when_somebody_says_so(night: Night) -> None:
    night("job", "reconcile")
    (night.folder / "batchctl.toml").write_text("", encoding="utf-8")
    elsewhere = squeezed(night("job", "list").stdout)
    kept = night.sql("SELECT Enabled FROM Schedule")
    retired = night("job", "reconcile", "--retire", "shop")
    (listed,) = [one for one in night.json("job", "list") if one["Owner"] == "shop"]

    assert "if no node has it any more: batchctl job reconcile --retire shop" in elsewhere
    assert (kept, retired.returncode) == ([(1,)], 0)
    assert night.sql("SELECT Enabled, Origin FROM Schedule") == [(0, "left shop")]
    assert "disabled: the code does not say it any more" in squeezed(retired.stdout)
    assert (listed["State"], listed["Message"]) == ("left", None)


def test_a_run_of_a_job_waits_where_its_batch_is_disabled(night: Night) -> None:
    night("job", "reconcile")
    night("disable", "big sweep")
    dry = night("job", "run", "big sweep", "--dry-run")
    asked = night("job", "run", "big sweep", "--reason", "now")
    nothing = night("job", "history", "big sweep")

    assert "Would insert a FileProcess row for entity big sweep" in dry.stdout
    assert asked.stdout == "file:1\n"
    assert "is disabled: the run waits until: batchctl enable 'big sweep'" in asked.stderr
    assert "Next: batchctl job run 'big sweep'" in nothing.stdout


def test_a_module_that_is_broken_is_one_finding_and_told_wherever_jobs_are(night: Night) -> None:
    night("job", "reconcile")
    calls = "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
    night.sql(
        f"{calls} SELECT ProcessBatch_id, 50, 'more', 'python', 'no such job' FROM ProcessBatch WHERE Origin IS NULL"
    )
    (night.folder / "shop.py").write_text(MODULE.replace("04:00", "27:00, 28:00"), encoding="utf-8")
    checked, listed, asked = night("check", "--json"), night("job", "list"), night("job", "run", "big sweep")
    reconciled = night("job", "reconcile")
    findings, said = json.loads(checked.stdout), squeezed(night("check").stdout)
    module = "plugin module 'shop' cannot be loaded: UnfitDeclaration: @daily:"

    (broken,) = [one for one in findings if one["Table"] == "(plugin)"]
    assert module in broken["Message"]
    assert "(shop.py, line 8, above load)" in broken["Message"]
    (step,) = [one for one in findings if "is not registered" in one["Message"]]
    assert module in step["Message"]
    assert "Next: correct shop.py" in said
    assert [word for word in ("not known here", "--retire", "in an SQL client") if word in said] == []
    assert not any("sweep" in one["Row"] for one in findings)
    assert module in squeezed(listed.stderr)
    assert " broken " in squeezed(listed.stdout)
    assert (asked.returncode, asked.stdout) == (0, "file:1\n")
    assert module in squeezed(asked.stderr)
    assert reconciled.returncode == 6
    assert "the tables say what the code says" not in reconciled.stdout
    assert "looked at; not looked at: shop." in reconciled.stdout
    assert module in squeezed(reconciled.stderr)


def test_a_moment_that_is_over_is_told_and_its_decorator_is_what_to_correct(night: Night) -> None:
    (night.folder / "shop.py").write_text(
        'from batchctl.plugin_api import once\n@once("2001-12-01 02:00")\ndef move(): pass\n', encoding="utf-8"
    )
    reconciled, checked = night("job", "reconcile"), night("check")
    removed = night("schedule", "remove", "move.Once_2001_12_01_02_00", "--reason", "over")
    unknown = night("job", "reconcile", "--retire", "shpo")

    assert (reconciled.returncode, removed.returncode, unknown.returncode) == (6, 4, 3)
    assert "Its only time, 2001-12-01 02:00, is over" in squeezed(reconciled.stderr)
    assert "2001-12-01 02:00, is over" in squeezed(checked.stdout)
    assert "correct the decorator of move" in squeezed(checked.stdout)
    assert "schedule set" not in checked.stdout
    assert "or take the decorator away" in squeezed(removed.stderr)
    assert "Did you mean 'shop'?" in unknown.stderr


def test_what_a_typo_in_a_deploy_keeps_from_running_waits_and_runs_when_it_is_mended(night: Night) -> None:
    night("job", "reconcile")
    night("job", "run", "big sweep", "--reason", "now")
    (night.folder / "shop.py").write_text(f"{MODULE}\nthis is no Python", encoding="utf-8")
    night("create")
    broken = night("process")
    ((instance, status, retries),) = night.sql("SELECT BatchControl_id, Status, RetryCount FROM BatchControl")
    shown, told = squeezed(night("status").stdout), squeezed(night("why", str(instance)).stdout)
    attempts = night.sql("SELECT Status FROM BatchProcessHistory")
    (night.folder / "shop.py").write_text(f"{MODULE}\n# mended, and of another size", encoding="utf-8")
    mended = night("process")

    assert (broken.returncode, status, retries, attempts) == (0, "ready", 0, [])
    for said in (shown, told):
        assert "job 'big sweep' of Data1 is not installed" in said
        assert "plugin module 'shop' cannot be loaded: SyntaxError" in said
        assert "correct it, then restart the controllers" in said
    assert mended.returncode == 0
    assert night.sql("SELECT Status FROM BatchControl") == [("complete",)]


def test_a_misspelt_job_waits_visibly_and_runs_once_its_row_is_corrected(night: Night) -> None:
    night("job", "reconcile")
    night.sql("UPDATE ProcessControl SET Data1 = 'big sweap' WHERE Data1 = 'big sweep'")
    night("job", "run", "big sweep", "--reason", "now")
    night("create")
    night("process")
    waiting = night.sql("SELECT Status FROM BatchControl")
    shown, checked = squeezed(night("status").stdout), squeezed(night("check").stdout)
    night.sql("UPDATE ProcessControl SET Data1 = 'big sweep' WHERE Data1 = 'big sweap'")
    night.sql("UPDATE BatchControl SET NextRunTime = '1900-01-01 00:00:00.000000'")
    night("process")

    assert waiting == [("ready",)]
    assert "job 'big sweap' is not registered. Did you mean 'big sweep'?" in checked
    assert "job 'big sweap' of Data1 is not installed" in shown
    assert "name its module in [jobs] modules where the controllers run and restart them" in shown
    assert "did you mean 'big sweep'?" in shown
    assert night.sql("SELECT Status FROM BatchControl") == [("complete",)]


def test_failed_runs_of_a_job_are_named_and_given_up_together(night: Night) -> None:
    night("job", "reconcile")
    for _ in range(3):
        night("job", "run", "big sweep", "--reason", "now")
    night("create")
    night.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id < 3")
    asked = night("job", "cancel", "big sweep", "--reason", "enough")
    dry = night("job", "cancel", "big sweep", "--failed", "--reason", "enough", "--dry-run")
    before = night.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id")
    done = night("job", "cancel", "big sweep", "--failed", "--reason", "enough")
    again = night("job", "cancel", "big sweep", "--failed", "--reason", "enough")
    audited = night.sql("SELECT Target, Reason FROM AuditLog WHERE Action = 'cancel' ORDER BY AuditLog_id")

    assert asked.returncode == 4
    assert "Nothing of job 'big sweep' is running; 2 failed, 1 waiting." in squeezed(asked.stderr)
    assert "Next: batchctl cancel 1 --reason ..." in squeezed(asked.stderr)
    assert "batchctl job cancel 'big sweep' --failed --reason ..." in squeezed(asked.stderr)
    assert before == [("failed",), ("failed",), ("ready",)]
    assert (dry.returncode, "2 failed runs of job big sweep would be given up." in dry.stdout) == (0, True)
    assert (done.returncode, "2 failed runs of job big sweep are given up." in done.stdout) == (0, True)
    assert night.sql("SELECT Status FROM BatchControl ORDER BY BatchControl_id") == [
        ("cancelled",),
        ("cancelled",),
        ("ready",),
    ]
    assert audited == [("BatchControl:1", "enough"), ("BatchControl:2", "enough")]
    assert (again.returncode, "No run of job 'big sweep' has failed" in again.stderr) == (4, True)


def test_what_left_the_code_is_reconciled_and_asking_for_it_says_so(night: Night) -> None:
    night("job", "reconcile")
    (night.folder / "shop.py").write_text("# All jobs have gone from here, for good.\n", encoding="utf-8")
    before = squeezed(night("check").stdout)
    asked = night("job", "run", "big sweep", "--reason", "now")
    night("job", "reconcile")
    after = [one for one in json.loads(night("check", "--json").stdout) if "is not registered" in one["Message"]]

    assert ("job 'big sweep' is not registered" in before, "Next: batchctl job reconcile" in before) == (True, True)
    assert "in an SQL client" not in before
    assert "Warning: Job 'big sweep' of 'shop' is not known here." in squeezed(asked.stderr)
    assert after == [], "it is disabled, and nobody has to do anything about it"


def test_every_attempt_says_of_how_many_it_is_and_none_is_said_in_words(night: Night) -> None:
    (night.folder / "shop.py").write_text(
        MODULE.replace('@daily("03:15")\ndef sweep(): "Sweep."', FLAKY), encoding="utf-8"
    )
    night("job", "reconcile")
    night("job", "run", "big sweep", "--reason", "now")
    night("create")
    for _ in range(3):
        night("process")
        night.sql("UPDATE BatchControl SET NextRunTime = '1900-01-01 00:00:00.000000'")
    listed = squeezed(night("job", "history", "big sweep", env={"COLUMNS": "200"}).stdout)
    nothing = night("job", "history", "big sweep", "--outcome", "lost")
    misspelt = night("job", "history", "big sweep", "--outcome", "faild")

    assert [one["Attempts"] for one in night.json("job", "history", "big sweep")] == [3, 3, 3]
    assert "3 of 3 retry success" in listed
    assert nothing.stdout.startswith("BatchProcessHistory has no such row.")
    assert (misspelt.returncode, "Did you mean 'failed'?" in squeezed(misspelt.stderr)) == (2, True)


def test_why_of_a_schedule_names_its_gates(night: Night) -> None:
    night("job", "reconcile")
    asked = night.json("why", "schedule:big sweep.Daily_03_15")

    blocked = {one["Gate"]: one["Clear"] for one in asked["Gates"] if not one["Passed"]}
    assert blocked["due"] == "batchctl schedule preview 'big sweep.Daily_03_15'"
    assert asked["EarliestStart"].endswith("Z")


def test_whoever_has_mistyped_something_of_a_job_is_told_what_to_type(night: Night) -> None:
    (night.folder / "shop.py").write_text(
        "from batchctl.plugin_api import job\n@job()\ndef report(month): pass\n", encoding="utf-8"
    )
    run, call = night("job", "run", "report", "--reason", "x").stderr, night("job", "call", "report").stderr
    (night.folder / "batchctl.toml").write_text('[jobs]\nmodules = ["shpo"]\n', encoding="utf-8")
    checked = squeezed(night("check").stdout)

    assert "it has no cadence, no @retry and no entity." in run
    assert "Next: give it one of these, then: batchctl job reconcile" in run
    assert """Next: batchctl job call report --arguments '{"month": ...}'""" in call
    assert "Did you mean 'shop'?" in checked
    assert "correct its name in modules of [jobs], or plugin_modules, in batchctl.toml" in checked
