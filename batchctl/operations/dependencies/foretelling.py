"""Forecasts of all batches, made a little at a time, so that who makes them can do other things meanwhile."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TypeAlias, TypeVar

from batchctl.domain.dependencies import what_ifs
from batchctl.domain.dependencies.forecast_record import FEWEST, KeptForecast
from batchctl.domain.dependencies.virtual_night import Replayed, StartCause, VirtualInstance, VirtualNight
from batchctl.domain.dependencies.what_ifs import OtherCapacity, OtherLength, OtherSlots, Suppositions, WhatIf
from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.domain.status import STOPPED, InstanceStatus
from batchctl.operations.dependencies.forecasting import (
    BatchForecast,
    OnTheWay,
    forecast_of,
    kept_from_coming,
    key_of,
    number_of,
)
from batchctl.operations.dependencies.tonight import AHEAD, MOST_KEPT, TICK, PastBook, Tonight, tonight_of
from batchctl.operations.presence import Presence
from batchctl.operations.scheduling.timetable import Timetable
from batchctl.store.alerting import evidence

BATCHES = 5
"""Of how many batches the past is read at once."""
STEPS = 1500
"""How many steps are replayed at once, of one replay or several: about ten milliseconds of work."""
MOST_TRIED = 12
"""How many remedies are tried, those of the batches first that have to be ready first."""
STANDING_TRIED = 3
"""Of how many instances that stand it is tried what comes of running them again."""
HALF = 0.5


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something that may let a batch be ready in time."""

    wording: str
    suppose: Suppositions = field(default_factory=Suppositions)
    goes_on: tuple[int, VirtualInstance] | None = None
    """An instance that stands, by its place in the night, as it is when it stands no more."""


@dataclass(frozen=True, slots=True)
class TriedRemedies:
    """What came of the remedies that were tried."""

    helps: dict[BatchId, list[str]] = field(default_factory=dict)
    """By batch, those with which it is ready in time in half of the replays or more."""
    came: set[BatchId] = field(default_factory=set)
    """Batches that came in any replay."""


T = TypeVar("T")
Found = tuple[BatchDefinition, BatchForecast]
Pieces: TypeAlias = Generator[None, None, T]
"""Yields None after each piece of work, and returns what came of it."""


@dataclass(frozen=True, slots=True)
class Foretelling:
    """Reads the past and the night, replays it, and says of each batch when it will be ready."""

    timetable: Timetable
    presence: Presence

    def pieces(self) -> Iterator[Sequence[KeptForecast] | None]:
        """Yield None after each piece of work, and the forecasts at the end; none where nothing is known of the past."""
        book = yield from self._past()
        if book.lessons.are_none:
            yield ()
            return
        with self.timetable.transactions.read() as connection:
            context = self.timetable.context(connection)
            tonight = tonight_of(connection, self.presence, context, book, MOST_KEPT)
        replays, keys = yield from _first_ready(tonight)
        failures = list[Exception]()
        found = yield from _forecasts(tonight, replays, keys, failures)
        there = {batch.batch_id for batch, _ in found}
        absent = [*_kept_from_coming(tonight, there, len(replays))]
        tried = yield from _tried(tonight, [one for one in (*found, *absent) if _is_at_risk(one[1])])
        # Whatever stands: what does not come without it either is not kept from that by it.
        found += [one for one in absent if one[0].batch_id in tried.came]
        # Of a batch that never ran nothing is known, whatever is known of those before it.
        known = [(batch, one) for batch, one in found if tonight.nights([batch.batch_id])]
        yield [_kept(tonight, batch, one, tried.helps.get(batch.batch_id, ())) for batch, one in known]
        if failures:
            raise failures[0]

    def _past(self) -> Pieces[PastBook]:
        """Read the past, some batches after others."""
        read = self.timetable.transactions.read
        with read() as connection:
            context = self.timetable.context(connection)
            book = PastBook(context, evidence.expected(connection))
        batches = [batch.batch_id for batch in context.batches]
        for at in range(0, len(batches), BATCHES):
            with read() as connection:
                book.read(connection, batches[at : at + BATCHES])
            yield None
        return book


