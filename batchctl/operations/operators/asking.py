"""Acts that a program asks for in a person's name, because its login may not do them: a row each, which the leader answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from batchctl.domain.errors import NotFound, Refused
from batchctl.domain.operators.request_verbs import AskedAct
from batchctl.domain.operators.requests import Request, RequestId
from batchctl.domain.status import RequestStatus
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.ports import Transactions
from batchctl.store import Connection
from batchctl.store.maintenance import audit_entries
from batchctl.store.operators import operator_requests

ASK = "ask"
"""What the audit log calls it: the row beside it says who asked from where, and the leader's row who has acted."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks for a person."""

    actor: Actor

    def ask(self, asked: AskedAct) -> RequestId:
        """Insert the row that asks for an act."""
        return self.actor.act(lambda connection: self.add(connection, asked))

    def add(self, connection: Connection, asked: AskedAct) -> RequestId:
        """Do so within a transaction."""
        checked_reason(asked.reason)
        request_id = operator_requests.add(connection, asked, self.actor.user)
        after = {
            "Action": asked.verb.value,
            "BatchControl_id": asked.instance_id,
            "ProcessBatchName": asked.batch,
            **asked.arguments,
        }
        kept = {name: value for name, value in after.items() if value is not None}
        self.actor.note(connection, ASK, target(request_id), asked.reason, {}, kept)
        return request_id

    def add_all(self, connection: Connection, asked: Sequence[AskedAct]) -> list[RequestId]:
        """Insert many at once, for an act on many that has its own row in the audit log."""
        return operator_requests.add_all(connection, asked, self.actor.user)


def standing(transactions: Transactions, request_id: RequestId) -> Request:
    """Return a request as it stands; raises `NotFound`."""
    with transactions.read() as connection:
        found = operator_requests.load(connection, request_id)
    if found is None:
        raise NotFound(f"There is no OperatorRequest {request_id}.", next_step="batchctl requests")
    return found


def standing_all(transactions: Transactions, request_ids: Sequence[RequestId]) -> list[Request]:
    """Return some requests as they stand."""
    with transactions.read() as connection:
        return operator_requests.load_all(connection, request_ids)


def rows_made(transactions: Transactions, request_id: RequestId) -> Mapping[str, int]:
    """Return the rows that a request concerned or made, by the names of their keys: what was asked for in advance has none."""
    with transactions.read() as connection:
        asked = audit_entries.of_target(connection, target(request_id))
        acts = audit_entries.of_host(connection, target(request_id), asked[0].audit_id) if asked else []
    found: dict[str, int] = {}
    for act in acts:
        table, _, number = act.target.partition(":")
        after = json.loads(act.after or "{}")
        found |= {f"{table}_id": int(number)} if number.isdecimal() else {}
        found |= {name: value for name, value in after.items() if name.endswith("_id") and isinstance(value, int)}
    return found


def check_done(request: Request) -> None:
    """Refuse what the leader has refused, with its answer."""
    if request.status is RequestStatus.REFUSED:
        raise Refused(request.answer or f"OperatorRequest {request.request_id} is refused.")


def target(request_id: RequestId) -> str:
    """Return how the audit log names a request."""
    return f"OperatorRequest:{request_id}"
