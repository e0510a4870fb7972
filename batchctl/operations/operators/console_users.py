"""Users, sessions and tokens of the console: each change in one transaction, with its row in the audit log."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from batchctl.domain.errors import InvalidInput, NotFound, Refused
from batchctl.domain.operators.logins import (
    BETWEEN_POOLS,
    CODE_LASTS,
    IDLE,
    OF_POOLS,
    RIGHTS,
    ApiToken,
    ApiTokenId,
    Role,
    TokenRole,
    WebSession,
    WebSessionId,
    WebUser,
    WebUserId,
)
from batchctl.domain.status import PoolKind
from batchctl.domain.text import did_you_mean, fitting, typed, unfit, visible
from batchctl.operations.column_lists import ColumnList, StatusWord, record
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.ports import Clock, Transactions
from batchctl.store import Connection, pool_rows
from batchctl.store.definitions import definitions
from batchctl.store.operators import login_rows

TOKEN_BYTES = 32
"""Random bytes of a token: none can be guessed."""
CODE_BYTES = 12
LONGEST_POOLS = 200
"""Characters of the pools of a token."""

USERS = ColumnList[WebUser](
    "Users of the console",
    {**record(WebUser), "State": lambda one: one.state},
    {
        "name": "UserName",
        "role": "Role",
        "tag": "Tag",
        "state": lambda one: StatusWord(one.state),
        "code until (UTC)": "CodeUntil",
        "added (UTC)": "z_inserted",
    },
)


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session, and whose it is."""

    session: WebSession
    user: str


SESSIONS = ColumnList[OpenSession](
    "Sessions of the console",
    {**record(WebSession, lambda one: one.session), "UserName": lambda one: one.user},
    {
        "id#": "WebSession_id",
        "user": "UserName",
        "from": "Address",
        "began (UTC)": "z_inserted",
        "last used (UTC)": "LastUsed",
        "ends (UTC)": "ExpiresTime",
    },
)


def tokens_at(now: datetime) -> ColumnList[ApiToken]:
    """Return the list of tokens, as they stand then."""
    return ColumnList[ApiToken](
        "Tokens of programs",
        {**record(ApiToken), "State": lambda one: one.state(now)},
        {
            "name": "TokenName",
            "role": "Role",
            "tag": "Tag",
            "pools": "Pools",
            "state": lambda one: StatusWord(one.state(now)),
            "expires (UTC)": "ExpiresTime",
            "last used (UTC)": "LastUsed",
            "added (UTC)": "z_inserted",
        },
    )


def hash_of(secret: str) -> str:
    """Return what is kept of a token or a code: it is random, so that a plain hash tells nothing."""
    return hashlib.sha256(secret.encode()).hexdigest()


def users(transactions: Transactions) -> list[WebUser]:
    """Return all users of the console."""
    with transactions.read() as connection:
        return login_rows.users(connection)


def tokens(transactions: Transactions) -> list[ApiToken]:
    """Return all tokens."""
    with transactions.read() as connection:
        return login_rows.tokens(connection)


def sessions(transactions: Transactions, clock: Clock, user: str | None = None) -> Sequence[OpenSession]:
    """Return the sessions that have not ended, of all or of one user."""
    now = clock.now()
    with transactions.read() as connection:
        names = {one.user_id: one.name for one in login_rows.users(connection)}
        found = login_rows.open_sessions(connection, now, now - IDLE)
    named = (OpenSession(one, names.get(one.user_id, "-")) for one in found)
    return [one for one in named if user is None or one.user == user]


def unknown_tag(transactions: Transactions, tag: str) -> str | None:
    """Say that no batch has a tag, so that whom it limits acts on nothing; None where one has it."""
    with transactions.read() as connection:
        known = {one for batch in definitions.all_batches(connection) for one in batch.tags}
    if tag.strip().casefold() in {one.casefold() for one in known}:
        return None
    return f"No batch has the tag '{visible(tag)}'.{visible(did_you_mean(tag, known))}"


