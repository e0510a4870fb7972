"""Forms that were shown: each acts at most once, and on what was shown with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

MOST = 10_000
"""How many are remembered; the oldest are forgotten first, and have to be opened again."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person has seen who decides by it."""

    seen: object


@dataclass
class Forms:
    """Remembers which forms were shown, with what each showed."""

    token: Callable[[int], str]
    _shown: dict[str, Shown] = field(default_factory=dict)
    _sent: dict[str, None] = field(default_factory=dict)

    def show(self, seen: object) -> str:
        """Return the number of a new form."""
        number = self.token(16)
        self._shown[number] = Shown(seen)
        while len(self._shown) > MOST:
            del self._shown[next(iter(self._shown))]
        return number

    def send(self, number: str) -> Shown | None:
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
