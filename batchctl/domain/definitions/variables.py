"""Variables: texts that definitions take from the control database, as `{var:InDir}`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated

from batchctl.domain.text import unfit, visible
from batchctl.domain.values import value

PREFIX = "var:"
"""How the placeholder of a variable begins."""
LONGEST_NAME = 100
LONGEST_VALUE = 4000
"""Characters of a value: a variable stands for a name, a folder or a number, not for a program."""

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_SECRET = re.compile(r"\{\s*secret\s*:", re.IGNORECASE)
_VARIABLE = re.compile(r"\{\s*var\s*:", re.IGNORECASE)
_WRITTEN = re.compile(r"\{var:([A-Za-z0-9_.-]+)\}")


@value
class VariableRow:
    """A `Variable` row."""

    variable_id: Annotated[int, "Variable_id"]
    name: Annotated[str, "VariableName"]
    text: Annotated[str, "Value"]
    description: str | None = None


def variable_in(placeholder: str) -> str | None:
    """Return which variable the name of a placeholder stands for; None where an instance fills it."""
    return placeholder.removeprefix(PREFIX) if placeholder.startswith(PREFIX) else None


def written(name: str) -> str:
    """Return how definitions name a variable."""
    return f"{{{PREFIX}{name}}}"


def unfit_name(name: str) -> str | None:
    """Say why a variable cannot be called so; None when it can."""
    if not name:
        return "it has no name"
    if len(name) > LONGEST_NAME:
        return f"the name has {len(name)} characters, and {LONGEST_NAME} are the most"
    if _NAME.fullmatch(name) is None:
        return f"'{visible(name)}' is no name of a variable: letters from A to Z, digits, _ . and - make one"
    return None


def unfit_value(text: str) -> tuple[str, str] | None:
    """Say why a variable cannot have a value, and what to do instead; None when it can."""
    if (failure := unfit(text)) is not None:
        return failure, "the same with a value that a command can carry"
    if len(text) > LONGEST_VALUE:
        said = f"it has {len(text)} characters, and {LONGEST_VALUE} are the most"
        return said, "write it into a file, and let the variable name the file"
    if _SECRET.search(text) is not None:
        said = "it names a secret, which would stay a text: everybody who reads the table sees a value"
        return said, "write {secret:NAME} into the definition itself, in a column that takes secrets"
    if _VARIABLE.search(text) is not None:
        said = "it names a variable, and values are taken as they stand: no variable is looked up in another"
        return said, "write the whole text; a definition may name several variables, as in {var:Root}/{var:Folder}"
    return None


def filled(text: str, values: Mapping[str, str]) -> str:
    """Fill the variables in a text that takes no other placeholder; one that is not known stays as it is written."""
    return _WRITTEN.sub(lambda found: values.get(found[1], found[0]), text)


def names_in(text: str) -> list[str]:
    """Return the variables that such a text names."""
    return _WRITTEN.findall(text)


def alike(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of names that differ only in letter case."""
    seen: dict[str, str] = {}
    for name in names:
        first = seen.setdefault(name.lower(), name)
        if first != name:
            yield first, name
