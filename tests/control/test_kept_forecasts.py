"""The leader makes forecasts a little in each turn, keeps them, and tells people what will probably be late."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from batchctl.control.maintenance.purge import Purge
from batchctl.domain.dependencies.past_nights import REPLAYS
from batchctl.domain.errors import Conflict, Refused
from batchctl.domain.rows import BatchDefinition
from batchctl.operations.dependencies import foretelling
from batchctl.operations.dependencies.forecasting import BatchForecast, forecast_of
from batchctl.operations.dependencies.tonight import Tonight
from batchctl.store.dependencies import kept_forecasts
from tests.control.alarm import Alarm
from tests.control.nights import DAY, MINUTE, Nights, written
from tests.control.world import World
from tests.control_databases import ControlDatabase

THREE = datetime(2026, 11, 21, 3, tzinfo=UTC)
TEN, TWENTY = 10.0, 20.0
OF_REPORT = "FROM vForecast WHERE ProcessBatchName = 'Report'"


@pytest.fixture
def world(control_database: ControlDatabase) -> Iterator[World]:
    """Return a world at three in the morning."""
    made = World(control_database)
    yield made
    made.close()


@pytest.fixture
def nights(world: World) -> Nights:
    """Twenty nights have passed: orders come at four, and the report is ready forty minutes later."""
    made = Nights(world)
    made.register(FinishBy="05:00")
    for back in range(20, 0, -1):
        made.pass_one(THREE + timedelta(hours=1) - back * DAY, [TEN, TWENTY], TEN)
    return made


def shown(world: World, columns: str) -> list[tuple[str, ...]]:
    """Return some columns of the newest forecast of Report."""
    return [tuple(map(str, row)) for row in world.sql(f"SELECT {columns} {OF_REPORT}")]


def test_a_forecast_is_made_a_little_in_each_turn_and_written_at_the_end(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns, woken = 0, list[int]()
    world, keeping = nights.world, nights.keeping(wake=lambda: woken.append(turns))
    monkeypatch.setattr(foretelling, "STEPS", 3)
    while not shown(world, "P50"):
        keeping.look()
        turns += 1
        assert turns <= 4 * REPLAYS

    assert turns > 2 * REPLAYS, "not even one replay is made in one turn"
    keeping.look()
    assert woken == [*range(turns - 1)], "a turn comes at once while there is more to do, and after that none"
    ((ready, nearly, chance, due, nights_known),) = shown(world, "P50, P90, Chance, DueInMinutes IS NULL, Nights")
    assert ready.startswith("2026-11-21 04:40:00")
    assert nearly.startswith("2026-11-21 04:40:00")
    assert (chance, nights_known) == ("100", "20")
    assert due in {"0", "False"}
    assert shown(world, "CycleKey, FinishBy")[0][0] == "2026-11-21"
    assert "Orders (step 20 takes longest): 100%" in shown(world, "Decides")[0][0]


def test_what_is_ready_for_today_has_to_be_ready_next_by_tomorrow(nights: Nights) -> None:
    nights.pass_one(THREE, [TEN, TWENTY], TEN)
    nights.world.clock.advance(70 * MINUTE)
    nights.keeping().finish()

    ((finish_by,),) = shown(nights.world, "FinishBy")
    assert finish_by.startswith("2026-11-22 05:00:00")


def test_it_waits_for_the_next_turn_while_rows_are_locked(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    woken = list[None]()
    keeping = nights.keeping(wake=lambda: woken.append(None), make=lambda: iter([()]))

    def refuse(*_: object, **__: object) -> None:
        raise Conflict("Somebody is at it.")

    monkeypatch.setattr(kept_forecasts, "replace_newest", refuse)
    for _ in range(5):
        keeping.look()
    assert woken == []


def test_of_more_open_instances_than_the_leader_has_time_for_it_looks_at_the_oldest(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = nights.world
    for name in ("Orders", "Report"):
        world.submit(name, CycleKey=f"of {name}")
        world.create()
    monkeypatch.setattr(foretelling, "MOST_KEPT", 1)
    nights.keeping().finish()
    assert shown(world, "CycleKey") == [("of Orders",)]


def test_an_hour_that_another_leader_has_kept_stays_as_it_is(nights: Nights) -> None:
    world, keeping = nights.world, nights.keeping()
    world.clock.advance(-10 * MINUTE)
    keeping.finish()
    world.clock.advance(10 * MINUTE)
    kept_by_another = "2026-11-21 03:00:00.000"
    world.sql(
        "INSERT INTO KeptForecast (ProcessBatch_id, MadeOn, KeptFor, NeedsPerson, Nights) VALUES (2, ?, ?, 0, 9)",
        *[kept_by_another] * 2,
    )
    keeping.finish()

    of_hour = "SELECT ProcessBatch_id, Nights FROM KeptForecast WHERE KeptFor IS NOT NULL ORDER BY 1"
    assert world.sql(of_hour) == [(1, 20), (2, 9)]
    assert str(world.one(f"SELECT MadeOn {OF_REPORT}")).startswith("2026-11-21 03:00:00")


def test_what_is_wrong_with_an_hour_leaves_the_newest_alone(nights: Nights, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise Refused("Somebody has changed the table.")

    monkeypatch.setattr(kept_forecasts, "keep", refuse)
    with pytest.raises(Refused):
        nights.keeping().finish()
    assert shown(nights.world, "Nights") == [("20",)]


def test_a_step_that_never_ran_takes_no_forecast_from_its_batch_nor_from_those_behind_it(nights: Nights) -> None:
    nights.world.sql("UPDATE ProcessControl SET ProcessControlSeq = 30 WHERE ProcessControlSeq = 20")
    nights.world.batch("New", steps=1)
    nights.world.submit("New")
    nights.world.create()
    nights.keeping().finish()

    newest = "SELECT ProcessBatchName, Nights, P50 IS NULL, P90 IS NULL FROM vForecast ORDER BY 1"
    assert [(name, many, bool(p50), bool(p90)) for name, many, p50, p90 in nights.world.sql(newest)] == [
        ("Orders", 20, False, False),
        ("Report", 20, False, False),
    ], "of New nothing is known"


def test_of_a_replay_only_what_is_said_of_it_is_kept_however_many_are_open(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, kept = nights.world, set[int]()
    for number in range(20):
        world.submit("Orders", CycleKey=f"K{number}")
    world.create()

    def note(tonight: Tonight, batch: BatchDefinition, key: str | None, replays: Any, by: Any) -> BatchForecast:
        kept.update(len(one.instances) for one in replays)
        return forecast_of(tonight, batch, key, replays, by)

    monkeypatch.setattr(foretelling, "forecast_of", note)
    nights.keeping().finish()
    assert kept == {2}, "the first of Orders, and the report after it"
    assert shown(world, "CycleKey, Decides")[0][0] == "K0"
    assert "Orders (step 20 takes longest): 100%" in shown(world, "Decides")[0][0]


def test_what_ends_after_all_time_has_no_time(nights: Nights) -> None:
    world = nights.world
    world.submit("Orders", CycleKey="2026-11-21")
    world.create()
    world.sql("UPDATE BatchControl SET NextRunTime = '9999-12-31 23:59:00' WHERE Status = 'ready'")
    nights.keeping().finish()

    assert shown(world, "P50, P90, Chance, NeedsPerson") == [("None", "None", "0", "0")]


def test_what_is_wrong_with_one_batch_keeps_no_forecast_from_others(
    nights: Nights, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = nights.world

    def refuse(tonight: Tonight, batch: BatchDefinition, *given: Any) -> BatchForecast:
        if batch.name == "Orders":
            raise OverflowError("date value out of range")
        return forecast_of(tonight, batch, *given)

    monkeypatch.setattr(foretelling, "forecast_of", refuse)
    with pytest.raises(OverflowError):
        nights.keeping().finish()
    assert world.sql("SELECT ProcessBatchName FROM vForecast") == [("Report",)]


def test_the_newest_is_replaced_after_the_interval_and_that_of_a_fixed_hour_stays(nights: Nights) -> None:
    world, keeping = nights.world, nights.keeping()
    keeping.finish()
    keeping.finish()
    made = "SELECT count(*), count(KeptFor) FROM KeptForecast WHERE ProcessBatch_id = ?"
    assert world.sql(made, nights.ids["Report"]) == [(2, 1)], "three is a fixed hour"
    world.clock.advance(9 * MINUTE)
    keeping.finish()
    assert str(world.one(f"SELECT MadeOn {OF_REPORT}")).startswith("2026-11-21 03:00:00")
    world.clock.advance(MINUTE)
    keeping.finish()
    assert str(world.one(f"SELECT MadeOn {OF_REPORT}")).startswith("2026-11-21 03:10:00")
    assert world.sql(made, nights.ids["Report"]) == [(2, 1)]
    # Another leader goes by what stands in the table.
    nights.keeping().finish()
    assert world.sql(made, nights.ids["Report"]) == [(2, 1)]

    ready = nights.pass_one(THREE + timedelta(hours=1), [TEN, TWENTY], TEN)
    world.clock.advance(timedelta(hours=3))
    keeping.finish()
    came = world.one("SELECT ReadyOn FROM KeptForecast WHERE KeptFor IS NOT NULL AND ProcessBatch_id = 2")
    assert str(came).startswith(f"{ready:%Y-%m-%d %H:%M:%S}")
    assert str(world.one(f"SELECT FinishBy {OF_REPORT}")).startswith("2026-11-22 05:00:00"), "today's is met"


@pytest.mark.parametrize("interval", [10 * MINUTE, timedelta()])
def test_where_there_is_no_past_or_it_is_off_nothing_is_kept(world: World, interval: timedelta) -> None:
    made = Nights(world)
    made.register(FinishBy="05:00")
    world.submit("Orders")
    if not interval:
        made.pass_one(THREE - DAY, [TEN, TWENTY], TEN)
        made.keeping().finish()
        assert world.one("SELECT count(*) FROM vForecast") == 2
    made.keeping(interval=interval).finish()

    assert world.one("SELECT count(*) FROM vForecast") == 0


def test_a_batch_that_will_probably_be_late_is_told_of_while_there_is_time(nights: Nights) -> None:
    world, keeping, alarm = nights.world, nights.keeping(), Alarm(nights.world)
    world.sql("UPDATE ProcessBatch SET FinishBy = '04:35' WHERE ProcessBatchName = 'Report'")
    keeping.finish()
    (title,) = alarm.announced()
    assert (
        "Batch Report for 2026-11-21 will probably not be ready by 04:35 UTC on Sat 2026-11-21: the chance is 0 %"
        in title
    )
    row = world.sql("SELECT Kind, Severity, Message, NextStep FROM Incident")
    ((kind, severity, message, next_step),) = row
    assert (kind, severity, next_step) == ("at_risk", "error", "batchctl forecast Report --by 04:35")
    assert "in every second night it is ready by 04:40 on Sat 2026-11-21" in message
    assert 'what would help: --what-if "Orders.20 *0.5" (100%), --what-if "Report.10 *0.5" (100%)' in message
    world.clock.advance(10 * MINUTE)
    keeping.finish()
    alarm.announced()
    assert world.one("SELECT count(*) FROM Incident") == 1, "once for each deadline"

    world.sql("UPDATE ProcessBatch SET FinishBy = '04:45' WHERE ProcessBatchName = 'Report'")
    world.clock.advance(10 * MINUTE)
    keeping.finish()
    assert len(alarm.announced()) == 1, "people are told that it is over"
    assert world.one("SELECT Status FROM Incident") == "resolved"


@pytest.mark.parametrize("ends", ["is ready", "is late"])
def test_that_ends_when_it_is_ready_or_late(nights: Nights, ends: str) -> None:
    world, keeping, alarm = nights.world, nights.keeping(), Alarm(nights.world)
    world.sql("UPDATE ProcessBatch SET FinishBy = '04:35' WHERE ProcessBatchName = 'Report'")
    keeping.finish()
    alarm.announced()
    if ends == "is ready":
        world.clock.advance(timedelta(minutes=80))
        nights.pass_one(THREE + timedelta(minutes=60), [5, 5], 5)
    else:
        world.clock.advance(timedelta(minutes=95))
    (title,) = alarm.announced()
    assert ("has not finished" in title) is (ends == "is late"), "what has come to pass is not told to be over"

    standing = world.sql("SELECT Kind FROM Incident WHERE ResolvedTime IS NULL")
    assert standing == ([] if ends == "is ready" else [("not_finished",)])


def test_what_has_failed_on_the_way_is_named_with_what_running_it_again_would_bring(nights: Nights) -> None:
    world, alarm = nights.world, Alarm(nights.world)
    world.submit("Orders", CycleKey="2026-11-21")
    world.create()
    number = world.one("SELECT max(BatchControl_id) FROM BatchControl")
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = ?", number)
    nights.keeping().finish()
    alarm.announced()

    message = str(world.one("SELECT Message FROM Incident WHERE Kind = 'at_risk'"))
    assert "the chance is 0 %; in 100 % of the nights it needs a person" in message
    assert f"what decides: BatchControl {number} is failed" in message
    assert f"what would help: batchctl rerun {number} --reason ... (100%)" in message


def test_what_is_paused_is_resumed_and_what_waits_for_an_answer_is_answered(nights: Nights) -> None:
    world, helps = nights.world, "SELECT Helps FROM vForecast WHERE ProcessBatchName = 'Report'"
    # Enough for what comes after the question, and not for the step that asks once more.
    world.sql("UPDATE ProcessBatch SET FinishBy = '03:35' WHERE ProcessBatchName = 'Report'")
    world.submit("Orders", CycleKey="2026-11-21")
    world.create()
    number = world.one("SELECT max(BatchControl_id) FROM BatchControl")
    world.sql("UPDATE BatchControl SET Status = 'paused' WHERE BatchControl_id = ?", number)
    world.sql(
        "INSERT INTO Confirmation (BatchControl_id, ProcessControlSeq, Question) VALUES (?, 10, 'Go on?')", number
    )
    nights.keeping().finish()
    assert world.one(helps) == f"batchctl confirm {number} (100%)"

    world.sql("DELETE FROM Confirmation")
    world.sql("UPDATE ProcessBatch SET FinishBy = '04:00' WHERE ProcessBatchName = 'Report'")
    world.clock.advance(10 * MINUTE)
    nights.keeping().finish()
    assert world.one(helps) == f"batchctl resume {number} --reason ... (100%)"


def test_what_stands_beside_it_keeps_nothing_from_coming(nights: Nights) -> None:
    world, alarm = nights.world, Alarm(nights.world)
    world.submit("Orders", CycleKey="an old one")
    world.create()
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE Status = 'ready'")
    # Orders comes on no day of its own, so that Report is not expected to come either.
    world.sql("INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('Else')")
    world.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (1, 3), (2, 3)")
    nights.keeping().finish()
    alarm.announced()

    assert world.sql("SELECT Kind FROM Incident WHERE Kind = 'at_risk'") == []


def test_what_is_tried_again_by_itself_needs_no_person(nights: Nights) -> None:
    world = nights.world
    world.sql("UPDATE ProcessBatch SET RetryCount = 2")
    world.submit("Orders", CycleKey="2026-11-21")
    world.create()
    world.sql(
        "UPDATE BatchControl SET Status = 'retry', RetryCount = 1, NextRunTime = '2026-11-21 03:30:00' WHERE Status = 'ready'"
    )
    nights.keeping().finish()

    assert shown(world, "NeedsPerson, Chance") == [("0", "100")]
    assert shown(world, "P50")[0][0].startswith("2026-11-21 04:10:00")


def test_kept_forecasts_go_after_a_hundred_days_and_not_before_sixty(nights: Nights) -> None:
    world = nights.world
    for hour, days in enumerate((101, 99, 61, 59)):
        world.sql(
            "INSERT INTO KeptForecast (ProcessBatch_id, MadeOn, KeptFor, NeedsPerson, Nights) VALUES (1, ?, ?, 0, 9)",
            *[f"{THREE - days * DAY:%Y-%m-%d} 0{hour}:00:00.000"] * 2,
        )

    def left() -> int:
        made = Purge(transactions=world.transactions, clock=world.clock, actor="anna", host="etl 7")
        for _ in made.pages():
            pass
        return int(world.one("SELECT count(*) FROM KeptForecast"))

    assert left() == 3
    world.sql("INSERT INTO Setting (Name, Value) VALUES ('CompleteDays', '7'), ('KeepLast', '1000')")
    assert left() == 1


def kept(world: World, days: int, hour: int, p90: int, took: int) -> None:
    """Let a forecast have been kept that many days ago, with p90 and what came in minutes after it was made."""
    made = THREE.replace(hour=hour) - days * DAY
    moments = (made, made, made + 20 * MINUTE, made + p90 * MINUTE, made + took * MINUTE)
    world.sql(
        "INSERT INTO KeptForecast (ProcessBatch_id, MadeOn, KeptFor, P50, P90, ReadyOn, NeedsPerson, Nights)"
        " VALUES (2, ?, ?, ?, ?, ?, 0, 30)",
        *map(written, moments),
    )


def test_forecasts_that_miss_too_often_are_told_of(world: World) -> None:
    made, alarm = Nights(world), Alarm(world)
    made.register()
    for number in range(39):
        kept(world, 1 + number // 2, 3 * (number % 2), 30, 10 if number < 20 else 40)
    assert alarm.announced() == [], "they are too few to judge"
    kept(world, 21, 0, 30, 40)
    world.clock.advance(10 * MINUTE)
    alarm.announced()
    said = "Forecasts of batch Report are not to be relied on: of the last 40 of which it is known what came"
    row = world.sql("SELECT Kind, Severity, Message, NextStep FROM Incident")
    assert row == [
        (
            "forecast_misses",
            "warning",
            f"{said}, p90 was kept by 20 (50%), where nine of ten should",
            "batchctl forecast Report --check",
        )
    ]
    # What is older than the last forty does not count.
    for number in range(20):
        kept(world, -number, 6, 60, 40)
    world.clock.advance(10 * MINUTE)
    alarm.announced()
    assert world.sql("SELECT Status FROM Incident") == [("resolved",)]
