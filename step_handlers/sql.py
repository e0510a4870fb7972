"""Steps of type `sql`: statements on a connection, in one transaction.

Data1 names the connection. Data2 is the SQL, or `file:` and the name of a file with it. Placeholders in it become
bound values; they are never text of the statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from batchctl.plugin_api import Finding, Rendered, Step, StepContext, StepRequest
from step_handlers import _sql_steps
from step_handlers._checks import refuse, remembered, unfit_columns, unused_columns


class Sql(_sql_steps.RunsOnConnection):
    """Carries out SQL statements."""

    process_type: ClassVar[str] = "sql"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        found = [*_findings(step, context), *unused_columns(step, {1, 2})]
        found += _sql_steps.missing_database(step, context)
        found += _sql_steps.query_findings(step, 2, context)
        return found + _sql_steps.verification_findings(step, context)

    def render(self, request: StepRequest) -> Rendered:
        """Bind the values."""
        refuse(request, _findings(request.step, request.context))
        return _sql_steps.render_query(request, 2)


@remembered
def _findings(step: Step, context: StepContext) -> list[Finding]:
    return [
        *_sql_steps.connection_findings(step, context),
        *_sql_steps.sql_findings(step, 2, context),
        *unfit_columns(step),
    ]
