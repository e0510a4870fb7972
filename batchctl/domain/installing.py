"""How what is missing of the product is installed, into the Python that runs it."""

from __future__ import annotations

import shlex
import sys


def of_extra(name: str) -> str:
    """Return what to type to install an extra."""
    return f"{shlex.quote(sys.executable)} -m pip install 'batchctl[{name}]'"
