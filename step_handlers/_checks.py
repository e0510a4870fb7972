"""What the checks of all built-in handlers have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, wraps
from typing import NoReturn, TypeVar

from batchctl.plugin_api import (
    CannotBegin,
    CommandEnd,
    Connection,
    Finding,
    JsonValue,
    Literal,
    MalformedTemplate,
    Parameter,
    SecretReference,
    SecretValue,
    Step,
    StepContext,
    StepRefused,
    StepRequest,
    Template,
    correct_step,
    correct_value,
    did_you_mean,
    how_to_name_secret,
    how_to_set_secret,
    parameters_for,
    parse,
    parse_parameters,
    references,
    unfit,
    visible,
)

_LAST = 300
"""Characters of a command's last line that stand in the message of its attempt."""
_NEXT_NAME = re.compile(r"\s@?([A-Za-z_][A-Za-z0-9_]*)=")


Read = TypeVar("Read")


def remembered(read: Callable[[Step, StepContext], Read]) -> Callable[[Step, StepContext], Read]:
    """Read a row once, not before every attempt: a row that was changed is another `Step`."""
    known: dict[tuple[int, int], tuple[Step, StepContext, Read]] = {}

    @wraps(read)
    def found_or_read(step: Step, context: StepContext) -> Read:
        found = known.get((step.batch_id, step.seq))
        if found is None or found[0] is not step or found[1] is not context:
            found = known[step.batch_id, step.seq] = step, context, read(step, context)
        return found[2]

    return found_or_read


def column(step: Step, number: int) -> str:
    """Return one Data column's text; null is empty."""
    return step.data[number - 1] or ""


def short(text: str, limit: int = 60) -> str:
    """Show a text that may hold anything, on one line, cut when it is long."""
    shown = visible(text[: limit + 1])
    return shown if len(text) <= limit else f"{shown[:limit]}…"


def last_line(output: str) -> str:
    """Return the last line of what a command has written that says anything."""
    return next((short(line.strip(), _LAST) for line in reversed(output.splitlines()) if line.strip()), "")


def what_outlived(end: CommandEnd) -> list[str]:
    """Return what outlived a command; what was stopped is called so."""
    said = []
    if end.left_behind:
        said.append("processes that it had started outlived it and were stopped")
    if end.out_of_reach:
        said.append("something that it had started runs on out of reach, and holds its output")
    return said


def refuse(request: StepRequest, findings: Iterable[Finding]) -> None:
    """Refuse a step that has findings, naming them all."""
    found = [*findings]
    if found:
        raise StepRefused(_of_step(request, _named(found)), next_step=_mending(request, found))


_OR = "correct the row, or "


def _mending(request: StepRequest, findings: Sequence[Finding]) -> str:
    """Return what to correct first: the row, or what it refers to."""
    of_row = [each for each in findings if each.remedy is None or each.remedy.startswith(_OR)]
    columns = " and ".join(dict.fromkeys(finding.column for finding in of_row))
    besides = dict.fromkeys(finding.remedy for finding in findings if finding.remedy is not None)
    return correct_step(request, columns, *(remedy.removeprefix(_OR) for remedy in besides))


def put_back(request: StepRequest, finding: Finding, remedy: str) -> NoReturn:
    """Put back a step for which this host lacks something."""
    raise CannotBegin(f"not started: {_of_step(request, _named([finding]))}", next_step=remedy)


def refuse_value(request: StepRequest, where: str, reason: str) -> NoReturn:
    """Refuse a step for a value of its instance."""
    raise StepRefused(_of_step(request, f"{where}: {reason}"), next_step=correct_value(request, where))


def _named(findings: Iterable[Finding]) -> str:
    return "; ".join(f"{finding.column}: {finding.message}" for finding in findings)


def _of_step(request: StepRequest, found: str) -> str:
    where = f"Step {request.step.seq} '{visible(request.step.name)}' of BatchControl {request.instance.instance_id}"
    return f"{where}: {_ended(found)}"


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."


def unused(step: Step, numbers: Iterable[int]) -> list[Finding]:
    """Return a finding for every one of these columns that is filled: they mean nothing here."""
    return [
        Finding(f"Data{number}", f"Data{number} is not used by {short(step.process_type)}; empty it")
        for number in numbers
        if step.data[number - 1] is not None
    ]


