"""The graph of the batches from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import GOOD, HOSTILE, Night, a_control, a_file, python
from tests.control_databases import KINDS, SqliteControl

KEY = "2026-11-21"


@pytest.fixture(scope="module", params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, run_batchctl: RunBatchctl) -> Night:
    """One extract is complete, one has failed; three batches wait for them, one for nothing."""
    folder = tmp_path_factory.mktemp("graph")
    made = Night(a_control(request.param, request, folder), run_batchctl)
    made.batch("Sales", GOOD)
    made.batch("Stock", python("raise SystemExit(3)"))
    made.batch("Merge", GOOD)
    made.batch(HOSTILE, GOOD)
    made.batch("Mail", GOOD, DependencyMode="any")
    made.batch("Alone", GOOD)
    for batch_id, others in {3: (1, 2), 4: (3,), 5: (1, 4)}.items():
        for other in others:
            made.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (?, ?)", batch_id, other)
    made.arrive("Sales", CycleKey=KEY)
    made.arrive("Stock", CycleKey=KEY)
    assert made("create").returncode == 0
    assert made("process").returncode == 1
    made.sql("DELETE FROM BatchCompletion")
    made.sql(
        "INSERT INTO BatchCompletion (ProcessBatch_id, DependsOnBatch_id, BatchControl_id, CycleKey) VALUES (3, 1, 1, ?)",
        KEY,
    )
    return made


def test_the_terminal_shows_how_each_batch_stands_and_what_to_type(night: Night) -> None:
    done = night("graph")

    assert done.returncode == 0
    assert done.stderr == ""
    for said in (
        "✗ Stock",
        "failed",
        "✓ Sales",
        f"for Stock of {KEY}",
        "batchctl show 2",
        "batchctl impact Stock",
        "Alone",
    ):
        assert said in done.stdout
    assert "\x1b" not in done.stdout
    assert "\u202e" not in done.stdout


def test_a_terminal_that_can_do_no_more_gets_ascii(night: Night) -> None:
    done = night("graph", env={"PYTHONIOENCODING": "ascii"})

    assert done.returncode == 0
    assert "x Stock" in done.stdout
    assert "<- Sales +, Stock x" in done.stdout


def test_json_has_the_batches_and_their_dependencies_under_column_names(night: Night) -> None:
    seen = night.json("graph", "--cycle-key", KEY)
    by_name = {one["ProcessBatchName"]: one for one in seen["Batches"]}

    assert seen["CycleKey"] == KEY
    assert (by_name["Stock"]["State"], by_name["Stock"]["BatchControl_id"], by_name["Stock"]["CycleKey"]) == (
        "failed",
        2,
        KEY,
    )
    assert by_name["Merge"]["State"] == "waits"
    (wait,) = by_name["Merge"]["WaitsFor"]
    assert (wait["Complete"], wait["Missing"], wait["CycleKey"]) == (["Sales"], ["Stock"], KEY)
    assert [(one["ProcessBatch_id"], one["DependsOnBatch_id"]) for one in seen["Dependencies"]] == [
        (3, 1),
        (3, 2),
        (4, 3),
        (5, 1),
        (5, 4),
    ]
    assert seen["Forecast"] is None
    assert json.loads(night("graph", "--format", "json").stdout)["Batches"][0]["ProcessBatch_id"] == 1


def test_of_one_batch_when_it_will_be_ready_and_what_is_in_its_way(night: Night) -> None:
    done, seen = night("graph", "Merge"), night.json("graph", "Merge")

    assert "Batch Merge and what it waits for" in done.stdout
    assert "It will not be done before somebody acts:\n  Stock: BatchControl 2 is failed" in done.stdout
    assert seen["Forecast"]["Way"] == []
    assert (seen["Forecast"]["ExpectedFinish"], seen["Forecast"]["CycleKey"]) == (None, KEY)
    assert seen["Forecast"]["Obstacles"] == ["Stock: BatchControl 2 is failed"]
    assert {one["ProcessBatchName"] for one in seen["Batches"]} == {"Sales", "Stock", "Merge"}

    begun_now = night.json("graph", "Sales", "--cycle-key", "another")["Forecast"]
    assert begun_now["ExpectedFinish"] > night.json("graph")["Now"][:10]


def test_a_file_gets_the_drawing_that_its_name_says(night: Night) -> None:
    for name in ("g.svg", "g.mmd", "g.json"):
        done = night("graph", "--output", name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", f"The drawing is in {name}.\n")
    ET.parse(night.folder / "g.svg")
    assert (night.folder / "g.mmd").read_text(encoding="utf-8").startswith("flowchart LR\n")
    assert len(json.loads((night.folder / "g.json").read_text(encoding="utf-8"))["Batches"]) == 6
    ET.fromstring(night("graph", "--format", "svg").stdout)

    assert night("graph", "--output", "g.txt").returncode == 2
    refused = night("graph", "--output", "no/such/folder.svg")
    assert refused.returncode == 1
    assert "cannot be written" in refused.stderr


def test_impact_names_what_is_held_back_by_which_way_and_what_waits(night: Night) -> None:
    done, found = night("impact", "Stock"), night.json("impact", "Stock")

    assert [one["ProcessBatch_id"] for one in found["HeldBack"]] == [3, 4]
    assert found["HeldBack"][0]["Way"] == ["Stock", "Merge"]
    assert found["HeldBack"][0]["WaitsFor"][0]["Missing"] == ["Stock"]
    assert found["NotHeldBack"] == ["Mail"]
    assert "holds back 2 other batches" in done.stdout
    assert "Stock > Merge" in done.stdout
    assert "Not held back, because other batches can start them: Mail." in done.stdout


@pytest.mark.parametrize("command", ["graph", "impact"])
def test_a_batch_that_there_is_none_of_is_named_with_what_may_be_meant(night: Night, command: str) -> None:
    done = night(command, "Merg")

    assert done.returncode == 3
    assert "There is no batch 'Merg'. Did you mean 'Merge'?" in done.stderr


def test_a_cycle_is_drawn_and_check_names_it_whole(tmp_path: Path, run_batchctl: RunBatchctl) -> None:
    night = Night(a_file(tmp_path), run_batchctl)
    for name in ("one", "two", "three"):
        night.batch(name, GOOD)
    for batch_id, other in ((1, 2), (2, 3), (3, 1)):
        night.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (?, ?)", batch_id, other)
    found, drawn = night("check", env={"COLUMNS": "200"}), night("graph")

    assert found.returncode == 6
    assert "one waits for two, two for three, three for one: no dependency ever starts any of them." in found.stdout
    assert drawn.stdout.count("in a cycle, so no dependency ever starts it") == 3
    assert "batchctl check" in drawn.stdout
    for name in ("one", "two", "three"):
        assert night("graph", name, "--format", "svg").returncode == 0


def test_who_has_no_dependencies_never_waits_for_networkx(sqlite_database: SqliteControl) -> None:
    asked = (
        "import sys; from batchctl.cli.main import run\n"
        "codes = [run([command]) for command in ('status', 'process', 'check')]\n"
        "sys.exit(codes != [0, 0, 0] or 'networkx' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", asked], cwd=sqlite_database.directory, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
