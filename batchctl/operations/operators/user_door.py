"""Lets users of the console in by name and password, programs by a token, and whom a proxy or an issuer names."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from batchctl.domain.errors import BatchctlError, Conflict, InvalidInput, Refused
from batchctl.domain.operators.logins import LONGEST, Session, WebUser, unfit_password, wait_after
from batchctl.domain.text import fitting, typed, unfit, visible
from batchctl.operations.operators.acts import Actor
from batchctl.operations.operators.console_users import TOKEN_BYTES, check_name, hash_of
from batchctl.ports import Boundary
from batchctl.store import Connection
from batchctl.store.operators import login_rows

NOTED_EVERY = timedelta(minutes=1)
"""How often at most it is written down that a session or a token was used."""
_NAMED_BY = {"issuer": "[web] oidc_name_claim", "proxy": "[web] user_header"}
"""What says by which name others know people."""
KEPT = timedelta(days=1)
"""How long what is over is kept."""


@dataclass(frozen=True, slots=True)
class Entered:
    """What became of an attempt to come in: a token, or how long nothing more is looked at."""

    token: str | None = None
    shut_for: timedelta | None = None


@dataclass(frozen=True, slots=True)
class UserDoor:
    """Knows whom the console lets in."""

    actor: Actor
    """Acts as the console itself; what a person does here is kept under that person's name."""
    token: Callable[[int], str]
    """Makes so many random bytes."""
    hash_password: Callable[[str], str]
    is_right: Callable[[str, str | None], bool]
    """Says whether a password is the one that is kept; it takes as long where none is."""

    def has_users(self) -> bool:
        """Say whether the console knows anybody."""
        with self.actor.transactions.read() as connection:
            return bool(login_rows.users(connection))

    def enter(self, name: str, password: str, address: str) -> Entered:
        """Begin a session where the password is right, or the code of a user who has none yet."""
        subjects, now = (fitting(f"user:{name}"), _subject(address)), self.actor.clock.now()
        with self.actor.transactions.read() as connection:
            wait = self._wait(connection, subjects)
            user = _known(connection, name)
        if wait is not None:
            return Entered(shut_for=wait)
        kept = user if user is not None and user.enabled else None
        right = self.is_right(password, None if kept is None else kept.password_hash)
        by_code = not right and kept is not None and _is_code(kept, password, now)
        token = (
            self._begin(kept, address, subjects, by_code=by_code) if kept is not None and (right or by_code) else None
        )
        return Entered(token=token) if token is not None else Entered(shut_for=self._wrong(subjects, name, address))

    def _wrong(self, subjects: tuple[str, ...], name: str, address: str) -> timedelta:
        now = self.actor.clock.now()

        def act(connection: Connection) -> timedelta:
            waits = []
            for subject in subjects:
                before = login_rows.back_off(connection, subject)
                failures = 1 if before is None else before[0] + 1
                waits.append(wait_after(failures))
                login_rows.set_back_off(connection, subject, failures, now + waits[-1])
            self._note(connection, name, address, "login refused")
            return max(waits)

        return self.actor.act(act)

    def enter_by_issuer(self, name: str, address: str) -> str:
        """Begin a session for a user whom the issuer names, and return its token; raises `Refused`."""
        with self.actor.transactions.read() as connection:
            user = _known(connection, name)
        if user is not None and user.enabled:
            return self._came_in(user, address, (_subject(address),), by_issuer=True)
        self.actor.act(lambda connection: self._note(connection, name, address, "login refused"))
        raise _not_let_in(user, name, "issuer")

    def shut_for(self, address: str) -> timedelta | None:
        """Return how long nothing is looked at that comes from an address, because the last was wrong."""
        with self.actor.transactions.read() as connection:
            return self._wait(connection, (_subject(address),))

    def refuse(self, address: str) -> None:
        """Write down that what came from an address lets no user in, whatever the issuer was asked by it."""
        self._wrong((_subject(address),), "-", address)

    def _wait(self, connection: Connection, subjects: tuple[str, ...]) -> timedelta | None:
        now = self.actor.clock.now()
        waits = [found[1] - now for one in subjects if (found := login_rows.back_off(connection, one)) is not None]
        return max(waits) if waits and max(waits) > timedelta(0) else None

    def _begin(self, user: WebUser, address: str, subjects: tuple[str, ...], *, by_code: bool) -> str | None:
        """Begin a session by a password or a code; None where the code has opened for another meanwhile."""
        now, code = self.actor.clock.now(), user.code_hash

        def act(connection: Connection) -> str | None:
            # It opens once: what it has opened lets the user choose a password, and no more.
            if code is not None and not login_rows.use_code(connection, user.user_id, code, now) and by_code:
                return None
            return self._add_session(connection, user, address, subjects)

        return self.actor.act(act)

    def _came_in(self, user: WebUser, address: str, subjects: tuple[str, ...] = (), *, by_issuer: bool = False) -> str:
        """Begin a session of a user who is known by something else; a code that is left opens no more."""
        now, code = self.actor.clock.now(), user.code_hash

        def act(connection: Connection) -> str:
            if code is not None:
                login_rows.use_code(connection, user.user_id, code, now)
            return self._add_session(connection, user, address, subjects, by_issuer=by_issuer)

        return self.actor.act(act)

    def _add_session(
        self,
        connection: Connection,
        user: WebUser,
        address: str,
        subjects: tuple[str, ...],
        *,
        by_issuer: bool = False,
    ) -> str:
        token, now = self.token(TOKEN_BYTES), self.actor.clock.now()
        login_rows.remove_old(connection, now - KEPT)
        for subject in subjects:
            login_rows.end_back_off(connection, subject)
        until, key = now + LONGEST, hash_of(token)
        login_rows.add_session(connection, user.user_id, key, fitting(address), now, until, by_issuer=by_issuer)
        self._note(connection, user.name, address, "login")
        return token

    def session(self, token: str, *, renews: bool = True) -> Session | None:
        """Return the session of a token, which is used now unless a page has asked by itself."""
        now = self.actor.clock.now()
        with self.actor.transactions.read() as connection:
            found = login_rows.session_of(connection, hash_of(token))
            user = None if found is None else login_rows.user_of(connection, found.user_id)
        if found is None or user is None or not user.enabled or found.is_over(now):
            return None
        if renews and now - found.last_used >= NOTED_EVERY:
            session_id = found.session_id
            self._note_use(lambda connection: login_rows.touch_session(connection, session_id, now))
        return _session(user, token, by_issuer=found.by_issuer)

    def of_proxy(self, name: str) -> Session | None:
        """Return the session of a user whom a trusted proxy names."""
        with self.actor.transactions.read() as connection:
            user = login_rows.user_named(connection, name)
        return None if user is None or not user.enabled else _session(user, None)

    def unknown_to_console(self, name: str) -> Refused:
        """Return why a user whom a trusted proxy names is not let in."""
        with self.actor.transactions.read() as connection:
            return _not_let_in(login_rows.user_named(connection, name), name, "proxy")

    def of_program(self, token: str) -> Session | None:
        """Return the session of a program that shows a token."""
        now = self.actor.clock.now()
        with self.actor.transactions.read() as connection:
            found = login_rows.token_of(connection, hash_of(token))
        if found is None or found.state(now) != "enabled":
            return None
        if found.last_used is None or now - found.last_used >= NOTED_EVERY:
            token_id = found.token_id
            self._note_use(lambda connection: login_rows.touch_token(connection, token_id, now))
        return Session(user=f"token:{found.name}", role=found.role, tag=found.tag, pools=found.pool_names)

    def _note_use(self, write: Callable[[Connection], None]) -> None:
        """Write down that something was used; where a lock is in the way, its next use does so."""
        transactions = self.actor.transactions
        with transactions.read() as connection, login_rows.waiting_briefly(connection), suppress(Conflict):
            transactions.run(frozenset({Boundary.OPERATOR}), write, nowait=True)

    def leave(self, token: str) -> None:
        """End a session."""
        now = self.actor.clock.now()

        def act(connection: Connection) -> None:
            found = login_rows.session_of(connection, hash_of(token))
            if found is not None:
                login_rows.end_session(connection, found.session_id, now)

        self.actor.act(act)

    def change_password(self, session: Session, old: str, new: str, address: str) -> str:
        """Give a user another password, end all sessions, and return the token of a new one."""
        user, now = session.known, self.actor.clock.now()
        if user is None:
            raise Refused("You are not a user of the console.", next_step="batchctl web user add NAME --role ROLE")
        if session.by_issuer and user.password_hash is None:
            message = "You come in by the issuer: a password here would go past what it asks of you."
            raise Refused(message, next_step=f"batchctl web user reset {typed(user.name)} --reason ...")
        subjects = (fitting(f"user:{user.name}"), _subject(address))
        if user.password_hash is not None:
            self._check_old(user, old, subjects, address)
        if (failure := unfit_password(new, user.name)) is not None:
            four = "choose another, such as four words that have nothing to do with each other"
            raise InvalidInput(f"The new password is not taken: {failure}.", next_step=four)
        kept = self.hash_password(new)

        def act(connection: Connection) -> None:
            login_rows.change_user(connection, user.user_id, now, PasswordHash=kept, CodeHash=None, CodeUntil=None)
            login_rows.end_sessions_of(connection, user.user_id, now)
            self._note(connection, user.name, address, "change password")

        self.actor.act(act)
        return self._came_in(user, address, subjects)

    def _check_old(self, user: WebUser, old: str, subjects: tuple[str, ...], address: str) -> None:
        """Refuse a wrong password, and all others for a while after it, as where one logs in."""
        with self.actor.transactions.read() as connection:
            wait = self._wait(connection, subjects)
        if wait is not None:
            message = f"Too many wrong passwords: none is looked at for {_seconds(wait)} s."
            raise Refused(message, next_step="type it again then")
        if not self.is_right(old, user.password_hash):
            wait = self._wrong(subjects, user.name, address)
            forgotten = (
                f"type it again in {_seconds(wait)} s; for a new code: batchctl web user reset NAME --reason ..."
            )
            raise Refused("The old password is not right.", next_step=forgotten)

    def _note(self, connection: Connection, name: str, address: str, verb: str) -> None:
        person = replace(self.actor, user=fitting(name) or "-", host=fitting(f"{address} {self.actor.host}"))
        person.note(connection, verb, fitting(f"WebUser:{name}"), None, {}, {})


