"""Writing a command as the one text that a row holds."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence


def written(argv: Sequence[str]) -> str:
    """Write a command so that it is split into the same words again, by the rules of this system."""
    if sys.platform == "win32":
        return for_windows(argv)
    return shlex.join(argv)


def for_windows(argv: Sequence[str]) -> str:
    """Write a command as programs on Windows take it apart."""
    return subprocess.list2cmdline(argv)
