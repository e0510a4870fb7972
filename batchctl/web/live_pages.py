"""Live pages: a stream for each tab, which says when its page should be asked for again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from batchctl.app import App
from batchctl.domain.errors import BatchctlError, DatabaseRefused
from batchctl.domain.operators.logins import Right, Session
from batchctl.domain.operators.news import Followed, News
from batchctl.domain.rows import BatchId, InstanceId
from batchctl.operations.operators.lookout import Lookout
from batchctl.system.concurrency.broadcasting import Broadcast
from batchctl.system.concurrency.lending_threads import LendingThreads
from batchctl.system.concurrency.pacing import Allowance
from batchctl.web.console_parts import Guard
from batchctl.web.page import is_number

EVENTS, INSTANCE, BATCH, STEADILY = "/events", "instance", "batch", "steadily"
INTERVAL, MOST, KEEP_ALIVE = 1.0, 10, 15.0
"""Seconds between two looks; how many tabs are told after each; seconds after which a quiet stream shows that it is there."""
SHARE = 0.1
"""How much of the time the console works on pages that are asked for again."""
LOOKS_OF_A_STREAM = 20
"""After how many messages a stream ends: the browser opens another one, if its session still holds."""
FIRST, CHANGED, QUIET = b"retry: 3000\n\n", b"event: changed\ndata:\n\n", b": still here\n\n"


_STREAM = "text/event-stream"


@dataclass
class Live:
    """Tells tabs that something has changed: one question a second to the database, however many tabs there are."""

    open_app: Callable[[], App]
    _broadcast: Broadcast[News] = field(init=False)

    def __post_init__(self) -> None:
        """Ask nothing yet."""
        self._lookout = Lookout()
        self._thread = LendingThreads(1, self.open_app, App.close, DatabaseRefused)
        self.allowance = Allowance(SHARE, MOST)
        self._broadcast = Broadcast(self._news, interval=INTERVAL, allowance=self.allowance)

    def end(self) -> None:
        """End all streams: the console is told to end, and would wait for them."""
        self._broadcast.end()

    def route(self, guarded: Guard) -> Route:
        """Return the route."""
        return Route(EVENTS, guarded(self._answer, Right.SEE), methods=["GET"])

    async def _answer(self, request: Request, session: Session) -> Response:
        del session
        if request.method == "HEAD":
            return Response(media_type=_STREAM)
        query = request.query_params
        following = Followed(
            instance_id=None if (number := _number(query, INSTANCE)) is None else InstanceId(number),
            batch_id=None if (number := _number(query, BATCH)) is None else BatchId(number),
        )
        stream = self._stream(following, steadily=STEADILY in query)
        return StreamingResponse(stream, media_type=_STREAM)

    async def _stream(self, following: Followed, *, steadily: bool) -> AsyncIterator[bytes]:
        yield FIRST
        left = LOOKS_OF_A_STREAM
        async with aclosing(self._broadcast.listen(KEEP_ALIVE, following.hears, steadily=steadily)) as changes:
            async for has_changed in changes:
                yield CHANGED if has_changed else QUIET
                left -= 1
                if not left:
                    return

    async def _news(self) -> News:
        try:
            return await self._thread.do(self._look)
        except BatchctlError:
            # A database that is away has not changed; once it is back, anything may have.
            self._lookout = Lookout()
            return News()

    def _look(self, app: App) -> News:
        app.transactions.refuse_another_file()
        return self._lookout.look(app.transactions)


def stream_of(following: Followed, *, steadily: bool) -> str:
    """Return the address of the stream for a page."""
    about = {INSTANCE: following.instance_id, BATCH: following.batch_id, STEADILY: 1 if steadily else None}
    asked = urlencode({name: number for name, number in about.items() if number is not None})
    return f"{EVENTS}?{asked}" if asked else EVENTS


def _number(query: Mapping[str, str], name: str) -> int | None:
    """Return a number of the query; a stream that names none it can follow hears of everything."""
    text = query.get(name, "")
    return int(text) if is_number(text) else None
