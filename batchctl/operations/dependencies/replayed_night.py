"""A night that was replayed, and what it says of one instance: of one that is open, that a schedule starts, or of a CycleKey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from batchctl.domain.dependencies import graph, odds
from batchctl.domain.dependencies.virtual_night import Replayed, VirtualInstance
from batchctl.domain.dependencies.what_ifs import Suppositions
from batchctl.domain.rows import BatchDefinition, BatchId, InstanceId
from batchctl.operations.dependencies.forecasting import BatchForecast, forecast_of, key_of, number_of
from batchctl.operations.dependencies.tonight import TICK, Tonight, read_tonight
from batchctl.operations.presence import Presence
from batchctl.operations.scheduling.timetable import Timetable

BEGUN_NOW = "(begun now)"
"""The CycleKey of what is supposed to begin now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyTime:
    """The levels of when something will be done; None where too little is known, or too many nights need a person."""

    median: datetime | None = None
    nearly: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One batch on the way to another, in the night in the middle."""

    batch: BatchDefinition
    starts: datetime
    ends: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OnItsWay:
    """When a batch will be ready, and the way there in the night in the middle, as far as it is not past."""

    forecast: BatchForecast
    legs: tuple[Leg, ...]


@dataclass(frozen=True, slots=True)
class ReplayedNight:
    """A night, and its replays."""

    tonight: Tonight
    replays: Sequence[Replayed]

    def of_instance(self, instance_id: InstanceId) -> ReadyTime:
        """Return when an open instance will be complete."""
        number = self.tonight.numbers.get(instance_id)
        if number is None:
            return ReadyTime()
        return self._ready([[number]] * len(self.replays))

    def of_due(self, batches: Sequence[BatchDefinition], due: datetime) -> ReadyTime:
        """Return when all will be complete that a schedule starts at a time, of those that come within this night."""
        comes = max((due - self.tonight.now) // TICK, 1)
        wanted = {batch.batch_id for batch in batches}
        numbers = [
            [at for at, each in enumerate(one.instances) if each.comes == comes and each.batch_id in wanted]
            for one in self.replays
        ]
        return self._ready(numbers) if wanted and all(numbers) else ReadyTime()

    def on_its_way(self, batch: BatchDefinition, cycle_key: str) -> OnItsWay | None:
        """Return when a batch will be ready for a CycleKey; None where nothing starts it."""
        key, is_there = key_of(self.replays, batch.batch_id, cycle_key)
        if not is_there:
            return None
        found = forecast_of(self.tonight, batch, key, self.replays, self.tonight.finish_by.get(batch.batch_id))
        return OnItsWay(forecast=found, legs=tuple(self._legs(batch.batch_id, key, found.median)))

    def _ready(self, numbers: Sequence[Sequence[int]]) -> ReadyTime:
        ends: list[int | None] = []
        for one, those in zip(self.replays, numbers, strict=True):
            last = [end for at in those if (end := one.ends[at]) is not None]
            ends.append(max(last) if len(last) == len(those) else None)
        on_way = {
            one.instances[step].batch_id
            for one, those in zip(self.replays, numbers, strict=True)
            for at in those
            for step in one.way_to(at)
        }
        nights = self.tonight.nights(on_way)
        return ReadyTime(
            median=self.tonight.moment(odds.at_rank(ends, odds.MEDIAN, nights)),
            nearly=self.tonight.moment(odds.at_rank(ends, odds.NEARLY, nights)) if nights >= odds.ENOUGH else None,
        )

    def _legs(self, batch_id: BatchId, key: str | None, median: datetime | None) -> Sequence[Leg]:
        moment = self.tonight.moment
        for one in self.replays:
            number = number_of(one, batch_id, key)
            if number is None or median is None or moment(one.ends[number]) != median:
                continue
            legs = [
                Leg(
                    batch=self.tonight.batches[one.instances[at].batch_id],
                    starts=starts,
                    ends=ends,
                )
                for at in one.way_to(number)
                if (starts := moment(one.starts[at])) is not None and (ends := moment(one.ends[at])) is not None
            ]
            return legs[::-1]
        return ()


def replayed_night(timetable: Timetable, presence: Presence) -> ReplayedNight:
    """Read the night, and replay it."""
    return _replayed(read_tonight(timetable, presence, None))


def on_its_way(timetable: Timetable, presence: Presence, target: BatchDefinition, key: str | None) -> OnItsWay | None:
    """Return when a batch will be ready for a CycleKey; without one, or where nothing starts it, if all of it began now."""
    tonight = read_tonight(timetable, presence, None)
    found = None if key is None else _replayed(tonight).on_its_way(target, key)
    return found or _replayed(_begun_now(tonight, target)).on_its_way(target, BEGUN_NOW)


def _replayed(tonight: Tonight) -> ReplayedNight:
    return ReplayedNight(tonight, [*tonight.replays(Suppositions())])


def _begun_now(tonight: Tonight, target: BatchDefinition) -> Tonight:
    """Let what is open go on, and all begin now that the target depends on."""
    batches = [*tonight.batches.values()]
    first = graph.upstream(batches, target.batch_id) | {target.batch_id}
    due = [
        VirtualInstance(batch_id=one, cycle_key=BEGUN_NOW, comes=1)
        for one in sorted(first)
        if one in tonight.batches and not graph.needs(tonight.batches[one])
    ]
    return replace(tonight, due=due, learned=())
