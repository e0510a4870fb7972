"""Steps of type `sql`: statements on a connection, in one transaction.

Data1 names the connection. Data2 is the SQL, or `file:` and the name of a file with it. Placeholders in it become
bound values; they are never text of the statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from batchctl.plugin_api import Finding, Rendered, Step, StepContext, StepRequest
from step_handlers import _sql_steps
from step_handlers._checks import column, refuse, remembered, unfit_columns, unused_columns
from step_handlers._sql_steps import Query, Target


class Sql(_sql_steps.RunsOnConnection):
    """Carries out SQL statements."""

    process_type: ClassVar[str] = "sql"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        parsed = _parsed(step, context)
        found = [*parsed.findings, *unused_columns(step, {1, 2})]
        found += _sql_steps.missing_database(step, context)
        found += _sql_steps.query_findings(parsed.query, parsed.target, context)
        return found + _sql_steps.verification_findings(step, parsed.target, context)

    def render(self, request: StepRequest) -> Rendered:
        """Bind the values."""
        parsed = _parsed(request.step, request.context)
        refuse(request, parsed.findings)
        return _sql_steps.render_query(request, parsed.query)


@dataclass(frozen=True, slots=True)
class _Parsed:
    target: Target
    query: Query
    findings: list[Finding]


def _parsed(step: Step, context: StepContext) -> _Parsed:
    return _read(step, context) if _sql_steps.names_a_file(column(step, 2)) else _read_once(step, context)


def _read(step: Step, context: StepContext) -> _Parsed:
    target = _sql_steps.target_of(step, context)
    query = _sql_steps.query_of(step, 2, target, context)
    return _Parsed(target, query, [*target.findings, *query.findings, *unfit_columns(step)])


_read_once = remembered(_read)
