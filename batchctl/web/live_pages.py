"""Live pages: a stream for each tab, which says when its page should be asked for again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from batchctl.app import App
from batchctl.domain.errors import BatchctlError, DatabaseRefused
from batchctl.domain.operators.logins import Right, Session
from batchctl.ports import Change
from batchctl.system.concurrency.broadcasting import Broadcast
from batchctl.system.concurrency.lending_threads import LendingThreads
from batchctl.web.console_parts import Guard

INTERVAL, MOST, KEEP_ALIVE = 1.0, 10, 15.0
"""Seconds between two looks; how many tabs are told after each; seconds after which a quiet stream shows that it is there."""
LOOKS_OF_A_STREAM = 20
"""After how many messages a stream ends: the browser opens another one, if its session still holds."""
FIRST, CHANGED, QUIET = b"retry: 3000\n\n", b"event: changed\ndata:\n\n", b": still here\n\n"


@dataclass
class Live:
    """Tells tabs that something has changed: one question a second to the database, however many tabs there are."""

    open_app: Callable[[], App]
    _broadcast: Broadcast = field(init=False)

    def __post_init__(self) -> None:
        """Ask nothing yet."""
        # What has changed is known by connection: this one is for nothing else.
        self._thread = LendingThreads(1, self.open_app, App.close, DatabaseRefused)
        self._broadcast = Broadcast(self._has_changed, interval=INTERVAL, most=MOST)

    def end(self) -> None:
        """End all streams: the console is told to end, and would wait for them."""
        self._broadcast.end()

    def route(self, guarded: Guard) -> Route:
        """Return the route."""
        return Route("/events", guarded(self._answer, Right.SEE), methods=["GET"])

    async def _answer(self, request: Request, session: Session) -> Response:
        del session
        stream = self._stream(steadily="steadily" in request.query_params)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def _stream(self, *, steadily: bool) -> AsyncIterator[bytes]:
        yield FIRST
        left = LOOKS_OF_A_STREAM
        async with aclosing(self._broadcast.listen(KEEP_ALIVE, steadily=steadily)) as changes:
            async for has_changed in changes:
                yield CHANGED if has_changed else QUIET
                left -= 1
                if not left:
                    return

    async def _has_changed(self) -> bool:
        try:
            return await self._thread.do(lambda app: app.transactions.changed()) is not Change.NOTHING
        except BatchctlError:
            # A database that is away has not changed; once it is back, anything may have.
            return False
