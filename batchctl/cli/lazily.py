"""Modules that are loaded when a command first uses them: help, and completing a word, wait for none of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType

_AT_ONCE = "batchctl.domain."
"""What is pure is loaded as usual: it takes no time, and any thread may use it."""


class _LazyFinder:
    """Finds modules of batchctl; packages, which hold nothing, are loaded at once."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find a module, which its first use will load: to import a name from it is a use."""
        if not name.startswith("batchctl.") or name.startswith(_AT_ONCE):
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and found.loader is not None and found.submodule_search_locations is None:
            found.loader = LazyLoader(found.loader)
        return found


@contextmanager
def lazily() -> Iterator[None]:
    """Let what imports a module load it only when it uses it; for the module of a command, and what that imports."""
    sys.meta_path.insert(0, _LazyFinder)
    try:
        yield
    finally:
        sys.meta_path.remove(_LazyFinder)


def load_all() -> None:
    """Load what was imported and is not used yet, before threads begin: of two that use it first, one finds half of it."""
    for name, module in list(sys.modules.items()):
        if name.startswith("batchctl."):
            vars(module)
