"""Steps of type `stored_procedure`: a named procedure of a connection, with parameters.

Data1 names the connection, Data2 the procedure, Data3 its parameters (`@FileName={Data2}, @Rows=5, @Total=OUTPUT`).
PostgreSQL and SQL Server call it. SQLite has no stored procedures: there the connection's `procedures` directory holds
`<procedure>.sql`, with parameters as `:Name`, carried out in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from batchctl.plugin_api import Finding, Rendered, Step, StepContext, StepRequest
from step_handlers import _procedure_calls, _procedure_files, _sql_steps
from step_handlers._checks import parameter_findings, refuse, unfit_columns, unset_secrets, unused_columns
from step_handlers.databases._database import CallsProcedures


class StoredProcedure(_sql_steps.RunsOnConnection):
    """Calls a stored procedure."""

    process_type: ClassVar[str] = "stored_procedure"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        found = _findings(step, context)
        if not found and _caller(step, context) is None:
            found = _procedure_files.misread(step, context)
        found += unused_columns(step, {1, 2, 3})
        found += _sql_steps.missing_database(step, context)
        found += unset_secrets("Data3", step.data[2], context)
        return found + _sql_steps.verification_findings(step, context)

    def render(self, request: StepRequest) -> Rendered:
        """Bind the parameters."""
        refuse(request, _findings(request.step, request.context))
        kind = _caller(request.step, request.context)
        return _procedure_files.render(request) if kind is None else _procedure_calls.render(request, kind)


def _findings(step: Step, context: StepContext) -> list[Finding]:
    found = _sql_steps.connection_findings(step, context)
    kind = _caller(step, context)
    if kind is None:
        found += parameter_findings("Data3", step.data[2], context.secrets)
        found += _procedure_files.findings(step, context, readable=not found)
    else:
        text, _ = _procedure_calls.split_outputs(step.data[2])
        found += parameter_findings("Data3", text, context.secrets)
        found += _procedure_calls.findings(step, kind)
    return found + unfit_columns(step)


def _caller(step: Step, context: StepContext) -> CallsProcedures | None:
    """Return the kind of database when it has procedures itself."""
    kind = _sql_steps.kind_of(step, context)
    return kind if isinstance(kind, CallsProcedures) else None
