"""Steps of type `stored_procedure`: a named procedure of a connection, with parameters.

Data1 names the connection, Data2 the procedure, Data3 its parameters (`@FileName={Data2}, @Rows=5, @Total=OUTPUT`).
PostgreSQL and SQL Server call it. SQLite has no stored procedures: there the connection's `procedures` directory holds
`<procedure>.sql`, with parameters as `:Name`, carried out in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from batchctl.plugin_api import Finding, Rendered, Step, StepContext, StepRequest
from step_handlers import _procedure_calls, _procedure_files, _sql_steps
from step_handlers._checks import parameters_of, refuse, unfit_columns, unset_secrets, unused_columns
from step_handlers._procedure_files import ProcedureFile
from step_handlers._sql_steps import Target
from step_handlers.databases._servers import ServerDatabase


class StoredProcedure(_sql_steps.RunsOnConnection):
    """Calls a stored procedure."""

    process_type: ClassVar[str] = "stored_procedure"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        parsed = _parsed(step, context)
        found = [*parsed.findings]
        if not found:
            found = _sql_steps.syntax_findings("Data2", parsed.file.script, parsed.target)
        found += unused_columns(step, {1, 2, 3})
        found += _sql_steps.missing_database(step, context)
        found += unset_secrets("Data3", step.data[2], context)
        return found + _sql_steps.verification_findings(step, parsed.target, context)

    def render(self, request: StepRequest) -> Rendered:
        """Bind the parameters."""
        parsed = _parsed(request.step, request.context)
        refuse(request, parsed.findings)
        if isinstance(parsed.target.kind, ServerDatabase):
            return _procedure_calls.render(request, parsed.target.kind)
        return _procedure_files.render(request, parsed.file)


@dataclass(frozen=True, slots=True)
class _Parsed:
    target: Target
    file: ProcedureFile
    """What stands for the procedure where the database has none."""
    findings: list[Finding]


def _parsed(step: Step, context: StepContext) -> _Parsed:
    target = _sql_steps.target_of(step, context)
    is_call = isinstance(target.kind, ServerDatabase)
    text = _procedure_calls.split_outputs(step.data[2])[0] if is_call else step.data[2]
    parameters, faults = parameters_of("Data3", text, context.secrets)
    found = [*target.findings, *faults]
    if isinstance(target.kind, ServerDatabase):
        file = ProcedureFile(_procedure_calls.findings(step, target.kind))
    else:
        file = _procedure_files.read(step, context, None if found else parameters)
    return _Parsed(target, file, [*found, *file.findings, *unfit_columns(step)])
