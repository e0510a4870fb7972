"""What a forecast can suppose: how it is written, what it names, and what it changes."""

from __future__ import annotations

import pytest

from batchctl.domain.dependencies.virtual_night import UNKNOWN, Tries, VirtualNight
from batchctl.domain.dependencies.what_ifs import (
    OtherArrival,
    OtherCapacity,
    OtherLength,
    OtherSlots,
    Suppositions,
    UnfitWhatIf,
    WhatIf,
    read,
)
from batchctl.domain.rows import BatchDefinition, BatchId, Need, ResourceId, Step

LOAD = BatchId(1)
BATCH = BatchDefinition(
    batch_id=LOAD,
    name="LoadOrders",
    entity="Orders",
    steps=(Step(batch_id=LOAD, seq=20, name="load", process_type="sql"),),
    needs=(Need(resource_id=ResourceId(1), name="ftp server", capacity=1, units=1, exclusive=False),),
)
NIGHT = VirtualNight(batches={LOAD: BATCH}, instances=[], slots=2)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("LoadOrders.20 *2", OtherLength("LoadOrders", 20, 2)),
        ("LoadOrders*1.5", OtherLength("LoadOrders", None, 1.5)),
        ("'a batch * of. mine'.10 * 0.5", OtherLength("a batch * of. mine", 10, 0.5)),
        ("resource 'ftp server'=5", OtherCapacity("ftp server", 5, is_pool=False)),
        ("pool ssis = 4", OtherCapacity("ssis", 4, is_pool=True)),
        ("slots=8", OtherSlots(8)),
        ("arrive Orders=03:30", OtherArrival("Orders", 210)),
    ],
)
def test_suppositions_are_read(written: str, meant: WhatIf) -> None:
    assert read(written) == meant


@pytest.mark.parametrize(
    "written", ["", "x", "LoadOrders.20", "LoadOrders *-2", "LoadOrders *x", "resource =5", "arrive Orders=25:00", "*2"]
)
def test_what_cannot_be_read_is_refused(written: str) -> None:
    with pytest.raises(UnfitWhatIf):
        read(written)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("LoadOrder *2", "There is no batch 'LoadOrder'. Did you mean 'LoadOrders'?"),
        ("LoadOrders.30 *2", "Batch LoadOrders has no step 30."),
        ("resource 'ftp'=2", "There is no resource that a batch needs 'ftp'"),
        ("pool ssis=2", "There is no pool 'ssis'"),
        ("arrive Orders=03:30", "There is no batch 'Orders'"),
    ],
)
def test_what_is_not_there_is_named(written: str, said: str) -> None:
    with pytest.raises(UnfitWhatIf) as refused:
        Suppositions([read(written)]).check([BATCH], NIGHT)
    assert said in str(refused.value)


def test_limits_and_lengths_are_changed() -> None:
    suppose = Suppositions([*map(read, ("resource 'ftp server'=5", "pool default=3", "slots=8", "LoadOrders.20 *2"))])
    suppose.check([BATCH], NIGHT)
    changed = suppose.change(NIGHT)
    assert changed.batches[LOAD].needs[0].capacity == 5
    assert (changed.slots, changed.pools.by_name["default"].max_concurrent) == (8, 3)
    take = suppose.lengths(lambda batch, seq, elapsed, tried: Tries((10, 20, UNKNOWN)), NIGHT.batches)
    assert take(LOAD, 20, 0, 0) == Tries((20, 40, UNKNOWN))
    assert take(LOAD, 10, 0, 0) == Tries((10, 20, UNKNOWN))
    assert NIGHT.batches[LOAD].needs[0].capacity == 1
