"""SQLite as a target database, through the driver of the standard library."""

from __future__ import annotations

import os.path
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Any

from batchctl.plugin_api import Connection, Execution, JsonValue, StepOutcome, StepRequest, visible
from step_handlers.databases import _sql_text
from step_handlers.databases._database import (
    Bound,
    ConnectionRefused,
    Database,
    Script,
    StepStopped,
    WrittenStep,
    revealed,
)
from step_handlers.databases._results import Results
from step_handlers.databases._statements import MalformedSql, Statement, statements, variables
from step_handlers.databases._urls import MalformedUrl, url_of

BUSY_SECONDS = 10
"""How long a step waits for a lock of others on the database."""

_SYNTAX = re.compile(r"syntax error|incomplete input|unrecognized token")
_STEPS_BETWEEN_LOOKS = 20_000
_LARGEST_FILE = 1_000_000_000
_IN_TRANSACTION = "every step is one transaction already"
_REFUSED = {
    "BEGIN": f"{_IN_TRANSACTION}; take BEGIN out",
    "COMMIT": f"{_IN_TRANSACTION}; take COMMIT out",
    "END": f"{_IN_TRANSACTION}; take END out",
    "ROLLBACK": f"{_IN_TRANSACTION}; take ROLLBACK out, or use ROLLBACK TO with a SAVEPOINT",
    "ATTACH": "a step works on one connection; name the other database's file in the configuration, not in a row",
    "DETACH": "a step works on one connection; take DETACH out",
    "VACUUM": "VACUUM cannot run in a transaction; make it the only statement of a step",
    "PRAGMA": "a PRAGMA has no effect in a transaction; put it before all other statements",
    ".": "what begins with '.' is a command of the sqlite3 shell, not SQL",
    "#": "'#' begins no SQL; a comment begins with --",
}


