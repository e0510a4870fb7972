"""Named parameters in one text: `@FileName={Data2}, @Rows=5, @Day='{Data3}', @Note=NULL`.

The list is split before any value is filled in, so a value can never add a parameter.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

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
from batchctl.domain.step_mending import correct_step
from batchctl.domain.text import visible

Scalar = str | int | float | None

_BLANK = re.compile(r"\s*")
_NAME = re.compile(r"@?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*")
# Possessive: what a quote or brace has taken is never given back, so no text makes the search slow or reads two ways.
_QUOTED = re.compile(r"'((?:[^']|'')*+)'")
_BARE = re.compile(r"(?:[^,'{]|\{[^{},']*+\}?)*+")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}\Z")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter's name and the template of its value; `is_text` when it was written in quotes."""

    name: str
    template: Template
    is_text: bool


@dataclass(frozen=True, slots=True)
class SecretValue:
    """A parameter value that is resolved only at execution."""

    name: str


Value = Scalar | SecretValue


@lru_cache(maxsize=512)
def parse_parameters(text: str | None) -> tuple[Parameter, ...]:
    """Parse a parameter list; raises `MalformedTemplate` with what is wrong and where."""
    written = (text or "").strip()
    parameters: dict[str, Parameter] = {}
    at = 0
    while at < len(written):
        parameter, at = _parameter(written, at)
        if parameter.name.lower() in parameters:
            message = f"parameter '{parameter.name}' is given twice"
            raise MalformedTemplate(message)
        parameters[parameter.name.lower()] = parameter
    return tuple(parameters.values())


def _parameter(text: str, at: int) -> tuple[Parameter, int]:
    name = _NAME.match(text, _behind_blanks(text, at))
    if name is None:
        message = f"expected Name=value at '{visible(text[at : at + 30])}'"
        raise MalformedTemplate(message)
    quoted = _QUOTED.match(text, name.end())
    value = quoted or _BARE.match(text, name.end())
    end = name.end() if value is None else value.end()
    parameter = _valued(name.group(1), text[name.end() : end].strip(), is_text=quoted is not None)
    return parameter, _behind_comma(text, _behind_blanks(text, end), parameter.name)


def _valued(name: str, written: str, *, is_text: bool) -> Parameter:
    parameter = Parameter(name, parse(written[1:-1].replace("''", "'") if is_text else written), is_text)
    if not is_text and not parameter.template:
        message = f"parameter '{name}' has no value; write '' for empty text, or NULL"
        raise MalformedTemplate(message)
    match parameter.template:
        case (Literal(constant),) if not is_text:
            _constant(constant)
    return parameter


def _behind_blanks(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return at if blank is None else blank.end()


def _behind_comma(text: str, at: int, name: str) -> int:
    if at == len(text):
        return at
    if text[at] != ",":
        message = f"parameter '{name}': expected a comma at '{visible(text[at : at + 30])}'"
        raise MalformedTemplate(message)
    if at + 1 == len(text):
        message = "the list ends with a comma"
        raise MalformedTemplate(message)
    return at + 1


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
    if not _NUMBER.match(text):
        return text
    number = int(text) if _INTEGER.match(text) else float(text)
    is_whole = text.lstrip("+-").isdigit()
    if is_whole and not -(2**63) <= number < 2**63:
        message = f"{visible(text[:30])} is too large for a 64-bit number; put it in quotes to make it text"
        raise MalformedTemplate(message)
    if math.isinf(number):
        message = f"{visible(text[:30])} is too large for a number; put it in quotes to make it text"
        raise MalformedTemplate(message)
    return number


def parameters_for(request: StepRequest, column: int) -> dict[str, Value]:
    """Parse and fill the parameter list in one Data column of a step about to run."""
    text = request.step.data[column - 1]
    if text is None:
        return {}
    try:
        parameters = parse_parameters(text)
    except MalformedTemplate as error:
        message = f"Step {request.step.seq} '{visible(request.step.name)}', Data{column}: {error}."
        raise StepRefused(message, next_step=correct_step(request, f"Data{column}")) from None
    return {parameter.name: value_of(request, parameter) for parameter in parameters}
