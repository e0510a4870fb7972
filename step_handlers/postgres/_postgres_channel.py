"""Sending PostgreSQL one statement at a time, and reading all that it answers."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.generators import fetch, send
from psycopg.pq import DiagnosticField as Field
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult

from batchctl.plugin_api import Execution, JsonValue, visible
from step_handlers.databases._database import ConnectionRefused, revealed
from step_handlers.databases._results import Results

_ROWS_AT_ONCE = 1000
_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "COPY"})
_CALLER = re.compile(r"(?:PL/|SQL[ -])")
_NUMBERED = re.compile(r'[^"]*\$([0-9]+)(?: = .*)?\Z', re.DOTALL)
"""How the server names a bound value it cannot read, whatever its language."""
_IN_FUNCTION = re.compile(r"PL/pgSQL.*(?:\)|inline_code_block)\D*([0-9]+)\D*\Z", re.DOTALL)
"""How the server names the line of a function, whatever its language."""
_NO_TYPE = "42P18"


class GivenUp(Exception):
    """The server's answer is not waited for any longer."""


class StatementRefused(Exception):
    """The server refused a statement."""

    def __init__(self, result: PGresult, names: Sequence[str] = ()) -> None:
        """Write all that the server reported on one line; `names` are those of the bound values, which it numbers."""

        def raw(field: Field) -> str:
            return (result.error_field(field) or b"").decode("utf-8", "backslashreplace")

        def wording(field: Field) -> str:
            return visible(raw(field))

        self.code = wording(Field.SQLSTATE)
        self.kind = f"{wording(Field.SEVERITY_NONLOCALIZED)} {self.code}"
        places = _callers(raw(Field.CONTEXT))
        if places:
            places[0] = _named(places[0], names) or places[0]
        message = wording(Field.MESSAGE_PRIMARY)
        named = _named(message, names) if self.code == _NO_TYPE else None
        parts = [f"{self.kind}: {message}{f' ({named})' if named else ''}"]
        parts += [
            f"{word}{text}"
            for word, text in (
                ("", wording(Field.MESSAGE_DETAIL)),
                ("hint: ", wording(Field.MESSAGE_HINT)),
                ("in ", visible(", called by ".join(places))),
            )
            if text
        ]
        super().__init__("; ".join(parts))
        self.position = int(wording(Field.STATEMENT_POSITION) or 0)
        self.is_inside = bool(places)
        """True when not the statement itself was refused, but something in what it calls."""
        lines = (int(found.group(1)) for place in places if (found := _IN_FUNCTION.match(place)) is not None)
        self.line_inside = next(lines, None)
        """At which line of the innermost function or procedure in PL/pgSQL."""


