"""Steps of type `task`: what is to be done stands in the row that asks for it, and is done as it stands.

Data2 says where the body is, with one placeholder such as `{Data3}`. Data1 is the connection on which the body is SQL:
its name, or a placeholder; where it is empty, or what it names has no value, the body is a command. The body is carried
out as a `sql` or an `os_command` step would be, and everything in it is literal: braces mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from batchctl.plugin_api import (
    Finding,
    Literal,
    Placeholder,
    Step,
    StepContext,
    StepRequest,
    Template,
    did_you_mean,
    fit_value,
)
from step_handlers import _sql_steps
from step_handlers._checks import (
    column,
    refuse,
    refuse_value,
    remembered,
    short,
    template_of,
    unfit_columns,
    unused_columns,
)


class Task:
    """Carries out whatever the instance brings."""

    process_type: ClassVar[str] = "task"

    def check(self, step: Step, context: StepContext) -> Sequence[Finding]:
        """Return everything wrong with the row; the bodies are not checked before they run."""
        parsed = _parsed(step, context)
        found = [*parsed.findings, *unused_columns(step, {1, 2})]
        if _is_one(parsed.connection, Literal):
            found += _sql_steps.target_of(step, context).findings
            found += _sql_steps.missing_database(step, context)
        return found

    def delegate(self, request: StepRequest) -> Step:
        """Return the body as a step of its own."""
        parsed = _parsed(request.step, request.context)
        refuse(request, parsed.findings)
        connection, body = _value(request, parsed.connection), _value(request, parsed.body)
        if not body.strip():
            refuse_value(request, "Data2", f"there is no body in {request.step.data[1]}, so there is nothing to do")
        if not connection:
            return replace(request.step, process_type="os_command", data=(_literal(body), *_NOTHING_ELSE, None))
        known = request.context.connections
        if connection not in known:
            meant = did_you_mean(connection[:60], known)
            refuse_value(
                request,
                "Data1",
                f"{_wording(parsed.connection)} '{short(connection)}' is not in the configuration.{meant}",
            )
        if body.strip().startswith("file:"):
            refuse_value(request, "Data2", "the SQL of a task stands in its body; only steps may name a file")
        return replace(request.step, process_type="sql", data=(connection, _literal(body), *_NOTHING_ELSE))


_NOTHING_ELSE = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A row as it was read, once for its check and all its attempts."""

    connection: Template
    body: Template
    findings: list[Finding]


@remembered
def _parsed(step: Step, context: StepContext) -> _Parsed:
    del context
    connection, found = template_of("Data1", column(step, 1))
    body, more = template_of("Data2", column(step, 2))
    found += more
    if connection and not _is_one(connection, (Literal, Placeholder)):
        found.append(Finding("Data1", "write the name of a connection, or one placeholder, or nothing"))
    if not more and not _is_one(body, Placeholder):
        found.append(Finding("Data2", "write the one placeholder that the body is in, such as {Data3}"))
    return _Parsed(connection, body, found + unfit_columns(step))


def _is_one(template: Template, kind: type[object] | tuple[type[object], ...]) -> bool:
    return len(template) == 1 and isinstance(template[0], kind)


def _value(request: StepRequest, template: Template) -> str:
    match template:
        case (Placeholder(name),):
            return fit_value(request, name) or ""
        case (Literal(text),):
            return text
        case _:
            return ""


def _wording(connection: Template) -> str:
    """Return where the name of the connection stands that a task runs on."""
    match connection:
        case (Placeholder(name),):
            return f"connection ({name} of the instance)"
        case _:
            return "connection"


def _literal(body: str) -> str:
    """Write a body so that nothing in it is a placeholder."""
    return body.replace("{", "{{").replace("}", "}}")
