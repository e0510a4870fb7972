"""Who acts on definitions, and how: one transaction for all of an act, with its rows in the audit log."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from batchctl.domain.records import JsonValue
from batchctl.operations.operators.given import fitting
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store.maintenance import audit_entries

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Acts on definitions for a user of a host. With `dry_run` nothing may be written."""

    transactions: Transactions
    clock: Clock
    user: str
    host: str
    dry_run: bool = False

    def act(self, work: Callable[[Any], Result]) -> Result:
        """Do the whole of an act in one transaction; in a dry run lend it a connection for reading."""
        if self.dry_run:
            with self.transactions.read() as connection:
                return work(connection)
        return self.transactions.run(frozenset({Boundary.OPERATOR}), work)

    def note(
        self,
        connection: Any,
        action: str,
        target: str,
        reason: str | None,
        before: Mapping[str, JsonValue],
        after: Mapping[str, JsonValue],
    ) -> None:
        """Write down what was done to one row."""
        audit_entries.add(
            connection,
            actor=fitting(self.user),
            host=fitting(self.host),
            action=action,
            target=fitting(target),
            reason=reason,
            before=json.dumps(dict(before)),
            after=json.dumps(dict(after)),
            now=self.clock.now(),
        )

    def note_all(
        self,
        connection: Any,
        acts: Iterable[tuple[str, str, Mapping[str, JsonValue], Mapping[str, JsonValue]]],
        reason: str | None,
    ) -> None:
        """Write down what was done to many rows: of each the action, the target, and what it changed."""
        rows = [
            (action, fitting(target), json.dumps(dict(before)), json.dumps(dict(after)))
            for action, target, before, after in acts
        ]
        actor, host, now = fitting(self.user), fitting(self.host), self.clock.now()
        audit_entries.add_all(connection, rows, actor=actor, host=host, reason=reason, now=now)
