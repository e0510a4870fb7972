"""An upgrade that dies, as if its power were cut, before its nth statement: its arguments are `CONFIG 120`."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from sqlalchemy import Engine, event

from batchctl.control_database import upgrade_database


def entry() -> None:
    """Upgrade, and die there."""
    _, file, nth = sys.argv
    made = 0

    @event.listens_for(Engine, "before_cursor_execute")
    def count(*_: Any) -> None:
        nonlocal made
        made += 1
        if made == int(nth):
            os.kill(os.getpid(), signal.SIGKILL)

    upgrade_database(file)
