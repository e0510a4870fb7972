"""Why a batch that depends on others has not started: what has completed, what is missing, and until when it may be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from batchctl.domain.operators import freezes
from batchctl.domain.rows import BatchDefinition, BatchId, BatchInstance, CompletionId, InstanceId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.text import typed, visible
from batchctl.domain.values import value

_LATEST = datetime.max.replace(tzinfo=UTC)
_STANDS = {
    InstanceStatus.READY: "has not begun yet",
    InstanceStatus.RUNNING: "is running",
    InstanceStatus.RETRY: "has failed and waits for its retry",
    InstanceStatus.FAILED: "has failed",
    InstanceStatus.HELD: "is held: a person decides",
    InstanceStatus.PAUSING: "is running, and paused then",
    InstanceStatus.PAUSED: "is paused",
    InstanceStatus.CANCELLING: "is being cancelled",
    InstanceStatus.CANCELLED: "was cancelled",
}


USED_BEFORE = "is complete, and that was used before: another instance has to complete"
TOO_EARLY = "had completed before the dependency was registered, which does not count"


@value
class AwaitedUpstream:
    """A batch of which no completion waits, and why."""

    batch_id: Annotated[BatchId, "DependsOnBatch_id"]
    name: Annotated[str, "ProcessBatchName"]
    instance_id: InstanceId | None
    reason: str
    due: Annotated[datetime, "Deadline"]
    """Until when that is in order."""
    next_step: Annotated[str, "Next"]


@value
class Wait:
    """A batch that lacks something to start for a CycleKey."""

    batch: BatchDefinition
    cycle_key: str | None
    since: datetime
    """When the first waiting completion came."""
    lacking: Sequence[AwaitedUpstream]
    announced: datetime | None
    """When it was first seen to take too long."""
    first: CompletionId
    """The first waiting completion."""

    @property
    def due(self) -> datetime | None:
        """Return until when it may wait; None where nothing is missing any more."""
        return min((one.due for one in self.lacking), default=None)

    @property
    def next_step(self) -> str | None:
        """Return what to type about the first that is missing; None where nothing is."""
        return next((one.next_step for one in self.lacking), None)

    def is_overdue(self, now: datetime) -> bool:
        """Say whether it takes too long."""
        return self.due is not None and now > self.due

    @property
    def reason(self) -> str:
        """Return on one line what it waits for."""
        if self.batch.is_in_cycle:
            return "it depends on itself, by way of others or at once, so no completion starts it: batchctl check"
        return "; ".join(f"{visible(one.name)} {one.reason}" for one in self.lacking) or "nothing: it starts at once"


def lacking(
    wait_since: datetime,
    waiting: BatchDefinition,
    missing: BatchId,
    batch: BatchDefinition | None,
    newest: BatchInstance | None,
    now: datetime,
    *,
    cycle_key: str | None,
    was_offered: bool = False,
) -> AwaitedUpstream:
    """Return why no completion of a batch waits; `newest`, its newest for the CycleKey, `was_offered` or not."""
    deadline = next(one.deadline for one in waiting.dependencies if one.depends_on == missing)
    # Somebody may have written by hand that it waits from the end of all times.
    due = wait_since if wait_since >= _LATEST - deadline else wait_since + deadline
    if batch is None:
        return AwaitedUpstream(missing, f"batch {missing}", None, "does not exist", due, "batchctl check")
    if newest is None:
        for_key = "" if cycle_key is None else f" --cycle-key {typed(cycle_key)}"
        by_hand = f"asked for by hand: batchctl submit {typed(batch.entity)}{for_key}"
        reason = "has no instance for this CycleKey yet"
        next_step = f"batchctl why batch:{typed(batch.name)}   ({by_hand})"
    elif newest.status is not InstanceStatus.COMPLETE:
        reason, next_step = _STANDS[newest.status], f"batchctl why {newest.instance_id}"
    elif was_offered:
        reason = USED_BEFORE
        next_step = f"batchctl inbox resend {newest.intake_id} --reason ...   (if it is to run once more)"
    else:
        reason = TOO_EARLY
        first = f" --from {batch.steps[0].seq}" if batch.steps else ""
        next_step = f"batchctl rerun {newest.instance_id}{first} --reason ...   (completing anew counts)"
    if not batch.enabled:
        reason, next_step = (
            f"{reason}, and the batch is disabled",
            f"batchctl enable {typed(batch.name)} --reason ...",
        )
    elif (freeze := freezes.holding(batch, now)) is not None:
        reason, next_step = f"{reason}, and {freezes.scope_of(freeze)} is frozen", freezes.thawing(freeze)
    if newest is None:
        return AwaitedUpstream(missing, batch.name, None, reason, due, next_step)
    said = f"(BatchControl {newest.instance_id}) {reason}"
    return AwaitedUpstream(missing, batch.name, newest.instance_id, said, due, next_step)
