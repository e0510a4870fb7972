"""The parameters of a package: `$Project::Day(String)={Data3}; Rows(Int32)=5`, split before any value is filled in."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from batchctl.plugin_api import (
    Literal,
    MalformedTemplate,
    SecretReference,
    StepRequest,
    Template,
    did_you_mean,
    fill,
    parse,
)
from step_handlers._checks import refuse_value, short

SCOPES = ("$Package", "$Project", "$ServerOption", "User")
LONGEST_TEXT = 4000
"""UTF-16 units that the catalog stores of one value."""

_INTEGERS = {
    "Byte": (0, 2**8 - 1),
    "SByte": (-(2**7), 2**7 - 1),
    "Int16": (-(2**15), 2**15 - 1),
    "Int32": (-(2**31), 2**31 - 1),
    "Int64": (-(2**63), 2**63 - 1),
    "UInt32": (0, 2**32 - 1),
    "UInt64": (0, 2**64 - 1),
}
TYPES = ("Boolean", "DateTime", "Decimal", "Double", "Single", "String", *_INTEGERS)
_BOOLEANS = {"true": "True", "1": "True", "false": "False", "0": "False"}
_HIGHEST_SINGLE = 3.4028235677973366e38
_HIGHEST_DECIMAL = 2**96 - 1

# Possessive, as in all scanners: what was taken is never given back, so no text makes the search slow.
_NAME = re.compile(r"\s*+([^\s=;(){}\[\]'\"][^=;(){}\[\]'\"]*+)(?:\(\s*+([^=;(){}'\"]*+)\))?\s*+=\s*+")
_QUOTED = re.compile(r"'((?:[^']|'')*+)'\s*+")
_BARE = re.compile(r"(?:[^;'{]|\{[^{};']*+\}?)*+")
_BEHIND_COMMA = re.compile(r",\s*+((?:\$?\w++::)?[^\W\d][\w.]*+)\s*+(?:\([^()=]*+\)\s*+)?=")
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}\Z")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\Z")


@dataclass(frozen=True, slots=True)
class Declared:
    """A parameter as the row has it."""

    scope: str
    name: str
    type: str
    template: Template

    @property
    def title(self) -> str:
        """Return its name with its scope, as in messages."""
        return f"{self.scope}::{self.name}"


@dataclass(frozen=True, slots=True)
class Value:
    """A parameter with its value, written as .NET reads it."""

    scope: str
    name: str
    type: str
    text: str


@lru_cache(maxsize=512)
def declared(text: str) -> tuple[Declared, ...]:
    """Parse a parameter list; raises `MalformedTemplate` with what is wrong and where."""
    written = text.strip()
    found: dict[str, Declared] = {}
    at = 0
    while at < len(written):
        parameter, at = _parameter(written, at)
        if parameter.title.lower() in found:
            raise MalformedTemplate(f"parameter '{short(parameter.title)}' is given twice")
        found[parameter.title.lower()] = parameter
    return tuple(found.values())


def _parameter(text: str, at: int) -> tuple[Declared, int]:
    head = _NAME.match(text, at)
    if head is None:
        raise MalformedTemplate(f"expected Name(Type)=value at '{short(text[at : at + 30])}'")
    scope, name = _scoped(head.group(1).rstrip())
    quoted = _QUOTED.match(text, head.end())
    value = quoted or _BARE.match(text, head.end())
    end = head.end() if value is None else value.end()
    bare = text[head.end() : end].strip()
    if quoted is None and not bare:
        raise MalformedTemplate(f"parameter '{short(name)}' has no value; write '' for empty text, or leave it out")
    if quoted is None and (other := _BEHIND_COMMA.search(bare)):
        raise MalformedTemplate(
            f"parameter '{short(name)}': parameters of a package are separated by ';', not by ',': write "
            f"{short(name)}=...; {short(other.group(1))}=..., or put the value in quotes if the comma belongs to it"
        )
    template = parse(bare if quoted is None else quoted.group(1).replace("''", "'"))
    parameter = Declared(scope, name, _type(head.group(2), name), template)
    _constant(parameter, is_text=quoted is not None)
    return parameter, _behind_semicolon(text, end, name)


def _scoped(written: str) -> tuple[str, str]:
    scope, separator, name = written.partition("::")
    if not separator:
        scope, name = "$Package", written
    known = {known.lower(): known for known in SCOPES}
    if scope.lower() not in known:
        raise MalformedTemplate(f"'{short(scope)}::' is no kind of parameter.{did_you_mean(scope[:60], SCOPES)}")
    if not name or ":" in name or not name.isprintable():
        raise MalformedTemplate(f"'{short(written)}' is no parameter name")
    return known[scope.lower()], name


def _type(written: str | None, name: str) -> str:
    wanted = "String" if written is None else written.strip()
    known = {known.lower(): known for known in TYPES}
    if wanted.lower() not in known:
        message = f"parameter '{short(name)}': '{short(wanted)}' is no type of a package's parameter"
        raise MalformedTemplate(f"{message}.{did_you_mean(wanted[:60], TYPES)}")
    return known[wanted.lower()]


def _constant(parameter: Declared, *, is_text: bool) -> None:
    match parameter.template:
        case (Literal(text),) if text.upper() == "NULL" and not is_text:
            message = f"parameter '{short(parameter.name)}': a package's parameter cannot be NULL; leave it out"
            raise MalformedTemplate(f"{message} to keep its default, or write '' for empty text")
        case (Literal(text),):
            canonical(parameter, text)
        case ():
            canonical(parameter, "")
        case _ if any(isinstance(part, SecretReference) for part in parameter.template):
            raise MalformedTemplate(
                f"parameter '{short(parameter.name)}': a secret given here could be read by others (in the list of "
                "processes, in the catalog's log); store it in the catalog as the value of a sensitive parameter or of a "
                "connection manager (Configure in SSMS: values, not references to an environment, which is not used "
                "here), and leave it out"
            )
        case _:
            pass


def _behind_semicolon(text: str, at: int, name: str) -> int:
    if at == len(text):
        return at
    if text[at] != ";":
        raise MalformedTemplate(f"parameter '{short(name)}': expected a semicolon at '{short(text[at : at + 30])}'")
    if not text[at + 1 :].strip():
        raise MalformedTemplate("the list ends with a semicolon")
    return at + 1


def values(request: StepRequest, parameters: tuple[Declared, ...]) -> list[Value]:
    """Fill every parameter on its own; refuses what its type cannot hold."""
    found = []
    for parameter in parameters:
        text = fill(request, parameter.template)
        try:
            written = canonical(parameter, text)
        except MalformedTemplate as error:
            refuse_value(request, "Data3", str(error))
        found.append(Value(parameter.scope, parameter.name, parameter.type, written))
    return found


def canonical(parameter: Declared, text: str) -> str:
    """Return a value as its type writes it; raises `MalformedTemplate`."""
    written = _written(parameter.type, text)
    if written is None:
        raise MalformedTemplate(
            f"parameter '{short(parameter.name)}': '{short(text)}' is no {parameter.type}{_hint(parameter.type)}"
        )
    return written


def _written(kind: str, text: str) -> str | None:
    match kind:
        case "String":
            return text if len(text.encode("utf-16-le", "replace")) <= 2 * LONGEST_TEXT else None
        case "Boolean":
            return _BOOLEANS.get(text.strip().lower())
        case "DateTime":
            return _moment(text.strip())
        case "Decimal":
            return _decimal(text.strip())
        case "Double" | "Single":
            return _float(kind, text.strip())
        case _:
            low, high = _INTEGERS[kind]
            return str(int(text)) if _INTEGER.match(text.strip()) and low <= int(text) <= high else None


def _moment(text: str) -> str | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    # The catalog's type is datetime, which holds thousandths ending in 0, 3 and 7 and rounds others, even into another day.
    if moment.tzinfo is not None or moment.year < 1753 or moment.microsecond % 10_000 not in {0, 3000, 7000}:
        return None
    return moment.isoformat(timespec="milliseconds")


def _decimal(text: str) -> str | None:
    try:
        number = Decimal(text) if _NUMBER.match(text) and "e" not in text.lower() else None
    except InvalidOperation:
        return None
    if number is None:
        return None
    written = format(number, "f")
    digits = written.replace(".", "").lstrip("+-")
    fits = len(digits) <= 29 and len(written.partition(".")[2]) <= 28
    return written if fits and int(digits) <= _HIGHEST_DECIMAL else None


def _float(kind: str, text: str) -> str | None:
    number = float(text) if _NUMBER.match(text) else math.inf
    highest = _HIGHEST_SINGLE if kind == "Single" else math.inf
    return repr(number) if math.isfinite(number) and abs(number) < highest else None


def _hint(kind: str) -> str:
    match kind:
        case "String":
            return f" that the catalog can hold: it takes {LONGEST_TEXT} characters; pass a long text in a file"
        case "Boolean":
            return "; write True or False"
        case "DateTime":
            return "; write 2026-11-21T02:30:00, from 1753 on, without time zone; thousandths of a second must end in 0, 3 or 7"
        case "Decimal":
            return "; write digits and a point, at most 28 digits"
        case "Double" | "Single":
            return "; write a number such as 12.5 or 1e6"
        case _:
            low, high = _INTEGERS[kind]
            return f"; it holds whole numbers from {low} to {high}"