def _first_ready(tonight: Tonight) -> Pieces[tuple[list[Replayed], dict[BatchId, str | None]]]:
    """Replay the night; return of each replay the instances that are ready first, and their CycleKeys by batch."""
    replays, keys = list[Replayed](), dict[BatchId, str | None]()
    for one in _replays_with(tonight, Remedy("")):
        if one is None:
            yield None
        else:
            replays.append(_of_first(one, keys))
    return replays, keys


def _forecasts(
    tonight: Tonight, replays: Sequence[Replayed], keys: Mapping[BatchId, str | None], failures: list[Exception]
) -> Pieces[list[Found]]:
    """Return the forecast of each batch with a CycleKey; what is wrong with one keeps none from others."""
    found = list[Found]()
    for batch_id, batch in tonight.batches.items():
        if batch_id not in keys:
            continue
        try:
            by = tonight.finish_by.get(batch_id)
            found.append((batch, forecast_of(tonight, batch, keys[batch_id], replays, by)))
        except Exception as error:  # noqa: BLE001 - what is wrong is told at the end
            failures.append(error)
        yield None
    return found


def _tried(tonight: Tonight, at_risk: Sequence[Found]) -> Pieces[TriedRemedies]:
    """Replay the night with each remedy for what is at risk."""
    tried = TriedRemedies()
    for remedy, concerned in _remedies(tonight, at_risk):
        ready, many = Counter[BatchId](), 0
        for one in _replays_with(tonight, remedy):
            if one is None:
                yield None
                continue
            ready.update(batch_id for batch_id in concerned if _is_ready(tonight, one, batch_id))
            tried.came.update(one.of_batch)
            many += 1
        for batch_id in concerned:
            share = ready[batch_id] / many
            if share >= HALF:
                tried.helps.setdefault(batch_id, []).append(f"{remedy.wording} ({share:.0%})")
    return tried


def _of_first(one: Replayed, keys: dict[BatchId, str | None]) -> Replayed:
    """Return of a replay only the instances that are ready first, and what decides that, however many are open.

    `keys` has their CycleKeys, and gets those of batches that were in no replay before.
    """
    for batch_id in one.of_batch.keys() - keys.keys():
        key, is_there = key_of([one], batch_id, None)
        if is_there:
            keys[batch_id] = key
    numbers = (number_of(one, batch_id, key) for batch_id, key in keys.items())
    return one.only(number for number in numbers if number is not None)


def _is_at_risk(one: BatchForecast) -> bool:
    return one.chance is not None and one.chance < HALF and one.nights >= FEWEST


def _replays_with(tonight: Tonight, remedy: Remedy) -> Iterator[Replayed | None]:
    """Yield replays with a remedy, and None each time after a piece of work."""
    return tonight.pieces(remedy.suppose, _night_with(tonight, remedy), STEPS)


def _night_with(tonight: Tonight, remedy: Remedy) -> VirtualNight:
    if remedy.goes_on is None:
        return tonight.night
    instances = [*tonight.night.instances]
    at, instance = remedy.goes_on
    instances[at] = instance
    return replace(tonight.night, instances=instances)


def _kept_from_coming(tonight: Tonight, there: Collection[BatchId], replays: int) -> Iterator[Found]:
    """Yield the batches that have to be ready, and do not even come: what they wait for stands."""
    for batch_id, by in tonight.finish_by.items():
        if batch_id not in there and by <= tonight.now + AHEAD:
            batch = tonight.batches[batch_id]
            one = kept_from_coming(tonight, batch, by, replays)
            if one is not None:
                yield batch, one


