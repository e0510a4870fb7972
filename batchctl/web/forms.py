"""Forms that were shown: each acts at most once, and on what was shown with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from batchctl.domain.rows import BatchInstance

MOST = 10_000
"""How many are remembered; the oldest are forgotten first, and have to be opened again."""


@dataclass
class Forms:
    """Remembers which forms were shown, with the instance as each showed it."""

    token: Callable[[int], str]
    _shown: dict[str, BatchInstance] = field(default_factory=dict)
    _sent: dict[str, None] = field(default_factory=dict)

    def show(self, instance: BatchInstance) -> str:
        """Return the number of a new form."""
        number = self.token(16)
        self._shown[number] = instance
        while len(self._shown) > MOST:
            del self._shown[next(iter(self._shown))]
        return number

    def send(self, number: str) -> BatchInstance | None:
        """Return what a form was shown with, once; None where it is not known, or was sent before."""
        found = self._shown.pop(number, None)
        if found is not None:
            self._sent[number] = None
            while len(self._sent) > MOST:
                del self._sent[next(iter(self._sent))]
        return found

    def was_sent(self, number: str) -> bool:
        """Say whether a form was sent before, as by a second click."""
        return number in self._sent
