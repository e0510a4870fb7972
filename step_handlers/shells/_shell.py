"""The shell of this system, in which a person pastes a command text."""

from __future__ import annotations

import sys

from batchctl.plugin_api import StepRequest, visible

if sys.platform == "win32":
    from step_handlers.shells import _windows_shell as shell
else:
    from step_handlers.shells import _posix_shell as shell

__all__ = ["heading", "shell"]


def heading(request: StepRequest, comment: str) -> str:
    """Return the comment line with the time, the host and the user; nothing in it can become a command."""
    return f"{comment}{visible(request.note)}\n"
