"""Whether the rows that wait in a staging table start work: decided here, purely; counted and written elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from batchctl.domain.gates import Ends, Gate
from batchctl.domain.rows import DataTrigger, InstanceId, IntakeId
from batchctl.domain.text import visible

FORESEEN = timedelta(minutes=1)
"""Rows dated further ahead than this come from another clock, or from another time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What waits in a staging table. Ages go by the clock of its database; None where no row has a time."""

    pending: int
    undated: int = 0
    """How many of them have no time, though there is a CreatedColumn."""
    oldest: timedelta | None = None
    newest: timedelta | None = None
    new: int = 0
    """How many of them came after the trigger fired last."""
    oldest_new: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerVerdict:
    """Whether a trigger would fire, in words, and what was counted."""

    fires: bool
    reason: str
    counted: Counted
    due_in: timedelta | None = None
    """After how long it fires if nothing changes; None where only more rows can make it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """What keeps work from being started for an entity: work for it that is not done yet."""

    since: datetime
    intake_id: IntakeId
    instance_id: InstanceId | None = None
    """None for a `FileProcess` row that waits for its instances."""
    batch: Annotated[str, "ProcessBatchName"] = ""
    status: str = ""

    def __str__(self) -> str:
        """Return its name, and since when it waits."""
        since = f"{self.since:%Y-%m-%d %H:%M:%S} UTC"
        if self.instance_id is None:
            return f"FileProcess {self.intake_id} has waited for its instances since {since}"
        return f"BatchControl {self.instance_id} of batch {visible(self.batch)} is {self.status}; it began {since}"


@dataclass(frozen=True, slots=True)
class _Condition:
    is_met: bool
    wording: str
    due_in: timedelta | None = None


def overlap(blocker: Blocker | None) -> Gate:
    """Return the gate of work for the entity that is not done yet."""
    if blocker is None:
        return Gate(name="overlap")
    row = f"FileProcess {blocker.intake_id}" if blocker.instance_id is None else f"BatchControl {blocker.instance_id}"
    clear = f"batchctl why {blocker.instance_id or f'file:{blocker.intake_id}'}"
    return Gate(name="overlap", blocked=str(blocker), clear=clear, row=row, ends=Ends.HOLDER)


def fired_ago(trigger: DataTrigger, now: datetime) -> timedelta | None:
    """Return how long ago a trigger fired; None when it never did, or when a clock that was wrong dates it ahead."""
    if trigger.last_fired is None or trigger.last_fired > now:
        return None
    return now - trigger.last_fired


def passes_failed(trigger: DataTrigger, ago: timedelta | None) -> bool:
    """Say whether work that has failed may be passed over: what fails at once is not begun again all the time."""
    return ago is None or ago >= trigger.debounce


def decide(trigger: DataTrigger, counted: Counted, ago: timedelta | None) -> TriggerVerdict:
    """Decide whether a trigger fires that last did so some time `ago`; the first condition met is the reason."""
    if counted.pending == 0:
        return TriggerVerdict(fires=False, reason="no row is pending", counted=counted)
    conditions = [*_threshold(trigger, counted), *_idle(trigger, counted), *_new_rows(trigger, counted, ago)]
    for condition in conditions:
        if condition.is_met:
            return TriggerVerdict(fires=True, reason=condition.wording, counted=counted, due_in=timedelta(0))
    said = [*(condition.wording for condition in conditions), *_doubts(counted)]
    waits = [condition.due_in for condition in conditions if condition.due_in is not None]
    return TriggerVerdict(fires=False, reason="; ".join(said), counted=counted, due_in=min(waits, default=None))


def conditions_of(trigger: DataTrigger) -> str:
    """Describe when a trigger fires."""
    said = []
    if trigger.row_threshold is not None:
        said.append(_rows(trigger.row_threshold))
    if trigger.idle is not None:
        said.append(f"oldest {_minutes(trigger.idle)}")
    if trigger.on_new_rows:
        said.append(f"new rows, debounce {_seconds(trigger.debounce)}")
    return "; ".join(said)


def _threshold(trigger: DataTrigger, counted: Counted) -> Iterator[_Condition]:
    wanted = trigger.row_threshold
    if wanted is not None:
        yield _Condition(counted.pending >= wanted, f"{_rows(counted.pending)} (threshold {wanted})")


def _idle(trigger: DataTrigger, counted: Counted) -> Iterator[_Condition]:
    """Yield the condition on the age of the oldest row, which is not the time since the last row was written."""
    if trigger.idle is None or counted.oldest is None:
        return
    said = f"the oldest of {_rows(counted.pending)} is {_age(counted.oldest)} old (IdleMinutes {_number(trigger.idle)})"
    is_met = counted.oldest >= trigger.idle
    yield _Condition(is_met, said, trigger.idle - counted.oldest)


def _new_rows(trigger: DataTrigger, counted: Counted, ago: timedelta | None) -> Iterator[_Condition]:
    """Yield the condition on new rows: its debounce runs from the oldest of them, so more of them do not put it off."""
    if not trigger.on_new_rows:
        return
    debounce = _seconds(trigger.debounce)
    if trigger.created_column is None:
        waited = trigger.debounce if ago is None else ago
        said = f"{_rows(counted.pending)} (debounce {debounce} since it fired last)"
        yield _Condition(waited >= trigger.debounce, said, trigger.debounce - waited)
    elif counted.oldest_new is None:
        yield _Condition(is_met=False, wording=f"no new rows since it fired last, of {_rows(counted.pending)}")
    else:
        waited = counted.oldest_new if ago is None else min(counted.oldest_new, ago)
        said = f"{_rows(counted.new, 'new row')} (debounce {debounce})"
        yield _Condition(waited >= trigger.debounce, said, trigger.debounce - waited)


def _doubts(counted: Counted) -> Iterator[str]:
    if counted.undated:
        yield f"{_rows(counted.undated)} without a time in CreatedColumn"
    if counted.newest is not None and -counted.newest > FORESEEN:
        yield f"the newest is dated {_age(-counted.newest)} ahead: CreatedColumn has to be UTC"


def _rows(count: int, what: str = "row") -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _age(age: timedelta) -> str:
    return _minutes(age) if age >= timedelta(minutes=1) else _seconds(max(age, timedelta(0)))


def _minutes(length: timedelta) -> str:
    return f"{_number(length)} min"


def _number(length: timedelta) -> int:
    return int(length.total_seconds() // 60)


def _seconds(length: timedelta) -> str:
    return f"{int(length.total_seconds())} s"
