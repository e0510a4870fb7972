"""An instance has no blocking gate exactly when a controller would claim it now: what explains is what decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchctl.control.claiming import Claimer
from batchctl.domain.liveness import Rhythm
from batchctl.operations import explain
from batchctl.operations.presence import Presence
from batchctl.store import Connection, limits
from batchctl.store.definitions import definitions
from tests.control.world import World
from tests.control_databases import ControlDatabase, SqliteControl
from tests.tiers import examples

PRESENCE = Presence(Rhythm(), is_gone=lambda row: False)
EVERYBODY = 1000
"""More than there are: of a controller that lacks no slot."""
LONG_AGO, JUST_NOW, LATER = "1900-01-01 00:00:00.000", "2020-01-01 00:00:00.000", "2099-01-01 00:00:00.000"
TABLES = (
    "Controller",
    "BatchFreeze",
    "BatchResource",
    "Resource",
    "BatchControl",
    "FileProcess",
    "ProcessControl",
    "ProcessBatch",
)
STATUSES = ("ready", "retry", "failed", "held", "running", "pausing", "paused", "cancelling", "cancelled", "complete")
LIKELY = ("ready",) * 14 + ("retry",) * 3 + ("running",) * 3
"""Where most could start, each gate is what decides about some."""


@dataclass(frozen=True)
class Drawn:
    """A batch, what it holds of each resource, and its instances in order of creation."""

    enabled: int
    seq: int
    on_failure: str
    most: int
    has_steps: bool
    needs: tuple[tuple[int, int], ...]
    """Of each resource the units, 0 for none, and whether all of it."""
    instances: tuple[tuple[str, str], ...]
    """Of each the status and NextRunTime."""
    priority: int | None = None
    most_begun: int | None = None
    """MaxPerMinute."""
    begun: int = 0
    """How many of its instances were begun by a clock that goes ahead, and are over: they count for every clock."""
    on_their_way: int = 0
    """Of its instances each so many-th has its first step behind it; 0 for none."""


@dataclass(frozen=True)
class Situation:
    """What stands in the tables."""

    units: tuple[int, ...]
    limit: int | None
    freezes: tuple[tuple[str | None, str | None, str | None], ...]
    """Of each the batch, the tag, and until when."""
    batches: tuple[Drawn, ...]
    order: tuple[int, ...]
    """By which the instances of the batches are mixed."""
    slots: int | None
    """Of the only controller, which has claimed what is claimed; one that lacks no slot is not even entered."""


needs = st.tuples(st.sampled_from([0, 1, 0, 1, 2, 3]), st.sampled_from([0] * 6 + [1]))
instances = st.tuples(st.sampled_from((*LIKELY, *STATUSES)), st.sampled_from([LONG_AGO] * 6 + [JUST_NOW] * 2 + [LATER]))
batches = st.builds(
    Drawn,
    enabled=st.sampled_from([1] * 7 + [0]),
    seq=st.integers(1, 3),
    on_failure=st.sampled_from(["continue", "hold_batch"] * 4 + ["stop_all"]),
    most=st.integers(1, 4),
    has_steps=st.sampled_from([True] * 7 + [False]),
    needs=st.tuples(needs, needs),
    instances=st.lists(instances, min_size=2, max_size=5).map(tuple),
    priority=st.sampled_from([None, None, None, 0, 5, 1000]),
    most_begun=st.sampled_from([None, None, None, 1, 2, 3]),
    begun=st.integers(0, 2),
    on_their_way=st.sampled_from([0, 0, 2, 3]),
)
freezes = st.tuples(
    st.sampled_from([("b1", None), ("b2", None), (None, "b"), (None, "Odd"), (None, None)]),
    st.sampled_from([None, JUST_NOW, LATER]),
).map(lambda drawn: (*drawn[0], drawn[1]))
situations = st.builds(
    Situation,
    units=st.tuples(st.integers(1, 4), st.integers(0, 4)),
    limit=st.none() | st.none() | st.integers(2, 6),
    freezes=st.just(()) | st.just(()) | st.lists(freezes, max_size=2).map(tuple),
    batches=st.lists(batches, min_size=1, max_size=3).map(tuple),
    order=st.lists(st.integers(0, 9), min_size=15, max_size=15).map(tuple),
    slots=st.none() | st.integers(1, 5),
)


def put(world: World, situation: Situation) -> None:
    """Write a situation into the tables, in place of what stood there."""
    hand = world.hand
    for table in TABLES:
        hand.sql(f"DELETE FROM {table}")
    hand.sql("DELETE FROM Setting WHERE Name = 'MaxConcurrent'")
    if situation.limit is not None:
        hand.sql("INSERT INTO Setting (Name, Value) VALUES ('MaxConcurrent', ?)", str(situation.limit))
    for number, units in enumerate(situation.units, start=1):
        hand.sql(
            "INSERT INTO Resource (Resource_id, ResourceName, Units) VALUES (?, ?, ?)", number, f"r{number}", units
        )
    for number, batch in enumerate(situation.batches, start=1):
        hand.sql(
            "INSERT INTO ProcessBatch (ProcessBatch_id, ProcessBatchName, Enabled, Seq, OnFailure, MaxConcurrent, Tags,"
            " Priority, MaxPerMinute) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(number, f"b{number}", batch.enabled, batch.seq, batch.on_failure, batch.most),
            "all, odd" if number % 2 else None,
            *(batch.priority, batch.most_begun),
        )
        if batch.has_steps:
            hand.sql(
                "INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType)"
                " VALUES (?, 10, 'one', 'told'), (?, 20, 'two', 'told')",
                *(number, number),
            )
        for resource, (units, exclusive) in enumerate(batch.needs, start=1):
            if units:
                hand.sql(
                    "INSERT INTO BatchResource (ProcessBatch_id, Resource_id, Units, Exclusive) VALUES (?, ?, ?, ?)",
                    *(number, resource, units, exclusive),
                )
    if situation.slots is not None:
        hand.sql(
            "INSERT INTO Controller (ControllerName, Host, Slots, Heartbeat) VALUES ('c9', 'host1', ?, ?)",
            *(situation.slots, f"{world.clock.now():%Y-%m-%d %H:%M:%S}.000"),
        )
    for name, tag, until in situation.freezes:
        hand.sql(
            "INSERT INTO BatchFreeze (ProcessBatchName, Tag, Reason, UntilTime) VALUES (?, ?, 'because', ?)",
            *(name, tag, until),
        )
    mixed = [
        (at, number, status, due)
        for number, batch in enumerate(situation.batches, start=1)
        for at, (status, due) in enumerate(batch.instances)
    ]
    mixed = [one for _, one in sorted(zip(situation.order, mixed, strict=False), key=lambda each: each[0])]
    for key, (nth, batch_id, status, due) in enumerate(mixed, start=1):
        every = situation.batches[batch_id - 1].on_their_way
        hand.sql("INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (?, ?)", key, f"b{batch_id}")
        owner = "c9" if status in {"running", "pausing", "cancelling"} else None
        hand.sql(
            "INSERT INTO BatchControl (BatchControl_id, ProcessBatch_id, FileProcess_id, Status, NextRunTime, ClaimedBy,"
            " PrevProcessControlSeq) VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(key, batch_id, key, status, due, owner, 10 if every and not (nth + 1) % every else 0),
        )
    for number, batch in enumerate(situation.batches, start=1):
        for nth in range(batch.begun):
            key = 1000 * number + nth
            hand.sql("INSERT INTO FileProcess (FileProcess_id, Entity) VALUES (?, ?)", key, f"b{number}")
            hand.sql(
                "INSERT INTO BatchControl (BatchControl_id, ProcessBatch_id, FileProcess_id, Status, BegunTime)"
                " VALUES (?, ?, ?, 'complete', ?)",
                *(key, number, key, LATER),
            )
    world.hear()


class _Seen(Exception):
    def __init__(self, found: Sequence[int]) -> None:
        self.found = found


def claimed(world: World, slots: int | None = None) -> set[int]:
    """Return what a controller claims now, which has enough slots or has claimed already what is claimed; it is undone."""
    busy = world.one("SELECT count(*) FROM BatchControl WHERE ClaimedBy IS NOT NULL")
    places = EVERYBODY if slots is None else slots - busy
    if places <= 0:
        return set()

    def claim(connection: Connection) -> None:
        known = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        limit = limits.overall(connection)
        now = world.clock.now()
        written = Claimer(world.recorder()).claim(connection, known, limit, now, places=places)
        raise _Seen(written.started)

    with pytest.raises(_Seen) as seen:
        world.transactions.run(frozenset(), claim)
    return {int(key) for key in seen.value.found}


def unblocked(world: World) -> set[int]:
    """Return the instances of which `why` names no gate that blocks; the controller is the one that asks."""
    found = set[int]()
    for (key,) in world.hand.sql("SELECT BatchControl_id FROM BatchControl"):
        explained = explain.why(world.transactions, world.clock, PRESENCE, str(key))
        if all(gate.name == "controller" for gate in explained.blocking):
            found.add(int(key))
    return found


def of(*batches: Drawn, units: int = 1, **given_: object) -> Situation:
    """Return a situation in which the instances of the batches follow each other."""
    plain: dict[str, object] = {"units": (units, 4), "limit": None, "freezes": (), "order": (0,) * 15, "slots": None}
    return Situation(**{**plain, **given_, "batches": batches})  # type: ignore[arg-type] # fields by name


def a_batch(*instances: tuple[str, str], **given_: object) -> Drawn:
    """Return a batch that takes one unit of the first resource."""
    plain: dict[str, object] = {"enabled": 1, "seq": 1, "on_failure": "continue", "most": 4, "has_steps": True}
    needs = ((1, 0), (0, 0))
    return Drawn(**{"needs": needs, **plain, **given_, "instances": instances})  # type: ignore[arg-type] # likewise


READY, RETRY, FAILED, PAUSED = (("ready", LONG_AGO), ("retry", JUST_NOW), ("failed", LONG_AGO), ("paused", LONG_AGO))
EXAMPLES = {
    "nothing blocks": of(a_batch(READY, READY), units=4),
    "its status": of(a_batch(PAUSED)),
    "enabled": of(a_batch(READY, enabled=0)),
    "freeze": of(a_batch(READY), freezes=((None, "Odd", LATER),)),
    "steps": of(a_batch(READY, has_steps=False)),
    "NextRunTime": of(a_batch(("ready", LATER))),
    "failure policy": of(a_batch(FAILED, READY, on_failure="hold_batch"), units=4),
    "a retry that starts first makes nobody wait": of(a_batch(RETRY, READY, on_failure="hold_batch"), units=4),
    "one that waits behind a retry without a resource": of(
        a_batch(RETRY, ("ready", LATER), READY, on_failure="hold_batch"), units=0
    ),
    "stop_all": of(a_batch(FAILED, on_failure="stop_all"), a_batch(READY), units=4),
    "MaxConcurrent": of(a_batch(("running", LONG_AGO), READY, most=1), units=4),
    "a place goes to the first": of(a_batch(READY, READY, most=1), units=4),
    "resource": of(a_batch(("running", LONG_AGO)), a_batch(READY)),
    "a resource goes to the first of a batch": of(a_batch(READY, READY)),
    "a resource goes to the first batch": of(a_batch(READY), a_batch(READY, seq=2)),
    "a resource goes to the first batch by Seq": of(a_batch(READY, seq=2), a_batch(READY)),
    "Setting MaxConcurrent": of(a_batch(READY, READY), units=4, limit=1),
    "slots": of(a_batch(("running", LONG_AGO)), a_batch(READY), units=4, slots=1),
    "a slot goes to the first batch": of(
        a_batch(READY, needs=((0, 0), (0, 0))), a_batch(READY, seq=2), units=4, slots=1
    ),
}


def test_no_gate_blocks_exactly_what_a_controller_claims_now(
    control_database: ControlDatabase, request: pytest.FixtureRequest
) -> None:
    world = World(control_database)
    request.addfinalizer(world.close)

    @settings(
        max_examples=examples(120 if control_database.kind == "sqlite" else 25),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    @given(situations)
    def compare(situation: Situation) -> None:
        put(world, situation)
        assert unblocked(world) == claimed(world, situation.slots)

    compare()


NOTHING = "nothing holds it back"


LIMITS = ("resource ", "Setting ", "MaxConcurrent", "MaxPerMinute", "slots")
"""Gates of what others take first."""


def check_view(world: World) -> None:
    """Compare what `vWaiting` says of each instance with the gates that `why` names.

    Of what starts first the view knows those of the same batch alone; a resource or a place of all they take, it passes over.
    """
    for key, reason in world.hand.sql("SELECT BatchControl_id, Reason FROM vWaiting"):
        explained = explain.why(world.transactions, world.clock, PRESENCE, str(key))
        blocking = {gate.name: str(gate.blocked) for gate in explained.blocking if gate.name != "controller"}
        policy = blocking.get("failure policy", "")
        limits_it = [name for name in blocking if name.startswith(LIMITS)]
        if reason == NOTHING:
            # A retry keeps others back while it lacks a resource, which the view does not know.
            retried = {"failure policy"} if limits_it and " is retry " in policy else set()
            assert set(blocking) - retried == set(limits_it) - {"MaxConcurrent"}, (key, blocking)
        elif " of the same batch is " in str(reason) and " is retry " in f"{reason}{policy}":
            # It passes over a retry that lacks a resource, and may name another one than the first that is in the way.
            assert policy, (key, reason, blocking)
        elif str(reason).startswith("others of batch "):
            assert limits_it, (key, blocking)
        else:
            assert any(said.startswith(str(reason)) for said in blocking.values()), (key, reason, blocking)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(situation=situations)
def test_the_view_says_what_why_says(sqlite_database: SqliteControl, situation: Situation) -> None:
    world = World(sqlite_database)
    put(world, situation)
    try:
        check_view(world)
    finally:
        world.close()


@pytest.mark.parametrize("about", EXAMPLES)
def test_the_view_says_it_of_each_gate(world: World, about: str) -> None:
    put(world, EXAMPLES[about])

    check_view(world)


STARTS = {
    "nothing blocks": {1, 2},
    "a retry that starts first makes nobody wait": {1, 2},
    "a place goes to the first": {1},
    "a resource goes to the first of a batch": {1},
    "a resource goes to the first batch": {1},
    "a resource goes to the first batch by Seq": {2},
    "Setting MaxConcurrent": {1},
    "a slot goes to the first batch": {1},
}
"""What starts in those examples in which anything does."""


@pytest.mark.parametrize("about", EXAMPLES)
def test_each_gate_by_itself(world: World, about: str) -> None:
    put(world, EXAMPLES[about])

    # What both leave out, as they would a gate that is nowhere any more, neither would show.
    assert unblocked(world) == claimed(world, EXAMPLES[about].slots) == STARTS.get(about, set())


@pytest.mark.parametrize(("tries", "said"), [(1, "batch b2 has no instance of it yet"), (3, "it waits for a person: ")])
def test_the_view_says_of_a_row_that_waits_for_a_populator_what_why_says(world: World, tries: int, said: str) -> None:
    for name, entity in (("b1", "E"), ("b2", "E"), ("b3", "other")):
        world.batch(name, Entity=entity)
    world.submit("E", data="same")
    world.create()
    world.submit("E", file_name="f")
    world.submit("other")
    world.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status) VALUES (1, 2, 'complete')")
    assert world.sql("SELECT * FROM vWaiting WHERE Status = 'populator'") == []
    world.sql(
        "UPDATE FileProcess SET PopulatorTries = ?, Message = 'batch b2: it took too long' WHERE FileProcess_id = 2",
        tries,
    )
    asked = "SELECT ProcessBatchName, Entity, FileName, FileProcess_id, Reason, NextSql FROM vWaiting WHERE Status = 'populator'"
    ((*where, reason, following),) = world.sql(asked)
    explained = explain.why(world.transactions, world.clock, PRESENCE, "file:2")

    assert where == ["b2", "E", "f", 2]
    assert str(reason).startswith(said)
    assert reason == next(gate.blocked for gate in explained.blocking)
    world.sql(str(following))
    assert bool(world.sql(asked)) is (tries < 3)


@pytest.mark.parametrize(
    ("tries", "said"),
    [
        (None, "no controller has looked at it yet"),
        (1, "its populator has not answered yet"),
        (3, "it waits for a person: batch B: it took too long"),
    ],
)
def test_the_inbox_says_of_a_row_that_waits_for_a_populator_that_it_does(
    world: World, tries: int | None, said: str
) -> None:
    world.batch()
    world.submit()
    world.sql("UPDATE FileProcess SET PopulatorTries = ?, Message = 'batch B: it took too long'", tries)

    assert world.sql("SELECT Status, Reason FROM vInbox") == [("new", said)]


def test_a_batch_to_which_a_row_is_a_duplicate_waits_for_nobody(world: World) -> None:
    world.batch("b1", Entity="E")
    world.batch("b2", Entity="E", DuplicateCheck=0)
    for _ in range(2):
        world.submit("E", data="same")
    world.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (1, 1)")
    world.sql("INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id) VALUES (2, 1)")
    world.sql("UPDATE FileProcess SET PopulatorTries = 1 WHERE FileProcess_id = 2")
    asked = "SELECT ProcessBatchName FROM vWaiting WHERE Status = 'populator' ORDER BY 1"
    before = world.sql(asked)
    world.sql(
        "INSERT INTO AuditLog (Actor, Host, Action, Target, Reason) VALUES ('a', 'h', 'accept', 'FileProcess:2', 'because')"
    )

    assert (before, world.sql(asked)) == ([("b2",)], [("b1",), ("b2",)])
