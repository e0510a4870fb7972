"""Who acts, and how: one transaction for all of an act, with its rows in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from batchctl.domain.errors import Refused
from batchctl.domain.text import unfit
from batchctl.ports import Boundary, Change, Clock, Notify, Transactions
from batchctl.store import Connection
from batchctl.store.maintenance import audit_entries
from batchctl.store.maintenance.audit_entries import Acted, By

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Acts for a user of a host. With `dry_run` nothing may be written."""

    transactions: Transactions
    clock: Clock
    user: str
    host: str
    dry_run: bool = False

    @property
    def who(self) -> str:
        """Name the user and the host."""
        return f"{self.user}@{self.host}"

    def act(self, work: Callable[[Connection], Result], *also: Boundary) -> Result:
        """Do the whole of an act in one transaction; in a dry run lend it a connection for reading."""
        if self.dry_run:
            with self.transactions.read() as connection:
                return work(connection)
        return self.transactions.run(frozenset({Boundary.OPERATOR, *also}), work)

    def note(
        self,
        connection: Connection,
        action: str,
        target: str,
        reason: str | None,
        before: Mapping[str, object],
        after: Mapping[str, object],
    ) -> None:
        """Write down what was done to one row."""
        audit_entries.add(connection, self._by, action, target, reason, before, after)

    def note_all(self, connection: Connection, acts: Iterable[Acted], reason: str | None) -> None:
        """Write down what was done to many rows."""
        audit_entries.add_all(connection, self._by, acts, reason)

    @property
    def _by(self) -> By:
        return By(self.user, self.host, self.clock.now())


@dataclass(frozen=True, slots=True)
class Joined:
    """A transaction that is under way, for what makes its own otherwise: its work becomes a part of that one."""

    connection: Connection

    @contextmanager
    def read(self) -> Iterator[Any]:
        """Lend the connection of the transaction."""
        yield self.connection

    def run(
        self, boundaries: frozenset[Boundary], work: Callable[[Connection], Result], *, nowait: bool = False
    ) -> Result:
        """Do the work in the transaction that is under way."""
        del boundaries, nowait
        return work(self.connection)

    def changed(self) -> Change:
        """Return no change: nothing within a transaction asks."""
        return Change.NOTHING

    def notify(self) -> Notify | None:
        """Return None: nothing waits within a transaction."""
        return None


def checked_reason(reason: str | None) -> str | None:
    """Return the reason of an act; refuse one that cannot be stored, or is empty."""
    failure = None if reason is None else unfit(reason)
    if failure is not None:
        raise Refused(f"The reason cannot be kept: {failure}.")
    if reason is not None and not reason.strip():
        raise Refused("The reason is empty; say why, so that others understand it later.")
    return reason
