"""Freezing batches and thawing them: each act is one transaction, with its rows in the audit log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from batchctl.domain import gates
from batchctl.domain.errors import Conflict, InvalidInput, NotFound, Refused
from batchctl.domain.operators import freezes
from batchctl.domain.operators.freezes import Scope
from batchctl.domain.operators.release import Choice
from batchctl.domain.records import JsonValue
from batchctl.domain.rows import NEVER, BatchDefinition, Freeze, FreezeId
from batchctl.domain.text import did_you_mean, fitting, visible
from batchctl.domain.unreadable import UnreadableRow
from batchctl.operations import shown_columns, unknown
from batchctl.operations.column_lists import ColumnList, StatusWord, by_row_id, record
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.operations.operators.releasing import Released, let_go
from batchctl.operations.shown_columns import Columns
from batchctl.ports import Transactions
from batchctl.store import Connection
from batchctl.store.definitions import definitions
from batchctl.store.operators import freeze_rows

UNTIL = "such as 2h, 30m, 3d, or a time in UTC: '2026-11-23 06:00'"
_LIST = "batchctl freezes"
TO_SAY_UNTIL, TO_SAY_LATER = "the same with --until 2h", "the same with a later --until, or without one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What was frozen, or would be."""

    freeze: Freeze
    """How it is frozen now: as it was already, where that lasts as long."""
    was_frozen: Freeze | None
    is_new: bool
    batches: tuple[str, ...]
    dry_run: bool

    def columns(self) -> Columns:
        """Return it for programs."""
        return {**shown_columns.of(self.freeze), "New": self.is_new, "Batches": list(self.batches)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thawed:
    """What was thawed, or would be."""

    freezes: tuple[Freeze, ...]
    released: Released | None
    still: tuple[tuple[str, Freeze], ...]
    """Batches that are frozen all the same, by something else."""
    dry_run: bool

    def columns(self) -> Columns:
        """Return it for programs."""
        return {
            "Thawed": [shown_columns.of(one) for one in self.freezes],
            "Waited": None if self.released is None else self.released.columns(),
            "StillFrozen": [name for name, _ in self.still],
        }


@dataclass(frozen=True, slots=True)
class Freezer:
    """Freezes and thaws for a person."""

    actor: Actor

    def freeze(self, scope: Scope, *, reason: str, until: str | None = None) -> Frozen:
        """Let nothing new start; what is frozen already for at least as long stays as it is, unaudited."""
        checked_reason(reason)

        def act(connection: Connection) -> Frozen:
            if not self.actor.dry_run:
                freeze_rows.lock_freezes(connection)
            batches, now = definitions.all_batches(connection), self.actor.clock.now()
            ends = _end(until, now)
            meant = [batch.name for batch in batches if scope.covers(batch.name, batch.tags)]
            _check(connection, scope, meant, batches)
            before = _lasting([one for one in freeze_rows.standing(connection) if scope.is_of(one)], now)
            freeze = Freeze(
                freeze_id=FreezeId(0),
                batch=scope.batch,
                tag=scope.tag,
                reason=reason,
                actor=fitting(self.actor.user),
                since=now,
                until=ends,
            )
            is_new = before is None or freezes.ends_later(freeze, before)
            if is_new and not self.actor.dry_run:
                freeze = replace(freeze, freeze_id=freeze_rows.add(connection, freeze))
                self.actor.note(connection, "freeze", target(freeze), reason, {}, shown_columns.of(freeze))
            return Frozen(
                freeze=freeze if is_new or before is None else before,
                was_frozen=before,
                is_new=is_new,
                batches=tuple(meant),
                dry_run=self.actor.dry_run,
            )

        return self.actor.act(act)

    def thaw(self, of: Scope | FreezeId, *, reason: str, choice: Choice | None = None) -> Thawed:
        """End every freeze of just that, or the one with that number; what has waited may start, as was chosen."""
        checked_reason(reason)

        def act(connection: Connection) -> Thawed:
            now, batches = self.actor.clock.now(), definitions.all_batches(connection)
            standing = freeze_rows.standing(connection)
            found = _meant(connection, of, standing, batches, now)
            ids = {freeze.freeze_id for freeze in found}
            after = [
                replace(batch, freezes=tuple(one for one in batch.freezes if one.freeze_id not in ids))
                for batch in batches
            ]
            concerned = [
                (now_open, batch)
                for batch, now_open in zip(batches, after, strict=True)
                if len(now_open.freezes) < len(batch.freezes)
            ]
            opened = [one.name for one, was in concerned if gates.is_open(one, now) and not gates.is_open(was, now)]
            released = let_go(self.actor, connection, after, opened, choice, reason) if found else None
            for freeze in found if not self.actor.dry_run else ():
                if not freeze_rows.thaw(connection, freeze.freeze_id, fitting(self.actor.user), now):
                    message = f"Somebody has just thawed {target(freeze)}."
                    raise Conflict(message)
                done = replace(freeze, thawed_at=now, thawed_by=fitting(self.actor.user))
                was, became = shown_columns.changes(shown_columns.of(freeze), shown_columns.of(done))
                self.actor.note(connection, "thaw", target(freeze), reason, was, became)
            return Thawed(
                freezes=tuple(found),
                released=released,
                still=tuple((one.name, held) for one, _ in concerned if (held := freezes.holding(one, now))),
                dry_run=self.actor.dry_run,
            )

        return self.actor.act(act)


def listed(
    transactions: Transactions, now: datetime, most: int, *, everything: bool
) -> tuple[list[Freeze], list[UnreadableRow]]:
    """Return the freezes that hold, oldest first; or also those that are over, newest first; and what of them cannot be read."""
    with transactions.read() as connection:
        broken = freeze_rows.unreadable(connection, everything=everything)
        if everything:
            return freeze_rows.newest(connection, most), broken
        return [freeze for freeze in freeze_rows.standing(connection) if freeze.holds(now)][:most], broken


def freezes_at(now: datetime, idle: Mapping[FreezeId, str]) -> ColumnList[Freeze]:
    """Return the column list of freezes at a time; of some it says why they freeze nothing."""

    def state(freeze: Freeze) -> StatusWord:
        if freeze.freeze_id in idle:
            return StatusWord("freezes nothing")
        return StatusWord("frozen" if freeze.holds(now) else "thawed" if freeze.thawed_at else "over")

    return ColumnList(
        "Freezes",
        {
            **record(Freeze),
            "Holds": lambda one: one.holds(now),
            "FreezesNothing": lambda one: idle.get(one.freeze_id),
        },
        {
            "id#": "BatchFreeze_id",
            "of": freezes.scope_of,
            "": state,
            "since (UTC)": "z_inserted",
            "until (UTC)": _over_at,
            "who": "Actor",
            "reason": "Reason",
        },
        by_row_id,
    )


def as_json(columns: ColumnList[Freeze], found: Sequence[Freeze], broken: Sequence[UnreadableRow]) -> list[JsonValue]:
    """Return freezes for programs; one of which something cannot be read says so beside what can."""
    said = {row.row_id: {"Unreadable": row.message, "Next": row.mend} for row in broken}
    readable: list[JsonValue] = [{**columns.of(one), **said.pop(one.freeze_id, {})} for one in found]
    return [*readable, *columns.as_json([], [row for row in broken if row.row_id in said])]


def _over_at(one: Freeze) -> object:
    ends = one.thawed_at or one.until or NEVER
    return "somebody thaws it" if ends >= NEVER else ends


def idle(transactions: Transactions, found: Iterable[Freeze]) -> dict[FreezeId, str]:
    """Say of the freezes that freeze nothing why."""
    with transactions.read() as connection:
        batches = definitions.all_batches(connection)
    said = {freeze.freeze_id: freezes_nothing(freeze, batches) for freeze in found}
    return {number: why for number, why in said.items() if why is not None}


def _end(until: str | None, now: datetime) -> datetime | None:
    """Read until when; raises `Refused`."""
    if until is None:
        return None
    ends = freezes.end_of(until, now)
    if ends is None:
        raise InvalidInput(f"'{visible(until)}' says no time; write one {UNTIL}.", next_step=TO_SAY_UNTIL)
    if ends <= now:
        message = f"{ends:%Y-%m-%d %H:%M:%S} UTC is over: it is {now:%Y-%m-%d %H:%M:%S} UTC. Nothing is frozen."
        raise Refused(message, next_step=TO_SAY_LATER)
    return ends


def _check(connection: Connection, scope: Scope, meant: Sequence[str], batches: Sequence[BatchDefinition]) -> None:
    if scope.batch is not None and scope.tag is not None:
        raise Refused("A batch or a tag can be frozen, not both at once: freeze one, then the other.")
    if meant:
        return
    if scope.batch is not None:
        raise unknown.batch(connection, batches, scope.batch)
    if scope.tag is not None:
        hint = visible(did_you_mean(scope.tag, {tag for batch in batches for tag in batch.tags}))
        message = f"No batch has the tag '{visible(scope.tag)}'.{hint}"
        raise NotFound(message, next_step="batchctl batches --json   (Tags of ProcessBatch)")


def _lasting(found: Sequence[Freeze], now: datetime) -> Freeze | None:
    return freezes.longest(freeze for freeze in found if freeze.holds(now))


def _meant(
    connection: Connection,
    of: Scope | FreezeId,
    standing: Sequence[Freeze],
    batches: Sequence[BatchDefinition],
    now: datetime,
) -> list[Freeze]:
    """Return the freezes to be ended; none where all are over already."""
    if isinstance(of, Scope):
        found = [one for one in standing if of.is_of(one) and one.holds(now)]
        if not found:
            _refuse_other(connection, of, standing, batches, now)
        return found
    if freeze_rows.load(connection, of) is None:
        raise NotFound(f"There is no freeze {of}.", next_step=_LIST)
    return [one for one in standing if one.freeze_id == of and one.holds(now)]


def _refuse_other(
    connection: Connection, scope: Scope, standing: Iterable[Freeze], batches: Sequence[BatchDefinition], now: datetime
) -> None:
    """Refuse to thaw what another freeze keeps frozen: it would be taken for thawed afterwards."""
    meant = [batch for batch in batches if scope.covers(batch.name, batch.tags)]
    if not any(scope.is_of(one) for one in standing):
        _check(connection, scope, [batch.name for batch in meant], batches)
    for batch in meant:
        held = freezes.holding(batch, now)
        if held is not None:
            message = f"There is no freeze of just {scope}, but {freezes.wording(held)}."
            raise Refused(message, next_step=freezes.thawing(held))


def target(freeze: Freeze) -> str:
    """Return how the audit log names a freeze."""
    return f"BatchFreeze:{freeze.freeze_id}"


def freezes_nothing(freeze: Freeze, batches: Sequence[BatchDefinition]) -> str | None:
    """Say of a freeze that what it names is not there; None where it freezes something, or everything."""
    scope = freezes.scope_of(freeze)
    if any(scope.covers(batch.name, batch.tags) for batch in batches):
        return None
    if freeze.batch is not None:
        near = did_you_mean(freeze.batch, [batch.name for batch in batches])
        return f"There is no batch '{visible(freeze.batch)}', so the row freezes nothing.{visible(near)}"
    if freeze.tag is not None:
        near = did_you_mean(freeze.tag, {tag for batch in batches for tag in batch.tags})
        return f"No batch has the tag '{visible(freeze.tag)}', so the row freezes nothing.{visible(near)}"
    return None
