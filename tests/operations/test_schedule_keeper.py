"""Schedules are made and changed: looked through wholly first, all at once, audited, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.status import ScheduleType
from batchctl.operations.operators.acts import Actor
from batchctl.operations.scheduling.schedule_keeper import ScheduleKeeper, WrittenSchedule
from batchctl.store.transactions import StoreTransactions
from tests.control.world import World

Audited = Callable[[], list[tuple[Any, ...]]]
DAILY = {"Entity": "B", "ScheduleType": "daily", "RunTimes": "06:00,18:00"}
ROW = "SELECT ScheduleType, IntervalMinutes, RunTimes, RunDays, RunDaysOfMonth, WeekOfMonth, EveryN, RunAt, Cron FROM Schedule"
STANDING = "SELECT Enabled, NextRunTime, DecidedUntil, TimingHash FROM Schedule"
SHAPES: dict[str, dict[str, Any]] = {
    "interval": {"IntervalMinutes": 15},
    "daily": {"RunTimes": "06:00", "EveryN": 2},
    "weekly": {"RunTimes": "06:00", "RunDays": "Mon", "EveryN": 2},
    "monthly": {"RunTimes": "06:00", "RunDaysOfMonth": "last", "EveryN": 2},
    "monthly_dow": {"RunTimes": "06:00", "RunDays": "Mon", "WeekOfMonth": "first", "EveryN": 2},
    "once": {"RunAt": "2026-12-01 02:00"},
    "cron": {"Cron": "30 2 * * *"},
}


@pytest.fixture
def keeper(world: World, anywhere: StoreTransactions) -> ScheduleKeeper:
    world.batch()
    return keeper_of(world, anywhere, dry_run=False)


def keeper_of(world: World, transactions: StoreTransactions, *, dry_run: bool) -> ScheduleKeeper:
    actor = Actor(transactions=transactions, clock=world.clock, user="anna", host="host1", dry_run=dry_run)
    return ScheduleKeeper(actor, "Europe/Amsterdam")


def columns_of(done: WrittenSchedule) -> list[str]:
    return [finding.column for finding in done.findings]


def test_a_schedule_is_made_and_says_when_it_runs(world: World, keeper: ScheduleKeeper, audited: Audited) -> None:
    done = keeper.add("nightly", {**DAILY, "Jitter": 0, "TimeZone": "UTC"}, reason="the sender is ready by then")

    assert done.words == "daily at 06:00 and 18:00, UTC"
    assert done.next is not None
    assert done.next.local == "2026-11-21 06:00 +00:00"
    row = "SELECT ScheduleName, Entity, ScheduleType, RunTimes, TimeZone, Enabled, Jitter FROM Schedule"
    assert world.sql(row) == [("nightly", "B", "daily", "06:00,18:00", "UTC", 1, 0)]
    ((*act, after),) = audited()
    assert act == ["schedule add", "Schedule:nightly", "anna", "host1", "the sender is ready by then", {}]
    assert (after["RunTimes"], "RunDays" in after) == ("06:00,18:00", False)


def test_all_that_is_wrong_is_said_at_once_and_nothing_is_written(world: World, keeper: ScheduleKeeper) -> None:
    before = world.hand.dump()

    done = keeper.add(
        " nightly",
        {
            "Entity": "Bee",
            "ScheduleType": "weekly",
            "RunTimes": "25:00",
            "Cron": "* * * * *",
            "TimeZone": "Europe/Amsterdm",
            "CalendarName": "NL",
            "CatchUp": "up_to",
            "BetweenTimes": "",
            "Description": "\x00",
            "StartDate": "2026-02-30",
        },
    )

    assert sorted(set(columns_of(done))) == [
        "BetweenTimes",
        "CalendarName",
        "CatchUpMost",
        "Cron",
        "Description",
        "Entity",
        "RunDays",
        "RunTimes",
        "ScheduleName",
        "StartDate",
        "TimeZone",
    ]
    assert world.hand.dump() == before


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("CatchUpMost", 3),
        ("Jitter", 90000),
        ("EveryN", 5000),
        ("RunTimes", ",".join(["06:00"] * 40)),
        ("StartDate", "2026-01-01 00:00"),
    ],
)
def test_what_the_database_would_refuse_is_found_before_it_is_asked(
    world: World, keeper: ScheduleKeeper, column: str, value: str | int
) -> None:
    assert column in columns_of(keeper.add("nightly", {**DAILY, column: value}))
    assert world.sql("SELECT ScheduleName FROM Schedule") == []


def test_who_writes_options_is_told_of_options(world: World, keeper: ScheduleKeeper) -> None:
    made = keeper.add(
        "n", {"Entity": "B", "ScheduleType": "daily", "RunTimes": "06:00", "IntervalMinutes": 5}, reason="r"
    )

    assert [one.message for one in made.findings] == [
        "A schedule of type daily has none; leave --interval-minutes out, or choose another --type."
    ]


def test_a_name_is_taken_once(keeper: ScheduleKeeper) -> None:
    keeper.add("nightly", DAILY)
    with pytest.raises(Refused) as refused:
        keeper.add("nightly", DAILY)
    assert refused.value.next_step == "batchctl schedule set nightly ..."
    with pytest.raises(NotFound, match="no schedule 'nigtly'"):
        keeper.change("nigtly", {"RunTimes": "07:00"})


@pytest.mark.parametrize("before", SHAPES)
@pytest.mark.parametrize("after", SHAPES)
def test_another_type_leaves_nothing_of_the_old_one_behind(
    world: World, keeper: ScheduleKeeper, before: str, after: str
) -> None:
    assert keeper.add("shape", {"Entity": "B", "ScheduleType": before, **SHAPES[before]}).findings == ()

    done = keeper.change("shape", {"ScheduleType": after, **SHAPES[after]}, reason="other needs")

    assert done.findings == ()
    names = ("IntervalMinutes", "RunTimes", "RunDays", "RunDaysOfMonth", "WeekOfMonth", "EveryN", "RunAt", "Cron")
    wanted = {"EveryN": 1, **SHAPES[after]}
    assert world.sql(ROW) == [(after, *(wanted.get(name) for name in names))]
    gone = set(SHAPES[before]) - set(SHAPES[after])
    assert set(done.cleared) == (gone if before != after else set())


def test_what_narrows_any_type_stays_with_another(world: World, keeper: ScheduleKeeper) -> None:
    keeper.add("often", {"Entity": "B", "ScheduleType": "interval", "IntervalMinutes": 5, "RunDays": "Mon-Fri"})
    keeper.change("often", {"ScheduleType": "daily", "RunTimes": "06:00", "RunMonths": "Jan"}, reason="x")

    assert world.sql("SELECT ScheduleType, RunDays, RunMonths FROM Schedule") == [("daily", "Mon-Fri", "Jan")]


def test_a_change_is_audited_with_before_and_after_and_the_same_again_is_not(
    world: World, keeper: ScheduleKeeper, audited: Audited
) -> None:
    keeper.add("nightly", {**DAILY, "Description": "loads", "EveryN": 2})
    keeper.change("nightly", {"RunTimes": "07:00", "Description": None, "EveryN": None}, reason="later")
    again = keeper.change("nightly", {"RunTimes": "07:00"}, reason="later")

    assert again.after == {}
    assert [row[0] for row in audited()] == ["schedule add", "schedule set"]
    assert audited()[1][4:] == (
        "later",
        {"RunTimes": "06:00,18:00", "EveryN": 2, "Description": "loads"},
        {"RunTimes": "07:00", "EveryN": 1, "Description": None},
    )


def test_a_change_that_does_not_fit_changes_nothing(world: World, keeper: ScheduleKeeper) -> None:
    keeper.add("nightly", DAILY)
    before = world.hand.dump()

    done = keeper.change("nightly", {"ScheduleType": "monthly", "CatchUp": "up_to"}, reason="x")

    assert columns_of(done) == ["RunDaysOfMonth", "CatchUpMost"]
    assert world.hand.dump() == before


def test_when_it_runs_next_leaves_out_what_is_decided(world: World, keeper: ScheduleKeeper) -> None:
    keeper.add("nightly", DAILY)
    decided = "INSERT INTO ScheduleFire (Schedule_id, FireKey, Outcome, DueTime) VALUES (1, ?, 'skipped', ?)"
    world.sql(decided, "2026-11-21T07:00", "2026-11-20 18:00:00.000")
    done = keeper.change("nightly", {"RunTimes": "07:00"})

    assert done.next is not None
    assert done.next.local == "2026-11-22 07:00 +01:00"


def test_a_dry_run_says_the_same_and_writes_nothing(
    world: World, keeper: ScheduleKeeper, anywhere: StoreTransactions
) -> None:
    dry = keeper_of(world, anywhere, dry_run=True)
    before = world.hand.dump()
    assert dry.add("nightly", DAILY).words == "daily at 06:00 and 18:00, Europe/Amsterdam"
    assert world.hand.dump() == before
    keeper.add("nightly", DAILY)
    before = world.hand.dump()

    assert dry.change("nightly", {"RunTimes": "07:00"}).after == {"RunTimes": "07:00"}
    dry.set_enabled("nightly", enabled=False)

    assert world.hand.dump() == before


def test_who_is_disabled_and_enabled_begins_anew(world: World, keeper: ScheduleKeeper, audited: Audited) -> None:
    keeper.add("nightly", DAILY)
    world.sql("UPDATE Schedule SET NextRunTime = '2026-11-21 05:00:00', TimingHash = 'x'")

    assert keeper.set_enabled("nightly", enabled=False, reason="holiday").next is None
    assert world.sql(STANDING) == [(0, None, None, None)]
    world.clock.advance(timedelta(days=3))
    world.sql("UPDATE Schedule SET DecidedUntil = '2026-11-21 00:00:00'")
    done = keeper.set_enabled("nightly", enabled=True, reason="back")

    assert done.next is not None
    assert done.next.local == "2026-11-24 06:00 +01:00"
    ((*standing, hashed),) = world.sql(STANDING)
    assert standing == [1, "2026-11-24 05:00:00.000", "2026-11-24 03:00:00.000"]
    assert hashed not in {None, "x"}
    keeper.set_enabled("nightly", enabled=True, reason="again")
    assert [(*row[:2], *row[4:]) for row in audited()][1:] == [
        ("disable", "Schedule:nightly", "holiday", {"Enabled": 1}, {"Enabled": 0}),
        ("enable", "Schedule:nightly", "back", {"Enabled": 0}, {"Enabled": 1}),
    ]


def test_what_could_start_nothing_is_not_enabled(world: World, keeper: ScheduleKeeper) -> None:
    world.hand.loosen()
    keeper.add("nightly", {**DAILY, "Enabled": 0})
    world.sql("UPDATE Schedule SET RunTimes = '6'")
    assert columns_of(keeper.set_enabled("nightly", enabled=True)) == ["RunTimes"]
    world.sql("UPDATE Schedule SET RunTimes = '06:00'")
    world.sql("UPDATE ProcessBatch SET ProcessingMode = 'manual'")
    (finding,) = keeper.set_enabled("nightly", enabled=True).findings

    assert finding.remedy == "batchctl mode B scheduled --reason ..."
    assert world.sql("SELECT Enabled FROM Schedule") == [(0,)]


def test_what_is_disabled_still_is_not_to_be_disabled(keeper: ScheduleKeeper) -> None:
    keeper.add("x1", {"Entity": "B", "ScheduleType": "once", "RunAt": "2026-01-01 00:00", "Enabled": 0})
    (finding,) = keeper.set_enabled("x1", enabled=True).findings

    assert finding.remedy == "batchctl schedule set x1 --run-at ... --reason ...   (then enable it)"


def test_a_command_that_uses_a_file_name_is_warned_of(world: World, keeper: ScheduleKeeper) -> None:
    world.sql(
        "UPDATE ProcessControl SET ProcessType = 'os_command', Data1 = 'wc {FileName}' WHERE ProcessControlSeq = 20"
    )

    done = keeper.add("nightly", DAILY)

    assert done.findings == ()
    said = "Step 20 of B uses {FileName}; a schedule brings none, so it fails."
    assert [warning.message for warning in done.warnings] == [said]
    assert world.sql("SELECT Enabled FROM Schedule") == [(1,)]


def test_who_makes_one_that_is_over_is_not_told_to_change_it(keeper: ScheduleKeeper) -> None:
    (once,) = keeper.add("x1", {"Entity": "B", "ScheduleType": "once", "RunAt": "2026-01-01 00:00"}).findings
    (ended,) = keeper.add("x1", {**DAILY, "EndDate": "2026-01-01"}).findings

    assert once.remedy == "batchctl schedule add x1 --entity B --type once --run-at ...   (a time to come)"
    assert ended.remedy == "batchctl schedule add x1 ...   (with a time to come)"


def test_what_is_kept_by_code_is_changed_there(world: World, keeper: ScheduleKeeper) -> None:
    keeper.add("nightly", {**DAILY, "Origin": "job nightly of shop"})

    with pytest.raises(Refused, match="is kept up to date by job nightly of shop, which would write RunTimes anew"):
        keeper.change("nightly", {"RunTimes": "07:00", "Jitter": 5})
    assert keeper.change("nightly", {"Jitter": 5}).after == {"Jitter": 5}


def test_every_type_is_tried() -> None:
    assert list(SHAPES) == [kind.value for kind in ScheduleType]
