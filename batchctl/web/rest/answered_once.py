"""Requests that were sent with a key: each acts once, however often it is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

MOST = 10_000
"""How many are remembered; the oldest are forgotten first."""
MOST_CHARACTERS = 200
"""How long a key may be."""


@dataclass(frozen=True, slots=True)
class Given:
    """What was answered: the status, and the body."""

    status: int
    body: str


@dataclass
class AnsweredOnce:
    """Remembers by person and key what a request was, and what was answered; None while it is under way."""

    _known: dict[tuple[str, str], tuple[str, Given | None]] = field(default_factory=dict)

    def begin(self, who: str, key: str, request: bytes) -> Given | Callable[[Given | None], None] | None:
        """Return what was answered before, or else what keeps an answer; None where it cannot be either.

        That is so where the key was used for another request, or this one is still under way.
        """
        digest, place = hashlib.sha256(request).hexdigest(), (who, key)
        if place in self._known:
            known, given = self._known[place]
            return given if known == digest else None
        self._known[place] = digest, None
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]

        def keep(given: Given | None) -> None:
            if given is None:
                self._known.pop(place, None)
            else:
                self._known[place] = digest, given

        return keep
