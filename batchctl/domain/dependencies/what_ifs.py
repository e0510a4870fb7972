"""What a forecast supposes to be otherwise: longer steps, more of a resource, another arrival."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from batchctl.domain.dependencies.virtual_night import UNKNOWN, Lengths, Tries, VirtualNight
from batchctl.domain.operators.pools import Pool, PoolId
from batchctl.domain.rows import BatchDefinition, BatchId
from batchctl.domain.scheduling.column_text import UnfitText, time_of_day
from batchctl.domain.text import did_you_mean, shorten, visible
from batchctl.domain.values import value

# Digits are those of ASCII, as in times of day.
_NAME = r"'(?P<quoted>[^']+)'|(?P<bare>.+?)"
_TIMES = re.compile(rf"(?:{_NAME})(?:\.(?P<seq>[0-9]{{1,10}}))?\s*\*\s*(?P<factor>[0-9]{{1,6}}(?:\.[0-9]{{1,6}})?)")
_LIMIT = re.compile(rf"(?P<what>resource|pool)\s+(?:{_NAME})\s*=\s*(?P<most>[0-9]{{1,9}})")
_PLAIN = re.compile(r"\w+")
_SLOTS = re.compile(r"slots\s*=\s*(?P<most>[0-9]{1,9})")
_ARRIVE = re.compile(rf"arrive\s+(?:{_NAME})\s*=\s*(?P<at>\S+)")
LONGEST = 100
"""How much of a text an error repeats."""
FORMS = '"LoadOrders.20 *2", "resource \'ftp server\'=5", "pool ssis=4", "slots=8" or "arrive Orders=03:30"'


@value
class OtherLength:
    """The steps of a batch, or one of them, take so many times as long."""

    batch: str
    seq: int | None
    factor: float


@value
class OtherCapacity:
    """A resource has so many units, or a pool room for so many."""

    name: str
    most: int
    is_pool: bool


@value
class OtherSlots:
    """All controllers together have so many slots."""

    most: int


@value
class OtherArrival:
    """The next instance of a batch comes at a time of day, in minutes after midnight."""

    batch: str
    minutes: int


WhatIf: TypeAlias = OtherLength | OtherCapacity | OtherSlots | OtherArrival


class UnfitWhatIf(ValueError):
    """A supposition that cannot be read, or that names what is not there."""


def read(written: str) -> WhatIf:
    """Read a supposition; raises `UnfitWhatIf`."""
    text = written.strip()
    if found := _SLOTS.fullmatch(text):
        return OtherSlots(int(found["most"]))
    if found := _LIMIT.fullmatch(text):
        return OtherCapacity(_name(found), int(found["most"]), found["what"] == "pool")
    if found := _ARRIVE.fullmatch(text):
        try:
            return OtherArrival(_name(found), time_of_day(found["at"]))
        except UnfitText as error:
            raise UnfitWhatIf(f"'{_shown(written)}': {error}") from None
    if found := _TIMES.fullmatch(text):
        seq = None if found["seq"] is None else int(found["seq"])
        return OtherLength(_name(found), seq, float(found["factor"]))
    raise UnfitWhatIf(f"'{_shown(written)}' is nothing that can be supposed.")


def _shown(text: str) -> str:
    return shorten(visible(text), LONGEST)


def written(what_if: WhatIf) -> str | None:
    """Write a supposition as `read` reads it; None where a name has a quote in it."""
    match what_if:
        case OtherSlots():
            return f"slots={what_if.most}"
        case OtherCapacity():
            name = _quoted(what_if.name)
            return name and f"{'pool' if what_if.is_pool else 'resource'} {name}={what_if.most}"
        case OtherArrival():
            name = _quoted(what_if.batch)
            return name and f"arrive {name}={what_if.minutes // 60:02}:{what_if.minutes % 60:02}"
        case OtherLength():
            name = _quoted(what_if.batch)
            return name and f"{name}{'' if what_if.seq is None else f'.{what_if.seq}'} *{what_if.factor:g}"


def _quoted(name: str) -> str | None:
    if _PLAIN.fullmatch(name):
        return name
    return None if "'" in name or '"' in name else f"'{name}'"


def _name(found: re.Match[str]) -> str:
    return found["quoted"] or found["bare"].strip()


@dataclass(frozen=True, slots=True)
class Suppositions:
    """All that is supposed at once."""

    what_ifs: Sequence[WhatIf] = ()

    def check(self, batches: Iterable[BatchDefinition], night: VirtualNight) -> None:
        """Refuse what names nothing that is there; raises `UnfitWhatIf`."""
        by_name = {batch.name: batch for batch in batches}
        resources = {need.name for batch in by_name.values() for need in batch.needs}
        pools = {*night.pools.by_name, *(batch.pool_of(step) for batch in by_name.values() for step in batch.steps)}
        for one in self.what_ifs:
            match one:
                case OtherLength() | OtherArrival() if one.batch not in by_name:
                    raise UnfitWhatIf(f"There is no batch '{_shown(one.batch)}'.{did_you_mean(one.batch, by_name)}")
                case OtherArrival() if not by_name[one.batch].enabled or not by_name[one.batch].steps:
                    raise UnfitWhatIf(f"Nothing starts batch {visible(one.batch)}: it is disabled, or has no steps.")
                case OtherLength() if one.seq is not None and by_name[one.batch].step_at(one.seq) is None:
                    raise UnfitWhatIf(f"Batch {visible(one.batch)} has no step {one.seq}.")
                case OtherCapacity() if one.name not in (pools if one.is_pool else resources):
                    what, known = ("pool", pools) if one.is_pool else ("resource that a batch needs", resources)
                    raise UnfitWhatIf(f"There is no {what} '{_shown(one.name)}'.{did_you_mean(one.name, known)}")
                case _:
                    pass

    @property
    def arrivals(self) -> Mapping[str, int]:
        """Return when the next instances of batches come, in minutes after midnight."""
        return {one.batch: one.minutes for one in self.what_ifs if isinstance(one, OtherArrival)}

    def change(self, night: VirtualNight) -> VirtualNight:
        """Return a night with the limits that are supposed."""
        capacity = {one.name: one.most for one in self.what_ifs if isinstance(one, OtherCapacity) and not one.is_pool}
        rooms = {one.name: one.most for one in self.what_ifs if isinstance(one, OtherCapacity) and one.is_pool}
        slots = next((one.most for one in reversed(self.what_ifs) if isinstance(one, OtherSlots)), night.slots)
        pools = dict(night.pools.by_name)
        for name, most in rooms.items():
            pools[name] = replace(pools.get(name, Pool(pool_id=PoolId(0), name=name)), max_concurrent=most)
        batches = night.batches
        if capacity:
            batches = {key: _with_capacity(batch, capacity) for key, batch in batches.items()}
        return replace(night, batches=batches, slots=slots, pools=replace(night.pools, by_name=pools))

    def lengths(self, take: Lengths, batches: Mapping[BatchId, BatchDefinition]) -> Lengths:
        """Return how long attempts take then."""
        factors: dict[BatchId, list[tuple[int | None, float]]] = {}
        ids = {batch.name: key for key, batch in batches.items()}
        for one in self.what_ifs:
            if isinstance(one, OtherLength):
                factors.setdefault(ids[one.batch], []).append((one.seq, one.factor))
        if not factors:
            return take

        def longer(batch_id: BatchId, seq: int, elapsed: int, tried: int) -> Tries:
            tries, factor = take(batch_id, seq, elapsed, tried), 1.0
            for of, times in factors.get(batch_id, ()):
                factor *= times if of in {None, seq} else 1.0
            return Tries(tuple(_times(length, factor) for length in tries.lengths), tries.succeeds)

        return longer


def _times(length: int, factor: float) -> int:
    return length if length == UNKNOWN else round(length * factor)


def _with_capacity(batch: BatchDefinition, capacity: Mapping[str, int]) -> BatchDefinition:
    if not any(need.name in capacity for need in batch.needs):
        return batch
    return replace(
        batch, needs=tuple(replace(need, capacity=capacity.get(need.name, need.capacity)) for need in batch.needs)
    )
