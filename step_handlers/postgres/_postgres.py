"""PostgreSQL as a target database, through psycopg 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from batchctl.plugin_api import Connection, Execution, JsonValue, StepRequest, visible
from step_handlers.databases._database import Argument, Bound, ConnectionRefused, Script, WrittenStep
from step_handlers.databases._servers import ServerDatabase, ServerSession
from step_handlers.databases._statements import MalformedSql, Statement, TokenKind, statements
from step_handlers.postgres import _psql, _psql_script

_IN_TRANSACTION = "every step is one transaction already"
_REFUSED = {
    **{word: f"{_IN_TRANSACTION}; take {word} out" for word in ("BEGIN", "START", "COMMIT", "END", "ABORT")},
    "ROLLBACK": f"{_IN_TRANSACTION}; take ROLLBACK out, or use ROLLBACK TO with a SAVEPOINT",
    "PREPARE": "take PREPARE out; placeholders are bound as values already",
    "\\": "what begins with '\\' is a command of psql, not SQL",
}
_ALONE = frozenset({("CREATE", "DATABASE"), ("DROP", "DATABASE"), ("CREATE", "TABLESPACE"), ("DROP", "TABLESPACE")})
_ROUTINES = (
    "SELECT CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_proc AS p "
    "JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace"
)
_WORDS = "THEN 'CALL' ELSE 'SELECT * FROM' END AS call"


@dataclass(frozen=True, slots=True)
class Postgres(ServerDatabase):
    """PostgreSQL."""

    def read(self, text: str, names: Sequence[str]) -> Script:
        """Parse SQL; raises `MalformedSql`."""
        found = statements(text, names, _psql.GRAMMAR)
        if any(token.kind is TokenKind.OTHER and token.text == "\\" for one in found for token in one.tokens):
            raise MalformedSql(_REFUSED["\\"])
        if any(_must_be_alone(one) for one in found):
            if len(found) > 1:
                raise MalformedSql(
                    f"{' '.join(found[-1].words[:2])} and the rest: what cannot run in a transaction must be the only "
                    "statement of a step"
                )
            if found[0].names:
                raise MalformedSql(f"{found[0].words[0]} takes no placeholders")
            return Script(tuple(found), ())
        for statement in found:
            first, *more = statement.words
            if first in _REFUSED and not (first == "ROLLBACK" and "TO" in more[:3]):
                raise MalformedSql(_REFUSED[first])
        return Script((), tuple(found))

    def write(
        self, request: StepRequest, connection: Connection, before: Sequence[Bound], inside: Sequence[Bound]
    ) -> WrittenStep:
        """Write a script for psql, and the spec."""
        every = [*before, *inside]
        lines = _psql_script.secrets(request.context, (bound.values for bound in every))
        lines += [_psql.statement(bound) for bound in before]
        if inside:
            lines += ["BEGIN;", *(_psql.statement(bound) for bound in inside), "COMMIT;"]
        spec: dict[str, JsonValue] = {
            "instance": request.instance.instance_id,
            "lock": request.lock_name,
            "before": [_as_json(bound) for bound in before],
            "statements": [_as_json(bound) for bound in inside],
        }
        return WrittenStep(_psql_script.connected(request, connection, lines), spec)

    def call_finding(self, name: str) -> str | None:
        """Return why a text is no procedure name."""
        if visible(name) == name and _psql.identifiers(name):
            return None
        return "write procedure or schema.procedure, in double quotes what SQL would want in quotes"

    def call(
        self, request: StepRequest, connection: Connection, name: str, arguments: Sequence[Argument]
    ) -> WrittenStep:
        """Write a call for psql, and the spec.

        Only the server knows whether the name is that of a procedure or of a function. Text and spec ask it the same
        question, and put its answer before the same words.
        """
        parts = _psql.identifiers(name)
        values: dict[str, JsonValue] = {f"p{at}": one.value for at, one in enumerate(arguments, start=1)}
        written = [f":'{key}'" if isinstance(value, dict) else _psql.literal(value) for key, value in values.items()]
        lines = _psql_script.secrets(request.context, [values])
        lines.append("-- :call is CALL where the name is a procedure's, else SELECT * FROM")
        lines.append(_psql_script.command(rf"{_which(parts)} \gset"))
        lines.append(f":call {_called(parts, arguments, written)};")
        numbered = [f"${at}" for at in range(1, len(arguments) + 1)]
        spec: dict[str, JsonValue] = {
            "instance": request.instance.instance_id,
            "lock": request.lock_name,
            "which": _which(parts),
            "call": {
                "called": ".".join(map(_psql.identifier, parts)),
                "sql": _called(parts, arguments, numbered),
                "parameters": list(values.values()),
                "names": [_psql.parameter(one.name)[1:-1] for one in arguments],
            },
        }
        return WrittenStep(_psql_script.connected(request, connection, lines), spec)

    def missing(self, connection: Connection, directory: str) -> str | None:
        """Look for the driver; only connecting would show whether the server is there."""
        del directory
        try:
            import_module("psycopg")
        except ImportError as error:
            name = visible(connection.name)
            return f"connection '{name}' needs psycopg: {error}; install it: pip install 'batchctl[postgres]'"
        return None

    def new_session(self, connection: Connection, execution: Execution) -> ServerSession:
        """Open a session for a step; raises `ConnectionRefused`, also where the driver is missing."""
        missing = self.missing(connection, "")
        if missing is not None:
            raise ConnectionRefused(missing, fatal=True)
        from step_handlers.postgres import _postgres_session  # noqa: PLC0415 - needs what may be missing

        return _postgres_session.PostgresSession(_postgres_session.connect(connection), connection, execution)

    def is_alive(self, connection: Connection, spec: Mapping[str, Any]) -> bool | None:
        """Try the lock that a session holds as long as it carries out the instance."""
        if self.missing(connection, "") is not None:
            return None
        from step_handlers.postgres import _postgres_session  # noqa: PLC0415 - needs what may be missing

        return _postgres_session.is_locked(connection, spec["lock"])


def _must_be_alone(statement: Statement) -> bool:
    words = statement.words
    return (
        words[0] == "VACUUM"
        or "CONCURRENTLY" in words
        or words[:2] == ["ALTER", "SYSTEM"]
        or tuple(words[:2]) in _ALONE
    )


def _as_json(bound: Bound) -> dict[str, JsonValue]:
    names = [token.text for token in bound.statement.tokens if token.kind is TokenKind.HOLE]
    numbers = iter(range(1, len(names) + 1))
    # Every place has a number of its own, so that each may be of another type, as literals may.
    pieces = [f"${next(numbers)}" if token.kind is TokenKind.HOLE else token.text for token in bound.statement.tokens]
    values = [bound.values[name] for name in names]
    called = [
        f"{{secret:{value['secret']}}}" if isinstance(value, dict) else f"{{{name}}}"
        for name, value in zip(names, values, strict=True)
    ]
    return {"sql": "".join(pieces), "parameters": values, "names": list(called), "line": bound.statement.line}


def _which(parts: Sequence[str]) -> str:
    """Ask which kind of routine has a name: one row with the words that call it."""
    *schema, name = parts
    where = f"n.nspname = {_psql.literal(schema[0])}::name" if schema else "pg_catalog.pg_function_is_visible(p.oid)"
    return f"{_ROUTINES} WHERE p.prokind = 'p' AND p.proname = {_psql.literal(name)}::name AND {where}) {_WORDS}"


def _called(parts: Sequence[str], arguments: Sequence[Argument], values: Sequence[str]) -> str:
    given = [f"{_psql.parameter(one.name)} => {value}" for one, value in zip(arguments, values, strict=True)]
    return f"{'.'.join(map(_psql.identifier, parts))}({', '.join(given)})"
