"""The instances page by page, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from batchctl.domain.rows import BatchInstance, InstancesWanted
from batchctl.operations import unknown
from batchctl.operations.column_lists import ColumnList, record
from batchctl.ports import Transactions
from batchctl.store import reports
from batchctl.store.definitions import definitions


@dataclass(frozen=True, slots=True)
class ListedInstance:
    """An instance, and what its batch is called."""

    instance: BatchInstance
    batch: Annotated[str, "ProcessBatchName"]


INSTANCES = ColumnList[ListedInstance](
    "Instances",
    record(ListedInstance),
    {
        "id#": "BatchControl_id",
        "batch": "ProcessBatchName",
        "status": "Status",
        "done up to#": "PrevProcessControlSeq",
        "retries left#": "RetryCount",
        "next run (UTC)": "NextRunTime",
        "cycle": "CycleKey",
        "file": lambda one: one.instance.file_name,
        "claimed by": "ClaimedBy",
    },
)


def page(transactions: Transactions, wanted: InstancesWanted, most: int) -> tuple[ListedInstance, ...]:
    """Return the newest instances; raises `NotFound` when there is no such batch."""
    with transactions.read() as connection:
        batches = {batch.batch_id: batch for batch in definitions.all_batches(connection)}
        batch = None if wanted.batch is None else unknown.named(connection, batches.values(), wanted.batch)
        found = reports.newest(connection, wanted, None if batch is None else batch.batch_id, most)
    return tuple(
        ListedInstance(one, batches[one.batch_id].name if one.batch_id in batches else f"(ProcessBatch {one.batch_id})")
        for one in found
    )
