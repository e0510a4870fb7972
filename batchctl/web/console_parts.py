"""What the console gives to those of its parts that answer requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response

from batchctl.app import App
from batchctl.domain.errors import BatchctlError
from batchctl.domain.operators.logins import Right, Session
from batchctl.web.page import Page


class Site(Protocol):
    """What doors and forms take from the console."""

    async def ask(self, work: Callable[[App], Any]) -> Any:
        """Do a piece of work for the console itself."""

    async def do(self, session: Session, work: Callable[[App], Any]) -> Any:
        """Do a piece of work for a person."""

    async def still(self, session: Session) -> Session | None:
        """Return a session as it stands now; None where it is over."""

    def render(self, page: Page, session: Session | None, code: int = 200, **more: Any) -> Response:
        """Return a page."""

    def code_of(self, error: BatchctlError) -> int:
        """Return the status of an answer that says an error."""


Open = Callable[[Callable[[Request], Awaitable[Response]]], Callable[[Request], Awaitable[Response]]]
"""Guards what all may ask."""
Guard = Callable[[Callable[[Request, Session], Awaitable[Response]], Right], Callable[[Request], Awaitable[Response]]]
"""Guards what those may ask who have a right."""
