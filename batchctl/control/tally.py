"""Counting what happens."""

from __future__ import annotations

from dataclasses import dataclass, field

from batchctl.control.attempts import InstanceMessage, WrittenTurn
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import HistoryStatus, InstanceStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class PassReport:
    """What a pass did."""

    started: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    completed: int = 0
    failed_instances: tuple[InstanceId, ...] = ()


@dataclass(slots=True)
class Tally:
    """Counts what happens during a pass."""

    started: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    completed: int = 0
    failed_instances: dict[InstanceId, None] = field(default_factory=dict)

    def count(self, written: WrittenTurn) -> None:
        """Count what a transaction wrote."""
        self.started += len(written.starts)
        for told in written.announced:
            self._count(told)

    def _count(self, announced: InstanceMessage) -> None:
        if announced.instance.status is InstanceStatus.COMPLETE:
            self.completed += 1
        if announced.ended is None:
            return
        if announced.ended.status is HistoryStatus.SUCCESS:
            self.succeeded += 1
        elif announced.ended.status is HistoryStatus.CANCELLED:
            self.cancelled += 1
        elif announced.ended.status is not HistoryStatus.FENCED:  # Somebody else goes on with the instance.
            self.count_failed(announced.instance.instance_id)

    def count_failed(self, instance_id: InstanceId) -> None:
        """Count an attempt that did not succeed."""
        self.failed += 1
        self.failed_instances[instance_id] = None

    def report(self) -> PassReport:
        """Return the counts so far."""
        return PassReport(
            started=self.started,
            succeeded=self.succeeded,
            failed=self.failed,
            cancelled=self.cancelled,
            completed=self.completed,
            failed_instances=tuple(self.failed_instances),
        )
