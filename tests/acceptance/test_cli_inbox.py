"""`batchctl inbox` through the installed command: what is not work, why, and what a person does about it."""

from __future__ import annotations

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import GOOD, HOSTILE, Night, a_file
from tests.control_databases import ControlDatabase

WHY = ("--reason", "the table was truncated")


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """A database of every kind in turn: row 1 is work, 2 a duplicate, 3 rejected, 4 untaken, 5 paused."""
    made = Night(control_database, run_batchctl)
    made.batch("Loads", GOOD)
    made.batch("Sensor", GOOD, PopulatorArgs=r"(?P<Data1>\d+)\.csv")
    made.arrive("Loads", str(made.folder / "gone.csv"), Data="k")
    made.arrive("Loads", str(made.folder / "gone.csv"), Data="k")
    made.arrive("Sensor", "x.txt")
    made.arrive("Lods", HOSTILE)
    made.arrive("Loads", "y.csv", Status="paused")
    assert made("run", "--once").returncode == 0
    return made


@pytest.fixture(scope="module")
def unread(tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    """Three rows of which there is no instance yet."""
    made = Night(a_file(tmp_path_factory.mktemp("inbox")), run_batchctl)
    made.batch("Loads", GOOD)
    for _ in range(3):
        made.arrive("Loads")
    return made


def test_the_list_says_why_and_what_to_type_next(night: Night) -> None:
    shown = night("inbox", env={"COLUMNS": "100"})
    found = night.json("inbox")

    assert (shown.returncode, shown.stderr) == (0, "")
    assert "no batch takes entity 'Lods'. Did you mean 'Loads'?" in shown.stdout
    assert "\n    next: batchctl accept 2 --reason ...\n" in shown.stdout
    assert "same Data as FileProcess 1 (no such file on this host)" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert shown.stdout.rstrip().endswith("Next: batchctl inbox show 5   (one row in full)")
    assert found["Leader"] is None
    assert found["Before"] is None
    assert [(row["FileProcess_id"], row["State"]) for row in found["Rows"]] == [
        (5, "paused"),
        (4, "untaken"),
        (3, "rejected"),
        (2, "duplicate"),
    ]
    assert [row["FileMissing"] for row in found["Rows"]] == [False, False, False, True]
    duplicate = found["Rows"][-1]
    assert duplicate["Because"] == duplicate["Message"] == "batch Loads: same Data as FileProcess 1"
    assert duplicate["Next"] == "batchctl accept 2 --reason ..."


def test_the_list_is_cut_and_filtered(night: Night) -> None:
    page = night("inbox", "--limit", "2")
    following = night.json("inbox", "--limit", "2", "--before", "4")

    assert "batchctl inbox --before 4   (older rows, with the same options)" in page.stdout
    assert [row["FileProcess_id"] for row in following["Rows"]] == [3, 2]
    assert [row["FileProcess_id"] for row in night.json("inbox", "--entity", "Sensor")["Rows"]] == [3]
    assert [row["FileProcess_id"] for row in night.json("inbox", "--state", "paused")["Rows"]] == [5]
    nothing = night("inbox", "--state", "new")
    assert nothing.stdout == "Nothing of what was asked for is in the inbox.\nNext: batchctl status\n"


def test_status_and_create_point_to_it(night: Night) -> None:
    hint = "batchctl inbox   (every row that is not work, why, and what to do)"
    assert hint in night("status").stdout

    night("inbox", "reject", "4", "5", *WHY)
    night.sql("UPDATE FileProcess SET Status = 'complete'")
    assert hint not in night("status").stdout


def test_the_same_file_is_sent_again_on_purpose_and_runs(night: Night) -> None:
    dry = night("inbox", "resend", "1", "--dry-run", *WHY)
    sent = night("inbox", "resend", "1", *WHY)
    assert night("run", "--once").returncode == 0
    waited = night("wait", *sent.stdout.split())

    assert (
        dry.stdout == "FileProcess 1 would be inserted once more, as submission 2 of FileProcess 1; taken by: Loads.\n"
    )
    assert (sent.returncode, sent.stdout) == (0, "file:6\n")
    assert "FileProcess 6 is submission 2 of FileProcess 1; taken by: Loads." in sent.stderr
    assert (waited.returncode, waited.stdout) == (0, "file:6 complete\n")
    shown = night.json("inbox", "show", "6")
    assert shown["Source"].endswith(f", submission 2 of FileProcess 1: {WHY[1]}")
    assert [(act["Action"], act["Reason"]) for act in shown["Audit"]] == [("accept", WHY[1])]
    assert [act["Action"] for act in night.json("inbox", "show", "1")["Audit"]] == ["resend"]
    assert shown["State"] is None
    assert shown["BatchControl"][0]["Status"] == "complete"
    assert night.json("inbox", "show", "2")["Status"] == "duplicate"


def test_what_was_corrected_is_looked_at_anew_each_row_by_itself(night: Night) -> None:
    night.sql("UPDATE FileProcess SET FileName = '17.csv' WHERE FileProcess_id = 3")

    dry = night("inbox", "retry", "3", "--dry-run", *WHY)
    done = night("inbox", "retry", "99", "2", "3", "5", "5", *WHY)
    assert night("run", "--once").returncode == 0

    assert dry.stdout == "FileProcess 3 would become ready (it was rejected).\n"
    assert done.returncode == 3
    assert done.stdout == (
        "FileProcess 3 is now ready (it was rejected).\nFileProcess 5 is now ready (it was paused).\n"
    )
    assert "Error: There is no FileProcess 99." in done.stderr
    assert "Error: FileProcess 2 still has the same Data as FileProcess 1." in done.stderr
    assert "Next: batchctl accept 2 --reason ...   (if it is to run all the same)" in done.stderr
    statuses = night.sql("SELECT Status FROM FileProcess ORDER BY FileProcess_id")
    assert statuses == [("complete",), ("duplicate",), ("complete",), ("ready",), ("complete",)]


def test_what_nobody_wants_is_rejected_with_the_reason(night: Night) -> None:
    done = night("inbox", "reject", "4", *WHY)
    refused = night("inbox", "reject", "1", *WHY)
    shown = night("inbox", "show", "4")

    assert (done.returncode, done.stdout) == (0, "FileProcess 4 is now rejected (it was ready).\n")
    assert done.stderr == "Next: batchctl inbox retry 4 --reason ...   (if it is wanted after all)\n"
    assert refused.returncode == 4
    assert "Error: FileProcess 1 has become work already: BatchControl 1 (complete)." in refused.stderr
    assert f": {WHY[1]}" in shown.stdout
    assert "What people did" in shown.stdout
    assert "\x1b" not in shown.stdout


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("inbox", "3"), 2, "The inbox has no command '3'. Did you mean 'inbox show 3'?"),
        (("inbox", "rety", "3"), 2, "The inbox has no command 'rety'. Did you mean 'retry'?"),
        (("inbox", "--entity", "Loads", "retry", "3", *WHY), 2, "options of a command stand behind it"),
        (("inbox", "retry", "3"), 2, "Missing option '--reason'"),
        (("inbox", "retry", *WHY), 2, "Missing argument 'FILEPROCESS_ID...'"),
        (("inbox", "--state", "lost"), 2, "'lost' is not one of"),
        (("inbox", "show", "99"), 3, "There is no FileProcess 99."),
        (("wait", "2"), 3, "Did you mean FileProcess 2, which is file:2? No instance has been made of it."),
        (("show", "3"), 3, "Did you mean FileProcess 3, which is file:3?"),
    ],
)
def test_what_is_wrong_is_said_with_its_exit_code(unread: Night, args: tuple[str, ...], code: int, said: str) -> None:
    before = unread.dump()
    done = unread(*args)

    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert unread.dump() == before
