"""Telling of a plugin's step handler that hangs: its steps are refused, and somebody has to correct it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from batchctl.domain.errors import PluginError
from batchctl.ports import Change


@dataclass(frozen=True, slots=True)
class HandlerWatch:
    """A duty that cannot be done until the handler answers again: so it is told as all that keeps a controller from work."""

    hanging: Callable[[], PluginError | None]
    name: str = "handlers"
    is_busy: bool = False

    def look(self, noticed: Change = Change.NOTHING) -> bool:
        """Raise what is to be said of a handler that hangs."""
        del noticed
        return self.finish()

    def finish(self) -> bool:
        """Do so, too."""
        error = self.hanging()
        if error is not None:
            raise error.with_traceback(None)
        return False
