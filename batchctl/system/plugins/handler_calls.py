"""Asking step handlers of plugins, within a time limit: one that hangs keeps its controller from nothing else.

On POSIX an alarm interrupts plugin code on the very thread that asks: an extra thread could not be
abandoned, because a regular expression lets no other thread of the process run. Elsewhere such a thread is used.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from batchctl.domain.errors import CannotBegin, NoAnswer, is_typed
from batchctl.domain.rows import InstanceId
from batchctl.domain.text import shorten, visible
from batchctl.ports import Answered, Hang
from batchctl.system.concurrency.threads import Threads
from batchctl.system.plugins.last_word import LastWord, PluginQuestion, left_behind

LIMIT = timedelta(seconds=5)
"""How long a handler may take to answer; on SQLite no other connection can write meanwhile."""
REST = timedelta(seconds=30)
"""How long a handler that was interrupted is not asked: it would keep the controller waiting again."""
AGAIN = 1.0
"""Seconds after which code that has caught the interruption is interrupted once more."""
LIMITS = 3
"""After how many limits a controller is ended whose plugin code cannot be interrupted: its manager restarts it."""

_Kind = tuple[str, str]
"""The module and the name of a handler's class."""
_OWN = frozenset({"batchctl", "step_handlers"})


class _Rest(NamedTuple):
    """How long a handler that did not answer is not asked."""

    is_over: Callable[[], bool]
    lasts: str


class _TookTooLong(BaseException):
    """Raised within plugin code, which should not catch it, as it should not catch the end of the program."""

    def __init__(self, rest: _Rest) -> None:
        super().__init__()
        self.rest = rest


@dataclass(frozen=True, slots=True)
class _Hanging(Hang):
    rest: _Rest
    refuses: InstanceId | None = None
    """The instance whose step is refused, and not put back: asking about it has ended a controller."""


