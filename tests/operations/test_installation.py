"""What `doctor` says of disks, the log file and the definitions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batchctl.cli import main
from batchctl.domain.outcomes import Result, RowFinding
from batchctl.operations.maintenance import installation


@pytest.mark.parametrize(
    ("free", "result"),
    [(2_000_000_000, Result.OK), (999_999_999, Result.WARN), (99_999_999, Result.FAIL), (0, Result.FAIL)],
)
def test_little_room_is_a_warning_and_hardly_any_a_failure(free: int, result: Result) -> None:
    reading = installation.room(["control database"], free)

    assert reading.result is result
    assert (reading.next_step is None) is (result is Result.OK)


def test_what_lies_on_one_disk_is_told_once(tmp_path: Path) -> None:
    (reading,) = installation.disks(
        {"control database": tmp_path / "a.db", "state directory": tmp_path / "not" / "yet"}
    )

    assert "the control database and the state directory" in reading.message


def test_a_log_file_may_be_there_or_be_made(tmp_path: Path) -> None:
    path = tmp_path / "events.log"
    assert installation.log_file(path).result is Result.OK

    path.write_text("", encoding="utf-8")
    assert installation.log_file(path).result is Result.OK


def test_a_log_file_in_no_folder_or_in_the_place_of_one_fails_with_what_to_type(tmp_path: Path) -> None:
    missing = installation.log_file(tmp_path / "logs" / "events.log")
    assert (missing.result, missing.next_step) == (Result.FAIL, f"mkdir -p {tmp_path / 'logs'}")

    taken = installation.log_file(tmp_path)
    assert taken.result is Result.FAIL
    assert str(tmp_path) in taken.message


def test_definitions_are_counted() -> None:
    finding, other = (RowFinding("ProcessBatch", row, "Populator", "none") for row in ("1", "2"))

    assert installation.definitions([]).result is Result.OK
    one, two = installation.definitions([finding, finding]), installation.definitions([finding, other])
    assert (one.result, one.next_step) == (Result.WARN, "batchctl check")
    assert one.message == "In one row something is wrong."
    assert two.message == "In 2 rows something is wrong."


@pytest.mark.parametrize(("free", "found"), [(99_999_999, ["0.1 GB are free"]), (999_999_999, [])])
def test_a_disk_is_named_by_status_once_nothing_may_be_recorded_soon(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, free: int, found: list[str]
) -> None:
    file = tmp_path / "batchctl.toml"
    file.write_text('database_url = "sqlite:///b.db"\n', encoding="utf-8")
    assert main.run(["--config", str(file), "db", "upgrade"]) == 0
    monkeypatch.setattr(installation, "disk_of", lambda place: (1, free))
    capsys.readouterr()

    assert main.run(["--config", str(file), "status", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["FullDisks"]
    assert main.run(["--config", str(file), "status"]) == 0
    shown = capsys.readouterr().out

    assert [one.partition(" for the ")[0] for one in told] == found
    assert all(one in shown for one in found)
    assert ("Next: make room on that disk" in shown) is bool(found)
