"""Reports from outside: what is due, what is late, how long steps take."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import HOSTILE, Night, a_control
from tests.control_databases import KINDS

STEP = (
    "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, ExpectedDuration)"
    " VALUES (1, 10, ?, 'os_command', 'true', 60)"
)
PURGED = (
    "INSERT INTO DurationHistory (ProcessBatch_id, ProcessControlSeq, Day, UpToMs, Runs, TotalMs, MinMs, MaxMs)"
    " VALUES (1, 10, ?, ?, 20, ?, ?, ?)"
)
WIDE = {"COLUMNS": "250", "PYTHONIOENCODING": "utf-8"}


@pytest.fixture(params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl) -> Night:
    database = a_control(request.param, request, tmp_path / "night")
    made = Night(database, run_batchctl)
    made.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Load')")
    made.sql(STEP, HOSTILE)
    today = date.fromisoformat(made.sql("SELECT CAST(CURRENT_DATE AS varchar(10))")[0][0])
    for ago, milliseconds in ((3, 10_000), (2, 90_000)):
        day = (today - timedelta(days=ago)).isoformat()
        made.sql(PURGED, day, milliseconds, 20 * milliseconds, milliseconds, milliseconds)
    return made


def test_how_long_steps_take(night: Night) -> None:
    (found,) = night.json("report", "durations")
    shown = night("report", "durations", env=WIDE).stdout
    plain = night("report", "durations", env={**WIDE, "PYTHONIOENCODING": "ascii"}).stdout
    late = night.json("report", "late", "--batch", "Load")

    assert (found["Runs"], found["Median"], found["P95"], found["Drift"]) == (40, 10, 90, "slower")
    assert (found["OverExpected"], found["DayMedians"]) == (20, [10, 90])
    assert "▁█" in shown
    assert "_#" in plain
    assert "slower: 10.0 s -> 1 min 30 s" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert [one["ProcessControlSeq"] for one in late["Steps"]] == [10]
    assert night("report", "durations", "--batch", "Lod").returncode == 3


def test_what_waits_for_others_has_what_was_said_of_it(night: Night) -> None:
    for name in ("Other", "Both"):
        night.batch(name, "true")
    night.sql(
        "INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id)"
        " SELECT b.ProcessBatch_id, u.ProcessBatch_id FROM ProcessBatch b, ProcessBatch u"
        " WHERE b.ProcessBatchName = 'Both' AND u.ProcessBatchName <> 'Both'"
    )
    for key in ("2026-11-28", "2026-11-29"):
        night.arrive("Load", CycleKey=key)
    assert night("run", "--until-idle=0.2").returncode == 0
    night.sql("DELETE FROM KeptForecast")
    night.sql(
        "INSERT INTO KeptForecast (ProcessBatch_id, CycleKey, MadeOn, P50, P90, NeedsPerson, Nights)"
        " SELECT ProcessBatch_id, '2026-11-28', '2026-11-28 02:00:00', '2026-11-28 04:10:00', '2026-11-28 05:10:00', 0, 30"
        " FROM ProcessBatch WHERE ProcessBatchName = 'Both'"
    )

    waits = night.json("report", "due")["Waits"]
    shown = night("report", "due", env=WIDE).stdout

    assert sorted((one["CycleKey"], one["ExpectedEnd"], one["P90"]) for one in waits) == [
        ("2026-11-28", "2026-11-28T04:10:00.000Z", "2026-11-28T05:10:00.000Z"),
        ("2026-11-29", None, None),
    ]
    assert "2026-11-28 04:10:00" in shown
    assert "Next: batchctl forecast Both" in shown


def test_what_is_due_and_what_stands(night: Night) -> None:
    assert (
        night("schedule", "add", "nightly", "--entity", "Load", "--type", "daily", "--run-times", "06:00").returncode
        == 0
    )
    night.sql("INSERT INTO FileProcess (Entity) VALUES ('Load')")
    night("create")
    night.sql("UPDATE BatchControl SET Status = 'failed'")

    due, late = night.json("report", "due"), night.json("report", "late")

    assert [(one["ScheduleName"], one["Batches"]) for one in due["Schedules"]] == [("nightly", ["Load"])]
    assert due["Schedules"][0]["ExpectedEnd"] is None, "what has failed comes first"
    assert [(one["BatchControl_id"], one["Status"]) for one in late["Standing"]] == [(1, "failed")]
    assert "nightly" in night("report", "due", env=WIDE).stdout
    assert "failed" in night("report", "late", env=WIDE).stdout
    night.sql("UPDATE BatchControl SET Status = 'cancelled'")
    (due_again,) = night.json("report", "due")["Schedules"]
    assert due_again["ExpectedEnd"] >= due_again["NextUtcTime"]
