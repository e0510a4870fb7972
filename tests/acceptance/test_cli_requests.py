"""A batch failed at night, and whoever is on call has an SQL client and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.installation import RunBatchctl
from tests.acceptance.night import Night, a_control
from tests.control_databases import KINDS

STEP = (
    "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)"
    " VALUES (1, 10, 'compare', 'os_command', 'test {Data3} = right')"
)
ASK = "INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES (?, ?, ?, ?)"


@pytest.fixture(params=KINDS)
def night(request: pytest.FixtureRequest, tmp_path: Path, run_batchctl: RunBatchctl) -> Night:
    database = a_control(request.param, request, tmp_path / "night")
    made = Night(database, run_batchctl)
    made.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Load')")
    made.sql(STEP)
    made.sql("INSERT INTO FileProcess (Entity, Data) VALUES ('Load', 'wrong')")
    assert made("run", "--once").returncode == 1
    return made


def test_what_failed_is_run_again_by_a_row_and_the_answers_are_listed(night: Night) -> None:
    night.sql(ASK, "Rerun", 1, '{"Data3": "right"}', "the sender was wrong")
    night.sql(ASK, "rerun", 7, None, "a slip")
    waiting = [one["Status"] for one in night.json("requests", "--open")]
    told = night("requests").stdout
    done = night("run", "--once")
    (slip, rerun) = night.json("requests")

    assert (waiting, done.returncode) == (["requested", "requested"], 0)
    assert "batchctl run --once" in told
    assert (rerun["Status"], rerun["Answer"]) == ("done", "BatchControl 1 of batch Load was failed and is ready.")
    assert (slip["Status"], slip["Answer"]) == ("refused", "There is no BatchControl 7. Next: batchctl status")
    assert night.sql("SELECT Status, Data3 FROM BatchControl") == [("complete", "right")]
    assert night.json("requests", "--open") == []
    assert "OperatorRequest has no such row." in night("requests", "--open").stdout
    assert "request.done OperatorRequest_id=1" in done.stderr
