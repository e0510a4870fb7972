"""Stored procedures for SQLite, which has none: files of SQL with parameters written as `:Name`."""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from batchctl.plugin_api import (
    Finding,
    Parameter,
    Rendered,
    Step,
    StepContext,
    StepRefused,
    StepRequest,
    did_you_mean,
    unfit,
)
from step_handlers import _sql_steps
from step_handlers._checks import bound_parameters, column, short
from step_handlers.databases._database import NOTHING, Script
from step_handlers.databases._sqlite import script_of
from step_handlers.databases._statements import MalformedSql, bind, statements, variables

_NAME = re.compile(r"[A-Za-z0-9_.$]+\Z")


@dataclass(frozen=True, slots=True)
class ProcedureFile:
    """A procedure's file as it was read."""

    findings: list[Finding]
    """What is wrong with it, and with what it is given."""
    script: Script = NOTHING
    wanted: Mapping[str, str] = field(default_factory=dict)
    """Its parameters, by their names in lower case."""


def read(step: Step, context: StepContext, given: Sequence[Parameter] | None) -> ProcedureFile:
    """Look at the name and, with what the rest of the row gives, read the file and compare its parameters."""
    if not _NAME.match(column(step, 2)):
        message = f"'{short(column(step, 2))}' is no procedure name; write letters, digits, '_', '.' and '$'"
        return ProcedureFile([Finding("Data2", message)])
    if given is None:
        return ProcedureFile([])
    connection = context.connections[column(step, 1)]
    if connection.procedures is None:
        name = short(connection.name)
        message = f"connection '{name}' has no procedures; set its key procedures to a folder of .sql files"
        remedy = f'write procedures = "FOLDER" below [connections.{name}] in batchctl.toml and restart the controllers'
        return ProcedureFile([Finding("Data1", message, remedy)])
    path = os.path.join(connection.procedures, f"{column(step, 2)}.sql")  # noqa: PTH118 - Path would change what was written
    try:
        script, wanted = parsed(context.read_text(path))
    except MalformedSql as error:
        return ProcedureFile([Finding("Data2", f"procedure {column(step, 2)}: {error}")])
    except StepRefused as error:
        return ProcedureFile([Finding("Data2", error.message, error.next_step)])
    return ProcedureFile(_parameter_findings(column(step, 2), given, wanted), script, wanted)


def _parameter_findings(name: str, given: Sequence[Parameter], wanted: Mapping[str, str]) -> list[Finding]:
    by_lower = {parameter.name.lower(): parameter.name for parameter in given}
    missing = [parameter for lower, parameter in wanted.items() if lower not in by_lower]
    surplus = [parameter for lower, parameter in by_lower.items() if lower not in wanted]
    return [
        *(Finding("Data3", f"parameter @{parameter} of {name} is missing") for parameter in missing),
        *(
            Finding("Data3", f"{name} has no parameter @{parameter}.{did_you_mean(parameter, wanted.values())}")
            for parameter in surplus
        ),
    ]


def render(request: StepRequest, file: ProcedureFile) -> Rendered:
    """Bind the parameters to the statements of the file."""
    values = {file.wanted[name.lower()]: value for name, value in bound_parameters(request, 3).items()}
    return _sql_steps.render_script(request, file.script, values, f"-- procedure {column(request.step, 2)}\n")


@lru_cache(maxsize=256)
def parsed(text: str) -> tuple[Script, dict[str, str]]:
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
    script = script_of(found)
    return Script(script.before, tuple(bind(statement, wanted) for statement in script.inside)), wanted
