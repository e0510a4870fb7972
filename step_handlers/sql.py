"""Steps of type `sql`: statements on a connection, in one transaction.

Data1 names the connection. Data2 is the SQL, or `file:` and the name of a file with it. Placeholders in it become
bound values; they are never text of the statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from batchctl.plugin_api import Execution, Finding, Rendered, Step, StepContext, StepOutcome, StepRequest
from step_handlers import _sql_steps
from step_handlers._checks import column, refuse, remembered, unfit_columns, unused_columns


class Sql:
    """Carries out SQL statements."""

    process_type: ClassVar[str] = "sql"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        found = [*_findings(step, context), *unused_columns(step, {1, 2})]
        found += _sql_steps.missing_database(step, context)
        found += _sql_steps.query_findings(step, 2, context)
        if step.on_lost == "verify" and column(step, 6).strip():
            found += _sql_steps.sql_findings(step, 6, context)
            found += _sql_steps.query_findings(step, 6, context)
        return found

    def render(self, request: StepRequest) -> Rendered:
        """Bind the values."""
        refuse(request, _findings(request.step, request.context))
        return _sql_steps.render_query(request, 2)

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Carry out all statements, or none."""
        return _sql_steps.execute(rendered, execution)

    def is_alive(self, rendered: Rendered, execution: Execution) -> bool | None:
        """Say whether a session of the target still carries out the step."""
        return _sql_steps.is_alive(rendered, execution)

    def verification(self, step: Step) -> Step:
        """Return the query of Data6 as a step."""
        return _sql_steps.verification(step)

    def is_done(self, outcome: StepOutcome) -> bool | None:
        """Read the first value of the query."""
        return _sql_steps.is_done(outcome)


@remembered
def _findings(step: Step, context: StepContext) -> list[Finding]:
    return [
        *_sql_steps.connection_findings(step, context),
        *_sql_steps.sql_findings(step, 2, context),
        *unfit_columns(step),
    ]
