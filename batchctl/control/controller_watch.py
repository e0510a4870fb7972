"""Which of the other controllers are dead: silent for long, or gone from this host."""

from __future__ import annotations

from dataclasses import dataclass, field

from batchctl.domain import liveness
from batchctl.domain.liveness import Rhythm, Sighting
from batchctl.domain.rows import ControllerRow
from batchctl.ports import Clock, Sightings, StepRunner, Transactions
from batchctl.store import controllers


@dataclass(slots=True)
class ControllerWatch:
    """What one controller sees of the others."""

    transactions: Transactions
    clock: Clock
    runner: StepRunner
    controller: str
    """The controller that watches."""
    rhythm: Rhythm
    noted: Sightings | None = None
    """What was seen at earlier starts, for a controller that runs too briefly to find others silent for long enough."""
    _sightings: dict[str, Sighting] = field(default_factory=dict)
    _rows: dict[str, ControllerRow] = field(default_factory=dict)
    """The row of each controller as last seen: somebody may delete it."""

    def dead(self) -> dict[str | None, ControllerRow | None]:
        """Return by name the dead controllers that have something open or no end, each with its row if there is one."""
        with self.transactions.read() as connection:
            owners = controllers.owners(connection) - {self.controller}
            rows = controllers.watched(connection, owners)
        rows.pop(self.controller, None)
        names = {name for name in owners if name is not None} | rows.keys()
        known = self._sightings or ({} if self.noted is None else self.noted.recall())
        self._sightings = {name: seen for name, seen in known.items() if name in names}
        self._rows = {name: row for name, row in self._rows.items() if name in names} | rows
        found: dict[str | None, ControllerRow | None] = {
            name: rows.get(name) for name in sorted(names) if self._is_dead(name, rows.get(name))
        }
        if None in owners:
            found[None] = None  # What no controller owns stands under None.
        if self.noted is not None and self._sightings != known:
            self.noted.note(self._sightings)
        return found

    def is_overdue(self, name: str) -> bool:
        """Say whether a controller has been silent for long enough."""
        return liveness.is_overdue(self._sightings[name], self._rows.get(name), self.clock.monotonic(), self.rhythm)

    def _is_dead(self, name: str, row: ControllerRow | None) -> bool:
        self._sightings[name] = liveness.seen(self._sightings.get(name), row, self.clock.monotonic())
        last = self._rows.get(name)
        return self.is_overdue(name) or (last is not None and self.runner.is_gone(last))
