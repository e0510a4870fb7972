"""Fewer round trips to PostgreSQL: what is asked goes out together once an answer is wanted, or anything else is sent.

The driver's own pipeline sends every statement by itself, which saves next to nothing. This one is libpq's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from psycopg import errors, pq
from psycopg.adapt import PyFormat, Transformer
from psycopg.waiting import Wait

_SYNC = pq.ExecStatus.PIPELINE_SYNC
_REFUSED = frozenset({pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.PIPELINE_ABORTED})


class PipelinedStatement:
    """A statement that has an answer once it has been sent."""

    __slots__ = "pipeline", "rows", "text", "then", "values"

    def __init__(
        self, pipeline: Pipeline, text: str, values: Sequence[Any] | None, then: Callable[[Any], None] | None
    ) -> None:
        """Keep what is asked, and what to call with the answer's only row as soon as it is there."""
        self.pipeline, self.text, self.values, self.then = pipeline, text, values, then
        self.rows: list[Any] | None = None

    def __call__(self) -> list[Any]:
        """Return the rows of the answer."""
        if self.rows is None:
            self.pipeline.go()
        if self.rows is None:
            message = f"there is no answer, because an earlier statement failed, to: {self.text}"
            raise errors.InterfaceError(message)
        return self.rows


class Pipeline:
    """What one connection has been asked and has not sent yet."""

    def __init__(self, raw: Any, wait: Callable[[Generator[Any, Any, Any]], Any]) -> None:
        """Ask nothing yet. `wait` carries out what has to wait for the server."""
        self._connection: Any = raw.pgconn
        self._adapting = Transformer(raw)
        self._wait = wait
        self._waiting: list[PipelinedStatement] = []
        self._prepared: dict[str, bytes] = {}
        self._names = 0

    def ask(
        self, text: str, values: Sequence[Any] = (), then: Callable[[Any], None] | None = None
    ) -> PipelinedStatement:
        """Ask; the caller calls what is returned for the answer. In `text` each of the values has a %s."""
        # As text, whose type the server knows by itself: the driver would choose one by how big a number is.
        asked = PipelinedStatement(
            self, text, self._adapting.dump_sequence(values, [PyFormat.TEXT] * len(values)), then
        )
        self._waiting.append(asked)
        return asked

    def do(self, text: str) -> None:
        """Send what begins or ends something, behind what waits.

        The driver must not see what undoes anything: it would forget all prepared statements, and let the server forget.
        """
        self.begin(text)
        self.go()

    def begin(self, text: str) -> None:
        """Send a statement along with what is asked next."""
        self._waiting.append(PipelinedStatement(self, text, None, None))

    @property
    def are_waiting(self) -> bool:
        """Say whether anything has not been sent yet."""
        return bool(self._waiting)

    def forget(self) -> None:
        """Never send what has not been sent."""
        self._waiting.clear()

    def unprepare(self) -> None:
        """Let the server prepare every statement anew."""
        self._prepared.clear()

    def go(self) -> None:
        """Send what waits, and take the answers; raises the first error, behind which nothing was done."""
        if self._waiting:
            asked, self._waiting = self._waiting, []
            self._wait(self._go(asked))

    def _go(self, asked: list[PipelinedStatement]) -> Generator[Any, Any, None]:
        connection = self._connection
        connection.enter_pipeline_mode()
        new = [self._send(each) for each in asked]
        connection.pipeline_sync()
        while connection.flush():
            if (yield Wait.RW) & Wait.R:
                connection.consume_input()
        results = yield from self._results()
        connection.exit_pipeline_mode()
        answers = iter(results)
        for each, name in zip(asked, new, strict=True):
            if name is not None:
                _check(next(answers))
                self._prepared[each.text] = name
            self._answer(each, _check(next(answers)))

    def _send(self, asked: PipelinedStatement) -> bytes | None:
        """Send a statement; return the name under which the server is to know it from now on, if it is new to it."""
        if asked.values is None:
            self._connection.send_query_params(asked.text.encode(), None)
            return None
        name, new = self._prepared.get(asked.text), None
        if name is None:
            self._names += 1
            name = new = b"batchctl_%d" % self._names
            self._connection.send_prepare(name, _numbered(asked.text))
        self._connection.send_query_prepared(name, asked.values)
        return new

    def _results(self) -> Generator[Any, Any, list[Any]]:
        connection, found = self._connection, list[Any]()
        while True:
            while connection.is_busy():
                yield Wait.R
                connection.consume_input()
            result = connection.get_result()
            if result is None:
                continue
            if result.status == _SYNC:
                return found
            found.append(result)

    def _answer(self, asked: PipelinedStatement, result: Any) -> None:
        self._adapting.set_pgresult(result)
        asked.rows = self._adapting.load_rows(0, result.ntuples, tuple)
        if asked.then is not None:
            asked.then(asked.rows[0])


def _check(result: Any) -> Any:
    if result.status in _REFUSED:
        raise errors.error_from_result(result)
    return result


def _numbered(text: str) -> bytes:
    """Return a statement with the marks that the server knows."""
    first, *rest = text.split("%s")
    marked = first + "".join(f"${at}{part}" for at, part in enumerate(rest, start=1))
    return marked.replace("%%", "%").encode()
