"""The report of a night tells what was late and what is not there, of the right hours, and looks at so many rows at most."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from batchctl.domain.alerting.alerts import AlertRules
from batchctl.domain.alerting.night_summary import NightSpan, last_night, span_since
from batchctl.domain.errors import InvalidInput
from batchctl.domain.liveness import Rhythm
from batchctl.domain.rows import InstanceId
from batchctl.domain.scheduling.wall_clock import clock_of
from batchctl.expected_work import ExpectedWork
from batchctl.operations.intervene import Operator
from batchctl.operations.presence import Presence
from batchctl.operations.reports import night_page, night_reading
from batchctl.operations.reports.night_lists import NightReport
from batchctl.operations.reports.night_reading import NightReader
from batchctl.operations.scheduling.timetable import Timetable
from tests.control.alarm import Alarm, rules
from tests.control.world import BAD, OK, World

AMSTERDAM = "Europe/Amsterdam"


def reader(world: World, zone: str = "UTC") -> NightReader:
    table = Timetable(transactions=world.transactions, clock=world.clock, zone=zone, grace=timedelta(minutes=5))
    return NightReader(table, Presence(Rhythm(), lambda row: False), AlertRules(learns_arrivals=False, zone=zone))


def rows(report: NightReport, name: str) -> list[Any]:
    (part,) = [each for each in report.parts if each.name == name]
    return [part.columns.of(row) for row in part.rows]


def test_a_time_of_day_is_the_last_that_has_passed_by_the_clocks_of_the_business() -> None:
    clock = clock_of(AMSTERDAM)
    now = datetime(2026, 11, 29, 5, 12, tzinfo=UTC)

    assert span_since("18:00", clock, now) == datetime(2026, 11, 28, 17, tzinfo=UTC)
    assert span_since("06:12", clock, now) == now
    assert span_since("06:13", clock, now) == now - timedelta(hours=23, minutes=59)
    assert span_since("2026-11-28 20:00", clock, now) == datetime(2026, 11, 28, 20, tzinfo=UTC)
    assert span_since("2026-11-28T20:00+01:00", clock, now) == datetime(2026, 11, 28, 19, tzinfo=UTC)


def test_a_night_in_which_the_clocks_are_changed_is_an_hour_longer() -> None:
    night = last_night(clock_of(AMSTERDAM), datetime(2026, 10, 25, 9, tzinfo=UTC), "06:30", "18:00")

    assert night == NightSpan(
        since=datetime(2026, 10, 24, 16, tzinfo=UTC), until=datetime(2026, 10, 25, 5, 30, tzinfo=UTC)
    )
    assert last_night(clock_of("UTC"), night.until, "18:00", "18:00").until - timedelta(days=1) == datetime(
        2026, 10, 23, 18, tzinfo=UTC
    )


def test_what_is_expected_and_not_there_stands_open_and_what_came_late_does_not(world: World) -> None:
    world.batch(z_inserted="2026-01-01 00:00:00", StartBy="02:00", FinishBy="02:30")
    world.batch("Files", z_inserted="2026-01-01 00:00:00", ArriveBy="02:15")
    alarm = Alarm(world, rules(learns_arrivals=False))
    alarm.announced()
    world.clock.advance(timedelta(minutes=30))

    found = reader(world).since("18:00")

    assert found.verdict == "Night of 20.11. (18:00 to 03:30): 0 instances complete, 3 late, 3 stand open"
    assert [(one["What"], one["Subject"], one["LateBy"], one["Stands"]) for one in rows(found, "Late")] == [
        ("start", "B", 5400, True),
        ("arrival", "Files", 4500, True),
        ("finish", "B", 3600, True),
    ]
    assert [one["ProcessBatchName"] for one in rows(found, "NotArrived")] == ["Files"]
    assert {one["Next"] for one in rows(found, "Open")} >= {"batchctl why batch:B"}

    world.submit()
    world.create()
    world.process()
    alarm.announced()
    later = reader(world).since("18:00")
    assert later.verdict.endswith("1 instance complete, 3 late, 1 stands open")
    assert [one["Stands"] for one in rows(later, "Late")] == [False, True, False]


def test_what_an_incident_says_has_not_arrived_stands_there_once(world: World) -> None:
    world.batch(z_inserted="2026-01-01 00:00:00", ArriveBy="02:30")
    Alarm(world, rules(learns_arrivals=False)).announced()
    world.sql(
        "INSERT INTO Incident (Kind, IncidentKey, Severity, Subject, Message, OpenedTime) VALUES"
        " ('not_arrived', 'not_arrived 7', 'error', 'Learned', 'as it usually has', '2026-11-21 02:45:00.000')"
    )

    found = reader(world).since("18:00")

    assert [one["ProcessBatchName"] for one in rows(found, "NotArrived")] == ["B", "Learned"]
    assert [(one["What"], one["Subject"]) for one in rows(found, "Open")] == [("late", "B"), ("late", "Learned")]
    assert [one["Subject"] for one in rows(found, "Late")] == ["B", "Learned"]


@pytest.mark.parametrize("works", [True, False])
def test_when_files_come_is_learned_only_where_no_leader_has(
    world: World, works: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[bool]()

    class Awaited(ExpectedWork):
        def __post_init__(self) -> None:
            super().__post_init__()
            asked.append(self.rules.learns_arrivals)

    monkeypatch.setattr(night_reading, "ExpectedWork", Awaited)
    world.batch()
    if works:
        world.sql(
            "INSERT INTO Controller (ControllerName, Host, Heartbeat) VALUES ('c1', 'h', '2026-11-21 03:00:00.000')"
        )
    learns = replace(reader(world), rules=AlertRules())

    assert ("No controller works now: batchctl run" in learns.since("18:00").notes) is not works
    assert asked == [not works]


def test_without_a_controller_the_same_deadlines_are_named(world: World) -> None:
    world.batch(z_inserted="2026-01-01 00:00:00", FinishBy="02:30")

    found = reader(world).since("18:00")

    assert [(one["What"], one["Stands"]) for one in rows(found, "Late")] == [("finish", True)]
    assert found.notes == ("No controller works now: batchctl run",)


def say(
    world: World,
    batch_id: int,
    ago: int,
    p50: int,
    p90: int | None = None,
    *,
    ready: int | None = None,
    key: str | None = None,
) -> None:
    """Keep a forecast so many minutes ago, with its levels in minutes from now, and in `ready` when it came."""
    now = world.clock.now()
    made, *others = (
        None if minutes is None else (now + timedelta(minutes=minutes)).strftime("%Y-%m-%d %H:%M:%S.000")
        for minutes in (-ago, p50, p90, ready)
    )
    world.sql(
        "INSERT INTO KeptForecast (ProcessBatch_id, CycleKey, MadeOn, KeptFor, P50, P90, ReadyOn, NeedsPerson, Nights)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, 0, 30)",
        *(batch_id, key, made, made, *others),
    )


def test_what_was_said_first_in_the_night_stands_against_what_came(world: World) -> None:
    for name in ("Early", "Late", "Never"):
        world.batch(name, steps=1)
    say(world, 1, 600, -60, -50, ready=-55)
    say(world, 2, 600, -60, -50, ready=-20)
    say(world, 2, 300, -20, -10, ready=-20)
    say(world, 3, 600, -60)
    say(world, 1, 3000, -2900, -2800, ready=-2000)
    world.submit("Never")
    now = world.clock.now()
    report = reader(world).of(NightSpan(since=now - timedelta(hours=11), until=now, is_open=True))
    found = rows(report, "Forecasts")

    assert [(one["ProcessBatchName"], one["Outcome"], one["LaterBy"]) for one in found] == [
        ("Late", "later than said", 2400),
        ("Never", "not ready", None),
        ("Early", "as said", 300),
    ]


def test_what_is_due_after_the_night_is_not_called_late(world: World) -> None:
    for name in ("Done", "Morning", "Tomorrow", "Never"):
        world.batch(name, steps=1)
    say(world, 1, 600, 800, 820, key="tomorrow")
    say(world, 1, 500, -60, -50, key="tonight", ready=-55)
    say(world, 2, 600, 30, 60, key="tonight")
    say(world, 3, 600, 700, 720, key="tomorrow")
    say(world, 4, 600, -10, 20, key="tonight")
    now = world.clock.now()
    report = reader(world).of(NightSpan(since=now - timedelta(hours=11), until=now, is_open=True))

    assert [(one["ProcessBatchName"], one["CycleKey"], one["Outcome"]) for one in rows(report, "Forecasts")] == [
        ("Never", "tonight", "not ready"),
        ("Done", "tonight", "as said"),
        ("Morning", "tonight", "not due yet"),
    ]
    said = night_page.page(report)
    assert '<span class="alarm">not ready</span>' in said
    assert '<td data-label="outcome">not due yet</td>' in said
    assert '<td data-label="CycleKey">tonight</td>' in said


def test_a_failure_is_mended_by_a_person_and_a_retry_by_itself(world: World, operator: Operator) -> None:
    world.batch(RetryCount=1, RetryWaitMins=1)
    world.submit()
    world.create()
    outcomes = iter([BAD, OK])
    world.runner.script = lambda rendered: next(outcomes)
    world.process()
    world.clock.advance(timedelta(minutes=2))
    world.runner.script = lambda rendered: OK
    world.process()
    found = reader(world).since("02:00")
    assert (rows(found, "Failed"), rows(found, "Ran")[0]["Retried"]) == ([], 1)
    assert "mended" not in found.verdict

    world.submit()
    world.create()
    world.runner.script = lambda rendered: BAD
    world.process()
    world.clock.advance(timedelta(minutes=2))
    world.process()
    stands = reader(world).since("02:00")
    assert [(one["Outcome"], one["Times"]) for one in rows(stands, "Failed")] == [("stands", 1)]
    operator.rerun(InstanceId(2), reason="again")
    world.runner.script = lambda rendered: OK
    world.process()

    mended = reader(world).since("02:00")
    assert mended.verdict.endswith("2 instances complete, 1 failed and mended, nothing stands open")
    assert [(one["Outcome"], one["Reason"]) for one in rows(mended, "Failed")] == [("mended", "again")]


def test_what_was_mended_in_sql_by_hand_is_mended_too(world: World) -> None:
    world.batch(steps=1)
    world.submit()
    world.create()
    world.runner.script = lambda rendered: BAD
    world.process()
    world.sql("UPDATE BatchControl SET Status = 'ready'")
    world.runner.script = lambda rendered: OK
    world.process()
    at = world.one("SELECT max(z_inserted) FROM AuditLog WHERE Target = 'BatchControl:1'")
    world.clock.advance(timedelta(days=400))

    found = reader(world).since("2026-11-21")

    assert [one["Outcome"] for one in rows(found, "Failed")] == ["mended"]
    assert at is not None
    assert [(one["Action"], one["ProcessBatchName"]) for one in rows(found, "Acts")] == [("row update", "B")]
    assert "1 failed and mended" in found.verdict


def test_what_is_paused_stands_open_however_much_is_ready_before_it(
    world: World, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(night_reading, "MOST", 2)
    world.batch()
    for _ in range(4):
        world.submit()
    world.create()
    operator.pause(InstanceId(4), reason="the disk is full")

    found = reader(world).since("02:00")

    assert found.verdict.endswith("0 instances complete, 1 stands open")
    assert [(one["What"], one["BatchControl_id"], one["Message"], one["Next"]) for one in rows(found, "Open")] == [
        ("paused", 4, "paused by anna: the disk is full", "batchctl resume 4 --reason ...")
    ]


def test_what_was_before_the_night_and_what_came_after_it_is_of_other_nights(world: World) -> None:
    world.batch()
    for _ in range(3):
        world.submit()
        world.create()
        world.process()
        world.clock.advance(timedelta(hours=1))
    now = world.clock.now()

    found = reader(world).of(NightSpan(since=now - timedelta(hours=2, minutes=30), until=now - timedelta(minutes=90)))

    assert [one["Complete"] for one in rows(found, "Ran")] == [1]


def test_more_attempts_than_are_looked_at_are_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.batch(steps=1)
    for _ in range(4):
        world.submit()
        world.create()
        world.process()
        world.clock.advance(timedelta(minutes=1))
    monkeypatch.setattr(night_reading, "ATTEMPTS", 2)

    found = reader(world).since("02:00")

    assert ": at least 2 instances complete" in found.verdict
    assert any("Only the newest 2 attempts" in note for note in found.notes)


def test_a_long_list_is_cut_with_the_command_that_shows_the_rest(world: World) -> None:
    world.batch(steps=1, OnFailure="continue")
    world.runner.script = lambda rendered: BAD
    for _ in range(25):
        world.submit()
    world.create()
    world.process()

    found = reader(world).since("02:00")

    assert "25 stand open" in found.verdict
    assert "and 5 more: batchctl status" in night_page.text(found)
    assert "and 5 more: batchctl status" in night_page.page(found)
    assert len(rows(found, "Open")) == 25


@pytest.mark.parametrize("written", ["", "25:00", "yesterday", "2026-13-01", "0001-01-01T00:00+23:59", "9999-01-01"])
def test_what_is_no_time_is_refused_with_what_to_type(world: World, written: str) -> None:
    with pytest.raises(InvalidInput, match="--since"):
        reader(world).since(written)
