"""What `sql` and `stored_procedure` steps share: from SQL text to spec and script, and carrying it out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from batchctl.plugin_api import (
    Connection,
    Execution,
    Finding,
    JsonValue,
    Literal,
    MalformedTemplate,
    Placeholder,
    Rendered,
    SecretReference,
    Step,
    StepContext,
    StepOutcome,
    StepRefused,
    StepRequest,
    did_you_mean,
    fit_value,
    how_to_add_connection,
    parse,
    unfit,
    visible,
)
from step_handlers._checks import column, refuse_value, short, unknown_secrets, unset_secrets, unset_secrets_of
from step_handlers._databases import database_of
from step_handlers.databases._database import NOTHING, Bound, ConnectionRefused, Database, Script, WrittenStep
from step_handlers.databases._sql_text import COMMENT
from step_handlers.databases._sqlite import Sqlite
from step_handlers.databases._statements import MalformedSql, Statement, Token, TokenKind, variables, with_holes
from step_handlers.postgres._postgres import Postgres
from step_handlers.shells._shell import heading
from step_handlers.sqlserver._mssql import SqlServer

_LONGEST_PARAMETER = 40
"""Characters of a variable's name that stand in the name of its value."""
_FILE = "file:"
Sources = Mapping[str, Placeholder | SecretReference]
"""What fills each bound value of a `sql` step."""


@dataclass(frozen=True, slots=True)
class Target:
    """The connection that Data1 names: its kind of database, or what is wrong with it."""

    kind: Database | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """The SQL of a column as it was read."""

    column: str
    findings: list[Finding]
    """What is wrong with it; where there is anything, nothing else of it is of use."""
    text: str = ""
    script: Script = NOTHING
    sources: Sources = field(default_factory=dict)


def target_of(step: Step, context: StepContext) -> Target:
    """Look up the connection that Data1 names."""
    name = column(step, 1)
    known = context.connections
    if not name:
        return Target(None, (Finding("Data1", f"the name of a connection is missing.{did_you_mean('', known)}"),))
    if name not in known:
        message = f"connection '{short(name)}' is not in the configuration.{did_you_mean(name[:60], known)}"
        return Target(None, (Finding("Data1", message, f"correct the row, or {how_to_add_connection(short(name))}"),))
    return kind_of("Data1", known[name])


def kind_of(name: str, connection: Connection) -> Target:
    """Return the kind of database of the connection that a column names."""
    try:
        return Target(database_of(connection))
    except ConnectionRefused as error:
        correction = f"correct [connections.{short(connection.name)}] in batchctl.toml"
        return Target(None, (Finding(name, str(error), correction),))


def missing_database(step: Step, context: StepContext) -> list[Finding]:
    """Return what a sound connection lacks: database, driver, secrets. Only a check: a step may create them."""
    connection = context.connections.get(column(step, 1))
    return [] if connection is None else lacking("Data1", connection, context)


def lacking(name: str, connection: Connection, context: StepContext) -> list[Finding]:
    """Return what the connection that a column names lacks."""
    found = unset_secrets_of(name, connection, context)
    kind = kind_of(name, connection).kind
    missing = kind and kind.missing(connection, context.directory)
    remedy = f"give [connections.{short(connection.name)}] of batchctl.toml what it lacks"
    return [*found, Finding(name, missing, remedy)] if missing else found


def query_of(step: Step, number: int, target: Target, context: StepContext) -> Query:
    """Read the SQL in a column, or in the file it names: SQLite's, when nothing is known of its connection."""
    name = f"Data{number}"
    try:
        text = _sql_text(column(step, number), context)
        script, sources = parse_query(text, target.kind or Sqlite())
    except (MalformedSql, MalformedTemplate) as error:
        return Query(name, [Finding(name, str(error))])
    except StepRefused as error:
        return Query(name, [Finding(name, error.message, error.next_step)])
    found = unknown_secrets(name, [(part,) for part in sources.values()], context.secrets)
    if strange := " ".join(variables(script.statements)):
        found.insert(0, Finding(name, f"{short(strange)} would have no value; write a placeholder such as {{Data1}}"))
    return Query(name, found, text, script, sources)


def query_findings(query: Query, target: Target, context: StepContext) -> list[Finding]:
    """Return findings of a check only, on SQL without other findings: its syntax and its secrets."""
    if query.findings:
        return []
    return [
        *syntax_findings(query.column, query.script, target),
        *unset_secrets(query.column, query.text, context),
    ]


def syntax_findings(name: str, script: Script, target: Target) -> list[Finding]:
    """Return the first statement of a script that the connection's kind of database cannot read."""
    misread = target.kind and target.kind.misread(script.statements)
    return [Finding(name, misread)] if misread else []


def verification_findings(step: Step, target: Target, context: StepContext) -> list[Finding]:
    """Return what is wrong with the query of Data6, where it is used."""
    if step.on_lost != "verify" or not column(step, 6).strip():
        return []
    query = query_of(step, 6, target, context)
    return [*query.findings, *query_findings(query, target, context)]


_READ_ONLY = Token(TokenKind.OTHER, "SET TRANSACTION READ ONLY")


