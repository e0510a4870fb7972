"""Lists are narrowed by batch, status and time, and are printed as CSV beside JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import click
import pytest

from batchctl.cli import main, output
from batchctl.cli.output import LIST
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


def test_an_instance_without_attempts_is_said_to_have_none(shop: Shop) -> None:
    shop.batch("Load")
    shop.arrive("Load")
    shop("create")

    assert shop("history", "1") == 0
    assert shop.out == "BatchControl 1 has no attempts yet.\nNext: batchctl why 1\n"


def test_requests_name_the_row_that_they_are_about(shop: Shop) -> None:
    shop.batch("Load")
    for arguments in ('{"file": 9}', "{"):
        shop.sql("INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES ('retry', ?, 'x')", arguments)

    assert shop("requests") == 0
    assert shop.out.count("file:9") == 1


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


def test_a_list_in_a_column_is_json(night: Shop) -> None:
    (first, *_) = rows(night, "batches")

    assert json.loads(first["Steps"])[0]["ProcessName"] == "load"


OF = {
    ("calendar", "show"): ["NL"],
    ("job", "history"): ["import_order"],
    ("pool", "test"): ["burst"],
    ("schedule", "preview"): ["nightly"],
    ("versions",): ["Load"],
    ("wait",): ["1"],
}
"""What a list has to be asked about."""


def lists(group: click.Group = main.cli, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command that has `--csv`."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if any("--csv" in option.opts for option in command.params):
            yield (*before, name)
        if isinstance(command, click.Group):
            yield from lists(command, (*before, name))


@pytest.fixture
def full(night: Shop) -> Shop:
    """The same, with a row for nearly every list."""
    night.settings('[alerts.channels.night]\nkind = "log"\npath = "alerts.log"\n')
    night.batch("Sums")
    night.batch("Broken", RetryWaitMins=5)
    night.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (3, 2), (3, 1)")
    night.sql("INSERT INTO Calendar (CalendarName) VALUES ('NL')")
    night.sql("INSERT INTO CalendarDay (Calendar_id, CalendarDate) VALUES (1, '2026-12-25')")
    night.sql(
        "INSERT INTO Schedule (ScheduleName, Entity, ScheduleType, RunTimes, CalendarName)"
        " VALUES ('nightly', 'Report', 'daily', '06:00', 'NL')"
    )
    night.sql(
        "INSERT INTO DataTrigger (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, RowThreshold)"
        " VALUES ('t', 'Load', 'wh', 't', 's', '0', 5)"
    )
    night.sql("INSERT INTO FileWatch (WatchName, Entity, Folder) VALUES ('w', 'Load', 'in')")
    night.arrive("Nobody")
    night.arrive("Load", Status="paused")
    night.arrive("Report", CycleKey="2026-11-22")
    for act in (("freeze", "--batch", "Sums"), ("disable", "Broken")):
        assert night(*act, "--reason", "inventory") == 0, night.err
    night("run", "--once")
    night("run", "--once")
    return night


@pytest.fixture
def stated(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The headers that column lists have stated for what is printed for programs."""
    found: list[list[str]] = []
    as_it_is = output.print_rows

    def print_rows(rows: Any, header: list[str]) -> None:
        found.append(header)
        as_it_is(rows, header)

    monkeypatch.setattr(output, "print_rows", print_rows)
    return found


@pytest.mark.parametrize("words", list(lists()), ids=" ".join)
def test_an_empty_list_has_its_header_too(shop: Shop, words: tuple[str, ...], stated: list[list[str]]) -> None:
    given = OF.get(words, [])
    shop(*words, *given, "--csv")
    if given:
        # Of nothing there is no list.
        assert shop.out == ""
        return

    assert shop.out.splitlines()[0].split(",") == stated[0]
    # There is always a host, and a default pool.
    assert words in {("doctor",), ("pools",)} or len(shop.out.splitlines()) == 1


def test_every_list_has_the_columns_of_its_json(full: Shop, stated: list[list[str]]) -> None:
    """What the two print differs only in how it is written, and the header is that of the column list."""
    for words in lists():
        typed = (*words, *OF.get(words, []))
        code = full(*typed, "--json")
        told = json.loads(full.out) if full.out else []
        listed = rows_of(told) if isinstance(told, dict) else told

        assert full(*typed, "--csv") == code
        read = list(csv.DictReader(io.StringIO(full.out)))

        assert len(read) == len(listed), words
        assert full.out.splitlines()[:1] == ([",".join(stated[-1])] if full.out else []), words
        for line, one in zip(read, listed, strict=True):
            assert set(one) <= {*line, LIST}, words


def rows_of(told: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of every list of an overview."""
    return [
        {LIST: name, **one}
        for name, part in told.items()
        if isinstance(part, list)
        for one in part
        if isinstance(one, dict)
    ]


def test_what_the_clocks_do_to_schedules_has_columns_of_its_own(full: Shop) -> None:
    full.sql("UPDATE Schedule SET TimeZone = 'Europe/Amsterdam'")

    read = rows(full, "schedule", "preview", "nightly", "--dst")

    assert read
    assert list(read[0]) == list(full.json("schedule", "preview", "nightly", "--dst")[0])


def test_the_inbox_is_narrowed(full: Shop) -> None:
    def found(*more: str) -> list[str]:
        return [one["Entity"] for one in full.json("inbox", *more)["Rows"]]

    assert found() == ["Load", "Nobody"]
    assert found("--batch", "Load") == ["Load"]
    assert found("--batch", "Report") == found("--since", "2999-01-01") == []
    assert found("--status", "untaken") == found("--state", "UNTAKEN") == ["Nobody"]
    assert found("--since", "2000-01-01") == ["Load", "Nobody"]
    assert full("inbox", "--batch", "Load", "--entity", "Load") == 2


def test_waits_are_narrowed(full: Shop) -> None:
    def found(*more: str) -> list[str]:
        return [one["ProcessBatchName"] for one in full.json("waits", *more)]

    assert found() == found("--batch", "Sums") == found("--status", "waiting") == ["Sums"]
    assert found("--batch", "Load") == found("--status", "overdue") == found("--since", "2999-01-01") == []
    assert full("waits", "--batch", "Sum") == 3


def test_the_log_and_the_audit_trail_are_narrowed_by_what_was_done(full: Shop) -> None:
    def found(column: str, *words: str) -> set[str]:
        return {one[column] for one in full.json(*words)}

    full.sql("INSERT INTO SchedulerLog (EventType, Source, Message) VALUES ('skipped', 'schedule x', 'y')")
    assert (
        found("EventType", "log", "--status", "skipped")
        == found("EventType", "log", "--type", "skipped")
        == {"skipped"}
    )
    assert (
        found("Action", "audit", "--status", "disable")
        == found("Action", "audit", "--action", "disable")
        == {"disable"}
    )
    assert found("Target", "audit", "--batch", "Broken") == {"ProcessBatch:Broken", "ProcessControl:Broken:10"}
    assert full("audit", "batch:Load", "--batch", "Load") == 2


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


@pytest.mark.parametrize(("command", "columns"), [("status", {"Locked", "Alarm"}), ("freezes", {"Unreadable", "Next"})])
def test_what_few_rows_have_is_a_column_too(shop: Shop, command: str, columns: set[str]) -> None:
    shop(command, "--csv")

    assert columns <= {*shop.out.strip().split(",")}
