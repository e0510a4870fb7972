"""The files a plugin process has loaded its code from: which they are, and whether they have changed since."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from types import ModuleType

_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
_PYTHON = os.path.dirname(os.__file__) + os.sep

Stamp = tuple[int, int, int]


def loaded_files() -> frozenset[str]:
    """Return the files of this process's modules that a person may edit: neither Python's own nor installed ones."""
    modules: list[object] = list(sys.modules.values())
    files = (vars(module).get("__file__") for module in modules if isinstance(module, ModuleType))
    return frozenset(
        file for file in files if isinstance(file, str) and not file.startswith(_PYTHON) and not _INSTALLED.search(file)
    )


class Sources:
    """The files of one plugin process, as the controller sees them."""

    def __init__(self, since: int) -> None:
        """Begin with no file; `since` is when the process was started, in nanoseconds."""
        self._since = since
        self._stamps: dict[str, Stamp | None] = {}
        self._in_doubt = False

    def add(self, files: Iterable[str]) -> None:
        """Keep files that the process reports as loaded."""
        for file in files:
            stamp = self._stamps[file] = _stamp(file)
            # Written while the process was already there: it may have read the old text or the new one.
            self._in_doubt = self._in_doubt or (stamp is not None and stamp[0] > self._since)

    @property
    def have_changed(self) -> bool:
        """Say whether the process may run another text than that of the file now."""
        return self._in_doubt or any(_stamp(file) != stamp for file, stamp in self._stamps.items())


def _stamp(file: str) -> Stamp | None:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_ctime_ns, found.st_mtime_ns, found.st_size
