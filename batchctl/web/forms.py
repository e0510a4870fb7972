"""Forms that were shown: each acts at most once, and on what was shown with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from batchctl.domain.errors import BatchctlError, DatabaseUnreachable

MOST = 10_000
"""How many are remembered; the oldest are forgotten first, and have to be opened again."""
UNSEEN = object()
"""Shown with a form that shows nothing to decide by: it is looked at once more before it acts."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a person has seen who decides by it."""

    seen: object


@dataclass
class Forms:
    """Remembers which forms were shown, with what each showed, and where those have led that were sent."""

    token: Callable[[int], str]
    _shown: dict[str, Shown] = field(default_factory=dict)
    _sent: dict[str, str | None] = field(default_factory=dict)
    _done: dict[str, str] = field(default_factory=dict)

    def show(self, seen: object) -> str:
        """Return the number of a new form."""
        number = self.token(16)
        self._shown[number] = Shown(seen)
        _forget(self._shown)
        return number

    def send(self, number: str) -> Shown | None:
        """Return what a form was shown with, once; None where it is not known, or was sent before."""
        found = self._shown.pop(number, None)
        if found is not None:
            self._sent[number] = None
            _forget(self._sent)
        return found

    def led(self, number: str, where: str) -> None:
        """Remember where a form has led that was sent: there a second click leads, too."""
        if number in self._sent:
            self._sent[number] = where

    @contextmanager
    def acting(self, number: str, shown: Shown) -> Iterator[None]:
        """Let a form be sent again where the act is refused; where it is unknown what was done, it has to be looked at anew."""
        try:
            yield
        except DatabaseUnreachable:
            self._sent.pop(number, None)
            raise
        except BatchctlError:
            self._sent.pop(number, None)
            self._shown[number] = shown
            raise

    def was_sent(self, number: str) -> bool:
        """Say whether a form was sent before, as by a second click."""
        return number in self._sent

    def where(self, number: str) -> str | None:
        """Return where a form has led that was sent before; None where it is under way still."""
        return self._sent.get(number)

    def note_done(self, number: str, message: str) -> None:
        """Keep what a form has done, to be said on the page that follows."""
        self._done[number] = message
        _forget(self._done)

    def done(self, number: str) -> str | None:
        """Return what a form has done, once."""
        return self._done.pop(number, None)


def _forget(kept: dict[str, Shown] | dict[str, str | None] | dict[str, str]) -> None:
    while len(kept) > MOST:
        del kept[next(iter(kept))]
