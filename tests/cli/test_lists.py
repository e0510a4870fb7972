"""Lists are narrowed by batch, status and time, and are printed as CSV beside JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from tests.cli.shop import Shop

HOSTILE = 'a,"b"\n=1+1 é'


@pytest.fixture
def night(shop: Shop) -> Shop:
    """One batch that has failed, one that is complete."""
    shop.batch("Load", "false")
    shop.batch("Report")
    for entity in ("Load", "Report"):
        shop.arrive(entity)
    shop("run", "--once")
    return shop


def rows(shop: Shop, *words: str) -> list[dict[str, Any]]:
    assert shop(*words, "--csv") == 0
    return list(csv.DictReader(io.StringIO(shop.out)))


def test_the_history_is_narrowed(night: Shop) -> None:
    def found(*more: str) -> list[str]:
        return [entry["Status"] for entry in night.json("history", *more)]

    assert found() == ["success", "failed"]
    assert found("--batch", "Load") == ["failed"]
    assert found("--status", "success") == ["success"]
    assert found("--batch", "Load", "--status", "success") == []
    assert found("--since", "2999-01-01") == []
    assert found("--since", "2000-01-01", "--limit", "1") == ["success"]


def test_incidents_are_narrowed(night: Shop) -> None:
    night("run", "--once")

    def found(*more: str) -> list[str]:
        return [one["Subject"] for one in night.json("incidents", *more)]

    assert found() == found("--batch", "Load") == found("--status", "open") == ["Load"]
    assert found("--batch", "Report") == found("--status", "acknowledged") == found("--since", "2999-01-01") == []


def test_requests_are_narrowed(night: Shop) -> None:
    night.sql("INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES ('disable', 'Load', 'x')")
    night.sql("INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES ('disable', 'None', 'x')")
    night("run", "--once")

    def found(*more: str) -> list[str]:
        return [one["ProcessBatchName"] for one in night.json("requests", *more)]

    assert found() == ["None", "Load"]
    assert found("--batch", "Load") == found("--status", "done") == ["Load"]
    assert found("--since", "2999-01-01") == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("history", "--batch", "Lod"), 3, "There is no batch 'Lod'. Did you mean 'Load'?"),
        (("incidents", "--batch", "Lod"), 3, "There is no batch 'Lod'. Did you mean 'Load'?"),
        (("history", "--status", "faild"), 2, "Did you mean 'failed'?"),
        (("history", "--since", "yesterday"), 2, "is not a time"),
        (("history", "1", "--batch", "Load"), 2, "are for the list, without an ID"),
    ],
)
def test_a_filter_that_means_nothing_is_told(night: Shop, words: tuple[str, ...], code: int, said: str) -> None:
    assert night(*words) == code
    assert said in night.err


def test_csv_has_the_columns_of_json_and_every_value_in_its_place(night: Shop) -> None:
    night.sql("UPDATE BatchProcessHistory SET Output = ? WHERE Status = 'failed'", HOSTILE)
    told, read = night.json("history"), rows(night, "history")

    assert [list(one) for one in read] == [list(one) for one in told]
    for one, other in zip(read, told, strict=True):
        assert {name: value for name, value in one.items() if name in {"Status", "Output", "CommandText"}} == {
            name: other[name] or "" for name in ("Status", "CommandText", "Output")
        }
    assert read[1]["Output"] == HOSTILE


def test_a_list_in_a_column_is_json_and_an_empty_list_prints_nothing(night: Shop) -> None:
    (first, *_) = rows(night, "batches")

    assert json.loads(first["Steps"])[0]["ProcessName"] == "load"
    assert (night("freezes", "--csv"), night.out) == (0, "")
    assert (night("check", "--csv"), night.out) == (0, "")


@pytest.mark.parametrize(
    "words",
    [("batches",), ("incidents",), ("controllers",), ("log",), ("audit",), ("waits",), ("requests",), ("doctor",),
     ("fsck",), ("report", "durations"), ("schedule", "list"), ("schedule", "jobs"), ("trigger", "list"),
     ("watch", "list"), ("calendar", "list"), ("backfill", "list"), ("versions", "Load"), ("job", "list"), ("alert", "list")],
)  # fmt: skip
def test_every_list_has_it(night: Shop, words: tuple[str, ...]) -> None:
    code = night(*words, "--json")
    listed = json.loads(night.out)

    assert night(*words, "--csv") == code
    assert len(list(csv.DictReader(io.StringIO(night.out)))) == len(listed)


def test_what_starts_work_is_narrowed_by_the_batch_that_it_starts_and_by_whether_it_is_enabled(shop: Shop) -> None:
    for name, enabled in (("A", 1), ("B", 0)):
        shop.batch(name, Entity=f"of {name}", Enabled=enabled)
        shop.sql(
            "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, Enabled) VALUES (?, ?, 'daily', '06:00', ?)",
            f"s{name}", f"of {name}", enabled,
        )  # fmt: skip
        shop.sql(
            "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue,"
            " RowThreshold, Enabled) VALUES (?, ?, 'wh', 't', 's', '0', 5, ?)",
            f"t{name}", f"of {name}", enabled,
        )  # fmt: skip
        shop.sql(
            "INSERT INTO FileWatch (WatchName, Entity, Folder, Enabled) VALUES (?, ?, 'in', ?)",
            f"w{name}", f"of {name}", enabled,
        )  # fmt: skip

    def found(column: str, *words: str) -> list[str]:
        return [one[column] for one in shop.json(*words)]

    lists = (("schedule", "ScheduleName", "s"), ("trigger", "TriggerName", "t"), ("watch", "WatchName", "w"))
    for kind, column, prefix in lists:
        assert found(column, kind, "list") == [f"{prefix}A", f"{prefix}B"]
        assert found(column, kind, "list", "--batch", "B") == [f"{prefix}B"]
        assert found(column, kind, "list", "--status", "enabled") == [f"{prefix}A"]
        assert found(column, kind, "list", "--batch", "A", "--status", "disabled") == []
        assert shop(kind, "list", "--batch", "C") == 3
    assert found("ProcessBatchName", "batches", "--status", "disabled") == ["B"]