def _remedies(tonight: Tonight, at_risk: Sequence[Found]) -> Sequence[tuple[Remedy, list[BatchId]]]:
    """Return what may help, and which batches."""
    found: dict[str, tuple[Remedy, list[BatchId]]] = {}
    for batch, one in sorted(at_risk, key=lambda each: tonight.finish_by[each[0].batch_id]):
        for remedy in chain(_going_on(tonight, batch.batch_id), _more(tonight, one)):
            found.setdefault(remedy.wording, (remedy, []))[1].append(batch.batch_id)
    return [*found.values()][:MOST_TRIED]


def _going_on(tonight: Tonight, batch_id: BatchId) -> Iterator[Remedy]:
    """Yield what lets go on what stands of a batch, or of what it waits for."""
    for at in [*tonight.standing_before(batch_id)][-STANDING_TRIED:]:
        one = tonight.standing[at]
        asked = tonight.questions.get(one.instance_id)
        again = replace(tonight.night.instances[at], stands=False, failures=0, not_before=0)
        if one.status in STOPPED:
            yield Remedy(f"batchctl rerun {one.instance_id} --reason ...", goes_on=(at, again))
        elif one.status is InstanceStatus.PAUSED and asked is None:
            yield Remedy(f"batchctl resume {one.instance_id} --reason ...", goes_on=(at, again))
        elif asked is not None:
            # What people are asked is answered then: its step is done.
            yield Remedy(f"batchctl confirm {one.instance_id}", goes_on=(at, replace(again, last_seq=asked.seq)))


def _more(tonight: Tonight, one: BatchForecast) -> Iterator[Remedy]:
    """Yield what may help of what decides: half as long a step, more units, more room, more slots."""
    for each in one.decides:
        for what_if in _other(tonight, each):
            wording = what_ifs.written(what_if)
            if wording is not None:
                yield Remedy(f'--what-if "{wording}"', Suppositions([what_if]))


def _other(tonight: Tonight, each: OnTheWay) -> Iterator[WhatIf]:
    if each.cause is None:
        if each.seq is not None:
            yield OtherLength(each.what, each.seq, HALF)
        return
    name = each.name or ""
    if each.cause is StartCause.RESOURCE:
        units = next(need.capacity for batch in tonight.batches.values() for need in batch.needs if need.name == name)
        yield from (OtherCapacity(name, most, is_pool=False) for most in _more_than(units))
    elif each.cause is StartCause.POOL and name in tonight.night.pools.by_name:
        room = tonight.night.pools.by_name[name].max_concurrent
        if room is not None:
            yield from (OtherCapacity(name, most, is_pool=True) for most in _more_than(room))
    elif each.cause is StartCause.SLOTS and tonight.night.slots is not None:
        yield from map(OtherSlots, _more_than(tonight.night.slots))


def _more_than(most: int) -> list[int]:
    return sorted({most + 1, 2 * most})[-2:] if most else [1]


def _is_ready(tonight: Tonight, one: Replayed, batch_id: BatchId) -> bool:
    """Say whether any instance of a batch is ready by its time."""
    end_by = (tonight.finish_by[batch_id] - tonight.now) // TICK
    ends = (one.ends[number] for number in one.of_batch.get(batch_id, ()))
    return any(end is not None and end <= end_by for end in ends)


def _kept(tonight: Tonight, batch: BatchDefinition, one: BatchForecast, helps: Iterable[str]) -> KeptForecast:
    stand = [f"BatchControl {each.instance_id} is {each.status}" for each in one.standing]
    return KeptForecast(
        batch_id=batch.batch_id,
        cycle_key=one.cycle_key,
        made_on=tonight.now,
        kept_for=None,
        median=one.median,
        nearly=one.nearly,
        finish_by=one.by,
        chance=None if one.chance is None else _percent(one.chance),
        needs_person=_percent(one.failing),
        nights=one.nights,
        decides=", ".join([*stand[:STANDING_TRIED], *(each.wording for each in one.decides)]) or None,
        helps=", ".join(helps) or None,
    )


def _percent(share: float) -> int:
    """Return percent; what is less than half never becomes half."""
    return math.floor(100 * share)
