"""Who may come in: a code that is shown on the terminal once, and the sessions that it begins."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

IDLE = timedelta(minutes=30)
"""How long a session lasts without a request."""
LONGEST = timedelta(hours=12)
"""How long it lasts in any case."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(minutes=15)
"""How long no code is looked at after a wrong one: twice as long each time, up to this."""


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that has been let in, for one person."""

    who: str
    began: datetime
    used: datetime

    def is_over(self, now: datetime) -> bool:
        """Say whether it has ended by itself."""
        return now - self.used >= IDLE or now - self.began >= LONGEST


@dataclass
class Door:
    """Lets browsers in by a code.

    Each code opens once: the next one is shown when it was used. Of a session only the hash of its token is kept, and
    only in this process: a restart ends all.
    """

    who: str
    """Whom the sessions act for: the user who has started the console."""
    now: Callable[[], datetime]
    token: Callable[[int], str]
    """Makes so many random bytes."""
    show: Callable[[str], None]
    """Shows a new code to the person at the terminal."""
    _code: str = ""
    _sessions: dict[str, Session] = field(default_factory=dict)
    _wrong: int = 0
    _shut_until: datetime | None = None

    def __post_init__(self) -> None:
        """Show the first code."""
        self._renew()

    def enter(self, code: str) -> str | None:
        """Return the token of a new session; None where the code is wrong."""
        if not hmac.compare_digest(code.strip().encode(), self._code.encode()):
            self._wrong += 1
            self._shut_until = self.now() + min(FIRST_WAIT * 2 ** (self._wrong - 1), LONGEST_WAIT)
            return None
        self._wrong, self._shut_until = 0, None
        self._renew()
        token, now = self.token(32), self.now()
        self._sessions = {key: one for key, one in self._sessions.items() if not one.is_over(now)}
        self._sessions[_key(token)] = Session(self.who, now, now)
        return token

    @property
    def shut_for(self) -> timedelta | None:
        """Return how long no code is looked at, because the last ones were wrong."""
        left = None if self._shut_until is None else self._shut_until - self.now()
        return left if left is not None and left > timedelta(0) else None

    def session(self, token: str | None, *, renews: bool = True) -> Session | None:
        """Return the session of a token, which is used now unless a page has asked by itself."""
        key, now = _key(token or ""), self.now()
        found = self._sessions.get(key)
        if found is None or found.is_over(now):
            self._sessions.pop(key, None)
            return None
        if renews:
            self._sessions[key] = replace(found, used=now)
        return found

    def leave(self, token: str | None) -> None:
        """End a session."""
        self._sessions.pop(_key(token or ""), None)

    def _renew(self) -> None:
        self._code = self.token(8)
        self.show(self._code)


def _key(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
