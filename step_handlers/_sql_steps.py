"""What `sql` and `stored_procedure` steps share: from SQL text to spec and script, and carrying it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from step_handlers.databases._database import Bound, ConnectionRefused, Database, Script, WrittenStep
from step_handlers.databases._sql_text import COMMENT
from step_handlers.databases._sqlite import Sqlite
from step_handlers.databases._statements import MalformedSql, Statement, variables, with_holes
from step_handlers.shells._shell import heading

_FILE = "file:"
Sources = Mapping[str, Placeholder | SecretReference]
"""What fills each bound value of a `sql` step."""


def connection_findings(step: Step, context: StepContext) -> list[Finding]:
    """Return what is wrong with the connection that Data1 names."""
    name = column(step, 1)
    known = context.connections
    if not name:
        return [Finding("Data1", f"the name of a connection is missing.{did_you_mean('', known)}")]
    if name not in known:
        message = f"connection '{short(name)}' is not in the configuration.{did_you_mean(name[:60], known)}"
        return [Finding("Data1", message, f"correct the row, or {how_to_add_connection(short(name))}")]
    try:
        database_of(known[name])
    except ConnectionRefused as error:
        return [Finding("Data1", str(error), f"correct [connections.{short(name)}] in batchctl.toml")]
    return []


def missing_database(step: Step, context: StepContext) -> list[Finding]:
    """Return what a sound connection lacks: database, driver, secrets. Only a check: a step may create them."""
    connection = context.connections.get(column(step, 1))
    return [] if connection is None else lacking("Data1", connection, context)


def lacking(name: str, connection: Connection, context: StepContext) -> list[Finding]:
    """Return what the connection that a column names lacks."""
    found = unset_secrets_of(name, connection, context)
    try:
        missing = database_of(connection).missing(connection, context.directory)
    except ConnectionRefused:
        return found
    remedy = f"give [connections.{short(connection.name)}] of batchctl.toml what it lacks"
    return [*found, Finding(name, missing, remedy)] if missing else found


def query_findings(step: Step, number: int, context: StepContext) -> list[Finding]:
    """Return findings of a check only, on the SQL in a column without other findings: its syntax and its secrets."""
    name = f"Data{number}"
    if sql_findings(step, number, context):
        return []
    text = sql_text(column(step, number), context)
    script, _ = parse_query(text, kind_of(step, context))
    return [*syntax_findings(name, step, script, context), *unset_secrets(name, text, context)]


def syntax_findings(name: str, step: Step, script: Script, context: StepContext) -> list[Finding]:
    """Return the first statement of a script that the connection's kind of database cannot read."""
    connection = context.connections.get(column(step, 1))
    try:
        misread = connection and database_of(connection).misread(script.statements)
    except ConnectionRefused:
        return []
    return [Finding(name, misread)] if misread else []


def sql_findings(step: Step, number: int, context: StepContext) -> list[Finding]:
    """Return what is wrong with the SQL in a column, or in the file it names."""
    name = f"Data{number}"
    try:
        script, sources = parse_query(sql_text(column(step, number), context), kind_of(step, context))
    except (MalformedSql, MalformedTemplate) as error:
        return [Finding(name, str(error))]
    except StepRefused as error:
        return [Finding(name, error.message, error.next_step)]
    strange = variables(script.statements)
    found = [
        Finding(name, f"{short(' '.join(strange))} would have no value; write a placeholder such as {{Data1}}")
        for _ in strange[:1]
    ]
    references = [(part,) for part in sources.values()]
    return found + unknown_secrets(name, references, context.secrets)


def kind_of(step: Step, context: StepContext) -> Database:
    """Return the kind of database whose SQL a step contains: SQLite's, when nothing is known of its connection."""
    connection = context.connections.get(column(step, 1))
    try:
        return Sqlite() if connection is None else database_of(connection)
    except ConnectionRefused:
        return Sqlite()


def sql_text(written: str, context: StepContext) -> str:
    """Return the SQL of a column, read from the file when it names one."""
    if not written.strip().startswith(_FILE):
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
        name = part.name if isinstance(part, Placeholder) else f"secret{len(sources) + 1}"
        name = next((known for known, other in sources.items() if other == part), name)
        sources[name] = part
        pieces.append(len(names))
        names.append(name)
    return kind.read(with_holes(pieces), names), sources


def render_query(request: StepRequest, number: int) -> Rendered:
    """Render the SQL in a column of a step that has no findings."""
    context = request.context
    script, sources = parse_query(sql_text(column(request.step, number), context), kind_of(request.step, context))
    values: dict[str, JsonValue] = {}
    for name, part in sources.items():
        if isinstance(part, Placeholder):
            values[name] = fit_value(request, part.name)
        else:
            values[name] = {"secret": part.name}
    return render_script(request, script, values)


def render_script(request: StepRequest, script: Script, values: Mapping[str, JsonValue], note: str = "") -> Rendered:
    """Return the script to paste, and the spec."""
    context = request.context
    connection = context.connections[column(request.step, 1)]
    before = [_bound(statement, values) for statement in script.before]
    inside = [_bound(statement, values) for statement in script.inside]
    try:
        written = database_of(connection).write(request, connection, before, inside)
    except ConnectionRefused as error:
        refuse_value(request, "Data1", str(error))
    return ready(request, connection, written, note)


def ready(request: StepRequest, connection: Connection, written: WrittenStep, note: str = "") -> Rendered:
    """Return what a database has written, with its heading and its connection."""
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


def verification_findings(step: Step, context: StepContext) -> list[Finding]:
    """Return what is wrong with the query of Data6, where it is used."""
    if step.on_lost != "verify" or not column(step, 6).strip():
        return []
    return [*sql_findings(step, 6, context), *query_findings(step, 6, context)]
