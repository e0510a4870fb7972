"""The console as an application: what each address answers, who may ask, and what becomes of errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from batchctl.app import App
from batchctl.domain.errors import BatchctlError, Busy, DatabaseRefused, NotFound, Refused
from batchctl.domain.rows import IncidentId, InstanceId
from batchctl.domain.text import message_of, visible
from batchctl.node import Node
from batchctl.operations.alerting.incident_desk import Which
from batchctl.operations.decisions import Action
from batchctl.system.concurrency.lending_threads import LendingThreads
from batchctl.web import guards, wishes
from batchctl.web.doors import Door, Session
from batchctl.web.forms import Forms
from batchctl.web.page import Page, PageAt, PageRequest, row_number
from batchctl.web.pages import PAGES
from batchctl.web.tables import cell_of, csv_of, table_of

COOKIE = "__Host-batchctl"
THREADS = 4
"""How many requests look into the database at once; each has a connection of its own."""
_HERE = Path(__file__).parent
_NOT_THERE, _NOT_ALLOWED, _AWAY, _TOO_OFTEN = 404, 403, 503, 429
Answer = Callable[[Request, Session], Awaitable[Response]]


@dataclass
class Console:
    """What all requests share. Everything that touches the database runs in threads that have each opened their own."""

    open_app: Callable[[], App]
    door: Door
    forms: Forms
    hosts: frozenset[str]

    def __post_init__(self) -> None:
        """Open nothing yet."""
        self._threads = LendingThreads(THREADS, self.open_app, App.close, DatabaseRefused)
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {"cell": cell_of, "lines": _lines, "visible": lambda text: visible(str(text))}

    def application(self) -> Starlette:
        """Return the application."""
        return Starlette(
            routes=[
                *(Route(one.path, self._guarded(partial(self._page, one)), methods=["GET"]) for one in PAGES),
                Route("/instances/{number}/{action}", self._guarded(self._look), methods=["GET"]),
                Route("/instances/{number}/{action}", self._guarded(self._act), methods=["POST"]),
                Route("/incidents/{number}/acknowledge", self._guarded(self._acknowledge), methods=["POST"]),
                Route("/login", self._ask, methods=["GET"]),
                Route("/login", self._enter, methods=["POST"]),
                Route("/logout", self._guarded(self._leave), methods=["POST"]),
                Mount("/static", StaticFiles(directory=_HERE / "static")),
            ],
            middleware=[Middleware(guards.Headers)],
            exception_handlers={_NOT_THERE: self._no_page, Exception: self._broken},
        )

    def _guarded(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        """Let only a session in, and forms only from pages of this console; turn errors into pages."""

        async def guarded(request: Request) -> Response:
            if (refused := self._refused(request)) is not None:
                return refused
            session = self.door.session(request.cookies.get(COOKIE))
            if session is None:
                return RedirectResponse("/login", status_code=303)
            try:
                return await answer(request, session)
            except BatchctlError as error:
                return self._error(error, session)
            except guards.BadFormError as error:
                return self._say(400, "The form cannot be read", str(error), None, session)

        return guarded

    def _refused(self, request: Request) -> Response | None:
        if not guards.is_meant_for(self.hosts, request.headers):
            return self._say(
                _NOT_ALLOWED,
                "Not allowed",
                "This console has another name: open the address that its terminal shows.",
                None,
            )
        if request.method not in {"GET", "HEAD"} and not guards.is_own(request.headers):
            return self._say(_NOT_ALLOWED, "Not allowed", "The form was not sent by a page of this console.", None)
        return None

    async def _page(self, place: PageAt, request: Request, session: Session) -> Response:
        asked = PageRequest(dict(request.query_params), request.path_params)
        found = await self._threads.do(lambda app: place.page(app, asked))
        if asked.get("format") == "csv" and found.lists:
            return _as_csv(found, asked.query.get("list", found.lists[0][0].title))
        older = None if found.older is None else "?" + urlencode({**asked.query, "before": found.older})
        return self._render(found, session, path=request.url.path, older=older)

    async def _look(self, request: Request, session: Session) -> Response:
        """Show what an act would do, with the form that does it."""
        filled = {name: text for name, text in request.query_params.items() if name == "from_seq"}
        return await self._planned(wishes.wish_of(_action(request), _instance_id(request), filled), session)

    async def _planned(self, wish: wishes.Wish, session: Session, refused: BatchctlError | None = None) -> Response:
        wish, planned = await self._threads.do(lambda app: wishes.plan(app.operator(dry_run=True), wish))
        values = {
            "planned": planned,
            "wish": wish,
            "says": wishes.SAYS[wish.action],
            "needs_reason": wish.action in wishes.NEEDS_REASON,
            "data": wishes.DATA,
            "form": self.forms.show(planned.before),
            "refused": refused,
        }
        page = Page(f"{wish.action.capitalize()} instance {wish.instance_id}", "act.html", values=values)
        return self._render(page, session, code=200 if refused is None else _code(refused))

    async def _act(self, request: Request, session: Session) -> Response:
        form = await guards.form_of(request)
        wish, number = wishes.wish_of(_action(request), _instance_id(request), form), form.get("form", "")
        there = RedirectResponse(f"/instances/{wish.instance_id}", status_code=303)
        seen = self.forms.send(number)
        if seen is None:
            if self.forms.was_sent(number):
                return there
            return await self._planned(wish, session, _unknown_form())
        try:
            await self._threads.do(lambda app: wishes.carry_out(app.operator(dry_run=False), wish, seen))
        except BatchctlError as error:
            if isinstance(error, (NotFound, DatabaseRefused)):
                raise
            return await self._planned(wish, session, error)
        return there

    async def _acknowledge(self, request: Request, session: Session) -> Response:
        del session
        form, number = await guards.form_of(request), row_number(request.path_params, "incident")
        reason = wishes.needed_reason(form.get("reason"))
        which = Which(incident_id=IncidentId(number))
        await self._threads.do(lambda app: Node(app).incident_desk(dry_run=False).acknowledge(which, reason=reason))
        return RedirectResponse("/incidents", status_code=303)

    async def _ask(self, request: Request) -> Response:
        return self._refused(request) or self._door()

    async def _enter(self, request: Request) -> Response:
        if (refused := self._refused(request)) is not None:
            return refused
        if (wait := self.door.shut_for) is not None:
            return self._door(f"Too many wrong codes: try again in {int(wait.total_seconds()) + 1} s.", _TOO_OFTEN)
        try:
            form = await guards.form_of(request)
        except guards.BadFormError as error:
            return self._door(str(error), 400)
        token = self.door.enter(form.get("code", ""))
        if token is None:
            return self._door("That is not the code that the terminal shows now.", _NOT_ALLOWED)
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(COOKIE, token, path="/", secure=True, httponly=True, samesite="strict")
        return answer

    async def _leave(self, request: Request, session: Session) -> Response:
        del session
        self.door.leave(request.cookies.get(COOKIE))
        answer = RedirectResponse("/login", status_code=303)
        answer.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")
        return answer

    def _door(self, wrong: str | None = None, code: int = 200) -> Response:
        return self._html(code, "login.html", title="Log in", wrong=wrong, session=None)

    def _error(self, error: BatchctlError, session: Session | None) -> Response:
        title = "Not found" if isinstance(error, NotFound) else "Not done"
        return self._say(_code(error), title, error.message, error, session)

    async def _no_page(self, request: Request, error: Exception) -> Response:
        del error
        session = self.door.session(request.cookies.get(COOKIE))
        return self._say(_NOT_THERE, "Not found", "There is no such page.", None, session)

    async def _broken(self, request: Request, error: Exception) -> Response:
        del request
        return self._say(500, "Not done", f"The console is broken here: {message_of(error)}", None)

    def _say(
        self, code: int, title: str, message: str, error: BatchctlError | None, session: Session | None = None
    ) -> Response:
        return self._html(code, "error.html", title=title, message=message, error=error, session=session)

    def _render(self, page: Page, session: Session, code: int = 200, **more: Any) -> Response:
        tables = [table_of(columns, rows) for columns, rows in page.lists]
        return self._html(code, page.template, page=page, title=page.title, tables=tables, session=session, **more)

    def _html(self, code: int, template: str, **values: Any) -> Response:
        menu = [(one.path, one.menu) for one in PAGES if one.menu is not None]
        known = {"path": None, "older": None, "menu": menu, "nonce": (nonce := self.forms.token(16)), **values}
        text = self._templates.get_template(template).render(known)
        return HTMLResponse(text, status_code=code, headers=guards.policy(nonce))


def _as_csv(page: Page, title: str) -> Response:
    for columns, rows in page.lists:
        if columns.title == title:
            name = "".join(each if each.isalnum() else "-" for each in title.lower())
            headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
            return Response(csv_of(columns, rows), media_type="text/csv; charset=utf-8", headers=headers)
    raise NotFound(f"This page has no list '{visible(title)}'.", next_step="open the page without its query")


def _unknown_form() -> Refused:
    return Refused("The form is no longer known.", next_step="look at what is shown now, and send it again")


def _code(error: BatchctlError) -> int:
    match error:
        case NotFound():
            return _NOT_THERE
        case Busy() | DatabaseRefused():
            return _AWAY
        case Refused():
            return 409
        case _:
            return 400


def _instance_id(request: Request) -> InstanceId:
    return InstanceId(row_number(request.path_params, "instance"))


def _action(request: Request) -> Action:
    text = request.path_params["action"]
    if text not in [*Action]:
        raise NotFound(f"There is no act '{visible(text)}'.", next_step=f"one of {', '.join(Action)}")
    return Action(text)


def _lines(text: str) -> str:
    """Return a text of several lines with everything else that is invisible as an escape."""
    return "\n".join(visible(line.expandtabs()) for line in text.split("\n"))
