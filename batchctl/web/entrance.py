"""Who asks: a browser with a session, a user whom a proxy or an issuer names, or a program with a token; how they come in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from batchctl.app import App
from batchctl.domain.errors import BatchctlError, Refused
from batchctl.domain.operators.logins import Right, Session, WebSessionId
from batchctl.operations.operators import console_users
from batchctl.operations.operators.console_users import UserKeeper
from batchctl.operations.operators.user_door import UserDoor
from batchctl.web import guards, passwords
from batchctl.web.console_parts import Guard, Open, Site
from batchctl.web.doors import CodeDoor
from batchctl.web.page import Page, row_number

COOKIE = "__Host-batchctl"
ACCOUNT = "/account"
_NOT_ALLOWED, _TOO_OFTEN = 403, 429


class IssuerDoor(Protocol):
    """A door at which an issuer says who comes."""

    @property
    def label(self) -> str:
        """Return what people call the issuer."""

    def routes(self, entrance: Entrance, open_to_all: Open) -> Iterator[Route]:
        """Yield the routes."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """Finds out who asks, and answers what concerns coming in and going."""

    site: Site
    code_door: CodeDoor
    proxies: guards.Proxies
    issuer: IssuerDoor | None = None

    async def session(self, request: Request) -> Session | None:
        """Return the session of a request; None where it lets in no user."""
        name = self.proxies.user(request)
        if name is not None:
            found: Session | None = await self.site.ask(lambda app: door_of(app).of_proxy(name))
            return found
        token = request.cookies.get(COOKIE)
        if not token:
            return None
        by_itself = request.url.path == "/events" or "hx-request" in request.headers
        here = self.code_door.session(token, renews=not by_itself)
        if here is not None and await self.site.ask(lambda app: door_of(app).has_users()):
            # With a user, each act is kept under the name of one.
            self.code_door.leave(token)
            return None
        return here or await self.site.ask(lambda app: door_of(app).session(token, renews=not by_itself))

    async def still(self, session: Session) -> Session | None:
        """Return a session as it stands now, after its request; None where it is over."""
        key = session.key
        if key is None:
            found: Session | None = await self.site.ask(lambda app: door_of(app).of_proxy(session.user))
            return found
        here = self.code_door.session(key, renews=False)
        return here or await self.site.ask(lambda app: door_of(app).session(key, renews=False))

    async def program(self, request: Request) -> Session | None:
        """Return the session of a program, by the token that it shows."""
        token = guards.token_of(request.headers)
        if token is None:
            return None
        found: Session | None = await self.site.ask(lambda app: door_of(app).of_program(token))
        return found

    def routes(self, open_to_all: Open, guarded: Guard) -> Iterator[Route]:
        """Yield the routes of coming in, going, and what is one's own."""
        yield Route("/login", open_to_all(self._ask), methods=["GET"])
        yield Route("/login", open_to_all(self._enter), methods=["POST"])
        if self.issuer is not None:
            yield from self.issuer.routes(self, open_to_all)
        yield Route("/logout", guarded(self._leave, Right.OWN), methods=["POST"])
        yield Route(ACCOUNT, guarded(self._account, Right.OWN), methods=["GET"])
        yield Route(f"{ACCOUNT}/password", guarded(self._change, Right.OWN), methods=["POST"])
        yield Route(f"{ACCOUNT}/sessions/{{number}}", guarded(self._end, Right.OWN), methods=["POST"])

    def door_before(self, request: Request) -> Response:
        """Send a browser to the door, from which it goes on to the page that it has asked for."""
        page = guards.own_path(guards.path_of(request)) if "GET" in guards.allowed(request) else None
        is_page = page is not None and request.url.path not in {"/", "/events"}
        return RedirectResponse(f"/login?{urlencode({'page': page})}" if is_page else "/login", status_code=303)

    async def _ask(self, request: Request) -> Response:
        name = self.proxies.user(request)
        if name is not None and await self.session(request) is None:
            return await self.refuse(await self.site.ask(lambda app: door_of(app).unknown_to_console(name)))
        has_ended = COOKIE in request.cookies and await self.session(request) is None
        return await self._door(page=guards.own_path(request.query_params.get("page", "")), has_ended=has_ended)

    async def refuse(self, error: BatchctlError) -> Response:
        """Say what went wrong at another door; one's own is there beside it."""
        code = _NOT_ALLOWED if isinstance(error, Refused) else self.site.code_of(error)
        return await self._door(error.message, code, error)

    async def _door(
        self,
        wrong: str | None = None,
        code: int = 200,
        error: BatchctlError | None = None,
        *,
        page: str | None = None,
        has_ended: bool = False,
    ) -> Response:
        has_users = await self.site.ask(lambda app: door_of(app).has_users())
        shown = {"wrong": wrong, "error": error, "has_users": has_users, "issuer": self.issuer}
        ended = {"page_asked": page, "has_ended": has_ended}
        return self.site.render(Page("Log in", "login.html"), None, code, **shown, **ended)

    async def _enter(self, request: Request) -> Response:
        form = await guards.form_of(request)
        page = guards.own_path(form.get("page", ""))
        if not await self.site.ask(lambda app: door_of(app).has_users()):
            return await self._by_code(request, form.get("code", ""), page)
        name, password, address = form.get("name", ""), form.get("password", ""), self.proxies.address(request)
        entered = await self.site.ask(lambda app: door_of(app).enter(name, password, address))
        if entered.token is not None:
            await self.end_former(request)
            return _let_in(entered.token, page)
        wait = f"Look again in {_seconds(entered.shut_for)} s."
        wrong = f"That is not the name and password of a user who may come in now. {wait}"
        return await self._door(wrong, _NOT_ALLOWED, page=page)

    async def _by_code(self, request: Request, code: str, page: str | None) -> Response:
        if (wait := self.code_door.shut_for) is not None:
            return await self._door(f"Too many wrong codes: try again in {_seconds(wait)} s.", _TOO_OFTEN, page=page)
        token = self.code_door.enter(code)
        if token is None:
            return await self._door("That is not the code that the terminal shows now.", _NOT_ALLOWED, page=page)
        await self.end_former(request)
        return _let_in(token, page)

    async def _leave(self, request: Request, session: Session) -> Response:
        del request
        if (token := session.key) is not None:
            await self._end_session(token)
        return _without_cookie(RedirectResponse("/login", status_code=303))

    async def end_former(self, request: Request) -> None:
        """End the session that a browser had which begins another."""
        if token := request.cookies.get(COOKIE):
            await self._end_session(token)

    async def _end_session(self, token: str) -> None:
        self.code_door.leave(token)
        await self.site.ask(lambda app: door_of(app).leave(token))

    async def _account(self, request: Request, session: Session) -> Response:
        del request
        return await self._own(session)

    async def _own(self, session: Session, wrong: BatchctlError | None = None) -> Response:
        found = []
        if session.known is not None:
            name = session.known.name
            found = await self.site.ask(lambda app: console_users.sessions(app.transactions, app.clock, name))
        own = None if session.key is None else console_users.hash_of(session.key)
        values = {"sessions": found, "own": own, "wrong": wrong}
        page = Page("Account", "account.html", values=values)
        return self.site.render(page, session, 200 if wrong is None else self.site.code_of(wrong))

    async def _change(self, request: Request, session: Session) -> Response:
        form, address = await guards.form_of(request), self.proxies.address(request)
        old, new = form.get("old", ""), form.get("new", "")
        try:
            token = await self.site.ask(lambda app: door_of(app).change_password(session, old, new, address))
        except BatchctlError as error:
            return await self._own(session, error)
        return _let_in(token)

    async def _end(self, request: Request, session: Session) -> Response:
        number = WebSessionId(row_number(request.path_params, "session"))
        if (user := session.known) is not None:
            own = user.user_id
            await self.site.do(session, lambda app: _keeper(app).end_session(number, own))
        return RedirectResponse(ACCOUNT, status_code=303)


def door_of(app: App) -> UserDoor:
    """Return what knows the users of the console, by the database of one thread."""
    return UserDoor(app.actor(dry_run=False), app.ids.token, passwords.hash_of, passwords.is_right)


def _keeper(app: App) -> UserKeeper:
    return UserKeeper(app.actor(dry_run=False), app.ids.token)


def with_session(answer: Response, token: str) -> Response:
    """Give a browser the token of its session."""
    answer.set_cookie(COOKIE, token, path="/", secure=True, httponly=True, samesite="strict")
    return answer


def _let_in(token: str, page: str | None = None) -> Response:
    return with_session(RedirectResponse(page or "/", status_code=303), token)


def _without_cookie(answer: Response) -> Response:
    answer.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")
    return answer


def _seconds(wait: timedelta | None) -> int:
    return int((wait or timedelta(0)).total_seconds()) + 1
