"""A step asks, a person answers: by the command and by a row, as people see it."""

from __future__ import annotations

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import Night
from tests.control_databases import ControlDatabase

WIDE = {"COLUMNS": "250"}
STEP = (
    "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2, Data4)"
    " VALUES (1, ?, ?, ?, ?, ?, ?)"
)
STANDS = "SELECT Status, PrevProcessControlSeq FROM BatchControl WHERE BatchControl_id = ?"


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """Two instances wait with a question: is the file right?"""
    made = Night(control_database, run_batchctl)
    made.batch("Month", "true")
    made.sql(STEP, 20, "ask", "confirm", "Is {FileName} right?", None, "4h fail")
    made.sql(STEP, 30, "send", "os_command", "true", None, None)
    for name in ("a.csv", "b.csv"):
        made.arrive("Month", name)
    return made


def wait(night: Night) -> None:
    done = night("run", "--once")
    assert done.returncode == 0, done
    assert "2 waiting for an answer" in done.stdout
    assert "Next: batchctl show 1   (waits for the answer of a person)" in done.stderr


def test_a_question_is_seen_wherever_people_look_and_answered_with_the_command(night: Night) -> None:
    planned = night("process", "--dry-run")
    wait(night)
    texts = {name: night(*name.split(), env=WIDE).stdout for name in ("status", "show 1", "why 1", "history 1")}
    for name, said in (
        ("status", ("Waiting for a person", "a.csv right?", "anyone who may act", "batchctl confirm 1")),
        ("show 1", ("It waits for the answer of a person", "a.csv right?", "then the step fails", "asks")),
        ("why 1", ("step 20 asks", "a.csv right?", "anyone who may act", "batchctl confirm 1")),
        ("history 1", ("# asks: Is ", "# who may answer: anyone who may act")),
    ):
        assert all(text in texts[name] for text in said), (name, texts[name])
    assert planned.returncode == 0
    (asked, other) = night.json("status")["Asked"]
    assert (asked["BatchControl_id"], asked["ProcessControlSeq"], asked["OnTimeout"]) == (1, 20, "fail")
    assert night.json("show", "1")["Confirmations"][0]["Answer"] is None
    ((reason, statement),) = night.sql("SELECT Reason, NextSql FROM vWaiting WHERE BatchControl_id = 1")
    assert reason.startswith("it asks anyone who may act: Is ")
    assert "VALUES ('confirm', 1, '...')" in statement
    assert other["BatchControl_id"] == 2

    looked = night("confirm", "1", "--dry-run")
    assert "would become ready" in looked.stdout
    assert night.sql(STANDS, 1) == [("paused", 10)]
    done = night.json("confirm", "1", "--reason", "counted")
    assert (done["Action"], done["After"]["Status"], done["Confirmation"]["ProcessControlSeq"]) == (
        "confirm",
        "ready",
        20,
    )
    foreseen = night("refuse", "2", "--reason", "half is missing", "--dry-run")
    assert "would become failed" in foreseen.stdout
    assert "step 30" not in foreseen.stdout, "nothing runs behind a step that has failed"
    refused = night("refuse", "2", "--reason", "half is missing")
    assert "is now failed" in refused.stdout
    assert night("run", "--once").returncode == 0
    assert night.sql(STANDS, 1) == [("complete", 30)]
    assert night.sql(STANDS, 2) == [("failed", 10)]
    assert "confirmed by " in night("history", "1").stdout
    assert "half is missing" in night("show", "2").stdout
    assert night("fsck").returncode == 0


