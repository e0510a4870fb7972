"""An act on many instances that goes on by itself: the audit log keeps what was asked for, and so how far it has come."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from batchctl.domain.errors import NotFound
from batchctl.domain.operators.request_verbs import AskedAct, Verb
from batchctl.domain.operators.requests import Request, RequestId
from batchctl.domain.rows import AuditEntry, InstanceId
from batchctl.domain.status import InstanceStatus, RequestStatus
from batchctl.domain.text import fitting
from batchctl.operations import many
from batchctl.operations.column_lists import ColumnList
from batchctl.operations.decisions import Action
from batchctl.operations.intervene import Operator
from batchctl.operations.many import Act, ManyOutcome, Selection
from batchctl.operations.operators.acts import checked_reason
from batchctl.operations.operators.asking import Asker
from batchctl.ports import Transactions
from batchctl.store import Connection
from batchctl.store.maintenance import audit_entries
from batchctl.store.maintenance.audit_entries import Acted
from batchctl.store.operators import operator_requests

MOST = 1000
"""How many are acted on at once."""
_REQUESTS, _INSTANCE, _MESSAGE = "Requests", "BatchControl_id", "Message"


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunMany:
    """What was asked for, and what of it is done."""

    selection: Selection
    reason: str | None
    actor: str
    done: tuple[InstanceId, ...]
    is_asked: bool = False
    """Whether each was asked for by a row, which the leader answers."""
    refused: Mapping[InstanceId, str] = field(default_factory=dict)
    """What was refused, and why: it is not tried again."""
    requests: Mapping[InstanceId, RequestId] = field(default_factory=dict)
    """By which row each was asked for, if it was."""

    @property
    def left(self) -> tuple[InstanceId, ...]:
        """Return those that are neither done nor refused."""
        over = {*self.done, *self.refused}
        return tuple(one for one in self.selection.ids if one not in over)

    @property
    def narrowed(self) -> Mapping[str, str]:
        """Return to which requests the statement is narrowed that shows what was refused, where each was asked for."""
        refused = [str(self.requests[one]) for one in self.refused if one in self.requests]
        return {"requests": ", ".join(refused)} if refused else {}


REFUSED = ColumnList[tuple[InstanceId, str]](
    "Refused",
    {_INSTANCE: lambda one: one[0], _MESSAGE: lambda one: one[1]},
    {"instance#": _INSTANCE, "because": _MESSAGE},
)


def begin(operator: Operator, selection: Selection, token: str, reason: str | None) -> None:
    """Write down what is asked for; the instances are acted on one after the other, each in its own transaction."""
    reason = checked_reason(reason)
    asked = {"Status": selection.status.value, "Found": [*selection.ids[:MOST]]}
    operator.act(
        lambda connection: operator.note(connection, selection.action.value, many_target(token), reason, {}, asked)
    )


def ask(asker: Asker, selection: Selection, token: str, reason: str | None) -> None:
    """Ask for the act on each by a row, and write down which rows these are."""
    reason = checked_reason(reason)
    meant = {"status": selection.status.value}
    verb, found = Verb(selection.action.value), selection.ids[:MOST]
    asked = [AskedAct(verb=verb, instance_id=one, arguments=meant, reason=reason) for one in found]

    def act(connection: Connection) -> None:
        requests = asker.add_all(connection, asked)
        after = {"Status": selection.status.value, "Found": [*found], _REQUESTS: requests}
        asker.actor.note(connection, selection.action.value, many_target(token), reason, {}, after)

    asker.actor.act(act)


def load(transactions: Transactions, token: str) -> BegunMany:
    """Return how far it has come; raises `NotFound`."""
    with transactions.read() as connection:
        written = audit_entries.of_target(connection, many_target(token))
        if not written:
            message = "No act on many instances was asked for under this address."
            raise NotFound(message, next_step="batchctl audit   (what was done)")
        first = written[0]
        after = json.loads(first.after or "{}")
        selection = _selection(first, after)
        if (numbers := after.get(_REQUESTS)) is not None:
            return _asked(first, selection, operator_requests.load_all(connection, numbers))
        targets = [audit_entries.instance_target(one) for one in selection.ids]
        acts = audit_entries.of_targets(connection, targets, [first.action])
    # What others have done to it since then counts, too: nothing is done twice because two persons wanted it.
    over = {each.target for each in acts if each.audit_id > first.audit_id}
    done = tuple(one for one in selection.ids if audit_entries.instance_target(one) in over)
    refused = {at: said for at, said in _refused(first, written) if at not in done}
    return BegunMany(selection=selection, reason=first.reason, actor=first.actor, done=done, refused=refused)


def act_on(operator: Operator, begun: BegunMany, token: str, one: InstanceId, act: Act) -> ManyOutcome:
    """Act on one of them, if it stands as it was found; write down why it is refused."""
    outcome = many.act_on(operator, replace(begun.selection, ids=(one,)), act)
    if outcome.refused:
        target, action = many_target(token), _refused_action(begun.selection.action)
        acts: list[Acted] = [(action, target, {}, {_INSTANCE: at, _MESSAGE: said}) for at, said in outcome.refused]
        operator.act(lambda connection: operator.note_all(connection, acts, begun.reason))
    return outcome


def _refused_action(action: str) -> str:
    return f"{action} refused"


def _refused(first: AuditEntry, written: Sequence[AuditEntry]) -> Iterator[tuple[InstanceId, str]]:
    for entry in written:
        if entry.action == _refused_action(first.action):
            after = json.loads(entry.after or "{}")
            yield InstanceId(int(after.get(_INSTANCE, 0))), str(after.get(_MESSAGE, ""))


def _asked(first: AuditEntry, selection: Selection, requests: Sequence[Request]) -> BegunMany:
    by_instance = {InstanceId(one.instance_id or 0): one for one in requests}
    of = {status: [at for at, one in by_instance.items() if one.status is status] for status in RequestStatus}
    return BegunMany(
        selection=selection,
        reason=first.reason,
        actor=first.actor,
        done=(*of[RequestStatus.DONE],),
        is_asked=True,
        refused={at: by_instance[at].answer or "" for at in of[RequestStatus.REFUSED]},
        requests={at: one.request_id for at, one in by_instance.items()},
    )


def _selection(first: AuditEntry, after: Mapping[str, Any]) -> Selection:
    found = after.get("Found")
    ids = found if isinstance(found, Sequence) else ()
    return Selection(
        action=Action(first.action),
        status=InstanceStatus(str(after.get("Status"))),
        ids=tuple(InstanceId(one) for one in ids if isinstance(one, int)),
        of=(),
    )


def many_target(token: str) -> str:
    """Return how the audit log names an act on many."""
    return fitting(f"Many:{token}")