def bounded(query: Query, target: Target, most: int) -> Query:
    """Return a query of one statement that writes nothing, and reads no more than so many rows, however many there are."""
    (statement,) = query.script.inside
    if isinstance(target.kind, SqlServer):
        # A derived table of SQL Server takes neither an ORDER BY nor a column without a name.
        before, behind = f"SET ROWCOUNT {most};\n", ""
    else:
        before, behind = "SELECT * FROM (", f"\n) AS shown LIMIT {most}"
    around = [Token(TokenKind.OTHER, text) for text in (before, behind)]
    asked = replace(statement, tokens=(around[0], *statement.tokens, around[1]))
    # A function of PostgreSQL may write, even one that a SELECT calls.
    first = [replace(statement, tokens=(_READ_ONLY,))] if isinstance(target.kind, Postgres) else []
    return replace(query, script=Script((), (*first, asked)))


def names_a_file(written: str) -> bool:
    """Say whether a column names a file with its SQL, which may be another one at every attempt."""
    return written.strip().startswith(_FILE)


def _sql_text(written: str, context: StepContext) -> str:
    if not names_a_file(written):
        return written
    path = "".join(
        part.text if isinstance(part, Literal) else _not_in_a_name(part.name)
        for part in parse(written.strip().removeprefix(_FILE))
    )
    text = context.read_text(path)
    reason = unfit(text)
    if reason is not None:
        raise MalformedSql(f"file {short(path)}: {reason}")
    return text


def _not_in_a_name(placeholder: str) -> str:
    raise MalformedSql(f"{{{short(placeholder)}}} stands in a file name; a value may never choose what is run")


@lru_cache(maxsize=256)
def parse_query(text: str, kind: Database) -> tuple[Script, Sources]:
    """Parse SQL with placeholders; raises `MalformedSql` and `MalformedTemplate`."""
    if reason := unfit(text):
        raise MalformedSql(reason)
    names: list[str] = []
    pieces: list[str | int] = []
    sources: dict[str, Placeholder | SecretReference] = {}
    for part in parse(text):
        if isinstance(part, Literal):
            pieces.append(part.text)
            continue
        name = _parameter_name(part, len(sources) + 1)
        name = next((known for known, other in sources.items() if other == part), name)
        sources[name] = part
        pieces.append(len(names))
        names.append(name)
    return kind.read(with_holes(pieces), names), sources


def _parameter_name(part: Placeholder | SecretReference, number: int) -> str:
    """Return what the SQL calls a value: that of a variable by a name that every database takes."""
    if isinstance(part, SecretReference):
        return f"secret{number}"
    kind, colon, name = part.name.partition(":")
    return f"{kind}{number}_{re.sub(r'[^A-Za-z0-9]', '_', name)[:_LONGEST_PARAMETER]}" if colon else part.name


def render_query(request: StepRequest, query: Query, note: str = "") -> Rendered:
    """Render SQL that has no findings."""
    values: dict[str, JsonValue] = {
        name: fit_value(request, part.name) if isinstance(part, Placeholder) else {"secret": part.name}
        for name, part in query.sources.items()
    }
    return render_script(request, query.script, values, note)


def render_script(request: StepRequest, script: Script, values: Mapping[str, JsonValue], note: str = "") -> Rendered:
    """Return the script to paste, and the spec."""
    before = [_bound(statement, values) for statement in script.before]
    inside = [_bound(statement, values) for statement in script.inside]
    return render_written(
        request, lambda connection: database_of(connection).write(request, connection, before, inside), note
    )


def render_written(request: StepRequest, write: Callable[[Connection], WrittenStep], note: str = "") -> Rendered:
    """Return what the database of the step's connection writes, with its heading and its connection."""
    connection = request.context.connections[column(request.step, 1)]
    try:
        written = write(connection)
    except ConnectionRefused as error:
        refuse_value(request, "Data1", str(error))
    spec: dict[str, JsonValue] = {"connection": connection.name, "directory": request.context.directory, **written.spec}
    # sqlcmd would fill in a variable even in a comment.
    comment = heading(request, COMMENT).replace("$(", "$ (")
    return Rendered(f"{comment}{note}{written.text}", spec)


def _bound(statement: Statement, values: Mapping[str, JsonValue]) -> Bound:
    return Bound(statement, {name: values[name] for name in statement.names})


class RunsOnConnection:
    """What step types have in common whose steps are carried out on the connection that Data1 names."""

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Carry out the spec on its connection."""
        spec: Mapping[str, Any] = rendered.spec
        connection = execution.connections.get(spec["connection"])
        if connection is None:
            message = f"connection '{visible(spec['connection'])}' is not in the configuration"
            return StepOutcome(succeeded=False, message=message)
        try:
            return database_of(connection).run(connection, spec, execution)
        except ConnectionRefused as error:
            return StepOutcome(succeeded=False, message=str(error), fatal=error.fatal)

    def is_alive(self, rendered: Rendered, execution: Execution) -> bool | None:
        """Say whether a session still carries out the spec on its connection; None when that cannot be known."""
        spec: Mapping[str, Any] = rendered.spec
        connection = execution.connections.get(spec["connection"])
        try:
            return None if connection is None else database_of(connection).is_alive(connection, spec)
        except ConnectionRefused:
            return None

    def verification(self, step: Step) -> Step:
        """Return the query of Data6, on the same connection, as a step of type `sql`."""
        return replace(step, process_type="sql", data=(step.data[0], step.data[5], None, None, None, None))

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """A query that answers with something true means done; no row, NULL, 0 and empty text mean not done."""
        return bool(outcome.value) if outcome.succeeded else None
