"""Queueing a task inserts the row any program may insert, and refuses what the controller could only refuse later."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from batchctl.domain.errors import Refused
from batchctl.operations import tasks
from batchctl.operations.operators.acts import Actor
from batchctl.operations.tasks import Desk, OpenedQueue, Queued, TaskWish
from batchctl.plugin_api import Connection
from batchctl.preparation import Preparer
from batchctl.registry import Registry
from batchctl.store import engine
from batchctl.store.maintenance import schema
from batchctl.store.transactions import StoreTransactions
from batchctl.testing import context
from tests.control.world import World
from tests.control_databases import ControlDatabase

AROUND = context("/shop", connections={"wh": Connection("wh", "sqlite:///wh.db")})


@pytest.fixture
def fresh(empty_database: ControlDatabase) -> Iterator[World]:
    """Return a database as `db upgrade` makes it."""
    url, directory = empty_database.url, empty_database.directory
    transactions = StoreTransactions(engine.open_engine(url, directory, may_create=True))
    transactions.run(frozenset(), schema.upgrade)
    transactions.close()
    made = World(empty_database)
    enable(made)
    yield made
    made.close()


def enable(world: World, name: str = "Task", *roles: str, dry_run: bool = False) -> OpenedQueue:
    actor = Actor(transactions=world.transactions, clock=world.clock, user="anna", host="host1", dry_run=dry_run)
    return tasks.enable(actor, name, roles, reason="the nightly chores")


def queue(world: World, task: TaskWish, *, dry_run: bool = False) -> Queued:
    registry = Registry()
    preparer = Preparer(registry.handler, AROUND, "anna", "host1", "test")
    desk = Desk(
        transactions=world.transactions,
        clock=world.clock,
        populators=registry,
        preparer=preparer,
        user="anna",
        host="host1",
        dry_run=dry_run,
    )
    return desk.queue(task)


def rows(world: World) -> list[tuple[object, ...]]:
    return world.sql("SELECT Entity, FileName, Data, Status, Source FROM FileProcess ORDER BY FileProcess_id")


def test_a_command_and_sql_become_rows_that_a_hand_could_have_inserted(fresh: World) -> None:
    command = queue(fresh, TaskWish(body="wc -l x"))
    sql = queue(fresh, TaskWish(body="DELETE FROM x", connection="wh"))

    assert (command.intake_id, sql.intake_id) == (1, 2)
    assert (command.batch.name, command.batch.enabled, command.besides) == ("Task", True, ())
    assert "exec wc -l x" in command.command_text
    assert "DELETE FROM x" in sql.command_text
    assert rows(fresh) == [
        ("Task", None, "wc -l x", "ready", "submit by anna@host1"),
        ("Task", "wh", "DELETE FROM x", "ready", "submit by anna@host1"),
    ]
    assert sql.columns()["FileName"] == "wh"


def test_identical_tasks_are_no_duplicates_of_each_other(fresh: World) -> None:
    for _ in range(3):
        queue(fresh, TaskWish(body="wc -l x"))
    fresh.create()

    assert fresh.statuses() == ["ready", "ready", "ready"]


def test_a_dry_run_shows_the_command_and_inserts_nothing(fresh: World) -> None:
    shown = queue(fresh, TaskWish(body="wc -l x"), dry_run=True)

    assert shown.intake_id is None
    assert "exec wc -l x" in shown.command_text
    assert rows(fresh) == []


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (TaskWish(body=" \n"), "The task is empty"),
        (TaskWish(body="a\x00b"), "The task cannot be queued: it contains a NUL"),
        (TaskWish(body="\udcff"), "The task cannot be queued: it contains bytes"),
        (TaskWish(body="SELECT 1", connection="wg"), "Connection 'wg' is not in the configuration. Known: wh."),
        (TaskWish(body="SELECT 1", connection=""), "Connection '' is not in the configuration"),
        (TaskWish(body="SELECT 'x", connection="wh"), "The task could not be carried out: Data2: a ' is never closed"),
        (TaskWish(body="file:x.sql", connection="wh"), "the SQL of a task stands in its body"),
        (TaskWish(body="echo 'x"), "The task could not be carried out: Data1: the command cannot be split"),
        (TaskWish(body="true", entity="Tsk"), "No batch carries out tasks of entity 'Tsk'. Did you mean 'Task'?"),
    ],
)
def test_what_could_not_be_carried_out_is_refused_and_not_inserted(fresh: World, task: TaskWish, said: str) -> None:
    with pytest.raises(Refused) as refused:
        queue(fresh, task)

    assert said in refused.value.message
    assert "BatchControl 0" not in refused.value.message
    assert refused.value.next_step
    assert rows(fresh) == []


def test_a_connection_whose_name_a_file_name_would_hide_is_refused(fresh: World) -> None:
    context_here = context("/", connections={"a/wh": Connection("a/wh", "sqlite:///a.db"), **AROUND.connections})
    registry = Registry()
    desk = Desk(
        transactions=fresh.transactions,
        clock=fresh.clock,
        populators=registry,
        preparer=Preparer(registry.handler, context_here, "anna", "host1", "test"),
        user="anna",
        host="host1",
    )

    with pytest.raises(Refused, match="Batch Task would run it as SQL on 'wh', not as SQL on 'a/wh'"):
        desk.queue(TaskWish(body="SELECT 1", connection="a/wh"))
    assert rows(fresh) == []


def test_somebody_elses_batch_of_that_entity_is_named(fresh: World) -> None:
    fresh.batch("Mine", Entity="Other")
    fresh.batch("Watcher", Entity="Task")

    assert queue(fresh, TaskWish(body="true")).besides == ("Watcher",)
    with pytest.raises(Refused, match="batch Mine has no step of ProcessType 'task'"):
        queue(fresh, TaskWish(body="true", entity="Other"))


def test_a_queue_of_ones_own_runs_on_its_own_connection(fresh: World) -> None:
    batch_id = fresh.batch("Nightly", steps=0, DuplicateCheck=0, MaxConcurrent=2)
    fresh.step(batch_id, 10, ProcessType="task", Data1="wh", Data2="{Data3}")

    done = queue(fresh, TaskWish(body="DELETE FROM x", connection="wh", entity="Nightly"))

    assert done.batch.name == "Nightly"
    assert rows(fresh)[0][:3] == ("Nightly", "wh", "DELETE FROM x")
    with pytest.raises(Refused, match="Batch Nightly would run it as SQL on 'wh', not as a command"):
        queue(fresh, TaskWish(body="rm x", entity="Nightly"))


def test_a_database_has_no_task_queue_until_somebody_makes_it_with_a_reason(world: World) -> None:
    with pytest.raises(Refused, match="No batch carries out tasks of entity 'Task'") as refused:
        queue(world, TaskWish(body="true"))
    assert str(refused.value.next_step).startswith("batchctl task enable --reason")

    assert enable(world, dry_run=True).is_made
    assert world.sql("SELECT * FROM ProcessBatch") == []
    done = enable(world, "Task", "loaders", "batchctl_operator")
    again = enable(world, "Task", "loaders")

    assert (done.is_made, done.roles, again.is_made, again.roles) == (
        *(True, ("loaders", "batchctl_operator")),
        *(False, ("loaders", "batchctl_operator")),
    )
    assert world.sql("SELECT Action, Target, Reason FROM AuditLog WHERE Host = 'host1'") == [
        ("task enable", "ProcessBatch:Task", "the nightly chores"),
        ("task enable", "Setting:TaskRoles", "the nightly chores"),
    ]
    assert queue(world, TaskWish(body="true")).batch.name == "Task"


def test_a_queue_that_was_disabled_is_enabled_and_a_batch_of_another_kind_is_left_alone(fresh: World) -> None:
    fresh.sql("UPDATE ProcessBatch SET Enabled = 0")
    fresh.batch("Load")

    assert enable(fresh).is_enabled
    assert fresh.sql("SELECT Enabled FROM ProcessBatch WHERE ProcessBatchName = 'Task'") == [(1,)]
    with pytest.raises(Refused, match="has no step of ProcessType 'task'"):
        enable(fresh, "Load")
    with pytest.raises(Refused, match="is no name of a role"):
        enable(fresh, "Task", "a b")


PLANTED = "INSERT INTO FileProcess (Entity, Data) VALUES ('Task', 'touch hit')"


def test_a_row_that_was_there_before_the_queue_is_held_and_counted(world: World) -> None:
    world.sql(PLANTED)
    world.sql("INSERT INTO FileProcess (Entity, Data) VALUES ('Other', 'touch hit')")

    assert (enable(world, dry_run=True).held, rows(world)[0][3]) == (1, "ready")
    assert enable(world).held == 1
    assert [(row[0], row[3]) for row in rows(world)] == [("Task", "paused"), ("Other", "ready")]
    assert "look at Data" in str(world.sql("SELECT Message FROM FileProcess WHERE Entity = 'Task'"))
    assert enable(world).held == 0


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_disabled_queue_in_which_tasks_wait_is_enabled_by_whoever_says_what_becomes_of_them(
    fresh: World, *, dry_run: bool
) -> None:
    fresh.sql("UPDATE ProcessBatch SET Enabled = 0")
    fresh.sql(PLANTED)

    with pytest.raises(Refused, match="This will start 1 of FileProcess rows") as refused:
        enable(fresh, dry_run=dry_run)
    assert str(refused.value.next_step).startswith("batchctl enable Task --reason ... --release none")
