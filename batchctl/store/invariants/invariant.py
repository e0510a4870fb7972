"""A law, and what the laws of several tables have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, exists, not_, or_, select

from batchctl.domain.status import InstanceStatus
from batchctl.store.maintenance.audit_entries import target_of
from batchctl.store.tables import audit_log, batch_control, batch_process_history, batch_version
from batchctl.store.tables import process_control as step

_h_done, _s_now = batch_process_history.alias("h_done"), step.alias("s_now")
CLAIMED = tuple(status.value for status in InstanceStatus if status.is_claimed)
DONE = ("success", "skipped")
BROKEN = ("failed", "timeout")
_WENT_PAST = select(batch_control.c.BatchControl_id).where(batch_control.c.StepsFailed.is_not(None))


@dataclass(frozen=True, slots=True)
class Invariant:
    """A law. `broken` returns the ids of the rows that break it; `mend` says what a person does then.

    Laws of one `reading` put one condition each to every one of the same rows, so that all can be asked at once.
    Where `broken` is no such condition, `suspicion` is one that holds for some row whenever the law is broken.
    """

    code: str
    law: str
    broken: Select[int]
    mend: str
    reading: str = ""
    suspicion: ColumnElement[bool] | None = None

    @property
    def key(self) -> ColumnElement[int]:
        """Return the column of the ids."""
        (key,) = self.broken.selected_columns
        return key

    @property
    def table(self) -> str:
        """Return the table of the rows."""
        return str(self.key.key).removesuffix("_id")


def rows_of(key: ColumnElement[int], *conditions: ColumnElement[bool]) -> Select[int]:
    """Return the query for the ids of the rows for which all of some conditions hold."""
    return select(key).where(*conditions)


def has_failed_for_good(attempt: Any) -> ColumnElement[bool]:
    """Return the condition that no retry followed a failure: `attempt` has the columns of the history."""
    return and_(attempt.Status.in_(BROKEN), attempt.NextRunTimeAfter.is_(None))


def lets_go_on(attempt: Any) -> ColumnElement[bool]:
    """Return the condition that the next step may follow an attempt: it did its work, or OnStepFailure goes past it."""
    may_be_passed = and_(has_failed_for_good(attempt), attempt.BatchControl_id.in_(_WENT_PAST))
    return or_(attempt.Status.in_(DONE), may_be_passed)


def is_as_it_was(instance_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that the definition still has every step that an instance has done: else it tells nothing."""
    done, at = _h_done.c, _s_now.c
    still_there = exists().where(
        at.ProcessBatch_id == done.ProcessBatch_id, at.ProcessControlSeq == done.ProcessControlSeq
    )
    return not_(exists().where(done.BatchControl_id == instance_id, done.Status.in_(DONE), not_(still_there)))


def acted_on(instance_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a person has done something to an instance, and not only changed its row by hand."""
    return exists().where(audit_log.c.Target == target_of(instance_id), audit_log.c.Action.not_like("row %"))


def is_written_down(batch_id: ColumnElement[int], version: ColumnElement[int | None]) -> ColumnElement[bool]:
    """Return the condition that somebody can look up what a batch was at a version."""
    return exists().where(batch_version.c.ProcessBatch_id == batch_id, batch_version.c.DefVersion == version)
