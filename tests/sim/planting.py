"""Bugs planted in the source as it is imported, where no function can be changed alone: SQL, and what tests must find.

`python -m tests.sim.planting NAME` plants one in a process of its own, lets what should find it look, and says whether it did.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

SURVIVED, FOUND, MISPLANTED = 0, 1, 2
"""Exit codes."""


@dataclass(frozen=True)
class Planted:
    """A bug: in the source of some modules one text in the place of another, and the test that finds it."""

    name: str
    found_by: str
    """A test, as pytest names it, below tests/."""
    changes: tuple[tuple[str, str, str], ...]


def plant(changes: Iterable[tuple[str, str, str]]) -> None:
    """Let modules be imported with other texts; what is imported already stays as it is."""
    by_module: dict[str, list[tuple[str, str]]] = {}
    for module, text, instead in changes:
        if module in sys.modules:
            raise LookupError(f"{module} is imported already")
        by_module.setdefault(module, []).append((text, instead))
    unchanged = SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> CodeType | None:
        return _changed(self, by_module[fullname]) if fullname in by_module else unchanged(self, fullname)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


def missing(changes: Iterable[tuple[str, str, str]], sources: Mapping[str, Path]) -> list[str]:
    """Return the texts that stand no longer in the modules they are to be changed in."""
    return [text for module, text, _ in changes if text not in sources[module].read_text(encoding="utf-8")]


def _changed(loader: SourceFileLoader, changes: Iterable[tuple[str, str]]) -> CodeType:
    source = Path(loader.path).read_text(encoding="utf-8")
    for text, instead in changes:
        if text not in source:
            print(f"there is no '{text}' in {loader.path} any more", file=sys.stderr)
            raise SystemExit(MISPLANTED)
        source = source.replace(text, instead)
    code: CodeType = compile(source, loader.path, "exec", dont_inherit=True)
    return code


def main(name: str) -> int:
    """Plant a bug, and run the test that finds it."""
    from tests.sim.planted import PLANTED  # noqa: PLC0415 - nothing of the product may be imported before

    (bug,) = [one for one in PLANTED if one.name == name]
    plant(bug.changes)
    from tests.sqlserver import taken  # noqa: PLC0415 - it imports tables of the product

    # What SQL Server would say of its statements is not asked: that takes longer than the test.
    taken.look_at_what_was_sent = lambda _: None  # type: ignore[assignment]
    tests = Path(__file__).parents[1]
    options = ("-q", "-x", "-p", "no:xdist", "-p", "no:cacheprovider", "--import-mode=importlib", "--no-header")
    outcome = pytest.main([str(tests / bug.found_by), *options])
    return (
        FOUND if outcome == pytest.ExitCode.TESTS_FAILED else SURVIVED if outcome == pytest.ExitCode.OK else MISPLANTED
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