class HandlerCalls:
    """Asks handlers; knows which of them did not answer when they were last asked."""

    def __init__(self, limit: timedelta = LIMIT, rest: timedelta = REST) -> None:
        """Begin without having asked any handler."""
        self._limit = limit.total_seconds()
        self._rest = rest.total_seconds()
        self._hangs: dict[_Kind, _Hanging] = {}
        self._last_word: LastWord | None = None
        self._threads = Threads("batchctl-handler")

    def ask(
        self, handler: object, about: str, question: Callable[[], Answered], *, of: InstanceId | None = None
    ) -> Answered:
        """Return what a handler answers; raises `NoAnswer` when it takes too long, `CannotBegin` while it is not asked.

        `SystemExit` and the like are no answer either: signals reach this program otherwise, so the plugin raised it.
        """
        kind: type = type(handler)
        if is_own(kind):
            return question()
        self._leave_alone(kind, of)
        try:
            with self._guarded(handler, about, of):
                return self._within_limit(question)
        except Exception:
            raise
        except _TookTooLong as late:
            hang = self._hangs[_key(kind)] = _Hanging(self._hung(handler, about), of, late.rest)
            raise hang.error from None
        except BaseException as error:
            if is_typed(error):
                raise
            raise _ended(handler, about, error) from error

    @property
    def hangs(self) -> Sequence[Hang]:
        """The questions that handlers did not answer when they were last asked."""
        return tuple(self._hangs.values())

    @contextmanager
    def guarding(self, state: Path) -> Iterator[None]:
        """End this program where plugin code cannot be interrupted, and never repeat a question that ended one."""
        for asked in left_behind(state):
            rest = _Rest(lambda: False, "before the controller is restarted")
            # It is reported until the controller is restarted, whatever becomes of that instance.
            self._hangs[asked.module, asked.kind] = _Hanging(_deadly(asked), None, rest, _instance(asked))
        with suppress(OSError):  # If this cannot be written, steps go on.
            self._last_word = LastWord(state)
        try:
            yield
        finally:
            if self._last_word is not None:
                self._last_word.close()
            self._last_word = None

    def _guarded(self, handler: object, about: str, of: InstanceId | None) -> AbstractContextManager[None]:
        if self._last_word is None:
            return nullcontext()
        said = f"{_called(handler)} did not answer, and could not be interrupted, asked about {shorten(about, 500)}"
        asked = PluginQuestion(*_key(type(handler)), said, _correction(handler), of)
        return self._last_word.over(asked, LIMITS * self._limit)

    def _leave_alone(self, kind: type, of: InstanceId | None) -> None:
        """Refuse to ask a handler that still hangs, or did a moment ago."""
        hang = self._hangs.get(_key(kind))
        if hang is None:
            return
        if of is not None and of == hang.refuses:
            raise hang.error
        if not hang.rest.is_over():
            message = f"It is not asked again {hang.rest.lasts}: {hang.error.message}"
            raise CannotBegin(message, next_step=hang.error.next_step)
        del self._hangs[_key(kind)]

    def _hung(self, handler: object, about: str) -> NoAnswer:
        message = f"{_called(handler)} did not answer within {self._limit:g} seconds, asked about {about}."
        return NoAnswer(message, next_step=_correction(handler))

    def _within_limit(self, question: Callable[[], Answered]) -> Answered:
        if sys.platform != "win32" and threading.current_thread() is threading.main_thread():
            return self._interrupted(question)
        return self._on_thread(question)

    if sys.platform != "win32":

        def _interrupted(self, question: Callable[[], Answered]) -> Answered:
            asks, limit = True, time.monotonic() + self._limit

            def interrupt(*_: object) -> None:
                # Any process may send this signal, and plugin code may set the alarm for itself.
                if asks and (now := time.monotonic()) >= limit:
                    until = now + self._rest
                    raise _TookTooLong(_Rest(lambda: time.monotonic() >= until, f"for {self._rest:g} seconds"))

            before = signal.signal(signal.SIGALRM, interrupt)
            try:
                signal.setitimer(signal.ITIMER_REAL, self._limit, AGAIN)
                return question()
            finally:
                asks = False
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)

    def _on_thread(self, question: Callable[[], Answered]) -> Answered:
        answer, has_come = list[Callable[[], Any]](), threading.Event()

        def work() -> None:
            try:
                found = context.run(question)
                answer.append(lambda: found)
            except BaseException as error:  # noqa: BLE001 - raised again on the thread that asked
                answer.append(_raiser(error))
            has_come.set()

        context = copy_context()
        try:
            self._threads.run(work)
        except RuntimeError as error:
            raise CannotBegin(f"The system refused to start another thread: {error}.") from error
        if not has_come.wait(self._limit):
            raise _TookTooLong(_Rest(has_come.is_set, "before it has answered"))
        told: Answered = answer[0]()
        return told


@cache
def is_own(kind: type) -> bool:
    """Say whether a handler of this class belongs to the product, and needs no time limit."""
    return kind.__module__.partition(".")[0] in _OWN


def _key(kind: type) -> _Kind:
    return kind.__module__, kind.__qualname__


def _instance(asked: PluginQuestion) -> InstanceId | None:
    return None if asked.of is None else InstanceId(asked.of)


def _deadly(asked: PluginQuestion) -> NoAnswer:
    message = f"{asked.wording}: the controller that had asked was ended."
    return NoAnswer(message, next_step=asked.mend)


def _ended(handler: object, about: str, error: BaseException) -> NoAnswer:
    raised = visible(f"{type(error).__name__}: {error}".removesuffix(": "))
    message = f"{_called(handler)} raised {raised}, asked about {about}."
    return NoAnswer(message, next_step=_correction(handler))


def _called(asked: object) -> str:
    name = getattr(asked, "process_type", None)
    if name is None:
        return f"The populator '{visible(str(getattr(asked, 'name', type(asked).__name__)))}'"
    return f"The handler of '{visible(str(name))}'"


def _correction(handler: object) -> str:
    return f"correct what the step gives it, or module {visible(type(handler).__module__)} and restart the controller"


def _raiser(error: BaseException) -> Callable[[], Any]:
    def raise_it() -> Any:
        raise error

    return raise_it
