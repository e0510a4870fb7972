"""Acts of a console whose login changes no work: the row that asks the leader, and the wait for its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from batchctl.app import App
from batchctl.domain.operators.logins import Session
from batchctl.domain.operators.requests import Request, RequestId
from batchctl.domain.records import JsonValue
from batchctl.domain.status import RequestStatus
from batchctl.operations.operators import asking
from batchctl.system.concurrency.patience import look_often
from batchctl.web.wishes import ActOutcome, ConsoleAct, Wish

EVERY, MOST = 0.2, 25
"""Seconds between two looks at a request that is not answered yet, and how many there are."""
_ROW = "FileProcess_id"
"""The row that was inserted or moved: there a browser goes on."""


class Doing(Protocol):
    """What acts take from the console."""

    async def do(self, session: Session, work: Callable[[App], Any]) -> Any:
        """Do a piece of work for a person."""


async def act(site: Doing, session: Session, verb: ConsoleAct, wish: Wish, seen: object = None) -> ActOutcome:
    """Do what a person wishes, or ask for it and wait a while for what becomes of it."""
    with verb.by_fields():
        return await _acted(site, session, verb, wish, seen)


async def _acted(site: Doing, session: Session, verb: ConsoleAct, wish: Wish, seen: object) -> ActOutcome:
    done: ActOutcome = await site.do(session, lambda app: verb.do(app, wish, seen))
    if (request_id := done.asked) is None:
        return done

    async def look() -> tuple[Request, str | None]:
        found: tuple[Request, str | None] = await site.do(session, lambda app: looked_at(app, request_id))
        return found

    request, _ = await look_often(look, _is_over, every=EVERY, most=MOST)
    if request.status is RequestStatus.REQUESTED:
        return replace(done, where=f"/requests/{request_id}")
    asking.check_done(request)
    made: Mapping[str, int] = await site.do(session, lambda app: asking.rows_made(app.transactions, request_id))
    where = f"/file-processes/{made[_ROW]}" if _ROW in made else done.where
    # What the leader says is what was done; the rest is what was foreseen.
    return replace(
        done,
        asked=None,
        columns=_with_numbers(done.columns, made),
        where=where,
        lines=[request.answer or "It is done."],
        alarming=[],
    )


def _with_numbers(columns: JsonValue, made: Mapping[str, int]) -> JsonValue:
    """Fill in what was not there yet when it was planned."""
    if not isinstance(columns, dict):
        return columns
    return {name: made[name] if name in made and not value else value for name, value in columns.items()}


def looked_at(app: App, request_id: RequestId) -> tuple[Request, str | None]:
    """Return a request as it stands, and who would answer it."""
    return asking.standing(app.transactions, request_id), app.leader()


def _is_over(found: tuple[Request, str | None]) -> bool:
    """Say whether waiting is of no use: it is answered, or no controller would answer it."""
    request, leader = found
    return request.status is not RequestStatus.REQUESTED or leader is None
