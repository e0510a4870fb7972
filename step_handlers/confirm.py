"""Steps of type `confirm`: a question to people; the instance waits for their answer, without a slot.

Data1 is the question. Data2 says who may answer: names with commas between them, `role:NAME` for the members of a database
role; empty is anyone who may act. Data3 is a query whose first rows are shown beside the question, on the connection that
Data5 names. Data4 says how long it waits and what follows then, such as `4h fail`, `1d go on`, `30m incident`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, ClassVar

from batchctl.plugin_api import (
    LONGEST_QUESTION,
    AnswerTime,
    Asks,
    Execution,
    Finding,
    JsonValue,
    OnTimeout,
    Placeholder,
    Rendered,
    Step,
    StepContext,
    StepOutcome,
    StepRequest,
    Template,
    UnfitTimeout,
    answer_time,
    fill,
    unfit_names,
    visible,
)
from step_handlers import _sql_steps
from step_handlers._checks import (
    column,
    has_secret,
    refuse,
    refuse_value,
    remembered,
    template_of,
    unfit_columns,
    unused_columns,
)
from step_handlers._sql_steps import Query, Target
from step_handlers.databases._results import ROWS_SHOWN
from step_handlers.databases._sql_text import COMMENT
from step_handlers.shells._shell import heading, shell

_ONE_MORE = f"({ROWS_SHOWN + 1} rows, 1 of them not shown)"
_MORE = f"(the first {ROWS_SHOWN} rows; there are more)"
_QUERIES = ("SELECT", "WITH", "VALUES")
_EVIDENCE = _sql_steps.RunsOnConnection()


class Confirm:
    """Asks people, and shows them what they have to know."""

    process_type: ClassVar[str] = "confirm"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row."""
        parsed = _parsed(step, context)
        found = [*parsed.findings, *unused_columns(step, {1, 2, 3, 4, 5})]
        if step.rows_min is not None or step.rows_max is not None:
            column_of = "RowsMin" if step.rows_min is not None else "RowsMax"
            found.append(Finding(column_of, "a step that asks loads no rows: nothing looks at this"))
        if parsed.query is not None:
            found += _sql_steps.query_findings(parsed.query, parsed.target, context)
            connection = context.connections.get(column(step, 5))
            found += [] if connection is None else _sql_steps.lacking("Data5", connection, context)
        return found

    def render(self, request: StepRequest) -> Rendered:
        """Fill the question, and bind the values of the query."""
        parsed = _parsed(request.step, request.context)
        refuse(request, parsed.findings)
        question = fill(request, parsed.question)[:LONGEST_QUESTION]
        if not question.strip():
            refuse_value(request, "Data1", f"there is no question in {request.step.data[0]}")
        filled = fill(request, parsed.who)
        who = ", ".join(one.strip() for one in filled.split(",") if one.strip()) or None
        if who is None and column(request.step, 2).strip():
            refuse_value(request, "Data2", f"{request.step.data[1]} names no one")
        if reason := unfit_names(filled):
            refuse_value(request, "Data2", reason)
        time = parsed.time
        asked: dict[str, JsonValue] = {
            "question": question,
            "who": who,
            "wait": None if time is None else int(time.length.total_seconds()),
            "then": None if time is None else time.then.value,
        }
        said = f"asks: {visible(question)}", f"who may answer: {'anyone who may act' if who is None else visible(who)}"
        if parsed.query is None:
            text = heading(request, shell.COMMENT) + "".join(f"{shell.COMMENT}{line}\n" for line in said)
            return Rendered(text, asked, brief=True)
        shown = _sql_steps.render_query(
            replace(request, step=_as_sql(request.step)), parsed.query, "".join(f"{COMMENT}{line}\n" for line in said)
        )
        return Rendered(shown.command_text, {**shown.spec, **asked})

    def execute(self, rendered: Rendered, execution: Execution) -> StepOutcome:
        """Look at what is to be shown, and ask."""
        spec: Mapping[str, Any] = rendered.spec
        evidence = None
        if "connection" in spec:
            seen = _EVIDENCE.execute(rendered, execution)
            if not seen.succeeded:
                return seen
            evidence = seen.output and seen.output.replace(_ONE_MORE, _MORE)
        wait = None if spec["wait"] is None else timedelta(seconds=spec["wait"])
        then = None if spec["then"] is None else OnTimeout(spec["then"])
        asks = Asks(spec["who"], wait, then)
        return StepOutcome(succeeded=False, message=spec["question"], output=evidence, asks=asks)

    def is_alive(self, rendered: Rendered, execution: Execution) -> bool | None:
        """Say whether a session still looks at what is to be shown; None when that cannot be known."""
        return _EVIDENCE.is_alive(rendered, execution) if "connection" in rendered.spec else None


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A row as it was read."""

    question: Template
    who: Template
    time: AnswerTime | None
    target: Target
    query: Query | None
    """The query, which reads few rows; None where nothing is shown."""
    findings: list[Finding]


def _parsed(step: Step, context: StepContext) -> _Parsed:
    return _read(step, context) if _sql_steps.names_a_file(column(step, 3)) else _read_once(step, context)


def _read(step: Step, context: StepContext) -> _Parsed:
    question, found = template_of("Data1", column(step, 1))
    if not column(step, 1).strip():
        found.append(Finding("Data1", "the question is missing"))
    elif has_secret(question):
        found.append(Finding("Data1", "a question shows no secret; leave it out"))
    who, wrong = template_of("Data2", column(step, 2))
    found += wrong or _findings_of_names(column(step, 2), who)
    time = None
    try:
        time = answer_time(column(step, 4))
    except UnfitTimeout as error:
        found.append(Finding("Data4", str(error)))
    target, query = Target(None), None
    if column(step, 3).strip():
        target, query = _query_of(step, context)
        found += [*target.findings, *query.findings]
    elif column(step, 5).strip():
        found.append(
            Finding("Data5", "it names the connection of a query, and Data3 is empty; write one, or empty Data5")
        )
    return _Parsed(question, who, time, target, query, [*found, *unfit_columns(step)])


_read_once = remembered(_read)


def _findings_of_names(text: str, who: Template) -> list[Finding]:
    if any(isinstance(part, Placeholder) and ":" not in part.name for part in who) or has_secret(who):
        return [Finding("Data2", "who may answer is not up to an instance: write names, or a variable as {var:OnCall}")]
    reason = unfit_names(text)
    return [] if reason is None else [Finding("Data2", reason)]


def _query_of(step: Step, context: StepContext) -> tuple[Target, Query]:
    """Read the query of Data3; it returns one row more than are shown, so that it is said where there are more."""
    asked = _as_sql(step)
    target = _sql_steps.target_of(asked, context)
    target = replace(target, findings=tuple(replace(one, column="Data5") for one in target.findings))
    query = replace(_sql_steps.query_of(asked, 2, target, context), column="Data3")
    query.findings[:] = [replace(one, column="Data3") for one in query.findings]
    if query.findings:
        return target, query
    statements = query.script.inside
    if len(query.script.statements) != 1 or not any(one.words[0] in _QUERIES for one in statements):
        query.findings.append(Finding("Data3", f"it has to be one query, which begins with {' or '.join(_QUERIES)}"))
        return target, query
    return target, _sql_steps.bounded(query, target, ROWS_SHOWN + 1)


def _as_sql(step: Step) -> Step:
    """Return the query as a step of type `sql`."""
    return replace(step, data=(step.data[4], step.data[2], None, None, None, None))
