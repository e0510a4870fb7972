"""Questions that may take long, on threads: one that hangs keeps neither the loop nor the others waiting."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from batchctl.domain.errors import Busy
from batchctl.ports import Answer

AT_ONCE = 4
"""How many questions are asked at the same time; one that takes too long no longer counts."""


class ThreadInquiries:
    """The `Inquiries` of the product. Every question has a thread of its own, which cannot be ended from outside."""

    def __init__(self, limit: timedelta, wake: Callable[[], None] = lambda: None, at_once: int = AT_ONCE) -> None:
        """Ask nothing yet; `wake` is called when an answer has come."""
        self._limit = limit.total_seconds()
        self._wake = wake
        self._at_once = at_once
        self._waiting: deque[tuple[int, Callable[[], Any]]] = deque()
        self._asked: dict[int, float] = {}
        """When each question under way takes too long."""
        self._late: set[int] = set()
        """Questions that have taken too long; their answers are dropped."""
        self._done: SimpleQueue[Answer] = SimpleQueue()
        self._come: list[Answer] = []

    def ask(self, key: int, question: Callable[[], Any]) -> bool:
        """Ask as soon as there is a place; false while the same is still being asked."""
        if key in self._asked or key in self._late or any(key == other for other, _ in self._waiting):
            return False
        self._waiting.append((key, question))
        self._begin()
        return True

    def answers(self) -> Sequence[Answer]:
        """Return the answers that have come, and each question that takes too long."""
        self._take(-math.inf)
        found, self._come = self._come, []
        return found

    @property
    def is_busy(self) -> bool:
        """Say whether answers are still to come."""
        return bool(self._waiting or self._asked or self._come)

    def wait(self, at_most: timedelta | None = None) -> None:
        """Wait until there is something to return, or the time is over."""
        until = math.inf if at_most is None else time.monotonic() + at_most.total_seconds()
        while self.is_busy and not self._come and time.monotonic() < until:
            self._take(until)

    def _begin(self) -> None:
        while self._waiting and len(self._asked) < self._at_once:
            key, question = self._waiting.popleft()
            self._asked[key] = time.monotonic() + self._limit
            work = partial(self._answer, key, question)
            try:
                threading.Thread(target=work, name=f"batchctl-inquiry-{key}", daemon=True).start()
            except RuntimeError as error:
                # The system has no more threads now; later it may have.
                self._done.put(Answer(key, error=error))

    def _answer(self, key: int, question: Callable[[], Any]) -> None:
        try:
            answer = Answer(key, question())
        except Exception as error:  # noqa: BLE001 - drivers raise anything, and the error is reported with the answer
            answer = Answer(key, error=error)
        self._done.put(answer)
        self._wake()

    def _take(self, until: float) -> None:
        """Take the answers that have come; wait for the first until `until`, or until a question takes too long."""
        soonest = min([*self._asked.values(), until]) if self._asked else 0.0
        try:
            while True:
                left = soonest - time.monotonic()
                answer = self._done.get(timeout=left) if left > 0 else self._done.get_nowait()
                soonest = 0.0
                if answer.key in self._late:
                    self._late.discard(answer.key)
                elif self._asked.pop(answer.key, None) is not None:
                    self._come.append(answer)
        except Empty:
            self._give_up_late_ones()
        self._begin()

    def _give_up_late_ones(self) -> None:
        now = time.monotonic()
        for key in [key for key, until in self._asked.items() if until <= now]:
            del self._asked[key]
            self._late.add(key)
            message = f"There was no answer within {self._limit:g} seconds."
            self._come.append(Answer(key, error=Busy(message)))
