"""A worker at rest: what is created is claimed and begun in the same transaction, or else as if there were no such way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batchctl.domain.errors import Conflict, OutcomeUnknown
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.rows import IntakeRow, Populated
from batchctl.plugin_api import CannotPopulate
from batchctl.ports import Boundary, Change
from batchctl.store import instances
from batchctl.store.dialects import postgresql
from batchctl.store.transactions import StoreTransactions
from tests.control.test_workers import POLL, Hand, hired
from tests.control.world import OK, RUNS_ON, World
from tests.control_databases import PostgresControl
from tests.hand import Hand as Client
from tests.postgres import PostgresServer

TOGETHER = frozenset({Boundary.POPULATE, Boundary.CLAIM, Boundary.START})
ALONE = frozenset({Boundary.POPULATE})


@pytest.fixture
def rows_world(postgres: PostgresServer, prepared: str, tmp_path: Path) -> Iterator[World]:
    """Return a world on PostgreSQL, where rows are locked, not all of the database."""
    made = World(PostgresControl(postgres, tmp_path, postgres.new_database(prepared)))
    yield made
    made.close()


@pytest.fixture
def client(rows_world: World) -> Iterator[Client]:
    """Return somebody else with an SQL client."""
    made = rows_world.database.hand()
    yield made
    made.close()


@pytest.fixture
def hand(world: World) -> Iterator[Hand]:
    """Return the leader, at rest."""
    made = hired(world, "c1")
    made.turn()
    yield made
    made.worker.end()


@pytest.fixture
def committed(monkeypatch: pytest.MonkeyPatch) -> list[frozenset[Boundary]]:
    """Return what has been committed of creations and claims, by whomever."""
    found: list[frozenset[Boundary]] = []
    run = StoreTransactions.run

    def noted(self: StoreTransactions, boundaries: frozenset[Boundary], *work: Any, **how: Any) -> Any:
        done = run(self, boundaries, *work, **how)
        if boundaries & TOGETHER:
            found.append(boundaries)
        return done

    monkeypatch.setattr(StoreTransactions, "run", noted)
    return found


def turn(world: World, hand: Hand, times: int = 1) -> None:
    """Let the leader look for what is to be created, and go on."""
    world.clock.advance(POLL)
    hand.turn(times)


def test_what_is_created_at_rest_is_begun_in_the_same_transaction(
    world: World, hand: Hand, committed: list[frozenset[Boundary]]
) -> None:
    world.batch(steps=1)
    world.submit()
    turn(world, hand)

    assert committed == [TOGETHER]
    assert (world.statuses(), len(hand.runner.started)) == (["running"], 1)
    assert [name for name in world.names() if name.endswith((".created", ".started"))] == [
        "instance.created",
        "step.started",
    ]


def test_every_batch_of_the_row_is_begun_for_which_there_is_a_place(
    world: World, hand: Hand, committed: list[frozenset[Boundary]]
) -> None:
    world.batch("A", steps=1, Entity="E")
    world.batch("B", steps=1, Entity="E")
    world.submit("E")
    turn(world, hand)

    assert committed == [TOGETHER]
    assert world.statuses() == ["running", "ready"]


@pytest.mark.parametrize("slots", [1, 2])
def test_others_hear_of_what_is_left_for_them_and_of_nothing_else(world: World, slots: int) -> None:
    world.batch("A", steps=1, Entity="E")
    world.batch("B", steps=1, Entity="E")
    leader = hired(world, "c1", slots=slots)
    leader.turn()
    other = world.open()
    other.changed()
    world.sql("INSERT INTO FileProcess (Entity) VALUES ('E')")
    with other.read() as connection:
        connection.exec_driver_sql("SELECT 1")
    other.changed()
    turn(world, leader)
    with other.read() as connection:
        connection.exec_driver_sql("SELECT 1")

    heard = other.changed()
    leader.worker.end()
    assert len(leader.runner.started) == slots
    if world.database.kind == "postgresql":
        assert heard == (Change.INSTANCES if slots == 1 else Change.NOTHING)
    else:
        assert heard is Change.ANYTHING


def test_what_a_batch_has_no_place_for_is_created_and_waits(
    world: World, hand: Hand, committed: list[frozenset[Boundary]]
) -> None:
    world.batch(steps=1, MaxConcurrent=1)
    other = hired(world, "c2")
    world.runner.script = other.runner.script = lambda rendered: RUNS_ON
    world.submit(file_name="first")
    world.create()
    other.turn()
    committed.clear()
    world.submit(file_name="second")
    turn(world, hand)

    assert committed == [TOGETHER]
    assert (world.statuses(), len(hand.runner.started)) == (["running", "ready"], 0)
    other.worker.end()


def test_a_populator_that_refuses_rejects_its_row_and_nothing_else(world: World, hand: Hand) -> None:
    def picky(row: IntakeRow) -> Populated:
        if row.file_name == "poison":
            message = "this file is poison"
            raise CannotPopulate(message)
        return Populated()

    world.populators.by_name["picky"] = picky
    world.batch(steps=1, Populator="picky")
    world.submit(file_name="poison")
    world.submit(file_name="sound")
    turn(world, hand, 4)

    assert world.sql("SELECT Status FROM FileProcess ORDER BY 1") == [("complete",), ("rejected",)]
    assert world.statuses() == ["complete"]


def test_a_duplicate_is_found(world: World, hand: Hand) -> None:
    world.batch(steps=1)
    for _ in range(2):
        world.submit(Data="k")
        turn(world, hand, 4)

    assert world.sql("SELECT Status FROM FileProcess ORDER BY FileProcess_id") == [("complete",), ("duplicate",)]


def test_nonsense_that_reaches_the_database_rejects_its_row_and_nothing_else(world: World, hand: Hand) -> None:
    world.populators.by_name["odd"] = lambda row: Populated(data=(row.file_name, None, None, None, None, 1j))  # type: ignore[arg-type] # nonsense on purpose
    world.batch("odd", Populator="odd")
    world.batch("sound", steps=1)
    world.submit("odd")
    world.submit("sound")
    turn(world, hand, 4)

    assert world.sql("SELECT Status FROM FileProcess ORDER BY 1") == [("complete",), ("rejected",)]
    assert hand.worker.controller.failure is None


@pytest.mark.parametrize("failure", [Conflict("somebody was at it"), RuntimeError("nobody foresaw it")])
def test_what_cannot_be_begun_at_once_is_created_alone_and_begun_after_that(
    world: World,
    hand: Hand,
    committed: list[frozenset[Boundary]],
    monkeypatch: pytest.MonkeyPatch,
    failure: Exception,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise failure

    world.batch(steps=1)
    world.submit()
    with monkeypatch.context() as broken:
        broken.setattr(instances, "ask_in_line", refuse)
        turn(world, hand)
    assert (committed, world.statuses()) == ([ALONE], ["ready"])

    hand.turn(3)
    assert world.statuses() == ["complete"]
    assert [event.name for event in hand.events].count("instance.created") == 1


def test_a_row_that_somebody_keeps_locked_waits_alone(rows_world: World, client: Client) -> None:
    world = rows_world
    world.batch(steps=1)
    hand = hired(world, "c1")
    hand.turn()
    world.submit(file_name="locked")
    world.submit(file_name="free")
    client.sql("BEGIN")
    client.sql("SELECT * FROM FileProcess WHERE FileProcess_id = 1 FOR UPDATE")
    turn(world, hand, 4)
    beside = world.sql("SELECT FileProcess_id, Status FROM BatchControl")
    client.sql("ROLLBACK")
    turn(world, hand, 4)

    assert beside == [(2, "complete")]
    assert sorted(world.sql("SELECT FileProcess_id, Status FROM BatchControl")) == [(1, "complete"), (2, "complete")]
    hand.worker.end()


def test_a_row_that_was_locked_until_it_was_paused_slows_nobody_any_more(
    rows_world: World, client: Client, committed: list[frozenset[Boundary]]
) -> None:
    world = rows_world
    world.batch(steps=1)
    hand = hired(world, "c1")
    hand.turn()
    world.submit()
    client.sql("BEGIN")
    client.sql("UPDATE FileProcess SET Status = 'paused'")
    turn(world, hand)
    client.sql("COMMIT")
    turn(world, hand)
    committed.clear()
    world.submit(file_name="next")
    turn(world, hand)

    assert committed == [TOGETHER]
    hand.worker.end()


def test_a_batch_that_another_claims_from_keeps_nobody_from_creating(rows_world: World, client: Client) -> None:
    world = rows_world
    world.batch(steps=1)
    hand = hired(world, "c1")
    hand.turn()
    world.submit()
    client.sql("BEGIN")
    client.sql("SELECT * FROM ProcessBatch FOR NO KEY UPDATE")
    turn(world, hand)
    beside = world.statuses()
    client.sql("ROLLBACK")
    hand.turn(3)

    assert (beside, world.statuses()) == (["ready"], ["complete"])
    hand.worker.end()


@pytest.mark.parametrize("is_made", [False, True])
def test_nobody_knows_what_became_of_it_until_it_is_looked_up(
    world: World, hand: Hand, monkeypatch: pytest.MonkeyPatch, is_made: bool
) -> None:
    run = StoreTransactions.run

    def lost(self: StoreTransactions, boundaries: frozenset[Boundary], *work: Any, **how: Any) -> Any:
        if boundaries == TOGETHER:
            if is_made:
                run(self, boundaries, *work, **how)
            message = "the connection was lost"
            raise OutcomeUnknown(message)
        return run(self, boundaries, *work, **how)

    world.batch(steps=1)
    world.submit()
    with monkeypatch.context() as broken:
        broken.setattr(StoreTransactions, "run", lost)
        turn(world, hand)
    assert (isinstance(hand.worker.controller.failure, OutcomeUnknown), len(hand.runner.started)) == (True, 0)

    for _ in range(4):
        turn(world, hand)
    assert world.statuses() == ["complete"]
    assert len(hand.runner.started) == 1


def test_between_the_notice_and_the_step_lie_three_round_trips(
    rows_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = rows_world
    world.batch(steps=1)
    leader = hired(world, "c1")
    for number in range(2):
        world.submit(file_name=f"f{number}")
        turn(world, leader, 4)
    pipeline = list[None]()
    heard = postgresql._while_heard

    def noted(work: Any) -> Any:
        pipeline.append(None)
        return heard(work)

    def started(rendered: Rendered) -> StepOutcome | None:
        at_start.append(len(pipeline))
        return OK

    at_start = list[int]()
    leader.runner.script = started
    world.submit(file_name="last")
    monkeypatch.setattr(postgresql, "_while_heard", noted)
    while not at_start:
        pipeline.clear()
        leader.turn()

    # What misses instances; all that is looked at and created; claim, beginning and commit.
    assert at_start == [3]
    leader.worker.end()


def test_a_division_by_zero_in_somebodys_trigger_is_told_as_what_it_is(rows_world: World, client: Client) -> None:
    client.sql(
        "CREATE FUNCTION breaks() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN PERFORM 1 / (NEW.BatchControl_id - NEW.BatchControl_id); RETURN NEW; END'"
    )
    client.sql("CREATE TRIGGER breaks BEFORE INSERT ON BatchControl FOR EACH ROW EXECUTE FUNCTION breaks()")
    rows_world.batch()
    rows_world.submit()
    rows_world.create()

    assert rows_world.one("SELECT Status FROM FileProcess") == "rejected"
    assert "division by zero" in rows_world.one("SELECT Message FROM FileProcess")


@pytest.mark.parametrize("moment", ["infinity", "-infinity", "20000-01-01", "0044-03-15 BC"])
def test_a_time_that_is_no_day_of_the_calendar_is_refused_and_stops_nothing(
    rows_world: World, client: Client, moment: str
) -> None:
    rows_world.batch(steps=1)
    rows_world.submit()
    rows_world.create()
    with pytest.raises(client.Refused, match="CK_BatchControl_NextRunTime"):
        client.sql("UPDATE BatchControl SET NextRunTime = ?::timestamp", moment)
    rows_world.process()

    assert rows_world.statuses() == ["complete"]
