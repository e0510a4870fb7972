"""How every batch stands, when one should be done, and what a failure holds back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from batchctl.domain.errors import NotFound
from batchctl.domain.rows import BatchId
from batchctl.operations.dependencies import picture
from batchctl.operations.dependencies.graph_words import summary
from batchctl.operations.dependencies.picture import GraphNode, Picture
from batchctl.store.dependencies import live
from tests.control.world import World
from tests.control_databases import SqliteControl

KEY = "2026-11-21"


def shop(world: World) -> None:
    """Register `merge`, which waits for `sales` and `stock`, `report` behind it, and `lonely`."""
    for name in ("sales", "stock", "merge", "report", "lonely"):
        world.batch(name, steps=1)
    depend(world, 3, 1, 2)
    depend(world, 4, 3)


def depend(world: World, batch_id: int, *others: int) -> None:
    for other in others:
        world.sql("INSERT INTO BatchDependency (ProcessBatch_id, DependsOnBatch_id) VALUES (?, ?)", batch_id, other)


def instance(world: World, batch_id: int, status: str, key: str = KEY) -> int:
    """Let there be an instance."""
    intake = world.submit("any")
    world.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id, Status, CycleKey) VALUES (?, ?, ?, ?)",
        *(batch_id, intake, status, key),
    )
    return int(world.one("SELECT max(BatchControl_id) FROM BatchControl"))


def complete(world: World, batch_id: int, key: str | None = KEY, *, overdue: bool = False, **used: int) -> None:
    """Let a batch complete, and its completion wait for `merge`, unless it was used."""
    done = instance(world, batch_id, "complete")
    world.sql(
        "INSERT INTO BatchCompletion (ProcessBatch_id, DependsOnBatch_id, BatchControl_id, CycleKey, FileProcess_id, Overdue,"
        " z_inserted) VALUES (3, ?, ?, ?, ?, ?, '2026-11-22 01:00:00')",
        *(batch_id, done, key, used.get("by"), "2026-11-22 02:00:00" if overdue else None),
    )


def attempt(world: World, batch_id: int, took: int, status: str = "success", cause: str = "auto") -> None:
    """Record that the step of a batch took so many seconds."""
    done = instance(world, batch_id, "complete", "before")
    world.sql(
        "INSERT INTO BatchProcessHistory (BatchControl_id, ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType,"
        " Status, Cause, CommandText, StartTime, EndTime) VALUES (?, ?, 10, 's', 'told', ?, ?, 'c', ?, ?)",
        *(done, batch_id, status, cause, "2026-11-20 10:00:00", f"2026-11-20 10:{took // 60:02}:{took % 60:02}"),
    )


def look(world: World, name: str | None = None, cycle_key: str | None = None) -> Picture:
    return picture.picture(world.transactions, world.clock, name, cycle_key)


def node(seen: Picture, name: str) -> GraphNode:
    (found,) = [one for one in seen.nodes if one.batch.name == name]
    return found


def states(seen: Picture) -> dict[str, str]:
    return {one.batch.name: one.state for one in seen.nodes}


def test_every_batch_stands_in_its_level_and_those_without_dependencies_stand_alone(world: World) -> None:
    shop(world)
    seen = look(world)

    assert {one.batch.name: one.level for one in seen.nodes} == {
        "sales": 0,
        "stock": 0,
        "lonely": 0,
        "merge": 1,
        "report": 2,
    }
    assert [one.batch.name for one in seen.alone] == ["lonely"]
    assert [one.batch.name for one in seen.linked] == ["sales", "stock", "merge", "report"]
    assert {*states(seen).values()} == {"idle"}


def test_nothing_registered_is_nothing_drawn(world: World) -> None:
    assert look(world).nodes == ()


@pytest.mark.parametrize(
    ("statuses", "state"),
    [
        (["complete", "cancelled"], "cancelled"),
        (["cancelled", "complete"], "complete"),
        (["complete", "ready", "complete"], "ready"),
        (["ready", "running", "ready"], "running"),
        (["running", "paused"], "running"),
        (["retry", "running"], "retry"),
        (["failed", "running", "ready", "held"], "failed"),
        (["ready", "held"], "held"),
    ],
)
def test_the_most_telling_instance_speaks_for_its_batch(world: World, statuses: list[str], state: str) -> None:
    world.batch()
    numbers = [instance(world, 1, status) for status in statuses]
    (seen,) = look(world).nodes

    assert seen.state == state
    assert seen.stand is not None
    assert statuses[numbers.index(seen.stand.instance_id)] == state


def test_open_instances_are_counted_and_the_first_of_each_status_is_shown(world: World) -> None:
    world.batch()
    first = instance(world, 1, "failed")
    for status in ("failed", "ready", "ready", "ready", "complete"):
        instance(world, 1, status)
    (seen,) = look(world).nodes

    assert {status.value: count for status, count in seen.counts.items()} == {"failed": 2, "ready": 3}
    assert seen.stand is not None
    assert seen.stand.instance_id == first


@pytest.mark.parametrize("key", [None, KEY])
def test_the_newest_is_one_of_those_that_wait(world: World, key: str | None) -> None:
    world.batch()
    for status in ("failed", "ready", "ready", "ready"):
        instance(world, 1, status)
    (seen,) = look(world, cycle_key=key).nodes

    assert {status.value: count for status, count in seen.counts.items()} == {"failed": 1, "ready": 3}
    (batch,) = [one.batch.name for one in look(world).nodes]
    assert picture.impact(world.transactions, batch).in_line == 3


def test_of_one_cycle_key_only_its_own_instances_count(world: World) -> None:
    world.batch()
    instance(world, 1, "complete", KEY)
    instance(world, 1, "failed", "another")

    assert states(look(world)) == {"B": "failed"}
    assert states(look(world, cycle_key=KEY)) == {"B": "complete"}
    assert states(look(world, cycle_key="none")) == {"B": "idle"}


def test_of_a_cycle_key_an_old_instance_is_found_behind_any_number_of_newer_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.batch()
    instance(world, 1, "complete", KEY)
    for _ in range(5):
        instance(world, 1, "complete", "later")
    monkeypatch.setattr(live.stands, "__defaults__", (None, 3))

    assert states(look(world, cycle_key=KEY)) == {"B": "complete"}


def test_a_cycle_key_of_which_nothing_is_known_is_said_to_be_one(world: World) -> None:
    world.batch()
    instance(world, 1, "complete", KEY)

    assert "CycleKey nothing, of which nothing is known: 1 idle" in summary(look(world, cycle_key="nothing"))
    assert "known" not in summary(look(world, cycle_key=KEY))
    assert "known" not in summary(look(world))


def test_what_is_complete_is_looked_for_among_the_newest_only_and_what_is_open_everywhere(world: World) -> None:
    world.batch("old")
    world.batch("new")
    for status in ("complete", "failed"):
        instance(world, 1, status)
    for _ in range(3):
        instance(world, 2, "complete")
    with world.transactions.read() as connection:
        near = live.stands(connection, near=3)
        far = live.stands(connection, near=5)
        of_key = live.stands(connection, KEY, near=3)

    assert [(at.batch_id, at.status) for at in near] == [(1, "failed"), (2, "complete")]
    assert {at.instance_id for at in far} == {2, 5}
    assert of_key == near


def test_what_is_open_is_found_by_the_indexes_of_what_is_open(sqlite_database: SqliteControl) -> None:
    world = World(sqlite_database)
    statements = [*live._OPEN, *live._OPEN_OF_KEY, live._UNDER_WAY, live._COMPLETIONS]
    with world.transactions.read() as connection:
        texts = [str(statement.compile(dialect=connection.dialect)) for statement in statements]
    plans = [[row[3] for row in world.sql(f"EXPLAIN QUERY PLAN {text}", *[1] * text.count("?"))] for text in texts]

    assert all(any("USING INDEX" in line for line in plan) for plan in plans)
    assert [line for plan in plans for line in plan if line.startswith("SCAN Batch") and "INDEX" not in line] == []
    world.close()


def test_a_set_that_is_not_complete_says_what_it_has_and_what_it_lacks(world: World) -> None:
    shop(world)
    complete(world, 1)
    complete(world, 1)
    complete(world, 2, "tomorrow", overdue=True)
    complete(world, 2, by=1)
    complete(world, 2, None)
    merge = node(look(world), "merge")

    assert merge.state == "waits"
    found = {wait.cycle_key: (wait.has, wait.lacks, wait.is_overdue) for wait in merge.waits}
    assert found == {
        KEY: (("sales",), ("stock",), False),
        "tomorrow": (("stock",), ("sales",), True),
        None: (("stock",), ("sales",), False),
    }
    assert f"{merge.waits[0].since:%H:%M}" == "01:00"
    assert [wait.cycle_key for wait in node(look(world, cycle_key=KEY), "merge").waits] == [KEY]


def test_an_open_instance_says_more_than_a_set_that_waits_and_a_done_one_less(world: World) -> None:
    shop(world)
    complete(world, 1)
    instance(world, 3, "complete")
    assert node(look(world), "merge").state == "waits"

    instance(world, 3, "ready")
    assert node(look(world), "merge").state == "ready"


def test_completions_of_batches_that_are_not_waited_for_any_more_are_no_wait(world: World) -> None:
    shop(world)
    complete(world, 1)
    world.sql("DELETE FROM BatchDependency WHERE DependsOnBatch_id = 1")

    assert node(look(world), "merge").waits == ()


@pytest.mark.parametrize("name", [None, "merge", "report"])
def test_what_completed_for_another_cycle_key_than_is_waited_for_is_not_shown_as_complete(
    world: World, name: str | None
) -> None:
    shop(world)
    instance(world, 2, "complete", "2026-11-20")
    complete(world, 1)
    states = {
        node.batch.name: node.state for node in picture.picture(world.transactions, world.clock, name, None).nodes
    }

    assert (states["sales"], states["stock"], states["merge"]) == ("complete", picture.IDLE, picture.WAITS)

    instance(world, 2, "complete")
    instance(world, 2, "complete", "2026-11-22")
    seen = picture.picture(world.transactions, world.clock, "merge", KEY)
    assert {node.batch.name: node.state for node in seen.nodes}["stock"] == "complete"


def test_of_one_batch_only_what_it_waits_for_is_drawn(world: World) -> None:
    shop(world)

    assert states(look(world, "merge")) == {"sales": "idle", "stock": "idle", "merge": "idle"}
    assert states(look(world, "lonely")) == {"lonely": "idle"}


def test_a_batch_that_there_is_none_of_and_a_key_that_no_row_can_hold_are_not_found(world: World) -> None:
    shop(world)

    with pytest.raises(NotFound, match=r"There is no batch 'merg'\. Did you mean 'merge'"):
        look(world, "merg")
    with pytest.raises(NotFound, match="NUL"):
        look(world, cycle_key="a\x00b")


def test_only_so_many_of_the_newest_attempts_are_read(world: World) -> None:
    world.batch("one", steps=1)
    world.batch("other", steps=1)
    attempt(world, 1, 10)
    for took in range(30):
        attempt(world, 2, took)
    with world.transactions.read() as connection:
        near, far = live.lengths(connection, near=30), live.lengths(connection, near=31)

    assert [*near] == [(2, 10)]
    assert sorted(near[BatchId(2), 10]) == [timedelta(seconds=took) for took in range(10, 30)]
    assert far[BatchId(1), 10] == [timedelta(seconds=10)]


def test_what_is_under_way_is_gone_on_with(world: World) -> None:
    shop(world)
    for batch_id in (1, 2, 3, 4):
        attempt(world, batch_id, 60)
    complete(world, 1, "today")
    world.sql("UPDATE BatchControl SET CycleKey = 'today' WHERE BatchControl_id = 5")
    seen = look(world, "report")

    assert seen.target_state is not None
    assert (seen.target_state.cycle_key, seen.target_state.is_complete) == ("today", False)

    instance(world, 2, "ready", "tomorrow")
    instance(world, 2, "running", "now")
    states = look(world, "report").target_state, look(world, "report", "today").target_state
    assert [state and state.cycle_key for state in states] == ["now", "today"]


def test_a_failure_holds_back_everything_behind_it_unless_something_else_can_start_it(world: World) -> None:
    shop(world)
    mail = world.batch("mail", DependencyMode="any")
    depend(world, mail, 4, 5)
    complete(world, 2)
    found = picture.impact(world.transactions, "sales")

    assert [(one.batch.name, one.way) for one in found.held] == [
        ("merge", ("sales", "merge")),
        ("report", ("sales", "merge", "report")),
    ]
    assert [(wait.has, wait.lacks) for wait in found.held[0].waits] == [(("stock",), ("sales",))]
    assert [one.name for one in found.spared] == ["mail"]
    assert not found.stops_all


@pytest.mark.parametrize(
    ("policy", "in_line", "stops"), [("hold_batch", 2, False), ("stop_all", 2, True), ("continue", 0, False)]
)
def test_a_failure_may_hold_back_its_own_batch_and_all_others(
    world: World, policy: str, in_line: int, stops: bool
) -> None:
    world.batch(OnFailure=policy)
    for status in ("failed", "ready", "ready", "paused"):
        instance(world, 1, status)
    found = picture.impact(world.transactions, "B")

    assert (found.in_line, found.stops_all, found.held) == (in_line, stops, ())


def test_impact_of_a_batch_that_there_is_none_of_is_not_found(world: World) -> None:
    with pytest.raises(NotFound, match="There is no batch 'B'"):
        picture.impact(world.transactions, "B")


def test_many_batches_alone_are_counted_but_for_those_of_which_there_is_something_to_say(world: World) -> None:
    for number in range(picture.ALONE_DRAWN + 5):
        world.batch(f"b{number:02}")
    instance(world, 3, "failed")
    instance(world, 4, "complete")
    seen = look(world)

    assert [one.batch.name for one in seen.alone] == ["b02"]
    assert seen.left_out == {"idle": picture.ALONE_DRAWN + 3, "complete": 1}
