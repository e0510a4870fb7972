"""Named parameters in one text: `@FileName={Data2}, @Rows=5, @Day='{Data3}', @Note=NULL`.

The list is split before any value is filled in, so a value can never add a parameter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from batchctl.domain.errors import StepRefused
from batchctl.domain.outcomes import StepRequest
from batchctl.domain.placeholders import (
    Literal,
    MalformedTemplate,
    Placeholder,
    SecretReference,
    Template,
    fill,
    fit_value,
    parse,
)
from batchctl.domain.text import visible

Scalar = str | int | float | None

_NAME = re.compile(r"\s*@?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*")
_QUOTED = re.compile(r"'((?:[^']|'')*)'\s*")
_BARE = re.compile(r"(?:\{[^}]*\}|[^,'])*")
_INTEGER = re.compile(r"[+-]?\d+\Z")
_DECIMAL = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?\Z")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter's name and the template of its value; `constant` when there is nothing to fill."""

    name: str
    template: Template
    is_text: bool


@dataclass(frozen=True, slots=True)
class SecretValue:
    """A parameter value that is resolved only at execution."""

    name: str


Value = Scalar | SecretValue


def parse_parameters(text: str | None) -> tuple[Parameter, ...]:
    """Parse a parameter list; raises `MalformedTemplate` with what is wrong and where."""
    parameters: list[Parameter] = []
    rest = (text or "").strip()
    while rest:
        parameter, rest = _first(rest)
        if any(known.name.lower() == parameter.name.lower() for known in parameters):
            message = f"parameter '{parameter.name}' is given twice"
            raise MalformedTemplate(message)
        parameters.append(parameter)
    return tuple(parameters)


def _first(text: str) -> tuple[Parameter, str]:
    name = _NAME.match(text)
    if name is None:
        message = f"expected Name=value at '{visible(text[:30])}'"
        raise MalformedTemplate(message)
    after = text[name.end() :]
    quoted = _QUOTED.match(after)
    value = quoted or _BARE.match(after)
    written = "" if value is None else value.group(1 if quoted else 0)
    rest = after[0 if value is None else value.end() :].lstrip()
    if rest and not rest.startswith(","):
        message = f"parameter '{name.group(1)}': expected a comma at '{visible(rest[:30])}'"
        raise MalformedTemplate(message)
    if rest and not rest[1:].strip():
        message = "the list ends with a comma"
        raise MalformedTemplate(message)
    template = parse(written.replace("''", "'") if quoted else written.strip())
    if not quoted and not template:
        message = f"parameter '{name.group(1)}' has no value; write '' for empty text or NULL"
        raise MalformedTemplate(message)
    return Parameter(name.group(1), template, is_text=quoted is not None), rest[1:]


def value_of(request: StepRequest, parameter: Parameter) -> Value:
    """Fill one parameter: quoted is text, a lone placeholder keeps its null, a bare constant may be a number or NULL."""
    match parameter.template:
        case (Placeholder(name),) if not parameter.is_text:
            return fit_value(request, name)
        case (SecretReference(name),):
            return SecretValue(name)
        case (Literal(text),) if not parameter.is_text:
            return _constant(text)
        case template:
            return fill(request, template)


def _constant(text: str) -> Scalar:
    if text.upper() == "NULL":
        return None
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _DECIMAL.match(text) else text


def parameters_for(request: StepRequest, column: int) -> dict[str, Value]:
    """Parse and fill the parameter list in one Data column of a step about to run."""
    try:
        parameters = parse_parameters(request.step.data[column - 1])
    except MalformedTemplate as error:
        message = f"Step {request.step.seq} '{visible(request.step.name)}', Data{column}: {error}."
        raise StepRefused(message, next_step="batchctl check") from None
    return {parameter.name: value_of(request, parameter) for parameter in parameters}
