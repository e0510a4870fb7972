"""Answers programs: the resources by GET, the acts by POST, each error as a problem."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from batchctl.app import App
from batchctl.domain.errors import BatchctlError, Refused
from batchctl.domain.operators.logins import Right, Session
from batchctl.domain.records import JsonValue
from batchctl.domain.status import RequestStatus
from batchctl.domain.text import message_of
from batchctl.operations.operators.asked_once import AskedOnce, Given
from batchctl.web import asked_acts, guards
from batchctl.web.act_table import ACTS
from batchctl.web.rest import openapi
from batchctl.web.rest.api_errors import error_answer, of_error
from batchctl.web.rest.bodies import JSON, MOST_BYTES, flag_in, object_of
from batchctl.web.rest.filters import Resource, RestAnswer
from batchctl.web.rest.resources import RESOURCES
from batchctl.web.wishes import ActOutcome, ConsoleAct

ROOT = "/api/v1"
MOST_CHARACTERS = 200
"""How long an Idempotency-Key may be."""
_NUMBER = "OperatorRequest_id"
Answering = Callable[[Request, Session], Awaitable[Response]]
Guarded = tuple[Answering, Right]
"""What answers, and the right that it takes."""


class ApiSite(Protocol):
    """What the API takes from the console."""

    async def ask(self, work: Callable[[App], Any]) -> Any:
        """Do a piece of work for the console itself."""

    async def do(self, session: Session, work: Callable[[App], Any]) -> Any:
        """Do a piece of work for a person or a program."""

    async def session_of(self, request: Request) -> Session | None:
        """Return for whom a request is sent."""

    def not_from_here(self, request: Request, *, by_token: bool = False) -> Refused | None:
        """Return why a request may not act, if another site may have sent it."""

    def code_of(self, error: BatchctlError) -> int:
        """Return the status of an answer that says an error."""


@dataclass(frozen=True, slots=True)
class Api:
    """The application behind `/api/v1`."""

    site: ApiSite

    def application(self) -> Starlette:
        """Return the application."""
        return Starlette(routes=[*self._routes()], exception_handlers={HTTPException: _no_such, Exception: _broken})

    def _routes(self) -> Iterator[Route]:
        by_path: dict[str, dict[str, Guarded]] = {"/openapi.json": {"GET": (self._described, Right.OWN)}}
        for resource in RESOURCES:
            by_path.setdefault(resource.path, {})["GET"] = partial(self._read, resource), Right.SEE
        for act in ACTS.values():
            path = openapi.path_of(act)
            by_path.setdefault(path, {})["POST"] = partial(self._act, act), act.right
            if not act.makes_row:
                by_path[path]["GET"] = partial(self._look, act), act.right
        for path, answers in by_path.items():
            yield Route(path, self._guarded(answers), methods=[*answers])

    def _guarded(self, answers: Mapping[str, Guarded]) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            by_token = guards.token_of(request.headers) is not None
            if (wrong := self.site.not_from_here(request, by_token=by_token)) is not None:
                return of_error(wrong, 403)
            session: Session | None = None
            try:
                session = await self.site.session_of(request)
                if session is None:
                    return of_error(_unknown(), 401, {"WWW-Authenticate": "Bearer"})
                answer, right = answers["GET" if request.method == "HEAD" else request.method]
                if session.has_to_choose or not session.may(right):
                    return of_error(guards.not_allowed(right, session.who), 403)
                guards.check_address(request)
                return await answer(request, session)
            except guards.BadBodyError as error:
                # What is left of the body is not waited for.
                return error_answer(error.code, str(error), headers={"Connection": "close"})
            except BatchctlError as error:
                told = error if session is not None else guards.for_strangers(error)
                return of_error(told, self.site.code_of(error))

        return guarded

    async def _read(self, resource: Resource, request: Request, session: Session) -> Response:
        asked = resource.wish(request.path_params.get("key", ""), dict(request.query_params))
        found: RestAnswer = await self.site.do(session, lambda app: resource.ask(app, asked))
        headers = {}
        if found.before is not None:
            query = urlencode({**request.query_params, "before": found.before})
            headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'
        return _json(found.body, headers=headers)

    async def _look(self, act: ConsoleAct, request: Request, session: Session) -> Response:
        wish = act.of_query(request.path_params.get("key", ""), dict(request.query_params))
        found: ActOutcome = await self.site.do(session, lambda app: act.plan(app, wish))
        return _json(found.columns)

    async def _act(self, act: ConsoleAct, request: Request, session: Session) -> Response:
        body = await _body_of(request)
        if isinstance(body, Response):
            return body
        key = request.headers.get("idempotency-key")
        if key is None:
            return await self._done(act, request, session, body)
        if not 0 < len(key) <= MOST_CHARACTERS:
            return error_answer(400, f"An Idempotency-Key has 1 to {MOST_CHARACTERS} characters.")
        asked = request.url.path.encode() + b"\0" + body
        kept = await self.site.ask(lambda app: _asked_once(app).begin(session.user, key, asked))
        if kept is None:
            said = "This Idempotency-Key was used for another request, or that is still under way."
            return error_answer(422, said, "take another key for another request")
        if isinstance(kept, Given):
            return _again(kept)
        given: Given | None = None
        try:
            answer = await self._done(act, request, session, body)
            given = Given(answer.status_code, bytes(answer.body).decode())
        finally:
            # What has failed did nothing: it may be sent again.
            await self.site.ask(lambda app: _asked_once(app).end(kept, given))
        return answer

    async def _done(self, act: ConsoleAct, request: Request, session: Session, body: bytes) -> Response:
        members = object_of(body)
        guards.check_texts(members)
        only_look = flag_in(members, "dry_run")
        wish = act.of_json(request.path_params.get("key", ""), members)
        if only_look:
            looked: ActOutcome = await self.site.do(session, lambda app: act.plan(app, wish))
            return _json(looked.columns)
        done = await asked_acts.act(self.site, session, act, wish)
        if done.asked is not None:
            asked: JsonValue = {_NUMBER: done.asked, "Status": RequestStatus.REQUESTED.value}
            return _json(asked, HTTPStatus.ACCEPTED, _at(done.asked))
        return _json(done.columns, HTTPStatus.CREATED if act.makes_row else HTTPStatus.OK)

    async def _described(self, request: Request, session: Session) -> Response:
        del request, session
        return _json(openapi.document())


def _unknown() -> Refused:
    """Return what is said to a program that no token lets in."""
    made = "Authorization: Bearer TOKEN; batchctl web token add NAME --role operator   (makes one)"
    return Refused("The request names no session that holds.", next_step=made)


def _at(number: int) -> dict[str, str]:
    """Name the place where a request says later how it was answered."""
    return {"Location": f"{ROOT}/requests/{number}"}


def _again(given: Given) -> Response:
    """Return what was answered before, as it was."""
    headers = _at(json.loads(given.body)[_NUMBER]) if given.status == HTTPStatus.ACCEPTED else {}
    return Response(given.body, given.status, headers, JSON)


def _asked_once(app: App) -> AskedOnce:
    return AskedOnce(app.actor(dry_run=False))


async def _body_of(request: Request) -> bytes | Response:
    """Return the body of a request, or what is wrong with it; raises `BadBodyError`."""
    given = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if given != JSON:
        return error_answer(415, f"The body has to be {JSON}.")
    return await guards.body_of(request, "body", MOST_BYTES)


def _json(body: JsonValue, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(body, indent=2), status, dict(headers or {}), JSON)


async def _no_such(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
    headers = error.headers if isinstance(error, HTTPException) else None
    said = "There is no such resource." if status == HTTPStatus.NOT_FOUND else f"{request.method} is not possible here."
    return no_resource(status, said, headers)


def no_resource(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Answer for an address, or a method, that there is not."""
    return error_answer(status, message, f"GET {ROOT}/openapi.json", headers=headers)


async def _broken(request: Request, error: Exception) -> Response:
    del request
    return error_answer(500, message_of(error))
