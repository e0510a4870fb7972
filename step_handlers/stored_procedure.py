"""Steps of type `stored_procedure`: a named procedure of a connection, with parameters, in one transaction.

Data1 names the connection, Data2 the procedure, Data3 its parameters (`@FileName={Data2}, @Rows=5`). SQLite has no
stored procedures: there the connection's `procedures` directory holds `<procedure>.sql`, with parameters as `:Name`.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

from batchctl.plugin_api import (
    Execution,
    JsonValue,
    Problem,
    Rendered,
    SecretValue,
    Step,
    StepOutcome,
    StepRefused,
    StepRequest,
    Surroundings,
    did_you_mean,
    parameters_for,
    parse_parameters,
    unfit,
)
from step_handlers import _sql_steps
from step_handlers._checks import (
    column,
    parameter_problems,
    refuse,
    short,
    unfit_columns,
    unset_secrets,
    unused_columns,
)
from step_handlers._sql_steps import Script
from step_handlers._statements import MalformedSql, bind, statements, variables

_NAME = re.compile(r"[A-Za-z0-9_.$]+\Z")


class StoredProcedure:
    """Calls a stored procedure."""

    process_type: ClassVar[str] = "stored_procedure"

    def check(self, step: Step, surroundings: Surroundings) -> Sequence[Problem]:
        """Return everything wrong with the row."""
        found = _problems(step, surroundings) or _misread(step, surroundings)
        found += unused_columns(step, {1, 2, 3})
        found += _sql_steps.missing_database(step, surroundings)
        found += unset_secrets("Data3", step.data[2], surroundings)
        if step.on_lost == "verify" and column(step, 6).strip():
            found += _sql_steps.query_problems(step, 6, surroundings)
            found += _sql_steps.query_findings(step, 6, surroundings)
        return found

    def render(self, request: StepRequest) -> Rendered:
        """Bind the parameters."""
        refuse(request, _problems(request.step, request.surroundings))
        path = _file_name(request.step, request.surroundings)
        script, wanted = _procedure(request.surroundings.read_text(path))
        values: dict[str, JsonValue] = {
            wanted[name.lower()]: {"secret": value.name} if isinstance(value, SecretValue) else value
            for name, value in parameters_for(request, 3).items()
        }
        return _sql_steps.rendered(request, script, values, f"-- procedure {column(request.step, 2)}\n")

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Carry out the whole procedure, or nothing of it."""
        return _sql_steps.execute(rendered, execution)

    def verification(self, step: Step) -> Step:
        """Return the query of Data6 as a step of type `sql`."""
        return _sql_steps.verification(step)

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """Read the first value of the query."""
        return _sql_steps.is_done(outcome)


def _problems(step: Step, surroundings: Surroundings) -> list[Problem]:
    found = _sql_steps.connection_problems(step, surroundings)
    found += parameter_problems("Data3", step.data[2], surroundings.secrets)
    if not _NAME.match(column(step, 2)):
        message = f"'{short(column(step, 2))}' is no procedure name; write letters, digits, '_', '.' and '$'"
        found.append(Problem("Data2", message))
    if not found:
        found = _procedure_problems(step, surroundings)
    return found + unfit_columns(step)


def _procedure_problems(step: Step, surroundings: Surroundings) -> list[Problem]:
    try:
        _, wanted = _procedure(surroundings.read_text(_file_name(step, surroundings)))
    except MalformedSql as error:
        return [Problem("Data2", f"procedure {column(step, 2)}: {error}")]
    except StepRefused as error:
        return [Problem("Data2", error.message)]
    given = {parameter.name.lower(): parameter.name for parameter in parse_parameters(step.data[2])}
    missing = [name for lower, name in wanted.items() if lower not in given]
    surplus = [name for lower, name in given.items() if lower not in wanted]
    return [
        *(Problem("Data3", f"parameter @{name} of {column(step, 2)} is missing") for name in missing),
        *(
            Problem("Data3", f"{column(step, 2)} has no parameter @{name}.{did_you_mean(name, wanted.values())}")
            for name in surplus
        ),
    ]


def _misread(step: Step, surroundings: Surroundings) -> list[Problem]:
    script, _ = _procedure(surroundings.read_text(_file_name(step, surroundings)))
    return _sql_steps.syntax_problems("Data2", step, script, surroundings)


def _file_name(step: Step, surroundings: Surroundings) -> str:
    connection = surroundings.connections[column(step, 1)]
    if connection.procedures is None:
        message = (
            f"connection '{short(connection.name)}' has no procedures; set its key procedures to a folder of .sql files"
        )
        raise MalformedSql(message)
    return os.path.join(connection.procedures, f"{column(step, 2)}.sql")  # noqa: PTH118 - Path would change what was written


@lru_cache(maxsize=256)
def _procedure(text: str) -> tuple[Script, dict[str, str]]:
    """Parse a procedure; return it with its parameters, by their names in lower case. Raises `MalformedSql`."""
    if reason := unfit(text):
        raise MalformedSql(reason)
    found = statements(text, ())
    strange = [name for name in variables(found) if not name.startswith(":")]
    if strange:
        raise MalformedSql(f"{short(' '.join(strange))} is no parameter here; write :Name")
    wanted: dict[str, str] = {}
    for name in variables(found):
        wanted.setdefault(name[1:].lower(), name[1:])
    script = _sql_steps.script_of(found)
    return Script(script.before, tuple(bind(statement, wanted) for statement in script.inside)), wanted
