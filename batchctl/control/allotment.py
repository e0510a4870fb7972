"""How long one turn may ask plugins, while everybody waits for that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from batchctl.ports import Clock

Answer = TypeVar("Answer")

MOST = 1.0
"""Seconds for which a turn asks plugins: signs of life have to go on, and on SQLite no other can write meanwhile."""


@dataclass(slots=True)
class Allotment:
    """What is left of that time. One question may always be asked, else nothing would ever go on."""

    clock: Clock
    seconds: float = MOST
    _left: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin with all of it."""
        self.renew()

    def renew(self) -> None:
        """Begin a turn."""
        self._left = self.seconds

    def spend(self, ask: Callable[[], Answer]) -> Answer:
        """Ask, however long it takes."""
        began = self.clock.monotonic()
        try:
            return ask()
        finally:
            self._left -= self.clock.monotonic() - began

    @property
    def is_left(self) -> bool:
        """Say whether anything more may be asked in this turn."""
        return self._left > 0
