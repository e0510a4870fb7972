"""The slots and resources of an agent, and what its steps take of them, for all controllers together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from batchctl.domain.rule_texts import HostNeeds, taken_by

RESERVED = 10.0
"""Seconds for which a slot is kept for a step that was made ready, and has not begun."""
Place = tuple[str, str, str, int]
"""A database, a pool, a controller, and the instance that it has a slot kept for."""


@dataclass(slots=True)
class AgentRoom:
    """Keeps slots for steps that were made ready: two controllers that see the same free one do not both begin in it.

    All but `seen_by` is called by one thread at a time.
    """

    slots: int
    resources: Mapping[str, float]
    carried: Callable[[], Collection[HostNeeds | None]]
    """Returns what the steps need that are under way."""
    monotonic: Callable[[], float]
    _kept: dict[Place, tuple[float, HostNeeds | None]] = field(default_factory=dict)
    """Until when each slot is kept, and what is besides."""

    def keep(self, place: Place, needs: HostNeeds | None) -> bool:
        """Keep a slot, and what is needed besides; false where there is none."""
        self._kept.pop(place, None)
        if not self._has(needs):
            return False
        self._kept[place] = self.monotonic() + RESERVED, needs
        return True

    def begin(self, place: Place, needs: HostNeeds | None) -> bool:
        """Give back what was kept for a step that begins now; false where nothing was any more, and there is no room."""
        is_kept = self._kept.pop(place, (0.0, None))[0] > self.monotonic()
        return is_kept or self._has(needs)

    def give_back(self, place: Place) -> None:
        """Keep a slot no longer."""
        self._kept.pop(place, None)

    def seen_by(self, controller: tuple[str, str, str]) -> tuple[int, Mapping[str, float]]:
        """Return how many slots are taken and what is besides, but for what is kept for a controller itself."""
        now, others = self.monotonic(), self._kept.copy()
        kept = [needs for place, (until, needs) in others.items() if until > now and place[:3] != controller]
        held = [*self.carried(), *kept]
        return len(held), taken_by(held)

    def _has(self, needs: HostNeeds | None) -> bool:
        now = self.monotonic()
        self._kept = {place: one for place, one in self._kept.items() if one[0] > now}
        held = [*self.carried(), *(its for _, its in self._kept.values())]
        if len(held) >= self.slots:
            return False
        taken = taken_by(held)
        return needs is None or needs.are_met(
            {name: most - taken.get(name, 0) for name, most in self.resources.items()}
        )