@dataclass(frozen=True, slots=True)
class Sqlite(Database):
    """SQLite, through the driver of the standard library."""

    def read(self, text: str, names: Sequence[str]) -> Script:
        """Parse SQL; raises `MalformedSql`."""
        return script_of(statements(text, names))

    def write(
        self, request: StepRequest, connection: Connection, before: Sequence[Bound], inside: Sequence[Bound]
    ) -> WrittenStep:
        """Write a script for the `sqlite3` shell, and the spec."""
        directory = request.context.directory
        spec: dict[str, JsonValue] = {
            "before": [_as_json(bound) for bound in before],
            "statements": [_as_json(bound) for bound in inside],
        }
        return WrittenStep(self._script(connection, directory, before, inside), spec)

    def _script(self, connection: Connection, directory: str, before: Sequence[Bound], inside: Sequence[Bound]) -> str:
        """Write a script for the `sqlite3` shell.

        A semicolon stands before each statement and none behind it: so the shell takes them all as one input, and stops
        at an error before COMMIT even where somebody pastes line by line.
        """
        path = file_of(connection, directory)
        place = _sql_text.uri(path)
        every = [*before, *inside]
        secrets = _secrets(every)
        lines = [f'-- for sqlite3 "{place}"; after an error type ROLLBACK;']
        if any("readfile" in bound.statement.sql.lower() for bound in every):
            lines += _sql_text.in_directory(directory)
        lines += [
            f"-- first set the secret '{visible(of)}': .parameter set :{at} \"'...'\"" for at, of in secrets.items()
        ]
        lines.append(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000} -- milliseconds to wait for somebody else's lock")
        lines.append(_sql_text.only_in(path))
        lines += [_sql_text.refuse_without(at, of) for at, of in secrets.items()]
        if not inside:
            lines.append("; BEGIN; COMMIT -- fails where a transaction is open already")
        lines += [_sql_text.statement(bound.statement, bound.values) for bound in before]
        if inside:
            lines.append("; BEGIN IMMEDIATE")
            lines += [_sql_text.statement(bound.statement, bound.values) for bound in inside]
            lines.append("; COMMIT")
        return "\n".join([*lines, ";"])

    def missing(self, connection: Connection, directory: str) -> str | None:
        """Look for the file; SQLite itself would only report that it cannot be opened."""
        path = file_of(connection, directory)
        if os.path.isfile(path):  # noqa: PTH113 - paths are text here, as in the URL
            return None
        return (
            f"connection '{visible(connection.name)}': there is no database file {visible(path)}; create it with "
            f"sqlite3, or correct the url of [connections.{visible(connection.name)}]"
        )

    def misread(self, written: Sequence[Statement]) -> str | None:
        """Let SQLite parse the statements in an empty database; of its errors only those about syntax count."""
        with closing(sqlite3.connect(":memory:")) as empty:
            for number, statement in enumerate(written, start=1):
                explained = statement.sql if statement.words[0] == "EXPLAIN" else f"EXPLAIN {statement.sql}"
                try:
                    empty.execute(explained, dict.fromkeys(statement.names)).close()
                except (sqlite3.Error, sqlite3.Warning) as error:
                    if _SYNTAX.search(str(error)):
                        return (
                            f"statement {number} of {len(written)}: {visible(str(error))}{_as_name(error, statement)}"
                        )
        return None

    def is_alive(self, connection: Connection, spec: Mapping[str, Any]) -> None:
        """Return None: what a process does with a file ends with the process."""
        del connection, spec

    def run(self, connection: Connection, spec: Mapping[str, Any], execution: Execution) -> StepOutcome:
        """Carry out the statements, those of `statements` in one transaction."""
        path = file_of(connection, spec["directory"])
        missing = self.missing(connection, spec["directory"])
        if missing is not None:
            raise ConnectionRefused(missing)
        try:
            opening = self._open(path, spec["directory"], execution)
        except sqlite3.Error as error:
            raise ConnectionRefused(
                f"connection '{visible(connection.name)}': {visible(path)} cannot be opened: {error}"
            ) from None
        with closing(opening) as opened:
            return _Run(opened, execution, Results(execution)).carry_out(spec["before"], spec["statements"])

    def _open(self, path: str, directory: str, execution: Execution) -> sqlite3.Connection:
        opened = sqlite3.connect(
            _sql_text.uri(path), uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        opened.text_factory = _decode
        opened.create_function("readfile", 1, lambda name: _read_file(directory, name))
        # interrupt() reaches a statement that is under way; the handler also one that began a moment after it.
        opened.set_progress_handler(lambda: execution.stopping, _STEPS_BETWEEN_LOOKS)
        execution.on_stop(opened.interrupt)
        return opened


@dataclass(frozen=True, slots=True)
class _Run:
    opened: sqlite3.Connection
    execution: Execution
    results: Results

    def carry_out(self, before: Sequence[Mapping[str, Any]], inside: Sequence[Mapping[str, Any]]) -> StepOutcome:
        at, line = "BEGIN", None
        count = len(before) + len(inside)
        try:
            for number, statement in enumerate((*before, *inside), start=1):
                if number == len(before) + 1:
                    at, line = "BEGIN", None
                    self.opened.execute("BEGIN IMMEDIATE")
                at, line = f"statement {number} of {count}", statement.get("line")
                self._execute(statement)
            at, line = "COMMIT", None
            if inside:
                self.opened.execute("COMMIT")
        except (sqlite3.Error, StepStopped, OverflowError, MemoryError) as error:
            return self._failed(at, line, error, rolled_back=bool(inside) and at != "BEGIN")
        return StepOutcome(
            succeeded=True, output=self.results.text(), rows_affected=self.results.affected, value=self.results.value
        )

    def _execute(self, statement: Mapping[str, Any]) -> None:
        if self.execution.stopping:
            raise StepStopped
        values = {name: revealed(value, self.execution) for name, value in statement["parameters"].items()}
        changes = self.opened.total_changes
        cursor = self.opened.execute(statement["sql"], values)
        self.results.drain(cursor)
        if self.opened.total_changes != changes:
            self.results.affected += self.opened.execute("SELECT changes()").fetchone()[0]

    def _failed(self, at: str, line: int | None, error: BaseException, *, rolled_back: bool) -> StepOutcome:
        with suppress(sqlite3.Error):  # where even that is impossible, closing the connection rolls back
            if self.opened.in_transaction:
                self.opened.set_progress_handler(None, 0)
                self.opened.execute("ROLLBACK")
        end = "; everything was rolled back" if rolled_back else ""
        output = self.results.text()
        if self.execution.stopping:
            return StepOutcome(succeeded=False, stopped=True, message=f"was stopped at {at}{end}", output=output)
        code = getattr(error, "sqlite_errorname", "")
        said = visible(str(error)) or type(error).__name__
        # SQLite does not report where in a statement it stopped: the line is that on which the statement begins.
        said = f"{said}{f' ({code})' if code else ''}{f'; at line {line}' if line is not None else ''}"
        message = f"{at} failed: {said}{end}"
        return StepOutcome(succeeded=False, message=message, output=output, error_code=code or None, error_line=line)


def script_of(found: Sequence[Statement]) -> Script:
    """Put statements before or inside the transaction; raises `MalformedSql` for those that fit nowhere."""
    if len(found) == 1 and found[0].words[0] == "VACUUM":
        outside = 1
    else:
        outside = next((at for at, statement in enumerate(found) if statement.words[0] != "PRAGMA"), len(found))
    for statement in found[:outside]:
        if statement.names or variables([statement]):
            raise MalformedSql(f"{statement.words[0]} takes no placeholders")
    for statement in found[outside:]:
        first, *more = statement.words
        if first in _REFUSED and not (first == "ROLLBACK" and "TO" in more[:2]):
            raise MalformedSql(_REFUSED[first])
    return Script(tuple(found[:outside]), tuple(found[outside:]))


def _as_json(bound: Bound) -> dict[str, JsonValue]:
    return {"sql": bound.statement.sql, "parameters": dict(bound.values), "line": bound.statement.stated_at}


def file_of(connection: Connection, directory: str) -> str:
    """Return the path of the database file; raises `ConnectionRefused`."""
    try:
        path = url_of(connection).database or ""
    except MalformedUrl as error:
        raise ConnectionRefused(str(error)) from None
    if path in {"", ":memory:"} or path.startswith("file:"):
        message = f"connection '{visible(connection.name)}' must name a database file, as in sqlite:///warehouse.db"
        raise ConnectionRefused(message)
    return os.path.join(directory, path)  # noqa: PTH118 - Path would change what was written


def _as_name(error: Exception, statement: Statement) -> str:
    said = str(error)
    placed = next((name for name in statement.names if said.startswith(f'near ":{name}"')), None)
    return "" if placed is None else f"; {{{placed}}} is a value and cannot stand for a name or a keyword"


def _secrets(every: Sequence[Bound]) -> dict[str, str]:
    """Return the names of the secrets, by the names of their parameters."""
    return {
        name: str(value["secret"]) for bound in every for name, value in bound.values.items() if isinstance(value, dict)
    }


def _decode(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _read_file(directory: str, name: object) -> bytes | None:
    """Do what readfile of the `sqlite3` shell does, from the directory where relative names begin."""
    if name is None:
        return None
    text = _decode(name) if isinstance(name, bytes) else str(name)
    path = os.path.join(directory, text)  # noqa: PTH118 - Path would change what was written
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - paths are text here
            return file.read(_LARGEST_FILE + 1)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
