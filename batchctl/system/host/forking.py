"""A copy of this process that waits for its end, which nothing else would survive."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

if sys.platform != "win32":

    def fork_heir(name: str, work: Callable[[], None]) -> tuple[int, int] | None:
        """Have a copy of this process do `work` once this one is gone, in whatever way; it is of a session of its own.

        Return its pid, and a descriptor that is ready when the copy has ended. Raises `OSError` when there can be none.
        """
        waiting, held = os.pipe()
        try:
            pid = os.fork()
        except OSError:
            os.close(waiting)
            os.close(held)
            raise
        if pid == 0:
            _wait_and_work(waiting, name, work)
        os.close(waiting)
        return pid, held

    def _wait_and_work(waiting: int, name: str, work: Callable[[], None]) -> None:
        try:
            os.setsid()
            with suppress(OSError):  # Linux shows names, others need none.
                Path("/proc/self/comm").write_text(name, encoding="ascii")
            # Others tell by pipes and locks whether this program lives; what the copy kept open would deceive them.
            os.closerange(3, waiting)
            os.closerange(waiting + 1, os.sysconf("SC_OPEN_MAX"))
            os.read(waiting, 1)
            work()
        except Exception:  # noqa: BLE001 - the copy must not go on as if it were this program
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(0)

else:

    def fork_heir(name: str, work: Callable[[], None]) -> tuple[int, int] | None:
        """Return None: when a process ends here, the system ends the trees that it has started."""
        del name, work
        return None
