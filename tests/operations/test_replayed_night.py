"""What a replayed night says of one instance: of one that runs, one that a schedule starts, and of all on the way to a batch."""

from __future__ import annotations

from datetime import datetime, timedelta

from batchctl.domain.liveness import Rhythm
from batchctl.domain.rows import BatchDefinition, InstanceId
from batchctl.operations.dependencies.replayed_night import (
    OnItsWay,
    ReadyTime,
    ReplayedNight,
    on_its_way,
    replayed_night,
)
from batchctl.operations.presence import Presence
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store.definitions import definitions
from tests.control.nights import DAY, Nights
from tests.control.world import RUNS_ON, World
from tests.operations.test_picture import attempt, shop
from tests.operations.test_timetable import schedule

PRESENCE = Presence(Rhythm(), lambda _row: False)


def table(world: World) -> Timetable:
    return Timetable(transactions=world.transactions, clock=world.clock, zone="UTC", grace=timedelta(minutes=5))


def batches(world: World) -> dict[str, BatchDefinition]:
    with world.transactions.read() as connection:
        return {one.name: one for one in definitions.all_batches(connection)}


def night(world: World) -> ReplayedNight:
    return replayed_night(table(world), PRESENCE)


def way(world: World, name: str, key: str | None = None) -> OnItsWay:
    found = on_its_way(table(world), PRESENCE, batches(world)[name], key)
    assert found is not None
    return found


def test_without_a_key_all_of_it_begins_now(world: World) -> None:
    shop(world)
    for took in (60, 60, 60):
        attempt(world, 1, took)
    attempt(world, 2, 90)
    attempt(world, 2, 3000, "success", "verify")
    attempt(world, 3, 30)
    found = way(world, "merge")

    assert [(leg.batch.name, round((leg.ends - leg.starts).total_seconds())) for leg in found.legs] == [
        ("stock", 90),
        ("merge", 30),
    ]
    assert found.forecast.median is not None
    assert found.forecast.median - world.clock.now() == timedelta(seconds=120, milliseconds=1)


def test_what_runs_is_gone_on_with_from_where_it_is(world: World) -> None:
    shop(world)
    attempt(world, 1, 600)
    world.runner.script = lambda rendered: RUNS_ON
    world.submit("sales", CycleKey="k")
    world.create()
    world.process()
    (running,) = world.sql("SELECT BatchControl_id FROM BatchControl WHERE Status = 'running'")
    world.clock.advance(timedelta(seconds=540))
    end = world.clock.now() + timedelta(seconds=60)

    assert night(world).of_instance(InstanceId(running[0])) == ReadyTime(median=end)
    assert way(world, "sales", "k").forecast.median == end
    assert night(world).of_instance(InstanceId(999)) == ReadyTime()


def test_what_a_schedule_starts_is_known_within_a_day(world: World) -> None:
    shop(world)
    attempt(world, 1, 600)
    world.sql("UPDATE BatchControl SET Status = 'complete'")
    schedule(world, "nightly", "daily", Entity="sales", RunTimes="06:00", TimeZone="UTC")
    day = world.clock.now().date() + timedelta(days=world.clock.now().hour >= 6)
    due = datetime.combine(day, datetime.min.time(), world.clock.now().tzinfo) + timedelta(hours=6)
    sales = [batches(world)["sales"]]

    assert night(world).of_due(sales, due).median == due + timedelta(seconds=600)
    assert night(world).of_due(sales, due + timedelta(days=3)) == ReadyTime()
    assert night(world).of_due([], due) == ReadyTime()


def test_what_has_come_today_comes_no_second_time_though_nothing_of_it_has_ended(world: World) -> None:
    def come() -> None:
        world.submit("sales")
        world.create()
        now = world.clock.now().strftime("%Y-%m-%d %H:%M:%S.000")
        world.sql(
            "UPDATE BatchControl SET z_inserted = ? WHERE BatchControl_id IN (SELECT MAX(BatchControl_id) FROM BatchControl)",
            now,
        )

    world.batch("sales", steps=1)
    for _ in range(5):
        come()
        world.process()
        world.clock.advance(timedelta(days=1))
    come()

    assert {tuple(each.comes for each in one.instances) for one in night(world).replays} == {
        (0, timedelta(days=1) // timedelta(milliseconds=1))
    }


def test_of_several_of_one_key_the_one_counts_that_is_ready_first(world: World) -> None:
    nights = Nights(world, {"Load": world.batch("Load", steps=1, OnFailure="continue")})
    for back in range(5, 0, -1):
        came = world.clock.now() - back * DAY
        nights.ran("Load", came, came, [10])
    for _ in range(2):
        world.submit("Load", CycleKey="k")
    world.create()
    first = world.one("SELECT min(BatchControl_id) FROM BatchControl WHERE Status = 'ready'")
    world.sql("UPDATE BatchControl SET Status = 'failed' WHERE BatchControl_id = ?", first)

    assert way(world, "Load", "k").forecast.median == world.clock.now() + timedelta(minutes=10)


def test_of_what_has_run_longer_than_ever_no_time_is_known_nor_of_what_waits_for_it(world: World) -> None:
    nights = Nights(world)
    nights.register()
    for back in range(5, 0, -1):
        nights.pass_one(world.clock.now() - back * DAY, [1, 1], 10)
    world.runner.script = lambda rendered: RUNS_ON
    world.submit("Orders", CycleKey="k")
    world.create()
    world.process()
    world.clock.advance(timedelta(hours=5))

    for name in ("Orders", "Report"):
        found = way(world, name, "k").forecast
        assert (found.median, found.nearly, found.failing) == (None, None, 0)
        assert (
            "Orders, step 10 step 10 has run longer than ever before: 5 h 00 min, longest 1 min 00 s" in found.not_known
        )
