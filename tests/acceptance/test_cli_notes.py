"""What those who come after have to know stands where they look."""

from __future__ import annotations

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import HOSTILE, NEEDS_A_FILE, Night
from tests.control_databases import ControlDatabase

WIDE = {"COLUMNS": "250"}


@pytest.fixture
def night(control_database: ControlDatabase, run_batchctl: RunBatchctl) -> Night:
    """An instance has failed, and incident 1 stands about it."""
    made = Night(control_database, run_batchctl)
    made.batch("Late", NEEDS_A_FILE)
    made.arrive("Late", "late.csv")
    assert made("run", "--once").returncode == 1
    return made


def notes(night: Night) -> list[str]:
    return [text for (text,) in night.sql("SELECT Text FROM Note ORDER BY Note_id")]


def test_a_note_is_shown_wherever_what_it_is_about_is_shown(night: Night) -> None:
    noted = [
        night("note", "1", HOSTILE),
        night("note", "--incident", "1", "ticket 77"),
        night("note", "--batch", "Late", "call Jan first"),
    ]
    texts = {name: night(*name.split(), env=WIDE).stdout for name in ("show 1", "status", "incidents", "batches")}

    assert [one.returncode for one in noted] == [0, 0, 0], noted
    assert "Noted about batch Late: call Jan first" in noted[2].stdout
    for name, said in (
        ("show 1", ("\\x1b[31m", "call Jan first")),
        ("status", ("\\x1b[31m", "call Jan first", "ticket 77")),
        ("incidents", ("ticket 77",)),
        ("batches", ("call Jan first",)),
    ):
        assert all(text in texts[name] for text in said), (name, texts[name])
        assert "\x1b" not in texts[name]
    assert [one["Text"] for one in night.json("show", "1")["Notes"]] == [HOSTILE, "call Jan first"]
    assert [one["Text"] for one in night.json("status")["Notes"]] == [HOSTILE, "ticket 77", "call Jan first"]
    assert [one["Text"] for one in night.json("incidents")[0]["Notes"]] == ["ticket 77"]
    assert [one["Text"] for one in night.json("batches")[0]["Notes"]] == ["call Jan first"]
    assert night.sql("SELECT LastNote FROM vStatus") == [("call Jan first",)]
    assert night.sql("SELECT LastNote FROM vFailed") == [(HOSTILE,)]


def test_a_note_is_audited_and_a_dry_run_keeps_none(night: Night) -> None:
    planned = night("note", "1", "later", "--dry-run")
    (made,) = night.json("note", "Late#1", "now")
    acts = night.sql("SELECT Target, Reason FROM AuditLog WHERE Action = 'note'")

    assert "Would be noted about BatchControl 1: later" in planned.stdout
    assert (made["BatchControl_id"], made["Text"]) == (1, "now")
    assert notes(night) == ["now"]
    assert acts == [("BatchControl:1", "now")]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("1", ""), 2, "it says nothing"),
        (("1", " \t"), 2, "it says nothing"),
        (("1", "x" * 4001), 2, "it has 4001 characters, and 4000 are the most"),
        (("99", "x"), 3, "There is no BatchControl 99."),
        (("--incident", "99", "x"), 3, "There is no incident 99."),
        (("--batch", "Lat", "x"), 3, "Did you mean 'Late'?"),
        (("x",), 2, "Name an instance first"),
        (("1", "two", "words"), 2, "stands in quotes as one word"),
        (("--batch", "Late", "--incident", "1", "x"), 2, "exclude each other"),
    ],
)
def test_what_is_no_note_is_refused(night: Night, args: tuple[str, ...], code: int, said: str) -> None:
    refused = night("note", *args)

    assert (refused.returncode, said in refused.stderr) == (code, True), refused.stderr
    assert notes(night) == []


def test_who_has_no_shell_asks_for_one_by_a_row(night: Night) -> None:
    asked: list[dict[str, object]] = [
        {"BatchControl_id": 1, "Reason": "by row"},
        {"ProcessBatchName": "Late", "Reason": "of the batch"},
        {"Arguments": '{"incident": 1}', "Reason": "of the incident"},
        {"BatchControl_id": 1},
        {"Reason": "about nothing"},
        {"BatchControl_id": 1, "Reason": "x" * 4001},
        {"BatchControl_id": 99, "Reason": "x"},
    ]
    for columns in asked:
        night._insert("OperatorRequest", {"Action": "note", **columns})
    night("run", "--once")
    answers = [one for (one,) in night.sql("SELECT Answer FROM OperatorRequest ORDER BY OperatorRequest_id")]

    assert notes(night) == ["by row", "of the batch", "of the incident"]
    assert answers[0] == "Noted about BatchControl 1: by row."
    for answer, said in zip(
        answers[3:],
        ("'note' needs a Reason.", "'note' is about one thing", "4000 are the most", "There is no BatchControl 99."),
        strict=True,
    ):
        assert said in answer


def test_a_note_goes_with_what_it_is_about(night: Night) -> None:
    for args in (("1",), ("--incident", "1"), ("--batch", "Late")):
        night("note", *args, "x")
    night("cancel", "1", "--reason", "given up")
    night("run", "--once")
    old = "2020-01-01 00:00:00"
    night.sql("UPDATE FileProcess SET z_inserted = ?, z_updated = ?", old, old)
    night.sql("UPDATE BatchControl SET z_inserted = ?, z_updated = ?", old, old)
    night.sql("UPDATE Incident SET OpenedTime = ?, ResolvedTime = ?, RecoveryTime = ?, z_updated = ?", *(old,) * 4)
    for name, days in (("CancelledDays", "1"), ("IncidentDays", "1"), ("KeepLast", "0")):
        night.sql("INSERT INTO Setting (Name, Value) VALUES (?, ?)", name, days)
    purged = night("purge", "--reason", "old")

    assert purged.returncode == 0, purged.stderr
    assert night.sql("SELECT count(*) FROM BatchControl") == [(0,)], purged.stdout
    assert night.sql("SELECT count(*) FROM Incident") == [(0,)], purged.stdout
    assert night.sql("SELECT ProcessBatch_id FROM Note") == [(1,)]


def test_a_batch_that_a_file_leaves_out_goes_with_its_notes(night: Night) -> None:
    file = night.folder / "defined.toml"
    file.write_text(
        'Owns = "mine"\n[[ProcessBatch]]\nProcessBatchName = "Spare"\n[[ProcessBatch.ProcessControl]]\n'
        'ProcessControlSeq = 10\nProcessName = "a"\nProcessType = "os_command"\nData1 = "true"\n'
    )
    assert night("apply", "defined.toml", "--reason", "made").returncode == 0
    night("note", "--batch", "Spare", "not needed any more")
    file.write_text('Owns = "mine"\n')
    pruned = night("apply", "defined.toml", "--prune", "--reason", "gone")

    assert pruned.returncode == 0, pruned.stdout + pruned.stderr
    assert night.sql("SELECT ProcessBatchName FROM ProcessBatch") == [("Late",)]
    assert notes(night) == []
