"""The door of a console without users: a code that is shown on the terminal once, and the sessions that it begins."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from batchctl.domain.operators.logins import IDLE, LONGEST, Role, Session, wait_after
from batchctl.operations.operators.console_users import TOKEN_BYTES, hash_of

CODE_BYTES = 8


@dataclass(frozen=True, slots=True)
class _Kept:
    session: Session
    began: datetime
    used: datetime

    def is_over(self, now: datetime) -> bool:
        return now - self.used >= IDLE or now - self.began >= LONGEST


@dataclass
class CodeDoor:
    """Lets browsers in by a code, for the user who has started the console.

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
    _code: str | None = None
    _sessions: dict[str, _Kept] = field(default_factory=dict)
    _wrong: int = 0
    _shut_until: datetime | None = None

    def open(self) -> None:
        """Show the first code."""
        self._code = self.token(CODE_BYTES)
        self.show(self._code)

    def enter(self, code: str) -> str | None:
        """Return the token of a new session; None where the code is wrong."""
        if self._code is None or not hmac.compare_digest(code.strip().encode(), self._code.encode()):
            self._wrong += 1
            self._shut_until = self.now() + wait_after(self._wrong)
            return None
        self._wrong, self._shut_until = 0, None
        self.open()
        token, now = self.token(TOKEN_BYTES), self.now()
        self._sessions = {key: one for key, one in self._sessions.items() if not one.is_over(now)}
        self._sessions[hash_of(token)] = _Kept(Session(user=self.who, role=Role.ADMIN, key=token), now, now)
        return token

    @property
    def shut_for(self) -> timedelta | None:
        """Return how long no code is looked at, because the last ones were wrong."""
        left = None if self._shut_until is None else self._shut_until - self.now()
        return left if left is not None and left > timedelta(0) else None

    def session(self, token: str, *, renews: bool = True) -> Session | None:
        """Return the session of a token, which is used now unless a page has asked by itself."""
        key, now = hash_of(token), self.now()
        found = self._sessions.get(key)
        if found is None or found.is_over(now):
            self._sessions.pop(key, None)
            return None
        if renews:
            self._sessions[key] = replace(found, used=now)
        return found.session

    def leave(self, token: str) -> None:
        """End a session."""
        self._sessions.pop(hash_of(token), None)
