"""An act on many instances that goes on by itself: the audit log keeps what was asked for, and so how far it has come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from batchctl.domain.errors import NotFound
from batchctl.domain.rows import AuditEntry, InstanceId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.text import fitting
from batchctl.operations import many
from batchctl.operations.decisions import Action
from batchctl.operations.intervene import Operator
from batchctl.operations.many import Act, ManyOutcome, Selection
from batchctl.operations.operators.acts import checked_reason
from batchctl.ports import Transactions
from batchctl.store.maintenance import audit_entries

MOST = 1000
"""How many are acted on at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunMany:
    """What was asked for, and what of it is done."""

    selection: Selection
    reason: str | None
    actor: str
    done: tuple[InstanceId, ...]

    @property
    def left(self) -> tuple[InstanceId, ...]:
        """Return those that are not done."""
        done = {*self.done}
        return tuple(one for one in self.selection.ids if one not in done)


def begin(operator: Operator, selection: Selection, token: str, reason: str | None) -> None:
    """Write down what is asked for; the instances are acted on one after the other, each in its own transaction."""
    reason = checked_reason(reason)
    asked = {"Status": selection.status.value, "Found": [*selection.ids[:MOST]]}
    operator.act(
        lambda connection: operator.note(connection, selection.action.value, _target(token), reason, {}, asked)
    )


def load(transactions: Transactions, token: str) -> BegunMany:
    """Return how far it has come; raises `NotFound`."""
    with transactions.read() as connection:
        first = next(iter(audit_entries.of_target(connection, _target(token))), None)
        if first is None:
            message = "No act on many instances was asked for under this address."
            raise NotFound(message, next_step="batchctl audit   (what was done)")
        selection = _selection(first)
        targets = [audit_entries.instance_target(one) for one in selection.ids]
        acts = audit_entries.of_targets(connection, targets, [first.action])
    own = {each.target for each in acts if _is_of(first, each)}
    done = tuple(one for one in selection.ids if audit_entries.instance_target(one) in own)
    return BegunMany(selection=selection, reason=first.reason, actor=first.actor, done=done)


def act_on(operator: Operator, begun: BegunMany, one: InstanceId, act: Act) -> ManyOutcome:
    """Act on one of them, if it stands as it was found."""
    return many.act_on(operator, replace(begun.selection, ids=(one,)), act)


def _selection(first: AuditEntry) -> Selection:
    after = json.loads(first.after or "{}")
    found = after.get("Found")
    ids = found if isinstance(found, Sequence) else ()
    return Selection(
        action=Action(first.action),
        status=InstanceStatus(str(after.get("Status"))),
        ids=tuple(InstanceId(one) for one in ids if isinstance(one, int)),
        of=(),
    )


def _is_of(first: AuditEntry, each: AuditEntry) -> bool:
    return each.audit_id > first.audit_id and (each.actor, each.reason) == (first.actor, first.reason)


def _target(token: str) -> str:
    return fitting(f"Many:{token}")
