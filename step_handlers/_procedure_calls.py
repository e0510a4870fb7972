"""Stored procedures that the database itself has: their names, and their parameters with OUTPUT."""

from __future__ import annotations

import re
from dataclasses import replace

from batchctl.plugin_api import Finding, Rendered, Step, StepRequest
from step_handlers import _sql_steps
from step_handlers._checks import bound_parameters, column, short
from step_handlers.databases._database import Argument
from step_handlers.databases._servers import ServerDatabase

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


def findings(step: Step, kind: ServerDatabase) -> list[Finding]:
    """Return what is wrong with the name of the procedure."""
    finding = kind.call_finding(column(step, 2))
    return [Finding("Data2", f"'{short(column(step, 2))}' is no procedure name; {finding}")] if finding else []


def render(request: StepRequest, kind: ServerDatabase) -> Rendered:
    """Bind the parameters of the call."""
    name = column(request.step, 2)
    text, outputs = split_outputs(request.step.data[2])
    step = replace(request.step, data=(*request.step.data[:2], text, *request.step.data[3:]))
    arguments = [
        Argument(parameter, value, parameter.lower() in outputs)
        for parameter, value in bound_parameters(replace(request, step=step), 3).items()
    ]
    return _sql_steps.render_written(request, lambda connection: kind.call(request, connection, name, arguments))
