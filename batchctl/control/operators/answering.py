"""A duty of the leader: it carries out what people ask for by rows, in order, and answers on the row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from batchctl.control.worker import SLICE
from batchctl.domain.errors import BatchctlError, Busy, Conflict, DatabaseRefused
from batchctl.domain.operators.requests import Request, RequestId
from batchctl.domain.status import RequestStatus
from batchctl.domain.text import in_short, storable
from batchctl.logs import Event, EventValue, Listener
from batchctl.ports import Boundary, Change, Clock, Transactions
from batchctl.store import Connection
from batchctl.store.operators import operator_requests
from batchctl.store.transactions import savepoint

PAGE = 20
EVERY = 1.0
"""Seconds between two looks where no notify says that something was written."""

_BOUNDARIES = frozenset({Boundary.OPERATOR})


@dataclass(slots=True)
class Answering:
    """Answers each request once: what is asked for, the answer and the row in the audit log are one transaction.

    A leader that woke up late finds the row answered. What the database keeps from being done is tried again.
    """

    transactions: Transactions
    clock: Clock
    listener: Listener
    carry_out: Callable[[Any, Request], str]
    """Does what a request asks for, within a transaction, and returns what was done; raises what prevents it."""
    controller: str
    acted: Callable[[], None] = lambda: None
    """Called once an act concerns what is under way here: no notify reports a program's own changes to it."""
    review: Callable[[], None] = lambda: None
    """Writes the incidents that are due: a request may ask about one before the next look."""
    name: ClassVar[str] = "requests"
    _looked_at: float = -math.inf
    _is_behind: bool = False
    _last: int = 0
    """Behind which request the next look goes on: each locked one takes the time of a look."""

    @property
    def is_busy(self) -> bool:
        """Say whether more can be answered at once."""
        return self._is_behind

    def look(self, noticed: Change = Change.NOTHING) -> bool:
        """Answer what waits, for a while."""
        now = self.clock.monotonic()
        if not self._is_behind and noticed is Change.NOTHING and now - self._looked_at < EVERY:
            return False
        return self._go_on(self._last, now + SLICE)

    def finish(self) -> bool:
        """Answer all that waits."""
        return self._go_on(0, math.inf)

    def _go_on(self, last: int, until: float) -> bool:
        self._looked_at, self._is_behind = self.clock.monotonic(), False
        has_acted = False
        while page := self._waiting(last):
            for request in page:
                if self.clock.monotonic() >= until:
                    self._is_behind, self._last = True, last
                    return has_acted
                has_acted |= self._answer(request)
                last = request.request_id
        self._last = 0
        return has_acted

    def _waiting(self, after: int) -> list[Request]:
        with self.transactions.read() as connection:
            return operator_requests.waiting(connection, after, PAGE)

    def _answer(self, request: Request) -> bool:
        try:
            if request.is_of_incidents_unnamed:
                self.review()
            event = self.transactions.run(_BOUNDARIES, partial(self._write, request.request_id), nowait=True)
        except Conflict:
            # Somebody keeps a row locked, for a moment.
            return False
        if event is not None:
            self.acted()
            self.listener(event)
        return event is not None

    def _write(self, request_id: RequestId, connection: Connection) -> Event | None:
        request = operator_requests.load_locked(connection, request_id)
        if request is None or request.status is not RequestStatus.REQUESTED:
            return None
        status, said = self._outcome(connection, request)
        operator_requests.answer(connection, request_id, status, storable(said), self.controller, self.clock.now())
        about: dict[str, EventValue] = {"OperatorRequest_id": request_id, "Action": request.action, "Message": said}
        return Event(f"request.{status}", about)

    def _outcome(self, connection: Connection, request: Request) -> tuple[RequestStatus, str]:
        try:
            with savepoint(connection):
                return RequestStatus.DONE, self.carry_out(connection, request)
        except (Conflict, Busy, DatabaseRefused):
            raise
        except BatchctlError as error:
            return RequestStatus.REFUSED, error.in_full
        except Exception as error:  # noqa: BLE001 - constraints and triggers of others refuse with whatever they please
            return RequestStatus.REFUSED, in_short(error)
