"""Writing a command as the one text that a row holds."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence


def written(argv: Sequence[str]) -> str:
    """Write a command so that it is split into the same words again, by the rules of this system."""
    if sys.platform == "win32":
        return subprocess.list2cmdline(argv)
    return shlex.join(argv)
