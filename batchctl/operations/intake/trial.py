"""What a trigger would do now, and which triggers there are: the read models behind `trigger`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from batchctl.domain.configuring import how_to_add_connection
from batchctl.domain.dead_ends import DeadEnd
from batchctl.domain.errors import NotFound
from batchctl.domain.gates import Ends, Gate
from batchctl.domain.intake import triggers
from batchctl.domain.intake.triggers import Blocker, Counted, TriggerVerdict, conditions_of
from batchctl.domain.outcomes import Finding
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import BatchDefinition, DataTrigger
from batchctl.domain.scheduling.modes import lets_triggers, takers_of
from batchctl.domain.status import ProcessingMode
from batchctl.domain.text import did_you_mean, is_invisible, typed, visible
from batchctl.domain.unreadable import UnreadableRow, taking
from batchctl.operations import shown_columns, unknown
from batchctl.operations.column_lists import ColumnList, by_row_id, is_enabled, record
from batchctl.operations.taken_entities import entity_findings, entity_gate, mode_gate
from batchctl.ports import Clock, Inquiries, Transactions
from batchctl.store import Connection, dead_end_rows
from batchctl.store.definitions import definitions
from batchctl.store.intake import data_triggers

Count = Callable[[DataTrigger, timedelta | None], Counted]

TRIGGERS = ColumnList[DataTrigger](
    "Data triggers",
    record(DataTrigger),
    {
        "name": "TriggerName",
        "state": is_enabled(lambda one: one.enabled),
        "entity": "Entity",
        "table": lambda one: f"{one.table} on {one.connection}",
        "pending": lambda one: f"{one.status_column} = {one.pending_value}",
        "fires at": conditions_of,
        "last fired (UTC)": "LastFired",
    },
    by_row_id,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a round of the leader's would make of a trigger; nothing was started and nothing written."""

    trigger: DataTrigger
    verdict: TriggerVerdict
    blocker: Blocker | None
    at: datetime
    poll_interval: timedelta
    is_let: bool = True
    """False when all batches that take its entity are started otherwise."""
    takers: Sequence[BatchDefinition] = ()
    unreadable: UnreadableRow | None = None
    """What cannot be read of a batch that takes its entity."""
    dead_end_starts: DeadEnd | None = None
    """What last kept a controller from firing it: that controller may have another configuration than this trial."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what has kept a controller from coming as far as this trial."""
        if self.dead_end_starts is None or not self.trigger.enabled:
            return ()
        return (
            f"A controller, at {self.dead_end_starts.since:%Y-%m-%d %H:%M:%S} UTC: {visible(self.dead_end_starts.message)}",
        )

    @property
    def would_fire(self) -> bool:
        """Say whether it would start work."""
        return self.verdict.fires and self.trigger.enabled and self.is_let and self.blocker is None

    @property
    def next_look(self) -> datetime | None:
        """Return when a leader looks again at the latest; None when none does."""
        return self.at + self.poll_interval if self.trigger.enabled and self.is_let else None

    @property
    def due(self) -> datetime | None:
        """Return when its conditions are met if no more rows come; None when that takes more rows."""
        return None if self.verdict.due_in is None else self.at + self.verdict.due_in

    @property
    def gates(self) -> tuple[Gate, ...]:
        """Return each condition; none of one that would fire blocks, but perhaps that no batch takes its entity."""
        row = f"DataTrigger {self.trigger.row_id}"
        return (*gates_of(self.trigger, self.takers, self.unreadable), self._rows(row), triggers.overlap(self.blocker))

    def _rows(self, row: str) -> Gate:
        if self.verdict.fires:
            return Gate(name="rows")
        ends = Ends.HOLDER if self.due is None else Ends.TIME
        return Gate(
            "rows", self.verdict.reason, f"batchctl trigger test {typed(self.trigger.name)}", row, ends, self.due
        )

    def columns(self) -> dict[str, JsonValue]:
        """Return it by names of columns, as far as there are such."""
        counted = self.verdict.counted
        return {
            "TriggerName": self.trigger.name,
            "Enabled": int(self.trigger.enabled),
            "LetByMode": self.is_let,
            "WouldFire": self.would_fire,
            "Reason": self.verdict.reason,
            "LastError": None if self.dead_end_starts is None else self.dead_end_starts.message,
            "Blocked": None if self.blocker is None else str(self.blocker),
            "PendingRows": counted.pending,
            "OldestRowAge": shown_columns.seconds(counted.oldest),
            "NewestRowAge": shown_columns.seconds(counted.newest),
            "NewRows": counted.new if self.trigger.created_column is not None else None,
            "LastFired": shown_columns.moment(self.trigger.last_fired),
            "DueTime": shown_columns.moment(self.due),
            "NextEvaluation": shown_columns.moment(self.next_look),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Evaluates a trigger as a leader does, up to where work would start."""

    transactions: Transactions
    clock: Clock
    inquiries: Inquiries
    count: Count
    poll_interval: timedelta

    def try_out(self, name: str) -> Trial:
        """Say what a trigger would do now; raises what a round would log as its error."""
        with self.transactions.read() as connection:
            trigger = _named(connection, name)
        now = self.clock.now()
        ago = triggers.fired_ago(trigger, now)
        self.inquiries.ask(trigger.row_id, partial(self.count, trigger, ago))
        self.inquiries.wait()
        (answer,) = self.inquiries.answers()
        if answer.error is not None:
            raise answer.error
        verdict = triggers.decide(trigger, answer.found, ago)
        with self.transactions.read() as connection:
            blocker = data_triggers.blocker(
                connection, trigger.entity, passes_failed=triggers.passes_failed(trigger, ago)
            )
            defined = definitions.read(connection)
            dead_end_starts = dead_end_rows.of_trigger(connection, trigger)
        takers = takers_of(trigger.entity, defined.batches)
        return Trial(
            trigger=trigger,
            verdict=verdict,
            blocker=blocker,
            at=now,
            poll_interval=self.poll_interval,
            is_let=lets_triggers(takers),
            takers=takers,
            unreadable=taking(trigger.entity, defined.unreadable),
            dead_end_starts=dead_end_starts,
        )


def gates_of(
    trigger: DataTrigger, takers: Sequence[BatchDefinition], unreadable: UnreadableRow | None
) -> Iterator[Gate]:
    """Yield what can be said before its rows are counted."""
    row, disabled = f"DataTrigger {trigger.row_id}", f"trigger {visible(trigger.name)} is disabled"
    yield Gate(name="enabled") if trigger.enabled else Gate("enabled", disabled, f"set Enabled of {row} to 1", row)
    is_let = lets_triggers(takers)
    yield mode_gate(takers, is_let=is_let, what="triggers", mode=ProcessingMode.TRIGGERED)
    yield entity_gate(trigger.entity, takers, unreadable, row)


def named(transactions: Transactions, name: str) -> tuple[DataTrigger, Sequence[BatchDefinition], UnreadableRow | None]:
    """Return a trigger, the batches that take its entity, and what cannot be read of one; raises `NotFound`."""
    with transactions.read() as connection:
        trigger, defined = _named(connection, name), definitions.read(connection)
    return trigger, takers_of(trigger.entity, defined.batches), taking(trigger.entity, defined.unreadable)


def everything(transactions: Transactions) -> tuple[list[DataTrigger], list[UnreadableRow]]:
    """Return all triggers, by name, and those that cannot be read."""
    with transactions.read() as connection:
        return data_triggers.everything(connection)


def _named(connection: Connection, name: str) -> DataTrigger:
    known, broken = data_triggers.everything(connection)
    unknown.refuse_start(broken, name)
    for trigger in known:
        if trigger.name == name:
            return trigger
    meant = did_you_mean(name, (trigger.name for trigger in known))
    raise NotFound(f"There is no trigger '{visible(name)}'.{visible(meant)}", next_step="batchctl trigger list")


def trigger_findings(
    trigger: DataTrigger,
    batches: Sequence[BatchDefinition],
    connections: Collection[str],
    unreadable: Iterable[UnreadableRow] = (),
) -> Iterator[Finding]:
    """Yield what keeps a trigger from starting work, or makes it start more than anybody can mean."""
    if trigger.name != trigger.name.strip() or any(map(is_invisible, trigger.name)):
        said = f"It holds an invisible character or a blank at an end: '{visible(trigger.name)}'."
        yield Finding("TriggerName", said)
    if trigger.connection not in connections:
        meant = visible(did_you_mean(trigger.connection, connections))
        said = f"Connection '{visible(trigger.connection)}' is not in the configuration.{meant}"
        yield Finding("ConnectionName", said, f"correct the row, or {how_to_add_connection(trigger.connection)}")
    yield from entity_findings(trigger.entity, batches, unreadable, "a trigger")
    yield from _of_conditions(trigger)


def _of_conditions(trigger: DataTrigger) -> Iterator[Finding]:
    if trigger.on_new_rows and trigger.row_threshold == 1:
        yield Finding("RowThreshold", "1 is met by the first row, so OnNewRows and its DebounceSeconds change nothing.")
    if trigger.on_new_rows and trigger.created_column is None and not trigger.debounce:
        said = "0 without a CreatedColumn starts work again at once, as long as the batch leaves any row pending."
        yield Finding("DebounceSeconds", said)
    if trigger.on_new_rows and trigger.idle is not None and trigger.idle <= trigger.debounce:
        said = "It is over before DebounceSeconds are, so OnNewRows changes nothing."
        yield Finding("IdleMinutes", said)
