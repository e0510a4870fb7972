"""Placeholders such as `{Data1}`: parsed once by a scanner of our own, never an expression language.

A text is parsed into parts before any value is looked at, so a value can never become a template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from batchctl.domain.configuring import how_to_name_secret
from batchctl.domain.definitions import variables
from batchctl.domain.errors import StepRefused
from batchctl.domain.outcomes import Finding, StepRequest
from batchctl.domain.rows import BatchInstance, Step
from batchctl.domain.step_mending import correct_step, correct_values
from batchctl.domain.text import did_you_mean, shorten, unfit, visible

NAMES = (
    "Data1",
    "Data2",
    "Data3",
    "Data4",
    "Data5",
    "Data6",
    "FileName",
    "Entity",
    "CycleKey",
    "FileProcess_id",
    "BatchControl_id",
)

_FILE = "file:"
"""How a column begins that names a file, whose content is unknown until it is read."""
SECRET = "secret:"  # noqa: S105 - the word that begins a reference, not a secret


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands for itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A name to be filled from the instance; or, as in `var:InDir`, from the variables."""

    name: str


@dataclass(frozen=True, slots=True)
class SecretReference:
    """A secret, by name. Its value is resolved only at execution."""

    name: str


Part: TypeAlias = Literal | Placeholder | SecretReference
Template: TypeAlias = tuple[Part, ...]


class MalformedTemplate(ValueError):
    """A brace without partner, or a name that is not known."""


_LIKE_A_NAME = re.compile(r"[\w.:]*")
_BRACE = re.compile(r"\{\{|\}\}|\{|\}")


@lru_cache(maxsize=512)
def parse(text: str) -> Template:
    """Split a text into literals and placeholders; `{{` and `}}` stand for braces."""
    return tuple(_parts(text))


def _parts(text: str) -> Iterator[Part]:
    literal: list[str] = []
    at = 0
    while brace := _BRACE.search(text, at):
        literal.append(text[at : brace.start()])
        at = brace.end()
        if len(brace.group()) == 2:
            literal.append(brace.group()[0])
            continue
        end = text.find("}", at)
        if brace.group() == "}" or end < 0:
            raise MalformedTemplate(_lonely(brace))
        if any(literal):
            yield Literal("".join(literal))
        literal = []
        yield _named(text[at:end])
        at = end + 1
    literal.append(text[at:])
    if any(literal):
        yield Literal("".join(literal))


def _lonely(brace: re.Match[str]) -> str:
    character = brace.group()
    fault = "is never closed" if character == "{" else "closes nothing"
    return (
        f"the '{character}' at position {brace.start() + 1} {fault}; "
        f"write '{character * 2}' for a brace that stands for itself"
    )


def _named(name: str) -> Part:
    if name in NAMES:
        return Placeholder(name)
    if name.startswith(SECRET) and len(name) > len(SECRET):
        return SecretReference(name.removeprefix(SECRET))
    if (variable := variables.variable_in(name)) is not None:
        if (failure := variables.unfit_name(variable)) is not None:
            raise MalformedTemplate(f"'{{{visible(shorten(name, 60))}}}' names no variable: {failure}")
        return Placeholder(name)
    known = did_you_mean(shorten(name, 60), NAMES)
    # Of awk, JSON or a shell: no other name is meant.
    known = known if _LIKE_A_NAME.fullmatch(name) else " A brace that stands for itself is written twice: {{ and }}."
    message = f"'{{{visible(shorten(name, 60))}}}' is not a placeholder.{known}"
    raise MalformedTemplate(message)


def findings(column: str, text: str | None, secrets: Mapping[str, str]) -> list[Finding]:
    """Return what is wrong with a text as a template."""
    if text is None:
        return []
    try:
        template = parse(text)
    except MalformedTemplate as error:
        return [Finding(column, str(error))]
    unknown = [part.name for part in template if isinstance(part, SecretReference) and part.name not in secrets]
    return [
        Finding(
            column,
            f"secret '{visible(name)}' is not in the configuration.{did_you_mean(name, secrets)}",
            how_to_name_secret(name),
        )
        for name in unknown
    ]


