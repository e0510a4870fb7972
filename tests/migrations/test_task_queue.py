"""No database comes with a batch that runs whatever a row says; one that has it keeps it."""

from __future__ import annotations

from contextlib import closing

from batchctl.store import engine, schema
from batchctl.store.transactions import StoreTransactions
from tests.control_databases import ControlDatabase

TASK = """
INSERT INTO ProcessBatch (ProcessBatchName, Seq, OnFailure, MaxConcurrent, DuplicateCheck)
VALUES ('Task', 1000, 'continue', 1000, 0);
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
VALUES (1, 10, 'run the task', 'task', '{Data2}', '{Data3}')
"""


def test_a_new_database_has_no_batch_and_one_that_has_the_task_queue_keeps_it(empty_database: ControlDatabase) -> None:
    url, directory = empty_database.url, empty_database.directory
    with closing(StoreTransactions(engine.open_engine(url, directory, may_create=True))) as transactions:
        transactions.run(frozenset(), lambda connection: schema.upgrade(connection, "0022"))
        with closing(empty_database.hand()) as hand:
            assert hand.sql("SELECT ProcessBatchName FROM ProcessBatch") == []
            for statement in TASK.split(";"):
                hand.sql(statement)
            transactions.run(frozenset(), schema.upgrade)
            assert hand.sql("SELECT ProcessBatchName, Enabled, MaxConcurrent FROM ProcessBatch") == [("Task", 1, 1000)]
            assert hand.sql("SELECT ProcessType, Data1 FROM ProcessControl") == [("task", "{Data2}")]