def unused_columns(step: Step, used: Collection[int]) -> list[Finding]:
    """Return a finding for every filled column that means nothing here; Data6 belongs to OnLost `verify`."""
    verifies = step.on_lost == "verify"
    found = unused(step, [number for number in range(1, 6) if number not in used])
    if step.data[5] is not None and not verifies:
        found.append(Finding("Data6", "the check in Data6 is only used with OnLost = verify; set that, or empty Data6"))
    if verifies and not column(step, 6).strip():
        found.append(Finding("OnLost", "OnLost = verify needs the check to run in Data6"))
    return found


def unfit_columns(step: Step) -> list[Finding]:
    """Return a finding for every column that holds what no command or database can carry."""
    return [
        Finding(f"Data{number}", reason)
        for number, text in enumerate(step.data, start=1)
        if text is not None and (reason := _why_unfit(text))
    ]


@lru_cache(maxsize=512)
def _why_unfit(text: str) -> str | None:
    return unfit(text)


def template_of(name: str, text: str) -> tuple[Template, list[Finding]]:
    """Parse a template; when it is malformed, return an empty one with the finding."""
    try:
        return parse(text), []
    except MalformedTemplate as error:
        return (), [Finding(name, str(error))]


def unknown_secrets(name: str, templates: Iterable[Template], secrets: Mapping[str, str]) -> list[Finding]:
    """Return a finding for every secret that the configuration does not have."""
    unknown = {
        part.name: None
        for template in templates
        for part in template
        if isinstance(part, SecretReference) and part.name not in secrets
    }
    return [
        Finding(
            name,
            f"secret '{short(secret)}' is not in the configuration.{did_you_mean(secret[:60], secrets)}",
            how_to_name_secret(short(secret)),
        )
        for secret in unknown
    ]


def has_secret(template: Template) -> bool:
    """Say whether a template refers to a secret."""
    return any(isinstance(part, SecretReference) for part in template)


def parameters_of(
    name: str, text: str | None, secrets: Mapping[str, str]
) -> tuple[Sequence[Parameter] | None, list[Finding]]:
    """Parse a parameter list, and return what is wrong with it; None for one that is malformed."""
    try:
        parameters = parse_parameters(text)
    except MalformedTemplate as error:
        return None, [Finding(name, str(error))]
    found = [Finding(name, fault) for parameter in parameters if (fault := _fault(parameter))]
    return parameters, found + unknown_secrets(name, [parameter.template for parameter in parameters], secrets)


def _fault(parameter: Parameter) -> str | None:
    first, *rest = parameter.template or (Literal(""),)
    swallowed = next(
        (found.group(1) for part in rest if isinstance(part, Literal) and (found := _NEXT_NAME.search(part.text))), None
    )
    if swallowed and not parameter.is_text and not isinstance(first, Literal):
        written = f"{{secret:{first.name}}}" if isinstance(first, SecretReference) else f"{{{first.name}}}"
        return f"separate variables by commas: {parameter.name}={short(written)}, {swallowed}=..."
    if rest and has_secret(parameter.template):
        return f"parameter '{parameter.name}': a secret must stand alone, as in {parameter.name}={{secret:name}}"
    return None


def bound_parameters(request: StepRequest, number: int) -> dict[str, JsonValue]:
    """Return the parameters of a column with their values; that of a secret is `{"secret": name}`."""
    return {
        name: {"secret": value.name} if isinstance(value, SecretValue) else value
        for name, value in parameters_for(request, number).items()
    }


def unset_secrets(name: str, text: str | None, context: StepContext) -> list[Finding]:
    """Return a finding for every secret in a text that is in the configuration, but has no value here."""
    template, _ = template_of(name, text or "")
    return _unset(name, [part.name for part in template if isinstance(part, SecretReference)], context)


def unset_secrets_of(name: str, connection: Connection, context: StepContext) -> list[Finding]:
    """Return a finding for every secret that a connection's url refers to and that has no value here."""
    return _unset(name, references(connection.url), context, f"connection '{short(connection.name)}': ")


def _unset(name: str, secrets: Iterable[str], context: StepContext, whose: str = "") -> list[Finding]:
    found = []
    for secret in dict.fromkeys(secrets):
        source = context.secrets.get(secret)
        if source is None or context.secret_is_set(secret):
            continue
        message = f"{whose}secret '{short(secret)}' ({short(source)}) is not set here; the controller will need it"
        found.append(Finding(name, message, how_to_set_secret(source)))
    return found