def unknown_pools(transactions: Transactions, token: ApiToken) -> list[str]:
    """Return the pools of a token that no row names, or whose steps no agents carry."""
    with transactions.read() as connection:
        known = pool_rows.known(connection).by_name
    by_agents = {name for name, pool in known.items() if pool.kind is PoolKind.AGENTS}
    return sorted(token.pool_names - by_agents)


def _bound_to(role: TokenRole, pools: Sequence[str]) -> str | None:
    """Return what is kept of the pools of a token; raises `InvalidInput` where its role and they do not go together."""
    names = sorted({one.strip().lower() for one in pools})
    if bool(names) is not bool(RIGHTS[role] & OF_POOLS):
        message = f"A token of role {role} names no pool, and those of agents and controllers name at least one."
        raise InvalidInput(message, next_step="batchctl web token add NAME --role agent --pool POOL")
    found = BETWEEN_POOLS.join(names)
    if "" in names or any(BETWEEN_POOLS in one for one in names) or len(found) > LONGEST_POOLS:
        message = f"The pools of a token are names without commas, {LONGEST_POOLS} characters together at most."
        raise InvalidInput(message, next_step="make several tokens, or call the pool otherwise")
    return found or None


@dataclass(frozen=True, slots=True)
class UserKeeper:
    """Lets people and programs into the console, and keeps them out, for a person."""

    actor: Actor
    token: Callable[[int], str]
    """Makes so many random bytes."""

    def add(self, name: str, role: Role, tag: str | None) -> tuple[WebUser, str]:
        """Add a user; return the code with which that user comes in first."""
        check_name(name, "user")
        code, now = self.token(CODE_BYTES), self.actor.clock.now()
        made = WebUser(
            user_id=WebUserId(0),
            name=name,
            role=role,
            tag=tag,
            code_hash=hash_of(code),
            code_until=now + CODE_LASTS,
            added_at=now,
        )

        def act(connection: Connection) -> WebUser:
            if login_rows.user_named(connection, name) is not None:
                message = f"There is a user {visible(name)} already."
                raise Refused(message, next_step=f"batchctl web user reset {typed(name)} --reason ...")
            if not self.actor.dry_run:
                user_id = login_rows.add_user(connection, made)
                self._note(connection, "add web user", name, None, {}, _columns(made))
                return replace(made, user_id=user_id)
            return made

        return self.actor.act(act), code

    def reset(self, name: str, *, reason: str | None) -> tuple[WebUser, str]:
        """Give a user a new code in the place of the password, and end all sessions."""
        code, until = self.token(CODE_BYTES), self.actor.clock.now() + CODE_LASTS
        columns = {"PasswordHash": None, "CodeHash": hash_of(code), "CodeUntil": until}
        return self._change(name, "reset web user", reason, columns, ends=True), code

    def set_enabled(self, name: str, *, enabled: bool, reason: str | None) -> WebUser:
        """Let a user in again, or no more: that ends all sessions."""
        verb = "enable web user" if enabled else "disable web user"
        return self._change(name, verb, reason, {"Enabled": int(enabled)}, ends=not enabled)

    def set_role(self, name: str, role: Role, tag: str | None, *, reason: str | None) -> WebUser:
        """Change what a user may do."""
        return self._change(name, "change web user", reason, {"Role": role.value, "Tag": tag}, ends=True)

    def remove(self, name: str, *, reason: str | None) -> WebUser:
        """Forget a user; what that user did stays in the audit log."""
        checked_reason(reason)

        def act(connection: Connection) -> WebUser:
            user = _named(connection, name)
            if not self.actor.dry_run:
                login_rows.remove_user(connection, user.user_id)
                self._note(connection, "remove web user", name, reason, _columns(user), {})
            return user

        return self.actor.act(act)

    def end_session(self, session_id: WebSessionId, of: WebUserId | None = None) -> None:
        """End a session; with `of` only one of that user."""
        now = self.actor.clock.now()

        def act(connection: Connection) -> None:
            found = login_rows.open_sessions(connection, now, now - IDLE)
            session = next((one for one in found if one.session_id == session_id), None)
            if session is None or of not in {None, session.user_id}:
                raise NotFound(f"There is no open session {session_id}.", next_step="batchctl web session list")
            if not self.actor.dry_run:
                login_rows.end_session(connection, session_id, now)
                user = login_rows.user_of(connection, session.user_id)
                name = "-" if user is None else user.name
                self._note(connection, "end web session", name, None, {"WebSession_id": session_id}, {})

        self.actor.act(act)

    def add_token(
        self, name: str, role: TokenRole, tag: str | None, lasts: timedelta | None, pools: Sequence[str] = ()
    ) -> tuple[ApiToken, str]:
        """Make a token; return it with what the program shows, which is kept nowhere."""
        check_name(name, "token")
        bound = _bound_to(role, pools)
        secret, now = self.token(TOKEN_BYTES), self.actor.clock.now()
        made = ApiToken(
            token_id=ApiTokenId(0),
            name=name,
            token_hash=hash_of(secret),
            role=role,
            tag=tag,
            pools=bound,
            expires_at=None if lasts is None else now + lasts,
            added_at=now,
        )

        def act(connection: Connection) -> ApiToken:
            if login_rows.token_named(connection, name) is not None:
                message = f"There is a token {visible(name)} already, or was."
                raise Refused(message, next_step="choose another name: the audit log tells them apart by it")
            if not self.actor.dry_run:
                token_id = login_rows.add_token(connection, made)
                columns: dict[str, object] = {"Role": role.value, "Tag": tag, "Pools": bound}
                self._note(connection, "add token", name, None, {}, columns, "ApiToken")
                return replace(made, token_id=token_id)
            return made

        return self.actor.act(act), secret

    def revoke_token(self, name: str, *, reason: str | None) -> ApiToken:
        """Let a program in no more."""
        checked_reason(reason)
        now = self.actor.clock.now()

        def act(connection: Connection) -> ApiToken:
            found = login_rows.token_named(connection, name)
            if found is None:
                near = did_you_mean(name, [one.name for one in login_rows.tokens(connection)])
                raise NotFound(f"There is no token {visible(name)}.{near}", next_step="batchctl web token list")
            if found.revoked_at is None and not self.actor.dry_run:
                login_rows.change_token(connection, found.token_id, RevokedTime=now)
                self._note(connection, "revoke token", name, reason, {}, {}, "ApiToken")
            return replace(found, revoked_at=found.revoked_at or now)

        return self.actor.act(act)

    def _change(
        self, name: str, verb: str, reason: str | None, columns: Mapping[str, object], *, ends: bool
    ) -> WebUser:
        checked_reason(reason)
        now = self.actor.clock.now()

        def act(connection: Connection) -> WebUser:
            before = _named(connection, name)
            if self.actor.dry_run:
                return before
            login_rows.change_user(connection, before.user_id, now, **columns)
            if ends:
                login_rows.end_sessions_of(connection, before.user_id, now)
            after = _named(connection, name)
            self._note(connection, verb, name, reason, _columns(before), _columns(after))
            return after

        return self.actor.act(act)

    def _note(
        self,
        connection: Connection,
        verb: str,
        name: str,
        reason: str | None,
        before: dict[str, object],
        after: dict[str, object],
        kind: str = "WebUser",
    ) -> None:
        self.actor.note(connection, verb, fitting(f"{kind}:{name}"), reason, before, after)


def _named(connection: Connection, name: str) -> WebUser:
    found = login_rows.user_named(connection, name)
    if found is None:
        near = did_you_mean(name, [one.name for one in login_rows.users(connection)])
        raise NotFound(f"The console has no user {visible(name)}.{near}", next_step="batchctl web user list")
    return found


def _columns(user: WebUser) -> dict[str, object]:
    return {"Role": user.role.value, "Tag": user.tag, "Enabled": int(user.enabled)}


def check_name(name: str, kind: str) -> None:
    """Refuse a name that no user or token can have."""
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > 100:
        message = f"The name of a {kind} has 1 to 100 visible characters, and no blanks around them."
        raise InvalidInput(message, next_step="the same with another name")
    if ":" in name:
        message = f"The name of a {kind} has no colon: 'token:NAME' stands for a token in the audit log."
        raise InvalidInput(message, next_step="the same with another name")
    if (failure := unfit(name)) is not None:
        raise Refused(f"The name cannot be kept: {failure}.", next_step="the same with another name")
