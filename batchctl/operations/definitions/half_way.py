"""Instances that stand between the steps of a batch: which changes of its numbering would leave one nowhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from batchctl.domain.rows import BatchId, BatchInstance
from batchctl.domain.status import InstanceStatus
from batchctl.store import Connection, instances

AT_ONCE = 500
"""How many open instances are read at once."""


def stranded(
    connection: Connection, batch_id: BatchId, before: Collection[int], after: Collection[int]
) -> Iterator[tuple[BatchInstance, int]]:
    """Yield each open instance that has done, or stands before, a step whose number comes or goes; with that number.

    All open instances of the batch stay locked until the end of the transaction, so that none moves meanwhile.
    """
    changed = sorted({*before} ^ {*after})
    if not changed:
        return
    last = 0
    while page := instances.open_of(connection, batch_id, last, AT_ONCE):
        last = page[-1].instance_id
        for each in page:
            found = instances.load_locked(connection, each.instance_id)
            if found is not None and changed[0] <= _reach(found, before):
                yield found, changed[0]


def _reach(instance: BatchInstance, before: Collection[int]) -> int:
    """Return up to which step it is settled what an instance has done, or is about to do again."""
    has_begun = instance.claim_token > 0 and instance.status is not InstanceStatus.READY
    following = min((seq for seq in before if seq > instance.last_seq), default=instance.last_seq)
    return following if has_begun else instance.last_seq
