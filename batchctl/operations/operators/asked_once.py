"""Requests of programs that are sent with a key: each acts once, however often it is sent, also after a restart."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from batchctl.domain.text import fitting
from batchctl.operations.operators.acts import Actor
from batchctl.store import Connection
from batchctl.store.operators import login_rows

KEPT = timedelta(days=1)
"""How long it is known what was answered."""
LOOKED_AT_EVERY = 50
"""After how many requests those are deleted that are older."""


@dataclass(frozen=True, slots=True)
class Given:
    """What was answered: the status, and the body."""

    status: int
    body: str


@dataclass(frozen=True, slots=True)
class AskedOnce:
    """Keeps by person and key what was asked, and what was answered."""

    actor: Actor

    def begin(self, who: str, key: str, request: bytes) -> Given | int | None:
        """Return what was answered before, or else the number of what is asked now; None where it cannot be either.

        That is so where the key was used for another request, or this one is under way: a console that was killed in the
        middle of one leaves it so.
        """
        digest, now = hashlib.sha256(request).hexdigest(), self.actor.clock.now()

        def act(connection: Connection) -> Given | int | None:
            found = login_rows.request_of(connection, fitting(who), key)
            number = None if found is not None else login_rows.add_request(connection, fitting(who), key, digest, now)
            if number is not None:
                if number % LOOKED_AT_EVERY == 0:
                    login_rows.remove_old(connection, now - KEPT)
                return number
            found = found or login_rows.request_of(connection, fitting(who), key)
            if found is None or found.body_hash != digest or found.status is None:
                return None
            return Given(found.status, found.answer or "")

        return self.actor.act(act)

    def end(self, number: int, given: Given | None) -> None:
        """Keep what was answered; without an answer nothing was done, and it may be asked again."""

        def act(connection: Connection) -> None:
            if given is None:
                login_rows.remove_request(connection, number)
            else:
                login_rows.answer_request(connection, number, given.status, given.body)

        self.actor.act(act)
