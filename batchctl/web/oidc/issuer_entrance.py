"""Coming in by the issuer: a browser is sent there, comes back with a code, and is let in as the user it is known as."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote, unquote

from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from batchctl.domain.errors import BatchctlError, Refused
from batchctl.domain.operators.issuers import code_in, name_in
from batchctl.web import guards
from batchctl.web.console_parts import Open
from batchctl.web.entrance import Entrance, door_of, with_session
from batchctl.web.oidc.issuer_client import IssuerClient
from batchctl.web.oidc.pending_logins import LASTS, PendingLogin, PendingLogins
from batchctl.web.oidc.registration import Registration
from batchctl.web.page import Page

COOKIE = "__Host-batchctl-oidc"
PAGE_COOKIE = "__Host-batchctl-page"
"""What page is gone on to."""
BEGIN = "/login/oidc"
BACK = f"{BEGIN}/back"


@dataclass(frozen=True, slots=True)
class IssuerEntrance:
    """Answers what concerns coming in by the issuer."""

    registration: Registration
    client: IssuerClient
    pending: PendingLogins
    scheme: str
    """By which browsers come: http or https."""

    @property
    def label(self) -> str:
        """Return what people call the issuer."""
        return self.registration.label

    def routes(self, entrance: Entrance, open_to_all: Open) -> Iterator[Route]:
        """Yield the routes."""
        visit = _Visit(self, entrance)
        yield Route(BEGIN, open_to_all(visit.begin), methods=["GET"])
        yield Route(BACK, open_to_all(visit.end), methods=["GET"])

    def back(self, request: Request) -> str:
        """Return where the issuer sends the browser back to: its host was looked at, as of every request."""
        return str(URL(scope={**request.scope, "scheme": self.scheme, "path": BACK, "query_string": b""}))


@dataclass(frozen=True, slots=True)
class _Visit:
    """The two halves of a log-in."""

    issuer: IssuerEntrance
    entrance: Entrance

    async def begin(self, request: Request) -> Response:
        """Send a browser to the issuer."""
        kept, pending = self.issuer.pending.begin()
        try:
            address = await self.issuer.client.address(pending, self.issuer.back(request))
        except BatchctlError as error:
            return await self.entrance.refuse(error)
        # When it comes back, from another site, it brings no cookie of the session that it had.
        await self.entrance.end_former(request)
        answer = RedirectResponse(address, status_code=303)
        # The issuer sends it back from another site: a cookie that is SameSite=Strict would not come along.
        most = int(LASTS.total_seconds())
        answer.set_cookie(COOKIE, kept, max_age=most, path="/", secure=True, httponly=True, samesite="lax")
        if (page := guards.own_path(request.query_params.get("page", ""))) is not None:
            kept_page = quote(page, safe="")
            answer.set_cookie(PAGE_COOKIE, kept_page, most, path="/", secure=True, httponly=True, samesite="lax")
        return answer

    async def end(self, request: Request) -> Response:
        """Let in who has come back."""
        try:
            answer = await self._let_in(request)
        except BatchctlError as error:
            answer = await self.entrance.refuse(error)
        for name in (COOKIE, PAGE_COOKIE):
            if name in request.cookies or name == COOKIE:
                answer.delete_cookie(name, path="/", secure=True, httponly=True, samesite="lax")
        return answer

    async def _let_in(self, request: Request) -> Response:
        site, client, back = self.entrance.site, self.issuer.client, self.issuer.back(request)
        registration, address = self.issuer.registration, self.entrance.proxies.address(request)
        _check_open(await site.ask(lambda app: door_of(app).shut_for(address)))
        pending = self._pending(request)
        names_itself = await client.names_itself(back)
        try:
            code = code_in(request.query_params, registration.issuer, names_itself=names_itself)
            name = name_in(await client.claims(code, pending, back), registration.name_claim)
        except Refused:
            await site.ask(lambda app: door_of(app).refuse(address))
            raise
        token = await site.ask(lambda app: door_of(app).enter_by_issuer(name, address))
        page = guards.own_path(unquote(request.cookies.get(PAGE_COOKIE, ""))) or "/"
        answer = with_session(site.render(Page("Logged in", "entered.html", values={"page": page}), None), token)
        # A redirect would go on from the other site: the browser would not send the cookie, which is SameSite=Strict.
        answer.headers["Refresh"] = f"0; url={page}"
        return answer

    def _pending(self, request: Request) -> PendingLogin:
        """Return the log-in that this browser has begun."""
        kept, state = request.cookies.get(COOKIE, ""), request.query_params.get("state", "")
        found = self.issuer.pending.end(kept, state)
        if found is None:
            message = (
                "This log-in was begun in another browser or another tab, has ended already, or took longer than"
                f" {int(LASTS.total_seconds() // 60)} minutes; or the console was started again meanwhile."
            )
            raise Refused(message, next_step="log in again")
        return found


def _check_open(wait: timedelta | None) -> None:
    if wait is not None:
        seconds = int(wait.total_seconds()) + 1
        raise Refused(
            f"The last log-in from this address was refused: look again in {seconds} s.", next_step="log in again"
        )
