"""Who did what is listed, what hands changed included, and nobody changes that unseen: with the installed command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import HOSTILE, Night, a_control
from tests.control_databases import KINDS, PostgresControl


@pytest.fixture(params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl) -> Night:
    database = a_control(request.param, request, tmp_path / "night")
    made = Night(database, run_batchctl)
    made.batch("Load", "true")
    made.sql("UPDATE ProcessBatch SET Seq = 5")
    assert made("disable", "Load", "--reason", "the sender is late").returncode == 0
    return made


def forge(night: Night, statement: str) -> None:
    """Change what the triggers keep as it is."""
    if isinstance(night.database, PostgresControl):
        told = night.database.server.psql(
            night.database.url.rpartition("/")[2], f"SET session_replication_role = replica; {statement};"
        )
        assert told.returncode == 0, told.stderr
        return
    for (name,) in night.sql("SELECT name FROM sqlite_master WHERE name LIKE 'TR_Audit%'"):
        night.sql(f"DROP TRIGGER {name}")
    night.sql(statement)


def test_acts_and_what_hands_changed_are_listed_with_before_and_after(night: Night) -> None:
    newest, by_trigger, by_hand, *_ = night.json("audit", "batch:Load")
    told = night("audit", "batch:Load", env={"COLUMNS": "200"}).stdout

    assert (newest["Action"], newest["Reason"], newest["ValuesAfter"]) == (
        "disable",
        "the sender is late",
        '{"Enabled": 0}',
    )
    assert (by_trigger["Action"], json.loads(by_trigger["ValuesAfter"])) == ("row update", {"Enabled": 0})
    assert json.loads(by_hand["ValuesBefore"]) == {"Seq": 100}
    assert "the sender is late" in told
    assert "ProcessControl:Load:10" in told
    assert {one["Action"] for one in night.json("audit", "--actor", by_hand["Actor"])} == {"row insert", "row update"}
    assert night.json("audit", "--since", "2999-01-01") == []
    assert [one["AuditLog_id"] for one in night.json("audit", "--limit", "1", "--before", "3")] == [2]
    assert night.json("audit", "schedule:Load") == []
    assert night("audit", "Load").returncode == 2
    for ref, told in (
        ("batch:Lod", "There is no batch 'Lod'. Did you mean 'Load'?"),
        ("42", "There is no BatchControl 42."),
        ("file:42", "There is no FileProcess 42."),
    ):
        refused = night("audit", ref)
        assert (refused.returncode, refused.stderr.partition("\n")[0]) == (3, f"Error: {told}")
    assert night("audit", "verify", "--anchor", "x").returncode == 2


def test_what_a_row_does_not_hold_is_left_out_where_people_read(night: Night) -> None:
    made = night.json("audit", "batch:Load")[-1]
    told = night("audit", "batch:Load", env={"COLUMNS": "400"}).stdout

    assert (made["Action"], json.loads(made["ValuesAfter"])["StartBy"]) == ("row insert", None)
    assert '{"ProcessBatchName": "Load", "Enabled": 1, ' in told
    assert "StartBy" not in told


def test_incidents_and_freezes_are_asked_for_by_their_numbers(night: Night) -> None:
    night("freeze", "--batch", "Load", "--reason", "disks")

    assert [each["Action"] for each in night.json("audit", "freeze:1")] == ["freeze", "row insert"]
    assert night("audit", "incident:1").stdout == "AuditLog has no such row.\n"


def test_what_was_forged_is_found_and_named(night: Night) -> None:
    assert "not sealed yet" in night("audit", "verify").stdout
    assert night("audit", "anchor").returncode == 3
    assert night("audit", "seal", "--dry-run").stdout == "5 rows would be sealed.\n"
    assert "audit.anchor SealNo=5" in night("run", "--once").stderr
    anchor = night("audit", "anchor").stdout.strip()
    sound = night("audit", "verify", "--anchor", anchor)
    assert (sound.returncode, sound.stdout) == (0, "5 sealed rows: each is as it was sealed, and in its place.\n")

    forge(night, "UPDATE AuditLog SET Actor = 'nobody' WHERE AuditLog_id = 5")
    forge(night, "DELETE FROM AuditLog WHERE AuditLog_id = 3")
    found = night("audit", "verify", "--json", "--anchor", anchor)

    assert found.returncode == 6
    assert [(one["AuditLog_id"], one["Message"]) for one in json.loads(found.stdout)["Findings"]] == [
        (3, "the row is missing, and no purge tells of it"),
        (5, "the row is not as it was when it was sealed"),
    ]
    told = "'purge', 'AuditLog', '{\"Rows\": 1, \"AuditLog_id\": [[3, 3]]}'"
    forge(night, f"INSERT INTO AuditLog (Actor, Host, Action, Target, ValuesBefore) VALUES ('x', 'y', {told})")
    (first, _) = json.loads(night("audit", "verify", "--json", "--anchor", anchor).stdout)["Findings"]
    assert first["Message"].endswith("(AuditLog 6) was not allowed: no AuditLogDays was set")
    forge(night, "DELETE FROM AuditSeal WHERE SealNo > 4")
    assert night("audit", "verify").returncode == 6
    assert "its end was cut off" in night("audit", "verify", "--anchor", anchor, env={"COLUMNS": "200"}).stdout


def test_hostile_text_is_shown_and_not_obeyed(night: Night) -> None:
    night.sql("UPDATE ProcessBatch SET Description = ?", HOSTILE)
    night.sql("UPDATE ProcessControl SET Data1 = ?", HOSTILE)
    assert night("audit", "seal").returncode == 0
    told = night("audit", "--limit", "2")
    ours, theirs = night.json("audit", "--limit", "2")

    assert told.returncode == 0
    assert not {"\x1b", "\u202e"} & set(told.stdout)
    assert json.loads(ours["ValuesAfter"]) == {"Data1": HOSTILE}
    assert json.loads(theirs["ValuesAfter"]) == {"Description": HOSTILE}
    assert night("audit", "verify").returncode == 0