class StepConnection(psycopg.Connection[Any]):
    """A connection that stops waiting for answers once another thread has set its `given_up`."""

    given_up = False

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for an answer; raises `GivenUp`."""
        return super().wait(self._unless_given_up(gen), *args, **options)

    def _unless_given_up(self, work: Any) -> Generator[Any, Any, Any]:
        try:
            wanted = next(work)
            while True:
                is_ready = yield wanted
                if not is_ready and self.given_up:
                    raise GivenUp
                wanted = work.send(is_ready)
        except StopIteration as end:
            return end.value


@dataclass(slots=True)
class StatementChannel:
    """A session's statements and their results."""

    opened: psycopg.Connection[Any]
    results: Results
    execution: Execution
    sent: str = ""
    """The text that was sent last."""
    names: Sequence[str] = ()
    """The author's names of its bound values."""
    line: int | None = None
    """On which line of the author's text it begins, if it is the author's."""

    def execute(
        self, sql: str, parameters: Sequence[JsonValue] = (), names: Sequence[str] = (), line: int | None = None
    ) -> None:
        """Send a statement, read all it answers; raises `StatementRefused`, `GivenUp`, `ConnectionRefused`, `psycopg.Error`."""
        values = [revealed(value, self.execution) for value in parameters]
        wire = self.opened.pgconn
        wire.send_query_params(
            sql.encode(),
            [None if value is None else str(value).encode() for value in values],
            param_types=[_type(value) for value in values],
        )
        if psycopg.pq.version() >= 170000:
            wire.set_chunked_rows_mode(_ROWS_AT_ONCE)
        else:
            wire.set_single_row_mode()
        self.sent, self.names, self.line = sql, names, line
        self.opened.wait(send(wire))
        refused: Exception | None = None
        try:
            # An error of the commit behind a statement comes in a result of its own, after that of the statement.
            while (result := self.opened.wait(fetch(wire))) is not None:
                try:
                    self._read(result)
                except (StatementRefused, ConnectionRefused) as error:
                    refused = refused or error
                if _copies(result):
                    break
        except psycopg.Error:
            if refused is None:
                raise
        if refused is not None:
            raise refused

    def place(self, error: Exception) -> str:
        """Return the line of the author's text that an error points at, or the statement's if it points nowhere."""
        line = None if self.line is None else self.line_of(error)
        return "" if line is None else f"; at line {line}"

    def line_of(self, error: Exception) -> int | None:
        """Return that line, if there is one; for a call, which has one line, that of the procedure."""
        if not isinstance(error, StatementRefused):
            return None
        if self.line is None:
            return error.line_inside
        return self.line + self.sent.count("\n", 0, max(error.position - 1, 0))

    def _read(self, first: PGresult) -> None:
        columns = [(first.fname(at) or b"").decode() for at in range(first.nfields)]
        if columns or _has_rows(first):
            self.results.show(columns, self._rows(first))
            if isinstance(self.results.value, str):
                self.results.value = _typed(first.ftype(0), self.results.value)
        else:
            self._check(first)

    def _rows(self, first: PGresult) -> Iterator[Sequence[object]]:
        result: PGresult | None = first
        while result is not None:
            self._check(result)
            for row in range(result.ntuples):
                yield [_decoded(result.get_value(row, at)) for at in range(result.nfields)]
            result = self.opened.wait(fetch(self.opened.pgconn))

    def _check(self, result: PGresult) -> None:
        if result.status in {ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE, ExecStatus.NONFATAL_ERROR}:
            raise StatementRefused(result, self.names)
        if _copies(result):
            raise ConnectionRefused(
                "COPY from or to the client is for psql; use COPY with a file on the server, or INSERT", fatal=True
            )
        command = (result.command_status or b"").decode().partition(" ")[0]
        if command in _CHANGES:
            self.results.affected += result.command_tuples or 0


def _callers(context: str) -> list[str]:
    """Cut a context into its places, innermost first; the statement that one of them quotes may have many lines."""
    places: list[str] = []
    for line in context.splitlines():
        if places and (places[-1].count('"') % 2 or not _CALLER.match(line)):
            places[-1] = f"{places[-1]} {' '.join(line.split())}".rstrip()
        else:
            places.append(line)
    return places


def _named(wording: str, names: Sequence[str]) -> str | None:
    """Return the author's name of a bound value that the server has named by its number at the end of a text."""
    found = _NUMBERED.match(wording)
    number = 0 if found is None else int(found.group(1))
    return f"the value of {visible(names[number - 1])}" if 0 < number <= len(names) else None


def _has_rows(result: PGresult) -> bool:
    return result.status in {ExecStatus.TUPLES_OK, ExecStatus.SINGLE_TUPLE, ExecStatus.TUPLES_CHUNK}


def _copies(result: PGresult) -> bool:
    return result.status in {ExecStatus.COPY_IN, ExecStatus.COPY_OUT, ExecStatus.COPY_BOTH}


def _decoded(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "backslashreplace")


def _type(value: JsonValue) -> int:
    """Return the type that PostgreSQL gives to the literal of a value: a text's is open until it is used."""
    match value:
        case bool() | str() | None:
            return 0
        case int() if abs(value) < 2**31:
            return 23
        case int() if -(2**63) <= value < 2**63:
            return 20
        case _:
            return 1700


def _typed(kind: int, text: str) -> str | int | float:
    match kind:
        case 16:
            return int(text == "t")
        case 20 | 21 | 23 | 26:
            return int(text)
        case 700 | 701 | 1700:
            return float(text)
        case _:
            return text
