"""The doors of agents, and of the controllers that ask them: each takes a token that is bound to pools."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from batchctl.domain.errors import BatchctlError, InvalidInput, Refused
from batchctl.domain.operators.logins import Right, Session
from batchctl.domain.records import JsonValue
from batchctl.domain.text import message_of, visible
from batchctl.system.concurrency import patience
from batchctl.system.remote import relay
from batchctl.system.remote.console_client import ROOT
from batchctl.system.remote.relay import (
    HELD,
    MOST_BYTES,
    MOST_HELD_BYTES,
    AgentOffer,
    FullError,
    GoneError,
    NameTakenError,
    Relay,
    RelayError,
)
from batchctl.web import guards
from batchctl.web.rest.api_errors import error_answer, of_error
from batchctl.web.rest.bodies import JSON, object_of

KNOWN_FOR = 2.0
"""Seconds for which a token that was looked at counts as it stood then."""
MOST_KNOWN = 1000
LONGEST_NAME, MOST_POOLS, MOST_RESOURCES, MOST_SLOTS, MOST_AMOUNT = 200, 20, 50, 1000, 1e18
LONGEST_OFFER = 64 * 1024
"""Bytes of what an agent says of itself."""
_STATUS: Mapping[type[RelayError], int] = {NameTakenError: 409, GoneError: 404, FullError: 429}
Answering = Callable[[Request, Session], Awaitable[Response]]


class RelaySite(Protocol):
    """What these doors take from the console."""

    async def session_of(self, request: Request) -> Session | None:
        """Return for whom a request is sent."""

    def not_from_here(self, request: Request, *, by_token: bool = False) -> Refused | None:
        """Return why a request may not act, if another site may have sent it."""

    def code_of(self, error: BatchctlError) -> int:
        """Return the status of an answer that says an error."""


@dataclass(slots=True)
class RelayDoors:
    """The application behind `/agents/v1`."""

    site: RelaySite
    relay: Relay
    _known: dict[str, tuple[float, Session]] = field(default_factory=dict)
    """By token, until when it counts as it stood when it was looked at, and who shows it."""
    _held_bytes: int = 0
    """How long all bodies are together that are passed on now."""

    def application(self) -> Starlette:
        """Return the application."""
        return Starlette(routes=[*self._routes()], exception_handlers={HTTPException: _no_such, Exception: _broken})

    def _routes(self) -> Iterator[Route]:
        yield Route("/poll", self._guarded(self._poll, Right.CARRY), methods=["POST"])
        yield Route("/answers", self._guarded(self._answer, Right.CARRY), methods=["POST"])
        yield Route("/agents", self._guarded(self._offered, Right.ASK), methods=["GET"])
        yield Route("/questions", self._guarded(self._ask, Right.ASK), methods=["POST"])

    def _guarded(self, answer: Answering, right: Right) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            if (wrong := self.site.not_from_here(request, by_token=True)) is not None:
                return of_error(wrong, 403)
            session: Session | None = None
            try:
                session = await self._session(request)
                if session is None:
                    return of_error(_unknown(), 401, {"WWW-Authenticate": "Bearer"})
                if not session.may(right):
                    return of_error(_other_role(right, session), 403)
                return await answer(request, session)
            except guards.BadBodyError as error:
                return error_answer(error.code, str(error), headers={"Connection": "close"})
            except RelayError as error:
                return error_answer(_STATUS[type(error)], str(error))
            except BatchctlError as error:
                told = error if session is not None else guards.for_strangers(error)
                return of_error(told, self.site.code_of(error))

        return guarded

    async def _session(self, request: Request) -> Session | None:
        """Return who shows the token of a request, as it stood a moment ago at most: agents ask often."""
        token, now = guards.token_of(request.headers), relay.now()
        if token is None:
            return None
        until, known = self._known.get(token, (0.0, None))
        if known is not None and now < until:
            return known
        self._known.pop(token, None)
        found = await self.site.session_of(request)
        if found is not None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[token] = now + KNOWN_FOR, found
        return found

    async def _poll(self, request: Request, session: Session) -> Response:
        members = await _members_of(request, LONGEST_OFFER)
        offer, hold = _offer_in(members, session), _number(members, "hold", HELD)
        if (wrong := _other_pools(session, offer.pools)) is not None:
            return of_error(wrong, 403)
        found = await patience.unless_first(request.receive(), self.relay.poll(offer, hold))
        if found is None or await self._session(request) is None:
            # What was taken goes to no agent: it is asked again.
            return of_error(_unknown(), 401)
        return _json({"questions": [*found]})

    async def _answer(self, request: Request, session: Session) -> Response:
        with self._room_for(request):
            members = await _members_of(request)
            name, agent, number = _text(members, "name"), _text(members, "session"), _number(members, "number", 2**53)
            if not self.relay.answer(session.pools, name, agent, int(number), members.get("answer")):
                return error_answer(404, "This answer is not waited for any more.")
        return _json({})

    async def _offered(self, request: Request, session: Session) -> Response:
        pool = request.query_params.get("pool", "")
        if (wrong := _other_pools(session, [pool])) is not None:
            return of_error(wrong, 403)
        return _json({"agents": [*self.relay.offered(pool)]})

    @contextmanager
    def _room_for(self, request: Request) -> Iterator[None]:
        """Keep room for a body from before it is read until it has been passed on; raises `FullError`."""
        length = request.headers.get("content-length", "")
        most = min(int(length), MOST_BYTES) if length.isascii() and length.isdecimal() else MOST_BYTES
        if self._held_bytes + most > MOST_HELD_BYTES:
            reason = f"The console passes on {MOST_HELD_BYTES} bytes at once at most: ask again."
            raise FullError(reason)
        self._held_bytes += most
        try:
            yield
        finally:
            self._held_bytes -= most

    async def _ask(self, request: Request, session: Session) -> Response:
        with self._room_for(request):
            members = await _members_of(request)
            pool, name = _text(members, "pool"), _text(members, "name")
            if (wrong := _other_pools(session, [pool])) is not None:
                return of_error(wrong, 403)
            verb, asked, within = _text(members, "verb"), members.get("message"), _number(members, "within", 3600)
            found = await patience.unless_first(
                request.receive(), self.relay.ask(pool, name, {"verb": verb, "message": asked}, within)
            )
        if await self._session(request) is None:
            return of_error(_unknown(), 401)
        return _json({"answer": found})


async def _members_of(request: Request, most: int = MOST_BYTES) -> dict[str, JsonValue]:
    return object_of(await guards.body_of(request, "message", most))


def _offer_in(members: dict[str, JsonValue], session: Session) -> AgentOffer:
    """Read what an agent says of itself; raises `InvalidInput`."""
    pools, resources = members.get("pools"), members.get("resources")
    if (
        not isinstance(pools, list)
        or not 0 < len(pools) <= MOST_POOLS
        or not all(isinstance(one, str) for one in pools)
    ):
        raise _unfit("pools")
    if (
        not isinstance(resources, dict)
        or len(resources) > MOST_RESOURCES
        or not all(one.isprintable() for one in resources)
    ):
        raise _unfit("resources")
    return AgentOffer(
        name=_text(members, "name"),
        session=_text(members, "session"),
        token=session.user,
        pools=frozenset(str(one) for one in pools),
        slots=int(_number(members, "slots", MOST_SLOTS)),
        resources={name: _number(resources, name, MOST_AMOUNT) for name in resources},
        takes_steps=members.get("takes_steps") is True,
    )


def _text(members: Mapping[str, JsonValue], name: str) -> str:
    found = members.get(name)
    if not isinstance(found, str) or not 0 < len(found) <= LONGEST_NAME or not found.isprintable():
        raise _unfit(name)
    return found


def _number(members: Mapping[str, JsonValue], name: str, most: float) -> float:
    found = members.get(name)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= most:
        raise _unfit(name)
    return found


def _unfit(name: str) -> InvalidInput:
    message = f"What was sent has no '{visible(name)}' that can be read: the one that asks may be another batchctl."
    return InvalidInput(message, next_step="install the version of the console there")


def _other_pools(session: Session, pools: Iterable[str]) -> Refused | None:
    """Return why a token does not do for some pools; None where it does."""
    others = {*pools} - session.pools
    if not others:
        return None
    message = f"{session.user} is for {_listed(session.pools)}, and not for {_listed(others)}."
    return Refused(message, next_step=f"batchctl web token add NAME --role {session.role} --pool POOL")


def _listed(pools: Iterable[str]) -> str:
    return "pool " + ", ".join(visible(one) for one in sorted(pools))


def _other_role(right: Right, session: Session) -> Refused:
    role = "agent" if right is Right.CARRY else "controller"
    message = f"This takes a token of role {role}, and {session.who} is none."
    return Refused(message, next_step=f"batchctl web token add NAME --role {role} --pool POOL")


def _unknown() -> Refused:
    message = "The token lets no program in: it is unknown, has expired, or was revoked."
    return Refused(message, next_step="batchctl web token list")


def _json(body: Mapping[str, Any]) -> Response:
    # Escaped, for what half of a character is in no encoding.
    return Response(json.dumps(body), HTTPStatus.OK, media_type=JSON)


async def _no_such(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
    what = f"{request.method} is no way to ask" if status == HTTPStatus.METHOD_NOT_ALLOWED else "There is nothing"
    return error_answer(status, f"{what} here; agents and controllers ask below {ROOT}.")


async def _broken(request: Request, error: Exception) -> Response:
    del request
    return error_answer(500, message_of(error))