def test_what_may_not_be_is_refused_with_what_to_type_instead(night: Night) -> None:
    night.sql("UPDATE ProcessControl SET Data2 = 'Nina, role:approvers' WHERE ProcessControlSeq = 20")
    wait(night)
    for words, said, next_step in (
        (("confirm", "1"), "is for Nina, role:approvers, not for ", "let one of them type: batchctl confirm 1"),
        (("resume", "1"), "BatchControl 1 waits for an answer: ", "batchctl confirm 1"),
        (("pause", "1"), "BatchControl 1 waits for an answer: ", "batchctl confirm 1"),
    ):
        found = night(*words)
        assert (found.returncode, said in found.stderr, next_step in found.stderr) == (4, True, True), found
    assert night("refuse", "1").returncode == 2
    assert night("confirm", "9").returncode == 3
    assert night("wait", "1").returncode == 1
    cancelled = night("cancel", "1", "--reason", "given up")
    again = night("confirm", "1")
    assert cancelled.returncode == 0
    assert (again.returncode, "withdrawn by " in again.stderr) == (4, True), again
    assert night.sql("SELECT Answer FROM Confirmation ORDER BY Confirmation_id") == [("withdrawn",), (None,)]


def test_who_asks_by_a_row_is_answered_and_a_second_one_told_of_the_first(night: Night) -> None:
    night.sql("UPDATE ProcessControl SET Data2 = 'nina' WHERE ProcessControlSeq = 20")
    wait(night)
    ask = "INSERT INTO OperatorRequest (Action, BatchControl_id, Reason, Actor) VALUES (?, ?, ?, ?)"
    night.sql(ask, "Confirm", 1, "counted", "nina")
    night.sql(ask, "refuse", 1, "no", "nina")
    night.sql(ask, "refuse", 2, "no", "carl")
    night.sql(ask, "refuse", 2, None, "nina")
    assert night("run", "--once").returncode == 0

    answers = night.sql("SELECT Status, Answer FROM OperatorRequest ORDER BY OperatorRequest_id")
    assert [status for status, _ in answers] == ["done", "refused", "refused", "refused"]
    assert "BatchControl 1 of batch Month was paused and is ready" in answers[0][1]
    assert "was answered: confirmed by nina@OperatorRequest:1" in answers[1][1]
    assert "is for nina, not for carl" in answers[2][1]
    assert "'refuse' needs a Reason." in answers[3][1]
    assert night.sql(STANDS, 1) == [("complete", 30)]
    assert night.sql("SELECT count(*) FROM AuditLog WHERE Action = 'confirm'") == [(1,)]


def test_definitions_with_questions_are_exported_and_applied(night: Night) -> None:
    exported = night("export", "--batch", "Month")
    text = exported.stdout
    night.sql("DELETE FROM ProcessControl WHERE ProcessControlSeq = 20")
    (night.database.directory / "month.toml").write_text(text, encoding="utf-8")
    applied = night("apply", "month.toml", "--yes", "--reason", "restored", "--overwrite", "Month")

    assert "Is {FileName} right?" in text
    assert applied.returncode == 0, applied
    wanted = [("confirm", "Is {FileName} right?", "4h fail")]
    assert night.sql("SELECT ProcessType, Data1, Data4 FROM ProcessControl WHERE ProcessControlSeq = 20") == wanted


def test_output_says_that_an_answer_is_waited_for(night: Night) -> None:
    wait(night)
    shown = night("output", "1")

    assert (shown.returncode, shown.stderr) == (
        0,
        "It waits for the answer of a person. Next: batchctl show 1\n",
    )


def test_check_says_where_no_one_can_be_a_member_of_a_role(night: Night) -> None:
    night.sql("UPDATE ProcessControl SET Data2 = 'nina, role:approvers' WHERE ProcessControlSeq = 20")
    found = night("check")

    assert ("SQLite has no database roles" in found.stdout) is (night.database.kind == "sqlite"), found.stdout


def test_check_names_what_is_wrong_with_the_row(night: Night) -> None:
    night.sql("UPDATE ProcessControl SET Data1 = NULL, Data4 = 'soon' WHERE ProcessControlSeq = 20")
    found = night("check")

    assert found.returncode == 6
    assert "the question is missing" in found.stdout
    assert "no length of time" in found.stdout
