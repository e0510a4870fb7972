"""The console as an application: what each address answers, who may ask, and what becomes of errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

import jinja2
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from batchctl.app import App
from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseRefused, NotFound, Refused, SchemaMismatch
from batchctl.domain.operators.logins import Right, Session
from batchctl.domain.text import message_of, visible
from batchctl.store.maintenance import schema
from batchctl.system.concurrency.lending_threads import LendingThreads
from batchctl.system.remote.console_client import ROOT as RELAY_ROOT
from batchctl.system.remote.relay import Relay
from batchctl.web import guards, handbook
from batchctl.web.act_forms import DONE, ActForms
from batchctl.web.doors import CodeDoor
from batchctl.web.entrance import ACCOUNT, Entrance, IssuerDoor
from batchctl.web.forms import Forms
from batchctl.web.live_pages import Live, stream_of
from batchctl.web.many_acts import ManyActs
from batchctl.web.page import ListLinks, Page, PageAt
from batchctl.web.pages import PAGES
from batchctl.web.relay_doors import RelayDoors
from batchctl.web.rest.api import ROOT, Api
from batchctl.web.tables import cell_of, counted, linked, list_as_csv, table_of, width_of

COMES_BACK = 5
"""Seconds after which a page is asked for again that says what is waited for, such as a database that is away."""
SUBMIT = "/new/file-processes"
THREADS = 4
"""How many requests look into the database at once; each has a connection of its own."""
ACTING = 4
"""How many acts besides: they wait for locks that others hold, and no page waits for them."""
_IS_ACT: ContextVar[bool] = ContextVar("is_act", default=False)
"""Whether what is done belongs to a request that acts."""
_HERE = Path(__file__).parent
_NOT_THERE, _NOT_ALLOWED, _NO_METHOD, _AWAY = 404, 403, 405, 503
Result = TypeVar("Result")


class _WholePath(PathConvertor):
    """What of a path is a name, which may hold the end of a line."""

    regex = "(?s:.*)"


register_url_convertor("path", _WholePath())
Answer = Callable[[Request, Session], Awaitable[Response]]


@dataclass
class Console:
    """What all requests share. Everything that touches the database runs in threads that have each opened their own."""

    open_app: Callable[[], App]
    door: CodeDoor
    proxies: guards.Proxies
    forms: Forms
    hosts: frozenset[str]
    issuer: IssuerDoor | None = None

    def __post_init__(self) -> None:
        """Open nothing yet."""
        self.entrance = Entrance(self, self.door, self.proxies, self.issuer)
        self.live = Live(self.open_app)
        self._relay = Relay()
        # Of this program, whatever is installed while it runs.
        self._revision = schema.newest_revision()
        self._threads, self._acting = (
            LendingThreads(many, self.open_app, App.close, DatabaseRefused, self._check) for many in (THREADS, ACTING)
        )
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {
            "cell": cell_of,
            "counted": counted,
            "lines": _lines,
            "linked": linked,
            "visible": lambda text: visible(str(text)),
            "width": width_of,
        }

    def application(self, *, has_tls: bool = False) -> ASGIApp:
        """Return the application; the headers are added outside of all that answers errors."""
        pages = self.pages()

        async def answered(scope: Scope, receive: Receive, send: Send) -> None:
            is_relayed = str(scope.get("path", "")).startswith(RELAY_ROOT)
            _IS_ACT.set(scope.get("method") == "POST" and not is_relayed)
            await pages(scope, receive, send)

        return guards.Headers(answered, has_tls=has_tls)

    def end(self) -> None:
        """Let go what waits in live pages, and the questions and answers of agents."""
        self.live.end()
        self._relay.end()

    def pages(self) -> Starlette:
        """Return what answers at each address."""
        return Starlette(
            routes=[
                *self.entrance.routes(self._open, self._guarded),
                *(
                    Route(one.path, self._guarded(partial(self._page, one), Right.SEE), methods=["GET"])
                    for one in PAGES
                ),
                *ActForms(self).routes(self._guarded),
                *ManyActs(self, self.forms.token).routes(self._guarded),
                self.live.route(self._guarded),
                Mount(ROOT, Api(self).application()),
                Mount(RELAY_ROOT, RelayDoors(self, self._relay).application()),
                Mount("/static", StaticFiles(directory=_HERE / "static")),
                Mount(handbook.FILES, StaticFiles(directory=handbook.folder(), check_dir=False)),
            ],
            exception_handlers={_NOT_THERE: self._no_page, _NO_METHOD: self._no_method, Exception: self._broken},
        )

    def _open(self, answer: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Answer anyone whose request is meant for this console; turn errors into pages."""

        async def opened(request: Request) -> Response:
            return self._refused(request) or await self._answered(self._read(request, answer), None)

        return opened

    def _guarded(self, answer: Answer, right: Right) -> Callable[[Request], Awaitable[Response]]:
        """Let only those in who may, and forms only from pages of this console; turn errors into pages."""

        async def guarded(request: Request) -> Response:
            return self._refused(request) or await self._answered(self._admitted(request, answer, right), None)

        return guarded

    async def _read(self, request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        guards.check_address(request)
        return await answer(request)

    async def _admitted(self, request: Request, answer: Answer, right: Right) -> Response:
        session = await self.entrance.session(request)
        if session is None:
            return self.entrance.door_before(request)
        if session.has_to_choose and right is not Right.OWN:
            return RedirectResponse(ACCOUNT, status_code=303)
        if right is Right.SEE and request.url.path == "/" and not session.may(right):
            return RedirectResponse(SUBMIT, status_code=303)
        if not session.may(right):
            wrong = guards.not_allowed(right, f"the role {session.role}")
            return self._say(_NOT_ALLOWED, "Not allowed", wrong.message, wrong, session)
        return await self._answered(self._read(request, lambda asked: answer(asked, session)), session)

    async def _answered(self, answer: Awaitable[Response], session: Session | None) -> Response:
        try:
            return await answer
        except BatchctlError as error:
            return self._error(error, session)
        except guards.BadBodyError as error:
            refused = self._say(error.code, "The form cannot be read", str(error), None, session)
            # What is left of it is not waited for.
            refused.headers["Connection"] = "close"
            return refused

    def _refused(self, request: Request) -> Response | None:
        if (wrong := self.not_from_here(request)) is not None:
            return self._say(_NOT_ALLOWED, "Not allowed", wrong.message, wrong)
        return None

    async def _page(self, place: PageAt, request: Request, session: Session) -> Response:
        asked = place.asked(dict(request.query_params), request.path_params)
        shown = self.do(session, lambda app: place.show(app, asked))
        found = await (self.live.allowance.timed(shown) if "hx-request" in request.headers else shown)
        if (file := list_as_csv(found, asked.query)) is not None:
            return file
        older = None if found.older is None else "?" + urlencode({**asked.query, "before": found.older})
        links = ListLinks(request.url.path, asked.query, found.narrowed)
        live = _live(request, found)
        # A page that asks for itself again leaves alone what is said above it.
        done = None if "hx-request" in request.headers else self.forms.done(request.cookies.get(DONE, ""))
        return self.render(found, session, path=request.url.path, live=live, older=older, links=links, done=done)

    async def do(self, session: Session, work: Callable[[App], Result]) -> Result:
        """Do a piece of work for a person."""
        who = session.user if session.key is None or session.known is not None else None

        def acting(app: App) -> Result:
            with app.acting_for(who, session.tag):
                return work(app)

        return await self.ask(acting)

    async def ask(self, work: Callable[[App], Result]) -> Result:
        """Do a piece of work for the console itself."""
        threads = self._acting if _IS_ACT.get() else self._threads
        return await threads.do(work)

    def _check(self, app: App) -> None:
        app.refuse_changed_database(self._revision)

    def _error(self, error: BatchctlError, session: Session | None) -> Response:
        title, told = "Not found" if isinstance(error, NotFound) else "Not done", error
        if session is None:
            told = guards.for_strangers(error)
        return self._say(_code(error), title, told.message, told, session)

    async def _no_page(self, request: Request, error: Exception) -> Response:
        del request, error
        wrong = _no_such_page()
        return self._say(_NOT_THERE, "Not found", wrong.message, wrong)

    async def _no_method(self, request: Request, error: Exception) -> Response:
        del error
        said = f"{visible(request.method)} is not possible here."
        answer = self._say(_NO_METHOD, "Not possible", said, None)
        answer.headers["Allow"] = guards.allowed(request)
        return answer

    async def _broken(self, request: Request, error: Exception) -> Response:
        del request
        return self._say(500, "Not done", f"The console is broken here: {message_of(error)}", None)

    def _say(
        self, code: int, title: str, message: str, error: BatchctlError | None, session: Session | None = None
    ) -> Response:
        answer = self._html(code, "error.html", title=title, message=message, error=error, session=session)
        return _coming_back(answer) if code == _AWAY else answer

    async def session_of(self, request: Request) -> Session | None:
        """Return for whom a request is sent."""
        # Who shows a token is let in by that alone: a cookie beside it may have been sent by another site.
        if guards.token_of(request.headers) is not None:
            return await self.entrance.program(request)
        return await self.entrance.session(request)

    async def still(self, session: Session) -> Session | None:
        """Return a session as it stands now; None where it is over."""
        return await self.entrance.still(session)

    def not_from_here(self, request: Request, *, by_token: bool = False) -> Refused | None:
        """Return why a request may not act, if another site may have sent it; a page elsewhere knows no token."""
        if not guards.is_meant_for(self.hosts, request.headers):
            message = "This console has another name: open the address that its terminal shows."
            named = '[web] names = ["NAME"] in batchctl.toml, and start the console again, if that is a name of it'
            return Refused(message, next_step=named)
        if by_token:
            return None
        if request.method not in {"GET", "HEAD"} and not guards.is_own(request.headers):
            message = "The form was not sent by a page of this console."
            return Refused(message, next_step="open the page here, and send its form")
        return None

    def code_of(self, error: BatchctlError) -> int:
        """Return the status of an answer that says an error."""
        return _code(error)

    def render(self, page: Page, session: Session | None, code: int = 200, **more: Any) -> Response:
        """Return a page."""
        tables = [table_of(columns, rows) for columns, rows in page.lists]
        answer = self._html(code, page.template, page=page, title=page.title, tables=tables, session=session, **more)
        return _coming_back(answer) if page.comes_back else answer

    def _html(self, code: int, template: str, **values: Any) -> Response:
        known = {
            "path": None,
            "done": None,
            "live": None,
            "older": None,
            "links": None,
            "menu": _menu(values.get("session")),
            "nonce": (nonce := self.forms.token(16)),
            **values,
        }
        text = self._templates.get_template(template).render(known)
        return HTMLResponse(text, status_code=code, headers=guards.policy(nonce))


def _menu(session: Session | None) -> list[tuple[str, str]]:
    """Return the pages that a person may see; who sees none submits rows."""
    if session is not None and not session.may(Right.SEE):
        return [(SUBMIT, "Submit a row")]
    return [(one.path, one.menu) for one in PAGES if one.menu is not None]


def _coming_back(answer: Response) -> Response:
    answer.headers["Refresh"] = f"{COMES_BACK}"
    return answer


def _live(request: Request, page: Page) -> dict[str, object] | None:
    """Return what a page asks for again when something has changed; None where it shows what is over."""
    if "before" in request.query_params:
        return None
    query = f"?{request.url.query}" if request.url.query else ""
    return {"address": f"{request.url.path}{query}", "stream": stream_of(page.follows, steadily=page.is_steady)}


def _no_such_page() -> NotFound:
    return NotFound("There is no such page.", next_step="/   (the page Now, and the menu of all others)")


def _code(error: BatchctlError) -> int:
    match error:
        case NotFound():
            return _NOT_THERE
        case Busy() | DatabaseRefused() | SchemaMismatch():
            return _AWAY
        case Refused() | Conflict():
            return 409
        case _:
            return 400


def _lines(text: str) -> str:
    """Return a text of several lines with everything else that is invisible as an escape."""
    return "\n".join(visible(line.expandtabs()) for line in text.split("\n"))
