"""How a mistake is made in the engine on purpose: the source of a function, changed and compiled anew."""

from __future__ import annotations

import builtins
import dis
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any


@dataclass(frozen=True)
class Change:
    """In the source of a module, one text in the place of another; `within` names the function where there are several."""

    module: ModuleType
    text: str
    instead: str
    within: str | None = None


@dataclass(frozen=True)
class Mutant:
    """A mistake."""

    name: str
    law: str
    """The law that it breaks."""
    changes: tuple[Change, ...]


def mutant(name: str, law: str, *changes: tuple[ModuleType, str, str] | tuple[ModuleType, str, str, str]) -> Mutant:
    """Describe a mistake."""
    return Mutant(name, law, tuple(Change(*change) for change in changes))


@contextmanager
def made(mutant: Mutant) -> Iterator[None]:
    """Make the mistake, and mend it at the end."""
    sources: dict[FunctionType, str] = {}
    for change in mutant.changes:
        functions = [one for one in _functions(change.module) if change.within in (None, one.__name__)]
        found = [one for one in functions if change.text in sources.get(one, _source(one))]
        assert found, f"{mutant.name}: there is no '{change.text}' in {change.module.__name__} any more"
        for function in found:
            sources[function] = sources.get(function, _source(function)).replace(change.text, change.instead)
    with ExitStack() as stack:
        for function, source in sources.items():
            # Whoever has imported the function gets the mistake too.
            stack.callback(setattr, function, "__code__", function.__code__)
            function.__code__ = _compiled(function, source)
            assert not (unknown := _unknown_names(function)), f"{mutant.name}: nobody knows {unknown}: it only crashes"
        yield


def _unknown_names(function: FunctionType) -> set[str]:
    """Return the global names that a function uses and that there are not."""
    used, codes = set[str](), [function.__code__]
    while codes:
        code = codes.pop()
        used |= {one.argval for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return used - function.__globals__.keys() - vars(builtins).keys()


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    owners = [module, *(one for one in vars(module).values() if isinstance(one, type))]
    for owner in owners:
        for value in vars(owner).values():
            function = (
                value.fget if isinstance(value, property) else inspect.unwrap(value) if callable(value) else value
            )
            if (
                isinstance(function, FunctionType)
                and function.__module__ == module.__name__
                and function.__qualname__ != "<lambda>"
            ):
                yield function


@cache
def _source(function: FunctionType) -> str:
    try:
        return textwrap.dedent(inspect.getsource(function))
    except OSError:
        return ""  # What dataclasses write themselves.


def _compiled(function: FunctionType, source: str) -> CodeType:
    lines = source.splitlines(keepends=True)
    while lines[0].startswith("@"):
        del lines[0]
    found: dict[str, Any] = {}
    code = compile("from __future__ import annotations\n" + "".join(lines), "<mutant>", "exec")
    exec(code, function.__globals__, found)
    made_anew: FunctionType = found[function.__name__]
    return made_anew.__code__
