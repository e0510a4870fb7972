"""The page of each act: first what it would do, then the form that does it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from batchctl.app import App
from batchctl.domain.errors import BatchctlError, DatabaseRefused, NotFound, Refused
from batchctl.domain.operators.logins import Right, Session
from batchctl.domain.text import visible
from batchctl.web import asked_acts, guards
from batchctl.web.act_table import ACTS, verb_of
from batchctl.web.console_parts import Guard, Site
from batchctl.web.forms import UNSEEN, Forms
from batchctl.web.page import Page, batch_page, refuse_unknown, schedule_page
from batchctl.web.wishes import ActOutcome, ConsoleAct, Subject, Wish

DONE, SHOWN_FOR = "__Host-batchctl-done", 60
"""The cookie of the form that was sent last, and how many seconds a browser keeps it."""
_LOOK = "look"
"""The button that shows what would be done with what is filled in."""


class FormSite(Site, Protocol):
    """The same, with the forms that were shown."""

    forms: Forms


@dataclass(frozen=True, slots=True)
class ActForms:
    """Answers what concerns acts."""

    site: FormSite

    def routes(self, guarded: Guard) -> Iterator[Route]:
        """Yield the routes: `/instances/42/rerun`, and `/new/freezes` where the act makes a row."""
        for subject in Subject:
            path = f"/{subject}/{{key:path}}/{{act}}"
            yield Route(path, guarded(partial(self._ask, subject), Right.ACT), methods=["GET"])
            yield Route(path, guarded(partial(self._act, subject), Right.ACT), methods=["POST"])
        for verb in (verb for verb in ACTS.values() if verb.makes_row):
            path = f"/new/{verb.subject}"
            yield Route(path, guarded(partial(self._ask_of, verb), verb.right), methods=["GET"])
            yield Route(path, guarded(partial(self._act_of, verb), verb.right), methods=["POST"])

    async def _ask(self, subject: Subject, request: Request, session: Session) -> Response:
        return await self._ask_of(verb_of(subject, request.path_params["act"]), request, session)

    async def _act(self, subject: Subject, request: Request, session: Session) -> Response:
        return await self._act_of(verb_of(subject, request.path_params["act"]), request, session)

    async def _ask_of(self, verb: ConsoleAct, request: Request, session: Session) -> Response:
        done, query = self.site.forms.done(request.cookies.get(DONE, "")), dict(request.query_params)
        refuse_unknown(query, ["reason", *(each.name for each in verb.fields)])
        return await self._planned(verb, _wish(verb, request, query), session, done=done)

    async def _act_of(self, verb: ConsoleAct, request: Request, session: Session) -> Response:
        form = await guards.form_of(request)
        wish, number = _wish(verb, request, form), form.get("form", "")
        if _LOOK in form:
            return await self._planned(verb, wish, session)
        shown = self.site.forms.send(number)
        if shown is None and self.site.forms.was_sent(number):
            return _going_on(self.site.forms.where(number) or _back(verb, wish), number)
        if shown is None:
            return await self._planned(verb, wish, session, unknown_form())
        if shown.seen is UNSEEN:
            return await self._planned(verb, wish, session)
        try:
            with self.site.forms.acting(number, shown):
                done = await asked_acts.act(self.site, session, verb, wish, shown.seen)
        except BatchctlError as error:
            if _ends_form(verb, error):
                raise
            return await self._planned(verb, wish, session, error)
        # Who only submits sees no row: the next one is submitted on the same page.
        where = done.where if session.may(Right.SEE) else request.url.path
        self.site.forms.led(number, where)
        if done.asked is None:
            self.site.forms.note_done(number, " ".join([*done.lines, *done.alarming]))
        return _going_on(where, number)

    async def _planned(
        self,
        verb: ConsoleAct,
        wish: Wish,
        session: Session,
        refused: BatchctlError | None = None,
        done: str | None = None,
    ) -> Response:
        outcome, wrong = await self.site.do(session, lambda app: _looked_at(app, verb, wish))
        if outcome is None and wrong is not None and refused is None and not wish.values:
            raise wrong
        refused = refused or wrong
        values = {
            "verb": verb,
            "wish": wish,
            "outcome": outcome,
            "filled": {**(outcome.filled if outcome else {}), **wish.values},
            "form": self.site.forms.show(_seen(verb, wish, outcome)),
            "refused": refused,
            "back": _back(verb, wish),
        }
        of = "" if verb.makes_row else f" {verb.subject.one} {visible(wish.key)}"
        page = Page(f"{verb.name.capitalize()}{of}", "act.html", values=values)
        code = 200 if refused is None else self.site.code_of(refused)
        return self.site.render(page, session, code, done=done)


def _going_on(where: str, number: str) -> Response:
    """Go on to a page, which says what the form has done: the browser keeps the number of the form, and no text."""
    answer = RedirectResponse(where, status_code=303)
    answer.set_cookie(DONE, number, SHOWN_FOR, path="/", secure=True, httponly=True, samesite="strict")
    return answer


def _wish(verb: ConsoleAct, request: Request, filled: dict[str, str]) -> Wish:
    return verb.of_form(request.path_params.get("key", ""), filled)


def _looked_at(app: App, verb: ConsoleAct, wish: Wish) -> tuple[ActOutcome | None, BatchctlError | None]:
    """Return what a wish would do, and what is wrong with it; without what was filled in where it cannot be that."""
    if not verb.is_complete(wish):
        return None, None
    try:
        return verb.plan(app, wish), None
    except BatchctlError as error:
        if _ends_form(verb, error):
            raise
        wrong = error
    bare = Wish(wish.key)
    try:
        found = verb.plan(app, bare) if wish.values and verb.is_complete(bare) else None
    except BatchctlError:
        found = None
    return found, wrong


def _seen(verb: ConsoleAct, wish: Wish, outcome: ActOutcome | None) -> object:
    """Return what a form shows to decide by; one that lacks something yet has nothing to show."""
    if outcome is not None:
        return outcome.seen
    return UNSEEN if verb.is_complete(wish) else None


def _ends_form(verb: ConsoleAct, error: BatchctlError) -> bool:
    """Say whether no other values would help: the row is not there; where the act makes one, a value names what is not."""
    return isinstance(error, DatabaseRefused) or (isinstance(error, NotFound) and not verb.makes_row)


def _back(verb: ConsoleAct, wish: Wish) -> str:
    match verb.subject:
        case Subject.INSTANCES:
            return f"/instances/{wish.row_id}"
        case Subject.BATCHES:
            return batch_page(wish.key)
        case Subject.INCIDENTS:
            return "/incidents"
        case Subject.SCHEDULES:
            return schedule_page(wish.key)
        case Subject.BACKFILLS:
            return "/schedules"
        case Subject.FILE_PROCESSES:
            return "/inbox" if verb.makes_row else f"/file-processes/{wish.row_id}"
        case Subject.HOSTS | Subject.POOLS:
            return "/controllers"
        case _:
            return "/"


def unknown_form() -> Refused:
    """Return what is said of a form that is not known any more."""
    return Refused("The form is no longer known.", next_step="look at what is shown now, and send it again")
