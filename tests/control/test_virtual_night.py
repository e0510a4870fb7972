"""A night in virtual time is the night that the controller then makes: the same starts and ends, to the millisecond."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from batchctl.control.controller import Controller
from batchctl.control.creation import Creator
from batchctl.domain.dependencies.night_walk import replay
from batchctl.domain.dependencies.virtual_night import Tries, VirtualInstance, VirtualNight
from batchctl.domain.liveness import Rhythm
from batchctl.domain.outcomes import Rendered
from batchctl.domain.rows import BatchId, HistoryId
from batchctl.domain.status import CalendarRule
from batchctl.operations.dependencies.tonight import AHEAD, TICK, read_tonight
from batchctl.operations.presence import Presence
from batchctl.operations.scheduling.timetable import Timetable as Timing
from batchctl.store import pool_rows
from batchctl.store.definitions import definitions
from tests.control.nights import written
from tests.control.timetable import Timetable
from tests.control.world import BAD, NO_WAIT, OK, ZONE, World

FIRST, NIGHTS = 20, 200
"""How many installations are tried: by the quick tests, and in all."""
KEY = "2026-11-21"
POOLS = ("default", "ssis", "ftp")


@dataclass
class Installation:
    """Batches as a random number wants them, and how long their steps take."""

    world: World
    chance: random.Random
    lengths: dict[tuple[int, int], Tries] = field(default_factory=dict)
    arrivals: list[tuple[int, int, str]] = field(default_factory=list)
    """When a row comes, for which batch, with which CycleKey."""
    slots: int = 1

    def make(self) -> None:
        """Register everything by rows."""
        chance, made = self.chance, list[int]()
        self.slots = chance.randint(1, 4)
        self._limits()
        for number in range(chance.randint(2, 6)):
            batch_id = self.world.batch(
                f"B{number}",
                steps=0,
                Seq=100 * chance.randint(1, 2),
                Priority=chance.choice([None, None, 5]),
                MaxConcurrent=chance.randint(1, 3),
                RetryCount=chance.randint(0, 2),
                RetryWaitSecs=chance.choice([30, 60, 90]),
                OnFailure=chance.choice(["hold_batch", "continue", "stop_all"]),
                DependencyMode=chance.choice(["all", "all", "any"]),
                MaxPerMinute=chance.choice([None, None, None, 1, 2]),
                Pool=chance.choice([None, None, "ssis"]),
            )
            self._steps(batch_id)
            self._needs(batch_id, made)
            made.append(batch_id)
        self._arrive(made)

    def _limits(self) -> None:
        sql, chance = self.world.sql, self.chance
        sql("INSERT INTO Resource (ResourceName, Units) VALUES ('server', ?)", chance.randint(1, 3))
        for pool in POOLS[1:]:
            if chance.random() < 0.5:
                sql("INSERT INTO Pool (PoolName, MaxConcurrent) VALUES (?, ?)", pool, chance.randint(1, 2))

    def _steps(self, batch_id: int) -> None:
        for seq in range(10, 10 * self.chance.randint(1, 3) + 1, 10):
            columns: dict[str, object] = {"Pool": self.chance.choice([None, None, None, "ftp"])}
            if self.chance.random() < 0.2:
                columns["OnStepFailure"] = "continue"
            self.world.step(batch_id, seq, **columns)
            failures = self.chance.choice([0, 0, 0, 0, 1, 2])
            each = tuple(self.chance.randrange(1, 20) * 7_000 for _ in range(failures + 1))
            self.lengths[batch_id, seq] = Tries(each, succeeds=self.chance.random() < 0.95)

    def _needs(self, batch_id: int, others: list[int]) -> None:
        sql, chance = self.world.sql, self.chance
        if chance.random() < 0.4:
            sql(
                "INSERT INTO BatchResource (ProcessBatch_id, Resource_id, Units, Exclusive) VALUES (?, 1, 1, ?)",
                batch_id,
                int(chance.random() < 0.2),
            )
        for other in chance.sample(others, k=min(len(others), chance.choice([0, 0, 1, 2]))):
            sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (?, ?)", batch_id, other)

    def _arrive(self, made: list[int]) -> None:
        """Let rows come for what depends on nothing, one after the other."""
        waiting = {batch_id for (batch_id,) in self.world.sql("SELECT ProcessBatch_id FROM BatchDependency")}
        free = [batch_id for batch_id in made if batch_id not in waiting]
        seconds = sorted(self.chance.sample(range(1, 600), k=self.chance.randint(1, 6)))
        for at in seconds:
            batch_id = self.chance.choice(free)
            self.arrivals.append((at * 1000, batch_id, f"{KEY}-{len(self.arrivals) % 2}"))

    def duty(self) -> Callable[[], None]:
        """Return what else a controller does: nothing here."""
        return lambda: None

    def other_times(self) -> Iterable[datetime]:
        """Return when something else may happen."""
        return ()

    def foreseen(self) -> VirtualNight:
        """Return the night before it begins."""
        with self.world.transactions.read() as connection:
            batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
            pools = pool_rows.known(connection)
        return VirtualNight(
            batches=batches,
            instances=[
                VirtualInstance(batch_id=BatchId(batch_id), cycle_key=key, comes=at)
                for at, batch_id, key in self.arrivals
            ],
            slots=self.slots,
            pools=pools,
        )

    def take(self, batch_id: BatchId, seq: int, elapsed: int, tried: int) -> Tries:
        """Say how long a step takes."""
        del elapsed, tried
        return self.lengths[batch_id, seq]


@dataclass
class TimedInstallation(Installation):
    """The same with batches that schedules start, by calendars, and with freezes that end."""

    frozen_until: list[datetime] = field(default_factory=list)

    def _arrive(self, made: list[int]) -> None:
        super()._arrive(made)
        # What comes at a full minute could come in any order with what is due then.
        self.arrivals = [(at + 1000 * (at % 60_000 == 0), batch_id, key) for at, batch_id, key in self.arrivals]
        sql, chance = self.world.sql, self.chance
        for number, days in enumerate(("Mon-Fri", "Sat,Sun", "Fri-Sun")):
            sql("INSERT INTO Calendar (CalendarName, BusinessDays) VALUES (?, ?)", f"C{number}", days)
            for day in chance.sample(range(19, 25), k=chance.randint(0, 3)):
                sql(
                    "INSERT INTO CalendarDay (Calendar_id, CalendarDate, IsBusinessDay) VALUES (?, ?, ?)",
                    *(number + 1, f"2026-11-{day}", int(chance.random() < 0.5)),
                )
        waiting = {batch_id for (batch_id,) in sql("SELECT ProcessBatch_id FROM BatchDependency")}
        scheduled = [batch_id for batch_id in made if batch_id not in waiting]
        for number in range(chance.randint(1, 3)):
            self._schedule(number, chance.choice(scheduled))
        for batch_id in made:
            if chance.random() < 0.3:
                self._freeze(batch_id)

    def _schedule(self, number: int, batch_id: int) -> None:
        chance, kind = self.chance, self.chance.choice(["daily", "daily", "weekly", "interval", "cron"])
        columns: dict[str, object] = {"ScheduleName": f"s{number}", "ScheduleType": kind, "Entity": f"B{batch_id - 1}"}
        if chance.random() < 0.8:
            columns["CalendarName"] = f"C{chance.randrange(3)}"
            columns["CalendarRule"] = chance.choice([str(rule) for rule in CalendarRule])
        times = sorted(chance.sample(range(1, 15), k=chance.randint(1, 3)))
        if kind in {"daily", "weekly"}:
            columns["RunTimes"] = ",".join(f"03:{minute:02}" for minute in times)
        if kind == "weekly":
            columns["RunDays"] = chance.choice(["Fri", "Sat", "Sun", "Fri,Sat", "Mon-Sun"])
        if kind == "interval":
            columns |= {
                "IntervalMinutes": chance.randint(2, 5),
                "BetweenTimes": f"03:{times[0]:02}-03:{times[-1] + 5:02}",
            }
        if kind == "cron":
            columns["Cron"] = f"*/{chance.randint(2, 5)} 3 * * *"
        columns["DecidedUntil"] = written(self.world.clock.now())
        marks = ", ".join("?" * len(columns))
        self.world.sql(f"INSERT INTO Schedule ({', '.join(columns)}) VALUES ({marks})", *columns.values())

    def _freeze(self, batch_id: int) -> None:
        until = self.world.clock.now() + timedelta(seconds=self.chance.randint(1, 900))
        self.frozen_until.append(until)
        self.world.sql(
            "INSERT INTO BatchFreeze (ProcessBatchName, Reason, UntilTime) VALUES (?, 'the server is moved', ?)",
            *(f"B{batch_id - 1}", written(until)),
        )

    def duty(self) -> Callable[[], None]:
        """Return what fires schedules."""
        return Timetable(self.world).turns

    def other_times(self) -> Iterable[datetime]:
        """Return when something is due, and when freezes end."""
        due = self.world.sql("SELECT NextRunTime FROM Schedule WHERE NextRunTime IS NOT NULL")
        return [*(RealNight.moment(each) for (each,) in due), *self.frozen_until]

    def foreseen(self) -> VirtualNight:
        """Return the night before it begins, as `forecast` reads it."""
        world, night = self.world, super().foreseen()
        table = Timing(transactions=world.transactions, clock=world.clock, zone="UTC", grace=timedelta(minutes=5))
        tonight = read_tonight(table, Presence(Rhythm(), lambda row: False), None)
        return replace(night, instances=[*night.instances, *tonight.due], opens=tonight.night.opens)


class RealNight:
    """The controller lives through the night, on a clock that is set to the next thing that happens."""

    def __init__(self, made: Installation) -> None:
        self.made, self.world = made, made.world
        self.begun = self.world.clock.now()
        self.coming = [*made.arrivals]
        self.ends: list[tuple[int, HistoryId, bool]] = []
        self.tried: dict[tuple[int, int], int] = {}
        self.controller, self.duty = self._controller(), made.duty()
        # By another way to the database, as another program creates: then the controller is notified.
        self.creator = Creator(
            self.world.open(), self.world.clock, self.world.populators, ZONE, self.world.events.append
        )

    def _controller(self) -> Controller:
        self.world.runner.script = self._started
        return self.world.controller(slots=self.made.slots, pools=POOLS)

    def _started(self, rendered: Rendered) -> None:
        words = rendered.command_text.split()
        seq, instance = int(words[1]), int(words[3])
        batch_id = self.world.one("SELECT ProcessBatch_id FROM BatchControl WHERE BatchControl_id = ?", instance)
        tries, tried = self.made.lengths[batch_id, seq], self.tried.get((instance, seq), 0)
        self.tried[instance, seq] = tried + 1
        key = self.world.runner.started[-1]
        length = tries.lengths[min(tried, len(tries.lengths) - 1)]
        self.ends.append((self.now + length, key, tries.succeeds and tried + 1 >= len(tries.lengths)))

    @property
    def now(self) -> int:
        return (self.world.clock.now() - self.begun) // timedelta(milliseconds=1)

    def run(self, until: float = math.inf) -> None:
        coming = self.coming
        self.duty()
        while (at := self._next(coming)) is not None and at <= until:
            self.world.clock.advance(timedelta(milliseconds=at - self.now))
            for each in [one for one in self.ends if one[0] == at]:
                self.ends.remove(each)
                self.world.runner.end(each[1], OK if each[2] else BAD)
            self._turn()
            while coming and coming[0][0] == at:
                _, batch_id, key = coming.pop(0)
                self.world.submit(self._entity(batch_id), CycleKey=key)
            if at <= AHEAD // TICK:
                # What is due later is not foreseen.
                self.duty()
                self.controller.look_again()
            self.creator.create_instances()
            self._turn()

    def _turn(self) -> None:
        """Turn as often as anything begins or ends."""
        self.world.hear()
        before: object = None
        while before != (before := (len(self.world.runner.started), len(self.world.events))):
            self.controller.turn(NO_WAIT)
            self.world.turn_until_idle(self.controller)

    def _entity(self, batch_id: int) -> str:
        return str(self.world.one("SELECT ProcessBatchName FROM ProcessBatch WHERE ProcessBatch_id = ?", batch_id))

    def _next(self, coming: list[tuple[int, int, str]]) -> int | None:
        found = [one[0] for one in self.ends] + [one[0] for one in coming[:1]]
        due = self.world.sql("SELECT NextRunTime FROM BatchControl WHERE Status IN ('ready', 'retry')")
        now = self.world.clock.now()
        later = [at for (moment,) in due if (at := self.moment(moment)) > now]
        found += [(at - self.begun) // timedelta(milliseconds=1) for at in later]
        begun = self.world.sql("SELECT BegunTime FROM BatchControl WHERE BegunTime IS NOT NULL")
        paced = [self.moment(moment) + timedelta(seconds=60) for (moment,) in begun]
        found += [(at - self.begun) // timedelta(milliseconds=1) for at in paced if at > now]
        ends = self.begun + AHEAD
        found += [(at - self.begun) // timedelta(milliseconds=1) for at in self.made.other_times() if now < at <= ends]
        return min(found, default=None)

    @staticmethod
    def moment(value: object) -> datetime:
        read = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read

    def seen(self) -> Mapping[int, list[tuple[int, int | None]]]:
        """Return by batch when its instances started, and when each completed."""
        rows = self.world.sql(
            "SELECT i.ProcessBatch_id, i.BatchControl_id, min(h.StartTime), max(h.EndTime), i.Status FROM BatchControl i"
            " JOIN BatchProcessHistory h ON h.BatchControl_id = i.BatchControl_id"
            " GROUP BY i.ProcessBatch_id, i.BatchControl_id, i.Status ORDER BY i.BatchControl_id"
        )
        found: dict[int, list[tuple[int, int | None]]] = {}
        for batch_id, _, start, end, status in rows:
            at = self._at(end) if status == "complete" else None
            found.setdefault(batch_id, []).append((self._at(start), at))
        return found

    def _at(self, value: object) -> int:
        return (self.moment(value) - self.begun) // timedelta(milliseconds=1)


class HalfNight(RealNight):
    """A night that is foreseen once a part of it is over, when a person pauses some of what is open."""

    half = 0
    """When that is."""
    then_open: tuple[int, ...] = ()

    def pass_half(self) -> VirtualNight:
        """Let a part pass, pause what chance wants, and return the rest as `forecast` reads it."""
        chance, sql = self.made.chance, self.world.sql
        self.half = chance.choice([100_000, 200_000, 300_000])
        self.run(self.half)
        self.world.clock.advance(timedelta(milliseconds=self.half - self.now))
        for (instance,) in sql("SELECT BatchControl_id FROM BatchControl WHERE Status IN ('ready', 'retry')"):
            if chance.random() < 0.3:
                sql("UPDATE BatchControl SET Status = 'paused' WHERE BatchControl_id = ?", instance)
        not_over = "SELECT BatchControl_id FROM BatchControl WHERE Status <> 'complete' ORDER BY BatchControl_id"
        self.then_open = tuple(instance for (instance,) in sql(not_over))
        table = Timing(
            transactions=self.world.transactions, clock=self.world.clock, zone="UTC", grace=timedelta(minutes=5)
        )
        rest = read_tonight(table, Presence(Rhythm(), lambda row: False), None).night
        whole = self.made.foreseen()
        later = [replace(one, comes=one.comes - self.half) for one in whole.instances if one.comes > self.half]
        return replace(whole, instances=[*rest.instances, *later], waiting=rest.waiting)

    def pass_rest(self) -> None:
        """Let the rest pass."""
        self.controller.look_again()
        self._turn()
        self.run()

    def seen_since(self) -> Mapping[int, list[tuple[int | None, int | None]]]:
        """Return by batch when those started that came later, and when each that was open then, or came, completed."""
        rows = self.world.sql(
            "SELECT i.ProcessBatch_id, i.BatchControl_id, min(h.StartTime), max(h.EndTime), i.Status FROM BatchControl i"
            " LEFT JOIN BatchProcessHistory h ON h.BatchControl_id = i.BatchControl_id"
            " GROUP BY i.ProcessBatch_id, i.BatchControl_id, i.Status ORDER BY i.BatchControl_id"
        )
        found: dict[int, list[tuple[int | None, int | None]]] = {}
        for batch_id, instance, start, end, status in rows:
            at = self._at(end) - self.half if status == "complete" else None
            if instance in self.then_open:
                found.setdefault(batch_id, []).append((None, at))
            elif start is not None and (started := self._at(start)) > self.half:
                found.setdefault(batch_id, []).append((started - self.half, at))
        return found


@pytest.mark.parametrize("seed", range(FIRST))
def test_the_night_comes_as_it_was_foreseen(world: World, seed: int) -> None:
    _compare(world, seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(FIRST, NIGHTS))
def test_more_nights_come_as_they_were_foreseen(world: World, seed: int) -> None:
    _compare(world, seed)


@pytest.mark.parametrize("seed", range(FIRST))
def test_what_is_due_and_frozen_comes_as_it_was_foreseen(world: World, seed: int) -> None:
    _compare(world, seed, TimedInstallation)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(FIRST, NIGHTS))
def test_more_of_what_is_due_and_frozen_comes_as_it_was_foreseen(world: World, seed: int) -> None:
    _compare(world, seed, TimedInstallation)


@pytest.mark.parametrize("seed", range(FIRST))
def test_what_is_foreseen_in_the_middle_of_a_night_comes(world: World, seed: int) -> None:
    _compare_half(world, seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(FIRST, NIGHTS))
def test_more_of_what_is_foreseen_in_the_middle_of_a_night_comes(world: World, seed: int) -> None:
    _compare_half(world, seed)


def _compare_half(world: World, seed: int) -> None:
    made = Installation(world, random.Random(seed))
    made.make()
    # Whose turn it is, and what was begun within the last minute, nothing says that is read.
    world.sql("UPDATE ProcessBatch SET MaxPerMinute = NULL, Seq = ProcessBatch_id")
    real = HalfNight(made)
    night = real.pass_half()
    foreseen = replay(night, made.take)
    real.pass_rest()

    expected: dict[int, list[tuple[int | None, int | None]]] = {}
    for number, one in enumerate(foreseen.instances):
        start, end, was_open = foreseen.starts[number], foreseen.ends[number], number < len(real.then_open)
        if was_open or start is not None:
            expected.setdefault(one.batch_id, []).append((None if was_open else start, end))
    assert {key: sorted(each, key=str) for key, each in real.seen_since().items()} == {
        key: sorted(each, key=str) for key, each in expected.items()
    }, seed


def _compare(world: World, seed: int, kind: type[Installation] = Installation) -> None:
    made = kind(world, random.Random(seed))
    made.make()
    foreseen = replay(made.foreseen(), made.take)
    real = RealNight(made)
    real.run()

    expected: dict[int, list[tuple[int, int | None]]] = {}
    for number, one in enumerate(foreseen.instances):
        start = foreseen.starts[number]
        if start is not None:
            expected.setdefault(one.batch_id, []).append((start, foreseen.ends[number]))
    assert {key: sorted(each, key=str) for key, each in real.seen().items()} == {
        key: sorted(each, key=str) for key, each in expected.items()
    }, seed
