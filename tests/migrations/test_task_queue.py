"""The batch Task comes with the tables, and never in anybody's way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from batchctl.operations import checking
from batchctl.registry import Registry
from batchctl.store import definitions, engine, schema
from batchctl.store.transactions import StoreTransactions
from batchctl.testing import surroundings
from tests.control_databases import ControlDatabase, Hand

BATCH = "INSERT INTO ProcessBatch (ProcessBatchName, Entity) VALUES (?, ?)"


@pytest.fixture
def older(empty_database: ControlDatabase) -> Iterator[StoreTransactions]:
    """Return the way to a database as the version before the task queue made it."""
    url, directory = empty_database.url, empty_database.directory
    made = StoreTransactions(engine.open_engine(url, directory, may_create=True))
    made.run(frozenset(), lambda connection: schema.upgrade(connection, "0003"))
    yield made
    made.close()


@pytest.fixture
def hand(older: StoreTransactions, empty_database: ControlDatabase) -> Iterator[Hand]:
    made = empty_database.hand()
    yield made
    made.close()


def names(hand: Hand) -> list[Any]:
    return hand.sql("SELECT ProcessBatchName, Enabled, MaxConcurrent FROM ProcessBatch ORDER BY ProcessBatch_id")


def test_a_fresh_database_has_it_ready_for_use_and_check_finds_nothing(older: StoreTransactions, hand: Hand) -> None:
    older.run(frozenset(), schema.upgrade)

    with older.read() as connection:
        (batch,) = definitions.all_batches(connection)
    (step,) = batch.steps
    assert (batch.name, batch.entity, batch.enabled, batch.on_failure.value) == ("Task", "Task", True, "continue")
    assert (batch.max_concurrent, batch.duplicate_check, batch.retry_count, batch.seq) == (1000, False, 0, 1000)
    assert (step.seq, step.process_type, step.data) == (10, "task", ("{Data2}", "{Data3}", None, None, None, None))
    assert checking.check(older, Registry.load(), surroundings("/")) == ()


def test_where_there_are_batches_already_a_person_has_to_enable_it(older: StoreTransactions, hand: Hand) -> None:
    hand.sql(BATCH, "Orders", None)

    older.run(frozenset(), schema.upgrade)

    assert names(hand) == [("Orders", 1, 1), ("Task", 0, 1000)]


@pytest.mark.parametrize("theirs", [("Task", None), ("Task", "Other"), ("Chores", "Task")])
def test_a_batch_or_entity_of_that_name_is_left_as_it_is(
    older: StoreTransactions, hand: Hand, theirs: tuple[str, str | None]
) -> None:
    hand.sql(BATCH, *theirs)

    older.run(frozenset(), schema.upgrade)

    assert names(hand) == [(theirs[0], 1, 1)]
    assert hand.sql("SELECT count(*) FROM ProcessControl") == [(0,)]


def test_going_back_deletes_it_unless_there_is_work_of_it(older: StoreTransactions, hand: Hand) -> None:
    def there_and_back() -> list[Any]:
        older.run(frozenset(), lambda connection: schema.downgrade(connection, "0003"))
        return names(hand)

    older.run(frozenset(), schema.upgrade)
    assert there_and_back() == []
    assert hand.sql("SELECT count(*) FROM ProcessControl") == [(0,)]

    older.run(frozenset(), schema.upgrade)
    hand.sql("INSERT INTO FileProcess (Entity, Data) VALUES ('Task', 'true')")
    hand.sql(
        "INSERT INTO BatchControl (ProcessBatch_id, FileProcess_id)"
        " SELECT ProcessBatch_id, FileProcess_id FROM ProcessBatch CROSS JOIN FileProcess"
    )
    assert there_and_back() == [("Task", 1, 1000)]
    older.run(frozenset(), schema.upgrade)
    assert names(hand) == [("Task", 1, 1000)]
    assert hand.sql("SELECT count(*) FROM ProcessControl") == [(1,)]
