"""Warning of rows that start nothing until somebody corrects them: once as long as the reason stays the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from batchctl.domain.status import SchedulerEvent
from batchctl.logs import Event, Listener
from batchctl.ports import Boundary, Clock, Transactions
from batchctl.store import scheduler_log
from batchctl.store.scheduler_log import Starting, WantedEvents

Row = tuple[str, int]
"""A table and the number of a row of it."""

_BOUNDARIES = frozenset({Boundary.SCHEDULE})


@dataclass(slots=True)
class RowWarnings:
    """Announces and logs what is wrong with rows; the log repeats nothing after a restart, nor from another node."""

    transactions: Transactions
    clock: Clock
    listener: Listener
    _announced: dict[Row, str] = field(default_factory=dict)
    """The last warning about each row."""

    def tell(self, row: Row, event: Event, wording: str, about: Starting) -> None:
        """Warn of what is wrong with a row; `about` says in `SchedulerLog` what would have started work."""
        if self._announced.get(row) == wording:
            return

        def log(connection: Any) -> None:
            scheduler_log.wait_for_others(connection, about.source)
            if about.entity is None:
                last = next(iter(scheduler_log.newest(connection, WantedEvents(source=about.source), 1)), None)
            else:
                last = scheduler_log.last_of(connection, about)
            if last is None or (last.event, last.message) != (SchedulerEvent.ERROR, wording):
                scheduler_log.add(connection, SchedulerEvent.ERROR, about, self.clock.now(), wording)

        self.transactions.run(_BOUNDARIES, log)
        self._announced[row] = wording
        self.listener(Event(event.name, {**event.fields, "Message": wording}))

    def forget(self, row: Row) -> None:
        """Let the next warning about a row be given, whatever it says."""
        self._announced.pop(row, None)
