"""Stored procedures that the database itself has: their names, and their parameters with OUTPUT."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from batchctl.plugin_api import Finding, Rendered, SecretValue, Step, StepRequest, parameters_for
from step_handlers import _sql_steps
from step_handlers._checks import column, refuse_value, short
from step_handlers.databases._database import Argument, CallsProcedures, ConnectionRefused, WrittenStep

# Possessive, and the same shape as the parameters themselves: no text makes the search slow or reads two ways.
_PARAMETER = re.compile(
    r"(?P<start>\s*+@?(?P<name>[A-Za-z_][A-Za-z0-9_]*+)\s*+=\s*+)"
    r"(?:(?P<quoted>'(?:[^']|'')*+')(?P<behind>[^,'{]*+)|(?P<bare>(?:[^,'{]|\{[^{},']*+\}?)*+))(?P<comma>,?)"
)
_OUTPUT = re.compile(r"(?:\A|(?<=\s))(?:OUTPUT|OUT)\Z", re.IGNORECASE)


def split_outputs(text: str | None) -> tuple[str | None, frozenset[str]]:
    """Take OUTPUT out of a parameter list; return the rest and the names, in lower case, of those that had it."""
    outputs: set[str] = set()
    pieces: list[str] = []
    at = 0
    # A loop, not a substitution: what is no parameter is looked at once, and reported by the parser of the list.
    while match := _PARAMETER.match(text or "", at):
        at = match.end()
        written = (match["behind"] if match["quoted"] else match["bare"]).rstrip()
        if _OUTPUT.search(written[-7:]):
            outputs.add(match["name"].lower())
            value = match["quoted"] or _OUTPUT.sub("", written).rstrip() or "NULL"
            pieces.append(f"{match['start']}{value}{match['comma']}")
        else:
            pieces.append(match.group())
    return text and "".join(pieces) + text[at:], frozenset(outputs)


def findings(step: Step, kind: CallsProcedures) -> list[Finding]:
    """Return what is wrong with the name of the procedure."""
    finding = kind.call_finding(column(step, 2))
    return [Finding("Data2", f"'{short(column(step, 2))}' is no procedure name; {finding}")] if finding else []


def render(request: StepRequest, kind: CallsProcedures) -> Rendered:
    """Bind the parameters of the call."""
    step = request.step
    connection = request.context.connections[column(step, 1)]
    text, outputs = split_outputs(step.data[2])
    request = replace(request, step=replace(step, data=(*step.data[:2], text, *step.data[3:])))
    arguments = [
        Argument(name, {"secret": value.name} if isinstance(value, SecretValue) else value, name.lower() in outputs)
        for name, value in parameters_for(request, 3).items()
    ]
    return _sql_steps.ready(request, connection, _written(request, kind, arguments))


def _written(request: StepRequest, kind: CallsProcedures, arguments: Sequence[Argument]) -> WrittenStep:
    connection = request.context.connections[column(request.step, 1)]
    try:
        return kind.call(request, connection, column(request.step, 2), arguments)
    except ConnectionRefused as error:
        refuse_value(request, "Data1", str(error))