def _not_let_in(user: WebUser | None, name: str, by: str) -> Refused:
    if user is None and (rule := _rule_against(name)) is not None:
        message = f"The {by} knows you as {visible(name)}, which can be the name of no user. {rule}"
        return Refused(message, next_step=f"let the {by} give another name: {_NAMED_BY[by]}")
    if user is None:
        message = f"The {by} knows you as {visible(name)}, and the console has no user of that name."
        return Refused(message, next_step=f"batchctl web user add {typed(name)} --role operator")
    message = f"The user {visible(name)} is disabled."
    return Refused(message, next_step=f"batchctl web user enable {typed(name)}")


def _rule_against(name: str) -> str | None:
    """Return why no user can have a name, if that is so."""
    try:
        check_name(name, "user")
    except BatchctlError as wrong:
        return wrong.message
    return None


def _seconds(wait: timedelta) -> int:
    return int(wait.total_seconds()) + 1


def _subject(address: str) -> str:
    return fitting(f"address:{address}")


def _known(connection: Connection, name: str) -> WebUser | None:
    """Return the user of a name; none has one that no table can hold."""
    return login_rows.user_named(connection, name) if unfit(name) is None else None


def _is_code(user: WebUser, code: str, now: datetime) -> bool:
    if user.code_hash is None or user.code_until is None or now >= user.code_until:
        return False
    return hmac.compare_digest(hash_of(code.strip()), user.code_hash)


def _session(user: WebUser, token: str | None, *, by_issuer: bool = False) -> Session:
    return Session(user=user.name, role=user.role, tag=user.tag, key=token, known=user, by_issuer=by_issuer)
