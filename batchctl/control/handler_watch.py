"""Reporting a plugin's step handler that hangs: its steps are refused, and a person has to correct it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from batchctl.domain.rows import InstanceId
from batchctl.ports import Change, Hang, Transactions
from batchctl.store import instances


@dataclass(frozen=True, slots=True)
class HandlerWatch:
    """A duty that fails until the handler answers again: so it is reported like all that keeps a controller from work.

    Where no caller waits for the answer any more, there is nothing to report.
    """

    hangs: Callable[[], Sequence[Hang]]
    transactions: Transactions
    name: str = "handlers"
    is_busy: bool = False

    def look(self, noticed: Change = Change.NOTHING) -> bool:
        """Raise the error about a handler that hangs."""
        del noticed
        return self.finish()

    def finish(self) -> bool:
        """Raise the error about a handler that hangs."""
        for hang in self.hangs():
            if hang.of is None or self._is_open(hang.of):
                raise hang.error.with_traceback(None)
        return False

    def _is_open(self, instance_id: InstanceId) -> bool:
        with self.transactions.read() as connection:
            instance = instances.load(connection, instance_id)
        return instance is not None and not instance.status.is_final
