"""`WebUser`, `WebSession`, `ApiToken`, `LoginBackOff`, `WebRequest`: who may come into the console, and what was asked there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import Connection, bindparam, delete, select

from batchctl.domain.errors import BatchctlError
from batchctl.domain.operators.logins import ApiToken, ApiTokenId, WebSession, WebSessionId, WebUser, WebUserId
from batchctl.store.columns import readable
from batchctl.store.dialects import dialect_of
from batchctl.store.record_reading import Reader
from batchctl.store.statements import RowInsert, RowSelect, RowUpdate
from batchctl.store.tables import api_token, login_back_off, web_request, web_session, web_user
from batchctl.store.transactions import savepoint

_u, _s, _t, _b, _r = web_user.c, web_session.c, api_token.c, login_back_off.c, web_request.c
_user, _session, _token = Reader(WebUser), Reader(WebSession), Reader(ApiToken)

_USERS = RowSelect(select(web_user).order_by(_u.UserName))
_USER = RowSelect(select(web_user).where(_u.UserName == bindparam("name")))
_USER_OF = RowSelect(select(web_user).where(_u.WebUser_id == bindparam("user_id")))
_ADD_USER = RowInsert(web_user)
_CHANGE_USER = RowUpdate(web_user, _u.WebUser_id == bindparam("user_id"))
_USE_CODE = RowUpdate(web_user, _u.WebUser_id == bindparam("user_id"), _u.CodeHash == bindparam("seen"))
_REMOVE_USER = delete(web_user).where(_u.WebUser_id == bindparam("user_id"))

_SESSION = RowSelect(select(web_session).where(_s.TokenHash == bindparam("token_hash")))
_OPEN_SESSIONS = RowSelect(
    select(web_session)
    .where(_s.EndedTime.is_(None), _s.ExpiresTime > bindparam("now"), _s.LastUsed > bindparam("idle_since"))
    .order_by(_s.WebSession_id)
)
_ADD_SESSION = RowInsert(web_session)
_CHANGE_SESSION = RowUpdate(web_session, _s.WebSession_id == bindparam("session_id"), _s.EndedTime.is_(None))
_END_SESSIONS = RowUpdate(web_session, _s.WebUser_id == bindparam("user_id"), _s.EndedTime.is_(None))
_REMOVE_SESSIONS = delete(web_session).where(_s.WebUser_id == bindparam("user_id"))
_REMOVE_OLD_SESSIONS = delete(web_session).where(_s.ExpiresTime < bindparam("before"))

_TOKENS = RowSelect(select(api_token).order_by(_t.TokenName))
_TOKEN = RowSelect(select(api_token).where(_t.TokenName == bindparam("name")))
_TOKEN_OF = RowSelect(select(api_token).where(_t.TokenHash == bindparam("token_hash")))
_ADD_TOKEN = RowInsert(api_token)
_CHANGE_TOKEN = RowUpdate(api_token, _t.ApiToken_id == bindparam("token_id"))

_BACK_OFF = RowSelect(select(_b.Failures, _b.ShutUntil).where(_b.Subject == bindparam("subject")))
_ADD_BACK_OFF = RowInsert(login_back_off)
_CHANGE_BACK_OFF = RowUpdate(login_back_off, _b.Subject == bindparam("subject"))
_END_BACK_OFF = delete(login_back_off).where(_b.Subject == bindparam("subject"))
_REMOVE_OLD_BACK_OFF = delete(login_back_off).where(_b.ShutUntil < bindparam("before"))

_REQUEST = RowSelect(
    select(_r.WebRequest_id, _r.BodyHash, _r.HttpStatus, _r.Answer).where(
        _r.Actor == bindparam("actor"), _r.RequestKey == bindparam("key")
    )
)
_ADD_REQUEST = RowInsert(web_request)
_ANSWER_REQUEST = RowUpdate(web_request, _r.WebRequest_id == bindparam("request_id"))
_REMOVE_REQUEST = delete(web_request).where(_r.WebRequest_id == bindparam("request_id"))
_REMOVE_OLD_REQUESTS = delete(web_request).where(_r.z_inserted < bindparam("before"))


def users(connection: Connection) -> list[WebUser]:
    """Return all users, by their names."""
    return readable(_USERS(connection), _user)


def user_named(connection: Connection, name: str) -> WebUser | None:
    """Return the user of a name."""
    return next(iter(readable(_USER(connection, name=name), _user)), None)


def user_of(connection: Connection, user_id: WebUserId) -> WebUser | None:
    """Return a user."""
    return next(iter(readable(_USER_OF(connection, user_id=user_id), _user)), None)


def add_user(connection: Connection, user: WebUser) -> WebUserId:
    """Insert a user, who comes in with a code first."""
    values = {
        "UserName": user.name,
        "Role": user.role.value,
        "Tag": user.tag,
        "CodeHash": user.code_hash,
        "CodeUntil": user.code_until,
        "z_inserted": user.added_at,
        "z_updated": user.added_at,
    }
    return WebUserId(_ADD_USER(connection, values))


def change_user(connection: Connection, user_id: WebUserId, now: datetime, **columns: object) -> None:
    """Change columns of a user."""
    _CHANGE_USER(connection, {**columns, "z_updated": now}, user_id=user_id)


def use_code(connection: Connection, user_id: WebUserId, seen: str, now: datetime) -> bool:
    """Take a code away, which opens once; false when another has used it, or it was replaced."""
    return _USE_CODE(connection, {"CodeHash": None, "CodeUntil": None, "z_updated": now}, user_id=user_id, seen=seen)


def remove_user(connection: Connection, user_id: WebUserId) -> None:
    """Delete a user with all sessions."""
    connection.execute(_REMOVE_SESSIONS, {"user_id": user_id})
    connection.execute(_REMOVE_USER, {"user_id": user_id})


def session_of(connection: Connection, token_hash: str) -> WebSession | None:
    """Return the session of a token."""
    return next(iter(readable(_SESSION(connection, token_hash=token_hash), _session)), None)


def open_sessions(connection: Connection, now: datetime, idle_since: datetime) -> list[WebSession]:
    """Return the sessions that have not ended, the oldest first."""
    return readable(_OPEN_SESSIONS(connection, now=now, idle_since=idle_since), _session)


def add_session(
    connection: Connection,
    user_id: WebUserId,
    token_hash: str,
    address: str | None,
    now: datetime,
    expires_at: datetime,
    *,
    by_issuer: bool = False,
) -> WebSessionId:
    """Insert a session."""
    values = {"WebUser_id": user_id, "TokenHash": token_hash, "Address": address, "ByIssuer": int(by_issuer)}
    times = {"LastUsed": now, "ExpiresTime": expires_at, "z_inserted": now}
    return WebSessionId(_ADD_SESSION(connection, values | times))


def waiting_briefly(connection: Connection) -> AbstractContextManager[None]:
    """Let the connection wait no longer than a moment for another who writes."""
    return dialect_of(connection).waiting_briefly(connection)


def touch_session(connection: Connection, session_id: WebSessionId, now: datetime) -> None:
    """Write down that a session was used, unless another has locked it."""
    if dialect_of(connection).lock_rows(connection, "WebSession", [session_id])():
        _CHANGE_SESSION(connection, {"LastUsed": now}, session_id=session_id)


def touch_token(connection: Connection, token_id: ApiTokenId, now: datetime) -> None:
    """Write down that a token was used, unless another has locked it."""
    if dialect_of(connection).lock_rows(connection, "ApiToken", [token_id])():
        _CHANGE_TOKEN(connection, {"LastUsed": now}, token_id=token_id)


def end_session(connection: Connection, session_id: WebSessionId, now: datetime) -> bool:
    """End a session; false when it had ended."""
    return _CHANGE_SESSION(connection, {"EndedTime": now}, session_id=session_id)


def end_sessions_of(connection: Connection, user_id: WebUserId, now: datetime) -> None:
    """End all sessions of a user."""
    _END_SESSIONS(connection, {"EndedTime": now}, user_id=user_id)


def tokens(connection: Connection) -> list[ApiToken]:
    """Return all tokens, by their names."""
    return readable(_TOKENS(connection), _token)


def token_named(connection: Connection, name: str) -> ApiToken | None:
    """Return the token of a name."""
    return next(iter(readable(_TOKEN(connection, name=name), _token)), None)


def token_of(connection: Connection, token_hash: str) -> ApiToken | None:
    """Return the token with a hash."""
    return next(iter(readable(_TOKEN_OF(connection, token_hash=token_hash), _token)), None)


def add_token(connection: Connection, token: ApiToken) -> ApiTokenId:
    """Insert a token."""
    values = {
        "TokenName": token.name,
        "TokenHash": token.token_hash,
        "Role": token.role.value,
        "Tag": token.tag,
        "Pools": token.pools,
        "ExpiresTime": token.expires_at,
        "z_inserted": token.added_at,
    }
    return ApiTokenId(_ADD_TOKEN(connection, values))


def change_token(connection: Connection, token_id: ApiTokenId, **columns: object) -> None:
    """Change columns of a token."""
    _CHANGE_TOKEN(connection, columns, token_id=token_id)


def back_off(connection: Connection, subject: str) -> tuple[int, datetime] | None:
    """Return how many passwords of a user, or from an address, were wrong in a row, and until when none is looked at."""
    found = _BACK_OFF(connection, subject=subject)
    return cast("tuple[int, datetime]", tuple(found[0])) if found else None


def set_back_off(connection: Connection, subject: str, failures: int, until: datetime) -> None:
    """Write down a wrong password."""
    values: dict[str, object] = {"Failures": failures, "ShutUntil": until}
    if _CHANGE_BACK_OFF(connection, values, subject=subject):
        return
    try:
        with savepoint(connection):
            _ADD_BACK_OFF(connection, {**values, "Subject": subject})
    except BatchctlError:
        raise
    except Exception:
        # The first wrong password of a subject may come twice at once.
        if not _CHANGE_BACK_OFF(connection, values, subject=subject):
            raise


def end_back_off(connection: Connection, subject: str) -> None:
    """Forget wrong passwords: one was right."""
    connection.execute(_END_BACK_OFF, {"subject": subject})


@dataclass(frozen=True, slots=True)
class WebRequest:
    """What was asked under a key."""

    request_id: int
    body_hash: str
    status: int | None
    """None while it is under way."""
    answer: str | None


def request_of(connection: Connection, actor: str, key: str) -> WebRequest | None:
    """Return what somebody asked under a key."""
    rows: Sequence[tuple[int, str, int | None, str | None]] = _REQUEST(connection, actor=actor, key=key)
    return WebRequest(*rows[0]) if rows else None


def add_request(connection: Connection, actor: str, key: str, body_hash: str, now: datetime) -> int | None:
    """Write down that something is asked under a key that is new; None where the same key came at once, and first."""
    values = {"Actor": actor, "RequestKey": key, "BodyHash": body_hash, "z_inserted": now}
    try:
        with savepoint(connection):
            return _ADD_REQUEST(connection, values)
    except BatchctlError:
        raise
    except Exception:
        if request_of(connection, actor, key) is None:
            raise
        return None


def answer_request(connection: Connection, request_id: int, status: int, answer: str) -> None:
    """Write down what was answered."""
    _ANSWER_REQUEST(connection, {"HttpStatus": status, "Answer": answer}, request_id=request_id)


def remove_request(connection: Connection, request_id: int) -> None:
    """Forget a request of which nothing came: it may be asked again."""
    connection.execute(_REMOVE_REQUEST, {"request_id": request_id})


def remove_old(connection: Connection, before: datetime) -> None:
    """Delete what was over before a time."""
    for statement in (_REMOVE_OLD_SESSIONS, _REMOVE_OLD_BACK_OFF, _REMOVE_OLD_REQUESTS):
        connection.execute(statement, {"before": before})
