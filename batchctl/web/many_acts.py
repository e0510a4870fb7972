"""The same act on all instances of a filter: how many there are, the form, and the page of how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from batchctl.app import App
from batchctl.domain.errors import DatabaseRefused, InvalidInput, NotFound
from batchctl.domain.operators.logins import Right, Session
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.text import visible
from batchctl.operations import inspection, many, many_begun
from batchctl.operations.decisions import Action
from batchctl.operations.intervene import Operator
from batchctl.operations.many import InstanceFilter, ManyOutcome, Selection
from batchctl.operations.many_begun import BegunMany
from batchctl.operations.operators import console_scope
from batchctl.operations.operators.asking import Asker
from batchctl.web import guards
from batchctl.web.act_forms import FormSite, unknown_form
from batchctl.web.act_table import verb_of
from batchctl.web.console_parts import Guard
from batchctl.web.page import ListLinks, Page, refuse_unknown
from batchctl.web.tables import COUNTED, counted, list_as_csv
from batchctl.web.wishes import Subject, needed_reason

Each = Callable[[Operator, InstanceId, str | None], object]
OF_MANY: Mapping[Action, Each] = {
    Action.RERUN: lambda operator, at, reason: operator.rerun(at, reason=reason or ""),
    Action.SKIP: lambda operator, at, reason: operator.skip(at, reason=reason or ""),
    Action.PAUSE: lambda operator, at, reason: operator.pause(at, reason=reason),
    Action.RESUME: lambda operator, at, reason: operator.resume(at, reason=reason),
    Action.CANCEL: lambda operator, at, reason: operator.cancel(at, reason=reason or ""),
}
"""What can be done to many at once."""


@dataclass
class ManyActs:
    """Answers what concerns acts on many; what was done and what was refused stands in the audit log."""

    site: FormSite
    token: Callable[[int], str]
    _at_work: set[str] = field(default_factory=set)

    def routes(self, guarded: Guard) -> Iterator[Route]:
        """Yield the routes."""
        yield Route("/many/{action}", guarded(self._ask, Right.ACT), methods=["GET"])
        yield Route("/many/{action}", guarded(self._begin, Right.ACT), methods=["POST"])
        yield Route("/many/{action}/{token}", guarded(self._look, Right.ACT), methods=["GET"])
        yield Route("/many/{action}/{token}", guarded(self._go_on, Right.ACT), methods=["POST"])

    async def _ask(self, request: Request, session: Session) -> Response:
        action, query = _action(request), dict(request.query_params)
        refuse_unknown(query, ("status", "batch"))
        wanted = _filter(action, query)
        found, names = await self.site.do(session, lambda app: _found(app, action, wanted))
        values = {
            "action": action,
            "wanted": wanted,
            "selection": found,
            "count": counted(len(found.ids)),
            "most": many_begun.MOST,
            "batches": names,
            "statuses": [*InstanceStatus],
            "needs_reason": verb_of(Subject.INSTANCES, action).needs_reason,
            "form": self.site.forms.show(replace(found, ids=found.ids[: many_begun.MOST])),
        }
        return self.site.render(Page(f"{action.capitalize()} many instances", "many.html", values=values), session)

    async def _begin(self, request: Request, session: Session) -> Response:
        action, form = _action(request), await guards.form_of(request)
        reason = form.get("reason", "").strip() or None
        if verb_of(Subject.INSTANCES, action).needs_reason:
            reason = needed_reason(reason)
        number = form.get("form", "")
        shown = self.site.forms.send(number)
        if shown is None and (where := self.site.forms.where(number)) is not None:
            return RedirectResponse(where, status_code=303)
        if shown is None or not isinstance(selection := shown.seen, Selection) or selection.action is not action:
            raise unknown_form()
        token = self.token(16)
        # Known before it has begun: a second click leads to the same page.
        self.site.forms.led(number, _progress(action, token))
        with self.site.forms.acting(number, shown):
            await self.site.do(session, lambda app: _begun(app, selection, token, reason))
        return self._working(session, action, token)

    async def _go_on(self, request: Request, session: Session) -> Response:
        return self._working(session, _action(request), request.path_params["token"])

    def _working(self, session: Session, action: Action, token: str) -> Response:
        work = BackgroundTask(self._work, session, token)
        return RedirectResponse(_progress(action, token), status_code=303, background=work)

    async def _work(self, session: Session, token: str) -> None:
        """Act on one after the other; what is done stays done, whatever ends this."""
        if token in self._at_work:
            return
        self._at_work.add(token)
        try:
            begun: BegunMany = await self.site.do(session, lambda app: many_begun.load(app.transactions, token))
            for one in begun.left if not begun.is_asked else ():
                acting = await self.site.still(session)
                if acting is None or not acting.may(Right.ACT):
                    return
                await self.site.do(acting, _acting_on(begun, token, one))
        except (DatabaseRefused, NotFound):
            return
        finally:
            self._at_work.discard(token)

    async def _look(self, request: Request, session: Session) -> Response:
        token = request.path_params["token"]
        # Asked first: what ends while it is loaded would seem to stand still.
        is_at_work = token in self._at_work
        begun, leader = await self.site.do(session, lambda app: _how_far(app, token))
        values = {"begun": begun, "is_at_work": is_at_work, "leader": leader}
        many = len(begun.selection.ids)
        title = f"{begun.selection.action.capitalize()} of {many:,} instance{'' if many == 1 else 's'}"
        page = Page(
            title,
            "many_progress.html",
            [(many_begun.REFUSED, [*begun.refused.items()])],
            values,
            comes_back=is_at_work or bool(begun.left and begun.is_asked),
            narrowed={"of": many_begun.many_target(token), "many": token},
        )
        query = dict(request.query_params)
        refuse_unknown(query, ())
        links = ListLinks(request.url.path, query, page.narrowed)
        file = list_as_csv(page, query)
        return file or self.site.render(page, session, path=links.path, links=links)


def _progress(action: Action, token: str) -> str:
    return f"/many/{action}/{token}"


def _begun(app: App, selection: Selection, token: str, reason: str | None) -> None:
    if app.may_change_work:
        many_begun.begin(app.operator(dry_run=False), selection, token, reason)
    else:
        many_begun.ask(Asker(app.actor(dry_run=False)), _in_scope(app, selection), token, reason)


def _in_scope(app: App, selection: Selection) -> Selection:
    """Refuse to ask for what is out of the scope of the person."""
    if (tag := app.only_tag) is not None:
        for batch, _ in selection.of:
            console_scope.check(app.transactions, tag, batch=batch)
    return selection


def _how_far(app: App, token: str) -> tuple[BegunMany, str | None]:
    begun = many_begun.load(app.transactions, token)
    return begun, app.leader() if begun.is_asked else None


def _acting_on(begun: BegunMany, token: str, one: InstanceId) -> Callable[[App], ManyOutcome]:
    each = OF_MANY[begun.selection.action]

    def act(app: App) -> ManyOutcome:
        def do(operator: Operator, at: InstanceId) -> object:
            if app.only_tag is not None:
                console_scope.check(app.transactions, app.only_tag, instance_id=at)
            return each(operator, at, begun.reason)

        return many_begun.act_on(app.operator(dry_run=False), begun, token, one, do)

    return act


def _found(app: App, action: Action, wanted: InstanceFilter) -> tuple[Selection, list[str]]:
    found = many.select(app.transactions, action, wanted, most=COUNTED + 1)
    return found, [*inspection.batch_names(app.transactions)]


def _action(request: Request) -> Action:
    text = request.path_params["action"]
    if text not in {str(action) for action in OF_MANY}:
        raise NotFound(f"'{visible(text)}' is not done to many at once.", next_step=f"one of {', '.join(OF_MANY)}")
    return Action(text)


def _filter(action: Action, query: Mapping[str, str]) -> InstanceFilter:
    meant = query.get("status") or many.USUAL.get(action)
    if meant is None or meant not in {str(status) for status in InstanceStatus}:
        message = f"Which instances are meant is not said: '{visible(meant or '')}' is no status."
        raise InvalidInput(message, next_step=f"/many/{action}?{urlencode({'status': InstanceStatus.READY.value})}")
    return InstanceFilter(status=InstanceStatus(meant), batch=query.get("batch") or None)