def used_by(steps: Iterable[Step]) -> frozenset[str]:
    """Return the values that the columns of steps name; all of them where a step takes its text from elsewhere."""
    found = set[str]()
    for text in (text for step in steps for text in step.data if text is not None):
        if text.strip().startswith(_FILE):
            return frozenset(NAMES)
        try:
            found.update(part.name for part in parse(text) if isinstance(part, Placeholder))
        except MalformedTemplate:
            return frozenset(NAMES)
    return frozenset(found)


def variables_in(text: str) -> tuple[str, ...]:
    """Return which variables a text names as placeholders; none where it cannot be read."""
    try:
        names = [part.name for part in parse(text) if isinstance(part, Placeholder)]
    except MalformedTemplate:
        return ()
    found = (variables.variable_in(name) for name in names)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def values_of(instance: BatchInstance) -> dict[str, str | None]:
    """Return the value of every placeholder that an instance fills."""
    values: dict[str, str | None] = {f"Data{at}": value for at, value in enumerate(instance.data, start=1)}
    values["FileName"] = instance.file_name
    values["Entity"] = instance.entity
    values["CycleKey"] = instance.cycle_key
    values["FileProcess_id"] = str(instance.intake_id)
    values["BatchControl_id"] = str(instance.instance_id)
    return values


def parse_for(request: StepRequest, column: int) -> Template:
    """Parse one Data column of a step about to run; empty when the column is null."""
    text = request.step.data[column - 1]
    try:
        return parse(text or "")
    except MalformedTemplate as error:
        message = f"Step {request.step.seq} '{visible(request.step.name)}', Data{column}: {error}."
        raise StepRefused(message, next_step=correct_step(request, f"Data{column}")) from None


def fit_value(request: StepRequest, name: str) -> str | None:
    """Return a placeholder's value, refusing what no command, file or database can carry."""
    value = _value_of(request, name)
    reason = None if value is None else unfit(value)
    if reason is not None:
        message = f"{{{name}}} of BatchControl {request.instance.instance_id} cannot be used: {reason}."
        raise StepRefused(message, next_step=correct_values(request, [name]))
    return value


def _value_of(request: StepRequest, name: str) -> str | None:
    variable = variables.variable_in(name)
    if variable is None:
        return values_of(request.instance)[name]
    if variable not in request.variables:
        where = f"Step {request.step.seq} '{visible(request.step.name)}'"
        near = did_you_mean(variable, request.variables)
        message = f"{where} names variable '{visible(variable)}', which is not set.{near}"
        raise StepRefused(message, next_step=correct_values(request, [name]))
    return request.variables[variable]


def fill(request: StepRequest, template: Template) -> str:
    """Fill a template into one text. A null value is refused: an empty word in its place could mean anything."""
    return "".join(_filled(request, part) for part in template)


def _filled(request: StepRequest, part: Part) -> str:
    match part:
        case Literal(text):
            return text
        case Placeholder(name):
            value = fit_value(request, name)
            if value is None:
                message = f"{{{name}}} has no value in BatchControl {request.instance.instance_id}."
                raise StepRefused(message, next_step=correct_values(request, [name]))
            return value
        case SecretReference(name):
            message = (
                f"Step {request.step.seq} '{visible(request.step.name)}' puts {{secret:{visible(name)}}} where everybody "
                "on the machine could read it."
            )
            raise StepRefused(message, next_step=correct_step(request, _columns_with(request, f"{{secret:{name}}}")))


def _columns_with(request: StepRequest, written: str) -> str:
    found = [f"Data{at}" for at, text in enumerate(request.step.data, start=1) if written in (text or "")]
    return " and ".join(found) or "Data1 to Data6"


def correct_value(request: StepRequest, column: str) -> str:
    """Return how to correct the value in a column of a step: the instance's value that it names, or its own text."""
    text = request.step.data[int(column.removeprefix("Data")) - 1]
    try:
        names = {part.name for part in parse(text or "") if isinstance(part, Placeholder)}
    except MalformedTemplate:
        names = set()
    return correct_values(request, names) if names else correct_step(request, column)
