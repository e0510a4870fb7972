"""Who may come into the console and what each role may do there: users, sessions, tokens, waits after a wrong word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, NewType

from batchctl.domain.records import Hidden

WebUserId = NewType("WebUserId", int)
WebSessionId = NewType("WebSessionId", int)
ApiTokenId = NewType("ApiTokenId", int)

IDLE = timedelta(minutes=30)
"""How long a session lasts without a request."""
LONGEST = timedelta(hours=12)
"""How long it lasts in any case."""
CODE_LASTS = timedelta(hours=24)
"""How long the code lets a user in who has no password yet."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=1), timedelta(minutes=15)
"""How long no password is looked at after a wrong one: twice as long each time, up to this."""
BETWEEN_POOLS = ","
"""What stands between the names of the pools of a token."""
SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 1_024
"""Characters of a password."""


class Role(StrEnum):
    """What somebody is to the console, as the roles of the database are called."""

    READER = "reader"
    INTAKE = "intake"
    OPERATOR = "operator"
    AUTHOR = "author"
    ADMIN = "admin"


class TokenRole(StrEnum):
    """What a program is to the console: as people are, or one of two that only pools of agents know."""

    READER = "reader"
    INTAKE = "intake"
    OPERATOR = "operator"
    AUTHOR = "author"
    ADMIN = "admin"
    AGENT = "agent"
    """It carries steps of the pools of its token, and may do nothing else."""
    CONTROLLER = "controller"
    """It asks the agents of the pools of its token, and may do nothing else."""


class Right(StrEnum):
    """What a page or an act asks of those who come."""

    SEE = "see"
    SUBMIT = "submit"
    ACT = "act"
    DEFINE = "define"
    ADMIT = "admit"
    OWN = "own"
    CARRY = "carry steps"
    ASK = "ask agents"


OF_POOLS = frozenset({Right.CARRY, Right.ASK})
"""What only tokens are for that are bound to pools."""
RIGHTS: Mapping[Role | TokenRole, frozenset[Right]] = {
    Role.READER: frozenset({Right.OWN, Right.SEE}),
    Role.INTAKE: frozenset({Right.OWN, Right.SUBMIT}),
    Role.OPERATOR: frozenset({Right.OWN, Right.SEE, Right.SUBMIT, Right.ACT}),
    Role.AUTHOR: frozenset({Right.OWN, Right.SEE, Right.DEFINE}),
    Role.ADMIN: frozenset(Right) - OF_POOLS,
    TokenRole.AGENT: frozenset({Right.CARRY}),
    TokenRole.CONTROLLER: frozenset({Right.ASK}),
}
"""What each role may do; what is one's own, as the password, everyone may change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebUser:
    """Somebody who may come into the console."""

    user_id: Annotated[WebUserId, "WebUser_id"]
    name: Annotated[str, "UserName"]
    role: Role
    tag: str | None = None
    """Acts are for batches with this tag only."""
    password_hash: Hidden[str | None] = None
    code_hash: Hidden[str | None] = None
    code_until: datetime | None = None
    enabled: bool = True
    added_at: Annotated[datetime, "z_inserted"]

    @property
    def state(self) -> str:
        """Say how the user stands."""
        if not self.enabled:
            return "disabled"
        return "enabled" if self.password_hash is not None else "has no password yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """A browser that was let in."""

    session_id: Annotated[WebSessionId, "WebSession_id"]
    user_id: Annotated[WebUserId, "WebUser_id"]
    token_hash: Hidden[str]
    address: str | None
    by_issuer: bool = False
    """An issuer has said who the user is; no password was typed here."""
    last_used: datetime
    expires_at: Annotated[datetime, "ExpiresTime"]
    ended_at: Annotated[datetime | None, "EndedTime"] = None
    began_at: Annotated[datetime, "z_inserted"]

    def is_over(self, now: datetime) -> bool:
        """Say whether it was ended, or has ended by itself."""
        return self.ended_at is not None or now >= self.expires_at or now - self.last_used >= IDLE


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken:
    """What a program shows that asks the console."""

    token_id: Annotated[ApiTokenId, "ApiToken_id"]
    name: Annotated[str, "TokenName"]
    token_hash: Hidden[str]
    role: TokenRole
    tag: str | None = None
    pools: str | None = None
    """Names with commas between them: the pools that it is for."""
    expires_at: Annotated[datetime | None, "ExpiresTime"] = None
    last_used: datetime | None = None
    revoked_at: Annotated[datetime | None, "RevokedTime"] = None
    added_at: Annotated[datetime, "z_inserted"]

    def state(self, now: datetime) -> str:
        """Say how it stands."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and now >= self.expires_at else "enabled"

    @property
    def pool_names(self) -> frozenset[str]:
        """Return the pools that it is for."""
        return frozenset() if self.pools is None else frozenset(self.pools.split(BETWEEN_POOLS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Somebody who has been let in: a person with a browser, or a program."""

    user: str
    """The name under which acts are kept."""
    role: Role | TokenRole
    tag: str | None = None
    pools: frozenset[str] = frozenset()
    """The pools that a token is for."""
    key: str | None = None
    """What the session is known by; None where each request says by itself who it is."""
    known: WebUser | None = None
    """The user of the console; None of the person at the terminal, and of programs."""
    by_issuer: bool = False
    """An issuer has said who the user is."""

    @property
    def who(self) -> str:
        """Name the person on each page."""
        return f"{self.user} ({self.role})"

    @property
    def has_password(self) -> bool:
        """Say whether there is a password that could be changed."""
        return self.known is not None and self.known.password_hash is not None

    @property
    def has_to_choose(self) -> bool:
        """Say whether a password has to be chosen before anything else: what has opened was a code."""
        return self.known is not None and self.key is not None and not (self.by_issuer or self.has_password)

    def may(self, right: Right) -> bool:
        """Say whether something may be done."""
        return right in RIGHTS[self.role]


def wait_after(failures: int) -> timedelta:
    """Return how long no password is looked at after so many wrong ones in a row."""
    # 2^10 s are longer than the longest wait.
    return min(FIRST_WAIT * (1 << min(failures - 1, 10)), LONGEST_WAIT)


_EASY = ("password", "passwort", "batchctl", "letmein", "welcome", "qwerty", "qwertz", "administrator", "changeme")
_RUNS = ("abcdefghijklmnopqrstuvwxyz", "0123456789", "qwertyuiopasdfghjklzxcvbnm", "qwertzuiopasdfghjklyxcvbnm")


def unfit_password(password: str, name: str) -> str | None:
    """Say why a password cannot be taken, if it cannot: its length, or that it is among the first that are guessed."""
    if len(password) < SHORTEST_PASSWORD:
        return f"it is shorter than {SHORTEST_PASSWORD} characters"
    if len(password) > LONGEST_PASSWORD:
        return f"it is longer than {LONGEST_PASSWORD} characters"
    left = password.casefold()
    for word in (name.casefold(), *_EASY):
        left = left.replace(word, "") if word else left
    if len(set(left)) < 4 or _is_run(left):
        return "it is among the first that are guessed: too little in it is not a name, a usual word or a pattern"
    return None


def _is_run(text: str) -> bool:
    """Say whether a text only goes along the alphabet, the digits or the keys, or repeats a short one that does."""
    rounds = {run: run * (len(text) // len(run) + 2) for run in _RUNS}
    return any(text in along or text in along[::-1] for along in rounds.values()) or any(
        text == (text[:size] * len(text))[: len(text)] for size in range(1, 5)
    )
